// cumsum(exp(x0))
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, exp_float, sum_float, scan_lanes, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 scanned;
    uint32 rows;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(1024, 2)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 32u, warp = threadIdx.x / 32u;
    const uint32 first_row = blockIdx.x * 2;
    const uint32 first = 0;
    const uint32 mine = first + warp * 128u + lane * 4u;
    const bool whole = first + 4096 <= p.scanned;
    alignas(16) float x0[2][4];
    if (whole) {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine;
            const int32 i1 = int32(at);
            const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
            const int32 i0 = int32(row);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    } else {
#pragma unroll
        for (unsigned int u = 0; u < 2; ++u) {
            const uint32 at = mine;
            const int32 i1 = int32(at);
            const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
            const int32 i0 = int32(row);
            if (at + 4 <= p.scanned) {
                load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
            } else {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 at = mine + e;
                    const int32 i1 = int32(at);
                    const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
                    const int32 i0 = int32(row);
                    x0[u][e] = at < p.scanned ? __ldg(p.x0 + (i0 * p.x0_stride0 + i1)) : 0.0f;
                }
            }
        }
    }
    float sum0[2][4];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            sum0[u][e] = exp_float(x0[u][e]);
        }
#pragma unroll
        for (unsigned int e = 1; e < 4; ++e) {
            sum0[u][e] = sum_float::join(sum0[u][e - 1], sum0[u][e]);
        }
    }
    float part0[2];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        part0[u] = sum0[u][3];
    }
    __shared__ float warps[2][32];
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        float own[1] = {part0[u]};
        const float all = scan_lanes<sum_float, 32>(own, -0.0f, lane);
        if (lane == 0) warps[u][warp] = all;
        part0[u] = own[0];
    }
    __syncthreads();
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        float ahead[1] = {warps[u][lane]};
        scan_lanes<sum_float, 32>(ahead, -0.0f, lane);
        part0[u] = sum_float::join(__shfl_sync(0xffffffffu, ahead[0], warp), part0[u]);
    }
#pragma unroll
    for (unsigned int u = 0; u < 2; ++u) {
        const float base_sum0 = part0[u];
        alignas(16) float r0[4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float all_sum0 = sum_float::join(base_sum0, sum0[u][e]);
            r0[e] = all_sum0;
        }
        const uint32 at = mine;
        const int32 i1 = int32(at);
        const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
        const int32 i0 = int32(row);
        if (first_row + u < p.rows && (whole || at + 4 <= p.scanned)) {
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), r0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const uint32 at = mine + e;
                const int32 i1 = int32(at);
                const uint32 row = first_row + u < p.rows ? first_row + u : first_row;
                const int32 i0 = int32(row);
                if (first_row + u < p.rows && at < p.scanned) {
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), r0[e]);
                }
            }
        }
    }
}
