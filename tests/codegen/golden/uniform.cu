// g0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// generator_key, philox_words, wide_product, philox, uniform_float, uniform_float.2, store

struct arguments {
    float* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i >= p.n0) return;
    const int32 i0 = int32(i);
    float* const z0_at = p.z0 + i0;
    float g0[4];
#pragma unroll
    for (int e = 0; e < 4; e += 4)
        uniform_float(g0 + e, p.g0_key, uint64(p.g0_first + i0 + e) / 4);
    alignas(16) float z0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        z0[e] = g0[e];
    }
    if (p.n0 - i >= 4) {
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        if (e >= p.n0 - i) break;
        z0_at[e] = z0[e];
    }
}
