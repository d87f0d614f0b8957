// min(x0 / cummax(x0) - s0)
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, max_or_nan, max_float, scan_lanes, scan_block, rcp_approx, quick_divide_float,
//// min_or_nan, min_float, join_pairs, from_lane, join_lanes, join_slots

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    uint32 length;
    uint32 rows;
    int32 x0_stride0;
};

extern "C" __global__ void __launch_bounds__(256, 4)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 row = blockIdx.x;
    const int32 i0 = int32(row);
    alignas(16) float x0[3][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (p.length % 4u != 0)) {
#pragma unroll
        for (unsigned int u = 0; u < 3; ++u) {
            const uint32 at = (u * 256u + threadIdx.x) * 4u;
            if (!(u < 2 || at < p.length)) break;
            if (!(u < 2 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u < 2 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    float max0[3][4];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at < p.length) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                max0[u][e] = x0[u][e];
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) max0[u][e] = -__int_as_float(0x7f800000);
                }
            }
#pragma unroll
            for (unsigned int e = 1; e < 4; ++e) {
                max0[u][e] = max_float::join(max0[u][e - 1], max0[u][e]);
            }
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                max0[u][e] = -__int_as_float(0x7f800000);
            }
        }
    }
    float before_max0[3];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        before_max0[u] = max0[u][3];
    }
    __shared__ float parts_max0[24];
    scan_block<max_float, 8>(before_max0, -__int_as_float(0x7f800000), parts_max0);
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            max0[u][e] = max_float::join(before_max0[u], max0[u][e]);
        }
    }
    float part1[3];
#pragma unroll
    for (unsigned int u = 0; u < 3; ++u) {
        const uint32 at = (u * 256u + threadIdx.x) * 4u;
        if (u < 2 || at < p.length) {
            float value0[4];
            bool rare = false;
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = quick_divide_float(x0[u][e], max0[u][e], rare);
                value0[e] = t0 - p.s0;
            }
            if (rare) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const float t1 = x0[u][e] / max0[u][e];
                    value0[e] = t1 - p.s0;
                }
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) value0[e] = __int_as_float(0x7f800000);
                }
            }
            part1[u] = join_pairs<min_float, 4>(value0);
        } else {
            part1[u] = __int_as_float(0x7f800000);
        }
    }
    float min1 = join_pairs<min_float, 3>(part1);
    min1 = join_lanes<min_float, 32>(min1);
    __shared__ float whole1[8];
    if (threadIdx.x % 32 == 0) {
        whole1[threadIdx.x / 32] = min1;
    }
    __syncthreads();
    min1 = join_slots<min_float, 8>(whole1);
    if (threadIdx.x == 0) {
        __stcs(p.z0 + i0, min1);
    }
}
