// x0 + x1 + x2 == s0
using uint8 = unsigned char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// divisor, load_aligned_row, load_ends, store_run, store_row_plain

struct arguments {
    const uint8* x0;
    const uint8* x1;
    const uint8* x2;
    bool* z0;
    uint32 vectors;
    divisor by_row;
    uint32 row_vectors;
    int32 x0_stride0;
    uint32 n1;
    uint32 n0;
    int32 z0_stride0;
    uint8 s0;
};

extern "C" __global__ void __launch_bounds__(256)
map(const __grid_constant__ arguments p) {
    asm volatile("griddepcontrol.wait;" ::: "memory");  // waits for the writes of earlier kernels
    const uint32 index = blockIdx.x * 256u + threadIdx.x, q = min(index, p.vectors - 1);
    const uint32 line = quotient(q, p.by_row);
    const int32 row = int32(line) * 16;
    const uint8* const x0_at = p.x0 + int64(row) * p.x0_stride0;
    // Vectors of columns start at aligned addresses; the first vector may start before the row.
    const int32 column = int32(q - line * p.row_vectors) * 16 - int32(reinterpret_cast<uint64>(x0_at) / 1 % 16);
    const bool here = index < p.vectors && column < int32(p.n1);
    const int32 rows = here ? min(int32(16), int32(p.n0) - row) : 0;
    const int64 x0_rows_least = min(int64(-1) * p.x0_stride0 + int64(-1), int64(1) * p.x0_stride0 + int64(1)) + min(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + min(int64(0), int64(int32(p.n1) - 1) * 1);
    const int64 x0_rows_most = max(int64(-1) * p.x0_stride0 + int64(-1), int64(1) * p.x0_stride0 + int64(1)) + max(int64(0), int64(int32(p.n0) - 1) * p.x0_stride0) + max(int64(0), int64(int32(p.n1) - 1) * 1);
    const int64 x0_rows_low = x0_at - p.x0 + (column - 1) + min(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0);
    const int64 x0_rows_high = x0_at - p.x0 + (column + 16) + max(int64(-1) * p.x0_stride0, int64(rows - 1 + 1) * p.x0_stride0);
    const bool whole = here && x0_rows_low >= x0_rows_least && x0_rows_high <= x0_rows_most;
    uint32 x0_rows[1][3][10] = {};
    const auto read_x0_rows = [&](uint8 (&to)[24], int r) {
        const uint8* const from = x0_at + column + int64(r) * p.x0_stride0;
        if (whole) return load_aligned_row<uint4, 16, 1, 1, 4>(to, from);
        int32 low = int32(p.n1) + 8, high = -8;
        if (unsigned(r - (-1)) < unsigned(rows)) low = min(low, int32(-1)), high = max(high, int32(p.n1) + (-1));
        if (unsigned(r - 0) < unsigned(rows)) low = min(low, int32(0)), high = max(high, int32(p.n1) + 0);
        if (unsigned(r - 1) < unsigned(rows)) low = min(low, int32(1)), high = max(high, int32(p.n1) + 1);
        load_ends(to, from - 4, column - 4, low, high);
    };
    const auto load_x0_rows = [&](uint32 (&to)[10], int r) {
        alignas(16) uint8 bytes[24] = {};
        read_x0_rows(bytes, r);
        const uint32* const words = reinterpret_cast<const uint32*>(bytes);
#pragma unroll
        for (int k = 0; k < 10; ++k) {
            const int at = k + 3;
            to[k] = __byte_perm(words[at / 4], words[at / 4 + 2], 0x400 + at % 4 * 0x101) & 0xff00ffu;
        }
    };
    __shared__ alignas(16) unsigned char turned[4096];
#pragma unroll 1
    for (int j = -2; __any_sync(~0u, j < rows); ++j) {
#pragma unroll
        for (int l = 0; l < 1; ++l)
#pragma unroll
            for (int r = 0; r < 2; ++r)
#pragma unroll
                for (int k = 0; k < 10; ++k) x0_rows[l][r][k] = x0_rows[l][r + 1][k];
        if (j < rows) load_x0_rows(x0_rows[0][2], j + 1);
        if (j < 0) continue;
        const int32 i0 = row + j;
        alignas(16) bool z0[1][16];
#pragma unroll
        for (unsigned int e = 0; e < 8; ++e) {
            const uint32 w2 = x0_rows[0][1][e + 1] + x0_rows[0][0][e + 0];
            const uint32 w4 = w2 + x0_rows[0][2][e + 2];
            const uint32 w5 = p.s0 * 0x10001u;
            const uint32 w6 = 0x1000100u - ((w4 ^ w5) & 0xff00ffu);
            reinterpret_cast<uint8*>(z0[0])[e] = uint8((w6 >> 8 & 0x10001u));
            reinterpret_cast<uint8*>(z0[0])[e + 8] = uint8((w6 >> 8 & 0x10001u) >> 16);
        }
        {
            const int32 i1 = column;
            const int begin = int(max(-column, int32(0))), end = j < rows ? int(min(int32(p.n1) - column, int32(16))) : 0;
            store_row_plain<uint4>(p.z0 + (i0 * p.z0_stride0 + i1), z0[0], begin, end, turned + threadIdx.x / 32 * 512);
        }
    }
}
