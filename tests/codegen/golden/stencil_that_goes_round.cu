// reshape(x0) + reshape(x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// divisor, wrapped, load_aligned_row, load_ends, store_run, store_row

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    uint32 n1;
    uint32 n0;
    int32 x0_stride3;
    int32 z0_stride0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 index = blockIdx.x * 256u + threadIdx.x, q = min(index, p.vectors - 1);
    const uint32 line = quotient(q, p.by_row);
    const int32 row = int32(line) * 8;
    const float* const x0_at = p.x0;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32(q - line * p.row_vectors) * 4 - int32(reinterpret_cast<uint64>(x0_at) / 4 % 4);
    const bool here = index < p.vectors && column < int32(p.n1);
    const int32 rows = here ? min(int32(8), int32(p.n0) - row) : 0;
    const bool inside = here && column >= 0 && column + 4 <= int32(p.n1);
    float x0_rows[1][4][5] = {};
    int32 x0_rows_ends[1];
#pragma unroll
    for (int e = 0; e < 1; ++e) x0_rows_ends[e] = wrapped(column - int32(0) + int32(e < 0 ? e : e + 4), int32(p.n1));
    const auto load_x0_rows = [&](float (&to)[5], int r) {
        const float* const from = x0_at + int64(wrapped(row + min(int32(r), rows + (-1)), int32(p.n0))) * p.x0_stride3;
        if (inside) {
            load_aligned_row<uint4, 4, 0, 0, 0>(to, from + column);
#pragma unroll
            for (int e = 4; e < 5; ++e) to[e] = __ldg(from + x0_rows_ends[e - 4]);
            return;
        }
        if (!here) return;
#pragma unroll
        for (int e = 0; e < 5; ++e) {
            const int32 at = column + int32(e) - 0;
            if (at >= -0 && at < int32(p.n1) + 1) to[e] = __ldg(from + wrapped(at, int32(p.n1)));
        }
    };
    __shared__ alignas(16) unsigned char turned[4096];
#pragma unroll 1
    for (int j = -3; __any_sync(~0u, j < rows); ++j) {
#pragma unroll
        for (int l = 0; l < 1; ++l)
#pragma unroll
            for (int r = 0; r < 3; ++r)
#pragma unroll
                for (int k = 0; k < 5; ++k) x0_rows[l][r][k] = x0_rows[l][r + 1][k];
        if (j + 2 < rows) load_x0_rows(x0_rows[0][3], j + 2);
        if (j < 0) continue;
        const int32 i0 = row + j;
        alignas(16) float z0[1][4];
#pragma unroll
        for (unsigned int e = 0; e < 4; ++e) {
            z0[0][e] = x0_rows[0][0][e + 0] + x0_rows[0][1][e + 1];
        }
        {
            const int32 i1 = column;
            const int begin = int(max(-column, int32(0))), end = j < rows ? int(min(int32(p.n1) - column, int32(4))) : 0;
            store_row<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0[0], begin, end, turned + threadIdx.x / 32 * 512);
        }
    }
}
