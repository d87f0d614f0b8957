// cummax(x0)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;

//// max_int16, scan_lanes

struct arguments {
    const int16* x0;
    int16* z0;
    uint32 rows;
    uint32 scanned;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
scan(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 8u;
    const uint32 own = blockIdx.x * 32u + threadIdx.x / 8u;
    const bool active = own < p.rows;
    const uint32 row = active ? own : p.rows - 1;
    const int32 i0 = int32(row);
    const uint32 first = 0;
    const uint32 mine = first + lane * 1u;
    int16 x0[4][1];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = mine + u * 8u;
        const int32 i1 = int32(at);
        x0[u][0] = at < p.scanned ? __ldg(p.x0 + (i0 * p.x0_stride0 + i1)) : int16(0);
    }
    int16 max0[4][1];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 1; ++e) {
            max0[u][e] = x0[u][e];
        }
    }
    int16 part0[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        part0[u] = max0[u][0];
    }
    const int16 whole0 = scan_lanes<max_int16, 8>(part0, int16(1ull << 15), lane);
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const int16 base_max0 = part0[u];
#pragma unroll
        for (unsigned int e = 0; e < 1; ++e) {
            const int16 all_max0 = max_int16::join(base_max0, max0[u][e]);
            const uint32 at = mine + u * 8u;
            const int32 i1 = int32(at);
            if (active && at < p.scanned) {
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), all_max0);
            }
        }
    }
}
