// log(sum(exp(x0)))
using int32 = int;
using uint32 = unsigned int;

//// copy16, skewed, load_rows, exp_float, sum_float, join_pairs, bits_of.2, from_bits.2, log2_approx, log_float

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
    __shared__ alignas(128) float rows0[4096];
    load_rows(rows0, p.x0 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 row = first + mine;
        const int32 i0 = int32(row);
        const uint32 at = mine * n;
        float sum0 = 0.0f;
        {
            uint32 k = 0;
            for (; k + 3u < n; k += 4) {
                float x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at + k + e];
                float value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 4>(value0));
            }
            if (k + 1u < n) {
                float x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at + k + e];
                float value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 2>(value0));
                k += 2u;
            }
            if (k < n) {
                float x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at + k + e];
                float value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = exp_float(x0[e]);
                }
                sum0 = sum_float::join(sum0, join_pairs<sum_float, 1>(value0));
            }
        }
        __stcs(p.z0 + i0, log_float(sum0));
    }
}
