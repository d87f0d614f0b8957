// log(sum(exp(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// stream, stream.2, load_stream, exp_float, sum_float, join_pairs, from_lane, join_lanes, bits_of.2, from_bits.2,
//// log2_approx, log_float

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
    const uint32 lane = threadIdx.x % 8u;
    const uint32 mine = blockIdx.x * 32u + threadIdx.x / 8u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    float sum0 = 0.0f;
    {
        float part0 = 0.0f;
        const uint32 head = min(p.folded, uint32(-(reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4) % 4));
        const uint32 vectors = (p.folded - head) / 4;
        const uint32 edge = lane < head ? lane : lane + vectors * 4;
        float x0_edge;
        if (lane < p.folded - vectors * 4) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + head;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 8u) {
            alignas(16) float x0[1][4];
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                load_stream<uint4>(x0[u], x0_row + v * 4);
            }
#pragma unroll
            for (unsigned int u = 0; u < 1; ++u) {
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = exp_float(x0[u][e]);
                }
                part0 = sum_float::join(part0, join_pairs<sum_float, 4>(value0));
            }
        }
        if (lane < p.folded - vectors * 4) {
            part0 = sum_float::join(part0, exp_float(x0_edge));
        }
        sum0 = sum_float::join(sum0, part0);
    }
    sum0 = join_lanes<sum_float, 8>(sum0);
    if (lane == 0 && mine < p.rows) {
        __stcs(p.z0 + i0, log_float(sum0));
    }
}
