// Functions composed of others, over arrays as in NumPy and over numbers alike; and the table's rows at the ends of
// their domains.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Whether the values are these bit for bit, but for the bits of a NaN.
template <array_expression E>
bool holds(const E& e, const std::vector<typename E::value_type>& wanted) {
    const auto values = e.to_host();
    if (values.size() != wanted.size()) return false;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const typename E::value_type v = values[i], w = wanted[i];
        if constexpr (std::is_floating_point_v<typename E::value_type>) {
            if (!(v == w && std::signbit(v) == std::signbit(w)) && !(v != v && w != w)) return false;
        } else if (v != w) {
            return false;
        }
    }
    return true;
}

template <class T, class V>
bool is(V value, T wanted) {
    return std::is_same_v<T, V> && (value == wanted || (value != value && wanted != wanted));
}

}  // namespace

TEST_CASE("functions with two results are computed by one kernel") {
    const array<int> a{-7, 7, 5, -5, 0, 1}, b{3, -3, 0, -1, 2, 4};
    const array<double> x{-1.5, 2.5, infinite, -infinite, -0.0, not_a_number};
    synchronize();
    const auto before = counters();
    const auto [quotient, rest] = eval(divmod(a, b));
    CHECK(counters().kernel_launches + counters().interpreter_runs ==
          before.kernel_launches + before.interpreter_runs + 1);
    CHECK(holds(quotient, {-3, -3, 0, 5, 0, 0}));
    CHECK(holds(rest, {2, -2, 0, 0, 0, 1}));
    const auto [fraction, whole] = eval(modf(x));
    CHECK(holds(fraction, {-0.5, 0.5, 0.0, -0.0, -0.0, not_a_number}));
    CHECK(holds(whole, {-1.0, 2.0, infinite, -infinite, -0.0, not_a_number}));
    const auto [mantissa, exponent] = eval(frexp(x));
    CHECK(holds(mantissa, {-0.75, 0.625, infinite, -infinite, -0.0, not_a_number}));
    CHECK(holds(exponent, {1, 2, 0, 0, 0, 0}));
}

TEST_CASE("rounding to decimals is NumPy's") {
    const array<double> x{0.5, 1.5, 2.675, -1234.5678, 0.125, -0.0, infinite};
    const array<int> i{15, 25, -35, 1249, 0};
    const auto [whole, hundredths, hundreds] = eval(round(x), round(x, 2), round(x, -2));
    CHECK(holds(whole, {0.0, 2.0, 3.0, -1235.0, 0.0, -0.0, infinite}));
    CHECK(holds(hundredths, {0.5, 1.5, 2.68, -1234.57, 0.12, -0.0, infinite}));
    CHECK(holds(hundreds, {0.0, 0.0, 0.0, -1200.0, 0.0, -0.0, infinite}));
    const auto [same, tens] = eval(round(i, 1), around(i, -1));
    CHECK(holds(same, {15, 25, -35, 1249, 0}));
    CHECK(holds(tens, {20, 20, -40, 1250, 0}));
}

TEST_CASE("questions and answers about infinities, NaN and what is near") {
    const array<float> x{1.0f, static_cast<float>(infinite), -static_cast<float>(infinite),
                         static_cast<float>(not_a_number), -0.0f};
    const array<float> y = x + 1e-6f;
    constexpr float greatest = std::numeric_limits<float>::max();
    const auto [above, below] = eval(isposinf(x), isneginf(x));
    CHECK(above.to_host() == std::vector<bool>{false, true, false, false, false});
    CHECK(below.to_host() == std::vector<bool>{false, false, true, false, false});
    const auto [usual, given] = eval(nan_to_num(x), nan_to_num(x, 7, 8, 9));
    CHECK(holds(usual, {1.0f, greatest, -greatest, 0.0f, -0.0f}));
    CHECK(holds(given, {1.0f, 8.0f, 9.0f, 7.0f, -0.0f}));
    const auto [close, equal_nan] = eval(isclose(x, y), isclose(x, y, 1e-5, 1e-8, true));
    CHECK(close.to_host() == std::vector<bool>{true, true, true, false, false});
    CHECK(equal_nan.to_host() == std::vector<bool>{true, true, true, true, false});
    CHECK(holds(nan_to_num(array<int>{1, -2}), {1, -2}));
}

TEST_CASE("angles are unwrapped along an axis") {
    const array<double> angles{{0.0, 3.0, 6.5, 9.7}, {13.0, -2.0, 1.2, 4.4}};
    const double turn = 6.283185307179586;
    const auto near = [](const array<double>& got, const std::vector<double>& wanted) {
        const std::vector<double> values = got.to_host();
        for (std::size_t i = 0; i < wanted.size(); ++i)
            if (std::abs(values[i] - wanted[i]) > 1e-12) return false;
        return values.size() == wanted.size();
    };
    const auto [rows, columns] = eval(unwrap(angles), unwrap(angles, {}, 0));
    CHECK(near(rows, {0.0, 3.0, 6.5 - turn, 9.7 - 2 * turn, 13.0, -2.0 + 2 * turn, 1.2 + turn, 4.4}));
    CHECK(near(columns, {0.0, 3.0, 6.5, 9.7, 13.0 - 2 * turn, -2.0 + turn, 1.2 + turn, 4.4 + turn}));
    CHECK(near(unwrap(angles * 10, {}, 1, 100.0), {0.0, 30.0, 65.0, 97.0, 130.0, 80.0, 112.0, 144.0}));
    CHECK(near(unwrap(angles * 10, 60.0, 1, 100.0), {0.0, 30.0, 65.0, 97.0, 130.0, 80.0, 112.0, 144.0}));
}

TEST_CASE("activations") {
    const array<double> x{-2.0, -0.0, 0.5, 30.0, not_a_number};
    const auto [r, g, s, q] = eval(relu(x), gelu(x), silu(x), sigmoid(x));
    CHECK(r.to_host()[0] == 0);
    CHECK(std::isnan(r.to_host()[4]));
    CHECK(g.to_host()[2] == doctest::Approx(0.345731230));
    CHECK(s.to_host()[2] == doctest::Approx(0.311229665));
    CHECK(q.to_host()[3] == doctest::Approx(1));
    CHECK(is(relu(-2.0f), 0.0f));
    CHECK(std::is_same_v<decltype(gelu(1.0f)), float>);
    CHECK(rsqrt(4.0) == 0.5);
}

TEST_CASE("the same functions of numbers") {
    const auto [quotient, rest] = divmod(7, -2);
    CHECK(is(quotient, -4));
    CHECK(is(rest, -1));
    const auto [fraction, whole] = ingot::modf(-2.5f);
    CHECK(is(fraction, -0.5f));
    CHECK(is(whole, -2.0f));
    const auto [mantissa, exponent] = ingot::frexp(8.0);
    CHECK(is(mantissa, 0.5));
    CHECK(is(exponent, std::int32_t{4}));
    CHECK(is(ingot::round(2.5), 2.0));
    CHECK(is(ingot::round(2.675f, 2), 2.68f));
    CHECK(is(ingot::round(1251, -2), 1300));
    CHECK(is(isclose(1.0, 1.0 + 1e-9), true));
    CHECK(is(nan_to_num(not_a_number), 0.0));
    CHECK(is(isneginf(-infinite), true));
    CHECK(is(gcd(std::int8_t{-128}, std::int8_t{0}), std::int8_t{-128}));
    CHECK(is(lcm(12, 18), 36));
    CHECK(is(bitwise_count(-7), std::uint8_t{3}));
    CHECK(is(ingot::ldexp(0.75f, 3), 6.0f));
    CHECK(is(ingot::ldexp(3, 2), 12.0));
    CHECK(is(ingot::ldexp(1.0, -1074), 0x1p-1074));
    CHECK(is(ingot::ldexp(1.0, std::int64_t{1} << 40), infinite));
    CHECK(is(float_power(2.0f, 3), 8.0));
    CHECK(is(heaviside(0.0, 0.5), 0.5));
    CHECK(is(ingot::nextafter(1.0f, 2.0f), 1.00000012f));
    CHECK(is(spacing(1.0), 0x1p-52));
    CHECK(is(sinc(0), 1.0));
    CHECK(is(erfinv(1.0), infinite));
    CHECK(is(angle(-1.0f), 3.14159274f));
    CHECK(is(imag(7), 0));
    CHECK(is(conj(true), std::int8_t{1}));
}

namespace {

template <class... A>
concept has_gcd = requires(A... a) { gcd(a...); };
template <class... A>
concept has_ldexp = requires(A... a) { ldexp(a...); };
template <class... A>
concept has_count = requires(A... a) { bitwise_count(a...); };
template <class... A>
concept has_divmod = requires(A... a) { divmod(a...); };

using floats = array<float>;
using ints = array<int>;
static_assert(has_gcd<ints, ints> && has_gcd<ints, int> && !has_gcd<floats, ints> && !has_gcd<ints, double>);
static_assert(has_ldexp<floats, ints> && has_ldexp<floats, int> && !has_ldexp<floats, floats>);
static_assert(!has_ldexp<floats, array<std::uint64_t>> && has_ldexp<floats, array<bool>>);
static_assert(has_count<ints> && !has_count<floats>);
static_assert(has_divmod<ints, floats> && has_divmod<floats, int> && !has_divmod<floats, const char*>);
static_assert(std::is_same_v<decltype(ldexp(std::declval<floats>(), 1))::value_type, float>);
static_assert(std::is_same_v<decltype(digamma(std::declval<array<std::int8_t>>()))::value_type, float>);
static_assert(std::is_same_v<decltype(digamma(std::declval<ints>()))::value_type, double>);

}  // namespace
