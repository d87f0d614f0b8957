// x0 + s0; sum(x1 * x0)
using int32 = int;
using uint32 = unsigned int;

//// load_cached, sum_float, join_pairs, from_lane, join_lanes, join_block

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float* z1;
    float s0;
    uint32 folded;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    const float x0 = __ldg(p.x0 + i0);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        uint32 tiles = 0;
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + threadIdx.x;
        float x1_edge;
        if (threadIdx.x < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x1_edge = __ldg(p.x1 + i1);
        }
        const float* const x1_row = p.x1;
#pragma unroll 1
        for (uint32 v = threadIdx.x; v < vectors; v += 2048u) {
            alignas(16) float x1[8][4];
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= vectors) continue;
                load_cached<uint4>(x1[u], x1_row + v * 4 + u * 1024u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 8; ++u) {
                if (v + u * 256u >= vectors) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x1[u][e] * x0;
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
            if (++tiles % 8 == 0) {
                sum0 = sum_float::join(sum0, part0);
                part0 = 0.0f;
            }
        }
        if (threadIdx.x < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, x1_edge * x0);
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_block<sum_float, 8>(sum0);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, x0 + p.s0);
        __stcs(p.z1, sum0);
    }
}
