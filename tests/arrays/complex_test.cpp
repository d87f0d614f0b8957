// complex64 and complex128: arithmetic, functions and their special values (C99, Annex G), and every pattern.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

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

template <class C, class E, class F>
void check_function(const char* name, const std::vector<C>& at, const E& got, const F& reference, double most = 6) {
    const std::vector<C> values = got.to_host();
    double worst = 0;
    std::size_t where = 0;
    for (std::size_t i = 0; i < at.size(); ++i)
        if (const double off = places_off(values[i], reference(wide(at[i].real(), at[i].imag()))); !(off <= worst))
            worst = off, where = i;
    CHECK_MESSAGE(worst <= most, name, " of ", at[where].real(), " + ", at[where].imag(), "i is ", values[where].real(),
                  " + ", values[where].imag(), "i, ", worst, " places off");
}

template <class C>
void check_functions() {
    using T = typename C::value_type;
    std::vector<C> at = some<C>({3000}, 5, 3).to_host();
    for (const C z : some<C>({500}, 6, 1e-3).to_host())
        at.push_back(z), at.push_back(C(1) + z), at.push_back(C(0, 1) + z);
    for (const C z : some<C>({500}, 7, 60).to_host()) at.push_back(z);
    for (const T x : {T(0.5), T(-2), T(1e-20), T(3)}) at.emplace_back(x, T(0)), at.emplace_back(T(0), x);
    const array<C> z = asarray(at);
#define CHECK_OF(name, ...) check_function(#name, at, name(z), [](wide w) -> wide { return __VA_ARGS__; })
    CHECK_OF(exp, std::exp(w));
    CHECK_OF(log, std::log(w));
    CHECK_OF(sqrt, std::sqrt(w));
    CHECK_OF(sin, std::sin(w));
    CHECK_OF(cos, std::cos(w));
    CHECK_OF(tan, std::tan(w));
    CHECK_OF(sinh, std::sinh(w));
    CHECK_OF(cosh, std::cosh(w));
    CHECK_OF(tanh, std::tanh(w));
    CHECK_OF(arcsin, std::asin(w));
    CHECK_OF(arccos, std::acos(w));
    CHECK_OF(arctan, std::atan(w));
    CHECK_OF(arcsinh, std::asinh(w));
    CHECK_OF(arccosh, std::acosh(w));
    CHECK_OF(arctanh, std::atanh(w));
    CHECK_OF(log2, std::log(w) / std::log(2.0L));
    CHECK_OF(log10, std::log10(w));
    CHECK_OF(log1p, [&] {  // the part of 1 + w that is no small one, by long double's own log1p
        const long double re = std::log1p(w.real() * (w.real() + 2) + w.imag() * w.imag()) / 2;
        return wide(re, std::atan2(w.imag(), w.real() + 1));
    }());
    CHECK_OF(expm1, [&] {
        const long double s = std::sin(w.imag() / 2);
        return wide(std::expm1(w.real()) * std::cos(w.imag()) - 2 * s * s, std::exp(w.real()) * std::sin(w.imag()));
    }());
    CHECK_OF(square, w * w);
    CHECK_OF(reciprocal, wide(1) / w);
    CHECK_OF(conj, std::conj(w));
    CHECK_OF(sign, w / std::abs(w));
#undef CHECK_OF
    const std::vector<C> ones(at.size(), C(1));
    // z log 2 is rounded, and z is up to 85: that is half a last place of 59.
    check_function("exp2", at, exp2(z), [](wide w) -> wide { return std::exp(w * std::log(2.0L)); }, 34);
    check_function("power 2", at, power(z, 2), [](wide w) -> wide { return w * w; });
    check_function("power 3", at, power(z, 3), [](wide w) -> wide { return w * w * w; });
    check_function("times i", at, z * C(0, 1), [](wide w) -> wide { return w * wide(0, 1); }, 0);
}

/// Special values by what Annex G says of them: each "re im" in, "re im" out; ? is either sign.
template <class C>
void check_special_values() {
    using T = typename C::value_type;
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const auto same = [](T a, T b) {
        return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
    };
    std::vector<C> at;
    for (const T re : {T(0), T(-0.0), T(1), T(-1), inf, -inf, nan})
        for (const T im : {T(0), T(-0.0), T(1), T(-1), inf, -inf, nan}) at.emplace_back(re, im);
    const array<C> z = asarray(at);
    const auto check = [&](const char* name, const auto& got, auto reference) {
        const std::vector<C> values = got.to_host();
        for (std::size_t i = 0; i < at.size(); ++i) {
            const std::complex<double> wanted = reference(std::complex<double>(at[i]));
            const auto near = [&](T a, double b, bool unsigned_zero) {
                if (std::isnan(b)) return std::isnan(a);
                if (unsigned_zero && b == 0) return a == 0;
                if (b == 0 || std::isinf(b)) return same(a, static_cast<T>(b));
                return std::fabs(static_cast<double>(a) - b) <= 4 * std::numeric_limits<T>::epsilon() * std::fabs(b);
            };
            // Where a part is NaN, or an angle infinite, C leaves signs open, and often whether a part is a number.
            const bool open = std::isnan(wanted.real()) || std::isnan(wanted.imag()) || !std::isfinite(at[i].imag());
            const bool good =
                near(values[i].real(), wanted.real(), open) && near(values[i].imag(), wanted.imag(), open);
            const bool both_undefined = open && (std::isnan(values[i].real()) || std::isnan(values[i].imag())) &&
                                        (std::isinf(values[i].real()) || std::isinf(values[i].imag())) ==
                                            (std::isinf(wanted.real()) || std::isinf(wanted.imag()));
            CHECK_MESSAGE((good || both_undefined), name, " of (", at[i].real(), ", ", at[i].imag(), ") is (",
                          values[i].real(), ", ", values[i].imag(), "), wanted (", wanted.real(), ", ", wanted.imag(),
                          ")");
        }
    };
    using d = std::complex<double>;
    check("exp", exp(z), [](d w) { return std::exp(w); });
    check("sqrt", sqrt(z), [](d w) { return std::sqrt(w); });
    check("log", log(z), [](d w) { return std::log(w); });
    check("sinh", sinh(z), [](d w) { return std::sinh(w); });
    check("cosh", cosh(z), [](d w) { return std::cosh(w); });
    check("tanh", tanh(z), [](d w) { return std::tanh(w); });
}

/// In last places of what was added up on the way, `terms`, where that is more than the result.
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

TEST_CASE_TEMPLATE("complex functions are within a few places of their absolute value", C, std::complex<float>,
                   std::complex<double>) {
    check_functions<C>();
}
TEST_CASE_TEMPLATE("complex functions have C99's special values", C, std::complex<float>, std::complex<double>) {
    check_special_values<C>();
}
TEST_CASE_TEMPLATE("maps, folds, rows, scans and views of complex numbers", C, std::complex<float>,
                   std::complex<double>) {
    check_patterns<C>();
}
TEST_CASE_TEMPLATE("statements over complex arrays", C, std::complex<float>, std::complex<double>) {
    check_statements<C>();
}

TEST_CASE("a kernel's text takes no complex numbers, and says so") {
    const reduction_kernel<"T x", "T y"> total("x", "a + b", "y = a", "0", "total");
    CHECK_THROWS_AS(total(some<std::complex<float>>({5}, 1)).eval(), dtype_error);
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
