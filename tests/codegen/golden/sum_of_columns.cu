// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

struct sum_double {
    static __device__ __forceinline__ double join(double a, double b) { return a + b; }
};

/// Joins halves with each other: the error of a sum grows with the logarithm of n.
template <class fold, int n, class type>
__device__ __forceinline__ type join_pairs(const type* v) {
    if constexpr (n == 1) return v[0];
    else return fold::join(join_pairs<fold, n / 2>(v), join_pairs<fold, n / 2>(v + n / 2));
}

/// A slot of the scratch: written by one block, read and cleared by the one that finishes.
template <class type>
__device__ __forceinline__ void put(uint64* slot, type v) {
    *reinterpret_cast<type*>(slot) = v;
}

template <class type>
__device__ __forceinline__ type take(uint64* slot) {
    const uint64 word = __ldcg(slot);
    *slot = 0;
    return reinterpret_cast<const type&>(word);
}

struct arguments {
    const double* x0;
    double* z0;
    uint64* scratch;
    uint32 rows;
    uint32 folded;
    int32 x0_stride1;
};

extern "C" __global__ void __launch_bounds__(256, 4)
reduce(const __grid_constant__ arguments p) {
    const uint32 mine = blockIdx.x * 256u + threadIdx.x;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    double sum0 = 0.0;
    {
        double part0 = 0.0;
        uint32 tiles = 0;
        for (uint32 k = blockIdx.y * 8u; k + 8 <= p.folded; k += gridDim.y * 8u) {
            double x0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                const uint32 at = k + u;
                const int32 i1 = int32(at);
                x0[u] = __ldg(p.x0 + i0 + i1 * p.x0_stride1);
            }
            double value0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                value0[u] = x0[u];
            }
            part0 = sum_double::join(part0, join_pairs<sum_double, 8>(value0));
            if (++tiles % 64 == 0) {
                sum0 = sum_double::join(sum0, part0);
                part0 = 0.0;
            }
        }
        for (uint32 k = blockIdx.y != 0 ? p.folded : p.folded - p.folded % 8; k < p.folded; k += 1) {
            const int32 i1 = int32(k);
            const double x0 = __ldg(p.x0 + i0 + i1 * p.x0_stride1);
            part0 = sum_double::join(part0, x0);
        }
        sum0 = sum_double::join(sum0, part0);
    }
    uint64* const slots = p.scratch + p.rows + row;
    const uint64 stride = uint64(p.rows) * 1;
    if (mine < p.rows) {
        put(slots + blockIdx.y * stride, sum0);
        __threadfence();
    }
    __shared__ bool last;
    __syncthreads();
    uint32* const arrived = reinterpret_cast<uint32*>(p.scratch + blockIdx.x);
    if (threadIdx.x == 0) last = atomicAdd(arrived, 1u) == gridDim.y - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    if (threadIdx.x == 0) *arrived = 0;
    double whole0 = 0.0;
    if (mine < p.rows) for (uint32 s = 0; s < gridDim.y; s += 1u) whole0 = sum_double::join(whole0, take<double>(slots + s * stride));
    sum0 = whole0;
    if (mine < p.rows) {
        __stcs(p.z0 + i0, sum0);
    }
}
