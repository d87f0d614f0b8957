// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using uint32 = unsigned int;

//// spread_of, copy16, skewed, divisor, load_runs, max_or_nan, max_float, join_pairs, from_thread, join_threads,
//// exp_float, sum_float, rcp_approx, quick_divide_float, bits_of.2, quick_shared_divide_float, store_runs

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 n;
    uint32 runs;
    divisor by_n2;
    divisor by_run4;
};

extern "C" __global__ void __launch_bounds__(128)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    constexpr uint32 side = 2;
    const uint32 height = p.runs * side;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    const uint32 spread = spread_of(height, n / 4);
    const uint32 lane = threadIdx.x & (1u << spread) - 1;
    const uint32 shift4 = first * n % 4, gap4 = side * n % 16 == 0;
    __shared__ alignas(128) float rows0[6437];
    load_runs(rows0, p.x0 + first * n - shift4, rows * n + shift4, gap4, p.by_run4);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x >> spread; mine < rows; mine += 128 >> spread) {
        const uint32 run = mine / side;
        const uint32 at4 = shift4 + run * (side * n + gap4 * 4) + mine - run * side;
        float max0 = -__int_as_float(0x7f800000);
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 4>(value0));
            }
            if (k + (1u << spread) < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 2>(value0));
                k += (2u << spread);
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 1>(value0));
            }
        }
        max0 = join_threads<max_float>(max0, spread);
        float sum1 = 0.0f;
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[4];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const float t0 = x0[e] - max0;
                    const float t1 = exp_float(t0);
                    left0[e] = t1;
                    value0[e] = t1;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 4>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
            }
            if (k + (1u << spread) < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[2];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const float t2 = x0[e] - max0;
                    const float t3 = exp_float(t2);
                    left0[e] = t3;
                    value0[e] = t3;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 2>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
                k += (2u << spread);
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at4 + (k + (e << spread)) * side];
                float left0[1];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    const float t4 = x0[e] - max0;
                    const float t5 = exp_float(t4);
                    left0[e] = t5;
                    value0[e] = t5;
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 1>(value0));
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) rows0[at4 + (k + (e << spread)) * side] = left0[e];
            }
        }
        sum1 = join_threads<sum_float>(sum1, spread);
        {
            uint32 k = lane;
            for (; k + (3u << spread) < n; k += 4 << spread) {
                float cached0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[4];
                bool rare = false;
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
                }
                if (rare) {
#pragma unroll
                    for (unsigned int e = 0; e < 4; ++e) {
                        z0[e] = cached0[e] / sum1;
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
            }
            if (k + (1u << spread) < n) {
                float cached0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[2];
                bool rare = false;
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
                }
                if (rare) {
#pragma unroll
                    for (unsigned int e = 0; e < 2; ++e) {
                        z0[e] = cached0[e] / sum1;
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
                k += (2u << spread);
            }
            if (k < n) {
                float cached0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) cached0[e] = rows0[at4 + (k + (e << spread)) * side];
                float z0[1];
                bool rare = false;
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    z0[e] = quick_shared_divide_float(cached0[e], sum1, rare);
                }
                if (rare) {
#pragma unroll
                    for (unsigned int e = 0; e < 1; ++e) {
                        z0[e] = cached0[e] / sum1;
                    }
                }
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) rows0[at4 + (k + (e << spread)) * side] = z0[e];
            }
        }
    }
    __syncthreads();
    store_runs(p.z0 + first * n - shift4, rows0, rows * n + shift4, gap4, p.by_run4, shift4);
}
