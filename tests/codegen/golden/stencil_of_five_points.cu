// (x0 + x1 + x2 + x3 + x4) * s0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// divisor, load_row, load_ends, store_run, store_row

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    const float* x3;
    const float* x4;
    float* z0;
    float s0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    int32 x0_stride0;
    uint32 n1;
    uint32 n0;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 index = blockIdx.x * 256u + threadIdx.x, q = min(index, p.vectors - 1);
    const uint32 line = quotient(q, p.by_row);
    const int32 row = int32(line) * 8;
    const float* const x0_at = p.x0 + int64(row) * p.x0_stride0;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32(q - line * p.row_vectors) * 4 - int32(reinterpret_cast<uint64>(x0_at) / 4 % 4);
    const bool here = index < p.vectors && column < int32(p.n1);
    const int32 rows = here ? min(int32(8), int32(p.n0) - row) : 0;
    const int64 x0_rows_least = min(int64(-1) * p.x0_stride0 + int64(0), int64(1) * p.x0_stride0 + int64(0)) + min(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + min(int64(0), int64(int32(p.n1) - 1) * 1);
    const int64 x0_rows_most = max(int64(-1) * p.x0_stride0 + int64(0), int64(1) * p.x0_stride0 + int64(0)) + max(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + max(int64(0), int64(int32(p.n1) - 1) * 1);
    const int64 x0_rows_low = x0_at - p.x0 + (column - 1) + min(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0);
    const int64 x0_rows_high = x0_at - p.x0 + (column + 4) + max(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0);
    const bool whole = here && x0_rows_low >= x0_rows_least && x0_rows_high <= x0_rows_most;
    float x0_rows[1][5][6] = {};
    const auto load_x0_rows = [&](float (&to)[6], int r) {
        const float* const from = x0_at + column + int64(r) * p.x0_stride0;
        if (whole) return load_row<uint4, 4, 1, 1, 1>(to, from);
        int32 low = int32(p.n1) + 8, high = -8;
        if (unsigned(r - (-1)) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n1) + 0);
        if (unsigned(r - 0) < unsigned(rows)) low = min(low, int32(-1)), high = max(high, int32(p.n1) + 1);
        if (unsigned(r - 1) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n1) + 0);
        load_ends(to, from - 1, column - 1, low, high);
    };
    __shared__ alignas(16) unsigned char turned[4096];
#pragma unroll 1
    for (int j = -4; __any_sync(~0u, j < rows); ++j) {
#pragma unroll
        for (int l = 0; l < 1; ++l)
#pragma unroll
            for (int r = 0; r < 4; ++r)
#pragma unroll
                for (int k = 0; k < 6; ++k) x0_rows[l][r][k] = x0_rows[l][r + 1][k];
        if (j + 2 < rows) load_x0_rows(x0_rows[0][4], j + 3);
        if (j < 0) continue;
        const int32 i0 = row + j;
        alignas(16) float z0[1][4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            const float t0 = x0_rows[0][1][e + 1] + x0_rows[0][0][e + 1];
            const float t1 = t0 + x0_rows[0][2][e + 1];
            const float t2 = t1 + x0_rows[0][1][e + 0];
            const float t3 = t2 + x0_rows[0][1][e + 2];
            z0[0][e] = t3 * p.s0;
        }
        {
            const int32 i1 = column;
            const int begin = int(max(-column, int32(0))), end = j < rows ? int(min(int32(p.n1) - column, int32(4))) : 0;
            store_row<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0[0], begin, end, turned + threadIdx.x / 32 * 512);
        }
    }
}
