// Functions that make arrays on the current device; the `_like` forms use the device of their argument. zeros is a
// memset; an array made from a scalar or other arrays is one kernel. arange, linspace and logspace are computed on the
// host, value by value as NumPy does, and copied: so their bits are NumPy's on every device.
#pragma once

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/memory.hpp>
#include <ingot/core/rejected.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// Allocates memory for an array of that shape. Throws shape_error.
INGOT_API void allocate_array(const char* operation, destination, std::span<const index_t> shape, device_id device);
INGOT_API void fill_zeros(const buffer_ref& memory);
/// The layout of elements of a buffer from number `first` on; strides in bytes, C order where null. Throws shape_error.
INGOT_API layout layout_within(const char* operation, dtype, const buffer* memory, index_t first,
                               std::span<const index_t> shape, const integer_list* strides);
/// An array over memory that is not Ingot's; strides in bytes, C order where null. Throws shape_error.
INGOT_API void adopt_memory(destination, const buffer_ref& memory, std::span<const index_t> shape,
                            const integer_list* strides);
/// Number of values of arange. Throws shape_error. Integers are exact; `is_unsigned` marks the unsigned ones.
INGOT_API index_t arange_count(double start, double stop, double step);
struct any_number {
    std::uint64_t bits;
    bool is_unsigned;
};
INGOT_API index_t arange_count(any_number start, any_number stop, any_number step);
/// The number of rows of a square matrix whose diagonal `offset` away from the main one has this length. Throws
/// shape_error.
INGOT_API index_t rows_around_diagonal(index_t length, index_t offset);
[[noreturn]] INGOT_API void throw_wrong_rank(const char* operation, int rank, const char* wanted);
[[noreturn]] INGOT_API void throw_negative_count(const char* operation, index_t count);
/// Point i of `count` evenly spaced ones, with NumPy's bits.
INGOT_API double even_point(double start, double stop, index_t count, bool endpoint, index_t i) noexcept;
/// The values of `logspace` in float64.
INGOT_API array<double> powers_between(double start, double stop, index_t count, bool endpoint, double base);

template <class T>
leaf<T> new_leaf(const char* operation, std::span<const index_t> shape, device_id device) {
    leaf<T> l;
    allocate_array(operation, {dtype_of<T>, l.memory(), l.where()}, shape, device);
    return l;
}
inline device_id current_place() { return runtime::current().device; }

/// The type T if given, else the common type of the values.
template <class T, class... S>
using chosen = typename std::conditional_t<std::is_void_v<T>, std::common_type<S...>, std::type_identity<T>>::type;

/// The values as T, converted as by `astype`.
template <class T, class E>
array<T> converted_array(const E& e) {
    if constexpr (std::same_as<T, typename E::value_type>)
        return array<T>(e);
    else
        return array<T>(astype<T>(e));
}

template <class T, class S>
array<T> filled(const char* operation, std::span<const index_t> shape, device_id device, S value) {
    array<T> a(adopted{}, new_leaf<T>(operation, shape, device));
    write(operation, a, value);
    return a;
}
template <class T>
array<T> zeroed(const char* operation, std::span<const index_t> shape, device_id device) {
    leaf<T> l = new_leaf<T>(operation, shape, device);
    fill_zeros(l.memory());
    return array<T>(detail::adopted{}, std::move(l));
}

/// n values f(0), f(1), ... made on the host. Throws shape_error, out_of_memory.
template <class T, class F>
array<T> generated(const char* operation, index_t n, const F& f) {
    check_extents(operation, {&n, 1});
    const value_room<T> values(static_cast<std::size_t>(n));
    for (index_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = f(i);
    leaf<T> l;
    create_from_host(l.memory(), l.where(), {&n, 1}, values.get(), sizeof(T));
    return array<T>(detail::adopted{}, std::move(l));
}

}  // namespace detail

/// An uninitialised array of this shape, by default float64. Throws shape_error where an extent is negative or the
/// elements are too many to count, out_of_memory where they do not fit on the device.
///
///     array<int> a = empty<int>({2, 3});
///     a.fill(7);
///     std::cout << a;
///     // prints: [[7 7 7]
///     //          [7 7 7]]
template <element_type T = double>
array<T> empty(const shape_like& shape, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return array<T>(detail::adopted{}, detail::new_leaf<T>("empty", shape.values(), detail::current_place()));
}
INGOT_REJECTED("extents stand in braces: empty<float>({3, 4})", (element_type T = double, std::integral... I),
               (sizeof...(I) > 1), ::ingot::detail::rejected empty(I...))

/// Zeros of this shape, by default float64. Throws what `empty` does.
///
///     std::cout << zeros<int>(3) << '\n' << zeros({2, 2});
///     // prints: [0 0 0]
///     //         [[0. 0.]
///     //          [0. 0.]]
template <element_type T = double>
array<T> zeros(const shape_like& shape, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return detail::zeroed<T>("zeros", shape.values(), detail::current_place());
}
INGOT_REJECTED("extents stand in braces: zeros<float>({3, 4})", (element_type T = double, std::integral... I),
               (sizeof...(I) > 1), ::ingot::detail::rejected zeros(I...))

/// Ones of this shape, by default float64. Throws what `empty` does.
///
///     std::cout << ones<int>({2, 3});
///     // prints: [[1 1 1]
///     //          [1 1 1]]
template <element_type T = double>
array<T> ones(const shape_like& shape, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return detail::filled<T>("ones", shape.values(), detail::current_place(), 1);
}
INGOT_REJECTED("extents stand in braces: ones<float>({3, 4})", (element_type T = double, std::integral... I),
               (sizeof...(I) > 1), ::ingot::detail::rejected ones(I...))

/// An array with one value everywhere, by default of the value's type. Throws what `empty` does, and dtype_error where
/// an integer does not fit the type.
///
///     std::cout << full<float>({}, 0.5) << '\n' << full({2, 2}, 7);
///     // prints: 0.5
///     //         [[7 7]
///     //          [7 7]]
template <class T = void, weak_scalar S>
auto full(const shape_like& shape, S value, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return detail::filled<detail::chosen<T, S>>("full", shape.values(), detail::current_place(), value);
}

/// An expression broadcast to this shape, as an array on its device, by default of its type. Throws shape_error where
/// it does not broadcast.
///
///     std::cout << full({2, 3}, array<int>{1, 2, 3});
///     // prints: [[1 2 3]
///     //          [1 2 3]]
template <class T = void, array_expression E>
auto full(const shape_like& shape, const E& e, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return detail::converted_array<detail::chosen<T, typename E::value_type>>(
        detail::viewed_to_read(e, detail::view_broadcast, "full", shape.values()));
}

/// An uninitialised array with an expression's shape and device, by default of its type. The expression is not
/// evaluated.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << empty_like(m).shape() << ' ' << name(empty_like<int>(m).dtype());
///     // prints: (2, 3) int32
template <class T = void, array_expression E>
auto empty_like(const E& e) {
    using type = detail::chosen<T, typename E::value_type>;
    return array<type>(detail::adopted{}, detail::new_leaf<type>("empty_like", e.shape().values(), e.device()));
}

/// Zeros with an expression's shape and device, by default of its type.
///
///     std::cout << zeros_like(array<int>{1, 2, 3});
///     // prints: [0 0 0]
template <class T = void, array_expression E>
auto zeros_like(const E& e) {
    return detail::zeroed<detail::chosen<T, typename E::value_type>>("zeros_like", e.shape().values(), e.device());
}

/// Ones with an expression's shape and device, by default of its type.
///
///     std::cout << ones_like<double>(array<int>{1, 2, 3});
///     // prints: [1. 1. 1.]
template <class T = void, array_expression E>
auto ones_like(const E& e) {
    return detail::filled<detail::chosen<T, typename E::value_type>>("ones_like", e.shape().values(), e.device(), 1);
}

/// An array with one value everywhere, with an expression's shape and device, by default of its type. Throws
/// dtype_error where an integer does not fit the type.
///
///     std::cout << full_like(array<int>{1, 2, 3}, 7);
///     // prints: [7 7 7]
template <class T = void, array_expression E, weak_scalar S>
auto full_like(const E& e, S value) {
    using type = detail::chosen<T, typename E::value_type>;
    return detail::filled<type>("full_like", e.shape().values(), e.device(), value);
}

/// Copies a range of the host's values in C order: 1-D, or to a shape with as many elements; by default of their type.
/// Throws shape_error where the shape has another number of elements.
///
///     const std::vector<int> values{1, 2, 3, 4};
///     std::cout << asarray(values) << '\n' << asarray<float>(values, {2, 2});
///     // prints: [1 2 3 4]
///     //         [[1. 2.]
///     //          [3. 4.]]
template <class T = void, detail::values_of_host R>
    requires element_type<detail::value_of<R>>
auto asarray(const R& values, const shape_like& shape, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    auto a = empty<detail::chosen<T, detail::value_of<R>>>(shape);
    a.set(values);
    return a;
}
template <class T = void, detail::values_of_host R>
    requires element_type<detail::value_of<R>>
auto asarray(const R& values) {
    return asarray<T>(values, shape_like(static_cast<index_t>(detail::count_of_values(values))));
}

/// An expression's values as an array, by default of its type, else converted as by `astype`. An array is shared.
///
///     std::cout << asarray(array<int>{1, 2} * 2) << ' ' << asarray<int>(array<double>{1.5, 2});
///     // prints: [2 4] [1 2]
template <class T = void, array_expression E>
auto asarray(const E& e, const source_place& at = source_place::current()) {
    const detail::in_statement of_the_user(at);
    return detail::converted_array<detail::chosen<T, typename E::value_type>>(e);
}

/// An array over memory that is not Ingot's, always written in place; in C order, or with these strides in bytes.
/// Throws shape_error where the elements do not lie in the memory, or a stride is no multiple of an element's bytes.
///
///     float mine[] = {1, 2, 3, 4};
///     array<float> over = asarray<float>(unowned_memory(mine, sizeof mine), {2}, {8});
///     over *= 10;
///     std::cout << over << ' ' << mine[2];
///     // prints: [10. 30.] 30
template <element_type T>
array<T> asarray(const unowned_memory& memory, const shape_like& shape) {
    detail::leaf<T> l;
    detail::adopt_memory({detail::dtype_of<T>, l.memory(), l.where()}, memory.buffer(), shape.values(), nullptr);
    return array<T>(detail::adopted{}, std::move(l));
}
template <element_type T>
array<T> asarray(const unowned_memory& memory, const shape_like& shape, const shape_like& strides) {
    detail::leaf<T> l;
    detail::adopt_memory({detail::dtype_of<T>, l.memory(), l.where()}, memory.buffer(), shape.values(), &strides);
    return array<T>(detail::adopted{}, std::move(l));
}

/// The values start, start + step, ... before stop, along one axis, as NumPy computes them; by default of the
/// arguments' common type. Throws shape_error where the step is 0 or the values are too many to count, dtype_error
/// where start does not fit the type.
///
///     std::cout << arange(5) << ' ' << arange(1, 2, 0.25) << ' ' << arange<float>(3, 0, -1);
///     // prints: [0 1 2 3 4] [1.   1.25 1.5  1.75] [3. 2. 1.]
template <class T = void, weak_scalar A, weak_scalar B, weak_scalar C = int>
auto arange(A start, B stop, C step = 1) {
    using type = detail::chosen<T, A, B, C>;
    const type first = detail::element_value<type>("arange", start);
    if constexpr (std::is_integral_v<type> &&
                  (std::is_integral_v<A> && std::is_integral_v<B> && std::is_integral_v<C>)) {
        const auto number = [](auto i) {
            return detail::any_number{static_cast<std::uint64_t>(i), std::is_unsigned_v<decltype(i)>};
        };
        const index_t n = detail::arange_count(number(start), number(stop), number(step));
        // Unsigned, so that values beyond the type wrap.
        const auto from = static_cast<std::uint64_t>(start), by = static_cast<std::uint64_t>(step);
        return detail::generated<type>(
            "arange", n, [=](index_t i) { return static_cast<type>(from + static_cast<std::uint64_t>(i) * by); });
    } else {
        const index_t n =
            detail::arange_count(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step));
        // As NumPy computes it, rounding included: the first two values, then multiples of their difference.
        using common = std::common_type_t<A, B, C, index_t>;  // a sum of two ints may need more than an int
        const type second =
            detail::element_value<type>("arange", static_cast<common>(start) + static_cast<common>(step));
        if constexpr (std::is_integral_v<type>) {
            const auto from = static_cast<std::uint64_t>(first), by = static_cast<std::uint64_t>(second) - from;
            return detail::generated<type>(
                "arange", n, [=](index_t i) { return static_cast<type>(from + static_cast<std::uint64_t>(i) * by); });
        } else {
            using number = std::conditional_t<detail::half_float<type>, float, type>;
            const auto from = static_cast<number>(first), by = static_cast<number>(second) - from;
            return detail::generated<type>(
                "arange", n, [=](index_t i) { return static_cast<type>(from + static_cast<number>(i) * by); });
        }
    }
}
template <class T = void, weak_scalar A>
auto arange(A stop) {
    return arange<detail::chosen<T, A>>(A(0), stop);
}

/// `count` evenly spaced values from start to stop, along one axis; without `endpoint`, stop is one step beyond the
/// last. The default type is float64; for an integer type values are rounded down. Throws shape_error where the count
/// is negative.
///
///     std::cout << linspace(0, 1, 5) << ' ' << linspace(0, 1, 4, false);
///     // prints: [0.   0.25 0.5  0.75 1.  ] [0.   0.25 0.5  0.75]
template <element_type T = double>
array<T> linspace(double start, double stop, index_t count = 50, bool endpoint = true) {
    if (count < 0) detail::throw_negative_count("linspace", count);
    return detail::generated<T>("linspace", count, [=](index_t i) {
        const double value = detail::even_point(start, stop, count, endpoint, i);
        return detail::element_value<T>("linspace", std::is_integral_v<T> ? std::floor(value) : value);
    });
}

/// Powers of `base` with `count` evenly spaced exponents from start to stop, along one axis; without `endpoint`, stop
/// is one step beyond the last. The default type is float64. Throws shape_error where the count is negative.
///
///     std::cout << logspace(0, 3, 4) << ' ' << logspace<int>(0, 4, 5, true, 2);
///     // prints: [   1.   10.  100. 1000.] [ 1  2  4  8 16]
template <element_type T = double>
array<T> logspace(double start, double stop, index_t count = 50, bool endpoint = true, double base = 10) {
    const auto powers = detail::powers_between(start, stop, count, endpoint, base);
    if constexpr (std::is_same_v<T, double>)
        return powers;
    else
        return astype<T>(powers);
}

/// A matrix with ones on the diagonal `offset` above the main one and zeros elsewhere, by default float64; one number
/// gives a square matrix. Throws shape_error where a number is negative.
///
///     std::cout << eye<int>(2, 3, 1) << '\n' << eye(2);
///     // prints: [[0 1 0]
///     //          [0 0 1]]
///     //         [[1. 0.]
///     //          [0. 1.]]
template <element_type T = double>
array<T> eye(index_t rows, index_t columns, index_t offset = 0) {
    array<T> a = zeros<T>({rows, columns});
    diagonal(a, offset) = 1;
    return a;
}
template <element_type T = double>
array<T> eye(index_t n) {
    return eye<T>(n, n);
}

/// A square matrix with ones on the main diagonal and zeros elsewhere, as `eye(n)`.
///
///     std::cout << identity<int>(2);
///     // prints: [[1 0]
///     //          [0 1]]
template <element_type T = double>
array<T> identity(index_t n) {
    return eye<T>(n, n);
}

/// For a vector e: a matrix with e on the diagonal `offset` above the main one and zeros elsewhere. For a matrix e:
/// that diagonal. Both are arrays of e's type. Throws shape_error where e has another number of axes.
///
///     std::cout << diag(array<int>{{1, 2}, {3, 4}}) << '\n' << diag(array<int>{1, 2});
///     // prints: [1 4]
///     //         [[1 0]
///     //          [0 2]]
template <array_expression E>
auto diag(const E& e, index_t offset = 0) {
    using T = typename E::value_type;
    const shape_like shape = e.shape();
    if (shape.count() == 2) return array<T>(diagonal(e, offset));
    if (shape.count() != 1) detail::throw_wrong_rank("diag", shape.count(), "1 or 2");
    const index_t n = detail::rows_around_diagonal(shape[0], offset);
    array<T> a = detail::zeroed<T>("diag", shape_like{n, n}.values(), e.device());
    diagonal(a, offset) = e;
    return a;
}

/// A matrix with ones on and below the diagonal `offset` above the main one and zeros above, by default float64; one
/// number gives a square matrix. Throws shape_error where a number is negative.
///
///     std::cout << tri<int>(2, 3, 1) << '\n' << tri(2);
///     // prints: [[1 1 0]
///     //          [1 1 1]]
///     //         [[1. 0.]
///     //          [1. 1.]]
template <element_type T = double>
array<T> tri(index_t rows, index_t columns, index_t offset = 0) {
    const index_t extents[] = {rows, columns};
    detail::check_extents("tri", extents);
    const index_t first = offset < -rows ? -rows : offset > columns ? columns : offset;  // clamped: same result
    using number = detail::deferred<index_t, T>;
    return greater_equal(arange<number>(first, rows + first)(all, newaxis), arange<number>(columns));
}
template <element_type T = double>
array<T> tri(index_t n) {
    return tri<T>(n, n);
}

}  // namespace ingot
