// cumsum(x0 * x0) + x1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ uint4 stream(const uint4* from) {
    uint4 w;
    asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w) : "l"(from));
    return w;
}

/// Elements that nobody reads again: past the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Makes of each v what lies before it in a group of lanes, v[0] of all lanes coming first; returns what all of
/// the group fold to.
template <class fold, int lanes, class type, int n>
__device__ __forceinline__ type scan_lanes(type (&v)[n], type start, unsigned int lane) {
#pragma unroll
    for (unsigned int far = 1; far < lanes; far *= 2)
#pragma unroll
        for (int u = 0; u < n; ++u) {
            const type left = __shfl_up_sync(0xffffffffu, v[u], far, lanes);
            if (lane >= far) v[u] = fold::join(left, v[u]);
        }
    type so_far = start;
#pragma unroll
    for (int u = 0; u < n; ++u) {
        const type all = __shfl_sync(0xffffffffu, v[u], lanes - 1, lanes);
        const type left = __shfl_up_sync(0xffffffffu, v[u], 1, lanes);
        v[u] = lane == 0 ? so_far : fold::join(so_far, left);
        so_far = fold::join(so_far, all);
    }
    return so_far;
}

/// What lies before a warp; `all`: what the block folds to.
template <class fold, int warps, class type>
__device__ __forceinline__ type scan_warps(const type* parts, type start, unsigned int warp, type& all) {
    type before = start;
    all = start;
#pragma unroll
    for (unsigned int w = 0; w < warps; ++w) {
        if (w == warp) before = all;
        all = fold::join(all, parts[w]);
    }
    return before;
}

/// What a tile has told: what it folds to, or all up to its end. A value's halves each have the state
/// beside them, so that they are known to belong together.
enum state : uint32 { nothing_told, part_told, all_told };

template <class type>
__device__ __forceinline__ void tell(uint64* slot, state what, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | what, high = (bits >> 32) << 32 | what;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ state ask(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return uint32(low) == uint32(high) ? state(uint32(low)) : nothing_told;
}

/// All that lies before a tile: lane i asks the tile i + 1 before it, until one of them has told all and those
/// after it their parts.
template <class fold, class type>
__device__ __forceinline__ type look_back(const uint64* slot, uint64 further, uint64 tile, uint32 lane,
                                          type start) {
    for (;;) {
        type v = start;
        const state what = lane < tile ? ask(slot - (lane + 1) * further, v) : all_told;
        const uint32 told = __ballot_sync(0xffffffffu, what != nothing_told);
        const uint32 all = __ballot_sync(0xffffffffu, what == all_told);
        const int nearest = __ffs(all) - 1;
        if (nearest < 0 || (~told & ((1u << nearest) - 1)) != 0) continue;
        type so_far = __shfl_sync(0xffffffffu, v, nearest);
        for (int i = nearest - 1; i >= 0; --i)
            so_far = fold::join(so_far, __shfl_sync(0xffffffffu, v, i));
        return so_far;
    }
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Elements that are not read soon: first out of the caches.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    uint32 scanned;
};

extern "C" __global__ void __launch_bounds__(512, 2)
scan(const __grid_constant__ arguments p) {
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(reinterpret_cast<uint32*>(p.scratch), 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 tile = ticket;
    double before_sum0 = 0.0;
    const uint32 first = tile * 8192u;
    const uint32 mine = first + warp * 512u + lane * 4u;
    const bool whole = first + 8192 <= p.scanned;
    alignas(16) float x0[4][4];
    alignas(16) float x1[4][4];
    if (whole) {
#pragma unroll
        for (unsigned int u = 0; u < 4; ++u) {
            const uint32 at = mine + u * 128u;
            const int32 i0 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + i0);
            load_stream<uint4>(x1[u], p.x1 + i0);
        }
    } else {
#pragma unroll
        for (unsigned int u = 0; u < 4; ++u) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + u * 128u + e;
                const int32 i0 = int32(at);
                x0[u][e] = at < p.scanned ? __ldg(p.x0 + i0) : 0.0f;
                x1[u][e] = at < p.scanned ? __ldg(p.x1 + i0) : 0.0f;
            }
        }
    }
    float sum0[4][4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[u][e] = x0[u][e] * x0[u][e];
        }
#pragma unroll
        for (unsigned int e = 1; e < 4; ++e) {
            sum0[u][e] = sum_float::join(sum0[u][e - 1], sum0[u][e]);
        }
    }
    float part0[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        part0[u] = sum0[u][3];
    }
    const float warp_sum0 = scan_lanes<sum_float, 32>(part0, 0.0f, lane);
    __shared__ float warps_sum0[16];
    if (lane == 0) warps_sum0[warp] = warp_sum0;
    __syncthreads();
    float whole0;
    const float ahead_sum0 = scan_warps<sum_float, 16>(warps_sum0, 0.0f, warp, whole0);
    __shared__ double told_sum0;
    if (warp == 0) {
        uint64* const slot = p.scratch + 2 + uint64(ticket) * 2;
        if (lane == 0) tell(slot, tile == 0 ? all_told : part_told, double(whole0));
        if (tile != 0) before_sum0 = look_back<sum_double>(slot, 2, tile, lane, 0.0);
        if (lane == 0 && tile != 0) tell(slot, all_told, sum_double::join(before_sum0, double(whole0)));
        if (lane == 0) told_sum0 = before_sum0;
    }
    __syncthreads();
    before_sum0 = told_sum0;
    __shared__ bool last;  // of all blocks: nobody looks back any more
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(reinterpret_cast<uint32*>(p.scratch + 1), 1u) == gridDim.x - 1;
        __threadfence();
    }
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const float base_sum0 = float(sum_double::join(before_sum0, sum_float::join(ahead_sum0, part0[u])));
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0, sum0[u][e]);
            r0[e] = all_sum0 + x1[u][e];
        }
        if (whole) {
            const uint32 at = mine + u * 128u;
            const int32 i0 = int32(at);
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + u * 128u + e;
                const int32 i0 = int32(at);
                if (at < p.scanned) {
                    __stcs(p.z0 + i0, r0[e]);
                }
            }
        }
    }
    __syncthreads();
    if (last)
        for (uint64 i = threadIdx.x; i < uint64(gridDim.x) * 2 + 2; i += 512) p.scratch[i] = 0;
}
