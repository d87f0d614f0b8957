// g0 * x0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// divisor, generator_key, philox_words, wide_product, philox, polar, normal_double, normal_double.2, store

struct arguments {
    const double* x0;
    double* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n1;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    int32 z0_stride0;
    int32 g0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 q = blockIdx.x * 256u + threadIdx.x;
    if (q >= p.vectors) return;
    const uint32 row = quotient(q, p.by_row);
    const uint32 i = (q - row * p.row_vectors) * 2;
    const int32 i1 = int32(i);
    const int32 i0 = int32(row);
    const double x0 = __ldg(p.x0 + i0);
    double* const z0_at = p.z0 + (i0 * p.z0_stride0 + i1);
    if (p.n1 - i >= 2) {
        double g0[2];
#pragma unroll
        for (int e = 0; e < 2; ++e) {
            g0[e] = normal_double(p.g0_key, p.g0_first + (i0 * p.g0_stride0 + i1) + e);
        }
        alignas(16) double z0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            z0[e] = g0[e] * x0;
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n1 - i); ++e) {
        const double g0 = normal_double(p.g0_key, p.g0_first + (i0 * p.g0_stride0 + i1) + e);
        const double z0 = g0 * x0;
        z0_at[e] = z0;
    }
}
