// Sorts on the host by Highway's vectorised sort where it is installed, else by the standard library's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ingot/core/half.hpp>

namespace ingot::runtime {

/// A 64-bit key, and a number by which equal keys are ordered.
struct alignas(16) numbered_key {
    std::uint64_t number, key;
    friend bool operator<(const numbered_key& a, const numbered_key& b) noexcept {
        return a.key != b.key ? a.key < b.key : a.number < b.number;
    }
};

/// Sorts by in_order (row_order.hpp). Of real numbers, and of numbered keys.
template <class T>
void fast_sort(T* values, std::size_t n);

/// A number that is ordered as in_order orders real numbers: both zeros are equal, and NaN is the greatest.
template <class T>
std::uint64_t ordered_bits(T value) noexcept {
    const auto ordered = [](auto bits, auto infinity) {
        using U = decltype(bits);
        constexpr int sign = 8 * sizeof(U) - 1;
        const auto magnitude = static_cast<U>(bits & static_cast<U>(~(U{1} << sign)));
        if (magnitude > infinity) return static_cast<U>(~U{0});
        if (magnitude == 0) return static_cast<U>(U{1} << sign);
        return static_cast<U>(bits >> sign != 0 ? ~bits : bits | U{1} << sign);
    };
    if constexpr (std::is_same_v<T, float16>)
        return ordered(value.bits(), std::uint16_t{0x7c00});
    else if constexpr (std::is_same_v<T, bfloat16>)
        return ordered(value.bits(), std::uint16_t{0x7f80});
    else if constexpr (std::is_same_v<T, float>)
        return ordered(std::bit_cast<std::uint32_t>(value), std::uint32_t{0x7f800000});
    else if constexpr (std::is_same_v<T, double>)
        return ordered(std::bit_cast<std::uint64_t>(value), std::uint64_t{0x7ff0000000000000});
    else if constexpr (std::is_signed_v<T>)
        return static_cast<std::make_unsigned_t<T>>(static_cast<std::make_unsigned_t<T>>(value) ^
                                                    std::make_unsigned_t<T>{1} << (8 * sizeof(T) - 1));
    else
        return value;
}

}  // namespace ingot::runtime
