// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int8 = signed char;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, store

struct arguments {
    const int8* x0;
    const int8* x1;
    int8* z0;
    uint32 n0;
    int8 s0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i0 = (blockIdx.x * 256u + threadIdx.x) * 16;
    if (i0 >= p.n0) return;
    const int8* const x0_at = p.x0 + i0;
    const int8* const x1_at = p.x1 + i0;
    int8* const z0_at = p.z0 + i0;
    if (p.n0 - i0 >= 16) {
        alignas(16) int8 x0[16];
        load_stream<uint4>(x0, x0_at);
        alignas(16) int8 x1[16];
        load_stream<uint4>(x1, x1_at);
        alignas(16) int8 z0[16];
#pragma unroll
        for (unsigned int e = 0; e < 16; ++e) {
            const int8 t0 = int8(uint32(x0[e]) - uint32(p.s0));
            const bool t1 = t0 > x1[e];
            const int8 t2 = int8(uint32(x0[e]) * uint32(x1[e]));
            const int8 t3 = int8(uint32(x0[e]) + uint32(x1[e]));
            z0[e] = t1 ? t2 : t3;
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(16), p.n0 - i0); ++e) {
        const int8 x0 = x0_at[e];
        const int8 x1 = x1_at[e];
        const int8 t4 = int8(uint32(x0) - uint32(p.s0));
        const bool t5 = t4 > x1;
        const int8 t6 = int8(uint32(x0) * uint32(x1));
        const int8 t7 = int8(uint32(x0) + uint32(x1));
        const int8 z0 = t5 ? t6 : t7;
        z0_at[e] = z0;
    }
}
