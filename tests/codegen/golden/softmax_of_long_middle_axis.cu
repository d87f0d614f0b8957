// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using int32 = int;
using uint32 = unsigned int;

//// divisor, max_or_nan, max_float, join_pairs, from_lane, join_lanes, exp_float, sum_float, rcp_approx,
//// quick_divide_float, bits_of.2, quick_shared_divide_float

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
    constexpr uint32 side = 3, height = 85;
    const uint32 down = threadIdx.x / side, column = threadIdx.x % side;
    const uint32 lane = down, lanes = height;
    const uint32 row = blockIdx.x * side + column;
    const uint32 q2 = quotient(row, p.by_n2);
    const int32 i2 = int32(row - q2 * p.n2);
    const int32 i0 = int32(q2);
    float x0[28];
#pragma unroll
    for (unsigned int first = 0; first < 28; first += 4) {
        if (first + 3 < 12 || (first + 3) * lanes + lane < p.length) {
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
                if (u < 12 || at < p.length) {
                    const int32 i1 = int32(at);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2));
                }
            }
        }
    }
    float part0[7];
#pragma unroll
    for (unsigned int first = 0; first < 28; first += 4) {
        if (first + 3 < 12 || (first + 3) * lanes + lane < p.length) {
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
                if (u < 12 || at < p.length) {
                    value0[u - first] = x0[u];
                } else {
                    value0[u - first] = -__int_as_float(0x7f800000);
                }
            }
            part0[first / 4] = join_pairs<max_float, 4>(value0);
        }
    }
    float max0 = join_pairs<max_float, 7>(part0);
    __shared__ float whole0[342], max0_of[3];
    whole0[down * (side | 1) + column] = max0;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        max0 = -__int_as_float(0x7f800000);
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) max0 = max_float::join(max0, whole0[l * (side | 1) + r]);
        max0 = join_lanes<max_float, 32>(max0);
        if (threadIdx.x % 32 == 0) {
            max0_of[r] = max0;
        }
    }
    __syncthreads();
    max0 = max0_of[column];
    float cached0[28];
    float part1[7];
#pragma unroll
    for (unsigned int first = 0; first < 28; first += 4) {
        if (first + 3 < 12 || (first + 3) * lanes + lane < p.length) {
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
                if (u < 12 || at < p.length) {
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
    float sum1 = join_pairs<sum_float, 7>(part1);
    __shared__ float whole1[342], sum1_of[3];
    whole1[down * (side | 1) + column] = sum1;
    __syncthreads();
    for (uint32 r = threadIdx.x / 32; r < side; r += 8) {
        sum1 = 0.0f;
        for (uint32 l = threadIdx.x % 32; l < height; l += 32) sum1 = sum_float::join(sum1, whole1[l * (side | 1) + r]);
        sum1 = join_lanes<sum_float, 32>(sum1);
        if (threadIdx.x % 32 == 0) {
            sum1_of[r] = sum1;
        }
    }
    __syncthreads();
    sum1 = sum1_of[column];
    if (down == height) return;
    bool again = false;
#pragma unroll
    for (unsigned int u = 0; u < 28; ++u) {
        const uint32 at = u * lanes + lane;
        bool rare = false;
        const float z0 = quick_shared_divide_float(cached0[u], sum1, rare);
        if (u < 12 || at < p.length) {
            again |= rare;
            const int32 i1 = int32(at);
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
        }
    }
    if (again) {
        float cached0_again[28];
#pragma unroll
        for (unsigned int u = 0; u < 28; ++u) {
            cached0_again[u] = cached0[u];
        }
#pragma unroll 1
        for (unsigned int u = 0; u < 28; ++u) {
            const uint32 at = u * lanes + lane;
            const float z0 = cached0_again[u] / sum1;
            if (u < 12 || at < p.length) {
                const int32 i1 = int32(at);
                __stcs(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0);
            }
        }
    }
}
