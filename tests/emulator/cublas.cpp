// libcublas for tests without a GPU: products of matrices, as the runtime calls them, in loops over the emulated GPU's
// memory, which is the host's. It waits for its stream and then computes.
#include <cublas_v2.h>

#include <complex>
#include <cstdint>

#include <ingot/core/half.hpp>

#include "lapack_of_host.hpp"
#include "streams_of_libraries.hpp"
#include "tensor_cores.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
};

namespace {

using emulator::in_tf32;

/// S: the type of the sums and of the scalars.
template <class T, class S, bool tf32 = false>
cublasStatus_t multiply(cublasOperation_t of_a, cublasOperation_t of_b, int64_t m, int64_t n, int64_t k,
                        const void* alpha, const void* a, int64_t lda, int64_t of_a_stride, const void* b, int64_t ldb,
                        int64_t of_b_stride, const void* beta, void* c, int64_t ldc, int64_t of_c_stride,
                        int64_t batch) {
    const S one = *static_cast<const S*>(alpha), kept = *static_cast<const S*>(beta);
    if (lda < (of_a == CUBLAS_OP_N ? m : k) || ldb < (of_b == CUBLAS_OP_N ? k : n) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int64_t i = 0; i < batch; ++i) {
        const T* const x = static_cast<const T*>(a) + i * of_a_stride;
        const T* const y = static_cast<const T*>(b) + i * of_b_stride;
        T* const z = static_cast<T*>(c) + i * of_c_stride;
        for (int64_t column = 0; column < n; ++column)
            for (int64_t row = 0; row < m; ++row) {
                S sum(0);
                for (int64_t j = 0; j < k; ++j) {
                    const S left = static_cast<S>(of_a == CUBLAS_OP_N ? x[row + j * lda] : x[j + row * lda]),
                            right = static_cast<S>(of_b == CUBLAS_OP_N ? y[j + column * ldb] : y[column + j * ldb]);
                    if constexpr (tf32)
                        sum += in_tf32(left) * in_tf32(right);
                    else
                        sum += left * right;
                }
                T& to = z[row + column * ldc];
                to = static_cast<T>(kept == S(0) ? one * sum : one * sum + kept * static_cast<S>(to));
            }
    }
    return CUBLAS_STATUS_SUCCESS;
}

/// Factorises the matrices at an array of addresses, by LAPACK.
template <class T, class N>
cublasStatus_t factorise_each(cublasHandle_t h, int n, N* const a[], int lda, int* pivots, int* infos, int batch) {
    if (n < 1 || lda < n || pivots == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
    if (emulator::lapack<T>() == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    emulator::wait_for(h->stream);
    for (int i = 0; i < batch; ++i)
        emulator::lapack<T>()->getrf(&n, &n, reinterpret_cast<T*>(a[i]), &lda, pivots + i * n, infos + i);
    return CUBLAS_STATUS_SUCCESS;
}
template <class T, class N>
cublasStatus_t solve_each(cublasHandle_t h, cublasOperation_t operation, int n, int right, const N* const a[], int lda,
                          const int* pivots, N* const b[], int ldb, int* info, int batch) {
    if (operation != CUBLAS_OP_N || n < 1 || right < 1 || lda < n || ldb < n) return CUBLAS_STATUS_INVALID_VALUE;
    emulator::wait_for(h->stream);
    *info = 0;
    for (int i = 0; i < batch; ++i)
        emulator::solve_by_factors(n, right, reinterpret_cast<const T*>(a[i]), lda, pivots + i * n,
                                   reinterpret_cast<T*>(b[i]), ldb);
    return CUBLAS_STATUS_SUCCESS;
}
/// Only the called case: from the left, a not transposed. The other triangle is not read.
template <class T, class N>
cublasStatus_t solve_triangle_each(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t triangle,
                                   cublasOperation_t operation, cublasDiagType_t diagonal, int n, int right,
                                   const N* factor, const N* const a[], int lda, N* const b[], int ldb, int batch) {
    if (side != CUBLAS_SIDE_LEFT || operation != CUBLAS_OP_N || n < 1 || right < 1 || lda < n || ldb < n ||
        *reinterpret_cast<const T*>(factor) != T(1))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (emulator::lapack<T>() == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    emulator::wait_for(h->stream);
    for (int i = 0; i < batch; ++i) {
        int info = 0;
        emulator::lapack<T>()->trtrs(
            triangle == CUBLAS_FILL_MODE_UPPER ? "U" : "L", "N", diagonal == CUBLAS_DIAG_UNIT ? "U" : "N", &n, &right,
            reinterpret_cast<const T*>(a[i]), &lda, reinterpret_cast<T*>(b[i]), &ldb, &info, 1, 1, 1);
    }
    return CUBLAS_STATUS_SUCCESS;
}
template <class T, class N>
cublasStatus_t reflect_each(cublasHandle_t h, int m, int n, N* const a[], int lda, N* const tau[], int* info,
                            int batch) {
    if (m < 1 || n < 1 || lda < m) return CUBLAS_STATUS_INVALID_VALUE;
    if (emulator::lapack<T>() == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    emulator::wait_for(h->stream);
    *info = 0;
    for (int i = 0; i < batch; ++i)
        emulator::run_with_work<T>([&](T* work, const int* lwork, int* found) {
            emulator::lapack<T>()->geqrf(&m, &n, reinterpret_cast<T*>(a[i]), &lda, reinterpret_cast<T*>(tau[i]), work,
                                         lwork, found);
        });
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

#define BATCHED(S, N, T)                                                                                            \
    cublasStatus_t cublas##S##getrfBatched(cublasHandle_t h, int n, N* const a[], int lda, int* pivots, int* infos, \
                                           int batch) {                                                             \
        return factorise_each<T>(h, n, a, lda, pivots, infos, batch);                                               \
    }                                                                                                               \
    cublasStatus_t cublas##S##getrsBatched(cublasHandle_t h, cublasOperation_t operation, int n, int right,         \
                                           const N* const a[], int lda, const int* pivots, N* const b[], int ldb,   \
                                           int* info, int batch) {                                                  \
        return solve_each<T>(h, operation, n, right, a, lda, pivots, b, ldb, info, batch);                          \
    }                                                                                                               \
    cublasStatus_t cublas##S##trsmBatched(cublasHandle_t h, cublasSideMode_t side, cublasFillMode_t triangle,       \
                                          cublasOperation_t operation, cublasDiagType_t diagonal, int n, int right, \
                                          const N* factor, const N* const a[], int lda, N* const b[], int ldb,      \
                                          int batch) {                                                              \
        return solve_triangle_each<T>(h, side, triangle, operation, diagonal, n, right, factor, a, lda, b, ldb,     \
                                      batch);                                                                       \
    }                                                                                                               \
    cublasStatus_t cublas##S##geqrfBatched(cublasHandle_t h, int m, int n, N* const a[], int lda, N* const tau[],   \
                                           int* info, int batch) {                                                  \
        return reflect_each<T>(h, m, n, a, lda, tau, info, batch);                                                  \
    }
BATCHED(S, float, float)
BATCHED(D, double, double)
BATCHED(C, cuComplex, std::complex<float>)
BATCHED(Z, cuDoubleComplex, std::complex<double>)

const char* cublasGetStatusString(cublasStatus_t) { return "the emulated library refuses"; }
cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
    *h = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
/// Like the real function, it forgets the workspace.
cublasStatus_t cublasSetStream_v2(cublasHandle_t h, cudaStream_t stream) {
    h->stream = stream, h->workspace = nullptr;
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t h, void* workspace, size_t) {
    h->workspace = workspace;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmStridedBatchedEx_64(cublasHandle_t h, cublasOperation_t of_a, cublasOperation_t of_b,
                                             int64_t m, int64_t n, int64_t k, const void* alpha, const void* a,
                                             cudaDataType type_of_a, int64_t lda, long long int a_stride, const void* b,
                                             cudaDataType type_of_b, int64_t ldb, long long int b_stride,
                                             const void* beta, void* c, cudaDataType type_of_c, int64_t ldc,
                                             long long int c_stride, int64_t batch, cublasComputeType_t computed,
                                             cublasGemmAlgo_t) {
    if (h->workspace == nullptr || of_a == CUBLAS_OP_C || of_b == CUBLAS_OP_C || type_of_a != type_of_b ||
        type_of_a != type_of_c)
        return CUBLAS_STATUS_INVALID_VALUE;
    const bool in_64 = type_of_a == CUDA_R_64F || type_of_a == CUDA_C_64F;
    const bool tf32 = computed == CUBLAS_COMPUTE_32F_FAST_TF32;
    if (tf32 ? type_of_a != CUDA_R_32F && type_of_a != CUDA_C_32F
             : computed != (in_64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    emulator::wait_for(h->stream);
    const auto by = [&](auto f) {
        return f(of_a, of_b, m, n, k, alpha, a, lda, a_stride, b, ldb, b_stride, beta, c, ldc, c_stride, batch);
    };
    switch (type_of_a) {
        case CUDA_R_32F:
            return tf32 ? by(multiply<float, float, true>) : by(multiply<float, float>);
        case CUDA_R_64F:
            return by(multiply<double, double>);
        case CUDA_C_32F:
            return tf32 ? by(multiply<std::complex<float>, std::complex<float>, true>)
                        : by(multiply<std::complex<float>, std::complex<float>>);
        case CUDA_C_64F:
            return by(multiply<std::complex<double>, std::complex<double>>);
        case CUDA_R_16F:
            return by(multiply<ingot::float16, float>);
        case CUDA_R_16BF:
            return by(multiply<ingot::bfloat16, float>);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
}
