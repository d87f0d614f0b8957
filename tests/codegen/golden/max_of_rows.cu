// max(x0)
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

struct max_float {
    static __device__ __forceinline__ float join(float a, float b) {
#if __CUDA_ARCH__ >= 800
        float m;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(m) : "f"(a), "f"(b));
        return m;
#else
        return a > b || a != a ? a : b;
#endif
    }
};

/// Combines n values as a balanced tree, so that the rounding error of a sum grows with log(n).
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

/// Returns the value of the lane whose index is this lane's XOR `far`.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

/// Combines the values of a group of adjacent lanes; every lane gets the result.
template <class fold, int lanes, class type>
__device__ __forceinline__ type join_lanes(type v) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));
    return v;
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 32u;
    const uint32 mine = blockIdx.x * 8u + threadIdx.x / 32u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    float max0 = -__int_as_float(0x7f800000);
    {
        float part0 = -__int_as_float(0x7f800000);
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + lane;
        float x0_edge;
        if (lane < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 128u) {
            alignas(16) float x0[4][4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (v + u * 32u >= vectors) continue;
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 128u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (v + u * 32u >= vectors) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = max_float::join(part0, join_pairs<max_float, 4>(value0));
            }
        }
        if (lane < p.folded - vectors * 4) {
            part0 = max_float::join(part0, x0_edge);
        }
        max0 = max_float::join(max0, part0);
    }
    max0 = join_lanes<max_float, 32>(max0);
    if (lane == 0 && mine < p.rows) {
        __stcs(p.z0 + i0, max0);
    }
}
