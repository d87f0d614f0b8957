// cuDNN as a typed table. The functions and constants are those of cudnn.h 9.19, declared here because few systems that
// build Ingot have cuDNN's headers. A handle belongs to one stream of one GPU. Descriptors and algorithms are cached
// for each stream, because a choice of algorithms takes longer than a small convolution; workspaces come from Ingot's
// pool for the time of a call.
#include "runtime/nn/cudnn.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <ingot/core/buffer.hpp>

#include "runtime/device/of_stream.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/pool.hpp"
#include "runtime/system/opened_library.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

using detail::index_t;
using detail::math_mode;

struct cudnn_context;
struct cudnn_tensor;
struct cudnn_filter;
struct cudnn_convolution;

constexpr int success = 0;            // cudnnStatus_t
constexpr int is_deterministic = 1;   // cudnnDeterminism_t
constexpr int format_nchw = 0;        // cudnnTensorFormat_t
constexpr int cross_correlation = 1;  // cudnnConvolutionMode_t
enum cudnn_data : int { data_float = 0, data_double = 1, data_half = 2, data_bfloat16 = 9 };
enum cudnn_math : int { math_default = 0, math_tensor_op = 1, math_fma = 3 };
enum cudnn_algorithm : int { implicit_gemm = 0, implicit_precomp_gemm = 1, gemm = 2, direct = 3, algorithm_count = 8 };

/// cudnnConvolutionFwdAlgoPerf_t
struct cudnn_choice {
    int algorithm, status;
    float milliseconds;
    std::size_t workspace_bytes;
    int determinism, math;
    int reserved[3];
};

struct cudnn_api : api_table {
    using api_table::api_table;
    static library_files files() { return files_of_cuda_library("cudnn", {9}); }

    const char* (*error_string)(int status) = function("cudnnGetErrorString");
    int (*create)(cudnn_context**) = function("cudnnCreate");
    int (*set_stream)(cudnn_context*, void* stream) = function("cudnnSetStream");
    int (*create_tensor)(cudnn_tensor**) = function("cudnnCreateTensorDescriptor");
    int (*destroy_tensor)(cudnn_tensor*) = function("cudnnDestroyTensorDescriptor");
    int (*set_tensor)(cudnn_tensor*, int data, int rank, const int* extents,
                      const int* strides) = function("cudnnSetTensorNdDescriptor");
    int (*create_filter)(cudnn_filter**) = function("cudnnCreateFilterDescriptor");
    int (*destroy_filter)(cudnn_filter*) = function("cudnnDestroyFilterDescriptor");
    int (*set_filter)(cudnn_filter*, int data, int format, int rank,
                      const int* extents) = function("cudnnSetFilterNdDescriptor");
    int (*create_convolution)(cudnn_convolution**) = function("cudnnCreateConvolutionDescriptor");
    int (*destroy_convolution)(cudnn_convolution*) = function("cudnnDestroyConvolutionDescriptor");
    int (*set_convolution)(cudnn_convolution*, int axes, const int* padding, const int* strides, const int* dilations,
                           int mode, int sums) = function("cudnnSetConvolutionNdDescriptor");
    int (*set_groups)(cudnn_convolution*, int) = function("cudnnSetConvolutionGroupCount");
    int (*set_math)(cudnn_convolution*, int) = function("cudnnSetConvolutionMathType");
    int (*choose)(cudnn_context*, cudnn_tensor* images, cudnn_filter* weights, cudnn_convolution*,
                  cudnn_tensor* results, int most, int* count,
                  cudnn_choice*) = function("cudnnGetConvolutionForwardAlgorithm_v7");
    int (*convolve)(cudnn_context*, const void* alpha, cudnn_tensor* of_images, const void* images,
                    cudnn_filter* of_weights, const void* weights, cudnn_convolution*, int algorithm, void* workspace,
                    std::size_t workspace_bytes, const void* beta, cudnn_tensor* of_results,
                    void* results) = function("cudnnConvolutionForward");
};

const cudnn_api& cudnn() { return opened_library<cudnn_api>::get("conv"); }

void check(int status) {
    if (status != success) throw library_error("[conv] cuDNN: " + std::string(cudnn().error_string(status)));
}

struct close_descriptor {
    void operator()(cudnn_tensor* d) const noexcept { cudnn().destroy_tensor(d); }
    void operator()(cudnn_filter* d) const noexcept { cudnn().destroy_filter(d); }
    void operator()(cudnn_convolution* d) const noexcept { cudnn().destroy_convolution(d); }
};
template <class D>
using descriptor = std::unique_ptr<D, close_descriptor>;

template <class D>
descriptor<D> made_by(int (*create)(D**)) {
    D* made = nullptr;
    check(create(&made));
    return descriptor<D>(made);
}

int data_of(dtype t) {
    switch (t) {
        case dtype::f2:
            return data_half;
        case dtype::bf:
            return data_bfloat16;
        case dtype::f8:
            return data_double;
        default:
            return data_float;
    }
}
/// Sums of halves are float32's. Products of float32 keep their fractions unless the mode is tf32.
int math_of(const convolution_call& c) {
    if (detail::is_half(c.type)) return math_tensor_op;
    return c.type == dtype::f4 && c.math == math_mode::tf32 ? math_default : math_fma;
}
/// Algorithms that transform their operands, as Winograd's and Fourier's, round more than the sums of the products do.
bool rounds_as_sums(int algorithm) { return algorithm <= direct; }
bool is_allowed(const cudnn_choice& choice, const convolution_call& c) {
    constexpr std::size_t most_bytes = std::size_t{1} << 30;
    return choice.status == success && choice.determinism == is_deterministic && choice.workspace_bytes <= most_bytes &&
           (c.math == math_mode::fast || rounds_as_sums(choice.algorithm));
}

/// cuDNN has no images of one axis; they have one row.
std::vector<int> with_rows(const std::vector<index_t>& of_axes, std::size_t before, int of_row) {
    std::vector<int> all(of_axes.begin(), of_axes.end());
    if (all.size() == before + 1) all.insert(all.begin() + static_cast<std::ptrdiff_t>(before), of_row);
    return all;
}
descriptor<cudnn_tensor> tensor_of(dtype type, const std::vector<index_t>& extents) {
    const std::vector<int> all = with_rows(extents, 2, 1);
    std::vector<int> strides(all.size());
    int stride = 1;
    for (std::size_t j = all.size(); j-- > 0; stride *= all[j]) strides[j] = stride;
    descriptor<cudnn_tensor> made = made_by(cudnn().create_tensor);
    check(cudnn().set_tensor(made.get(), data_of(type), static_cast<int>(all.size()), all.data(), strides.data()));
    return made;
}

/// A convolution's descriptors, and the algorithms that may compute it, those first that cuDNN expects to be fastest.
struct prepared {
    std::vector<index_t> key;
    descriptor<cudnn_tensor> images, results;
    descriptor<cudnn_filter> weights;
    descriptor<cudnn_convolution> how;
    std::vector<cudnn_choice> choices;
};

std::vector<index_t> key_of(const convolution_call& c) {
    std::vector<index_t> key{static_cast<index_t>(c.type), static_cast<index_t>(c.math), c.groups};
    for (const auto* part : {&c.images, &c.weights, &c.padding, &c.strides, &c.dilations})
        key.insert(key.end(), part->begin(), part->end());
    return key;  // its length is of the number of axes
}

void prepare(prepared& p, const convolution_call& c, cudnn_context* handle) {
    const cudnn_api& api = cudnn();
    p.images = tensor_of(c.type, c.images);
    p.results = tensor_of(c.type, c.results);
    p.weights = made_by(api.create_filter);
    const std::vector<int> weights = with_rows(c.weights, 2, 1);
    check(api.set_filter(p.weights.get(), data_of(c.type), format_nchw, static_cast<int>(weights.size()),
                         weights.data()));
    p.how = made_by(api.create_convolution);
    const std::vector<int> padding = with_rows(c.padding, 0, 0), strides = with_rows(c.strides, 0, 1),
                           dilations = with_rows(c.dilations, 0, 1);
    check(api.set_convolution(p.how.get(), static_cast<int>(padding.size()), padding.data(), strides.data(),
                              dilations.data(), cross_correlation, c.type == dtype::f8 ? data_double : data_float));
    check(api.set_groups(p.how.get(), static_cast<int>(c.groups)));
    check(api.set_math(p.how.get(), math_of(c)));
    std::array<cudnn_choice, algorithm_count> all{};
    int count = 0;
    if (api.choose(handle, p.images.get(), p.weights.get(), p.how.get(), p.results.get(), algorithm_count, &count,
                   all.data()) != success)
        return;
    std::copy_if(all.begin(), all.begin() + count, std::back_inserter(p.choices),
                 [&c](const cudnn_choice& choice) { return is_allowed(choice, c); });
}

/// A stream's handle and its convolutions, the most recently used first. One thread uses them at a time.
class cudnn_of_stream {
public:
    std::mutex mutex;

    /// Null where cuDNN cannot be used on this GPU.
    cudnn_context* handle(const stream_state& stream) {
        if (handle_ == nullptr && !has_failed_) {
            if (const int status = cudnn().create(&handle_); status != success) {
                has_failed_ = true;
                handle_ = nullptr;
                warn_once("cuDNN cannot be used, so convolutions are products of matrices: " +
                          std::string(cudnn().error_string(status)));
            }
        }
        if (handle_ != nullptr) check(cudnn().set_stream(handle_, reinterpret_cast<void*>(stream.native)));
        return handle_;
    }
    prepared& find(const convolution_call& c) {
        std::vector<index_t> key = key_of(c);
        for (auto p = known_.begin(); p != known_.end(); ++p)
            if (p->key == key) {
                known_.splice(known_.begin(), known_, p);
                return known_.front();
            }
        prepared made{std::move(key), {}, {}, {}, {}, {}};
        prepare(made, c, handle_);
        if (known_.size() == most_known) known_.pop_back();
        known_.push_front(std::move(made));
        return known_.front();
    }

private:
    static constexpr std::size_t most_known = 256;

    cudnn_context* handle_ = nullptr;
    bool has_failed_ = false;
    std::list<prepared> known_;
};

bool is_small(const std::vector<index_t>& extents) {
    index_t left = std::numeric_limits<int>::max();
    for (const index_t n : extents) left = n == 0 ? 0 : left / n;
    return left > 0;
}

}  // namespace

bool suits_cudnn(const convolution_call& c) {
    if (detail::kind_of(c.type) != detail::kind::floating) return false;
    for (const auto* part : {&c.images, &c.weights, &c.results})
        if (!is_small(*part)) return false;
    for (const auto* part : {&c.padding, &c.strides, &c.dilations})
        if (std::ranges::any_of(*part, [](index_t n) { return n > std::numeric_limits<int>::max(); })) return false;
    return opened_library<cudnn_api>::find() != nullptr;
}

bool call_cudnn(const convolution_call& c, stream_state& stream) {
    const cudnn_api& api = cudnn();
    cudnn_of_stream& own = of_stream<cudnn_of_stream>(stream);
    const std::lock_guard lock(own.mutex);
    stream.backend->bind_thread();
    cudnn_context* const handle = own.handle(stream);
    if (handle == nullptr) return false;
    prepared& p = own.find(c);
    static constexpr float one_f = 1, zero_f = 0;
    static constexpr double one_d = 1, zero_d = 0;
    const bool is_double = c.type == dtype::f8;
    const void *const one = is_double ? static_cast<const void*>(&one_d) : &one_f, *const zero =
                                                                                       is_double
                                                                                           ? static_cast<const void*>(
                                                                                                 &zero_d)
                                                                                           : &zero_f;
    while (!p.choices.empty()) {
        const cudnn_choice& chosen = p.choices.front();
        if (math_of(c) != math_fma) check(api.set_math(p.how.get(), chosen.math));
        const buffer_ref workspace =
            allocate_buffer(std::max<std::size_t>(chosen.workspace_bytes, 1), stream.device, stream);
        order_write(*workspace, stream);
        if (api.convolve(handle, one, p.images.get(), c.operands[0], p.weights.get(), c.operands[1], p.how.get(),
                         chosen.algorithm, workspace->data, chosen.workspace_bytes, zero, p.results.get(),
                         c.result) == success)
            return true;
        p.choices.erase(p.choices.begin());  // an algorithm of the choice that the GPU does not have
    }
    return false;
}

}  // namespace ingot::runtime
