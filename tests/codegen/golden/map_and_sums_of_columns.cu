// sqrt(x0); sum(x0)
using int32 = int;
using uint32 = unsigned int;

struct sum_float {
    static __device__ __forceinline__ float join(float a, float b) { return a + b; }
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

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(1024)
rows(const __grid_constant__ arguments p) {
    const uint32 lane = threadIdx.x / 8u;
    const uint32 mine = blockIdx.x * 8u + threadIdx.x % 8u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i1 = int32(row);
    float x0[32];
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * 128u + lane;
        if (u < 16 || at < p.length) {
            const int32 i0 = int32(at);
            x0[u] = __ldg(p.x0 + i0 * p.x0_stride0 + i1);
        }
    }
    float part0[32];
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * 128u + lane;
        part0[u] = u < 16 || at < p.length ? x0[u] : 0.0f;
    }
    float sum0 = join_pairs<sum_float, 32>(part0);
    __shared__ float whole0[1152];
    whole0[lane * 9u + threadIdx.x % 8u] = sum0;
    __syncthreads();
    if (threadIdx.x < 256) {
        sum0 = whole0[threadIdx.x % 32u * 9u + threadIdx.x / 32u];
        sum0 = sum_float::join(sum0, whole0[threadIdx.x % 32u * 9u + threadIdx.x / 32u + 288u]);
        sum0 = sum_float::join(sum0, whole0[threadIdx.x % 32u * 9u + threadIdx.x / 32u + 576u]);
        sum0 = sum_float::join(sum0, whole0[threadIdx.x % 32u * 9u + threadIdx.x / 32u + 864u]);
        sum0 = join_lanes<sum_float, 32>(sum0);
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            whole0[threadIdx.x / 32u] = sum0;
        }
    }
    __syncthreads();
    sum0 = whole0[threadIdx.x % 8u];
    if (mine >= p.rows) return;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * 128u + lane;
        if (!(u < 16 || at < p.length)) continue;
        const int32 i0 = int32(at);
        __stcs(p.z0 + i0 * p.z0_stride0 + i1, sqrt(x0[u]));
    }
    if (lane == 0) {
        __stcs(p.z1 + i1, sum0);
    }
}
