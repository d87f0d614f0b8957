// sum(astype<int64>(x0))
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// copy16, skewed, load_rows, divisor, sum_int64, join_pairs

struct arguments {
    const int32* x0;
    int64* z0;
    uint32 rows;
    uint32 n;
    uint32 height;
    divisor by_n1;
    uint32 n1;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    const uint32 height = p.height;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    __shared__ alignas(128) int32 rows0[4096];
    load_rows(rows0, p.x0 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x; mine < rows; mine += 128) {
        const uint32 row = first + mine;
        const uint32 q1 = quotient(row, p.by_n1);
        const int32 i1 = int32(row - q1 * p.n1);
        const int32 i0 = int32(q1);
        const uint32 at = mine * n;
        int64 sum0 = int64(0);
        {
            uint32 k = 0;
            for (; k + 3u < n; k += 4) {
                int32 x0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) x0[e] = rows0[at + k + e];
                int64 value0[4];
#pragma unroll
                for (unsigned int e = 0; e < 4; ++e) {
                    value0[e] = int64(x0[e]);
                }
                sum0 = sum_int64::join(sum0, join_pairs<sum_int64, 4>(value0));
            }
            if (k + 1u < n) {
                int32 x0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) x0[e] = rows0[at + k + e];
                int64 value0[2];
#pragma unroll
                for (unsigned int e = 0; e < 2; ++e) {
                    value0[e] = int64(x0[e]);
                }
                sum0 = sum_int64::join(sum0, join_pairs<sum_int64, 2>(value0));
                k += 2u;
            }
            if (k < n) {
                int32 x0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) x0[e] = rows0[at + k + e];
                int64 value0[1];
#pragma unroll
                for (unsigned int e = 0; e < 1; ++e) {
                    value0[e] = int64(x0[e]);
                }
                sum0 = sum_int64::join(sum0, join_pairs<sum_int64, 1>(value0));
            }
        }
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), sum0);
    }
}
