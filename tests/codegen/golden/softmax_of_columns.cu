// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

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

/// Joins halves with each other: the error of a sum grows with the logarithm of n.
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n - n / 2>(v), join_pairs<fold, n / 2>(v + n - n / 2));
}

/// What the lane `far` away has.
template <class type>
__device__ __forceinline__ type from_lane(type v, int far) {
    return __shfl_xor_sync(0xffffffffu, v, far);
}

/// Joins over a group of neighbouring lanes; each of them has the result.
template <class fold, int lanes, class type>
__device__ __forceinline__ type join_lanes(type v) {
#pragma unroll
    for (int far = lanes / 2; far > 0; far >>= 1) v = fold::join(v, from_lane(v, far));
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

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // for what earlier kernels write
    const uint32 lane = threadIdx.x / 16u;
    const uint32 mine = blockIdx.x * 16u + threadIdx.x % 16u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i1 = int32(row);
    float x0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (!(u < 8 || at < p.length)) break;
        const int32 i0 = int32(at);
        x0[u] = __ldg(p.x0 + i0 * p.x0_stride0 + i1);
    }
    float part0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (u < 8 || at < p.length) {
            part0[u] = x0[u];
        } else {
            part0[u] = -__int_as_float(0x7f800000);
        }
    }
    float max0 = join_pairs<max_float, 16>(part0);
    __shared__ float whole0[544];
    whole0[lane * 17u + threadIdx.x % 16u] = max0;
    __syncthreads();
    max0 = whole0[threadIdx.x % 32u * 17u + threadIdx.x / 32u];
    max0 = join_lanes<max_float, 32>(max0);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        whole0[threadIdx.x / 32u] = max0;
    }
    __syncthreads();
    max0 = whole0[threadIdx.x % 16u];
    float kept0[16];
    float part1[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (u < 8 || at < p.length) {
            const float t0 = x0[u] - max0;
            const float t1 = exp_float(t0);
            kept0[u] = t1;
            part1[u] = kept0[u];
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = join_pairs<sum_float, 16>(part1);
    __shared__ float whole1[544];
    whole1[lane * 17u + threadIdx.x % 16u] = sum1;
    __syncthreads();
    sum1 = whole1[threadIdx.x % 32u * 17u + threadIdx.x / 32u];
    sum1 = join_lanes<sum_float, 32>(sum1);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32u] = sum1;
    }
    __syncthreads();
    sum1 = whole1[threadIdx.x % 16u];
    if (mine >= p.rows) return;
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (!(u < 8 || at < p.length)) break;
        float z0;
        bool rare = false;
        z0 = quick_divide_float(kept0[u], sum1, rare);
        if (rare) {
            z0 = kept0[u] / sum1;
        }
        const int32 i0 = int32(at);
        __stcs(p.z0 + i0 * p.z0_stride0 + i1, z0);
    }
}
