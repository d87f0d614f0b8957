// cuSOLVER as a typed table, opened when it is first wanted, and what each stream keeps for it.
#pragma once

#include <cusolverDn.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <ingot/core/dtype.hpp>

#include "runtime/device/stream.hpp"
#include "runtime/linalg/cusolver_newer.hpp"
#include "runtime/system/dynamic_library.hpp"

namespace ingot::runtime {

struct cusolver_api {
    decltype(&::cusolverDnCreate) create;
    decltype(&::cusolverDnSetStream) set_stream;
    decltype(&::cusolverDnCreateParams) create_params;
    decltype(&::cusolverDnXpotrf_bufferSize) potrf_size;
    decltype(&::cusolverDnXpotrf) potrf;
    decltype(&::cusolverDnXgetrf_bufferSize) getrf_size;
    decltype(&::cusolverDnXgetrf) getrf;
    decltype(&::cusolverDnXgetrs) getrs;
    decltype(&::cusolverDnXgeqrf_bufferSize) geqrf_size;
    decltype(&::cusolverDnXgeqrf) geqrf;
    decltype(&::cusolverDnXsyevd_bufferSize) syevd_size;
    decltype(&::cusolverDnXsyevd) syevd;
    decltype(&::cusolverDnXgesvd_bufferSize) gesvd_size;
    decltype(&::cusolverDnXgesvd) gesvd;
    geev_size_function* geev_size = nullptr;  // since cuSOLVER 11.7.1, of CUDA 12.6
    geev_function* geev = nullptr;
    syev_batched_size_function* syev_batched_size = nullptr;  // also since CUDA 12.6
    syev_batched_function* syev_batched = nullptr;
    decltype(&::cusolverDnCreateSyevjInfo) create_syevj_info;
    decltype(&::cusolverDnCreateGesvdjInfo) create_gesvdj_info;
    // These functions have no 64-bit form.
    decltype(&::cusolverDnSorgqr_bufferSize) sorgqr_size;
    decltype(&::cusolverDnDorgqr_bufferSize) dorgqr_size;
    decltype(&::cusolverDnCungqr_bufferSize) cungqr_size;
    decltype(&::cusolverDnZungqr_bufferSize) zungqr_size;
    decltype(&::cusolverDnSorgqr) sorgqr;
    decltype(&::cusolverDnDorgqr) dorgqr;
    decltype(&::cusolverDnCungqr) cungqr;
    decltype(&::cusolverDnZungqr) zungqr;
};

/// Throws library_error where it is missing.
dynamic_library open_cusolver(const char* operation);
/// Opened once, for ever. Throws library_error.
const cusolver_api& cusolver(const char* operation);

/// Host memory in which the library works. It is kept from call to call: the pages of a new area are made while the
/// library works, and a megabyte of them takes a quarter of a millisecond.
class host_area {
public:
    host_area() = default;
    explicit host_area(std::size_t size) : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
    std::byte* data() const { return bytes_.get(); }
    std::size_t size() const { return size_; }

private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
};

/// A stream's handle; one thread uses it at a time.
struct cusolver_handle {
    std::mutex mutex;
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t params = nullptr;
    syevjInfo_t of_eigenvalues = nullptr;  // Jacobi's method: to the dtype's precision, values sorted
    gesvdjInfo_t of_singular_values = nullptr;
    std::vector<host_area> spare;
};
cusolver_handle& cusolver_handle_of(stream_state& stream);

cudaDataType cusolver_type(dtype t);

}  // namespace ingot::runtime
