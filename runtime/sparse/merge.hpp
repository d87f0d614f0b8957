// The elementwise merge of two csr matrices, on the host and on a GPU. Both are one sequence of items: the entries of
// each row in the order of their columns, of two in one place a's first, and an item that ends the row. Pieces of as
// many items are merged apart, so that neither a long row nor many empty ones keep one thread longer than others
// (Merrill and Garland, 2016). The first step counts each piece's results, the second one writes them.
#pragma once

#include <cstdint>

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// What becomes of a's and b's element in one place; one without an entry is 0. A comparison gives 1 of float32, and
/// results that are 0 are no entries.
enum class merge_rule : std::uint8_t { add, subtract, multiply, not_equal, less, greater };

struct csr_parts {
    const void *values, *indices, *indptr;
};
struct sparse_merge {
    merge_rule rule;
    dtype type;        // of the elements
    dtype index_type;  // int32 or int64
    csr_parts a, b;
    detail::index_t rows, items;
    // The results of each piece: the first step writes their number, the second one reads the sum of those up to it.
    detail::index_t* counts = nullptr;
    void *values = nullptr, *indices = nullptr, *indptr = nullptr;
};
/// The items of a piece.
constexpr detail::index_t items_of_piece(bool on_gpu) { return on_gpu ? 16 : 1 << 14; }

void count_merged_on_host(const sparse_merge&);
void count_merged_on_gpu(const sparse_merge&, stream_state&);
void write_merged_on_host(const sparse_merge&);
void write_merged_on_gpu(const sparse_merge&, stream_state&);

}  // namespace ingot::runtime
