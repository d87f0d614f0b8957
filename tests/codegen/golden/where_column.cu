// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

//// divisor, stream, stream.2, load_stream, store

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    uint32 n1;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 q = blockIdx.x * 256u + threadIdx.x;
    if (q >= p.vectors) return;
    const uint32 row = quotient(q, p.by_row);
    const uint32 i = (q - row * p.row_vectors) * 4;
    const int32 i1 = int32(i);
    const int32 i0 = int32(row);
    const float* const x0_at = p.x0 + (i0 * p.x0_stride0 + i1);
    const float x1 = __ldg(p.x1 + i0);
    float* const z0_at = p.z0 + (i0 * p.z0_stride0 + i1);
    if (p.n1 - i >= 4) {
        alignas(16) float x0[4];
        load_stream<uint4>(x0, x0_at);
        alignas(16) float z0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float t0 = x0[e] - p.s0;
            const bool t1 = t0 > x1;
            const float t2 = x0[e] * x1;
            const float t3 = x0[e] + x1;
            z0[e] = t1 ? t2 : t3;
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(4), p.n1 - i); ++e) {
        const float x0 = x0_at[e];
        const float t4 = x0 - p.s0;
        const bool t5 = t4 > x1;
        const float t6 = x0 * x1;
        const float t7 = x0 + x1;
        const float z0 = t5 ? t6 : t7;
        z0_at[e] = z0;
    }
}
