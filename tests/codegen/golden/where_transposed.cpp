// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    float s0;
    uint32 n1;
    uint32 n0;
    uint32 row_pieces;
    int32 x1_stride1;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    alignas(64) float x1_tile[16][256];
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i1 = int32(block % p.row_pieces) * 256;
        const int32 band = int32(rest) * 16;
        const int32 n = int32(p.n1) - i1 < 256 ? int32(p.n1) - i1 : 256;
        const int rows = int32(p.n0) - band < 16 ? int(int32(p.n0) - band) : 16;
        {
            const int32 i0 = band;
            const float* from = p.x1 + i0 + i1 * p.x1_stride1;
            for (int j = 0; j < n; ++j, from += p.x1_stride1) {
                if (rows == 16) {
                    for (int line = 0; line < 16; ++line) x1_tile[line][j] = from[line];
                } else {
                    for (int line = 0; line < rows; ++line) x1_tile[line][j] = from[line];
                }
            }
        }
        for (int line = 0; line < rows; ++line) {
            const int32 i0 = band + line;
            const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
            const float* const x1_row = x1_tile[line];
            float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            independent
            for (int32 j = 0; j < n; ++j) {
                const float x0 = x0_row[j];
                const float x1 = x1_row[j];
                const float t0 = x0 - s0;
                const bool t1 = t0 > x1;
                const float t2 = x0 * x1;
                const float t3 = x0 + x1;
                z0_row[j] = t1 ? t2 : t3;
            }
        }
    }
}
