// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

//// divisor

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    divisor by_across;
    uint32 across;
    uint32 n1;
    uint32 n0;
    int32 x0_stride0;
    int32 x1_stride1;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    __shared__ float x1_tile[32][33];
    const unsigned int column = threadIdx.x % 32u, row = threadIdx.x / 32u;
    const uint32 below = quotient(uint32(blockIdx.x), p.by_across);
    const int32 first1 = int32(uint32(blockIdx.x) - below * p.across) * 32;
    const int32 first0 = int32(below) * 32;
    float x0[4] = {};
    {
        const int32 i1 = first1 + int32(column);
        const bool in_column = i1 < int32(p.n1);
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const int32 i0 = first0 + int32(row + e * 8u);
            if (in_column && i0 < int32(p.n0)) {
                x0[e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
            }
        }
    }
    {
        const int32 i0 = first0 + int32(column);
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const int32 i1 = first1 + int32(row + e * 8u);
            if (i0 < int32(p.n0) && i1 < int32(p.n1)) {
                x1_tile[row + e * 8u][column] = __ldg(p.x1 + (i0 + i1 * p.x1_stride1));
            }
        }
    }
    __syncthreads();
    const int32 i1 = first1 + int32(column);
    const bool in_column = i1 < int32(p.n1);
    float z0[4];
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const float t0 = x0[e] - p.s0;
        const bool t1 = t0 > x1_tile[column][row + e * 8u];
        const float t2 = x0[e] * x1_tile[column][row + e * 8u];
        const float t3 = x0[e] + x1_tile[column][row + e * 8u];
        z0[e] = t1 ? t2 : t3;
    }
#pragma unroll
    for (unsigned int e = 0; e < 4; ++e) {
        const int32 i0 = first0 + int32(row + e * 8u);
        if (in_column && i0 < int32(p.n0)) {
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e]);
        }
    }
}
