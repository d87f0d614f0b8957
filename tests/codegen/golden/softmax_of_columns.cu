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
    else return fold::join(join_pairs<fold, n / 2>(v), join_pairs<fold, n / 2>(v + n / 2));
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

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(1024)
rows(const __grid_constant__ arguments p) {
    const uint32 lane = threadIdx.x / 32u;
    const uint32 mine = blockIdx.x * 32u + threadIdx.x % 32u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i1 = int32(row);
    float x0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (u < 8 || at < p.length) {
            const int32 i0 = int32(at);
            x0[u] = __ldg(p.x0 + i0 * p.x0_stride0 + i1);
        }
    }
    float part0[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        part0[u] = u < 8 || at < p.length ? x0[u] : -__int_as_float(0x7f800000);
    }
    float max0 = join_pairs<max_float, 16>(part0);
    __shared__ float whole0[1056];
    whole0[lane * 33u + threadIdx.x % 32u] = max0;
    __syncthreads();
    max0 = whole0[threadIdx.x % 32u * 33u + threadIdx.x / 32u];
    max0 = join_lanes<max_float, 32>(max0);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        whole0[threadIdx.x / 32u] = max0;
    }
    __syncthreads();
    max0 = whole0[threadIdx.x % 32u];
    float kept0[16];
    float part1[16];
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        const float t0 = x0[u] - max0;
        const float t1 = exp_float(t0);
        kept0[u] = t1;
        part1[u] = u < 8 || at < p.length ? kept0[u] : 0.0f;
    }
    float sum1 = join_pairs<sum_float, 16>(part1);
    __shared__ float whole1[1056];
    whole1[lane * 33u + threadIdx.x % 32u] = sum1;
    __syncthreads();
    sum1 = whole1[threadIdx.x % 32u * 33u + threadIdx.x / 32u];
    sum1 = join_lanes<sum_float, 32>(sum1);
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32u] = sum1;
    }
    __syncthreads();
    sum1 = whole1[threadIdx.x % 32u];
    if (mine >= p.rows) return;
#pragma unroll
    for (unsigned int u = 0; u < 16; ++u) {
        const uint32 at = u * 32u + lane;
        if (!(u < 8 || at < p.length)) continue;
        const int32 i0 = int32(at);
        __stcs(p.z0 + i0 * p.z0_stride0 + i1, kept0[u] / sum1);
    }
}
