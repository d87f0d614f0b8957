// sum(x0)
using int32 = int;
using uint32 = unsigned int;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
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

/// Combines one value per thread of the block; every thread gets the result.
template <class fold, int n, class type>
__device__ __forceinline__ type join_block(type v) {
    __shared__ type warps[n];
    v = join_lanes<fold, 32>(v);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
    __syncthreads();
    v = join_lanes<fold, n>(warps[threadIdx.x % n]);
    __syncthreads();  // the next reduction overwrites the same shared memory
    return v;
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 folded;
    divisor by_n2;
    uint32 n2;
    int32 x0_stride0;
    int32 x0_stride1;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        uint32 k = threadIdx.x;
        for (; k < p.folded; k += 2048u) {
            float x0[16] = {};
            const bool whole = k + 15 * 128u < p.folded;
            if (whole) {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    const uint32 q2 = quotient(k + u * 128u, p.by_n2);
                    const int32 i2 = int32(k + u * 128u - q2 * p.n2);
                    const int32 i1 = int32(q2);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            } else {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    if (k + u * 128u >= p.folded) break;
                    const uint32 q2 = quotient(k + u * 128u, p.by_n2);
                    const int32 i2 = int32(k + u * 128u - q2 * p.n2);
                    const int32 i1 = int32(q2);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            }
            float value0[16];
#pragma unroll
            for (unsigned int u = 0; u < 16; ++u) {
                value0[u] = x0[u];
            }
            if (!whole) {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    if (k + u * 128u >= p.folded) value0[u] = 0.0f;
                }
            }
            part0 = sum_float::join(part0, join_pairs<sum_float, 16>(value0));
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_block<sum_float, 4>(sum0);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, sum0);
    }
}
