// Finds the elements of long rows that may have certain ranks. A sample gives the keys between which they lie, and one
// read of the rows sets the elements between these keys aside. For a row with more such elements than room, nothing is
// promised.
#pragma once

#include <cstddef>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// For tests, which cannot have rows of the lengths at which it matters.
struct selection_limits {
    index_t least_length = index_t{1} << 19;  // least length of rows worth a sample, never less than 2^15
    index_t least_length_of_quantiles = index_t{1} << 23;
};
selection_limits& limits_of_selection();

#ifdef INGOT_HAS_CUDA_HEADERS

inline constexpr index_t samples_of_row = 8192;

/// Counts for a row, in the GPU's memory.
struct filter_counts {
    unsigned long long aside, below, nans;  // elements between the keys, elements below them, and NaN in the whole row
};

struct filtered_rows {
    const std::byte* from;  // in C order
    index_t rows, length;
    dtype type;
    void* aside;  // elements set aside, `room` for each row: keys where there are indices, else values
    index_t room;
    long long* indices;     // their indices in the row, or null
    filter_counts* counts;  // for each row; zero at first
    std::byte* scratch;     // filter_scratch() bytes
};
std::size_t filter_scratch(index_t rows, dtype type);

/// Sets aside the elements at least as great as the sample's element of this rank; with `largest` false, as small. They
/// are at least `rank` elements, in most rows few more. `rank` is at most samples_of_row / 8.
void set_greatest_aside(const filtered_rows&, bool largest, index_t rank, stream_state&);
/// Sets aside the elements around the fraction q of the row in ascending order.
void set_quantile_aside(const filtered_rows&, double q, stream_state&);

#endif

}  // namespace ingot::runtime
