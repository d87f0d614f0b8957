// A product of a csr with a dense vector or matrix, on the host and on a GPU.
#pragma once

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// y = a x, with x of shape (columns, width) and y of shape (rows, width), both contiguous in C order; or with the
/// transposed matrix, on the host alone, x of shape (rows, width) and y of shape (columns, width).
struct sparse_product {
    dtype type;        // of the elements
    dtype index_type;  // int32 or int64
    const void *values, *indices, *indptr;
    const void* x;
    void* y;
    detail::index_t rows, columns, width, entries;
    bool is_transposed;
};

void sparse_product_on_host(const sparse_product&);
void sparse_product_on_gpu(const sparse_product&, stream_state&);

}  // namespace ingot::runtime
