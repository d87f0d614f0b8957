// (x0 + x1 + x2 + x3 + x4 + x5 + x6) * x7
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// divisor, load_row, load_ends, store_run, store_row

struct arguments {
    const double* x0;
    const double* x1;
    const double* x2;
    const double* x3;
    const double* x4;
    const double* x5;
    const double* x6;
    const double* x7;
    double* z0;
    uint32 n1;
    divisor by_bands;
    uint32 bands;
    divisor by_sides;
    uint32 sides;
    int32 x0_stride0;
    int32 x0_stride1;
    uint32 n2;
    uint32 n0;
    int32 z0_stride0;
    int32 z0_stride1;
};

extern "C" __global__ void __launch_bounds__(128, 5)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    // The warps of a block have the same columns of adjacent rows, so that they share cached elements.
    const uint32 q = blockIdx.x;
    const uint32 line = quotient(q, p.by_bands);
    const uint32 side_above = quotient(line, p.by_sides);
    const int32 side = int32((line - side_above * p.sides) * 4u + threadIdx.x / 32u) * 2;
    const int32 row = int32(side_above) * 16;
    const int32 sides = min(int32(2), int32(p.n1) - side);
    const double* const x0_at = p.x0 + int64(row) * p.x0_stride0 + int64(side) * p.x0_stride1;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32((q - line * p.bands) * 32u + threadIdx.x % 32u) * 2 - int32(reinterpret_cast<uint64>(x0_at) / 8 % 2);
    const bool here = side < int32(p.n1) && column < int32(p.n2);
    const int32 rows = here ? min(int32(16), int32(p.n0) - row) : 0;
    const int64 x0_rows_least = min(int64(-1) * p.x0_stride0 + int64(0), int64(1) * p.x0_stride0 + int64(0)) + min(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + min(int64(0), int64(int32(p.n1) - 1) * p.x0_stride1) + min(int64(0), int64(int32(p.n2) - 1) * 1);
    const int64 x0_rows_most = max(int64(-1) * p.x0_stride0 + int64(0), int64(1) * p.x0_stride0 + int64(0)) + max(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + max(int64(0), int64(int32(p.n1) - 1) * p.x0_stride1) + max(int64(0), int64(int32(p.n2) - 1) * 1);
    const int64 x0_rows_low = x0_at - p.x0 + (column - 1) + min(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0) + min(int64(-1) * p.x0_stride1, int64(2) * p.x0_stride1);
    const int64 x0_rows_high = x0_at - p.x0 + (column + 2) + max(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0) + max(int64(-1) * p.x0_stride1, int64(2) * p.x0_stride1);
    const bool whole = here && x0_rows_low >= x0_rows_least && x0_rows_high <= x0_rows_most;
    double x0_rows[4][4][4] = {};
    const auto load_x0_rows0 = [&](double (&to)[4], int r) {
        const double* const from = x0_at + column + int64(r) * p.x0_stride0 + int64(-1) * p.x0_stride1;
        if (whole) return load_row<double2, 2, 0, 0, 1>(to, from);
        int32 low = int32(p.n2) + 8, high = -8;
        if (unsigned(r - 0) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        load_ends(to, from - 1, column - 1, low, high);
    };
    const auto load_x0_rows1 = [&](double (&to)[4], int r) {
        const double* const from = x0_at + column + int64(r) * p.x0_stride0;
        if (whole) return load_row<double2, 2, 1, 1, 1>(to, from);
        int32 low = int32(p.n2) + 8, high = -8;
        if (unsigned(r - (-1)) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        if (unsigned(r - 0) < unsigned(rows)) low = min(low, int32(-1)), high = max(high, int32(p.n2) + 1);
        if (unsigned(r - 0) < unsigned(rows) && 1 < sides) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        if (unsigned(r - 1) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        load_ends(to, from - 1, column - 1, low, high);
    };
    const auto load_x0_rows2 = [&](double (&to)[4], int r) {
        const double* const from = x0_at + column + int64(r) * p.x0_stride0 + int64(1) * p.x0_stride1;
        if (whole) return load_row<double2, 2, 1, 1, 1>(to, from);
        int32 low = int32(p.n2) + 8, high = -8;
        if (unsigned(r - (-1)) < unsigned(rows) && 1 < sides) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        if (unsigned(r - 0) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        if (unsigned(r - 0) < unsigned(rows) && 1 < sides) low = min(low, int32(-1)), high = max(high, int32(p.n2) + 1);
        if (unsigned(r - 1) < unsigned(rows) && 1 < sides) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        load_ends(to, from - 1, column - 1, low, high);
    };
    const auto load_x0_rows3 = [&](double (&to)[4], int r) {
        const double* const from = x0_at + column + int64(r) * p.x0_stride0 + int64(2) * p.x0_stride1;
        if (whole) return load_row<double2, 2, 0, 0, 1>(to, from);
        int32 low = int32(p.n2) + 8, high = -8;
        if (unsigned(r - 0) < unsigned(rows) && 1 < sides) low = min(low, int32(0)), high = max(high, int32(p.n2) + 0);
        load_ends(to, from - 1, column - 1, low, high);
    };
    __shared__ alignas(16) unsigned char turned[2048];
#pragma unroll 1
    for (int j = -3; __any_sync(~0u, j < rows); ++j) {
#pragma unroll
        for (int l = 0; l < 4; ++l)
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
                for (int k = 0; k < 4; ++k) x0_rows[l][r][k] = x0_rows[l][r + 1][k];
        if (j >= -1 && j + 1 < rows) load_x0_rows0(x0_rows[0][2], j + 1);
        if (j + 1 < rows) load_x0_rows1(x0_rows[1][3], j + 2);
        if (j + 1 < rows) load_x0_rows2(x0_rows[2][3], j + 2);
        if (j >= -1 && j + 1 < rows) load_x0_rows3(x0_rows[3][2], j + 1);
        if (j < 0) continue;
        const int32 i0 = row + j;
        double x7[2] = {};
#pragma unroll
        for (unsigned int t = 0; t < 2; ++t) {
            const int32 i1 = side + int32(t);
            if (j < rows && t < sides) x7[t] = __ldg(p.x7 + i1);
        }
        alignas(16) double z0[2][2];
#pragma unroll
        for (unsigned int t = 0; t < 2; ++t) {
#pragma unroll
            for (unsigned int e = 0; e < 2; ++e) {
                const double t0 = x0_rows[t + 1][1][e + 1] + x0_rows[t + 1][0][e + 1];
                const double t1 = t0 + x0_rows[t + 1][2][e + 1];
                const double t2 = t1 + x0_rows[t + 0][1][e + 1];
                const double t3 = t2 + x0_rows[t + 2][1][e + 1];
                const double t4 = t3 + x0_rows[t + 1][1][e + 0];
                const double t5 = t4 + x0_rows[t + 1][1][e + 2];
                z0[t][e] = t5 * x7[t];
            }
        }
#pragma unroll
        for (unsigned int t = 0; t < 2; ++t) {
            const int32 i1 = side + int32(t);
            {
                const int32 i2 = column;
                const int begin = int(max(-column, int32(0))), end = j < rows && t < sides ? int(min(int32(p.n2) - column, int32(2))) : 0;
                store_row<double2>(p.z0 + (i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2), z0[t], begin, end, turned + threadIdx.x / 32 * 512);
            }
        }
    }
}
