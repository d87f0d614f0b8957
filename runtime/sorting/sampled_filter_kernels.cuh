// The kernels of sampled_filter.cpp, which prints before them: what key_order.hpp makes for a dtype (the types `value`
// and `key`, and into_order); `largest` and `keeps_indices`; the type `aside_element`; and sum_before.cuh. `arguments` and
// `filter_counts` are laid out as there. A row has 8192 samples, a block 256 threads.

constexpr int key_bits = 8 * sizeof(value), key_passes = (key_bits + 10) / 11;
struct filter_counts {
    uint64 aside, below, nans;
};
struct arguments {
    const value* from;
    key *samples, *bounds;
    filter_counts* counts;
    aside_element* aside;
    int64* indices;
    int64 length, room, spacing;
    int samples_each, high_rank, low_rank;
};

__device__ key key_of(value v) {
    const key k = into_order(v);
    return largest ? k : key(value(~value(k)));
}
__device__ int below(int bits, int passes) { return bits > 11 * passes ? bits - 11 * passes : 0; }

/// The greatest of groups that have no element in common: the one of rank k among these is no greater than that among
/// all elements.
extern "C" __global__ void __launch_bounds__(256) sample_maxima(const __grid_constant__ arguments a) {
    const int64 row = blockIdx.y;
    const value* const from = a.from + row * a.length;
    key most = 0;
    #pragma unroll 8
    for (int j = 0; j < a.samples_each; ++j) {
        const key k = key_of(from[(int64(j) * gridDim.x + blockIdx.x) * a.spacing + threadIdx.x]);
        if (k > most) most = k;
    }
    #pragma unroll
    for (int d = 1; d < 4; d *= 2) {
        const key other = __shfl_xor_sync(0xffffffffu, most, d);
        if (other > most) most = other;
    }
    if (threadIdx.x % 4 == 0) a.samples[row * 8192 + blockIdx.x * 64 + threadIdx.x / 4] = most;
}

/// One element of each of equal parts of the row, anywhere there, so that no period of the row is met.
extern "C" __global__ void __launch_bounds__(256) sample_elements(const __grid_constant__ arguments a) {
    const int64 row = blockIdx.y;
    const unsigned i = blockIdx.x * 256 + threadIdx.x;
    unsigned mixed = i * 2654435761u;
    mixed = (mixed ^ mixed >> 15) * 2246822519u;
    mixed ^= mixed >> 13;
    a.samples[row * 8192 + i] = key_of(a.from[row * a.length + int64(i) * a.spacing + int64(mixed % uint64(a.spacing))]);
}

/// The key of a rank among the greatest of a block's 8192, digit by digit: those of each digit are counted.
__device__ key key_of_rank(const key* keys, int rank, unsigned* counts, uint64* room, key& found, int& left) {
    if (rank <= 0) return ~key(0);
    if (rank > 8192) return 0;
    key prefix = 0;
    for (int pass = 0; pass < key_passes; ++pass) {
        const int shift = below(key_bits, pass + 1), bits = below(key_bits, pass) - shift;
        for (int i = threadIdx.x; i < 2048; i += 256) counts[i] = 0;
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 32; ++i) {
            const key rest = keys[i] >> shift;
            if (pass == 0 || rest >> bits == prefix) atomicAdd(&counts[int(rest) & ((1 << bits) - 1)], 1u);
        }
        __syncthreads();
        unsigned mine[8], sum = 0;
        #pragma unroll
        for (int i = 0; i < 8; ++i) {
            mine[i] = counts[2047 - (int(threadIdx.x) * 8 + i)];
            sum += mine[i];
        }
        uint64 total;
        int above = int(sum_before(sum, room, total));
        if (above < rank && above + int(sum) >= rank) {
            // One thread gets here.
            bool is_found = false;
            #pragma unroll
            for (int i = 0; i < 8; ++i) {
                if (is_found) continue;
                if (above + int(mine[i]) >= rank) {
                    is_found = true;
                    found = prefix << bits | key(2047 - (int(threadIdx.x) * 8 + i));
                    left = rank - above;
                }
                above += int(mine[i]);
            }
        }
        __syncthreads();
        prefix = found;
        rank = left;
        __syncthreads();
    }
    return prefix;
}

extern "C" __global__ void __launch_bounds__(256) choose_bounds(const __grid_constant__ arguments a) {
    __shared__ unsigned counts[2048];
    __shared__ uint64 room[8];
    __shared__ key found;
    __shared__ int left;
    const int64 row = blockIdx.y;
    key keys[32];
    #pragma unroll
    for (int i = 0; i < 32; ++i) keys[i] = a.samples[row * 8192 + i * 256 + threadIdx.x];
    const key high = key_of_rank(keys, a.high_rank, counts, room, found, left);
    const key low = key_of_rank(keys, a.low_rank, counts, room, found, left);
    if (threadIdx.x == 0) a.bounds[row * 2] = high, a.bounds[row * 2 + 1] = low;
}

constexpr int lanes = 16 / sizeof(value), items = sizeof(value) == 8 ? 8 : 16;
struct alignas(16) vector {
    value v[lanes];
};

extern "C" __global__ void __launch_bounds__(256, 4) filter_elements(const __grid_constant__ arguments a) {
    __shared__ uint64 room[8], base;
    const int64 row = blockIdx.y, first = int64(blockIdx.x) * (256 * items);
    const value* const from = a.from + row * a.length;
    value v[items];
    if (first + 256 * items <= a.length && uint64(from + first) % 16 == 0) {
        #pragma unroll
        for (int j = 0; j < items / lanes; ++j) {
            const vector loaded = reinterpret_cast<const vector*>(from + first)[j * 256 + threadIdx.x];
            #pragma unroll
            for (int i = 0; i < lanes; ++i) v[j * lanes + i] = loaded.v[i];
        }
    } else {
        #pragma unroll
        for (int i = 0; i < items; ++i) {
            const int64 at = first + (i / lanes * 256 + int(threadIdx.x)) * lanes + i % lanes;
            v[i] = at < a.length ? from[at] : value(0);
        }
    }
    const key high = a.bounds[row * 2], low = a.bounds[row * 2 + 1];
    unsigned between = 0, lower = 0, nans = 0;
    #pragma unroll
    for (int i = 0; i < items; ++i) {
        const int64 at = first + (i / lanes * 256 + int(threadIdx.x)) * lanes + i % lanes;
        if (at >= a.length) continue;
        const key k = key_of(v[i]);
        if (k >= low && k <= high) between |= 1u << i;
        if (!keeps_indices) lower += k < low, nans += k == key(value(-1));
    }
    filter_counts& counts = a.counts[row];
    if (keeps_indices && !__syncthreads_or(between != 0)) return;
    uint64 total;
    const uint64 before = sum_before(uint64(__popc(between)) << 40 | uint64(nans) << 20 | lower, room, total);
    if (threadIdx.x == 0) {
        const uint64 of_lower = total & 0xfffff, of_nans = total >> 20 & 0xfffff;
        base = total >> 40 ? atomicAdd(&counts.aside, total >> 40) : 0;
        if (of_lower) atomicAdd(&counts.below, of_lower);
        if (of_nans) atomicAdd(&counts.nans, of_nans);
    }
    __syncthreads();
    int64 to = int64(base + (before >> 40));
    #pragma unroll
    for (int i = 0; i < items; ++i) {
        if (!(between >> i & 1) || to >= a.room) continue;
        if (keeps_indices) {
            a.aside[row * a.room + to] = key_of(v[i]);
            a.indices[row * a.room + to] = first + (i / lanes * 256 + int(threadIdx.x)) * lanes + i % lanes;
        } else {
            a.aside[row * a.room + to] = v[i];
        }
        ++to;
    }
}
