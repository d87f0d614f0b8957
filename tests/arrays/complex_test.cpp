// complex64 and complex128 in every pattern; the sweep of rows (tests/parity) compares the functions' values.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "tests/arrays/expect.hpp"

namespace ingot {
namespace {

using wide = std::complex<long double>;

template <class C>
array<C> some(const shape_like& shape, unsigned seed, double size = 2) {
    using T = typename C::value_type;
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> draw(-size, size);
    index_t n = 1;
    for (const index_t extent : shape.values()) n *= extent;
    std::vector<C> values;
    for (index_t i = 0; i < n; ++i) {
        const double re = draw(random), im = draw(random);
        values.emplace_back(static_cast<T>(re), static_cast<T>(im));
    }
    return asarray(values, shape);
}

/// The error of got, in last places of the reference's absolute value.
template <class C>
double places_off(C got, wide wanted, double least = 0) {
    using T = typename C::value_type;
    const long double size = std::max(
        {std::abs(wanted), static_cast<long double>(std::numeric_limits<T>::min()), static_cast<long double>(least)});
    const wide g(got.real(), got.imag());
    return static_cast<double>(std::abs(g - wanted) / size /
                               static_cast<long double>(std::numeric_limits<T>::epsilon()));
}

/// The bound is in units of the last place of the result, or of `terms`, the sum of what was added, where that is
/// larger.
template <class C>
void check_near(const std::vector<C>& got, const std::vector<wide>& wanted, double most, double terms = 0) {
    REQUIRE(got.size() == wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(places_off(got[i], wanted[i], terms) <= most);
}

template <class C>
void check_patterns() {
    using T = typename C::value_type;
    const array<C> x = some<C>({7, 1031}, 1), y = some<C>({7, 1031}, 2), v = some<C>({1031}, 3);
    const std::vector<C> xs = x.to_host(), ys = y.to_host(), vs = v.to_host();
    const auto w = [](C z) { return wide(z.real(), z.imag()); };
    const auto each = [&](const auto& f) {
        std::vector<wide> out;
        for (std::size_t i = 0; i < xs.size(); ++i) out.push_back(f(w(xs[i]), w(ys[i]), w(vs[i % 1031])));
        return out;
    };
    check_near((x * y + v).to_host(), each([](wide a, wide b, wide c) { return a * b + c; }), 8, 4);
    check_near((x / y - 2).to_host(), each([](wide a, wide b, wide) { return a / b - wide(2); }), 16, 4);
    check_near(where(real(x) > imag(y), x * T(0.5), conj(y)).to_host(),
               each([](wide a, wide b, wide) { return a.real() > b.imag() ? a * 0.5L : std::conj(b); }), 0);
    check_near(
        transpose(x)(slice(none, none, -1)).to_host(),
        [&] {
            std::vector<wide> out;
            for (std::size_t j = 1031; j-- > 0;)
                for (std::size_t i = 0; i < 7; ++i) out.push_back(w(xs[i * 1031 + j]));
            return out;
        }(),
        0);
    // Folds along each axis, whole, in rows and in columns.
    std::vector<wide> rows(7), columns(1031);
    std::vector<wide> prefixes;
    wide total;
    long double squares = 0;
    for (std::size_t i = 0; i < 7; ++i)
        for (std::size_t j = 0; j < 1031; ++j) {
            const wide z = w(xs[i * 1031 + j]);
            rows[i] += z, columns[j] += z, total += z, squares += std::norm(z);
            prefixes.push_back(rows[i]);
        }
    check_near(sum(x, 1).to_host(), rows, 40, 60);
    check_near(sum(x, 0).to_host(), columns, 40, 4);
    check_near<C>({sum(x).item()}, {total}, 40, 200);
    check_near<C>({mean(x).item()}, {total / 7217.0L}, 40, 0.03);
    check_near(sum(x, 1, keepdims).to_host(), rows, 40, 60);
    const std::vector<C> running = cumsum(x, 1).to_host();
    for (std::size_t i = 0; i < running.size(); ++i)
        CHECK(std::abs(w(running[i]) - prefixes[i]) <=
              100 * static_cast<long double>(std::numeric_limits<T>::epsilon()) * 60);
    CHECK(norm(x).item() == doctest::Approx(static_cast<double>(std::sqrt(squares))).epsilon(1e-5));
    CHECK(std::is_same_v<typename decltype(var(x))::value_type, T>);
    const wide middle = total / 7217.0L;
    CHECK(var(x).item() == doctest::Approx(static_cast<double>(squares / 7217 - std::norm(middle))).epsilon(1e-5));
    const std::vector<C> centred = (x - mean(x, 1, keepdims)).to_host();
    for (std::size_t i = 0; i < 7; ++i)
        CHECK(std::abs(w(centred[i * 1031 + 5]) - (w(xs[i * 1031 + 5]) - rows[i] / 1031.0L)) < 1e-5L);
    wide product;
    for (std::size_t j = 0; j < 1031; ++j) product += std::conj(w(vs[j])) * w(xs[j]);
    CHECK(std::abs(w(vdot(v, x(0)).item()) - product) < 1e-2L);
    CHECK(std::abs(w(dot(conj(v), x(0)).item()) - product) < 1e-2L);
    CHECK(any(x).item());
    CHECK(count_nonzero(x).item() == 7217);
    CHECK(allclose(x, x + C(0)).item());
    CHECK((x == x).to_host() == std::vector<bool>(7217, true));
    CHECK((x != y).to_host() == std::vector<bool>(7217, true));
    check_near(astype<C>(real(x)).to_host(), each([](wide a, wide, wide) { return wide(a.real()); }), 0);
    check_near(complex_of(imag(x), real(x)).to_host(),
               each([](wide a, wide, wide) { return wide(a.imag(), a.real()); }), 0);
    check_near(reshape(x, {1031, 7}).to_host(), each([](wide a, wide, wide) { return a; }), 0);
}

template <class C>
void check_statements() {
    array<C> z = zeros<C>({4, 3});
    z += C(1, 2);
    z(0) = C(7, -7);
    z(slice(1, 3), 1) = 5;
    z *= 2;
    z(all, 0) = z(all, 2);
    const std::vector<C> got = z.to_host();
    CHECK(got[0] == C(14, -14));
    CHECK(got[4] == C(10));
    CHECK(got[3] == C(2, 4));
    CHECK(got[11] == C(2, 4));
    lazy<C> t = z;
    for (int k = 0; k < 3; ++k) t = t * C(0, 1) + 1;
    CHECK(array<C>(t).to_host()[3] == C(2, 4) * C(0, -1) + C(0, 1) * C(0, 1) + C(1, 1));
    CHECK(full({2}, C(1, 3)).to_host()[1] == C(1, 3));
    CHECK(eye<C>(2).to_host() == std::vector<C>{1, 0, 0, 1});
    const array<C> braces{C(1, 2), 3, C(0, 1)};
    CHECK(braces.to_host() == std::vector<C>{C(1, 2), 3, C(0, 1)});
    CHECK(array<C>(scalar(C(2, 3))).item() == C(2, 3));
    auto [sum_of, difference] = eval(braces + 1, braces - 1);
    CHECK(sum_of.to_host()[0] == C(2, 2));
    CHECK(difference.to_host()[2] == C(-1, 1));
}

}  // namespace

TEST_CASE_TEMPLATE("maps, folds, rows, scans and views of complex numbers", C, std::complex<float>,
                   std::complex<double>) {
    check_patterns<C>();
}
TEST_CASE_TEMPLATE("statements over complex arrays", C, std::complex<float>, std::complex<double>) {
    check_statements<C>();
}

TEST_CASE_TEMPLATE("whole powers of complex numbers multiply and divide", C, std::complex<float>,
                   std::complex<double>) {
    const with_math math(strict);
    const array<C> z{C(0, 2), C(1, 1), C(-2, 0), C(0, -4)};
    const auto [inverse, fourth, root, negative] = eval(power(z, -1), power(z, 4), power(z, 0.5), power(z, -2));
    CHECK(inverse.to_host() == std::vector<C>{C(0, -0.5), C(0.5, -0.5), C(-0.5, 0), C(0, 0.25)});
    CHECK(fourth.to_host() == std::vector<C>{C(16, 0), C(-4, 0), C(16, 0), C(256, 0)});
    CHECK(root.to_host() == sqrt(z).to_host());
    CHECK(negative.to_host()[0] == C(-0.25, 0));
    CHECK(array<C>(power(z, C(-1))).to_host() == inverse.to_host());
    CHECK(array<C>(power(zeros<C>(1), array<C>{C(0)})).to_host()[0] == C(1));
}

TEST_CASE_TEMPLATE("inverse functions of a zero beside a NaN keep what the zero decides", C, std::complex<float>,
                   std::complex<double>) {
    using T = typename C::value_type;
    const T missing = std::numeric_limits<T>::quiet_NaN(), quarter = static_cast<T>(1.5707963267948966);
    const array<C> above{C(0, missing), C(-T(0), missing)}, beside{C(missing, 0), C(missing, -T(0))};
    const auto [sine, tangent, cosine, sine_h, tangent_h, cosine_h] =
        eval(arcsin(above), arctan(beside), arccos(above), arcsinh(beside), arctanh(above), arccosh(above));
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const bool negative = i == 1;
        for (const array<C>& of_zero : {sine, tangent_h}) {
            const C z = of_zero.to_host()[i];
            CHECK(z.real() == 0);
            CHECK(std::signbit(z.real()) == negative);
            CHECK(std::isnan(z.imag()));
        }
        for (const array<C>& of_zero : {tangent, sine_h}) {
            const C z = of_zero.to_host()[i];
            CHECK(std::isnan(z.real()));
            CHECK(z.imag() == 0);
            CHECK(std::signbit(z.imag()) == negative);
        }
        CHECK(cosine.to_host()[i].real() == quarter);
        CHECK(std::isnan(cosine.to_host()[i].imag()));
        CHECK(std::isnan(cosine_h.to_host()[i].real()));
    }
    // If a zero decides a part, that part stays right although the other one is NaN.
    CHECK(arcsin(array<C>{C(-T(0), 2)}).to_host()[0].imag() == doctest::Approx(std::asinh(2.0)));
    CHECK(std::isnan(arcsin(array<C>{C(1, missing)}).to_host()[0].real()));
}

TEST_CASE_TEMPLATE("the reciprocal of a complex zero is NaN, of an infinity zero", C, std::complex<float>,
                   std::complex<double>) {
    using T = typename C::value_type;
    const T inf = std::numeric_limits<T>::infinity();
    const std::vector<C> r = reciprocal(array<C>{C(0, 0), C(-T(0), 0), C(inf, 1), C(3, 4), C(1, -2)}).to_host();
    CHECK((std::isnan(r[0].real()) && std::isnan(r[0].imag())));
    CHECK((std::isnan(r[1].real()) && std::isnan(r[1].imag())));
    CHECK(r[2] == C(0, 0));
    CHECK(places_off(r[3], wide(0.12L, -0.16L)) <= 4);
    CHECK(places_off(r[4], wide(0.2L, 0.4L)) <= 4);
}

TEST_CASE("a text's reduction has no complex partial results, and says so") {
    const reduction_kernel<"T x", "T y"> total("x", "a + b", "y = a", "0", "total");
    CHECK_THROWS_WITH_AS(
        total(some<std::complex<float>>({5}, 1)).eval(),
        "[total] partial results are real numbers, not complex64: sum(k(x)) of an elementwise kernel k "
        "adds complex numbers",
        dtype_error);
    const reduction_kernel<"T x", "double y", "double"> energy("norm(x)", "a + b", "y = a", "0", "energy");
    CHECK(energy(array<std::complex<float>>{std::complex<float>(1, 2), std::complex<float>(3, -4)}).item() == 30);
}

TEST_CASE_TEMPLATE("a text computes with complex numbers as the operators do", C, std::complex<float>,
                   std::complex<double>) {
    const array<C> z{C(1, 2), C(3, -4), C(-0.5, 0)}, w{C(0, 1), C(1, 1), C(2, -3)};
    const elementwise_kernel<"T x, T y", "T p, T q, T r"> arithmetic(
        "p = x * conj(y) + 2 * x - y; q = x / y; q += T(1, 2); r = -(x == y ? y : x) / 2.0;", "arithmetic");
    auto [p, q, r] = eval(arithmetic(z, w));
    CHECK(allclose(p, z * conj(w) + 2 * z - w, 1e-6).item());
    CHECK(allclose(q, z / w + C(1, 2), 1e-6).item());
    CHECK(allclose(r, -z / 2, 1e-6).item());
    const elementwise_kernel<"T x", "T a, T b, T c, T d, T e"> functions(
        "a = exp(x) + log(x); b = sqrt(x) + pow(x, 2); c = sin(x) + cos(x) * T(0, 1); d = sinh(x) - tanh(x); "
        "e = polar(abs(x), arg(x)) + tan(x) + cosh(x);",
        "functions");
    auto [a, b, c, d, e] = eval(functions(z));
    CHECK(allclose(a, exp(z) + log(z), 1e-5).item());
    CHECK(allclose(b, sqrt(z) + z * z, 1e-5).item());
    CHECK(allclose(c, sin(z) + cos(z) * C(0, 1), 1e-5).item());
    CHECK(allclose(d, sinh(z) - tanh(z), 1e-5).item());
    CHECK(allclose(e, z + tan(z) + cosh(z), 1e-5).item());
    // Real and complex parameters side by side, fused with what is around them; a number is given for a complex one.
    using part = typename C::value_type;
    const elementwise_kernel<"T x, U n, raw T table, T by", "U size, T z"> mixed(
        "size = x.real() + n * x.imag(); z = table[(i + 1) % table.size()] * by; z.imag(n);", "mixed");
    auto [size, turned] = eval(mixed(z + 1, array<part>{1, 2, 3}, w, 2));
    CHECK(holds(size, {3}, {4, -4, 0.5}));
    CHECK(holds(turned, {3}, {C(2, 1), C(4, 2), C(0, 3)}));
    CHECK(holds(std::get<1>(mixed(z, array<part>{1, 2, 3}, w, C(0, 1))) + 1, {3}, {C(0, 1), C(4, 2), C(0, 3)}));
    const elementwise_kernel<"complex64 x, complex128 y", "complex128 z"> wide("z = x + y; z -= complex<float>(y);",
                                                                               "wide");
    const array<std::complex<double>> of_two = wide(array<std::complex<float>>{std::complex<float>(1, 2)},
                                                    array<std::complex<double>>{std::complex<double>(0.5, 4)});
    CHECK(of_two(0).item() == std::complex<double>(1, 2));
}

TEST_CASE("complex numbers promote and print as NumPy's do") {
    const array<std::complex<float>> z{std::complex<float>(1, 2), std::complex<float>(-3, 0.5f)};
    const array<float> x{1, 2};
    CHECK(std::is_same_v<decltype(z + x)::value_type, std::complex<float>>);
    CHECK(std::is_same_v<decltype(z + array<double>{1, 2})::value_type, std::complex<double>>);
    CHECK(std::is_same_v<decltype(z * 2.5)::value_type, std::complex<float>>);
    CHECK(std::is_same_v<decltype(x * std::complex<double>(0, 1))::value_type, std::complex<float>>);
    CHECK(std::is_same_v<decltype(array<int>{1, 2} * std::complex<float>(0, 1))::value_type, std::complex<double>>);
    CHECK(std::is_same_v<decltype(abs(z))::value_type, float>);
    std::ostringstream out;
    out << z << array<std::complex<double>>(scalar(std::complex<double>(1, -2)));
    CHECK(out.str() == "[ 1.+2.j  -3.+0.5j](1-2j)");
}

}  // namespace ingot
