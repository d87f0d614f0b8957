// Transposed matrices and products of two csr matrices on the host, which goes through the rows. On a GPU they are
// compositions of array operations (triplets.hpp).
#pragma once

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/sparse/merge.hpp"

namespace ingot::runtime {

/// Arrays of a csr that is made.
struct made_csr {
    void *values, *indices, *indptr;
};

/// Writes the csr of the transposed matrix.
struct csr_transposition {
    dtype type;        // of the elements
    dtype index_type;  // int32 or int64
    csr_parts from;
    detail::index_t rows, columns;
    made_csr to;
};
void transpose_on_host(const csr_transposition&);

/// The product of two csr matrices, in two steps. The first one writes the end of each row but for the first number,
/// which is 0, unless indices are too narrow for them, and returns the number of entries. The second one reads the
/// ends, and writes values and indices. A sum that is 0 is an entry.
struct csr_product {
    dtype type;
    dtype index_type;
    csr_parts a, b;
    detail::index_t rows, columns;  // of the product
    detail::index_t most_threads;   // each of which has a dense row
    made_csr to;
};
detail::index_t count_products_on_host(const csr_product&);
void write_products_on_host(const csr_product&);

}  // namespace ingot::runtime
