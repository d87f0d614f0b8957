// Whether two strided views of memory have a byte in common, and whether they are the same elements. Decided exactly,
// not by address ranges: columns of one matrix, and even beside odd elements, lie within each other and share nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ingot/core/buffer.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// Elements in memory: the address of the first, where the others are from there, and the bytes of each.
struct strided_view {
    std::uintptr_t first;
    const detail::layout& where;
    std::size_t each;

    strided_view(const buffer& memory, const detail::layout& l, dtype type) noexcept
        : first(reinterpret_cast<std::uintptr_t>(memory.data) +
                static_cast<std::uintptr_t>(l.offset) * detail::size_of(type)),
          where(l),
          each(detail::size_of(type)) {}
};

/// How many places an exact decision may try: beside a kernel's launch, and where an error hangs on it. Views of one
/// array, whose strides are multiples of each other, need a few.
inline constexpr int places_beside_launch = 1000, places_for_error = 1000000;

/// Whether an element of one shares a byte with an element of the other. Finding out is as hard as any integer program:
/// true where so many places were tried without an answer.
bool share_a_byte(const strided_view&, const strided_view&, int most_places = places_beside_launch) noexcept;

/// Whether `from`, broadcast into the shape of `to`, is `to` element for element, and no element of it is there twice.
bool are_same_elements(const strided_view& to, const strided_view& from) noexcept;

}  // namespace ingot::runtime
