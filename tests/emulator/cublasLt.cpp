// libcublasLt for tests without a GPU: products with a bias, as the runtime calls them, in loops over the emulated
// GPU's memory, which is the host's. It has no kernel where the result's leading dimension is odd. It waits for its
// stream and then computes.
#include <cublasLt.h>

#include <cstdint>
#include <cstring>

#include <ingot/core/half.hpp>

#include "streams_of_libraries.hpp"
#include "tensor_cores.hpp"

namespace {

struct product {
    cublasComputeType_t computed;
    cublasOperation_t operations[2] = {CUBLAS_OP_N, CUBLAS_OP_N};
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    const void* bias = nullptr;
};
struct layout {
    cudaDataType type;
    std::int64_t rows, columns, leading, stride = 0;
    std::int32_t batch = 1;
};
struct preference {
    std::uint64_t workspace_bytes = 0;
};

product& of(cublasLtMatmulDesc_t p) { return *reinterpret_cast<product*>(p); }
layout& of(cublasLtMatrixLayout_t l) { return *reinterpret_cast<layout*>(l); }
preference& of(cublasLtMatmulPreference_t p) { return *reinterpret_cast<preference*>(p); }

template <class T>
cublasStatus_t take(T& to, const void* from, std::size_t bytes) {
    if (bytes != sizeof to) return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&to, from, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

bool fits(const product& p, const layout& a, const layout& b, const layout& d) {
    const bool by_rows[] = {p.operations[0] != CUBLAS_OP_N, p.operations[1] != CUBLAS_OP_N};
    const std::int64_t inner = by_rows[0] ? a.rows : a.columns;
    return (by_rows[0] ? a.columns : a.rows) == d.rows && (by_rows[1] ? b.columns : b.rows) == inner &&
           (by_rows[1] ? b.rows : b.columns) == d.columns && a.leading >= a.rows && b.leading >= b.rows &&
           d.leading >= d.rows && a.batch == d.batch && b.batch == d.batch && a.type == d.type && b.type == d.type &&
           p.computed == (d.type == CUDA_R_32F ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F);
}

template <class T>
void multiply(const product& p, const void* a, const layout& of_a, const void* b, const layout& of_b, void* d,
              const layout& of_d) {
    const bool a_by_rows = p.operations[0] != CUBLAS_OP_N, b_by_rows = p.operations[1] != CUBLAS_OP_N;
    const std::int64_t inner = a_by_rows ? of_a.rows : of_a.columns;
    for (std::int64_t i = 0; i < of_d.batch; ++i) {
        const T* const x = static_cast<const T*>(a) + i * of_a.stride;
        const T* const y = static_cast<const T*>(b) + i * of_b.stride;
        for (std::int64_t column = 0; column < of_d.columns; ++column)
            for (std::int64_t row = 0; row < of_d.rows; ++row) {
                float sum = 0;
                for (std::int64_t j = 0; j < inner; ++j) {
                    const auto left =
                        static_cast<float>(a_by_rows ? x[j + row * of_a.leading] : x[row + j * of_a.leading]);
                    const auto right =
                        static_cast<float>(b_by_rows ? y[column + j * of_b.leading] : y[j + column * of_b.leading]);
                    sum += of_d.type == CUDA_R_32F ? emulator::in_tf32(left) * emulator::in_tf32(right) : left * right;
                }
                static_cast<T*>(d)[i * of_d.stride + row + column * of_d.leading] =
                    static_cast<T>(sum + static_cast<float>(static_cast<const T*>(p.bias)[row]));
            }
    }
}

}  // namespace

extern "C" {

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* p, cublasComputeType_t computed, cudaDataType_t scale) {
    if (scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
    *p = reinterpret_cast<cublasLtMatmulDesc_t>(new product{computed});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t p) {
    delete &of(p);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t p, cublasLtMatmulDescAttributes_t attribute,
                                              const void* from, std::size_t bytes) {
    switch (attribute) {
        case CUBLASLT_MATMUL_DESC_TRANSA:
            return take(of(p).operations[0], from, bytes);
        case CUBLASLT_MATMUL_DESC_TRANSB:
            return take(of(p).operations[1], from, bytes);
        case CUBLASLT_MATMUL_DESC_EPILOGUE:
            return take(of(p).epilogue, from, bytes);
        case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
            return take(of(p).bias, from, bytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* l, cudaDataType type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t leading) {
    *l = reinterpret_cast<cublasLtMatrixLayout_t>(
        new layout{type, static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), leading});
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t l) {
    delete &of(l);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t l, cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* from, std::size_t bytes) {
    switch (attribute) {
        case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
            return take(of(l).batch, from, bytes);
        case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
            return take(of(l).stride, from, bytes);
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* p) {
    *p = reinterpret_cast<cublasLtMatmulPreference_t>(new preference);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t p) {
    delete &of(p);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t p,
                                                    cublasLtMatmulPreferenceAttributes_t attribute, const void* from,
                                                    std::size_t bytes) {
    std::uint32_t alignment = 0;
    if (attribute == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES) return take(of(p).workspace_bytes, from, bytes);
    return take(alignment, from, bytes);
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t p, cublasLtMatrixLayout_t a,
                                              cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
                                              cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t wanted, int,
                                              cublasLtMatmulHeuristicResult_t* chosen, int* count) {
    *count = 0;
    if (c != d || of(d).leading % 2 != 0 || of(p).epilogue != CUBLASLT_EPILOGUE_BIAS)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (!fits(of(p), of(a), of(b), of(d))) return CUBLAS_STATUS_INVALID_VALUE;
    *chosen = {};
    chosen->workspaceSize = of(wanted).workspace_bytes;
    *count = 1;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t p, const void*, const void* a,
                              cublasLtMatrixLayout_t of_a, const void* b, cublasLtMatrixLayout_t of_b, const void*,
                              const void* c, cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t* algorithm, void* workspace, std::size_t,
                              cudaStream_t stream) {
    if (c != d || algorithm == nullptr || workspace == nullptr || of(p).bias == nullptr ||
        reinterpret_cast<std::uintptr_t>(of(p).bias) % 16 != 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    emulator::wait_for(stream);
    const auto by = [&](auto f) { f(of(p), a, of(of_a), b, of(of_b), d, of(of_d)); };
    switch (of(of_d).type) {
        case CUDA_R_32F:
            by(multiply<float>);
            return CUBLAS_STATUS_SUCCESS;
        case CUDA_R_16F:
            by(multiply<ingot::float16>);
            return CUBLAS_STATUS_SUCCESS;
        case CUDA_R_16BF:
            by(multiply<ingot::bfloat16>);
            return CUBLAS_STATUS_SUCCESS;
        default:
            return CUBLAS_STATUS_NOT_SUPPORTED;
    }
}
}
