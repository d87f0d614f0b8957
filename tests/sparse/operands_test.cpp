// Operands of different element types and formats, as NumPy promotes them; single elements; extremes and means.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ingot/ingot.hpp>
#include <ingot/sparse.hpp>

using namespace ingot;

namespace {

template <class R, class M>
constexpr bool has_type = std::same_as<typename std::remove_cvref_t<M>::value_type, R>;

/// Functions of a and b, which have the elements of x and y, give the csr or the array that those of x and y are.
template <class A, class B, class X, class Y>
void check_pair(const A& a, const B& b, const X& x, const Y& y) {
    using R = typename decltype(array(x + y))::value_type;
    const auto is = [](const auto& made, const auto& wanted) {
        CHECK(has_type<R, decltype(made)>);
        if constexpr (sparse::sparse_matrix<std::remove_cvref_t<decltype(made)>>)
            CHECK(array_equal(made.to_dense(), array<R>(wanted)).item());
        else
            CHECK(array_equal(made, array<R>(wanted)).item());
    };
    is(a + b, x + y);
    is(a - b, x - y);
    is(multiply(a, b), x * y);
    is(matmul(a, b), sum(array<R>(x)(all, all, newaxis) * array<R>(y)(newaxis), 1));
}

template <class T, class U>
void check_types() {
    const array<float> p{{0, 1, 0}, {2, 0, -3}, {0, 0, 4}}, q{{5, 0, 0}, {0, 0, 6}, {7, -1, 0}};
    array<T> x = astype<T>(p);
    array<U> y = astype<U>(q);
    if constexpr (detail::complex_number<T>) x = x * T(0, 1);
    if constexpr (detail::complex_number<U>) y = y * U(1, 2);
    const sparse::csr<T> a(x);
    const sparse::csc<T> c = sparse::csr<T>(array<T>(transpose(x))).transpose();
    const sparse::csc<U> d = sparse::csr<U>(array<U>(transpose(y))).transpose();
    check_pair(a, sparse::csr<U>(y), x, y);
    check_pair(a, d, x, y);
    check_pair(c, sparse::csr<U>(y), x, y);
    check_pair(c, d, x, y);
    check_pair(a.to_coo(), d, x, y);
    check_pair(a, y, x, y);
    check_pair(c, y, x, y);
    const array<U> v = y(0);
    using R = typename decltype(a + d)::value_type;
    const array<R> of_columns = sum(array<R>(x) * array<R>(v), 1);
    CHECK(array_equal(matmul(a, v), of_columns).item());
    CHECK(array_equal(matmul(c, v), of_columns).item());
    CHECK(array_equal(a.to_coo().to_csr().dot(v), of_columns).item());
    CHECK(array_equal(matmul(v, a), sum(array<R>(x) * array<R>(v)(all, newaxis), 0)).item());
    CHECK(array_equal(matmul(y, c), sum(array<R>(y)(all, all, newaxis) * array<R>(x)(newaxis), 1)).item());
    CHECK(array_equal((a * d).to_dense(), array<R>(x * y)).item());
    CHECK(array_equal(y + a, array<R>(x + y)).item());
    CHECK(array_equal(y - c, array<R>(y - x)).item());
}

}  // namespace

TEST_CASE("operands of different types and formats are promoted as NumPy's") {
    check_types<double, std::complex<double>>();
    check_types<float, double>();
    check_types<float, float>();
    if (current_device().is_cuda()) return;
    check_types<std::complex<float>, double>();
    check_types<std::complex<double>, std::complex<float>>();
    // Integers make float64 of float32.
    const sparse::csr<float> a(array<float>{{0, 1}, {2, 0}});
    CHECK(has_type<double, decltype(matmul(a, array<int>{1, 2}))>);
    CHECK(matmul(a, array<int>{1, 2}).to_host() == std::vector<double>{2, 2});
    CHECK((a + (a * 2).transpose()).to_dense().to_host() == std::vector<float>{0, 5, 4, 0});
    CHECK_THROWS_AS(a + sparse::csr<double>({2, 3}), shape_error);
    CHECK_THROWS_AS(matmul(a, sparse::csc<double>(sparse::csr<double>({2, 3}))), shape_error);
}

TEST_CASE("an element is a number, by its row and column") {
    const sparse::csr<double> a({1, 2, 3}, {2, 0, 1}, {0, 1, 1, 3}, {3, 3});
    const std::vector<double> dense = a.to_dense().to_host();
    for (int i = -3; i < 3; ++i)
        for (int j = -3; j < 3; ++j) {
            CAPTURE(i);
            CAPTURE(j);
            CHECK(a(i, j) == dense[static_cast<std::size_t>((i + 3) % 3 * 3 + (j + 3) % 3)]);
        }
    CHECK_THROWS_WITH_AS(a(3, 0), "[index] 3 is out of range for axis 0 of extent 3", index_error);
    CHECK_THROWS_WITH_AS(a(0, -4), "[index] -4 is out of range for axis 1 of extent 3", index_error);
    using number = std::complex<float>;
    const sparse::csr<number, std::int64_t> z({number(1, 2), number(NAN)}, {0, 1}, {0, 2}, {1, 3});
    CHECK(z(0, 0) == number(1, 2));
    CHECK(z(0, 2) == 0.0f);
    CHECK(std::isnan(z(0, 1).real()));
}

TEST_CASE("extremes and means count the elements without an entry") {
    const auto of = [](const array<double>& x) { return sparse::csr<double>(x); };
    const auto below = of({{0, -1}, {-2, -3}}), above = of({{0, 1}, {2, 3}}), full = of({{4, 1}, {2, 3}});
    CHECK(below.max() == 0);
    CHECK(below.min() == -3);
    CHECK(below.mean() == -1.5);
    CHECK(above.min() == 0);
    CHECK(above.max() == 3);
    CHECK(full.min() == 1);
    CHECK(full.max() == 4);
    CHECK(of({{-1, -2}}).max() == -1);
    const auto with_nan = of({{0, NAN}, {2, 3}});
    CHECK(std::isnan(with_nan.max()));
    CHECK(std::isnan(with_nan.min()));
    const sparse::csr<float> nothing({2, 3}), none_at_all({0, 3});
    CHECK(nothing.max() == 0);
    CHECK(nothing.min() == 0);
    CHECK(nothing.mean() == 0);
    CHECK_THROWS_AS(none_at_all.max(), shape_error);
    CHECK_THROWS_AS(none_at_all.min(), shape_error);
    CHECK(std::isnan(none_at_all.mean()));
    using number = std::complex<double>;
    const sparse::csr<number> z({number(1, 2), number(3, -4)}, {0, 1}, {0, 2}, {1, 4});
    CHECK(z.mean() == number(1, -0.5));
}
