// sum(x0); sum(x0 * x0)
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, sum_float, join_pairs, from_lane, join_lanes, join_block

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    float sum1 = 0.0f;
    {
        float part0 = 0.0f;
        float part1 = 0.0f;
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + threadIdx.x;
        float x0_edge;
        if (threadIdx.x < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0;
#pragma unroll 1
        for (uint32 v = threadIdx.x; v < vectors; v += 1024u) {
            alignas(16) float x0[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 128u >= vectors) continue;
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 512u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 128u >= vectors) break;
                float value0[4];
                float value1[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                    value1[e] = x0[u][e] * x0[u][e];
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
                part1 = sum_float::join(part1, join_pairs<sum_float, 4>(value1));
            }
        }
        if (threadIdx.x < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, x0_edge);
            part1 = sum_float::join(part1, x0_edge * x0_edge);
        }
        sum0 = sum_float::join(sum0, part0);
        sum1 = sum_float::join(sum1, part1);
    }
    sum0 = join_block<sum_float, 4>(sum0);
    sum1 = join_block<sum_float, 4>(sum1);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, sum0);
        __stcs(p.z1 + i0, sum1);
    }
}
