// sqrt(x0); sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, expect, cluster_arrive, cluster_wait, sum_float, join_pairs, send, wait_for, rsqrt_approx,
//// quick_sqrt_float

struct arguments {
    const float* x0;
    float* z0;
    float* z1;
    divisor by_side;
    uint32 side;
    uint32 rows;
    uint32 length;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(512, 2)
rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 side = p.side, height = quotient(512u, p.by_side);
    const uint32 down = quotient(threadIdx.x, p.by_side), column = threadIdx.x - down * side;
    const uint32 lane = blockIdx.x % 8u * height + down, lanes = 8u * height;
    const uint32 mine = blockIdx.x / 8u * side + column;
    const uint32 row = mine < p.rows ? mine : p.rows - 1;
    const int32 i1 = int32(row);
    __shared__ uint64 arrived[1];
    if (threadIdx.x == 0) {
        expect(&arrived[0], 8u * side * sizeof(float));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_arrive();
    float x0[32];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 24 || (first + 3) * lanes + lane < p.length) {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                const int32 i0 = int32(at);
                x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
            }
        } else {
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                x0[u] = float();
                if (u < 24 || at < p.length) {
                    const int32 i0 = int32(at);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1));
                }
            }
        }
    }
    cluster_wait();
    float part0[8];
#pragma unroll
    for (unsigned int first = 0; first < 32; first += 4) {
        if (first + 3 < 24 || (first + 3) * lanes + lane < p.length) {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                value0[u - first] = x0[u];
            }
            part0[first / 4] = join_pairs<sum_float, 4>(value0);
        } else {
            float value0[4];
#pragma unroll
            for (unsigned int u = first; u < first + 4; ++u) {
                const uint32 at = u * lanes + lane;
                if (u < 24 || at < p.length) {
                    value0[u - first] = x0[u];
                } else {
                    value0[u - first] = 0.0f;
                }
            }
            part0[first / 4] = join_pairs<sum_float, 4>(value0);
        }
    }
    float sum0 = join_pairs<sum_float, 8>(part0);
    __shared__ float whole0[529], sum0_of[448];
    whole0[down * (side | 1) + column] = sum0;
    __syncthreads();
    if (const uint32 r = threadIdx.x; r < side) {
        sum0 = 0.0f;
        for (uint32 l = 0; l < height; ++l) sum0 = sum_float::join(sum0, whole0[l * (side | 1) + r]);
#pragma unroll 4
        for (uint32 block = 0; block < 8; ++block) {
            send(&sum0_of[blockIdx.x % 8u * 56u + r], sum0, &arrived[0], block);
        }
    }
    wait_for(&arrived[0]);
    sum0 = sum0_of[column];
#pragma unroll 4
    for (uint32 block = 1; block < 8; ++block) {
        sum0 = sum_float::join(sum0, sum0_of[column + block * 56u]);
    }
    if (mine >= p.rows || down == height) return;
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 32; ++u) {
        const uint32 at = u * lanes + lane;
        bool rare = false;
        const float z0 = quick_sqrt_float(x0[u], rare);
        if (u < 24 || at < p.length) {
            again |= rare;
            const int32 i0 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
        }
    }
    if (again) {
        float x0_again[32];
#pragma unroll
        for (unsigned int u = 0; u < 32; ++u) {
            x0_again[u] = x0[u];
        }
#pragma unroll 1
        for (unsigned int u = 0; u < 32; ++u) {
            const uint32 at = u * lanes + lane;
            const float z0 = sqrt(x0_again[u]);
            if (u < 24 || at < p.length) {
                const int32 i0 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1), z0);
            }
        }
    }
    if (lane == 0) {
        __stcs(p.z1 + i1, sum0);
    }
}
