// exp(x0 - max(x0)) / sum(exp(x0 - max(x0)))
using uint32 = unsigned int;

//// skew_of, copy16, skewed, load_skewed_rows, max_or_nan, max_float, join_pairs, exp_float, sum_float, rcp_approx,
//// quick_divide_float, bits_of.2, quick_shared_divide_float, store_skewed_rows

struct arguments {
    const float* x0;
    float* z0;
    uint32 rows;
    uint32 n;
    uint32 height;
};

extern "C" __global__ void __launch_bounds__(128)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    const uint32 height = p.height;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    const uint32 skew4 = skew_of(n / 4, 0);
    __shared__ alignas(128) float rows0[4096];
    load_skewed_rows(rows0, p.x0 + first * n, rows * n, skew4);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 at = mine * n;
        float max0 = -__int_as_float(0x7f800000);
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                value0[e] = x0[e];
            }
            max0 = max_float::join(max0, join_pairs<max_float, 4>(value0));
        }
        float sum1 = 0.0f;
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float x0[4];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            alignas(16) float left0[4];
            float value0[4];
#pragma unroll
            for (unsigned int e = 0; e < 4; ++e) {
                const float t0 = x0[e] - max0;
                const float t1 = exp_float(t0);
                left0[e] = t1;
                value0[e] = t1;
            }
            sum1 = sum_float::join(sum1, join_pairs<sum_float, 4>(value0));
            reinterpret_cast<uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]) = reinterpret_cast<const uint4&>(left0);
        }
        for (uint32 k = 0; k < n; k += 4) {
            alignas(16) float cached0[4];
            reinterpret_cast<uint4&>(cached0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]);
            alignas(16) float z0[4];
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
            reinterpret_cast<uint4&>(rows0[skewed((at + k) / 4, skew4) * 4]) = reinterpret_cast<const uint4&>(z0);
        }
    }
    __syncthreads();
    store_skewed_rows(p.z0 + first * n, rows0, rows * n, skew4);
}
