// Radix sort of rows on a GPU by CUB's kernels, which NVRTC compiled when Ingot was built
// (cmake/sorting_kernels.cmake).
#pragma once

#include <cstddef>
#include <span>

#include "runtime/sorting/sort_rows.hpp"

namespace ingot::runtime {

/// Kernels as the library holds them: a cubin for sm_<architecture>, or PTX for what is newer.
struct kernel_image {
    int architecture;
    bool ptx;
    const unsigned char *begin, *end;
};
/// None where Ingot was built without the toolkit's CCCL headers, or told to.
std::span<const kernel_image> radix_images();

/// Whether the library holds kernels that run there, and they could be loaded.
bool has_radix_sort(device_id);

/// Real numbers and bool; NaN last, and -0 before 0 where the values are sorted. `places`: `to` is of int64 and takes
/// where the values were, those of equal ones in order, as both zeros are and all NaN.
void radix_sort_rows(const sorted_rows&, dtype type, bool places, stream_state&);

/// For tests, which cannot have rows of the lengths at which these matter.
struct radix_limits {
    index_t portion = index_t{1} << 29;  // keys of a row that one launch sorts: counts have 30 bits
    index_t narrow_length = 0xffff0000;  // of rows that have offsets of 32 bits
};
radix_limits& limits_of_radix_sort();

}  // namespace ingot::runtime
