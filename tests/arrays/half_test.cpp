// float16 and bfloat16: conversions over all bits, and every pattern beside float32's result.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <sstream>
#include <vector>

#include <ingot/ingot.hpp>

namespace ingot {
namespace {

/// The nearest by search among all values, ties to the even one.
template <class T>
std::uint16_t nearest_bits(double x) {
    if (std::isnan(x)) return std::numeric_limits<T>::quiet_NaN().bits();
    const bool negative = std::signbit(x);
    const double size = std::fabs(x);
    const std::uint16_t infinite = std::numeric_limits<T>::infinity().bits();
    const auto value = [&](std::uint32_t bits) {  // infinity counts as the number that would come next
        if (bits < infinite) return static_cast<double>(T::from_bits(static_cast<std::uint16_t>(bits)));
        return 2 * static_cast<double>(T::from_bits(static_cast<std::uint16_t>(infinite - 1))) -
               static_cast<double>(T::from_bits(static_cast<std::uint16_t>(infinite - 2)));
    };
    std::uint32_t low = 0, high = infinite;
    while (high - low > 1) (value((low + high) / 2) <= size ? low : high) = (low + high) / 2;
    if (size >= value(infinite)) low = high = infinite;
    const double below = size - value(low), above = value(high) - size;
    const std::uint32_t found = below < above ? low : above < below ? high : low % 2 == 0 ? low : high;
    return static_cast<std::uint16_t>(found | (negative ? 0x8000u : 0u));
}

template <class T>
std::vector<T> all_values() {
    std::vector<T> all;
    for (std::uint32_t b = 0; b < 65536; ++b) all.push_back(T::from_bits(static_cast<std::uint16_t>(b)));
    return all;
}

/// Doubles near every value and half way between neighbours, and any.
template <class T>
std::vector<double> awkward_doubles() {
    std::vector<double> out{0.0,       -0.0,         1e300,     -1e300, 5e-324,   HUGE_VAL,
                            -HUGE_VAL, std::nan(""), 65519.999, 65520,  65520.001};
    std::mt19937_64 random(7);
    for (int k = 0; k < 4000; ++k) {
        const auto bits = static_cast<std::uint16_t>(random());
        const double a = static_cast<double>(T::from_bits(bits)),
                     b = static_cast<double>(T::from_bits(static_cast<std::uint16_t>(bits + 1)));
        const double middle = (a + b) / 2;
        for (const double x : {a, middle, std::nextafter(middle, a), std::nextafter(middle, b)})
            if (!std::isnan(x)) out.push_back(x);
    }
    return out;
}

template <class T>
bool same(T a, T b) {
    return a.bits() == b.bits() || (a != a && b != b);
}
template <class T>
std::size_t count_different(const std::vector<T>& a, const std::vector<T>& b) {
    std::size_t n = a.size() == b.size() ? 0 : 1;
    for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) n += same(a[i], b[i]) ? 0u : 1u;
    return n;
}

template <class T>
std::vector<T> rounded(const std::vector<float>& values) {
    return std::vector<T>(values.begin(), values.end());
}

template <class T>
void check_conversions() {
    const std::vector<T> all = all_values<T>();
    const std::vector<double> awkward = awkward_doubles<T>();
    for (const double x : awkward) {
        CHECK(same(T(x), T::from_bits(nearest_bits<T>(x))));
        if (static_cast<double>(static_cast<float>(x)) == x) CHECK(same(T(static_cast<float>(x)), T(x)));
    }
    const array<T> a = asarray(all);
    const std::vector<float> wide = array<float>(a).to_host();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto expected = static_cast<float>(all[i]);
        wrong += std::isnan(expected) ? !std::isnan(wide[i])
                                      : std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(wide[i]);
    }
    CHECK(wrong == 0);
    const array<double> d = asarray(awkward);
    std::vector<T> from_double, from_float;
    for (const double x : awkward) from_double.push_back(T(x)), from_float.push_back(T(static_cast<float>(x)));
    CHECK(count_different(array<T>(d).to_host(), from_double) == 0);
    CHECK(count_different(array<T>(astype<float>(d)).to_host(), from_float) == 0);

    const std::vector<std::int64_t> integers{
        0, -1, 127, 255, 256, 257, 2049, 65504, 65519, 65520, -70000, (1ll << 40) + 1, 33'423'361};
    std::vector<T> wanted;
    for (const std::int64_t x : integers) wanted.push_back(T(static_cast<double>(x)));
    CHECK(count_different(array<T>(asarray(integers)).to_host(), wanted) == 0);
    const array<T> small{T(-3.7f), T(200.0f), T(1e4f), std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN()};
    CHECK(astype<std::int8_t>(small).to_host() == std::vector<std::int8_t>{-3, 127, 127, 127, 0});
    CHECK(astype<bool>(array<T>{T(0), T(-0.0f), T(1e-5f)}).to_host() == std::vector<bool>{false, false, true});
}

/// Values that add and multiply without an end of the range.
template <class T>
array<T> some(const shape_like& shape, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<float> values;
    index_t n = 1;
    for (const index_t extent : shape.values()) n *= extent;
    for (index_t i = 0; i < n; ++i)
        values.push_back(static_cast<float>(static_cast<int>(random() % 4001) - 2000) / 1024);
    return asarray(rounded<T>(values), shape);
}

/// The result is computed in float32 and rounded once.
template <class T, class E, class F>
void check_rounded(const E& given, const F& in_float32) {
    CHECK(std::is_same_v<typename E::value_type, T>);
    const std::vector<T> got = ravel(given).to_host();
    CHECK(count_different(got, rounded<T>(ravel(in_float32).to_host())) == 0);
}

/// As check_rounded, for sums that may be grouped otherwise: within the last place of 16 bits.
template <class T, class E, class F>
void check_near(const E& given, const F& in_float32) {
    CHECK(std::is_same_v<typename E::value_type, T>);
    const std::vector<T> got = ravel(given).to_host();
    const std::vector<float> wanted = ravel(in_float32).to_host();
    REQUIRE(got.size() == wanted.size());
    const float place = static_cast<float>(std::numeric_limits<T>::epsilon());
    for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(std::fabs(static_cast<float>(got[i]) - wanted[i]) <= place * std::fabs(wanted[i]) + 1e-6f);
}

template <class T>
void check_patterns() {
    const auto f = [](const auto& e) { return eval(astype<float>(e)); };
    const array<T> x = some<T>({7, 1031}, 1), y = some<T>({7, 1031}, 2), v = some<T>({1031}, 3);
    const auto xf = f(x), yf = f(y), vf = f(v);
    // One kernel keeps float32 between its nodes, and weak scalars are rounded to the array's dtype.
    check_rounded<T>(where(x - 2 > y, x * y, x + y), where(xf - 2 > yf, xf * yf, xf + yf));
    check_rounded<T>(x * 2 + 0.5, xf * 2.0f + 0.5f);
    check_rounded<T>(sqrt(abs(x)) / (1 + square(y)), sqrt(abs(xf)) / (1.0f + square(yf)));
    check_rounded<T>(x(all, slice(none, none, -1)) + transpose(transpose(y)) * v,
                     xf(all, slice(none, none, -1)) + yf * vf);
    check_near<T>(exp(x) * tanh(y), exp(xf) * tanh(yf));
    check_rounded<T>(maximum(x, y), maximum(xf, yf));
    CHECK((x > y).to_host() == (xf > yf).to_host());
    CHECK(isnan(x / 0 * 0).to_host() == std::vector<bool>(7 * 1031, true));
    {
        const with_math strict_nodes(strict);  // every node rounds
        const array<float> product = astype<float>(astype<T>(xf * yf));
        check_rounded<T>(x * y + v, product + vf);
    }
    check_near<T>(sum(x, 1), sum(xf, 1));
    check_near<T>(sum(x, 0), sum(xf, 0));
    check_near<T>(mean(x), mean(xf));
    check_near<T>(var(x, 1), var(xf, 1));
    check_near<T>(stddev(x, 0), stddev(xf, 0));
    check_near<T>(prod(x(all, slice(0, 9)), 1), prod(xf(all, slice(0, 9)), 1));
    check_rounded<T>(max(x, 0), max(xf, 0));
    check_rounded<T>(ptp(x, 1), ptp(xf, 1));
    CHECK(argmax(x, 1).to_host() == argmax(xf, 1).to_host());
    CHECK(count_nonzero(x > 0).item() == count_nonzero(xf > 0).item());
    check_near<T>(softmax(x), softmax(xf));
    check_near<T>(log_softmax(x, 0), log_softmax(xf, 0));
    check_near<T>(logsumexp(x, 1), logsumexp(xf, 1));
    check_near<T>(norm(x), norm(xf));
    check_near<T>((x - mean(x, 1, keepdims)) / stddev(x, 1, keepdims), [&] {
        const auto m = f(astype<T>(mean(xf, 1, keepdims))), s = f(astype<T>(stddev(xf, 1, keepdims)));
        return eval((xf - m) / s);
    }());
    check_near<T>(cumsum(abs(x), 1), cumsum(abs(xf), 1));
    check_rounded<T>(cummax(x, 0), cummax(xf, 0));
    check_near<T>(average(x, 1), mean(xf, 1));
    check_rounded<T>(diff(x), diff(xf));
    check_rounded<T>(reshape(x, {1031, 7}) + 1, reshape(xf, {1031, 7}) + 1.0f);
    const array<T> large = full({4096}, T(100));
    CHECK(static_cast<float>(average(large, large).item()) == 100);
    // A sum beyond the range of float16 on its way to a mean within.
    CHECK(static_cast<float>(mean(full({4096}, T(100))).item()) == 100);
}

template <class T>
void check_statements() {
    array<T> z = some<T>({33, 5}, 4);
    const std::vector<T> before = z.to_host();
    z += 1;
    z(slice(0, 2), 1) = 7;
    z(all, 0) = z(all, 4);
    z *= T(0.5f);
    for (std::size_t i = 0; i < 33; ++i)
        for (std::size_t j = 0; j < 5; ++j) {
            const float sum = static_cast<float>(T(static_cast<float>(before[i * 5 + (j == 0 ? 4 : j)]) + 1));
            const float wanted = j == 1 && i < 2 ? 3.5f : sum * 0.5f;
            CHECK(same(z.to_host()[i * 5 + j], T(wanted)));
        }
    array<double> wide = z * 1.0;
    CHECK(wide.ndim() == 2);
    array<T> back = wide;
    CHECK(count_different(back.to_host(), z.to_host()) == 0);
    lazy<T> t = z;
    for (int k = 0; k < 5; ++k) t = t * 2 + T(0.25f);
    array<T> t_now = t;
    CHECK(t_now.shape() == z.shape());
    CHECK(array<T>{T(1.5f)}.item() == T(1.5f));
    CHECK(full({2}, T(0.1f)).to_host()[1] == T(0.1f));
    CHECK(count_different(arange<T>(0, 3, 0.5).to_host(), rounded<T>({0, 0.5f, 1, 1.5f, 2, 2.5f})) == 0);
    CHECK(count_different(linspace<T>(0, 1, 5).to_host(), rounded<T>({0, 0.25f, 0.5f, 0.75f, 1})) == 0);
    const reduction_kernel<"T x", "T y"> longest("x * x", "a + b", "y = sqrt(a)", "0", "longest");
    check_near<T>(longest(z, 1), norm(eval(astype<float>(z)), 1));
    random::generator g(5), h(5);
    check_rounded<T>(g.normal<T>({1000}), h.normal<float>({1000}));
    CHECK(all(isclose(z, z)).item());
    const std::vector<T> extremes{std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()};
    CHECK(nan_to_num(asarray(extremes)).to_host()[0] == std::numeric_limits<T>::max());
}

}  // namespace

TEST_CASE_TEMPLATE("16-bit floats round once, to nearest even, from every dtype", T, float16, bfloat16) {
    check_conversions<T>();
}
TEST_CASE_TEMPLATE("maps, folds, rows and scans of 16-bit floats are float32's, rounded", T, float16, bfloat16) {
    check_patterns<T>();
}
TEST_CASE_TEMPLATE("statements over arrays of 16-bit floats", T, float16, bfloat16) { check_statements<T>(); }

TEST_CASE("16-bit floats promote, print and have limits") {
    const array<float16> x{1, 2.5f, 0.1};
    const array<bfloat16> y{1, 2.5f, 0.1};
    CHECK(std::is_same_v<decltype(x + y)::value_type, float>);
    CHECK(std::is_same_v<decltype(x + 1)::value_type, float16>);
    CHECK(std::is_same_v<decltype(x * 2.0)::value_type, float16>);
    CHECK(std::is_same_v<decltype(x + array<std::int16_t>{1, 2, 3})::value_type, float>);
    CHECK(std::is_same_v<decltype(x + array<std::int8_t>{1, 2, 3})::value_type, float16>);
    CHECK(std::is_same_v<decltype(y + array<std::int32_t>{1, 2, 3})::value_type, double>);
    std::ostringstream out;
    out << x << y << array<float16>(scalar<float16>(float16(0.1f)));
    CHECK(out.str() == "[1.  2.5 0.1][1.  2.5 0.1]0.1");
    CHECK(static_cast<float>(std::numeric_limits<float16>::max()) == 65504);
    CHECK(static_cast<float>(std::numeric_limits<float16>::min()) == 0x1p-14f);
    CHECK(static_cast<float>(std::numeric_limits<float16>::epsilon()) == 0x1p-10f);
    CHECK(static_cast<float>(std::numeric_limits<float16>::denorm_min()) == 0x1p-24f);
    CHECK(static_cast<float>(std::numeric_limits<bfloat16>::max()) == 0x1.fep127f);
    CHECK(static_cast<float>(std::numeric_limits<bfloat16>::epsilon()) == 0x1p-7f);
    CHECK(static_cast<float>(std::numeric_limits<bfloat16>::lowest()) == -0x1.fep127f);
}

}  // namespace ingot
