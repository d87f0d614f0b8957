// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using uint32 = unsigned int;

/// Returns log2 of the number of threads per row: at most one warp, one thread per group of elements,
/// and no more threads than the block has.
__device__ __forceinline__ unsigned int spread_of(unsigned int rows, unsigned int groups) {
    const int to_spare = min(5, 7 - (32 - __clz(rows - 1)));
    return max(min(to_spare, 31 - __clz(groups)), 0);
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

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

template <class type>
__device__ __forceinline__ void load_runs(type* to, const type* from, unsigned int n, unsigned int gap, divisor run) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const auto padded = [=](unsigned int q) { return q + (unsigned int)(gap * quotient(q, run)); };
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x; q < chunks; q += threads)
        copy16(reinterpret_cast<uint4*>(to) + padded(q), reinterpret_cast<const uint4*>(from) + q);
    for (unsigned int i = chunks * each + threadIdx.x; i < n; i += threads) to[i + (padded(i / each) - i / each) * each] = from[i];
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

/// Returns the value of the lane whose index is this lane's XOR `far`; both share a row.
template <class type>
__device__ __forceinline__ type from_thread(type v, unsigned int far, unsigned int spread) {
    const unsigned int all = (2u << (1u << spread) - 1) - 1;
    return __shfl_xor_sync(all << (threadIdx.x & 31 & ~0u << spread), v, far);
}

/// Combines the values of the threads of a row.
template <class fold, class type>
__device__ __forceinline__ type join_threads(type v, unsigned int spread) {
    for (unsigned int far = 1u << spread >> 1; far > 0; far >>= 1)
        v = fold::join(v, from_thread(v, far, spread));
    return v;
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
__device__ __forceinline__ void store_runs(type* to, const type* from, unsigned int n, unsigned int gap, divisor run, unsigned int begin) {
    constexpr unsigned int each = 16 / sizeof(type), threads = 128;
    const auto padded = [=](unsigned int q) { return q + (unsigned int)(gap * quotient(q, run)); };
    const unsigned int chunks = n / each;
    for (unsigned int q = threadIdx.x + (begin > 0); q < chunks; q += threads)
        __stcs(reinterpret_cast<uint4*>(to) + q, reinterpret_cast<const uint4*>(from)[padded(q)]);
    for (unsigned int i = begin + threadIdx.x; i < min(n, begin > 0 ? each : 0); i += threads) to[i] = from[i + (padded(i / each) - i / each) * each];
    for (unsigned int i = max(chunks * each, begin) + threadIdx.x; i < n; i += threads) to[i] = from[i + (padded(i / each) - i / each) * each];
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 n;
    uint32 runs;
    divisor by_n2;
    divisor by_run4;
};

extern "C" __global__ void __launch_bounds__(128)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    constexpr uint32 side = 2;
    const uint32 height = p.runs * side;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    const uint32 spread = spread_of(height, n / 4);
    const uint32 lane = threadIdx.x & (1u << spread) - 1;
    const uint32 shift4 = first * n % 4, gap4 = side * n % 16 == 0;
    __shared__ alignas(128) float rows0[6437];
    load_runs(rows0, p.x0 + first * n - shift4, rows * n + shift4, gap4, p.by_run4);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x >> spread; mine < rows; mine += 128 >> spread) {
        const uint32 run = mine / side;
        const uint32 at4 = shift4 + run * (side * n + gap4 * 4) + mine - run * side;
        float max0 = -__int_as_float(0x7f800000);
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 4>(value0));
            }
            if (k + (1u << spread) < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 2>(value0));
                k += (2u << spread);
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 1>(value0));
            }
        }
        max0 = join_threads<max_float>(max0, spread);
        float sum1 = 0.0f;
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[4];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const float t0 = x0[e] - max0;
                    const float t1 = exp_float(t0);
                    left0[e] = t1;
                    value0[e] = t1;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 4>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
            }
            if (k + (1u << spread) < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[2];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const float t2 = x0[e] - max0;
                    const float t3 = exp_float(t2);
                    left0[e] = t3;
                    value0[e] = t3;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 2>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
                k += (2u << spread);
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[1];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    const float t4 = x0[e] - max0;
                    const float t5 = exp_float(t4);
                    left0[e] = t5;
                    value0[e] = t5;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 1>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
            }
        }
        sum1 = join_threads<sum_float>(sum1, spread);
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float cached0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[4];
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
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
            }
            if (k + (1u << spread) < n) {
                float cached0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[2];
                bool rare = false;
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
                }
                if (rare) {
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        z0[e] = cached0[e] / sum1;
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
                k += (2u << spread);
            }
            if (k < n) {
                float cached0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[1];
                bool rare = false;
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
                }
                if (rare) {
#pragma unroll
                    for (unsigned int e = 0; e < 1; ++e) {
                        z0[e] = cached0[e] / sum1;
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
            }
        }
    }
    __syncthreads();
    store_runs(p.z0 + first * n - shift4, rows0, rows * n + shift4, gap4, p.by_run4, shift4);
}
