// cuBLAS for those who call it themselves: a handle of a stream that is theirs until they let it go.
#pragma once

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublas_v2.h>)

#include <cublas_v2.h>

#include <cstddef>
#include <mutex>

#include <ingot/core/dtype.hpp>

#include "runtime/device/stream.hpp"
#include "runtime/linalg/matrix_product.hpp"
#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

struct cublas_use {
    std::unique_lock<std::mutex> lock;
    cublasHandle_t handle;
    void* workspace;
    std::size_t workspace_bytes;
};
/// The stream's own handle, with a workspace, which are its owner's while it holds the lock. Throws library_error in
/// the name of what is being done.
cublas_use use_cublas(const char* doing, stream_state&);
void check(cublasStatus_t, const char* doing);
/// How cuBLAS is told of a product's numbers: their dtype, what it is summed in, and 1 and 0 in that.
struct cublas_types {
    cudaDataType_t data;
    cublasComputeType_t computed;
    const void *one, *zero;
};
/// Throws library_error for a dtype that it does not multiply.
cublas_types cublas_types_of(dtype, bool tf32);
/// A product with its bias in one call of cublasLt; false where that has no kernel for it, and nothing was done.
bool call_cublas_lt(const product_call&, dtype, stream_state&);
/// libcublas itself, for what the products of matrices do not call. Throws library_error where it is not there.
dynamic_library open_cublas(const char* doing);

}  // namespace ingot::runtime

#endif
