// max(x0)
using int32 = int;
using uint32 = unsigned int;

/// Division by multiplication: n / d is the high word of 2 n * multiplier, shifted.
struct divisor { uint32 multiplier, shift; };
__device__ __forceinline__ uint32 quotient(uint32 n, divisor d) {
    return __umulhi(n << 1, d.multiplier) >> d.shift;
}

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

/// Stores elements that are not read soon; the caches evict them first.
template <class word, class type, int n>
__device__ __forceinline__ void store(type* to, const type (&from)[n]) {
    __stcs(reinterpret_cast<word*>(to), reinterpret_cast<const word&>(from));
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 width;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 begin = blockIdx.x * 128u + threadIdx.x;
    alignas(16) float x0[1][8][4];
#pragma unroll
    for (unsigned int j = 0; j < 1; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const uint32 column = (vector - outer * p.row_vectors) * 4, columns = min(uint32(4), p.width - column);
        if (columns == 4) {
            const int32 i1 = int32(column);
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (u >= p.folded) break;
                const int32 i2 = int32(u);
                load_stream<uint4>(x0[j][u], p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
            }
        } else {
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (u >= p.folded) break;
                const int32 i2 = int32(u);
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (e >= columns) break;
                    const int32 i1 = int32(column + e);
                    x0[j][u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
                }
            }
        }
    }
#pragma unroll
    for (unsigned int j = 0; j < 1; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const uint32 column = (vector - outer * p.row_vectors) * 4, columns = min(uint32(4), p.width - column);
        float max0[4] = {-__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000), -__int_as_float(0x7f800000)};
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            if (e >= columns) break;
            const int32 i1 = int32(column + e);
            float value0[8];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                value0[u] = u < p.folded ? x0[j][u][e] : -__int_as_float(0x7f800000);
            }
            max0[e] = join_pairs<max_float, 8>(value0);
        }
        if (at < p.vectors) {
            alignas(16) float r0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (e >= columns) break;
                const int32 i1 = int32(column + e);
                r0[e] = max0[e];
            }
            if (columns == 4) {
                const int32 i1 = int32(column);
                store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (e >= columns) break;
                    const int32 i1 = int32(column + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                }
            }
        }
    }
}
