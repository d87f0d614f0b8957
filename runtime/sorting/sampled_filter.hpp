// The elements of long rows that can be of some ranks: a sample says between which keys they lie, and what does is set
// aside in one read of the rows. Nothing is promised of a row of which more lies there than there is room for.
#pragma once

#include <cstddef>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// For tests, which cannot have rows of the lengths at which it matters.
struct selection_limits {
    index_t least_length = index_t{1} << 19;  // of rows worth a sample, never less than 2^15
    index_t least_length_of_quantiles = index_t{1} << 23;
};
selection_limits& limits_of_selection();

#ifdef INGOT_HAS_CUDA_HEADERS

inline constexpr index_t samples_of_row = 8192;

/// Of a row, in the GPU's memory.
struct filter_counts {
    unsigned long long aside, below, nans;  // those that lie between, those that do not reach them, and NaN among all
};

struct filtered_rows {
    const std::byte* from;  // in C order
    index_t rows, length;
    dtype type;
    void* aside;  // room for so many of each row: keys where there are places, else values
    index_t room;
    long long* places;      // of these in their row, or null
    filter_counts* counts;  // of each row, zero before
    std::byte* scratch;     // filter_scratch() bytes
};
std::size_t filter_scratch(index_t rows, dtype type);

/// Those that are no less than the element of this rank among the greatest of a sample, by their keys or, of `largest`
/// false, by these the other way round: at least so many, and of most rows few more. `rank` is at most samples_of_row
/// / 8.
void set_greatest_aside(const filtered_rows&, bool largest, index_t rank, stream_state&);
/// Those about the part q of the elements in ascending order.
void set_quantile_aside(const filtered_rows&, double q, stream_state&);

#endif

}  // namespace ingot::runtime
