// Complex numbers in order, their products, and their parts as targets, against NumPy 2.
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::numpy_cases;

namespace {

template <class C>
array<C> complex_values(const shape_like& shape, int spread, double nans = 0) {
    using R = typename C::value_type;
    std::mt19937 random(7);
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<C> v(static_cast<std::size_t>(n));
    const auto part = [&] {
        if (static_cast<double>(random() % 1000) < nans * 1000) return std::numeric_limits<R>::quiet_NaN();
        return static_cast<R>(static_cast<int>(random() % static_cast<unsigned>(2 * spread + 1)) - spread);
    };
    for (C& z : v) {
        const R re = part();
        z = C(re, part());
    }
    return asarray<C>(v, shape);
}

/// Whether both parts are equal; NaN equals NaN.
bool same_parts(const std::complex<double>& a, const std::complex<double>& b) {
    const auto alike = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
    return alike(a.real(), b.real()) && alike(a.imag(), b.imag());
}

template <class A, class E>
concept real_is_written = requires(A& z, E e) { real(z) = e; };

template <class A>
concept adds_logarithms = requires(const A& z) { logaddexp(z, z); };

template <class E>
bool same(const E& e, const std::vector<typename E::value_type>& values) {
    return e.to_host() == values;
}

}  // namespace

TEST_CASE_TEMPLATE("complex numbers are ordered by their real and then their imaginary part", C, std::complex<float>,
                   std::complex<double>) {
    numpy_cases c;
    const array<C> z = complex_values<C>({4, 30}, 2), w = complex_values<C>({30}, 2),
                   gaps = complex_values<C>({4, 30}, 2, 0.03);
    c.add_all(std::tie(z, w, gaps),
              {"np.maximum(a, b)", "np.minimum(a, b)", "np.fmax(c, b)", "np.fmin(b, c)", "np.maximum(a, 1)",
               "np.minimum(c, a) * 2"},
              maximum(z, w), minimum(z, w), fmax(gaps, w), fmin(w, gaps), maximum(z, 1), minimum(gaps, z) * 2);
    c.add_all(std::tie(z, w, gaps),
              {"a.max()", "a.min()", "a.max(0)", "a.min(1, keepdims=True)", "c.max(1)", "c.min(0)", "c.max((0, 1))",
               "b.max(initial=9j + 2)", "a.T.min(1)", "(a * b).max(0) + 1"},
              max(z), min(z), max(z, 0), min(z, 1, keepdims), max(gaps, 1), min(gaps, 0), max(gaps, {0, 1}),
              max(w, initial(C(2, 9))), min(transpose(z), 1), max(z * w, 0) + 1);
    c.run();
    static_assert(adds_logarithms<array<double>> && !adds_logarithms<array<C>>);  // NumPy has no such loop
    CHECK_THROWS_AS((void)max(zeros<C>({0, 3}), 0), shape_error);
    CHECK(max(zeros<C>({0}), initial(C(1, 2))).item() == C(1, 2));
}

TEST_CASE("of complex numbers the first that is NaN wins, with both its parts") {
    using C = std::complex<double>;
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const std::vector<std::vector<C>> rows{{C(1, 2), C(5, nan), C(nan, 7), C(9, 9)},
                                           {C(1, 2), C(nan, 3), C(9, nan), C(0, 0)},
                                           {C(-inf, 1), C(-inf, 2), C(-inf, -inf), C(-inf, 0)},
                                           {C(0, inf), C(0, -inf), C(inf, nan), C(nan, nan)}};
    for (const std::vector<C>& row : rows) {
        // The order in NumPy's loops.
        const auto is_nan = [](C z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
        const auto before = [](C a, C b) {
            return a.real() < b.real() || (a.real() == b.real() && a.imag() < b.imag());
        };
        C greatest = row[0], least = row[0];
        for (const C z : row) {
            if (!is_nan(greatest) && (is_nan(z) || before(greatest, z))) greatest = z;
            if (!is_nan(least) && (is_nan(z) || before(z, least))) least = z;
        }
        const array<C> z = asarray(row);
        CHECK(same_parts(max(z).item(), greatest));
        CHECK(same_parts(min(z).item(), least));
        CHECK(same_parts(max(reshape(z, {2, 2}), {0, 1}).item(), greatest));
        CHECK(same_parts(maximum(maximum(maximum(z(0), z(1)), z(2)), z(3)).eval().item(), greatest));
        CHECK(same_parts(minimum(minimum(minimum(z(0), z(1)), z(2)), z(3)).eval().item(), least));
    }
}

TEST_CASE_TEMPLATE("products of complex numbers", C, std::complex<float>, std::complex<double>) {
    numpy_cases c;
    c.forgive(100);
    using R = typename C::value_type;
    for (const index_t n : {1, 2, 7, 8, 9, 17, 64, 65, 1000}) {
        const array<R> angle = reshape(arange<R>(static_cast<R>(3 * n)), {3, n}) * R(0.37);
        const array<C> z = complex_of(cos(angle), sin(angle));
        c.add_all(std::tie(z), {"a.prod(1)", "a.prod(0)", "a.prod(keepdims=True)", "np.nanprod(a.T, 0)"}, prod(z, 1),
                  prod(z, 0), prod(z, keepdims), nanprod(transpose(z), 0));
    }
    const array<C> z = complex_values<C>({2, 3, 2}, 3), nothing = zeros<C>({2, 0});
    c.add_all(std::tie(z, nothing),
              {"a.prod((0, 2))", "a.prod((1, 2), initial=2j)", "b.prod(1)", "b.prod(0)", "b.prod(keepdims=True)",
               "a.prod(axis=()) + 1"},
              prod(z, {0, 2}), prod(z, {1, 2}, initial(C(0, 2))), prod(nothing, 1), prod(nothing, 0),
              prod(nothing, keepdims), prod(z, {}) + 1);
    c.run();
    CHECK(launches([&] { (void)prod(z, 1).eval(); }) == 1);
    const array<C> many = ones<C>({1000});
    CHECK(launches([&] { (void)prod(many).eval(); }) <= 4);
}

TEST_CASE_TEMPLATE("the parts of a complex array are written, each alone", C, std::complex<float>,
                   std::complex<double>) {
    using R = typename C::value_type;
    array<C> z{{C(1, 2), C(3, 4)}, {C(5, 6), C(7, 8)}};
    const array<C> before = z;
    real(z) = array<R>{10, 20};
    CHECK(same(z, {C(10, 2), C(20, 4), C(10, 6), C(20, 8)}));
    CHECK(same(before, {C(1, 2), C(3, 4), C(5, 6), C(7, 8)}));  // a copy stays
    imag(z(1)) = 0;
    real(transpose(z)) *= 2;
    imag(z) += array<int>{1, 2};
    CHECK(same(z, {C(20, 3), C(40, 6), C(20, 1), C(40, 2)}));
    real(z) = imag(z);
    imag(z(all, 1)) = real(before(0));
    CHECK(same(z, {C(3, 3), C(6, 1), C(1, 1), C(2, 3)}));
    array<C> other = before;
    real(z) = real(other);
    imag(view<C>(z)) = 1;
    CHECK(same(z, {C(1, 1), C(3, 1), C(5, 1), C(7, 1)}));
    const auto kept = real(z);
    real(z) = 0;
    CHECK(same(kept, {R(1), R(3), R(5), R(7)}));  // a value, as it was
    CHECK(same(real(z) + 1, {R(1), R(1), R(1), R(1)}));
    CHECK(real(z)(0).shape() == shape_like(2));
    CHECK(launches([&] { real(z) = 6; }) == 1);
    CHECK(launches([&] { imag(z(0)) = real(z(1)); }) == 1);
    CHECK_THROWS_AS((real(z) = array<R>{1, 2, 3}), shape_error);
    static_assert(real_is_written<array<C>, R> && !real_is_written<const array<C>, R> && !real_is_written<array<C>, C>);
}
