// x0 + s0; sum(x1 * x0)
using int32 = int;
using uint32 = unsigned int;

/// Loads elements that other threads also read.
template <class word, class type, int n>
__device__ __forceinline__ void load_cached(type (&to)[n], const type* from) {
    reinterpret_cast<word&>(to) = __ldg(reinterpret_cast<const word*>(from));
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
    const float* x1;
    float* z0;
    float* z1;
    float s0;
    uint32 folded;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    const float x0 = __ldg(p.x0 + i0);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        uint32 tiles = 0;
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + threadIdx.x;
        float x1_edge;
        if (threadIdx.x < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x1_edge = __ldg(p.x1 + i1);
        }
        const float* const x1_row = p.x1;
#pragma unroll 1
        for (uint32 v = threadIdx.x; v < vectors; v += 2048u) {
            alignas(16) float x1[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= vectors) continue;
                load_cached<uint4>(x1[u], x1_row + v * 4 + u * 1024u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= vectors) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x1[u][e] * x0;
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
            }
        }
        if (threadIdx.x < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, x1_edge * x0);
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_block<sum_float, 8>(sum0);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, x0 + p.s0);
        __stcs(p.z1, sum0);
    }
}
