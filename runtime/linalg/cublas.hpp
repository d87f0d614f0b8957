// cuBLAS for callers that use a stream's handle directly.
#pragma once

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublas_v2.h>)

#include <cublas_v2.h>

#include <cstddef>
#include <mutex>

#include <ingot/core/dtype.hpp>

#include "runtime/device/stream.hpp"
#include "runtime/linalg/matrix_product.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

inline library_files files_of_cublas() { return files_of_cuda_library("cublas", {13, 12}); }

struct cublas_use {
    std::unique_lock<std::mutex> lock;
    cublasHandle_t handle;
    void* workspace;
    std::size_t workspace_bytes;
};
/// The stream's own handle, with a workspace; the caller may use them while it holds the lock. Throws library_error,
/// which names `doing`.
cublas_use use_cublas(const char* doing, stream_state&);
void check(cublasStatus_t, const char* doing);
/// A product's types as cuBLAS takes them: the dtype, the type of the sums, and 1 and 0 in that.
struct cublas_types {
    cudaDataType_t data;
    cublasComputeType_t computed;
    const void *one, *zero;
};
/// Throws library_error for a dtype that cuBLAS does not multiply.
cublas_types cublas_types_of(dtype, bool tf32);
/// A product with its bias in one call of cublasLt; returns false, with nothing done, where cublasLt has no kernel for
/// it.
bool call_cublas_lt(const product_call&, stream_state&);

}  // namespace ingot::runtime

#endif
