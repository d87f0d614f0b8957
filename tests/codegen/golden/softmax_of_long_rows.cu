// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// expect, cluster_arrive, stream, stream.2, load_stream, prefetch, cluster_wait, max_or_nan, max_float, join_pairs,
//// from_lane, join_lanes, send, wait_for, join_slots, exp_float, sum_float, rcp_approx, quick_divide_float, bits_of.2,
//// quick_shared_divide_float, store

struct arguments {
    const float* x0;
    float* z0;
    uint32 length;
    uint32 rows;
    int32 x0_stride0;
    uint32 resident;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = blockIdx.x % 4u * 512u + threadIdx.x;
    const uint32 row = blockIdx.x / 4u;
    const int32 i0 = int32(row);
    __shared__ uint64 arrived[2];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 64 * sizeof(float));
        expect(&arrived[1], 64 * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    alignas(16) float x0[8][4];
    const uint32 slack = row > 0 && row + 1 < p.rows ? 3 : 0, reach = p.length - 3 + 2 * slack;
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        const uint32 at = (u * 2048u + lane) * 4u;
        if (u < 4 || at + slack < reach) {
            const int32 i1 = int32(at);
            load_stream<uint4>(x0[u], p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    if (slack == 0 && (p.length % 4u != 0)) {
#pragma unroll
        for (unsigned int u = 0; u < 8; ++u) {
            const uint32 at = (u * 2048u + lane) * 4u;
            if (!(u < 4 || at < p.length)) break;
            if (!(u < 4 || at + slack < reach)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const uint32 own = u < 4 || at + e < p.length ? at + e : 0;
                    const int32 i1 = int32(own);
                    x0[u][e] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    if (const uint32 next = row + p.resident / 12; next < p.rows) {
        const int32 i0 = int32(next);
        for (uint32 at = lane * 32; at < p.length; at += 65536) {
            const int32 i1 = int32(at);
            prefetch(p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    cluster_wait();
    float part0[8];
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        const uint32 at = (u * 2048u + lane) * 4u;
        if (u < 4 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[u][e];
            }
            if (!(u < 4 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 4 || at + e < p.length)) value0[e] = -__int_as_float(0x7f800000);
                }
            }
            part0[u] = join_pairs<max_float, 4>(value0);
        } else {
            part0[u] = -__int_as_float(0x7f800000);
        }
    }
    float max0 = join_pairs<max_float, 8>(part0);
    max0 = join_lanes<max_float, 32>(max0);
    __shared__ float whole0[64];
    if (threadIdx.x % 32 < 4) {
        send(&whole0[lane / 32], max0, &arrived[0], threadIdx.x % 32);
    }
    wait_for(&arrived[0]);
    max0 = join_slots<max_float, 64>(whole0);
    float cached0[8][4];
    float part1[8];
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        const uint32 at = (u * 2048u + lane) * 4u;
        if (u < 4 || at < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[u][e] - max0;
                const float t1 = exp_float(t0);
                cached0[u][e] = t1;
                value0[e] = cached0[u][e];
            }
            if (!(u < 4 || at + 4 <= p.length)) {
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    if (!(u < 4 || at + e < p.length)) value0[e] = 0.0f;
                }
            }
            part1[u] = join_pairs<sum_float, 4>(value0);
        } else {
            part1[u] = 0.0f;
        }
    }
    float sum1 = join_pairs<sum_float, 8>(part1);
    sum1 = join_lanes<sum_float, 32>(sum1);
    __shared__ float whole1[64];
    if (threadIdx.x % 32 < 4) {
        send(&whole1[lane / 32], sum1, &arrived[1], threadIdx.x % 32);
    }
    wait_for(&arrived[1]);
    sum1 = join_slots<sum_float, 64>(whole1);
#pragma unroll
    for (unsigned int u = 0; u < 8; ++u) {
        const uint32 at = (u * 2048u + lane) * 4u;
        if (!(u < 4 || at < p.length)) break;
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
        if (u < 4 || at + 4 <= p.length) {
            const int32 i1 = int32(at);
            store<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        } else {
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                if (u < 4 || at + e < p.length) {
                    const int32 i1 = int32(at + e);
                    __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0[e]);
                }
            }
        }
    }
}
