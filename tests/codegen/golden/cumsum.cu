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

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

/// Exclusive scan over a group of lanes: v[0] of all lanes comes first, then v[1] of all lanes, and so on.
/// Returns the total of the group.
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
        v[u] = lane == 0 ? so_far : u == 0 ? left : fold::join(so_far, left);
        so_far = u == 0 ? all : fold::join(so_far, all);
    }
    return so_far;
}

/// Returns the prefix of all warps before this one; `all` receives the total of the block.
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

/// A slot stores the two halves of a value, each next to a flag bit, so that a reader can check that both
/// halves are present.
template <class type>
__device__ __forceinline__ void publish(uint64* slot, type v) {
    uint64 bits = 0;
    reinterpret_cast<type&>(bits) = v;
    const uint64 low = bits << 32 | 1, high = (bits >> 32) << 32 | 1;
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(low), "l"(high) : "memory");
}

template <class type>
__device__ __forceinline__ bool poll(const uint64* slot, type& v) {
    uint64 low, high;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    const uint64 bits = low >> 32 | (high >> 32) << 32;
    v = reinterpret_cast<const type&>(bits);
    return (low & high & 1) != 0;
}

/// Polls the slots of n columns; returns whether all of them are published.
template <class type, int n>
__device__ __forceinline__ bool poll_all(uint64* const (&slots)[n], uint64 back, type (&v)[n]) {
    bool ready = true;
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (slots[e] != nullptr) ready = poll(slots[e] - back, v[e]) && ready;
    return ready;
}

/// Decoupled look-back for n columns: `own` holds the tile's totals and receives the prefix of all earlier
/// tiles. The warp also publishes the tile's status for later tiles. A null slot marks a missing column.
/// Each lane polls one earlier tile of the run; the last lane polls the prefix that ends the previous run.
template <class fold, int words, class type, int n>
__device__ __forceinline__ void before_tile(uint64* const (&slots)[n], uint64 all, uint64 tile, type (&own)[n],
                                            type start) {
    const uint32 lane = threadIdx.x % 32u, number = uint32(tile % 64u);
    type v[2][n], near[n];
    uint64 back[2];
    bool ready[2];
#pragma unroll
    for (int e = 0; e < n; ++e)
        if (lane == e && slots[e] != nullptr && number != 64u - 1) publish(slots[e], own[e]);
#pragma unroll
    for (uint32 i = 0; i < 2; ++i) {
        const bool of_run = i * 32 + lane != 64u - 1;
        back[i] = words * (of_run ? uint64(number - i * 32 - lane) : number + 1 + (all - 1) * 64u);
#pragma unroll
        for (int e = 0; e < n; ++e) v[i][e] = start;
        ready[i] = of_run ? i * 32 + lane >= number : tile < 64u;
    }
    bool waits;
    do {
        waits = false;
#pragma unroll
        for (uint32 i = 0; i < 2; ++i)
            if (!ready[i]) ready[i] = poll_all(slots, back[i], v[i]);
#pragma unroll
        for (uint32 i = 0; i < 2; ++i) waits = waits || (i * 32 + lane != 64u - 1 && !ready[i]);
    } while (waits);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        near[e] = start;
#pragma unroll
        for (uint32 i = 0; i < 2; ++i) {
            type here = i * 32 + lane == 64u - 1 ? start : v[i][e];
#pragma unroll
            for (int to = 1; to < 32; to *= 2)
                here = fold::join(here, __shfl_down_sync(0xffffffffu, here, to));
            near[e] = i == 0 ? here : fold::join(near[e], here);
        }
    }
    while (!ready[2 - 1]) ready[2 - 1] = poll_all(slots, back[2 - 1], v[2 - 1]);
    __syncwarp();
#pragma unroll
    for (int e = 0; e < n; ++e) {
        const type before = fold::join(__shfl_sync(0xffffffffu, v[2 - 1][e], 31),
                                       __shfl_sync(0xffffffffu, near[e], 0));
        if (lane == e && slots[e] != nullptr && number == 64u - 1) publish(slots[e], fold::join(before, own[e]));
        own[e] = before;
    }
}

/// Clears a slot of a run that all its tiles have read. The next run, if any, still reads the last slot, so
/// the last slot of the previous run is cleared instead; the run that `ends` the scan clears both.
template <int words>
__device__ __forceinline__ void clear_slot(uint64* slots, uint64 all, uint64 run, uint64 column, uint32 number, bool ends) {
    uint64* const slot = slots + ((run * all + column) * 64u + number) * words;
    for (int i = 0; i < words; ++i) {
        if (number != 64u - 1 || ends) slot[i] = 0;
        if (number == 64u - 1 && run > 0) (slot - all * 64u * words)[i] = 0;
    }
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Stores elements that are not read soon; the caches evict them first.
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
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
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
#pragma unroll 1
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
    const float warp_sum0 = scan_lanes<sum_float, 32>(part0, -0.0f, lane);
    __shared__ float warps_sum0[8];
    if (lane == 0) warps_sum0[warp] = warp_sum0;
    __syncthreads();
    float whole0;
    const float ahead_sum0 = scan_warps<sum_float, 8>(warps_sum0, -0.0f, warp, whole0);
    const uint32 runs = (p.tiles + 63) / 64 * 1, own_run = tile / 64 * 1 + 0;
    uint64* const slots = reinterpret_cast<uint64*>(p.scratch) + (runs + 5) / 4 * 2;
    __shared__ double prefix_sum0;
    if (warp == 0) {
        const uint64 all = 1;
        uint64* const slot = slots + ((tile / 64 * all + 0) * 64 + tile % 64) * 2;
        uint64* const slot_sum0[1] = {slot};
        double found_sum0[1] = {double(whole0)};
        before_tile<sum_double, 2>(slot_sum0, all, tile, found_sum0, -0.0);
        if (lane == 0) prefix_sum0 = found_sum0[0];
    }
    __syncthreads();
    unsigned int arrived = 0;  // tiles of this run that have arrived before this tile
    if (threadIdx.x == 255) {
        __threadfence();
        arrived = atomicAdd(p.scratch + 2 + own_run, 1u);
    }
    const double before_sum0 = prefix_sum0;
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
    __shared__ bool last;  // whether every other tile of the run has read its slots
    if (threadIdx.x == 255) last = arrived == min(63u, uint32(p.tiles - 1 - tile / 64 * 64));
    __syncthreads();
    if (!last) return;
    __threadfence();
    const uint32 run = tile / 64;
    const bool ends = p.tiles - run * 64 <= 64;
    for (uint32 i = threadIdx.x; i < 64; i += 256)
        clear_slot<2>(slots, 1, run, 0, i, ends);
    if (threadIdx.x != 0) return;
    p.scratch[2 + own_run] = 0;
    if (atomicAdd(p.scratch + 1, 1u) == runs - 1) p.scratch[0] = p.scratch[1] = 0;
}
