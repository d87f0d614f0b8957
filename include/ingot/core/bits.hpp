// Bits in bytes: packbits packs eight bools into one byte, unpackbits unpacks them.
#pragma once

#include <optional>

#include <ingot/core/functions.hpp>
#include <ingot/core/joins.hpp>

namespace ingot {

/// The order of bits in a byte: the first bool is the highest bit (big) or the lowest (little).
enum class bit_order : std::uint8_t { big, little };

namespace detail {

INGOT_API lazy<std::uint8_t> packed_bits(const lazy<bool>&, const axis_or_none&, bit_order);
INGOT_API lazy<std::uint8_t> unpacked_bits(const lazy<std::uint8_t>&, const axis_or_none&, std::optional<index_t> count,
                                           bit_order);

/// Packs whether elements are not 0, eight in a byte: uint8, along an axis or with `none` in C order; an incomplete
/// last byte is filled with 0. Throws shape_error where e does not have the axis.
///
///     std::cout << packbits(array<bool>{1, 0, 1, 0, 0, 0, 0, 1, 1}) << ' ' << packbits(array<int>{{1, 2}, {0, 5}}, 1);
///     // prints: [161 128] [[192]
///     //          [ 64]]
template <array_expression E>
    requires std::integral<typename E::value_type>
auto packbits(const E& e, const axis_or_none& axis = none, bit_order order = bit_order::big) {
    return packed_bits(lazy<bool>(astype<bool>(e)), axis, order);
}

/// The bits of bytes, each as a uint8 of 0 or 1, along an axis or with `none` in C order. `count`: the number of bits
/// to return, missing ones as 0; a negative count drops as many. Throws shape_error where e does not have the axis, or
/// a negative count leaves none.
///
///     std::cout << unpackbits(array<std::uint8_t>{3}) << ' ' << unpackbits(array<std::uint8_t>{3, 128}, none, 10);
///     // prints: [0 0 0 0 0 0 1 1] [0 0 0 0 0 0 1 1 1 0]
template <array_expression E>
    requires std::same_as<typename E::value_type, std::uint8_t>
auto unpackbits(const E& e, const axis_or_none& axis = none, std::optional<index_t> count = {},
                bit_order order = bit_order::big) {
    return unpacked_bits(lazy<std::uint8_t>(e), axis, count, order);
}

}  // namespace detail

using detail::packbits;
using detail::unpackbits;

}  // namespace ingot
