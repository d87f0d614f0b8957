// x0 + x1
using uint32 = unsigned int;

//// load_own, stream, stream.2, load_stream, store

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i0 >= p.n0) return;
    const float* const x0_at = p.x0 + i0;
    const float* const x1_at = p.x1 + i0;
    float* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 4) {
        alignas(16) float x0[4];
        load_own<uint4>(x0, x0_at);
        alignas(16) float x1[4];
        load_stream<uint4>(x1, x1_at);
        alignas(16) float z0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e] = x0[e] + x1[e];
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(4), p.n0 - i0); ++e) {
        const float x0 = x0_at[e];
        const float x1 = x1_at[e];
        const float z0 = x0 + x1;
        z0_at[e] = z0;
    }
}
