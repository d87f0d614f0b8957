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
    uint32 row_pieces;
    int32 x0_stride0;
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
        const float x1 = *(p.x1 + i0);
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float t0 = x0 - s0;
            const bool t1 = t0 > x1;
            const float t2 = x0 * x1;
            const float t3 = x0 + x1;
            z0_row[j] = t1 ? t2 : t3;
        }
    }
}
