// (x0 + x1 + x2 + x3 + x4 + x5 + x6) * x7
using int32 = int;
using uint32 = unsigned int;

//// independent

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
    uint32 n2;
    uint32 row_pieces;
    uint32 n1;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 x1_stride0;
    int32 x1_stride1;
    int32 x2_stride0;
    int32 x2_stride1;
    int32 x3_stride0;
    int32 x3_stride1;
    int32 x4_stride0;
    int32 x4_stride1;
    int32 x5_stride0;
    int32 x5_stride1;
    int32 x6_stride0;
    int32 x6_stride1;
    int32 z0_stride0;
    int32 z0_stride1;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i1 = int32(rest % p.n1);
        rest /= p.n1;
        const int32 i0 = int32(rest);
        const int32 i2 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n2 - i2 < 32768 ? int32(p.n2) - i2 : 32768;
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
        const double* const x1_row = p.x1 + i0 * p.x1_stride0 + i1 * p.x1_stride1 + i2;
        const double* const x2_row = p.x2 + i0 * p.x2_stride0 + i1 * p.x2_stride1 + i2;
        const double* const x3_row = p.x3 + i0 * p.x3_stride0 + i1 * p.x3_stride1 + i2;
        const double* const x4_row = p.x4 + i0 * p.x4_stride0 + i1 * p.x4_stride1 + i2;
        const double* const x5_row = p.x5 + i0 * p.x5_stride0 + i1 * p.x5_stride1 + i2;
        const double* const x6_row = p.x6 + i0 * p.x6_stride0 + i1 * p.x6_stride1 + i2;
        const double x7 = *(p.x7 + i1);
        double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1 * p.z0_stride1 + i2;
        independent
        for (int32 j = 0; j < n; ++j) {
            const double x0 = x0_row[j];
            const double x1 = x1_row[j];
            const double x2 = x2_row[j];
            const double x3 = x3_row[j];
            const double x4 = x4_row[j];
            const double x5 = x5_row[j];
            const double x6 = x6_row[j];
            const double t0 = x0 + x1;
            const double t1 = t0 + x2;
            const double t2 = t1 + x3;
            const double t3 = t2 + x4;
            const double t4 = t3 + x5;
            const double t5 = t4 + x6;
            z0_row[j] = t5 * x7;
        }
    }
}
