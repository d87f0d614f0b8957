// Sorts on the host by Highway's vectorised sort where it is installed, else by the standard library's.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <ingot/core/half.hpp>

namespace ingot::runtime {

/// Sorts real numbers by in_order (row_order.hpp).
template <class T>
void fast_sort(T* values, std::size_t n);

/// The bits of a floating-point number as an integer of the same order, and back. NaN is not ordered; -0 is before 0.
template <class U>
constexpr U into_order(U bits) noexcept {
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
    return static_cast<U>((bits & sign) != 0 ? ~bits : bits | sign);
}
template <class U>
constexpr U out_of_order(U key) noexcept {
    constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
    return static_cast<U>((key & sign) != 0 ? key & ~sign : ~key);
}

/// A real number as an integer, ordered as in_order orders it: both zeros are equal, and NaN is the greatest.
template <class T>
std::uint64_t ordered_bits(T value) noexcept {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return std::is_signed_v<T> ? static_cast<U>(static_cast<U>(value) ^ U{1} << (8 * sizeof(U) - 1))
                                   : static_cast<U>(value);
    } else if constexpr (sizeof(T) == 2) {
        const auto number = static_cast<float>(value);
        if (number != number) return 0xffff;
        return into_order(number == 0 ? std::uint16_t{0} : value.bits());
    } else {
        using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        if (value != value) return static_cast<U>(~U{0});
        return into_order(value == 0 ? U{0} : std::bit_cast<U>(value));
    }
}

}  // namespace ingot::runtime
