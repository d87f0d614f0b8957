// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// expect, cluster_arrive, copy4, prefetch, cluster_wait, max_or_nan, max_float, join_pairs, from_lane, join_lanes,
//// send, wait_for, join_slots, exp_float, sum_float, rcp_approx, quick_divide_float, bits_of.2,
//// quick_shared_divide_float

struct arguments {
    const float* x0;
    float* z0;
    int32 x0_stride0;
    uint32 length;
    uint32 resident;
    uint32 rows;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 lane = blockIdx.x % 16u * 512u + threadIdx.x;
    const uint32 row = blockIdx.x / 16u;
    const int32 i0 = int32(row);
    __shared__ uint64 arrived[2];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 256 * sizeof(float));
        expect(&arrived[1], 256 * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    float x0[32];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
#pragma unroll
        for (unsigned int u = first; u < first + 4; ++u) {
            const uint32 at = u * 8192u + lane;
            const int32 i1 = int32(at);
            x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    extern __shared__ uint4 shared_values[];
    float* const x0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    float* const cached0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    uint32 more = 0;  // number of chunks of this lane in shared memory
#pragma unroll 8
    for (uint32 at = 32u * 8192u + lane; at < p.length; at += 8192u) {
        const int32 i1 = int32(at);
        copy4(&x0_more[more * 512u], p.x0 + (i0 * p.x0_stride0 + i1));
        ++more;
    }
#pragma unroll 1
    for (uint32 v = more; v % 8 != 0; ++v) {
        x0_more[v * 512u] = float();
    }
    if (const uint32 next = row + p.resident / 48; next < p.rows) {
        const int32 i0 = int32(next);
        for (uint32 at = lane * 32; at < p.length; at += 262144) {
            const int32 i1 = int32(at);
            prefetch(p.x0 + (i0 * p.x0_stride0 + i1));
        }
    }
    cluster_wait();
    asm volatile("cp.async.wait_all;" ::: "memory");
    float part0[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        float value0[4];
#pragma unroll
        for (unsigned int u = first; u < first + 4; ++u) {
            const uint32 at = u * 8192u + lane;
            value0[u - first] = x0[u];
        }
        part0[first / 4] = join_pairs<max_float, 4>(value0);
    }
    float max0 = join_pairs<max_float, 8>(part0);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 512u];
        }
        float value0[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * 8192u + lane;
            value0[e] = x0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            if (v + e >= more) value0[e] = -__int_as_float(0x7f800000);
        }
        max0 = max_float::join(max0, join_pairs<max_float, 8>(value0));
    }
    max0 = join_lanes<max_float, 32>(max0);
    __shared__ float whole0[256];
    if (threadIdx.x % 32 < 16) {
        send(&whole0[lane / 32], max0, &arrived[0], threadIdx.x % 32);
    }
    wait_for(&arrived[0]);
    max0 = join_slots<max_float, 256>(whole0);
    float cached0[32];
    float part1[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        float value0[4];
#pragma unroll
        for (unsigned int u = first; u < first + 4; ++u) {
            const uint32 at = u * 8192u + lane;
            const float t0 = x0[u] - max0;
            const float t1 = exp_float(t0);
            cached0[u] = t1;
            value0[u - first] = cached0[u];
        }
        part1[first / 4] = join_pairs<sum_float, 4>(value0);
    }
    float sum1 = join_pairs<sum_float, 8>(part1);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 512u];
        }
        float value0[8];
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * 8192u + lane;
            const float t2 = x0_now[e] - max0;
            const float t3 = exp_float(t2);
            cached0_now[e] = t3;
            value0[e] = cached0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_more[(v + e) * 512u] = cached0_now[e];
            if (v + e >= more) value0[e] = 0.0f;
        }
        sum1 = sum_float::join(sum1, join_pairs<sum_float, 8>(value0));
    }
    sum1 = join_lanes<sum_float, 32>(sum1);
    __shared__ float whole1[256];
    if (threadIdx.x % 32 < 16) {
        send(&whole1[lane / 32], sum1, &arrived[1], threadIdx.x % 32);
    }
    wait_for(&arrived[1]);
    sum1 = join_slots<sum_float, 256>(whole1);
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * 8192u + lane;
        bool rare = false;
        const float z0 = quick_shared_divide_float(cached0[u], sum1, rare);
        again |= rare;
        const int32 i1 = int32(at);
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
    }
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_now[e] = cached0_more[(v + e) * 512u];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * 8192u + lane;
            bool rare = false;
            const float z0 = quick_shared_divide_float(cached0_now[e], sum1, rare);
            if (v + e < more) {
                again |= rare;
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
            }
        }
    }
    if (again) {
        float cached0_again[32];
#pragma unroll
        for (unsigned int u = 0; u < 32; ++u) {
            cached0_again[u] = cached0[u];
        }
#pragma unroll 1
        for (unsigned int u = 0; u < 32 + more; ++u) {
            const float cached0_now = u < 32 ? cached0_again[u] : cached0_more[(u - 32u) * 512u];
            const uint32 at = u * 8192u + lane;
            const float z0 = cached0_now / sum1;
            const int32 i1 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        }
    }
}
