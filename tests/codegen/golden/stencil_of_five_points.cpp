// (x0 + x1 + x2 + x3 + x4) * s0
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    const float* x3;
    const float* x4;
    float* z0;
    float s0;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 x1_stride0;
    int32 x2_stride0;
    int32 x3_stride0;
    int32 x4_stride0;
    int32 z0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const float s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const float* const x1_row = p.x1 + i0 * p.x1_stride0 + i1;
        const float* const x2_row = p.x2 + i0 * p.x2_stride0 + i1;
        const float* const x3_row = p.x3 + i0 * p.x3_stride0 + i1;
        const float* const x4_row = p.x4 + i0 * p.x4_stride0 + i1;
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float x1 = x1_row[j];
            const float x2 = x2_row[j];
            const float x3 = x3_row[j];
            const float x4 = x4_row[j];
            const float t0 = x0 + x1;
            const float t1 = t0 + x2;
            const float t2 = t1 + x3;
            const float t3 = t2 + x4;
            z0_row[j] = t3 * s0;
        }
    }
}
