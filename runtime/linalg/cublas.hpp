// cuBLAS for those who call it themselves: a handle of a stream that is theirs until they let it go.
#pragma once

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublas_v2.h>)

#include <cublas_v2.h>

#include <mutex>

#include "runtime/dynamic_library.hpp"
#include "runtime/stream.hpp"

namespace ingot::runtime {

struct cublas_use {
    std::unique_lock<std::mutex> lock;
    cublasHandle_t handle;
};
/// The stream's own handle, with a workspace. Throws library_error in the name of what is being done.
cublas_use use_cublas(const char* doing, stream_state&);
void check(cublasStatus_t, const char* doing);
/// libcublas itself, for what the products of matrices do not call. Throws library_error where it is not there.
dynamic_library open_cublas(const char* doing);

}  // namespace ingot::runtime

#endif
