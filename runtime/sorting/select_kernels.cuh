// The kernels of select.cpp, which says how they select, and prints before them: what key_order.hpp makes for a dtype
// (the types `value` and `key`, and into_order), `largest`, and sum_before.cuh. The structs are laid out as there and in
// sampled_filter.hpp. A digit has 11 bits, a tile 2048 elements, a block 256 threads.

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
