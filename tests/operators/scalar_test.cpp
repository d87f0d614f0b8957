// The table's functions over scalars: the right value in the right type, beside the C library's names.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ingot/core/scalar_functions.hpp>
#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

template <class T, class V>
bool is(V value, T wanted) {
    return std::is_same_v<T, V> && (value == wanted || (value != value && wanted != wanted));
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("a function of scalars returns the scalar type that the row gives") {
    CHECK(is(abs(-0.5f), 0.5f));
    CHECK(is(abs(std::int8_t{-128}), std::int8_t{-128}));
    CHECK(is(exp(0), 1.0));
    CHECK(is(exp(0.0f), 1.0f));
    CHECK(is(sqrt(std::int16_t{4}), 2.0f));
    CHECK(is(add(std::int8_t{127}, std::int8_t{1}), std::int8_t{-128}));
    CHECK(is(divide(1, 2), 0.5));
    CHECK(is(where(true, 1, 0.5f), 1.0f));
    CHECK(is(isnan(not_a_number), true));
    CHECK(is(logical_and(0.5, 2), true));
    CHECK(is(ndtr(0.0), 0.5));
}

TEST_CASE("integers divide, shift and take powers without undefined behaviour") {
    constexpr int least = std::numeric_limits<int>::min();
    CHECK(is(floor_divide(-7, 2), -4));
    CHECK(is(remainder(-7, 2), 1));
    CHECK(is(fmod(-7, 2), -1));
    CHECK(is(floor_divide(1, 0), 0));
    CHECK(is(remainder(1, 0), 0));
    CHECK(is(floor_divide(least, -1), least));
    CHECK(is(remainder(least, -1), 0));
    CHECK(is(left_shift(1, 40), 0));
    CHECK(is(right_shift(-1, 40), -1));
    CHECK(is(power(2, -1), 0));
    CHECK(is(power(-1, -3), -1));
    CHECK(is(power(3, 21), 1870418611));
}

TEST_CASE("floats divide and compare as NumPy has them") {
    CHECK(is(floor_divide(1.0, 0.1), 9.0));
    CHECK(is(ingot::remainder(-1.0, 3.0), 2.0));
    CHECK(is(ingot::remainder(1.0, std::numeric_limits<double>::infinity()), 1.0));
    CHECK(is(maximum(1.0, not_a_number), not_a_number));
    CHECK(is(fmax(1.0, not_a_number), 1.0));
    CHECK(is(clip(5.0f, 0.0f, 1.0f), 1.0f));
    CHECK(is(sign(not_a_number), not_a_number));
    CHECK(is(rint(2.5), 2.0));
    CHECK(std::signbit(negative(0.0)));
}

TEST_CASE("a signed and an unsigned integer compare by value") {
    CHECK(less(-1, 1u));
    CHECK(less(-1ll, 1ull));
    CHECK(greater(18446744073709551615ull, -1ll));
    CHECK_FALSE(equal(-1ll, 18446744073709551615ull));
}

TEST_CASE("astype of a scalar saturates and makes 0 of NaN") {
    CHECK(is(astype<std::int8_t>(1e9), std::int8_t{127}));
    CHECK(is(astype<unsigned>(-1.0f), 0u));
    CHECK(is(astype<int>(not_a_number), 0));
    CHECK(is(astype<bool>(not_a_number), true));
    CHECK(is(astype<std::uint64_t>(1e30), std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("one generic lambda serves a number and an array") {
    const auto softplus = [](const auto& x) { return maximum(x, 0) + log1p(exp(-abs(x))); };
    CHECK(softplus(-0.5) == doctest::Approx(0.474076984));
    CHECK(std::is_same_v<decltype(softplus(0.5f)), float>);
    using of_array = decltype(softplus(std::declval<const array<float>&>()));
    CHECK(std::is_same_v<typename of_array::value_type, float>);
}
