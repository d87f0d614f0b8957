// Sorts many short rows at once on the host: a vector holds an element of each of several rows, and a network of
// minima and maxima, which takes no branches, sorts them all. It needs AVX2.
#pragma once

#include <cstddef>

#include "runtime/sorting/sort_rows.hpp"

namespace ingot::runtime {

/// Up to this length a network is faster than a sort of each row.
template <class T>
inline constexpr index_t longest_side_by_side = sizeof(T) == 8 ? 128 : 192;

/// Sorts rows `begin` to `end` of real numbers, NaN last. Returns false, and does nothing, where a sort of each row is
/// as fast: for long rows, a single one, or a processor without AVX2.
template <class T>
bool sort_side_by_side(const sorted_rows& r, std::size_t begin, std::size_t end);

}  // namespace ingot::runtime
