// Finds the greatest or the least elements of long rows by selecting digit by digit, from the highest, without sorting.
//
// A pass counts the digits of the undecided elements, and the last block to end finds the digit at which the wanted
// number is reached. Elements are ordered by their keys and then by their indices, so that no two are equal and earlier
// ones win. After the first pass the elements with that digit are copied aside if they are few, so the whole is read
// twice. If all elements with a digit are wanted, later passes do nothing. For few elements of a very long row a sample
// gives the candidates (sampled_filter.hpp), and the passes read only these; in rows with too many of them, for example
// because most elements are equal, they read everything.
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/half.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/sorting/key_order.hpp"
#include "runtime/sorting/launch_kernel.hpp"
#include "runtime/sorting/row_order.hpp"
#include "runtime/sorting/sampled_filter.hpp"
#include "runtime/sorting/sort_rows.hpp"

namespace ingot::runtime {

namespace {

struct selected_rows {
    const std::byte* from;
    index_t* to;
    index_t rows, length, count;
    bool largest;
};

template <class T>
void select_on_host(const selected_rows& s) {
    run_on_workers(static_cast<std::size_t>(s.rows), [&](std::size_t begin, std::size_t end) {
        std::vector<index_t> indices(static_cast<std::size_t>(s.length));
        for (std::size_t i = begin; i < end; ++i) {
            const T* const row = reinterpret_cast<const T*>(s.from) + static_cast<index_t>(i) * s.length;
            std::iota(indices.begin(), indices.end(), index_t{0});
            const in_order before;
            const auto wins = [&](index_t a, index_t b) {
                const T &x = row[a], &y = row[b];
                if (s.largest ? before(y, x) : before(x, y)) return true;
                return a < b && !(s.largest ? before(x, y) : before(y, x));
            };
            std::ranges::nth_element(indices, indices.begin() + (s.count - 1), wins);
            std::sort(indices.begin(), indices.begin() + s.count, wins);
            std::copy_n(indices.begin(), s.count, s.to + static_cast<index_t>(i) * s.count);
        }
    });
}

#ifdef INGOT_HAS_CUDA_HEADERS

constexpr int threads = 256, tile = 2048, digit_bits = 11, digits = 1 << digit_bits;

/// The decisions of the passes so far for a row. A pass reads one state and writes the other of two.
struct row_state {
    unsigned long long key_prefix, index_prefix, remaining, candidates;
    int passes, done, aside, filtered;  // filtered: candidates were set aside before any pass
};
struct row_counters {
    unsigned long long taken, copied, ended;  // blocks that have ended
};
struct arguments {
    const void* from;
    long long* to;
    const void* state;
    void* next_state;
    void* counters;
    unsigned long long* counts;
    void* keys;  // of the elements copied aside
    long long* indices;
    long long length, requested, room;
    const filter_counts* filtered;  // for each row, or null
    int index_bits, pass;
};

constexpr std::string_view kernels_text = R"(typedef long long int64;
typedef unsigned long long uint64;
constexpr int key_bits = 8 * sizeof(value), key_passes = (key_bits + 10) / 11;
struct row_state {
    uint64 key_prefix, index_prefix, remaining, candidates;
    int passes, done, aside, filtered;
};
struct row_counters {
    uint64 taken, copied, ended;
};
struct filter_counts {
    uint64 aside, below, nans;
};
struct arguments {
    const value* from;
    int64* to;
    const row_state* state;
    row_state* next_state;
    row_counters* counters;
    uint64* counts;
    key* keys;
    int64* indices;
    int64 length, requested, room;
    const filter_counts* filtered;
    int index_bits, pass;
};

/// Bits that lie below the first digits of a number of so many bits.
__device__ int below(int bits, int passes) { return bits > 11 * passes ? bits - 11 * passes : 0; }
__device__ key key_of(value v) {
    const key k = into_order(v);
    return largest ? k : key(value(~value(k)));
}
/// Reverses the order of indices, because of equal keys the first one wins.
__device__ uint64 inverse_of(int64 index, int bits) { return (uint64(1) << bits) - 1 - uint64(index); }

/// Whether the digits that are decided are less than the state's (-1), equal, or greater.
__device__ int compare(const row_state& s, key k, uint64 inverse, int index_bits) {
    if (s.passes == 0) return 0;
    const uint64 mine = uint64(k) >> below(key_bits, s.passes);
    if (mine != s.key_prefix) return mine > s.key_prefix ? 1 : -1;
    if (s.passes <= key_passes) return 0;
    const uint64 index = inverse >> below(index_bits, s.passes - key_passes);
    return index == s.index_prefix ? 0 : index > s.index_prefix ? 1 : -1;
}

struct digit_position {
    int shift, bits;
};
__device__ digit_position digit_of(int pass, int index_bits) {
    const int bits = pass < key_passes ? key_bits : index_bits, own = pass < key_passes ? pass : pass - key_passes;
    return {below(bits, own + 1), below(bits, own) - below(bits, own + 1)};
}

/// What a thread's number is added to: the sum of those of the threads before it; `total` of all. 256 threads.
__device__ uint64 sum_before(uint64 mine, uint64* room, uint64& total) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint64 sum = mine;
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint64 lower = __shfl_up_sync(0xffffffffu, sum, d);
        if (lane >= d) sum += lower;
    }
    __syncthreads();
    if (lane == 31) room[warp] = sum;
    __syncthreads();
    uint64 before = sum - mine;
    total = 0;
    #pragma unroll
    for (int w = 0; w < 8; ++w) {
        const uint64 of_warp = room[w];
        if (w < warp) before += of_warp;
        total += of_warp;
    }
    return before;
}

/// Finds the digit with which the wanted number is reached, from the greatest digit down.
__device__ void decide(const arguments& a, row_state s, row_state& next, uint64* counts, uint64* room) {
    uint64 mine[8], sum = 0;
    #pragma unroll
    for (int i = 0; i < 8; ++i) {
        uint64* const count = counts + (2047 - (int(threadIdx.x) * 8 + i));
        mine[i] = atomicAdd(count, 0);
        sum += mine[i];
    }
    #pragma unroll
    for (int i = 0; i < 8; ++i) counts[2047 - (int(threadIdx.x) * 8 + i)] = 0;
    const uint64 requested = a.pass == 0 ? uint64(a.requested) : s.remaining;
    uint64 total, above = sum_before(sum, room, total);
    if (above >= requested || above + sum < requested) return;
    // One thread gets here.
    int i = 0;
    uint64 count = 0;
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
        if (k == i) {
            count = mine[k];
            if (above + count < requested) above += count, ++i;
        }
    }
    const uint64 digit = 2047 - (int(threadIdx.x) * 8 + i);
    const int bits = digit_of(a.pass, a.index_bits).bits;
    if (a.pass < key_passes)
        s.key_prefix = s.key_prefix << bits | digit;
    else
        s.index_prefix = s.index_prefix << bits | digit;
    s.remaining = requested - above;
    s.passes = a.pass + 1;
    s.done = count == requested - above;
    if (a.pass == 0 && !s.filtered) {
        s.candidates = count;
        s.aside = !s.done && int64(count) <= a.room;
    }
    next = s;
}

extern "C" __global__ void __launch_bounds__(256, 5) count_digits(const __grid_constant__ arguments a) {
    __shared__ unsigned counts[2048];
    __shared__ uint64 room[8];
    __shared__ bool last;
    const int64 row = blockIdx.y;
    row_state s = a.state[row];
    if (a.pass == 0 && a.filtered != nullptr && int64(a.filtered[row].aside) <= a.room) {
        s.aside = s.filtered = 1;
        s.candidates = a.filtered[row].aside;
    }
    if (s.done) {
        if (blockIdx.x == 0 && threadIdx.x == 0) a.next_state[row] = s;
        return;
    }
    for (int i = threadIdx.x; i < 2048; i += 256) counts[i] = 0;
    __syncthreads();
    const bool aside = s.aside;
    const int64 n = aside ? int64(s.candidates) : a.length;
    const value* const from = a.from + row * a.length;
    const key* const keys = a.keys + row * a.room;
    const int64* const indices = a.indices + row * a.room;
    const digit_position digit = digit_of(a.pass, a.index_bits);
    for (int64 begin = int64(blockIdx.x) * 2048; begin < n; begin += int64(gridDim.x) * 2048) {
        key k[8];
        int64 index[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int64 at = begin + i * 256 + threadIdx.x;
            k[i] = 0, index[i] = -1;
            if (at < n) k[i] = aside ? keys[at] : key_of(from[at]), index[i] = aside ? indices[at] : at;
        }
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const uint64 inverse = inverse_of(index[i], a.index_bits);
            int mine = -1;
            if (index[i] >= 0 && compare(s, k[i], inverse, a.index_bits) == 0)
                mine = int((a.pass < key_passes ? uint64(k[i]) : inverse) >> digit.shift) & ((1 << digit.bits) - 1);
            // A warp whose digits are the same counts them at once.
            const int first = __shfl_sync(0xffffffffu, mine, 0);
            if (__all_sync(0xffffffffu, mine == first)) {
                if (threadIdx.x % 32 == 0 && mine >= 0) atomicAdd(&counts[mine], 32u);
            } else if (mine >= 0) {
                atomicAdd(&counts[mine], 1u);
            }
        }
    }
    __syncthreads();
    uint64* const all = a.counts + row * 2048;
    for (int i = threadIdx.x; i < 2048; i += 256)
        if (counts[i] != 0) atomicAdd(&all[i], uint64(counts[i]));
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&a.counters[row].ended, 1) % gridDim.x == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    decide(a, s, a.next_state[row], all, room);
}

/// With pass 1: what is above the first digit is taken, and what has it copied aside. Else what is wanted is taken.
extern "C" __global__ void __launch_bounds__(256, 5) take_elements(const __grid_constant__ arguments a) {
    __shared__ uint64 room[8], bases[2];
    const int64 row = blockIdx.y;
    const row_state s = a.state[row];
    row_counters& counters = a.counters[row];
    const bool copies = a.pass == 1;
    if (copies && (!s.aside || s.filtered)) return;
    const bool aside = !copies && s.aside;
    const int64 n = aside ? int64(s.candidates) : a.length;
    const value* const from = a.from + row * a.length;
    key* const keys = a.keys + row * a.room;
    int64* const indices = a.indices + row * a.room;
    int64* const to = a.to + row * a.requested;
    for (int64 begin = int64(blockIdx.x) * 2048; begin < n; begin += int64(gridDim.x) * 2048) {
        key k[8];
        int64 index[8];
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            const int64 at = begin + i * 256 + threadIdx.x;
            k[i] = 0, index[i] = -1;
            if (at < n) k[i] = aside ? keys[at] : key_of(from[at]), index[i] = aside ? indices[at] : at;
        }
        unsigned takes = 0, keeps = 0;
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (index[i] < 0) continue;
            const int order = compare(s, k[i], inverse_of(index[i], a.index_bits), a.index_bits);
            if (order > 0 || (order == 0 && !copies)) takes |= 1u << i;
            if (order == 0 && copies) keeps |= 1u << i;
        }
        if (!__syncthreads_or((takes | keeps) != 0)) continue;
        uint64 total;
        const uint64 before = sum_before(uint64(__popc(takes)) << 32 | uint64(__popc(keeps)), room, total);
        if (threadIdx.x == 0) {
            bases[0] = total >> 32 ? atomicAdd(&counters.taken, total >> 32) : 0;
            bases[1] = total & 0xffffffffu ? atomicAdd(&counters.copied, total & 0xffffffffu) : 0;
        }
        __syncthreads();
        uint64 take = bases[0] + (before >> 32), keep = bases[1] + (before & 0xffffffffu);
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            if (takes >> i & 1) to[take++] = index[i];
            if (keeps >> i & 1) keys[keep] = k[i], indices[keep++] = index[i];
        }
    }
}
)";

/// Loaded once for each kind, for ever.
struct select_kernels {
    std::shared_ptr<const kernel_module> module;
    loaded_kernel count, take;
};
const select_kernels& kernels_for(dtype type, bool largest, std::uint32_t architecture) {
    static std::mutex& mutex = *new std::mutex;
    static auto& all = *new std::map<std::tuple<dtype, bool, std::uint32_t>, std::unique_ptr<select_kernels>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<select_kernels>& found = all[{type, largest, architecture}];
    if (!found) {
        source_text source;
        source.where = target::cuda;
        source.architecture = "sm_" + std::to_string(architecture);
        source.kernels = {"count_digits", "take_elements"};
        source.text = key_order_text(type, true);
        source.text += largest ? "constexpr bool largest = true;\n" : "constexpr bool largest = false;\n";
        source.text += kernels_text;
        const auto module = load(source);
        found.reset(new select_kernels{module, loaded_kernel(module->kernel("count_digits")),
                                       loaded_kernel(module->kernel("take_elements"))});
    }
    return *found;
}

void select_on_gpu(const selected_rows& s, dtype type, stream_state& stream) {
    const select_kernels& kernels = kernels_for(type, s.largest, architecture_of(stream.device));
    const auto key_bytes = std::max<std::size_t>(detail::size_of(type), 4);
    const bool filters =
        s.count <= samples_of_row / 8 && s.length >= std::max(limits_of_selection().least_length, index_t{1} << 15);
    const int key_bits = 8 * static_cast<int>(detail::size_of(type)),
              index_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(s.length - 1)));
    const int passes = (key_bits + digit_bits - 1) / digit_bits + (index_bits + digit_bits - 1) / digit_bits;
    constexpr index_t rows_at_once = 1024;
    const index_t rows = std::min(s.rows, rows_at_once), room = std::max<index_t>(s.length / 8, 1);
    const auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
    const auto n = static_cast<std::size_t>(rows);
    const std::size_t states = aligned(n * sizeof(row_state)),
                      filtered = 2 * states + aligned(n * sizeof(row_counters)),
                      counters = filtered + aligned(n * sizeof(filter_counts)),
                      counts = n * digits * sizeof(std::uint64_t), copied = n * static_cast<std::size_t>(room),
                      indices = counters + counts, keys = indices + copied * sizeof(std::int64_t),
                      of_filter = aligned(keys + copied * key_bytes);
    const buffer_ref scratch =
        allocate_buffer(of_filter + (filters ? filter_scratch(rows, type) : 0), stream.device, stream);
    order_write(*scratch, stream);
    std::byte* const begin = static_cast<std::byte*>(scratch->data);

    // As many blocks as the processors run at once (__launch_bounds__).
    const index_t blocks_at_once = index_t{5} * processors_of(stream.device), tiles = (s.length + tile - 1) / tile;
    for (index_t first = 0; first < s.rows; first += rows) {
        const index_t now = std::min(rows, s.rows - first);
        arguments a{s.from + static_cast<std::size_t>(first * s.length) * detail::size_of(type),
                    reinterpret_cast<long long*>(s.to) + first * s.count,
                    nullptr,
                    nullptr,
                    begin + 2 * states,
                    reinterpret_cast<unsigned long long*>(begin + counters),
                    begin + keys,
                    reinterpret_cast<long long*>(begin + indices),
                    s.length,
                    s.count,
                    room,
                    filters ? reinterpret_cast<const filter_counts*>(begin + filtered) : nullptr,
                    index_bits,
                    0};
        const auto blocks = static_cast<unsigned>(std::clamp<index_t>(blocks_at_once / now, 1, tiles));
        const auto launch = [&](const loaded_kernel& kernel, int pass) {
            a.pass = pass;
            a.state = begin + (pass % 2 == 0 ? 0 : states);
            a.next_state = begin + (pass % 2 == 0 ? states : 0);
            launch_kernel("topk", kernel, a, blocks, static_cast<unsigned>(now), threads, stream);
        };
        stream.backend->fill(begin, 0, counters + counts, stream.native);
        if (filters)
            set_greatest_aside({static_cast<const std::byte*>(a.from), now, s.length, type, a.keys, room, a.indices,
                                reinterpret_cast<filter_counts*>(begin + filtered), begin + of_filter},
                               s.largest, s.count, stream);
        launch(kernels.count, 0);
        launch(kernels.take, 1);
        for (int pass = 1; pass < passes; ++pass) launch(kernels.count, pass);
        launch(kernels.take, passes);
    }
}

#else

void select_on_gpu(const selected_rows&, dtype, stream_state&) {
    throw library_error("[topk] Ingot was built without CUDA's headers");
}

#endif

void select(const selected_rows& s, dtype type) {
    switch (type) {
        case dtype::b1:
        case dtype::u1:
            return select_on_host<std::uint8_t>(s);
        case dtype::i1:
            return select_on_host<std::int8_t>(s);
        case dtype::i2:
            return select_on_host<std::int16_t>(s);
        case dtype::u2:
            return select_on_host<std::uint16_t>(s);
        case dtype::i4:
            return select_on_host<std::int32_t>(s);
        case dtype::u4:
            return select_on_host<std::uint32_t>(s);
        case dtype::i8:
            return select_on_host<std::int64_t>(s);
        case dtype::u8:
            return select_on_host<std::uint64_t>(s);
        case dtype::f2:
            return select_on_host<float16>(s);
        case dtype::bf:
            return select_on_host<bfloat16>(s);
        case dtype::f4:
            return select_on_host<float>(s);
        case dtype::f8:
            return select_on_host<double>(s);
        default:
            throw library_error("[topk] nothing selects from " + std::string(name(type)));
    }
}

}  // namespace
}  // namespace ingot::runtime

namespace ingot::detail {

bool select_elements(const buffer_ref& from, const layout& where, dtype type, index_t count, bool largest,
                     const buffer_ref& to) {
    runtime::stream_state& stream = *runtime::context_on(from->device).stream;
    const index_t length = where.shape()[where.rank() - 1];
    const runtime::selected_rows rows{
        static_cast<const std::byte*>(from->data) + where.offset * static_cast<index_t>(size_of(type)),
        static_cast<index_t*>(to->data),
        where.size() / length,
        length,
        count,
        largest};
    runtime::order_read(*from, stream);
    runtime::order_write(*to, stream);
    if (!stream.device.is_cuda()) {
        if (runtime::graph_capture* const capture = stream.capture.load(std::memory_order_relaxed))
            capture->record([rows, type] { runtime::select(rows, type); });
        else
            runtime::select(rows, type);
        return true;
    }
    stream.backend->bind_thread();
#ifdef INGOT_HAS_CUDA_HEADERS
    if (length <= runtime::longest_short_row(type, true)) {
        const runtime::sorted_rows all{rows.from, reinterpret_cast<std::byte*>(rows.to), rows.rows, length, length,
                                       count};
        runtime::argsort_first_of_short_rows(all, type, largest, count, stream);
        return true;
    }
#endif
    runtime::select_on_gpu(rows, type, stream);
    return false;
}

}  // namespace ingot::detail
