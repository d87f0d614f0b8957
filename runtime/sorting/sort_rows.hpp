// Sorts rows: values, or their original indices. NaN come last; complex numbers are ordered by their real parts, then
// by their imaginary parts.
#pragma once

#include "runtime/front/library_functions.hpp"

namespace ingot::runtime {

void sort_rows(const library_arguments&);
/// The results are int64; the indices of equal values stay in order.
void argsort_rows(const library_arguments&);

/// The rows of a call as blocks of equally spaced rows.
struct sorted_rows {
    const std::byte* from;
    std::byte* to;
    index_t rows, length;
    index_t from_stride, to_stride;  // elements from row to row
};
template <class F>
void for_each_block(const library_arguments& given, F&& f) {
    const library_array &in = given.operands[0], &out = given.results[0];
    const std::size_t batch = given.batch_axes;
    const index_t length = in.extents[batch];
    index_t outer = 1;
    for (std::size_t j = 0; j + 1 < batch; ++j) outer *= in.extents[j];
    for (index_t i = 0; i < outer; ++i) {
        index_t from = 0, to = 0, left = i;
        for (std::size_t j = batch == 0 ? 0 : batch - 1; j-- > 0; left /= in.extents[j]) {
            const index_t digit = left % in.extents[j];
            from += digit * in.strides[j], to += digit * out.strides[j];
        }
        f(sorted_rows{static_cast<const std::byte*>(in.data) + from * static_cast<index_t>(detail::size_of(in.type)),
                      static_cast<std::byte*>(out.data) + to * static_cast<index_t>(detail::size_of(out.type)),
                      batch == 0 ? 1 : in.extents[batch - 1], length, batch == 0 ? 0 : in.strides[batch - 1],
                      batch == 0 ? 0 : out.strides[batch - 1]});
    }
}

/// A sort of rows. With `as_indices`, `to` is int64 and receives the original indices. On the host rows of values are
/// sorted only as far as it decides the elements at `positions`, in ascending order, unless there are none.
struct row_sort : sorted_rows {
    dtype type;
    bool as_indices;
    std::span<const index_t> positions = {};
};
void sort_on_host(const row_sort&);
void sort_on_gpu(const row_sort&, stream_state&);

/// The indices of the first `count` elements of each row, in descending or ascending order; of equal ones, the earlier
/// indices. Longer rows of a GPU leave them in no order.
struct row_selection {
    const std::byte* from;
    index_t* to;
    index_t rows, length, count;
    bool largest;
    dtype type;
};
void select_on_host(const row_selection&);
void select_on_gpu(const row_selection&, stream_state&);

/// Sorts rows of at most this many real numbers or bool, each by a block or a part of one.
inline index_t longest_short_row(dtype type, bool as_indices) {
    // A block has at most 48 KiB of shared memory.
    const std::size_t size = detail::size_of(type);
    if (as_indices) return size < 8 ? 4096 : 2048;
    return size < 8 ? 8192 : 4096;
}
void sort_short_rows(const sorted_rows&, dtype type, bool as_indices, stream_state&);
/// The indices of the first `count` elements in ascending or descending order; of equal ones, the earlier indices.
void argsort_first_of_short_rows(const sorted_rows&, dtype type, bool descending, index_t count, stream_state&);

}  // namespace ingot::runtime
