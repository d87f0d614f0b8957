// cuSOLVER as a typed table, opened when it is first wanted, and what each stream keeps for it.
#pragma once

#include <cusolverDn.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <ingot/core/dtype.hpp>

#include "runtime/device/of_stream.hpp"
#include "runtime/linalg/cusolver_newer.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

struct cusolver_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cuda_library("cusolver", {12, 11}); }

    decltype(&::cusolverDnCreate) create = function("cusolverDnCreate");
    decltype(&::cusolverDnSetStream) set_stream = function("cusolverDnSetStream");
    decltype(&::cusolverDnCreateParams) create_params = function("cusolverDnCreateParams");
    decltype(&::cusolverDnXpotrf_bufferSize) potrf_size = function("cusolverDnXpotrf_bufferSize");
    decltype(&::cusolverDnXpotrf) potrf = function("cusolverDnXpotrf");
    decltype(&::cusolverDnXgetrf_bufferSize) getrf_size = function("cusolverDnXgetrf_bufferSize");
    decltype(&::cusolverDnXgetrf) getrf = function("cusolverDnXgetrf");
    decltype(&::cusolverDnXgetrs) getrs = function("cusolverDnXgetrs");
    decltype(&::cusolverDnXgeqrf_bufferSize) geqrf_size = function("cusolverDnXgeqrf_bufferSize");
    decltype(&::cusolverDnXgeqrf) geqrf = function("cusolverDnXgeqrf");
    decltype(&::cusolverDnXsyevd_bufferSize) syevd_size = function("cusolverDnXsyevd_bufferSize");
    decltype(&::cusolverDnXsyevd) syevd = function("cusolverDnXsyevd");
    decltype(&::cusolverDnXgesvd_bufferSize) gesvd_size = function("cusolverDnXgesvd_bufferSize");
    decltype(&::cusolverDnXgesvd) gesvd = function("cusolverDnXgesvd");
    geev_size_function* geev_size =
        optional_function("cusolverDnXgeev_bufferSize");  // since cuSOLVER 11.7.1, of CUDA 12.6
    geev_function* geev = optional_function("cusolverDnXgeev");
    syev_batched_size_function* syev_batched_size =
        optional_function("cusolverDnXsyevBatched_bufferSize");  // also since CUDA 12.6
    syev_batched_function* syev_batched = optional_function("cusolverDnXsyevBatched");
    decltype(&::cusolverDnCreateSyevjInfo) create_syevj_info = function("cusolverDnCreateSyevjInfo");
    decltype(&::cusolverDnCreateGesvdjInfo) create_gesvdj_info = function("cusolverDnCreateGesvdjInfo");
    // These functions have no 64-bit form.
    decltype(&::cusolverDnSorgqr_bufferSize) sorgqr_size = function("cusolverDnSorgqr_bufferSize");
    decltype(&::cusolverDnDorgqr_bufferSize) dorgqr_size = function("cusolverDnDorgqr_bufferSize");
    decltype(&::cusolverDnCungqr_bufferSize) cungqr_size = function("cusolverDnCungqr_bufferSize");
    decltype(&::cusolverDnZungqr_bufferSize) zungqr_size = function("cusolverDnZungqr_bufferSize");
    decltype(&::cusolverDnSorgqr) sorgqr = function("cusolverDnSorgqr");
    decltype(&::cusolverDnDorgqr) dorgqr = function("cusolverDnDorgqr");
    decltype(&::cusolverDnCungqr) cungqr = function("cusolverDnCungqr");
    decltype(&::cusolverDnZungqr) zungqr = function("cusolverDnZungqr");
};

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

cudaDataType cusolver_type(dtype t);

}  // namespace ingot::runtime
