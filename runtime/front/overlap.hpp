// Whether two strided views of memory have a byte in common, and whether they are the same elements. The test is exact
// and does not compare address ranges: two columns of a matrix, or the even and the odd elements of an array,
// interleave and share nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <ingot/core/buffer.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// Elements in memory: the first one's address, the layout of the others from there, and the bytes of each.
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

/// Limits on the candidates that an exact decision tries: a small one before a launch, a large one where an error
/// depends on the answer. Views of one array, whose strides are multiples of each other, need few.
inline constexpr int candidates_before_launch = 1000, candidates_for_error = 1000000;

/// Whether an element of one view shares a byte with an element of the other. The problem is as hard as integer
/// programming: the result is true where `most_candidates` candidates gave no answer.
bool share_a_byte(const strided_view&, const strided_view&, int most_candidates = candidates_before_launch) noexcept;

/// Whether `from`, broadcast into the shape of `to`, is `to` element for element, and `to` has no element twice.
bool are_same_elements(const strided_view& to, const strided_view& from) noexcept;

}  // namespace ingot::runtime
