// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// stream, stream.2, load_stream, max_or_nan, max_float, join_pairs, from_lane, join_lanes, exp_float, sum_float,
//// rcp_approx, quick_divide_float, bits_of.2, quick_shared_divide_float, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(64)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 32u;
    const uint32 mine = blockIdx.x * 2u + threadIdx.x / 32u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    alignas(16) float x0[4][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = (u * 32u + lane) * 4u;
        if (u < 2 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (p.length % 4u != 0)) {
#pragma unroll
        for (unsigned int u = 0; u < 4; ++u) {
            const uint32 at = (u * 32u + lane) * 4u;
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
    float part0[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = (u * 32u + lane) * 4u;
        if (u < 2 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) value0[e] = -__int_as_float(0x7f800000);
                }
            }
            part0[u] = join_pairs<max_float, 4>(value0);
        } else {
            part0[u] = -__int_as_float(0x7f800000);
        }
    }
    float max0 = join_pairs<max_float, 4>(part0);
    max0 = join_lanes<max_float, 32>(max0);
    float cached0[4][4];
    float part1[4];
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = (u * 32u + lane) * 4u;
        if (u < 2 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[u][e] - max0;
                const float t1 = exp_float(t0);
                cached0[u][e] = t1;
                value0[e] = cached0[u][e];
            }
            if (!(u < 2 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 2 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part1[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = join_pairs<sum_float, 4>(part1);
    sum1 = join_lanes<sum_float, 32>(sum1);
    if (mine >= p.rows) return;
#pragma unroll
    for (unsigned int u = 0; u < 4; ++u) {
        const uint32 at = (u * 32u + lane) * 4u;
        if (!(u < 2 || at < p.length)) break;
        alignas(16) float z0[4];
        bool rare = false;
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[e] = quick_shared_divide_float(cached0[u][e], sum1, rare);
        }
        if (rare) {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                z0[e] = cached0[u][e] / sum1;
            }
        }
        if (u < 2 || at + 4 <= p.length) {
            const int32 i1 = int32(at);
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (u < 2 || at + e < p.length) {
                    const int32 i1 = int32(at + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e]);
                }
            }
        }
    }
}
