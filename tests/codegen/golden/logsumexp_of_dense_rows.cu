// log(sum(exp(x0 - where(isfinite(max(x0)), max(x0), s0))))
using int32 = int;
using uint32 = unsigned int;

//// copy16, skewed, load_rows, max_or_nan, max_float, join_pairs, exp2_approx, flushed_exp_float, sum_float, bits_of.2,
//// from_bits.2, log2_approx, log_float

struct arguments {
    const float* x0;
    float* z0;
    float s0;
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
    __shared__ alignas(128) float rows0[4096];
    load_rows(rows0, p.x0 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 row = first + mine;
        const int32 i0 = int32(row);
        const uint32 at = mine * n;
        float max0 = -__int_as_float(0x7f800000);
        {
            uint32 k = 0;
            for (; k + 3u < n; k += 4) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at + k + e];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 4>(value0));
            }
            if (k + 1u < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at + k + e];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 2>(value0));
                k += 2u;
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at + k + e];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = x0[e];
                }
                max0 = max_float::join(max0, join_pairs<max_float, 1>(value0));
            }
        }
        const bool t0 = max0 - max0 == 0;
        const float t1 = t0 ? max0 : p.s0;
        float sum1 = 0.0f;
        {
            uint32 k = 0;
            for (; k + 3u < n; k += 4) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at + k + e];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    const float t2 = x0[e] - t1;
                    value0[e] = flushed_exp_float(t2);
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 4>(value0));
            }
            if (k + 1u < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at + k + e];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    const float t3 = x0[e] - t1;
                    value0[e] = flushed_exp_float(t3);
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 2>(value0));
                k += 2u;
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at + k + e];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    const float t4 = x0[e] - t1;
                    value0[e] = flushed_exp_float(t4);
                }
                sum1 = sum_float::join(sum1, join_pairs<sum_float, 1>(value0));
            }
        }
        __stcs(p.z0 + i0, log_float(sum1));
    }
}
