// Radix sort of rows on a GPU by CUB's kernels, which NVRTC compiled when Ingot was built
// (cmake/sorting_kernels.cmake).
#pragma once

#include <cstddef>
#include <span>

#include "runtime/sorting/sort_rows.hpp"

namespace ingot::runtime {

/// Kernels in the library: a cubin for sm_<architecture>, or PTX for newer GPUs.
struct kernel_image {
    int architecture;
    bool ptx;
    const unsigned char *begin, *end;
};
/// Empty where Ingot was built without the toolkit's CCCL headers, or without these kernels.
std::span<const kernel_image> radix_images();

/// Whether the library has kernels for the device that could be loaded.
bool has_radix_sort(device_id);

/// Sorts real numbers and bool; NaN come last, and -0 before 0 where values are sorted. With `as_indices`, `to` is
/// int64 and receives the values' original indices; equal values stay in order, and so do both zeros and all NaN.
void radix_sort_rows(const sorted_rows&, dtype type, bool as_indices, stream_state&);

/// For tests, which cannot have rows of the lengths at which these limits matter.
struct radix_limits {
    index_t portion = index_t{1} << 29;  // keys of a row that one launch sorts: counts have 30 bits
    index_t narrow_length = 0xffff0000;  // up to this length rows have offsets of 32 bits
};
radix_limits& limits_of_radix_sort();

}  // namespace ingot::runtime
