// cumsum(exp(x0))
using int32 = int;
using uint32 = unsigned int;

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

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
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

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 scanned;
    uint32 rows;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(1024, 2)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 first_row = blockIdx.x * 2;
    const uint32 first = 0;
    const uint32 mine = first + warp * 128u + lane * 4u;
    const bool whole = first + 4096 <= p.scanned;
    alignas(16) float x0[2][4];
    if (whole) {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine;
            const int32 i1 = int32(at);
            const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
            const int32 i0 = int32(row);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    } else {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine;
            const int32 i1 = int32(at);
            const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
            const int32 i0 = int32(row);
            if (at + 4 <= p.scanned) {
                load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + e;
                    const int32 i1 = int32(at);
                    const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
                    const int32 i0 = int32(row);
                    x0[u][e] = at < p.scanned ? __ldg(p.x0 + (i0 * p.x0_stride0 + i1)) : 0.0f;
                }
            }
        }
    }
    float sum0[2][4];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[u][e] = exp_float(x0[u][e]);
        }
#pragma unroll
        for (unsigned int e = 1; e < 4; ++e) {
            sum0[u][e] = sum_float::join(sum0[u][e - 1], sum0[u][e]);
        }
    }
    float part0[2];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        part0[u] = sum0[u][3];
    }
    __shared__ float warps[2][32];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        float own[1] = {part0[u]};
        const float all = scan_lanes<sum_float, 32>(own, -0.0f, lane);
        if (lane == 0) warps[u][warp] = all;
        part0[u] = own[0];
    }
    __syncthreads();
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        float ahead[1] = {warps[u][lane]};
        scan_lanes<sum_float, 32>(ahead, -0.0f, lane);
        part0[u] = sum_float::join(__shfl_sync(0xffffffffu, ahead[0], warp), part0[u]);
    }
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const float base_sum0 = part0[u];
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0, sum0[u][e]);
            r0[e] = all_sum0;
        }
        const uint32 at = mine;
        const int32 i1 = int32(at);
        const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
        const int32 i0 = int32(row);
        if (first_row + u < p.rows && (whole || at + 4 <= p.scanned)) {
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + e;
                const int32 i1 = int32(at);
                const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
                const int32 i0 = int32(row);
                if (first_row + u < p.rows && at < p.scanned) {
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                }
            }
        }
    }
}
