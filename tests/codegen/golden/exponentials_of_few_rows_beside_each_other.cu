// sum(exp(x0))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

//// divisor, bits_of, from_bits, exp_double, sum_double, join_pairs

struct arguments {
    const double* x0;
    double* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(128)
reduce(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 at = blockIdx.x * 128u + threadIdx.x;
    const bool mine = at < p.vectors;
    const uint32 vector = at < p.vectors ? at : p.vectors - 1;
    const uint32 outer = quotient(vector, p.by_row);
    const int32 i0 = int32(outer);
    const int32 i1 = int32((vector - outer * p.row_vectors));
    double sum0 = 0.0;
    {
        double part0 = 0.0;
        const uint32 n = mine ? p.folded : 0, step = 4;
        uint32 k = 0;
        for (; k < n; k += step) {
            double x0[4] = {};
            const bool whole = k + 3 < n;
            if (whole) {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    const int32 i2 = int32(k + u);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
                }
            } else {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    if (k + u >= n) break;
                    const int32 i2 = int32(k + u);
                    x0[u] = __ldg(p.x0 + (i0 * p.x0_stride0 + i1 + i2 * p.x0_stride2));
                }
            }
            double value0[4];
#pragma unroll
            for (unsigned int u = 0; u < 4; ++u) {
                value0[u] = exp_double(x0[u]);
            }
            if (!whole) {
#pragma unroll
                for (unsigned int u = 0; u < 4; ++u) {
                    if (k + u >= n) value0[u] = 0.0;
                }
            }
            part0 = sum_double::join(part0, join_pairs<sum_double, 4>(value0));
        }
        sum0 = sum_double::join(sum0, part0);
    }
    if (mine) {
        __stcs(p.z0 + (i0 * p.z0_stride0 + i1), sum0);
    }
}
