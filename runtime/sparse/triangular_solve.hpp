// The solution of a triangular system whose matrix is a csr, on the host and on a GPU.
#pragma once

#include <ingot/core/dtype.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// x with a x = b, both of shape (rows, width), contiguous in C order. Entries on the other side of the diagonal are
/// not read, with `unit_diagonal` those on it neither.
struct triangular_solve {
    dtype type;        // of the elements
    dtype index_type;  // int32 or int64
    const void *values, *indices, *indptr;
    const void* b;
    void* x;
    void* slots;  // on a GPU: zeros, 8 bytes and for each element of x as many as slot_bytes
    detail::index_t rows, width;
    bool lower, unit_diagonal;
};
/// 32 bits of an element stand beside a flag.
constexpr detail::index_t slot_bytes(dtype type) { return 2 * static_cast<detail::index_t>(detail::size_of(type)); }

void solve_triangular_on_host(const triangular_solve&);
void solve_triangular_on_gpu(const triangular_solve&, stream_state&);

}  // namespace ingot::runtime
