// floor_divide(x0, x1) + remainder(x0, x1)
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, floor_divide_int32, remainder_int32, store

struct arguments {
    const int32* x0;
    const int32* x1;
    int32* z0;
    uint32 n0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i0 >= p.n0) return;
    const int32* const x0_at = p.x0 + i0;
    const int32* const x1_at = p.x1 + i0;
    int32* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 4) {
        alignas(16) int32 x0[4];
        load_stream<uint4>(x0, x0_at);
        alignas(16) int32 x1[4];
        load_stream<uint4>(x1, x1_at);
        alignas(16) int32 z0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const int32 t0 = floor_divide_int32(x0[e], x1[e]);
            const int32 t1 = remainder_int32(x0[e], x1[e]);
            z0[e] = int32(uint32(t0) + uint32(t1));
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(4), p.n0 - i0); ++e) {
        const int32 x0 = x0_at[e];
        const int32 x1 = x1_at[e];
        const int32 t2 = floor_divide_int32(x0, x1);
        const int32 t3 = remainder_int32(x0, x1);
        const int32 z0 = int32(uint32(t2) + uint32(t3));
        z0_at[e] = z0;
    }
}
