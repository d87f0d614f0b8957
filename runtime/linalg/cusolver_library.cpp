// Opens cuSOLVER, and keeps its handles. A handle belongs to one stream.
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cusolverDn.h>) && __has_include(<cublas_v2.h>)

#include "runtime/linalg/cusolver_library.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>

namespace ingot::runtime {

dynamic_library open_cusolver(const char* operation) {
    const auto path = find_cuda_library("cusolver", {12, 11});
    if (!path)
        throw library_error("[" + std::string(operation) +
                            "] libcusolver.so.12 or .11 was not found (from NVIDIA's repository: libcusolver-13-0); "
                            "CUDA_HOME can name where it is");
    return dynamic_library(path->string());
}

const cusolver_api& cusolver(const char* operation) {
    static std::mutex mutex;
    static const cusolver_api* known = nullptr;
    const std::lock_guard lock(mutex);
    if (known != nullptr) return *known;
    dynamic_library library = open_cusolver(operation);
    auto made = std::make_unique<cusolver_api>();
    library.get(made->create, "cusolverDnCreate");
    library.get(made->set_stream, "cusolverDnSetStream");
    library.get(made->create_params, "cusolverDnCreateParams");
    library.get(made->potrf_size, "cusolverDnXpotrf_bufferSize");
    library.get(made->potrf, "cusolverDnXpotrf");
    library.get(made->getrf_size, "cusolverDnXgetrf_bufferSize");
    library.get(made->getrf, "cusolverDnXgetrf");
    library.get(made->getrs, "cusolverDnXgetrs");
    library.get(made->geqrf_size, "cusolverDnXgeqrf_bufferSize");
    library.get(made->geqrf, "cusolverDnXgeqrf");
    library.get(made->syevd_size, "cusolverDnXsyevd_bufferSize");
    library.get(made->syevd, "cusolverDnXsyevd");
    library.get(made->gesvd_size, "cusolverDnXgesvd_bufferSize");
    library.get(made->gesvd, "cusolverDnXgesvd");
    if (library.find("cusolverDnXgeev") != nullptr) {
        library.get(made->geev_size, "cusolverDnXgeev_bufferSize");
        library.get(made->geev, "cusolverDnXgeev");
    }
    if (library.find("cusolverDnXsyevBatched") != nullptr) {
        library.get(made->syev_batched_size, "cusolverDnXsyevBatched_bufferSize");
        library.get(made->syev_batched, "cusolverDnXsyevBatched");
    }
    library.get(made->create_syevj_info, "cusolverDnCreateSyevjInfo");
    library.get(made->create_gesvdj_info, "cusolverDnCreateGesvdjInfo");
    library.get(made->sorgqr_size, "cusolverDnSorgqr_bufferSize");
    library.get(made->dorgqr_size, "cusolverDnDorgqr_bufferSize");
    library.get(made->cungqr_size, "cusolverDnCungqr_bufferSize");
    library.get(made->zungqr_size, "cusolverDnZungqr_bufferSize");
    library.get(made->sorgqr, "cusolverDnSorgqr");
    library.get(made->dorgqr, "cusolverDnDorgqr");
    library.get(made->cungqr, "cusolverDnCungqr");
    library.get(made->zungqr, "cusolverDnZungqr");
    library.keep_loaded();
    known = made.release();
    return *known;
}

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
