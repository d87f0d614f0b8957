// sum(square(x0 - sum(x0) / s0)) / s1
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// stream, stream.2, load_stream, sum_float, join_pairs, from_lane, join_lanes

struct arguments {
    const float* x0;
    float* z0;
    float s0;
    float s1;
    uint32 rows;
    int32 x0_stride0;
    uint32 length;
};

extern "C" __global__ void __launch_bounds__(64)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = threadIdx.x % 4u;
    const uint32 mine = blockIdx.x * 16u + threadIdx.x / 4u;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i0 = int32(row);
    const uint32 shift = reinterpret_cast<uint64>(p.x0 + i0 * p.x0_stride0) / 4 % 8;
    alignas(16) float x0[9][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (lane == shift / 4u || lane == (shift + p.length) / 4u % 4u)) {
#pragma unroll
        for (unsigned int u = 0; u < 9; ++u) {
            const uint32 at = (u * 4u + lane) * 4u - shift;
            if (!(u - 1 < 3 || at + 3 < p.length + 3)) continue;
            if (!(u - 1 < 3 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u - 1 < 3 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    float part0[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + 3 < p.length + 3) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u - 1 < 3 || (at < p.length && at + 4 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part0[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part0[u] = 0.0f;
        }
    }
    float sum0 = sum_float::join(join_pairs<sum_float, 8>(part0), part0[8]);
    sum0 = join_lanes<sum_float, 4>(sum0);
    const float t0 = sum0 / p.s0;
    float part1[9];
#pragma unroll
    for (unsigned int u = 0; u < 9; ++u) {
        const uint32 at = (u * 4u + lane) * 4u - shift;
        if (u - 1 < 3 || at + 3 < p.length + 3) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t1 = x0[u][e] - t0;
                value0[e] = t1 * t1;
            }
            if (!(u - 1 < 3 || (at < p.length && at + 4 <= p.length))) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u - 1 < 3 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part1[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = sum_float::join(join_pairs<sum_float, 8>(part1), part1[8]);
    sum1 = join_lanes<sum_float, 4>(sum1);
    const float t2 = sum1 / p.s1;
    if (mine >= p.rows) return;
    if (lane == 0) {
        __stcs(p.z0 + i0, t2);
    }
}
