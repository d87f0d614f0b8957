// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

struct max_double {
    static __device__ __forceinline__ double join(double a, double b) { return a > b || a != a ? a : b; }
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

/// Joins n values in shared memory; every lane of the warp has the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_slots(const type* slots) {
    constexpr int lanes = n < 32 ? n : 32;
    type v = slots[threadIdx.x % lanes];
#pragma unroll
    for (int i = lanes; i < n; i += lanes) v = fold::join(v, slots[i + threadIdx.x % lanes]);
    return join_lanes<fold, lanes>(v);
}

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

struct arguments {
    const double* x0;
    double* z0;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
rows(const __grid_constant__ arguments p) {
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    double x0[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = u * 256u + threadIdx.x;
        if (u < 2 || at < p.length) {
            const int32 i1 = int32(at);
            x0[u] = __ldg(p.x0 + i0 * p.x0_stride0 + i1);
        }
    }
    double part0[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = u * 256u + threadIdx.x;
        part0[u] = u < 2 || at < p.length ? x0[u] : -__longlong_as_double(0x7ff0000000000000ll);
    }
    double max0 = join_pairs<max_double, 4>(part0);
    max0 = join_lanes<max_double, 32>(max0);
    __shared__ double whole0[8];
    if (threadIdx.x % 32 == 0) {
        whole0[threadIdx.x / 32] = max0;
    }
    __syncthreads();
    max0 = join_slots<max_double, 8>(whole0);
    double kept0[4];
    double part1[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = u * 256u + threadIdx.x;
        const double t0 = x0[u] - max0;
        const double t1 = exp(t0);
        kept0[u] = t1;
        part1[u] = u < 2 || at < p.length ? kept0[u] : 0.0;
    }
    double sum1 = join_pairs<sum_double, 4>(part1);
    sum1 = join_lanes<sum_double, 32>(sum1);
    __shared__ double whole1[8];
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32] = sum1;
    }
    __syncthreads();
    sum1 = join_slots<sum_double, 8>(whole1);
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = u * 256u + threadIdx.x;
        if (!(u < 2 || at < p.length)) continue;
        const int32 i1 = int32(at);
        __stcs(p.z0 + i0 * p.z0_stride0 + i1, kept0[u] / sum1);
    }
}
