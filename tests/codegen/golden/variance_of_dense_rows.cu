// sum(square(x0 - sum(x0) / s0)) / s1
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

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
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
    float s0;
    float s1;
    uint32 rows;
    int32 x0_stride0;
    uint32 length;
};

extern "C" __global__ void __launch_bounds__(64)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 4u;
    const uint32 mine = blockIdx.x * 16u + threadIdx.x / 4u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    const uint32 shift = reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4 % 8;
    alignas(16) float x0[9][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (lane == shift / 4u || lane == (shift + p.length) / 4u % 4u)) {
#pragma unroll
        for (unsigned int u = 0; u < 9; ++u) {
            const uint32 at = (u * 4u + lane) * 4u - shift;
            if (!(u - 1 < 3 || at + 3 < p.length + 3)) continue;
            if (!(u - 1 < 3 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u - 1 < 3 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    float part0[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + 3 < p.length + 3) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u - 1 < 3 || (at < p.length && at + 4 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part0[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part0[u] = 0.0f;
        }
    }
    float sum0 = sum_float::join(join_pairs<sum_float, 8>(part0), part0[8]);
    sum0 = join_lanes<sum_float, 4>(sum0);
    const float t0 = sum0 / p.s0;
    float part1[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + 3 < p.length + 3) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t1 = x0[u][e] - t0;
                value0[e] = t1 * t1;
            }
            if (!(u - 1 < 3 || (at < p.length && at + 4 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part1[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = sum_float::join(join_pairs<sum_float, 8>(part1), part1[8]);
    sum1 = join_lanes<sum_float, 4>(sum1);
    const float t2 = sum1 / p.s1;
    if (mine >= p.rows) return;
    if (lane == 0) {
        __stcs(p.z0 + i0, t2);
    }
}
