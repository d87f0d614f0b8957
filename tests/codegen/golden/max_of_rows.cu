// max(x0)
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, max_or_nan, max_float, join_pairs, from_lane, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 32u;
    const uint32 mine = blockIdx.x * 8u + threadIdx.x / 32u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    float max0 = -__int_as_float(0x7f800000);
    {
        float part0 = -__int_as_float(0x7f800000);
        const uint32 vectors = p.folded / 4;
        const uint32 edge = vectors * 4 + lane;
        float x0_edge;
        if (lane < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 128u) {
            alignas(16) float x0[4][4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (v + u * 32u >= vectors) continue;
                load_stream<uint4>(x0[u], x0_row + v * 4 + u * 128u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                if (v + u * 32u >= vectors) break;
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[u][e];
                }
                part0 = max_float::join(part0, join_pairs<max_float, 4>(value0));
            }
        }
        if (lane < p.folded - vectors * 4) {
            part0 = max_float::join(part0, x0_edge);
        }
        max0 = max_float::join(max0, part0);
    }
    max0 = join_lanes<max_float, 32>(max0);
    if (lane == 0 && mine < p.rows) {
        __stcs(p.z0 + i0, max0);
    }
}
