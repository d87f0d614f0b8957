// sum(x0)
using int32 = int;
using uint32 = unsigned int;

//// divisor, sum_float, join_pairs, from_lane, join_lanes, join_block

struct arguments {
    const float* x0;
    float* z0;
    uint32 folded;
    divisor by_n2;
    uint32 n2;
    int32 x0_stride0;
    int32 x0_stride1;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        uint32 k = threadIdx.x;
        for (; k < p.folded; k += 2048u) {
            float x0[16] = {};
            const bool whole = k + 15 * 128u < p.folded;
            if (whole) {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    const uint32 q2 = quotient(k + u * 128u, p.by_n2);
                    const int32 i2 = int32(k + u * 128u - q2 * p.n2);
                    const int32 i1 = int32(q2);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            } else {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    if (k + u * 128u >= p.folded) break;
                    const uint32 q2 = quotient(k + u * 128u, p.by_n2);
                    const int32 i2 = int32(k + u * 128u - q2 * p.n2);
                    const int32 i1 = int32(q2);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            }
            float value0[16];
#pragma unroll
            for (unsigned int u = 0; u < 16; ++u) {
                value0[u] = x0[u];
            }
            if (!whole) {
#pragma unroll
                for (unsigned int u = 0; u < 16; ++u) {
                    if (k + u * 128u >= p.folded) value0[u] = 0.0f;
                }
            }
            part0 = sum_float::join(part0, join_pairs<sum_float, 16>(value0));
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_block<sum_float, 4>(sum0);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, sum0);
    }
}
