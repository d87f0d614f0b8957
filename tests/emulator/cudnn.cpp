// libcudnn for tests without a GPU: convolutions as the runtime asks for them, in loops over the emulated GPU's memory,
// which is the host's. It waits for its stream and then computes. Its list of algorithms begins with those that must
// not be taken but, for one, in fast modes: transforms, which err by a quarter here. It has none for dilated images of
// three axes, and refuses the first good one for groups.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <ingot/core/half.hpp>

#include "streams_of_libraries.hpp"

struct cudnnContext {
    cudaStream_t stream = nullptr;
};
struct cudnnTensorStruct {
    int type = -1;
    std::vector<int> extents, strides;
};
struct cudnnFilterStruct {
    int type = -1;
    std::vector<int> extents;
};
struct cudnnConvolutionStruct {
    std::vector<int> padding, strides, dilations;
    int groups = 1, math = 0, sums = -1;
};

namespace {

enum result : int { success = 0, bad_parameter = 2000, not_supported = 3000 };
enum algorithm : int { implicit_gemm = 0, implicit_precomp_gemm = 1, gemm = 2, fft = 4 };
constexpr std::size_t workspace_bytes = 256;

struct choice {
    int algorithm, status;
    float milliseconds;
    std::size_t workspace_bytes;
    int determinism, math;
    int reserved[3];
};

[[noreturn]] void misuse(const char* what) {
    std::fprintf(stderr, "emulated cuDNN: %s\n", what);
    std::abort();
}

std::size_t product(const std::vector<int>& extents, std::size_t from = 0) {
    std::size_t n = 1;
    for (std::size_t j = from; j < extents.size(); ++j) n *= static_cast<std::size_t>(extents[j]);
    return n;
}
/// The indices of element `at` of an array of these extents, of which the first ones are left out.
std::vector<int> indices_of(std::size_t at, const std::vector<int>& extents, std::size_t from) {
    std::vector<int> all(extents.size() - from);
    for (std::size_t j = all.size(); j-- > 0; at /= static_cast<std::size_t>(extents[from + j]))
        all[j] = static_cast<int>(at % static_cast<std::size_t>(extents[from + j]));
    return all;
}

/// S: the type of the sums, each of which has an error.
template <class T, class S>
void convolve(const cudnnTensorStruct& of_x, const T* x, const cudnnFilterStruct& of_w, const T* w,
              const cudnnConvolutionStruct& how, const cudnnTensorStruct& of_y, T* y, S error) {
    const std::size_t places = product(of_y.extents, 2), window = product(of_w.extents, 2),
                      outputs = static_cast<std::size_t>(of_w.extents[0]),
                      channels = static_cast<std::size_t>(of_w.extents[1]),
                      groups = static_cast<std::size_t>(how.groups), image = product(of_x.extents, 2);
    for (std::size_t at = 0; at < product(of_y.extents); ++at) {
        const std::size_t output = at / places % outputs, number = at / places / outputs;
        const std::vector<int> place = indices_of(at % places, of_y.extents, 2);
        S sum(error);
        for (std::size_t k = 0; k < channels * window; ++k) {
            const std::vector<int> of_window = indices_of(k % window, of_w.extents, 2);
            std::size_t offset = 0;
            bool is_inside = true;
            for (std::size_t j = 0; j < place.size(); ++j) {
                const int i = place[j] * how.strides[j] - how.padding[j] + of_window[j] * how.dilations[j];
                is_inside = is_inside && i >= 0 && i < of_x.extents[j + 2];
                offset = offset * static_cast<std::size_t>(of_x.extents[j + 2]) + static_cast<std::size_t>(i);
            }
            const std::size_t channel = output / (outputs / groups) * channels + k / window;
            if (is_inside)
                sum += static_cast<S>(x[(number * channels * groups + channel) * image + offset]) *
                       static_cast<S>(w[output * channels * window + k]);
        }
        y[at] = static_cast<T>(sum);
    }
}

}  // namespace

extern "C" {

const char* cudnnGetErrorString(int status) { return status == success ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS"; }
int cudnnCreate(cudnnContext** made) { return *made = new cudnnContext, success; }
int cudnnSetStream(cudnnContext* h, cudaStream_t stream) { return h->stream = stream, success; }
int cudnnCreateTensorDescriptor(cudnnTensorStruct** made) { return *made = new cudnnTensorStruct, success; }
int cudnnDestroyTensorDescriptor(cudnnTensorStruct* d) { return delete d, success; }
int cudnnSetTensorNdDescriptor(cudnnTensorStruct* d, int type, int rank, const int* extents, const int* strides) {
    if (rank < 4 || rank > 8) return bad_parameter;
    d->type = type, d->extents.assign(extents, extents + rank), d->strides.assign(strides, strides + rank);
    for (int j = 0, expected = 1; j < rank; ++j) {
        const auto k = static_cast<std::size_t>(rank - 1 - j);
        if (d->strides[k] != expected) misuse("an array is not contiguous");
        expected *= d->extents[k];
    }
    return success;
}
int cudnnCreateFilterDescriptor(cudnnFilterStruct** made) { return *made = new cudnnFilterStruct, success; }
int cudnnDestroyFilterDescriptor(cudnnFilterStruct* d) { return delete d, success; }
int cudnnSetFilterNdDescriptor(cudnnFilterStruct* d, int type, int format, int rank, const int* extents) {
    if (rank < 4 || format != 0) return bad_parameter;
    d->type = type, d->extents.assign(extents, extents + rank);
    return success;
}
int cudnnCreateConvolutionDescriptor(cudnnConvolutionStruct** made) {
    return *made = new cudnnConvolutionStruct, success;
}
int cudnnDestroyConvolutionDescriptor(cudnnConvolutionStruct* d) { return delete d, success; }
int cudnnSetConvolutionNdDescriptor(cudnnConvolutionStruct* d, int axes, const int* padding, const int* strides,
                                    const int* dilations, int mode, int sums) {
    if (axes < 2 || mode != 1) return bad_parameter;
    d->padding.assign(padding, padding + axes), d->strides.assign(strides, strides + axes);
    d->dilations.assign(dilations, dilations + axes), d->sums = sums;
    return success;
}
int cudnnSetConvolutionGroupCount(cudnnConvolutionStruct* d, int groups) { return d->groups = groups, success; }
int cudnnSetConvolutionMathType(cudnnConvolutionStruct* d, int math) { return d->math = math, success; }

int cudnnGetConvolutionForwardAlgorithm_v7(cudnnContext*, cudnnTensorStruct* x, cudnnFilterStruct* w,
                                           cudnnConvolutionStruct* how, cudnnTensorStruct* y, int most, int* count,
                                           choice* found) {
    if (x->type != w->type || x->type != y->type || x->extents.size() != y->extents.size()) return bad_parameter;
    for (std::size_t j = 0; j < how->padding.size(); ++j) {
        const int reach = how->dilations[j] * (w->extents[j + 2] - 1) + 1;
        if (y->extents[j + 2] != (x->extents[j + 2] + 2 * how->padding[j] - reach) / how->strides[j] + 1)
            return bad_parameter;
        if (how->padding.size() == 3 && how->dilations[j] > 1) return not_supported;
    }
    const choice all[] = {{fft, success, 1, 0, 1, how->math, {}},
                          {gemm, success, 2, 0, 0, how->math, {}},
                          {gemm, not_supported, -1, 0, 1, how->math, {}},
                          {implicit_precomp_gemm, success, 3, workspace_bytes, 1, how->math, {}},
                          {implicit_gemm, success, 4, 0, 1, how->math, {}}};
    for (*count = 0; *count < most && *count < 5; ++*count) found[*count] = all[*count];
    return success;
}

int cudnnConvolutionForward(cudnnContext* h, const void* alpha, cudnnTensorStruct* of_x, const void* x,
                            cudnnFilterStruct* of_w, const void* w, cudnnConvolutionStruct* how, int algorithm,
                            void* workspace, std::size_t bytes, const void* beta, cudnnTensorStruct* of_y, void* y) {
    emulator::wait_for(h->stream);
    if (algorithm == gemm) misuse("an algorithm that must not be taken");
    if (algorithm == implicit_precomp_gemm) {
        if (how->groups > 1) return not_supported;
        if (bytes != workspace_bytes) misuse("a workspace of another size");
        std::memset(workspace, 0x5a, bytes);
    }
    const auto by = [&]<class T, class S>(T, S) -> int {
        if (*static_cast<const S*>(alpha) != S(1) || *static_cast<const S*>(beta) != S(0)) misuse("a factor");
        convolve<T, S>(*of_x, static_cast<const T*>(x), *of_w, static_cast<const T*>(w), *how, *of_y,
                       static_cast<T*>(y), S(algorithm == fft ? 0.25 : 0));
        return success;
    };
    if (how->sums != (of_x->type == 1 ? 1 : 0)) misuse("a type of sums");
    switch (of_x->type) {
        case 0:
            return how->math == 3 ? by(float(), float()) : not_supported;
        case 1:
            return by(double(), double());
        case 2:
            return by(ingot::float16(), float());
        case 9:
            return by(ingot::bfloat16(), float());
        default:
            return bad_parameter;
    }
}
}
