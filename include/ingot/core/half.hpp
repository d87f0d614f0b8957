// The two 16-bit floats on the host: they are stored and converted; computations convert them to float. float16 is IEEE
// 754's binary16 (11 bits of mantissa, up to 65504), bfloat16 the upper half of a float (8 bits, a float's range).
// Conversions to them round once, to nearest even.
#pragma once

#include <bit>
#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>
#include <ostream>
#include <type_traits>

namespace ingot {
namespace detail {

/// Rounds to the nearest float towards zero, and sets its last bit where that is not exact. Rounding the result to at
/// least two bits less equals rounding the double itself.
constexpr float round_to_odd(double x) {
    const float nearest = static_cast<float>(x);
    std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
    const double back = nearest;
    if (back == x || x != x) return nearest;
    if (back > 0 ? back > x : back < 0 && back < x) --bits;
    return std::bit_cast<float>(bits | 1u);
}

constexpr std::uint16_t float16_bits(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7fffffffu;
    const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
    if (magnitude > 0x7f800000u) return static_cast<std::uint16_t>(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {  // below 2^-14: a sum with 2^-1 has the places of a subnormal, and rounds to them
        const float placed = std::bit_cast<float>(magnitude) + 0.5f;
        return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(placed) - 0x3f000000u));
    }
    const std::uint32_t odd = magnitude >> 13 & 1u;
    return static_cast<std::uint16_t>(sign | (magnitude - 0x38000000u + 0xfffu + odd) >> 13);
}
constexpr float float_of_float16(std::uint16_t h) {
    const std::uint32_t sign = (h & 0x8000u) << 16, magnitude = (h & 0x7fffu) << 13;
    const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
    const std::uint32_t special = magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(scaled) | special | sign);
}

constexpr std::uint16_t bfloat16_bits(float x) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
constexpr float float_of_bfloat16(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

}  // namespace detail

#define INGOT_HALF(name)                                                                                            \
    class name {                                                                                                    \
    public:                                                                                                         \
        name() = default;                                                                                           \
        /** The nearest, ties to even; beyond the range infinite. */                                                \
        template <class T>                                                                                          \
            requires std::is_arithmetic_v<T>                                                                        \
        constexpr explicit name(T x)                                                                                \
            : bits_(detail::name##_bits(std::same_as<T, float> ? static_cast<float>(x)                              \
                                                               : detail::round_to_odd(static_cast<double>(x)))) {}  \
        template <class T>                                                                                          \
            requires std::is_arithmetic_v<T>                                                                        \
        constexpr explicit operator T() const {                                                                     \
            return static_cast<T>(detail::float_of_##name(bits_));                                                  \
        }                                                                                                           \
        /** The number of these bits. */                                                                            \
        static constexpr name from_bits(std::uint16_t bits) {                                                       \
            name x{};                                                                                               \
            x.bits_ = bits;                                                                                         \
            return x;                                                                                               \
        }                                                                                                           \
        /** Its bits. */                                                                                            \
        constexpr std::uint16_t bits() const { return bits_; }                                                      \
        friend constexpr bool operator==(name a, name b) { return static_cast<float>(a) == static_cast<float>(b); } \
        friend constexpr std::partial_ordering operator<=>(name a, name b) {                                        \
            return static_cast<float>(a) <=> static_cast<float>(b);                                                 \
        }                                                                                                           \
        /** The same with the other sign. */                                                                        \
        constexpr name operator-() const { return from_bits(static_cast<std::uint16_t>(bits_ ^ 0x8000u)); }         \
        friend std::ostream& operator<<(std::ostream& out, name x) { return out << static_cast<float>(x); }         \
                                                                                                                    \
    private:                                                                                                        \
        std::uint16_t bits_;                                                                                        \
    }

/// IEEE 754's binary16. Explicit to and from every arithmetic type; comparisons are those of the numbers.
///
///     const float16 x(0.1), same = float16::from_bits(x.bits());
///     std::cout << x << ' ' << -x << ' ' << (x == same);
///     // prints: 0.0999756 -0.0999756 1
INGOT_HALF(float16);
/// The upper half of a float. Explicit to and from every arithmetic type; comparisons are those of the numbers.
///
///     const bfloat16 x(0.1), same = bfloat16::from_bits(x.bits());
///     std::cout << x << ' ' << -x << ' ' << (x == same);
///     // prints: 0.100098 -0.100098 1
INGOT_HALF(bfloat16);
#undef INGOT_HALF

namespace detail {

template <class T>
concept half_float = std::same_as<T, float16> || std::same_as<T, bfloat16>;

}  // namespace detail
}  // namespace ingot

#define INGOT_HALF_LIMITS(name, mantissa, decimal, least_exponent, greatest_exponent, greatest_bits)                 \
    template <>                                                                                                      \
    class std::numeric_limits<ingot::name> {                                                                         \
    public:                                                                                                          \
        static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;         \
        static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true;                   \
        static constexpr bool is_iec559 = true, is_bounded = true, is_modulo = false, traps = false;                 \
        static constexpr bool tinyness_before = false;                                                               \
        static constexpr float_round_style round_style = round_to_nearest;                                           \
        static constexpr int radix = 2, digits = mantissa, digits10 = decimal, max_digits10 = 2 + mantissa * 3 / 10; \
        static constexpr int min_exponent = least_exponent, max_exponent = greatest_exponent;                        \
        static constexpr int min_exponent10 = (least_exponent - 1) * 3 / 10,                                         \
                             max_exponent10 = greatest_exponent * 3 / 10;                                            \
        static constexpr ingot::name from(unsigned bits) {                                                           \
            return ingot::name::from_bits(static_cast<std::uint16_t>(bits));                                         \
        }                                                                                                            \
        static constexpr ingot::name min() { return from(1u << (mantissa - 1)); }                                    \
        static constexpr ingot::name max() { return from(greatest_bits); }                                           \
        static constexpr ingot::name lowest() { return from((greatest_bits) | 0x8000u); }                            \
        static constexpr ingot::name denorm_min() { return from(1); }                                                \
        static constexpr ingot::name infinity() { return from((greatest_bits) + 1u); }                               \
        static constexpr ingot::name quiet_NaN() { return from(((greatest_bits) + 1u) | 1u << (mantissa - 2)); }     \
        static constexpr ingot::name signaling_NaN() { return from(((greatest_bits) + 1u) | 1u); }                   \
        static constexpr ingot::name epsilon() { return ingot::name(1.0f / (1 << (mantissa - 1))); }                 \
        static constexpr ingot::name round_error() { return ingot::name(0.5f); }                                     \
    }

INGOT_HALF_LIMITS(float16, 11, 3, -13, 16, 0x7bffu);
INGOT_HALF_LIMITS(bfloat16, 8, 2, -125, 128, 0x7f7fu);
#undef INGOT_HALF_LIMITS
