// Opens cuSOLVER, and keeps its handles. A handle belongs to one stream.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include "runtime/linalg/cusolver_library.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace ingot::runtime {

cusolver_handle& cusolver_handle_of(stream_state& stream) {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::map<const stream_state*, cusolver_handle>;  // leaked, as streams are
    const std::lock_guard lock(mutex);
    return all[&stream];
}

cudaDataType cusolver_type(dtype t) {
    switch (t) {
        case dtype::f4:
            return CUDA_R_32F;
        case dtype::f8:
            return CUDA_R_64F;
        case dtype::c8:
            return CUDA_C_32F;
        default:
            return CUDA_C_64F;
    }
}

}  // namespace ingot::runtime

#endif
