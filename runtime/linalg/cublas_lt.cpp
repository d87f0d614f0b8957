// cublasLt, which adds a vector in a product's own call. It uses cuBLAS's handle and workspace of the stream, and
// reports whether it has a kernel for the layout of the matrices.
#include "runtime/linalg/cublas.hpp"
#include "runtime/linalg/matrix_product.hpp"

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublasLt.h>)

#include <cublasLt.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>

#include <ingot/core/error.hpp>

namespace ingot::runtime {

namespace {

struct cublas_lt_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cuda_library("cublasLt", {13, 12}); }

    decltype(&::cublasLtMatmulDescCreate) create_product = function("cublasLtMatmulDescCreate");
    decltype(&::cublasLtMatmulDescDestroy) destroy_product = function("cublasLtMatmulDescDestroy");
    decltype(&::cublasLtMatmulDescSetAttribute) set_of_product = function("cublasLtMatmulDescSetAttribute");
    decltype(&::cublasLtMatrixLayoutCreate) create_layout = function("cublasLtMatrixLayoutCreate");
    decltype(&::cublasLtMatrixLayoutDestroy) destroy_layout = function("cublasLtMatrixLayoutDestroy");
    decltype(&::cublasLtMatrixLayoutSetAttribute) set_of_layout = function("cublasLtMatrixLayoutSetAttribute");
    decltype(&::cublasLtMatmulPreferenceCreate) create_preference = function("cublasLtMatmulPreferenceCreate");
    decltype(&::cublasLtMatmulPreferenceDestroy) destroy_preference = function("cublasLtMatmulPreferenceDestroy");
    decltype(&::cublasLtMatmulPreferenceSetAttribute) set_of_preference =
        function("cublasLtMatmulPreferenceSetAttribute");
    decltype(&::cublasLtMatmulAlgoGetHeuristic) choose = function("cublasLtMatmulAlgoGetHeuristic");
    decltype(&::cublasLtMatmul) multiply = function("cublasLtMatmul");
};

/// Null where it is missing: a kernel behind the product then adds the bias.
const cublas_lt_api* cublas_lt() { return opened_library<cublas_lt_api>::find(); }

struct product_traits {
    using type = cublasLtMatmulDesc_t;
    static constexpr type none = nullptr;
    static void close(type p) noexcept { cublas_lt()->destroy_product(p); }
};
struct layout_traits {
    using type = cublasLtMatrixLayout_t;
    static constexpr type none = nullptr;
    static void close(type l) noexcept { cublas_lt()->destroy_layout(l); }
};
struct preference_traits {
    using type = cublasLtMatmulPreference_t;
    static constexpr type none = nullptr;
    static void close(type p) noexcept { cublas_lt()->destroy_preference(p); }
};

constexpr const char* doing = "matmul";

template <class Handle, class Attribute, class T>
void set(cublasStatus_t (*of)(Handle, Attribute, const void*, std::size_t), Handle handle, Attribute attribute,
         const T& value) {
    check(of(handle, attribute, &value, sizeof value), doing);
}

/// The layout of a batch of matrices, each `stride` elements behind the previous one.
unique_handle<layout_traits> layout_of(const cublas_lt_api& api, cudaDataType_t type, index_t rows, index_t columns,
                                       index_t leading, index_t batch, index_t stride) {
    unique_handle<layout_traits> layout;
    check(api.create_layout(layout.out(), type, static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
                            leading),
          doing);
    set(api.set_of_layout, layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(api.set_of_layout, layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, std::int64_t{stride});
    return layout;
}

/// Alignment in bytes, up to the largest that cublasLt uses.
std::uint32_t alignment_of(const void* p) {
    const auto address = reinterpret_cast<std::uintptr_t>(p);
    return 1u << std::min(std::countr_zero(address), 8);
}

}  // namespace

bool has_cublas_lt() { return cublas_lt() != nullptr; }

bool call_cublas_lt(const product_call& c, stream_state& stream) {
    if (c.batch > std::numeric_limits<std::int32_t>::max()) return false;
    const cublas_lt_api& api = *cublas_lt();
    const cublas_types t = cublas_types_of(c.type, c.tf32);
    const cublas_use use = use_cublas(doing, stream);
    const auto handle = reinterpret_cast<cublasLtHandle_t>(use.handle);  // a cuBLAS handle is one of cublasLt too

    unique_handle<product_traits> product;
    check(api.create_product(product.out(), t.computed, CUDA_R_32F), doing);
    const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    set(api.set_of_product, product.get(), CUBLASLT_MATMUL_DESC_TRANSA, op(c.transposed[0]));
    set(api.set_of_product, product.get(), CUBLASLT_MATMUL_DESC_TRANSB, op(c.transposed[1]));
    set(api.set_of_product, product.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    set(api.set_of_product, product.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, c.bias);

    const auto layout = [&](bool transposed, index_t rows, index_t columns, index_t leading, index_t stride) {
        return layout_of(api, t.data, transposed ? columns : rows, transposed ? rows : columns, leading, c.batch,
                         stride);
    };
    const auto first = layout(c.transposed[0], c.m, c.k, c.leading[0], c.strides[0]),
               second = layout(c.transposed[1], c.k, c.n, c.leading[1], c.strides[1]),
               result = layout(false, c.m, c.n, c.leading_of_result, c.strides[2]);

    unique_handle<preference_traits> preference;
    check(api.create_preference(preference.out()), doing);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
        set(api.set_of_preference, preference.get(), attribute, value);
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{use.workspace_bytes});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(c.operands[0]));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(c.operands[1]));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(c.result));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(c.result));
    cublasLtMatmulHeuristicResult_t chosen{};
    int count = 0;
    // cublasLt caches its choice for similar products.
    if (api.choose(handle, product.get(), first.get(), second.get(), result.get(), result.get(), preference.get(), 1,
                   &chosen, &count) != CUBLAS_STATUS_SUCCESS ||
        count == 0)
        return false;
    check(api.multiply(handle, product.get(), t.one, c.operands[0], first.get(), c.operands[1], second.get(), t.zero,
                       c.result, result.get(), c.result, result.get(), &chosen.algo, use.workspace, use.workspace_bytes,
                       reinterpret_cast<cudaStream_t>(stream.native)),
          doing);
    return true;
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

bool has_cublas_lt() { return false; }
#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublas_v2.h>)
bool call_cublas_lt(const product_call&, stream_state&) { return false; }
#endif

}  // namespace ingot::runtime

#endif
