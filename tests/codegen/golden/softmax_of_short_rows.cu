// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using uint32 = unsigned int;

/// Returns the shift that skewed() uses for rows of `chunks` chunks; 31 means no skew.
__device__ __forceinline__ unsigned int skew_of(unsigned int chunks, int spread) {
    return chunks % 4 != 0 ? 31 : max(__ffs(chunks) - 1 - spread, 3);
}

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
__device__ __forceinline__ void load_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    unsigned int begin = threadIdx.x;
    for (; begin + 3 * threads < chunks; begin += 4 * threads)
#pragma unroll
        for (unsigned int k = 0; k < 4; ++k) {
            const unsigned int q = begin + k * threads;
            copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
        }
#pragma unroll 1
    for (unsigned int q = begin; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + skewed(q, skew), reinterpret_cast<const uint4*>(from) + q);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
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

__device__ __forceinline__ float exp_float(float a) {
    float h = __fmul_rz(a, 1.44269502f);
    float l = fma(h, 1.90465421e-9f, fma(h, -0.693147182f, a));
    float y = exp2(h);
    return fma(y, fminf(l, 1.0f), y);
}

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
};

__device__ __forceinline__ float rcp_approx(float a) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
}

__device__ __forceinline__ float quick_divide_float(float a, float b, bool& rare) {
    float r = rcp_approx(b);
    r = fma(r, fma(-b, r, 1.0f), r);
    float q = a * r;
    q = fma(fma(-b, q, a), r, q);
    rare |= !(abs(a) >= 7.88860905e-31f);
    rare |= !(abs(q) >= 2.35098870e-38f);
    return q;
}

__device__ __forceinline__ uint32 bits_of(float a) { return __float_as_uint(a); }

__device__ __forceinline__ float quick_shared_divide_float(float a, float b, bool& rare) {
    bool unusual = false;
    const float q = quick_divide_float(a, b, unusual);
    rare |= unusual && (bits_of(a) != 0 || q != 0);
    return q;
}

template <class type>
__device__ __forceinline__ void store_skewed_rows(type* to, const type* from, unsigned int n, unsigned int skew) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[skewed(q, skew)]);
    const unsigned int i = chunks * each + threadIdx.x;
    if (i < n) to[i] = from[i];
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
    const uint32 skew4 = skew_of(n / 4, 0);
    __shared__ alignas(128) float rows0[4096];
    load_skewed_rows(rows0, p.x0 + first * n, rows * n, skew4);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 at = mine * n;
        float max0 = -__int_as_float(0x7f800000);
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[e];
            }
            max0 = max_float::join(max0, join_pairs<max_float, 4>(value0));
        }
        float sum1 = 0.0f;
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            alignas(16) float left0[4];
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[e] - max0;
                const float t1 = exp_float(t0);
                left0[e] = t1;
                value0[e] = t1;
            }
            sum1 = sum_float::join(sum1, join_pairs<sum_float, 4>(value0));
            reinterpret_cast<uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]) = reinterpret_cast<const uint4&>(left0);
        }
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float cached0[4];
            reinterpret_cast<uint4&>(cached0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            alignas(16) float z0[4];
            bool rare = false;
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
            }
            if (rare) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    z0[e] = cached0[e] / sum1;
                }
            }
            reinterpret_cast<uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]) = reinterpret_cast<const uint4&>(z0);
        }
    }
    __syncthreads();
    store_skewed_rows(p.z0 + first * n, rows0, rows * n, skew4);
}
