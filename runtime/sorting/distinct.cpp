// The different elements of sorted ones on a GPU: where groups of equal elements begin is counted tile by tile, the
// counts are summed, and each tile writes its own behind those of the tiles before it. The elements are read twice.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include <ingot/error.hpp>
#include <ingot/sets.hpp>

#include "runtime/device_facts.hpp"
#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/ordering.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/launch_kernel.hpp"

namespace ingot::runtime {

namespace {

#ifdef INGOT_HAS_CUDA_HEADERS

constexpr int threads = 256;
static_assert(detail::distinct_tile == 32 * threads);

struct arguments {
    const void* from;
    void* to;
    long long* starts;
    long long length, tiles;
};

constexpr std::string_view kernels_text = R"(typedef long long int64;
struct arguments {
    const value* from;
    value* to;
    int64* starts;
    int64 length, tiles;
};

/// Of a warp's 1024 elements in a tile, 32 at a time: lane r has those of round r at which a group begins, as bits.
__device__ unsigned begins(const arguments& a, int64 first) {
    const int lane = threadIdx.x % 32;
    unsigned mine = 0;
    #pragma unroll 8
    for (int r = 0; r < 32; ++r) {
        const int64 i = first + r * 32 + lane;
        const bool begins = i < a.length && (i == 0 || into_order(a.from[i]) != into_order(a.from[i - 1]));
        const unsigned bits = __ballot_sync(0xffffffffu, begins);
        if (lane == r) mine = bits;
    }
    return mine;
}
/// The sum over a warp, in its first lane.
__device__ int sum_of_warp(int n) {
    #pragma unroll
    for (int d = 16; d > 0; d /= 2) n += __shfl_down_sync(0xffffffffu, n, d);
    return n;
}
__device__ int64 first_of_warp() { return int64(blockIdx.x) * 8192 + threadIdx.x / 32 * 1024; }

extern "C" __global__ void __launch_bounds__(256) count_begins(const __grid_constant__ arguments a) {
    __shared__ int counts[8];
    const int count = sum_of_warp(__popc(begins(a, first_of_warp())));
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64 sum = 0;
    for (int w = 0; w < 8; ++w) sum += counts[w];
    a.starts[blockIdx.x] = sum;
}

/// One block: each tile's count becomes the sum of those before it, the one behind the last that of all.
extern "C" __global__ void __launch_bounds__(256) sum_counts(const __grid_constant__ arguments a) {
    __shared__ int64 sums[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64 before = 0;
    for (int64 begin = 0; begin < a.tiles; begin += 2048) {
        int64 own[8], sum = 0;
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int64 i = begin + threadIdx.x * 8 + k;
            own[k] = i < a.tiles ? a.starts[i] : 0;
            sum += own[k];
        }
        int64 upto = sum;
        #pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const int64 lower = __shfl_up_sync(0xffffffffu, upto, d);
            if (lane >= d) upto += lower;
        }
        __syncthreads();
        if (lane == 31) sums[warp] = upto;
        __syncthreads();
        int64 at = before + upto - sum;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) at += sums[w];
            before += sums[w];
        }
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int64 i = begin + threadIdx.x * 8 + k;
            if (i < a.tiles) a.starts[i] = at;
            at += own[k];
        }
    }
    if (threadIdx.x == 0) a.starts[a.tiles] = before;
}

extern "C" __global__ void __launch_bounds__(256) write_begins(const __grid_constant__ arguments a) {
    __shared__ int counts[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64 first = first_of_warp();
    const unsigned mine = begins(a, first);
    const int count = sum_of_warp(__popc(mine));
    if (lane == 0) counts[warp] = count;
    __syncthreads();
    int64 at = a.starts[blockIdx.x];
    for (int w = 0; w < warp; ++w) at += counts[w];
    for (int r = 0; r < 32; ++r) {
        const unsigned bits = __shfl_sync(0xffffffffu, mine, r);
        if (bits >> lane & 1) a.to[at + __popc(bits & ((1u << lane) - 1))] = a.from[first + r * 32 + lane];
        at += __popc(bits);
    }
}
)";

/// Loaded once for each of these, for ever.
struct distinct_kernels {
    std::shared_ptr<const kernel_module> module;
    loaded_kernel count, sum, write;
};
const distinct_kernels& kernels_for(dtype type, std::uint32_t architecture) {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::map<std::tuple<dtype, std::uint32_t>, std::unique_ptr<distinct_kernels>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<distinct_kernels>& found = all[{type, architecture}];
    if (!found) {
        source_text source;
        source.where = target::cuda;
        source.architecture = "sm_" + std::to_string(architecture);
        source.kernels = {"count_begins", "sum_counts", "write_begins"};
        source.text = key_order_text(type, true);
        source.text += kernels_text;
        const auto module = load(source);
        found.reset(new distinct_kernels{module, loaded_kernel(module->kernel("count_begins")),
                                         loaded_kernel(module->kernel("sum_counts")),
                                         loaded_kernel(module->kernel("write_begins"))});
    }
    return *found;
}

void launch(const loaded_kernel& kernel, arguments a, index_t blocks, const stream_state& stream) {
    launch_kernel("unique", kernel, a, static_cast<unsigned>(blocks), 1, threads, stream);
}

arguments arguments_of(const buffer_ref& sorted, const detail::layout& where, dtype type, const buffer_ref& starts) {
    const index_t n = where.size();
    return {static_cast<const std::byte*>(sorted->data) + where.offset * static_cast<index_t>(detail::size_of(type)),
            nullptr, static_cast<long long*>(starts->data), n, (n + detail::distinct_tile - 1) / detail::distinct_tile};
}

stream_state& stream_of(const buffer_ref& memory) {
    stream_state& stream = *context_on(memory->device).stream;
    stream.backend->bind_thread();
    return stream;
}

#endif

}  // namespace
}  // namespace ingot::runtime

namespace ingot::detail {

#ifdef INGOT_HAS_CUDA_HEADERS

void count_distinct(const buffer_ref& sorted, const layout& where, dtype type, const buffer_ref& starts) {
    using namespace runtime;
    stream_state& stream = stream_of(sorted);
    order_read(*sorted, stream);
    order_write(*starts, stream);
    const distinct_kernels& kernels = kernels_for(type, architecture_of(stream.device));
    const arguments a = arguments_of(sorted, where, type, starts);
    runtime::launch(kernels.count, a, a.tiles, stream);
    runtime::launch(kernels.sum, a, 1, stream);
}

void write_distinct(const buffer_ref& sorted, const layout& where, dtype type, const buffer_ref& starts,
                    const buffer_ref& to) {
    using namespace runtime;
    stream_state& stream = stream_of(sorted);
    order_read(*sorted, stream);
    order_read(*starts, stream);
    order_write(*to, stream);
    arguments a = arguments_of(sorted, where, type, starts);
    a.to = to->data;
    runtime::launch(kernels_for(type, architecture_of(stream.device)).write, a, a.tiles, stream);
}

#else

void count_distinct(const buffer_ref&, const layout&, dtype, const buffer_ref&) {
    throw library_error("[unique] Ingot was built without CUDA's headers");
}
void write_distinct(const buffer_ref&, const layout&, dtype, const buffer_ref&, const buffer_ref&) {
    throw library_error("[unique] Ingot was built without CUDA's headers");
}

#endif

}  // namespace ingot::detail
