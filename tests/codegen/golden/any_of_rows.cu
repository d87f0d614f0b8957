// any(x0)
using int32 = int;
using uint32 = unsigned int;

template <class word>
__device__ word stream(const word* from);

template <>
__device__ __forceinline__ double2 stream(const double2* from) {
    double2 w;
    asm volatile("ld.global.nc.L1::no_allocate.v2.f64 {%0, %1}, [%2];" : "=d"(w.x), "=d"(w.y) : "l"(from));
    return w;
}

/// Loads elements that are read only once, without allocating lines in the first-level cache.
template <class word, class type, int n>
__device__ __forceinline__ void load_stream(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = stream(reinterpret_cast<const word*>(from));
}

struct any_bool {
    static __device__ __forceinline__ bool join(bool a, bool b) { return a | b; }
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

#if __CUDA_ARCH__ >= 800
template <>
__device__ __forceinline__ bool join_lanes<any_bool, 32>(bool v) {
    return __any_sync(~0u, v) != 0;
}
#endif

struct arguments {
    const double* x0;
    bool* z0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 8u;
    const uint32 mine = blockIdx.x * 32u + threadIdx.x / 8u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    bool any0 = false;
    {
        bool part0 = false;
        const uint32 vectors = p.folded / 2;
        const uint32 edge = vectors * 2 + lane;
        double x0_edge;
        if (lane < p.folded - vectors * 2) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const double* const x0_row = p.x0 + i0 * p.x0_stride0;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 16u) {
            alignas(16) double x0[2][2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (v + u * 8u >= vectors) continue;
                load_stream<double2>(x0[u], x0_row + v * 2 + u * 16u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (v + u * 8u >= vectors) break;
                bool value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = (x0[u][e]) != 0;
                }
                part0 = any_bool::join(part0, join_pairs<any_bool, 2>(value0));
            }
        }
        if (lane < p.folded - vectors * 2) {
            part0 = any_bool::join(part0, (x0_edge) != 0);
        }
        any0 = any_bool::join(any0, part0);
    }
    any0 = join_lanes<any_bool, 8>(any0);
    if (lane == 0 && mine < p.rows) {
        *(p.z0 + i0) = any0;
    }
}
