// Elementwise functions of sparse matrices. A function that keeps zeros is applied to the values alone, and the result
// has the entries of its operand. Sums, differences and products of two matrices have the entries that are not 0.
#pragma once

#include <ingot/core/functions.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/sparse/matrices.hpp>

namespace ingot {
namespace sparse {

// Inner: a + sign * b.
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> added(const char* operation, const csr<T, I>& a, const csr<T, I>& b, int sign);
// Inner: dense + sign * a.
template <sparse_element T, sparse_index I>
INGOT_API array<T> added_to_dense(const char* operation, const array<T>& dense, const csr<T, I>& a, int sign);

// Inner: entries of value 1 where a's have a flag. Throws error where elements without an entry would have one.
template <sparse_element T, sparse_index I>
INGOT_API csr<float, I> marked(const char* operation, const csr<T, I>& a, const array<bool>& flags,
                               bool is_true_of_zero);
// Inner
enum class comparison : std::uint8_t { not_equal, less, greater };
// Inner: of complex matrices not_equal alone.
template <sparse_element T, sparse_index I>
INGOT_API csr<float, I> compared(const char* operation, comparison, const csr<T, I>& a, const csr<T, I>& b);

/// The product of each element of a with the element of b at its place: a csr of the type to which both promote. b: a
/// sparse matrix of a's shape, or a dense one. Elements of two sparse ones that have no entry are 0, times infinity
/// NaN; waits for the number of entries. Throws shape_error where the shapes differ.
///
///     sparse::csr<double> a(array<double>{{0, 1}, {2, 3}}), b(array<double>{{5, 0}, {0, 7}});
///     std::cout << multiply(a, b).to_dense() << ' ' << multiply(a, array<double>{{1, 2}, {3, 4}}).values() << ' ';
///     std::cout << (a.transpose() * a).values();
///     // prints: [[ 0.  0.]
///     //          [ 0. 21.]] [ 2.  6. 12.] [2. 2. 9.]
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> multiply(const csr<T, I>& a, const csr<T, I>& b);
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> multiply(const csr<T, I>& a, const array<T>& b);
template <sparse_matrix A, sparse_matrix B>
    requires unlike_matrices<A, B>
auto multiply(const A& a, const B& b) {
    using R = promoted<A, B>;
    return multiply(as_csr<R>(a), as_csr<R>(b));
}
template <sparse_matrix A, array_expression E>
auto multiply(const A& a, const E& b) {
    using R = promoted<A, E>;
    return multiply(as_csr<R>(a), array<R>(b));
}
template <sparse_matrix A, sparse_matrix B>
auto operator*(const A& a, const B& b) {
    return multiply(a, b);
}

/// The sum or the difference of two matrices of one shape, of any formats and types: a csr where both are sparse, else
/// an array, of the type to which both promote. Throws shape_error where the shapes differ.
///
///     sparse::csr<double> a(array<double>{{0, 1}, {2, 3}}), b(array<double>{{5, 0}, {0, -3}});
///     std::cout << (a + b).values() << ' ' << (a - b).values() << ' ' << a + array<double>{{1, 1}, {1, 1}} << ' ';
///     std::cout << (a.transpose() - sparse::eye<float>(2)).values();
///     // prints: [5. 1. 2.] [-5.  1.  2.  6.] [[1. 2.]
///     //          [3. 4.]] [-1.  2.  1.  2.]
template <sparse_element T, sparse_index I>
csr<T, I> operator+(const csr<T, I>& a, const csr<T, I>& b) {
    return added("add", a, b, 1);
}
template <sparse_matrix A, sparse_matrix B>
    requires unlike_matrices<A, B>
auto operator+(const A& a, const B& b) {
    using R = promoted<A, B>;
    return added("add", as_csr<R>(a), as_csr<R>(b), 1);
}
template <sparse_matrix A, array_expression E>
array<promoted<A, E>> operator+(const A& a, const E& b) {
    using R = promoted<A, E>;
    return added_to_dense("add", array<R>(b), as_csr<R>(a), 1);
}
template <array_expression E, sparse_matrix A>
array<promoted<E, A>> operator+(const E& a, const A& b) {
    return b + a;
}
template <sparse_element T, sparse_index I>
csr<T, I> operator-(const csr<T, I>& a, const csr<T, I>& b) {
    return added("subtract", a, b, -1);
}
template <sparse_matrix A, sparse_matrix B>
    requires unlike_matrices<A, B>
auto operator-(const A& a, const B& b) {
    using R = promoted<A, B>;
    return added("subtract", as_csr<R>(a), as_csr<R>(b), -1);
}
template <array_expression E, sparse_matrix A>
array<promoted<E, A>> operator-(const E& a, const A& b) {
    using R = promoted<E, A>;
    return added_to_dense("subtract", array<R>(a), as_csr<R>(b), -1);
}
template <sparse_matrix A, array_expression E>
array<promoted<A, E>> operator-(const A& a, const E& b) {
    using R = promoted<A, E>;
    return added_to_dense("subtract", array<R>(-array<R>(b)), as_csr<R>(a), 1);
}

/// Every value times a number.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {2, 3}});
///     std::cout << (a * 2).values() << ' ' << (0.5 * a).values() << ' ' << (-a).values();
///     // prints: [2. 4. 6.] [0.5 1.  1.5] [-1. -2. -3.]
template <sparse_element T, sparse_index I, weak_scalar S>
auto operator*(const csr<T, I>& a, S factor) {
    return a.map_values([&](const array<T>& v) { return v * factor; });
}
template <sparse_element T, sparse_index I, weak_scalar S>
auto operator*(S factor, const csr<T, I>& a) {
    return a * factor;
}
/// Every value divided by a number.
///
///     std::cout << (sparse::csr<double>(array<double>{{0, 1}, {2, 3}}) / 2).values();
///     // prints: [0.5 1.  1.5]
template <sparse_element T, sparse_index I, weak_scalar S>
auto operator/(const csr<T, I>& a, S divisor) {
    return a.map_values([&](const array<T>& v) { return v / divisor; });
}
/// Every value negated.
template <sparse_element T, sparse_index I>
auto operator-(const csr<T, I>& a) {
    return a.map_values([](const array<T>& v) { return -v; });
}

/// A matrix of float32 with an entry of value 1 where the elements differ, of two matrices of one type and shape, or of
/// a matrix and a number. Elements without an entry are 0. Waits for the number of entries. Throws shape_error where
/// the shapes differ; error where 0 compares true with the number, for the result is dense.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {2, 3}}), b(array<double>{{5, 1}, {0, 4}});
///     std::cout << (a != b).to_dense() << ' ' << (a != 0).nnz();
///     // prints: [[1. 0.]
///     //          [1. 1.]] 3
template <sparse_element T, sparse_index I>
csr<float, I> operator!=(const csr<T, I>& a, const csr<T, I>& b) {
    return compared("not_equal", comparison::not_equal, a, b);
}
template <sparse_element T, sparse_index I, weak_scalar S>
csr<float, I> operator!=(const csr<T, I>& a, S number) {
    return marked("not_equal", a, array<bool>(a.values() != number), number != S{});
}
/// The same where elements equal a number other than 0.
///
///     std::cout << (sparse::csr<double>(array<double>{{0, 1}, {2, 1}}) == 1).to_dense();
///     // prints: [[0. 1.]
///     //          [0. 1.]]
template <sparse_element T, sparse_index I, weak_scalar S>
csr<float, I> operator==(const csr<T, I>& a, S number) {
    return marked("equal", a, array<bool>(a.values() == number), number == S{});
}
/// The same where elements of a are less than those of b, or than a number. For real types.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {-2, 3}}), b(array<double>{{5, 1}, {0, 2}});
///     std::cout << (a < b).to_dense() << ' ' << (a < 0).to_dense();
///     // prints: [[1. 0.]
///     //          [1. 0.]] [[0. 0.]
///     //          [1. 0.]]
template <sparse_element T, sparse_index I>
    requires(!detail::complex_number<T>)
csr<float, I> operator<(const csr<T, I>& a, const csr<T, I>& b) {
    return compared("less", comparison::less, a, b);
}
template <sparse_element T, sparse_index I, weak_scalar S>
    requires(!detail::complex_number<T>)
csr<float, I> operator<(const csr<T, I>& a, S number) {
    return marked("less", a, array<bool>(a.values() < number), S{} < number);
}
/// The same where elements of a are greater than those of b, or than a number. For real types.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {-2, 3}});
///     std::cout << (a > 0).to_dense();
///     // prints: [[0. 1.]
///     //          [0. 1.]]
template <sparse_element T, sparse_index I>
    requires(!detail::complex_number<T>)
csr<float, I> operator>(const csr<T, I>& a, const csr<T, I>& b) {
    return compared("greater", comparison::greater, a, b);
}
template <sparse_element T, sparse_index I, weak_scalar S>
    requires(!detail::complex_number<T>)
csr<float, I> operator>(const csr<T, I>& a, S number) {
    return marked("greater", a, array<bool>(a.values() > number), S{} > number);
}
/// The same where elements of a are at most a negative number. For real types.
///
///     std::cout << (sparse::csr<double>(array<double>{{0, 1}, {-2, 3}}) <= -2).to_dense();
///     // prints: [[0. 0.]
///     //          [1. 0.]]
template <sparse_element T, sparse_index I, weak_scalar S>
    requires(!detail::complex_number<T>)
csr<float, I> operator<=(const csr<T, I>& a, S number) {
    return marked("less_equal", a, array<bool>(a.values() <= number), S{} <= number);
}
/// The same where elements of a are at least a positive number. For real types.
///
///     std::cout << (sparse::csr<double>(array<double>{{0, 1}, {-2, 3}}) >= 3).to_dense();
///     // prints: [[0. 0.]
///     //          [0. 1.]]
template <sparse_element T, sparse_index I, weak_scalar S>
    requires(!detail::complex_number<T>)
csr<float, I> operator>=(const csr<T, I>& a, S number) {
    return marked("greater_equal", a, array<bool>(a.values() >= number), S{} >= number);
}

/// Every value to a power greater than 0, a number. It is not checked that the power keeps zeros.
///
///     std::cout << power(sparse::csr<double>(array<double>{{0, 3}}), 2).values();
///     // prints: [9.]
template <sparse_element T, sparse_index I, weak_scalar S>
auto power(const csr<T, I>& a, S exponent) {
    return a.map_values([&](const array<T>& v) { return ingot::power(v, exponent); });
}

/// The values converted to another type.
///
///     std::cout << name(sparse::astype<float>(sparse::csr<double>(array<double>{{0, 0.5}})).values().dtype());
///     // prints: float32
template <sparse_element R, sparse_element T, sparse_index I>
csr<R, I> astype(const csr<T, I>& a) {
    return a.map_values([](const array<T>& v) { return ingot::astype<R>(v); });
}

#define INGOT_SPARSE_FUNCTION(name)                                            \
    template <sparse_element T, sparse_index I>                                \
    auto name(const csr<T, I>& a) {                                            \
        return a.map_values([](const array<T>& v) { return ingot::name(v); }); \
    }

/// The absolute value of every value, real for complex ones.
///
///     std::cout << abs(sparse::csr<double>(array<double>{{0, -3}})).values();
///     // prints: [3.]
INGOT_SPARSE_FUNCTION(abs)
/// The complex conjugate of every value.
///
///     std::cout << conj(sparse::csr<double>(array<double>{{0, -3}})).values();
///     // prints: [-3.]
INGOT_SPARSE_FUNCTION(conj)
/// The sign of every value.
///
///     std::cout << sign(sparse::csr<double>(array<double>{{0, -3, 2}})).values();
///     // prints: [-1.  1.]
INGOT_SPARSE_FUNCTION(sign)
/// The square root of every value.
///
///     std::cout << sqrt(sparse::csr<double>(array<double>{{0, 4}})).values();
///     // prints: [2.]
INGOT_SPARSE_FUNCTION(sqrt)
/// The square of every value.
///
///     std::cout << square(sparse::csr<double>(array<double>{{0, 4}})).values();
///     // prints: [16.]
INGOT_SPARSE_FUNCTION(square)
/// The sine of every value.
///
///     std::cout << sin(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [0.84147098]
INGOT_SPARSE_FUNCTION(sin)
/// The tangent of every value.
///
///     std::cout << tan(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [1.55740772]
INGOT_SPARSE_FUNCTION(tan)
/// The hyperbolic sine of every value.
///
///     std::cout << sinh(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [1.17520119]
INGOT_SPARSE_FUNCTION(sinh)
/// The hyperbolic tangent of every value.
///
///     std::cout << tanh(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [0.76159416]
INGOT_SPARSE_FUNCTION(tanh)
/// The inverse sine of every value.
///
///     std::cout << arcsin(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [1.57079633]
INGOT_SPARSE_FUNCTION(arcsin)
/// The inverse tangent of every value.
///
///     std::cout << arctan(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [0.78539816]
INGOT_SPARSE_FUNCTION(arctan)
/// The inverse hyperbolic sine of every value.
///
///     std::cout << arcsinh(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [0.88137359]
INGOT_SPARSE_FUNCTION(arcsinh)
/// The inverse hyperbolic tangent of every value.
///
///     std::cout << arctanh(sparse::csr<double>(array<double>{{0, 0.5}})).values();
///     // prints: [0.54930614]
INGOT_SPARSE_FUNCTION(arctanh)
/// e to the power of every value, less 1.
///
///     std::cout << expm1(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [1.71828183]
INGOT_SPARSE_FUNCTION(expm1)
/// The natural logarithm of 1 and every value.
///
///     std::cout << log1p(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [0.69314718]
INGOT_SPARSE_FUNCTION(log1p)
/// The greatest integer not above every value.
///
///     std::cout << floor(sparse::csr<double>(array<double>{{0, 1.5}})).values();
///     // prints: [1.]
INGOT_SPARSE_FUNCTION(floor)
/// The least integer not below every value.
///
///     std::cout << ceil(sparse::csr<double>(array<double>{{0, 1.5}})).values();
///     // prints: [2.]
INGOT_SPARSE_FUNCTION(ceil)
/// The integer part of every value.
///
///     std::cout << trunc(sparse::csr<double>(array<double>{{0, -1.5}})).values();
///     // prints: [-1.]
INGOT_SPARSE_FUNCTION(trunc)
/// The nearest integer of every value, the even one of two.
///
///     std::cout << rint(sparse::csr<double>(array<double>{{0, 2.5}})).values();
///     // prints: [2.]
INGOT_SPARSE_FUNCTION(rint)
/// Every value from degrees to radians.
///
///     std::cout << deg2rad(sparse::csr<double>(array<double>{{0, 180}})).values();
///     // prints: [3.14159265]
INGOT_SPARSE_FUNCTION(deg2rad)
/// Every value from radians to degrees.
///
///     std::cout << rad2deg(sparse::csr<double>(array<double>{{0, 1}})).values();
///     // prints: [57.29577951]
INGOT_SPARSE_FUNCTION(rad2deg)
#undef INGOT_SPARSE_FUNCTION

}  // namespace sparse
}  // namespace ingot
