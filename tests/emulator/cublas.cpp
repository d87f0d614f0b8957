// libcublas for tests without a GPU: products of matrices, as the runtime calls them, in loops over the emulated GPU's
// memory, which is the host's. It waits for its stream and then computes.
#include <cublas_v2.h>

#include <complex>
#include <cstdint>
#include <cstring>

#include <ingot/half.hpp>

#include "streams_of_libraries.hpp"

struct cublasContext {
    cudaStream_t stream = nullptr;
    void* workspace = nullptr;
};

namespace {

/// S: what is summed in, and what the scalars are.
template <class T, class S>
cublasStatus_t multiply(cublasOperation_t of_a, cublasOperation_t of_b, int64_t m, int64_t n, int64_t k,
                        const void* alpha, const void* a, int64_t lda, int64_t of_a_stride, const void* b, int64_t ldb,
                        int64_t of_b_stride, const void* beta, void* c, int64_t ldc, int64_t of_c_stride,
                        int64_t batch) {
    const S one = *static_cast<const S*>(alpha);
    if (*static_cast<const S*>(beta) != S(0)) return CUBLAS_STATUS_NOT_SUPPORTED;  // nothing asks for it
    if (lda < (of_a == CUBLAS_OP_N ? m : k) || ldb < (of_b == CUBLAS_OP_N ? k : n) || ldc < m)
        return CUBLAS_STATUS_INVALID_VALUE;
    for (int64_t i = 0; i < batch; ++i) {
        const T* const x = static_cast<const T*>(a) + i * of_a_stride;
        const T* const y = static_cast<const T*>(b) + i * of_b_stride;
        T* const z = static_cast<T*>(c) + i * of_c_stride;
        for (int64_t column = 0; column < n; ++column)
            for (int64_t row = 0; row < m; ++row) {
                S sum(0);
                for (int64_t j = 0; j < k; ++j)
                    sum += static_cast<S>(of_a == CUBLAS_OP_N ? x[row + j * lda] : x[j + row * lda]) *
                           static_cast<S>(of_b == CUBLAS_OP_N ? y[j + column * ldb] : y[column + j * ldb]);
                z[row + column * ldc] = static_cast<T>(one * sum);
            }
    }
    return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

const char* cublasGetStatusString(cublasStatus_t) { return "the emulated library refuses"; }
cublasStatus_t cublasCreate_v2(cublasHandle_t* h) {
    *h = new cublasContext;
    return CUBLAS_STATUS_SUCCESS;
}
/// As the real one, it forgets the workspace.
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
    if (computed != (in_64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F)) return CUBLAS_STATUS_NOT_SUPPORTED;
    emulator::wait_for(h->stream);
    const auto by = [&](auto f) {
        return f(of_a, of_b, m, n, k, alpha, a, lda, a_stride, b, ldb, b_stride, beta, c, ldc, c_stride, batch);
    };
    switch (type_of_a) {
        case CUDA_R_32F:
            return by(multiply<float, float>);
        case CUDA_R_64F:
            return by(multiply<double, double>);
        case CUDA_C_32F:
            return by(multiply<std::complex<float>, std::complex<float>>);
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
