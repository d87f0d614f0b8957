// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;

//// divisor, moments, share_of, sums_near, squares, moments_of_few

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    float s1;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 begin = blockIdx.x * 512u + threadIdx.x;
    float x0[4][2];
#pragma unroll
    for (unsigned int j = 0; j < 4; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const int32 i1 = int32(vector - outer * p.row_vectors);
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            if (u >= p.folded) break;
            const int32 i2 = int32(u);
            x0[j][u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride3));
        }
    }
#pragma unroll
    for (unsigned int j = 0; j < 4; ++j) {
        const uint32 at = begin + j * 128u, vector = min(at, p.vectors - 1);
        const uint32 outer = quotient(vector, p.by_row);
        const int32 i0 = int32(outer);
        const int32 i1 = int32(vector - outer * p.row_vectors);
        moments<float> squares0 = moments<float>{0, 0, 0, 0};
        float value0[2];
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            value0[u] = u < p.folded ? x0[j][u] : 0.0f;
        }
        squares0 = moments_of_few(value0, p.folded);
        const float t0 = squares::about_share(squares0, p.s0);
        const float r0 = t0 / p.s1;
        if (at < p.vectors) {
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0);
        }
    }
}
