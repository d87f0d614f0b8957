// The kernels of compaction.cpp, which prints before them: the types int64, `value`, `arguments` and `values`, the
// `group` of elements that it has; is_kept, reads_words and kept_by_words, which decide; and reads_groups, group_at and
// element_at, which give what is written. A tile has 8192 elements, and a block 256 threads: each warp has 1024
// elements of it.

/// A warp has 1024 elements of a tile, 32 at a time: lane r holds as bits which of the r-th 32 are kept.
__device__ unsigned kept(const arguments& a, int64 first) {
    if (reads_words(a, first)) return kept_by_words(a, first);
    const int lane = threadIdx.x % 32;
    unsigned mine = 0;
    #pragma unroll 8
    for (int r = 0; r < 32; ++r) {
        const int64 i = first + r * 32 + lane;
        const unsigned bits = __ballot_sync(0xffffffffu, i < a.length && is_kept(a, i));
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
/// The sums up to each lane.
template <class T>
__device__ T scan_of_warp(T n) {
    #pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const T lower = __shfl_up_sync(0xffffffffu, n, d);
        if (threadIdx.x % 32 >= d) n += lower;
    }
    return n;
}
__device__ int64 first_of_warp() { return int64(blockIdx.x) * 8192 + threadIdx.x / 32 * 1024; }

extern "C" __global__ void __launch_bounds__(256) count_kept(const __grid_constant__ arguments a) {
    __shared__ int counts[8];
    const unsigned mine = kept(a, first_of_warp());
    a.bits[int64(blockIdx.x) * 256 + threadIdx.x] = mine;
    const int count = sum_of_warp(__popc(mine));
    if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = count;
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64 sum = 0;
    for (int w = 0; w < 8; ++w) sum += counts[w];
    a.starts[blockIdx.x] = sum;
}

/// One block: each tile's count becomes the sum of those before it, the one behind the last that of all.
extern "C" __global__ void __launch_bounds__(1024) sum_counts(const __grid_constant__ arguments a) {
    __shared__ int64 sums[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int64 before = 0;
    for (int64 begin = 0; begin < a.tiles; begin += 8192) {
        int64 own[8], sum = 0;
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int64 i = begin + threadIdx.x * 8 + k;
            own[k] = i < a.tiles ? a.starts[i] : 0;
            sum += own[k];
        }
        const int64 upto = scan_of_warp(sum);
        __syncthreads();
        if (lane == 31) sums[warp] = upto;
        __syncthreads();
        const int64 of_warps = scan_of_warp(sums[lane]);
        int64 at = before + upto - sum + __shfl_sync(0xffffffffu, of_warps, (warp + 31) % 32) * (warp != 0);
        before += __shfl_sync(0xffffffffu, of_warps, 31);
        #pragma unroll
        for (int k = 0; k < 8; ++k) {
            const int64 i = begin + threadIdx.x * 8 + k;
            if (i < a.tiles) a.starts[i] = at;
            at += own[k];
        }
    }
    if (threadIdx.x == 0) a.starts[a.tiles] = before;
}

/// A warp loads eight groups of each lane's, puts what is kept side by side in shared memory, as far behind a whole 16
/// bytes as it will be in the result, and writes that by 16 bytes.
constexpr int rounds = 8, part = 32 * group * rounds, per_store = 16 / sizeof(value);
struct alignas(16) stored { value v[per_store]; };

extern "C" __global__ void __launch_bounds__(256) write_kept(const __grid_constant__ arguments a) {
    __shared__ stored room[8][part / per_store + 1];
    __shared__ int counts[8];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int64 first = first_of_warp();
    const unsigned mine = a.bits[int64(blockIdx.x) * 256 + threadIdx.x];
    int64 to = a.starts[blockIdx.x];
    const int upto = scan_of_warp(__popc(mine)), before = upto - __popc(mine);
    if (lane == 31) counts[warp] = upto;
    __syncthreads();
    #pragma unroll
    for (int w = 0; w < 7; ++w) to += w < warp ? counts[w] : 0;
    const bool whole = reads_groups(a, first);
    value* const staged = room[warp][0].v;
    #pragma unroll 1
    for (int begin = 0; begin < 1024; begin += part) {
        const int skip = __shfl_sync(0xffffffffu, before, begin / 32);
        const int end = __shfl_sync(0xffffffffu, upto, (begin + part) / 32 - 1) - skip;
        const int shift = int(to % per_store);
        unsigned bits[rounds];
        int at[rounds];
        #pragma unroll
        for (int r = 0; r < rounds; ++r) {
            const int i = begin + (r * 32 + lane) * group;
            const unsigned word = __shfl_sync(0xffffffffu, mine, i / 32);
            at[r] = __shfl_sync(0xffffffffu, before, i / 32) - skip + shift + __popc(word & (1u << i % 32) - 1);
            bits[r] = word >> i % 32 & (1u << group) - 1;
        }
        const int64 own = first + begin + lane * group;
        if (whole) {
            values taken[rounds];
            #pragma unroll
            for (int r = 0; r < rounds; ++r)
                if (bits[r] != 0) taken[r] = group_at(a, own + r * 32 * group);
            #pragma unroll
            for (int r = 0; r < rounds; ++r)
                #pragma unroll
                for (int k = 0; k < group; ++k)
                    if (bits[r] >> k & 1) staged[at[r]++] = taken[r].v[k];
        } else {
            #pragma unroll
            for (int r = 0; r < rounds; ++r) {
                value taken[group];
                #pragma unroll
                for (int k = 0; k < group; ++k)
                    if (bits[r] >> k & 1) taken[k] = element_at(a, own + r * 32 * group + k);
                #pragma unroll
                for (int k = 0; k < group; ++k)
                    if (bits[r] >> k & 1) staged[at[r]++] = taken[k];
            }
        }
        __syncwarp();
        value* const out = a.to + (to - shift);
        for (int i = lane * per_store; i < shift + end; i += 32 * per_store) {
            if (i >= shift && i + per_store <= shift + end) {
                *(stored*)(out + i) = room[warp][i / per_store];
            } else {
                for (int k = max(i, shift); k < min(i + per_store, shift + end); ++k) out[k] = staged[k];
            }
        }
        __syncwarp();
        to += end;
    }
}
