// max(x0 * astype<float64>(x1) + astype<float64>(x2)); argmin(x3)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// spread_of.2, skew_of, copy16, skewed, load_skewed_rows.2, load_rows.2, divisor, indexed_int16, max_double,
//// join_pairs, ordered_argmin_int16, from_thread, join_threads, from_thread.2, argmin_int16

struct arguments {
    const double* x0;
    const float* x1;
    const float* x2;
    const int16* x3;
    double* z0;
    int64* z1;
    uint32 rows;
    uint32 n;
    uint32 height;
    divisor by_n1;
    uint32 n1;
    int32 z0_stride0;
    int32 z1_stride0;
};

extern "C" __global__ void __launch_bounds__(64)
short_rows(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 n = p.n;
    const uint32 height = p.height;
    const uint32 first = blockIdx.x * height;
    const uint32 rows = p.rows - first < height ? p.rows - first : height;
    const uint32 spread = spread_of(height, n / 2);
    const uint32 lane = threadIdx.x & (1u << spread) - 1;
    const uint32 skew8 = skew_of(n / 2, spread);
    __shared__ alignas(128) double rows0[1648];
    __shared__ alignas(128) int16 rows1[1648];
    load_skewed_rows(rows0, p.x0 + first * n, rows * n, skew8);
    load_rows(rows1, p.x3 + first * n, rows * n);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (uint32 mine = threadIdx.x >> spread; mine < rows; mine += 64 >> spread) {
        const uint32 row = first + mine;
        const uint32 q1 = quotient(row, p.by_n1);
        const int32 i1 = int32(row - q1 * p.n1);
        const int32 i0 = int32(q1);
        const uint32 at = mine * n;
        const float x2 = __ldg(p.x2 + i0);
        const double t0 = double(x2);
        double max0 = -__longlong_as_double(0x7ff0000000000000ll);
        indexed_int16 argmin1 = indexed_int16{int16(~(1ull << 15)), int64(lane * 2)};
        for (uint32 k = lane * 2; k < n; k += 2 << spread) {
            alignas(16) double x0[2];
            reinterpret_cast<uint4&>(x0) = reinterpret_cast<const uint4&>(rows0[skewed((at + k) / 2, skew8) * 2]);
            alignas(4) int16 x3[2];
            reinterpret_cast<unsigned int&>(x3) = reinterpret_cast<const unsigned int&>(rows1[at + k]);
            double value0[2];
            indexed_int16 value1[2];
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                const int32 i2 = k + e;
                const float x1 = __ldg(p.x1 + i2);
                const double t1 = double(x1);
                const double t2 = x0[e] * t1;
                value0[e] = t2 + t0;
                value1[e] = indexed_int16{x3[e], int64(k + e)};
            }
            max0 = max_double::join(max0, join_pairs<max_double, 2>(value0));
            argmin1 = ordered_argmin_int16::join(argmin1, join_pairs<ordered_argmin_int16, 2>(value1));
        }
        max0 = join_threads<max_double>(max0, spread);
        argmin1 = join_threads<argmin_int16>(argmin1, spread);
        if (lane == 0) {
            __stcs(p.z0 + (i0 * p.z0_stride0 + i1), max0);
            __stcs(p.z1 + (i0 * p.z1_stride0 + i1), argmin1.at);
        }
    }
}
