// sum((x0 - x1) * reciprocal(sum(square(x2 - x3)) + s0))
using int32 = int;
using uint32 = unsigned int;

//// sum_float, sum_double, from_lane, join_lanes

struct arguments {
    const float* x1;
    const float* x0;
    const float* x2;
    const float* x3;
    float* z0;
    float s0;
    uint32 results;
    int32 x1_stride0;
    uint32 n3;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 result = (blockIdx.x * 256u + threadIdx.x) / 32;
    const uint32 q = min(result, p.results - 1);
    const int32 i0 = int32(q);
    float row1[3];
#pragma unroll
    for (int32 i1 = 0; i1 < 3; ++i1) {
        row1[i1] = __ldg(p.x1 + (i0 * p.x1_stride0 + i1));
    }
    double sum12[3];
#pragma unroll
    for (int32 i1 = 0; i1 < 3; ++i1) {
        sum12[i1] = 0.0;
    }
    for (int32 from = threadIdx.x % 32; from < int32(p.n3); from += 2048) {
        float part12[3];
#pragma unroll
        for (int32 i1 = 0; i1 < 3; ++i1) {
            part12[i1] = 0.0f;
        }
        const int32 to = int32(p.n3) - from < 2048 ? int32(p.n3) : from + 2048;
        for (int32 i3 = from; i3 < to; i3 += 32) {
            float row0[3];
#pragma unroll
            for (int32 i1 = 0; i1 < 3; ++i1) {
                row0[i1] = __ldg(p.x0 + (i1 + i3 * p.x0_stride3));
            }
            float sum7 = 0.0f;
#pragma unroll
            for (int32 i2 = 0; i2 < 3; ++i2) {
                const float t0 = row0[i2] - row1[i2];
                sum7 = sum_float::join(sum7, t0 * t0);
            }
            const float t1 = sum7 + p.s0;
            const float t2 = float(1) / t1;
#pragma unroll
            for (int32 i1 = 0; i1 < 3; ++i1) {
                const float t3 = row0[i1] - row1[i1];
                part12[i1] = sum_float::join(part12[i1], t3 * t2);
            }
        }
#pragma unroll
        for (int32 i1 = 0; i1 < 3; ++i1) {
            sum12[i1] = sum_double::join(sum12[i1], part12[i1]);
        }
    }
#pragma unroll
    for (int32 i1 = 0; i1 < 3; ++i1) {
        sum12[i1] = join_lanes<sum_double, 32>(sum12[i1]);
    }
    if (result < p.results && threadIdx.x % 32 == 0) {
#pragma unroll
        for (int32 i1 = 0; i1 < 3; ++i1) {
            const float z0 = float(sum12[i1]);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        }
    }
}
