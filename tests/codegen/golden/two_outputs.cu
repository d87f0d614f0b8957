// astype<float64>(x0) * astype<float64>(x1); astype<int16>(x0)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.3, load_stream, to_int16, store

struct arguments {
    const float* x0;
    const int32* x1;
    double* z0;
    int16* z1;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 2;
    if (i0 >= p.n0) return;
    const float* const x0_at = p.x0 + i0;
    const int32* const x1_at = p.x1 + i0;
    double* const z0_at = p.z0 + i0;
    int16* const z1_at = p.z1 + i0;
    if (p.n0 - i0 >= 2) {
        alignas(8) float x0[2];
        load_stream<uint2>(x0, x0_at);
        alignas(8) int32 x1[2];
        load_stream<uint2>(x1, x1_at);
        alignas(16) double z0[2];
        alignas(4) int16 z1[2];
#pragma unroll
        for (unsigned int e = 0; e < 2; ++e) {
            const double t0 = double(x0[e]);
            const double t1 = double(x1[e]);
            z0[e] = t0 * t1;
            z1[e] = to_int16(x0[e]);
        }
        store<uint4>(z0_at, z0);
        store<unsigned int>(z1_at, z1);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(2), p.n0 - i0); ++e) {
        const float x0 = x0_at[e];
        const int32 x1 = x1_at[e];
        const double t2 = double(x0);
        const double t3 = double(x1);
        const double z0 = t2 * t3;
        const int16 z1 = to_int16(x0);
        z0_at[e] = z0;
        z1_at[e] = z1;
    }
}
