// cuBLAS, cublasLt and cuSOLVER as a program written for them calls them: handles, plans and work areas are made before
// the clock runs, and the libraries work on the current stream.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "gpu.hpp"
#include "runtime/linalg/batched_functions.hpp"
#include "runtime/system/dynamic_library.hpp"

namespace bench {

inline void check_library(const char* library, int status) {
    if (status != 0) throw std::runtime_error(std::string(library) + ": status " + std::to_string(status));
}
inline void check(cublasStatus_t status) { check_library("cuBLAS", static_cast<int>(status)); }
inline void check(cusolverStatus_t status) { check_library("cuSOLVER", static_cast<int>(status)); }

inline cudaStream_t runtime_stream() { return reinterpret_cast<cudaStream_t>(native_stream()); }

/// Memory of the current device until the program ends with it.
class room {
public:
    explicit room(std::size_t bytes) : memory_(ingot::detail::allocate_buffer(bytes == 0 ? 1 : bytes)), bytes_(bytes) {}
    template <class T = void>
    T* data() const {
        return static_cast<T*>(memory_->data);
    }
    std::size_t size() const { return bytes_; }

private:
    ingot::detail::buffer_ref memory_;
    std::size_t bytes_;
};

inline ingot::runtime::dynamic_library open_library(const std::string& stem, std::initializer_list<int> majors) {
    const auto path = ingot::runtime::find_cuda_library(stem, majors);
    if (!path) throw ingot::library_error("lib" + stem + " was not found");
    return ingot::runtime::dynamic_library(path->string());
}

/// The types in which cuBLAS multiplies numbers of a type.
struct product_type {
    cudaDataType_t data;
    cublasComputeType_t computed;
};
template <class T>
product_type type_of_product(bool tf32) {
    if constexpr (std::same_as<T, double>) return {CUDA_R_64F, CUBLAS_COMPUTE_64F};
    if constexpr (std::same_as<T, ingot::bfloat16>) return {CUDA_R_16BF, CUBLAS_COMPUTE_32F};
    return {CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F};
}

inline constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

/// Matrices in C order; cuBLAS computes the product c = a b as that of the transposed matrices.
class bare_cublas {
public:
    bare_cublas() : workspace_(workspace_bytes) {
        ingot::runtime::dynamic_library library = open_library("cublas", {13, 12});
        decltype(&::cublasCreate_v2) create = nullptr;
        decltype(&::cublasSetStream_v2) set_stream = nullptr;
        decltype(&::cublasSetWorkspace_v2) set_workspace = nullptr;
        library.get(create, "cublasCreate_v2");
        library.get(set_stream, "cublasSetStream_v2");
        library.get(set_workspace, "cublasSetWorkspace_v2");
        library.get(multiply_, "cublasGemmStridedBatchedEx_64");
        if (library.find("cublasSgemv_v2_64") != nullptr) library.get(by_vector_, "cublasSgemv_v2_64");
        library.keep_loaded();
        const cudaStream_t stream = runtime_stream();
        check(create(&handle_));
        check(set_stream(handle_, stream));
        check(set_workspace(handle_, workspace_.data(), workspace_bytes));
    }
    cublasHandle_t handle() const { return handle_; }

    /// (rows, inner) by (inner, columns), for `batch` contiguous matrices.
    template <class T>
    void multiply(const T* a, const T* b, T* c, std::int64_t rows, std::int64_t columns, std::int64_t inner,
                  std::int64_t batch = 1, bool tf32 = false) const {
        using S = std::conditional_t<std::same_as<T, double>, double, float>;
        const S one = 1, zero = 0;
        const product_type t = type_of_product<T>(tf32);
        check(multiply_(handle_, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, inner, &one, b, t.data, columns,
                        inner * columns, a, t.data, inner, rows * inner, &zero, c, t.data, columns, rows * columns,
                        batch, t.computed, CUBLAS_GEMM_DEFAULT));
    }
    void multiply_vector(const float* a, const float* x, float* y, std::int64_t rows, std::int64_t columns) const {
        if (by_vector_ == nullptr) throw std::runtime_error("cuBLAS has no cublasSgemv_v2_64");
        const float one = 1, zero = 0;
        check(by_vector_(handle_, CUBLAS_OP_T, columns, rows, &one, a, columns, x, 1, &zero, y, 1));
    }

private:
    room workspace_;
    cublasHandle_t handle_ = nullptr;
    decltype(&::cublasGemmStridedBatchedEx_64) multiply_ = nullptr;
    decltype(&::cublasSgemv_v2_64) by_vector_ = nullptr;
};

/// act(a b + bias), the bias a row, as one call of cublasLt whose algorithm its heuristics chose.
template <class T>
class bare_epilogue {
public:
    bare_epilogue(const T* a, const T* b, const T* bias, T* c, std::uint64_t rows, std::uint64_t columns,
                  std::uint64_t inner, cublasLtEpilogue_t epilogue, bool tf32)
        : a_(a), b_(b), c_(c), workspace_(workspace_bytes), stream_(runtime_stream()) {
        ingot::runtime::dynamic_library library = open_library("cublasLt", {13, 12});
        decltype(&::cublasLtCreate) create = nullptr;
        decltype(&::cublasLtMatmulDescCreate) create_product = nullptr;
        decltype(&::cublasLtMatmulDescSetAttribute) set = nullptr;
        decltype(&::cublasLtMatrixLayoutCreate) create_layout = nullptr;
        decltype(&::cublasLtMatmulPreferenceCreate) create_preference = nullptr;
        decltype(&::cublasLtMatmulPreferenceSetAttribute) prefer = nullptr;
        decltype(&::cublasLtMatmulAlgoGetHeuristic) choose = nullptr;
        library.get(create, "cublasLtCreate");
        library.get(create_product, "cublasLtMatmulDescCreate");
        library.get(set, "cublasLtMatmulDescSetAttribute");
        library.get(create_layout, "cublasLtMatrixLayoutCreate");
        library.get(create_preference, "cublasLtMatmulPreferenceCreate");
        library.get(prefer, "cublasLtMatmulPreferenceSetAttribute");
        library.get(choose, "cublasLtMatmulAlgoGetHeuristic");
        library.get(multiply_, "cublasLtMatmul");
        library.keep_loaded();
        const product_type t = type_of_product<T>(tf32);
        check(create(&handle_));
        check(create_product(&product_, t.computed, std::same_as<T, double> ? CUDA_R_64F : CUDA_R_32F));
        check(set(product_, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
        check(set(product_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
        check(create_layout(&of_b_, t.data, columns, inner, static_cast<std::int64_t>(columns)));
        check(create_layout(&of_a_, t.data, inner, rows, static_cast<std::int64_t>(inner)));
        check(create_layout(&of_c_, t.data, columns, rows, static_cast<std::int64_t>(columns)));
        cublasLtMatmulPreference_t preference = nullptr;
        check(create_preference(&preference));
        check(prefer(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes, sizeof workspace_bytes));
        cublasLtMatmulHeuristicResult_t found{};
        int count = 0;
        check(choose(handle_, product_, of_b_, of_a_, of_c_, of_c_, preference, 1, &found, &count));
        if (count == 0) throw std::runtime_error("cublasLt has no algorithm for this");
        algorithm_ = found.algo;
    }
    void operator()() const {
        using S = std::conditional_t<std::same_as<T, double>, double, float>;
        const S one = 1, zero = 0;
        check(multiply_(handle_, product_, &one, b_, of_b_, a_, of_a_, &zero, c_, of_c_, c_, of_c_, &algorithm_,
                        workspace_.data(), workspace_bytes, stream_));
    }

private:
    const T *a_, *b_;
    T* c_;
    room workspace_;
    cudaStream_t stream_;
    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulDesc_t product_ = nullptr;
    cublasLtMatrixLayout_t of_a_ = nullptr, of_b_ = nullptr, of_c_ = nullptr;
    cublasLtMatmulAlgo_t algorithm_{};
    decltype(&::cublasLtMatmul) multiply_ = nullptr;
};

/// cuSOLVER's functions for one matrix of float64, and its batched ones for float32. The status of each matrix is read
/// on the host within the call, as in a program that needs it.
class bare_cusolver {
public:
    bare_cusolver() {
        ingot::runtime::dynamic_library library = open_library("cusolver", {12, 11});
        decltype(&::cusolverDnCreate) create = nullptr;
        decltype(&::cusolverDnSetStream) set_stream = nullptr;
        decltype(&::cusolverDnCreateParams) create_params = nullptr;
        decltype(&::cusolverDnCreateSyevjInfo) create_syevj_info = nullptr;
        library.get(create, "cusolverDnCreate");
        library.get(set_stream, "cusolverDnSetStream");
        library.get(create_params, "cusolverDnCreateParams");
        library.get(create_syevj_info, "cusolverDnCreateSyevjInfo");
        library.get(potrf_size, "cusolverDnXpotrf_bufferSize");
        library.get(potrf, "cusolverDnXpotrf");
        library.get(getrf_size, "cusolverDnXgetrf_bufferSize");
        library.get(getrf, "cusolverDnXgetrf");
        library.get(getrs, "cusolverDnXgetrs");
        library.get(geqrf_size, "cusolverDnXgeqrf_bufferSize");
        library.get(geqrf, "cusolverDnXgeqrf");
        library.get(dorgqr_size, "cusolverDnDorgqr_bufferSize");
        library.get(dorgqr, "cusolverDnDorgqr");
        library.get(syevd_size, "cusolverDnXsyevd_bufferSize");
        library.get(syevd, "cusolverDnXsyevd");
        library.get(gesvd_size, "cusolverDnXgesvd_bufferSize");
        library.get(gesvd, "cusolverDnXgesvd");
        library.keep_loaded();
        const cudaStream_t stream = runtime_stream();
        check(create(&handle));
        check(set_stream(handle, stream));
        check(create_params(&params));
        check(create_syevj_info(&of_jacobi));
    }
    /// Waits, and throws where one is not 0.
    static void check_infos(const room& infos, std::size_t count = 1) {
        std::vector<int> all(count);
        ingot::runtime::check(
            ingot::runtime::driver()->cuMemcpyDtoHAsync(all.data(), reinterpret_cast<CUdeviceptr>(infos.data()),
                                                        count * sizeof(int), native_stream()),
            "reading what cuSOLVER says");
        ingot::runtime::check(ingot::runtime::driver()->cuStreamSynchronize(native_stream()), "waiting for cuSOLVER");
        for (const int info : all)
            if (info != 0) throw std::runtime_error("cuSOLVER: info " + std::to_string(info));
    }

    const ingot::runtime::batched_functions<float, float> batched{"bench"};
    cusolverDnHandle_t handle = nullptr;
    cusolverDnParams_t params = nullptr;
    syevjInfo_t of_jacobi = nullptr;
    decltype(&::cusolverDnXpotrf_bufferSize) potrf_size = nullptr;
    decltype(&::cusolverDnXpotrf) potrf = nullptr;
    decltype(&::cusolverDnXgetrf_bufferSize) getrf_size = nullptr;
    decltype(&::cusolverDnXgetrf) getrf = nullptr;
    decltype(&::cusolverDnXgetrs) getrs = nullptr;
    decltype(&::cusolverDnXgeqrf_bufferSize) geqrf_size = nullptr;
    decltype(&::cusolverDnXgeqrf) geqrf = nullptr;
    decltype(&::cusolverDnDorgqr_bufferSize) dorgqr_size = nullptr;
    decltype(&::cusolverDnDorgqr) dorgqr = nullptr;
    decltype(&::cusolverDnXsyevd_bufferSize) syevd_size = nullptr;
    decltype(&::cusolverDnXsyevd) syevd = nullptr;
    decltype(&::cusolverDnXgesvd_bufferSize) gesvd_size = nullptr;
    decltype(&::cusolverDnXgesvd) gesvd = nullptr;
};

}  // namespace bench
