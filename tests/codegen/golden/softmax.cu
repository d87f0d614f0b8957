// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
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

/// Combines n values in shared memory; every lane of the warp gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_slots(const type* slots) {
    constexpr int lanes = n < 32 ? n : 32;
    type v = slots[threadIdx.x % lanes];
#pragma unroll
    for (int i = lanes; i < n; i += lanes) v = fold::join(v, slots[i + threadIdx.x % lanes]);
    return join_lanes<fold, lanes>(v);
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

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 length;
    uint32 rows;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    alignas(16) float x0[2][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const uint32 at = (u * 512u + threadIdx.x) * 4u;
        if (u < 1 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (p.length % 4u != 0)) {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = (u * 512u + threadIdx.x) * 4u;
            if (!(u < 1 || at < p.length)) break;
            if (!(u < 1 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u < 1 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    float part0[2];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const uint32 at = (u * 512u + threadIdx.x) * 4u;
        if (u < 1 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u < 1 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 1 || at + e < p.length)) value0[e] = -__int_as_float(0x7f800000);
                }
            }
            part0[u] = join_pairs<max_float, 4>(value0);
        } else {
            part0[u] = -__int_as_float(0x7f800000);
        }
    }
    float max0 = join_pairs<max_float, 2>(part0);
    max0 = join_lanes<max_float, 32>(max0);
    __shared__ float whole0[16];
    if (threadIdx.x % 32 == 0) {
        whole0[threadIdx.x / 32] = max0;
    }
    __syncthreads();
    max0 = join_slots<max_float, 16>(whole0);
    float cached0[2][4];
    float part1[2];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const uint32 at = (u * 512u + threadIdx.x) * 4u;
        if (u < 1 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[u][e] - max0;
                const float t1 = exp_float(t0);
                cached0[u][e] = t1;
                value0[e] = cached0[u][e];
            }
            if (!(u < 1 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 1 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part1[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = join_pairs<sum_float, 2>(part1);
    sum1 = join_lanes<sum_float, 32>(sum1);
    __shared__ float whole1[16];
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32] = sum1;
    }
    __syncthreads();
    sum1 = join_slots<sum_float, 16>(whole1);
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const uint32 at = (u * 512u + threadIdx.x) * 4u;
        if (!(u < 1 || at < p.length)) break;
        alignas(16) float z0[4];
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e] = quick_shared_divide_float(cached0[u][e], sum1, rare);
        }
        if (rare) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                z0[e] = cached0[u][e] / sum1;
            }
        }
        if (u < 1 || at + 4 <= p.length) {
            const int32 i1 = int32(at);
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (u < 1 || at + e < p.length) {
                    const int32 i1 = int32(at + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e]);
                }
            }
        }
    }
}
