// cuBLAS as a typed table. A handle belongs to one stream of one GPU and has Ingot's own workspace, because a handle
// that two streams share gives results that depend on timing.
#include <ingot/core/error.hpp>

#include "runtime/linalg/cublas.hpp"
#include "runtime/linalg/matrix_product.hpp"

#if defined(INGOT_HAS_CUDA_HEADERS) && __has_include(<cublas_v2.h>)

#include <cublas_v2.h>

#include <complex>
#include <mutex>
#include <string>

#include <ingot/core/buffer.hpp>

#include "runtime/device/driver.hpp"
#include "runtime/device/of_stream.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/pool.hpp"

namespace ingot::runtime {

namespace {

struct cublas_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cublas(); }

    decltype(&::cublasGetStatusString) cublasGetStatusString = function("cublasGetStatusString");
    decltype(&::cublasCreate_v2) cublasCreate = function("cublasCreate_v2");
    decltype(&::cublasSetStream_v2) cublasSetStream = function("cublasSetStream_v2");
    decltype(&::cublasSetWorkspace_v2) cublasSetWorkspace = function("cublasSetWorkspace_v2");
    decltype(&::cublasGemmStridedBatchedEx_64) cublasGemmStridedBatchedEx_64 =
        function("cublasGemmStridedBatchedEx_64");
};

const cublas_api& cublas(const char* doing) { return opened_library<cublas_api>::get(doing); }

/// A stream's handle; one thread uses it at a time.
struct stream_handle {
    std::mutex mutex;
    cublasHandle_t handle = nullptr;
    buffer_ref workspace;
};

/// The size that NVIDIA recommends for Hopper.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

}  // namespace

cublas_types cublas_types_of(dtype t, bool tf32) {
    static const float one_f = 1, zero_f = 0;
    static const double one_d = 1, zero_d = 0;
    static const std::complex<float> one_c(1), zero_c(0);
    static const std::complex<double> one_z(1), zero_z(0);
    const cublasComputeType_t single = tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    switch (t) {
        case dtype::f2:
            return {CUDA_R_16F, CUBLAS_COMPUTE_32F, &one_f, &zero_f};
        case dtype::bf:
            return {CUDA_R_16BF, CUBLAS_COMPUTE_32F, &one_f, &zero_f};
        case dtype::f4:
            return {CUDA_R_32F, single, &one_f, &zero_f};
        case dtype::f8:
            return {CUDA_R_64F, CUBLAS_COMPUTE_64F, &one_d, &zero_d};
        case dtype::c8:
            return {CUDA_C_32F, single, &one_c, &zero_c};
        case dtype::c16:
            return {CUDA_C_64F, CUBLAS_COMPUTE_64F, &one_z, &zero_z};
        default:
            throw library_error("[matmul] cuBLAS multiplies no " + std::string(name(t)));
    }
}

void check(cublasStatus_t status, const char* doing) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw library_error("[" + std::string(doing) + "] cuBLAS: " + cublas(doing).cublasGetStatusString(status));
}

cublas_use use_cublas(const char* doing, stream_state& stream) {
    const cublas_api& api = cublas(doing);
    stream_handle& h = of_stream<stream_handle>(stream);
    cublas_use use{std::unique_lock(h.mutex), nullptr, nullptr, workspace_bytes};
    if (h.handle == nullptr) {
        h.workspace = stream.pool->allocate_permanent(workspace_bytes, stream);
        check(api.cublasCreate(&h.handle), doing);
    }
    check(api.cublasSetStream(h.handle, reinterpret_cast<cudaStream_t>(stream.native)), doing);
    check(api.cublasSetWorkspace(h.handle, h.workspace->data, workspace_bytes), doing);
    use.handle = h.handle, use.workspace = h.workspace->data;
    return use;
}

namespace {

/// Adds the bias to each row of a result, as the product of a column of ones and the bias.
void add_bias(const product_call& c, stream_state& stream) {
    const auto of_type = static_cast<std::size_t>(c.n) * detail::size_of(c.type);
    const buffer_ref ones = allocate_buffer((of_type + 3) / 4 * 4, stream.device, stream);
    order_write(*ones, stream);
    const std::uint32_t one = c.type == dtype::f4 ? 0x3f800000u : c.type == dtype::f2 ? 0x3c003c00u : 0x3f803f80u;
    check(driver()->cuMemsetD32Async(reinterpret_cast<CUdeviceptr>(ones->data), one, (of_type + 3) / 4,
                                     reinterpret_cast<CUstream>(stream.native)),
          "adding a bias");
    const cublas_types t = cublas_types_of(c.type, false);
    const cublas_use use = use_cublas("matmul", stream);
    check(cublas("matmul").cublasGemmStridedBatchedEx_64(
              use.handle, CUBLAS_OP_N, CUBLAS_OP_N, c.m, c.n, 1, t.one, c.bias, t.data, c.m, 0, ones->data, t.data, 1,
              0, t.one, c.result, t.data, c.leading_of_result, c.strides[2], c.batch, t.computed, CUBLAS_GEMM_DEFAULT),
          "matmul");
}

void multiply(const product_call& c, stream_state& stream) {
    const cublas_types t = cublas_types_of(c.type, c.tf32);
    const cublas_use use = use_cublas("matmul", stream);
    const auto op = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    check(cublas("matmul").cublasGemmStridedBatchedEx_64(
              use.handle, op(c.transposed[0]), op(c.transposed[1]), c.m, c.n, c.k, t.one, c.operands[0], t.data,
              c.leading[0], c.strides[0], c.operands[1], t.data, c.leading[1], c.strides[1], t.zero, c.result, t.data,
              c.leading_of_result, c.strides[2], c.batch, t.computed, CUBLAS_GEMM_DEFAULT),
          "matmul");
}

}  // namespace

void call_cublas(const product_call& c, stream_state& stream) {
    if (c.bias == nullptr) return multiply(c, stream);
    if (call_cublas_lt(c, stream)) return;
    multiply(c, stream);
    add_bias(c, stream);
}

}  // namespace ingot::runtime

#else

namespace ingot::runtime {

void call_cublas(const product_call&, stream_state&) {
    throw library_error(
        "[matmul] Ingot was built without the headers of cuBLAS (from NVIDIA's repository: "
        "libcublas-dev-13-0)");
}

}  // namespace ingot::runtime

#endif
