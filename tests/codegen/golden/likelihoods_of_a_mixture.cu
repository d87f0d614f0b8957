// log(sum(exp(square(x0 - x1) * x2)))
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, load_row.2, exp_float, sum_float, bits_of.2, from_bits.2, log2_approx, log_float,
//// store

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 n0;
    uint32 n1;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 i = (blockIdx.x * 256u + threadIdx.x) * 4;
    if (i >= p.n0) return;
    const int32 i0 = int32(i);
    const float* const x0_at = p.x0 + i0;
    float* const z0_at = p.z0 + i0;
    if (p.n0 - i >= 4) {
        alignas(16) float x0[4];
        load_stream<uint4>(x0, x0_at);
        alignas(16) float row1[16];
        load_row<uint4>(row1, p.x1);
        alignas(16) float row4[16];
        load_row<uint4>(row4, p.x2);
        float sum7[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum7[e] = 0.0f;
        }
#pragma unroll
        for (int32 i1 = 0; i1 < 16; ++i1) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[e] - row1[i1];
                const float t1 = t0 * t0;
                const float t2 = t1 * row4[i1];
                sum7[e] = sum_float::join(sum7[e], exp_float(t2));
            }
        }
        alignas(16) float z0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e] = log_float(sum7[e]);
        }
        store<uint4>(z0_at, z0);
        return;
    }
#pragma unroll 1
    for (unsigned int e = 0; e < min(uint32(4), p.n0 - i); ++e) {
        const float x0 = x0_at[e];
        float sum7 = 0.0f;
        for (int32 i1 = 0; i1 < int32(p.n1); ++i1) {
            const float v3 = __ldg(p.x1 + i1);
            const float t4 = x0 - v3;
            const float t5 = t4 * t4;
            const float v6 = __ldg(p.x2 + i1);
            const float t7 = t5 * v6;
            sum7 = sum_float::join(sum7, exp_float(t7));
        }
        const float z0 = log_float(sum7);
        z0_at[e] = z0;
    }
}
