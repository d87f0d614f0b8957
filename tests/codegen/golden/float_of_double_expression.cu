// astype<float64>(exp(x0) + x1)
using uint32 = unsigned int;

//// stream, stream.3, load_stream, exp_float, store

struct arguments {
    const float* x0;
    const float* x1;
    double* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 2;
    if (i0 >= p.n0) return;
    const float* const x0_at = p.x0 + i0;
    const float* const x1_at = p.x1 + i0;
    double* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 2) {
        alignas(8) float x0[2];
        load_stream<uint2>(x0, x0_at);
        alignas(8) float x1[2];
        load_stream<uint2>(x1, x1_at);
        alignas(16) double z0[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            const float t0 = exp_float(x0[e]);
            const float t1 = t0 + x1[e];
            z0[e] = double(t1);
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n0 - i0); ++e) {
        const float x0 = x0_at[e];
        const float x1 = x1_at[e];
        const float t2 = exp_float(x0);
        const float t3 = t2 + x1;
        const double z0 = double(t3);
        z0_at[e] = z0;
    }
}
