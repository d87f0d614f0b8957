// Products of a csr of real numbers with a vector on the host, for rows of few entries, by AVX2. The products of some
// rows' entries are computed one after the other, eight loads of the vector at once, into a buffer in the first-level
// cache; then each row's are added by vectors. The length of a row decides no branch up to 16 entries, where a loop
// over the row would be mispredicted once for each.
#pragma once

#include <cstdint>

#include <ingot/core/shape.hpp>

namespace ingot::runtime {

template <class T>
struct csr_times_vector {
    const T* values;
    const std::int32_t *indices, *indptr;
    const T* x;
    T* y;
};

/// Computes rows `begin` to `end`. Returns false, and does nothing, on a processor without AVX2.
template <class T>
bool sum_short_rows(const csr_times_vector<T>&, index_t begin, index_t end);

}  // namespace ingot::runtime
