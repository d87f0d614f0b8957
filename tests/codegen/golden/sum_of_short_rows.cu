// log(sum(exp(x0)))
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

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
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

__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

__device__ __forceinline__ float from_bits(uint32 a) { return __uint_as_float(a); }

__device__ __forceinline__ float log2_approx(float a) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float log_float(float a) {
    uint32 e = (bits_of(a) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(a) - e) - 1.0f;
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = float(int32(e)) * 8.26295832e-8f + p;
    float q = fma(log2_approx(a * 16777216.0f), 0.693147182f, -16.6355324f);
    return bits_of(a) - 0x00800000u < 0x7f000000u ? p : q;
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
    const uint32 lane = threadIdx.x % 8u;
    const uint32 mine = blockIdx.x * 32u + threadIdx.x / 8u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4) % 4));
        const uint32 vectors = (p.folded - head) / 4;
        const uint32 edge = lane < head ? lane : lane + vectors * 4;
        float x0_edge;
        if (lane < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 8u) {
            alignas(16) float x0[1][4];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 4);
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = exp_float(x0[u][e]);
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
        }
        if (lane < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, exp_float(x0_edge));
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_lanes<sum_float, 8>(sum0);
    if (lane == 0 && mine < p.rows) {
        __stcs(p.z0 + i0, log_float(sum0));
    }
}
