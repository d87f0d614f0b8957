// any(x0)
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.4, load_stream, any_bool, join_pairs, from_lane, join_lanes, join_lanes.2

struct arguments {
    const double* x0;
    bool* z0;
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
    bool any0 = false;
    {
        bool part0 = false;
        const uint32 vectors = p.folded / 2;
        const uint32 edge = vectors * 2 + lane;
        double x0_edge;
        if (lane < p.folded - vectors * 2) {
            const int32 i1 = int32(edge);
            x0_edge = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
        const double* const x0_row = p.x0 + i0 * p.x0_stride0;
#pragma unroll 1
        for (uint32 v = lane; v < vectors; v += 16u) {
            alignas(16) double x0[2][2];
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (v + u * 8u >= vectors) continue;
                load_stream<double2>(x0[u], x0_row + v * 2 + u * 16u);
            }
#pragma unroll
            for (unsigned int u = 0; u < 2; ++u) {
                if (v + u * 8u >= vectors) break;
                bool value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = (x0[u][e]) != 0;
                }
                part0 = any_bool::join(part0, join_pairs<any_bool, 2>(value0));
            }
        }
        if (lane < p.folded - vectors * 2) {
            part0 = any_bool::join(part0, (x0_edge) != 0);
        }
        any0 = any_bool::join(any0, part0);
    }
    any0 = join_lanes<any_bool, 8>(any0);
    if (lane == 0 && mine < p.rows) {
        *(p.z0 + i0) = any0;
    }
}
