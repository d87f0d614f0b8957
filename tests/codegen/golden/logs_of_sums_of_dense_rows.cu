// log(sum(exp(x0)))
using int32 = int;
using uint32 = unsigned int;

/// Copies global to shared memory, bypassing registers. The copy may still be pending on return.
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :: "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from) : "memory");
}

/// Returns the position of chunk q, skewed so that the chunks of adjacent rows fall into different banks.
__device__ __forceinline__ unsigned int skewed(unsigned int q, unsigned int skew) {
    return q ^ (q >> skew & 7);
}

template <class type>
__device__ __forceinline__ void load_rows(type* to, const type* from, unsigned int n) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
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
    uint32 n;
    uint32 height;
};

extern "C" __global__ void __launch_bounds__(128)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    const uint32 height = p.height;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    __shared__ alignas(128) float rows0[4096];
    load_rows(rows0, p.x0 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 row = first + mine;
        const int32 i0 = int32(row);
        const uint32 at = mine * n;
        float sum0 = 0.0f;
        {
            uint32 k = 0;
            for (; k + 3u < n; k += 4) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at + k + e];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 4>(value0));
            }
            if (k + 1u < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at + k + e];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 2>(value0));
                k += 2u;
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at + k + e];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 1>(value0));
            }
        }
        __stcs(p.z0 + i0, log_float(sum0));
    }
}
