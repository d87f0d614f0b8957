// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, expect, cluster_arrive, copy4, cluster_wait, max_or_nan, max_float, join_pairs, from_lane, join_lanes,
//// send, wait_for, exp_float, sum_float, rcp_approx, quick_divide_float, bits_of.2, quick_shared_divide_float

struct arguments {
    const float* x0;
    float* z0;
    divisor by_n2;
    uint32 n2;
    uint32 length;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 z0_stride0;
    int32 z0_stride1;
};

extern "C" __global__ void __launch_bounds__(256, 4)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    constexpr uint32 side = 18, height = 14;
    const uint32 down = threadIdx.x / side, column = threadIdx.x % side;
    const uint32 lane = blockIdx.x % 8u * height + down, lanes = 8u * height;
    const uint32 row = blockIdx.x / 8u * side + column;
    const uint32 q2 = quotient(row, p.by_n2);
    const int32 i2 = int32(row - q2 * p.n2);
    const int32 i0 = int32(q2);
    __shared__ uint64 arrived[2];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 8u * side * sizeof(float));
        expect(&arrived[1], 8u * side * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    float x0[32];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const int32 i1 = int32(at);
                x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
            }
        } else {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                x0[u] = float();
                if (u < 18 || at < p.length) {
                    const int32 i1 = int32(at);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            }
        }
    }
    extern __shared__ uint4 shared_values[];
    float* const x0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    float* const cached0_more = reinterpret_cast<float*>(shared_values + 0) + threadIdx.x;
    uint32 more = 0;  // number of chunks of this lane in shared memory
#pragma unroll 8
    for (uint32 at = 32u * lanes + lane; at < p.length; at += lanes) {
        const int32 i1 = int32(at);
        copy4(&x0_more[more * 256u], p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
        ++more;
    }
#pragma unroll 1
    for (uint32 v = more; v % 8 != 0; ++v) {
        x0_more[v * 256u] = float();
    }
    cluster_wait();
    asm volatile("cp.async.wait_all;" ::: "memory");
    float part0[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                value0[u - first] = x0[u];
            }
            part0[first / 4] = join_pairs<max_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 18 || at < p.length) {
                    value0[u - first] = x0[u];
                } else {
                    value0[u - first] = -__int_as_float(0x7f800000);
                }
            }
            part0[first / 4] = join_pairs<max_float, 4>(value0);
        }
    }
    float max0 = join_pairs<max_float, 8>(part0);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 256u];
        }
        float value0[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            value0[e] = x0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            if (v + e >= more) value0[e] = -__int_as_float(0x7f800000);
        }
        max0 = max_float::join(max0, join_pairs<max_float, 8>(value0));
    }
    __shared__ float whole0[271], max0_of[144];
    whole0[down * (side | 1) + column] = max0;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        max0 = -__int_as_float(0x7f800000);
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) max0 = max_float::join(max0, whole0[l * (side | 1) + r]);
        max0 = join_lanes<max_float, 32>(max0);
        if (threadIdx.x % 32 == 0) {
            whole0[r] = max0;
        }
    }
    __syncthreads();
    max0 = whole0[column];
    for (uint32 block = down; down < height && block < 8; block += height) {
        send(&max0_of[blockIdx.x % 8u * 18u + column], max0, &arrived[0], block);
    }
    wait_for(&arrived[0]);
    max0 = max0_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        max0 = max_float::join(max0, max0_of[column + block * 18u]);
    }
    float cached0[32];
    float part1[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 18 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const float t0 = x0[u] - max0;
                const float t1 = exp_float(t0);
                cached0[u] = t1;
                value0[u - first] = cached0[u];
            }
            part1[first / 4] = join_pairs<sum_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 18 || at < p.length) {
                    const float t2 = x0[u] - max0;
                    const float t3 = exp_float(t2);
                    cached0[u] = t3;
                    value0[u - first] = cached0[u];
                } else {
                    cached0[u] = float();
                    value0[u - first] = 0.0f;
                }
            }
            part1[first / 4] = join_pairs<sum_float, 4>(value0);
        }
    }
    float sum1 = join_pairs<sum_float, 8>(part1);
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float x0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            x0_now[e] = x0_more[(v + e) * 256u];
        }
        float value0[8];
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            const float t4 = x0_now[e] - max0;
            const float t5 = exp_float(t4);
            cached0_now[e] = t5;
            value0[e] = cached0_now[e];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_more[(v + e) * 256u] = cached0_now[e];
            if (v + e >= more) value0[e] = 0.0f;
        }
        sum1 = sum_float::join(sum1, join_pairs<sum_float, 8>(value0));
    }
    __shared__ float whole1[271], sum1_of[144];
    whole1[down * (side | 1) + column] = sum1;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        sum1 = 0.0f;
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) sum1 = sum_float::join(sum1, whole1[l * (side | 1) + r]);
        sum1 = join_lanes<sum_float, 32>(sum1);
        if (threadIdx.x % 32 == 0) {
            whole1[r] = sum1;
        }
    }
    __syncthreads();
    sum1 = whole1[column];
    for (uint32 block = down; down < height && block < 8; block += height) {
        send(&sum1_of[blockIdx.x % 8u * 18u + column], sum1, &arrived[1], block);
    }
    wait_for(&arrived[1]);
    sum1 = sum1_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        sum1 = sum_float::join(sum1, sum1_of[column + block * 18u]);
    }
    if (down == height) return;
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * lanes + lane;
        bool rare = false;
        const float z0 = quick_shared_divide_float(cached0[u], sum1, rare);
        if (u < 18 || at < p.length) {
            again |= rare;
            const int32 i1 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
        }
    }
#pragma unroll 1
    for (uint32 v = 0; v < more; v += 8) {
        float cached0_now[8];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            cached0_now[e] = cached0_more[(v + e) * 256u];
        }
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 at = (v + e + 32u) * lanes + lane;
            bool rare = false;
            const float z0 = quick_shared_divide_float(cached0_now[e], sum1, rare);
            if (v + e < more) {
                again |= rare;
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
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
            const float cached0_now = u < 32 ? cached0_again[u] : cached0_more[(u - 32u) * 256u];
            const uint32 at = u * lanes + lane;
            const float z0 = cached0_now / sum1;
            if (u < 18 || at < p.length) {
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
            }
        }
    }
}
