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

/// Into shared memory, past registers; the thread may wait for it.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
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

/// A slot holds a value's halves, each beside a sign that it is there, so that they are known to belong
/// together.
template <class type>
__device__ __forceinline__ void tell(uint64* slot, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ bool ask(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return (low & high & 1) != 0;
}

/// What lies before a tile, which itself folds to `own`; tells what others wait for. Lane 0 asks for all that
/// is before its 256, lanes 1 to 15 for the 16s of these, the other lanes for the tiles of its 16.
template <class fold, class type>
__device__ __forceinline__ type before_tile(uint64* slots, uint64 further, uint64 tile, uint32 lane, type own,
                                            type start) {
    const uint32 number = uint32(tile % 256), tiles = number % 16, sixteens = number / 16;
    const uint64 far = lane == 0 ? number + 1 : lane < 16 ? number - 16 * lane + 1 : tiles + 16 - lane;
    uint64* const slot = slots + tile * further;
    const uint64* const asked = slot - far * further;
    const bool asks = lane == 0 ? tile >= 256 : lane < 16 ? lane <= sixteens : lane - 16 < tiles;
    if (lane == 0 && tiles != 15) tell(slot, own);
    type v = start;
    bool told = !asks || ask(asked, v);
    while (lane >= 16 && !told) told = ask(asked, v);
    __syncwarp();
    type near = v;
#pragma unroll
    for (int to = 1; to < 16; to *= 2) near = fold::join(near, __shfl_down_sync(0xffffffffu, near, to));
    near = __shfl_sync(0xffffffffu, near, 16);
    if (lane == 0 && tiles == 15 && sixteens != 15) tell(slot, fold::join(near, own));
    while (!told) told = ask(asked, v);
    __syncwarp();
#pragma unroll
    for (int to = 1; to < 16; to *= 2) v = fold::join(v, __shfl_down_sync(0xffffffffu, v, to));
    const type before = fold::join(__shfl_sync(0xffffffffu, v, 0), near);
    if (lane == 0 && number == 255) tell(slot, fold::join(before, own));
    return before;
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
    uint32* scratch;
    uint32 scanned;
    uint32 tiles;
};

extern "C" __global__ void __launch_bounds__(256, 4)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // for what earlier kernels write
    __shared__ uint32 taken;
    if (threadIdx.x == 0) taken = atomicAdd(p.scratch, 1u);
    __syncthreads();
    const uint32 ticket = taken;
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 tile = ticket;
    const uint32 first = tile * 8192u;
    const uint32 mine = first + warp * 1024u + lane * 4u;
    const bool whole = first + 8192 <= p.scanned;
    extern __shared__ uint4 staged[];
    alignas(16) float x0[2][4];
    float* const x0_staged = reinterpret_cast<float*>(staged);
    alignas(16) float x1[2][4];
    float* const x1_staged = reinterpret_cast<float*>(staged + 1536);
    if (whole) {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine + u * 128u;
            const int32 i0 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + i0);
            load_stream<uint4>(x1[u], p.x1 + i0);
        }
#pragma unroll
        for (unsigned int u = 0; u < 6; ++u) {
            const uint32 at = mine + (u + 2) * 128u;
            const int32 i0 = int32(at);
            copy16(x0_staged + (u * 256u + threadIdx.x) * 4, p.x0 + i0);
            copy16(x1_staged + (u * 256u + threadIdx.x) * 4, p.x1 + i0);
        }
    } else {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine + u * 128u;
            const int32 i0 = int32(at);
            if (at + 4 <= p.scanned) {
                load_stream<uint4>(x0[u], p.x0 + i0);
                load_stream<uint4>(x1[u], p.x1 + i0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + u * 128u + e;
                    const int32 i0 = int32(at);
                    x0[u][e] = at < p.scanned ? __ldg(p.x0 + i0) : 0.0f;
                    x1[u][e] = at < p.scanned ? __ldg(p.x1 + i0) : 0.0f;
                }
            }
        }
#pragma unroll
        for (unsigned int u = 0; u < 6; ++u) {
            const uint32 at = mine + (u + 2) * 128u;
            const int32 i0 = int32(at);
            if (at + 4 <= p.scanned) {
                copy16(x0_staged + (u * 256u + threadIdx.x) * 4, p.x0 + i0);
                copy16(x1_staged + (u * 256u + threadIdx.x) * 4, p.x1 + i0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + (u + 2) * 128u + e;
                    const int32 i0 = int32(at);
                    (x0_staged + (u * 256u + threadIdx.x) * 4)[e] = at < p.scanned ? __ldg(p.x0 + i0) : 0.0f;
                    (x1_staged + (u * 256u + threadIdx.x) * 4)[e] = at < p.scanned ? __ldg(p.x1 + i0) : 0.0f;
                }
            }
        }
    }
    float sum0[2][4];
    float part0[8];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[u][e] = x0[u][e] * x0[u][e];
            if (e > 0) sum0[u][e] = sum_float::join(sum0[u][e - 1], sum0[u][e]);
        }
        part0[u] = sum0[u][3];
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
#pragma unroll
    for (unsigned int u = 0; u < 6; ++u) {
        alignas(16) float x0_now[4];
        reinterpret_cast<uint4&>(x0_now) = *reinterpret_cast<const uint4*>(x0_staged + (u * 256u + threadIdx.x) * 4);
        float sum0_now[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0_now[e] = x0_now[e] * x0_now[e];
            if (e > 0) sum0_now[e] = sum_float::join(sum0_now[e - 1], sum0_now[e]);
        }
        part0[u + 2] = sum0_now[3];
    }
    const float warp_sum0 = scan_lanes<sum_float, 32>(part0, 0.0f, lane);
    __shared__ float warps_sum0[8];
    if (lane == 0) warps_sum0[warp] = warp_sum0;
    __syncthreads();
    float whole0;
    const float ahead_sum0 = scan_warps<sum_float, 8>(warps_sum0, 0.0f, warp, whole0);
    const uint32 all256 = (p.tiles + 255) / 256 * 1, own256 = tile / 256 * 1 + 0;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (all256 + 5) / 4 * 2;
    __shared__ double told_sum0;
    if (warp == 0) {
        const uint64 further = 2;
        uint64* const first_slot = slots;
        const double found_sum0 = before_tile<sum_double>(first_slot, further, tile, lane, double(whole0), 0.0);
        if (lane == 0) told_sum0 = found_sum0;
    }
    __syncthreads();
    unsigned int arrived = 0;  // of these 256 tiles, before this one
    if (threadIdx.x == 255) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own256, 1u);
    }
    const double before_sum0 = told_sum0;
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const float base_sum0 = float(sum_double::join(before_sum0, sum_float::join(ahead_sum0, part0[u])));
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0, sum0[u][e]);
            r0[e] = all_sum0 + x1[u][e];
        }
        const uint32 at = mine + u * 128u;
        const int32 i0 = int32(at);
        if (whole || at + 4 <= p.scanned) {
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
#pragma unroll
    for (unsigned int u = 0; u < 6; ++u) {
        alignas(16) float x0_now[4];
        reinterpret_cast<uint4&>(x0_now) = *reinterpret_cast<const uint4*>(x0_staged + (u * 256u + threadIdx.x) * 4);
        alignas(16) float x1_now[4];
        reinterpret_cast<uint4&>(x1_now) = *reinterpret_cast<const uint4*>(x1_staged + (u * 256u + threadIdx.x) * 4);
        float sum0_now[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0_now[e] = x0_now[e] * x0_now[e];
            if (e > 0) sum0_now[e] = sum_float::join(sum0_now[e - 1], sum0_now[e]);
        }
        const float base_sum0 = float(sum_double::join(before_sum0, sum_float::join(ahead_sum0, part0[u + 2])));
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0, sum0_now[e]);
            r0[e] = all_sum0 + x1_now[e];
        }
        const uint32 at = mine + (u + 2) * 128u;
        const int32 i0 = int32(at);
        if (whole || at + 4 <= p.scanned) {
            store<uint4>(p.z0 + i0, r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + (u + 2) * 128u + e;
                const int32 i0 = int32(at);
                if (at < p.scanned) {
                    __stcs(p.z0 + i0, r0[e]);
                }
            }
        }
    }
    __shared__ bool last;  // nobody reads the slots of these 256 tiles any more
    if (threadIdx.x == 255) last = arrived == min(255u, uint32(p.tiles - 1 - tile / 256 * 256));
    __syncthreads();
    if (!last) return;
    __threadfence();
    const uint32 start = tile / 256 * 256;
    const bool ends = p.tiles - start <= 256;
    const uint32 begin = start == 0 ? 0 : start - 1, end = ends ? p.tiles : start + 255;
    for (uint32 i = threadIdx.x; i < (end - begin) * 2; i += 256)
        slots[begin * 2 + i] = 0;
    if (threadIdx.x != 0) return;
    p.scratch[2 + own256] = 0;
    if (atomicAdd(p.scratch + 1, 1u) == all256 - 1) p.scratch[0] = p.scratch[1] = 0;
}
