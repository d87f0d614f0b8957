// x0 * x1
using int64 = long long;
using uint64 = unsigned long long;

//// independent

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    uint64 n1;
    uint64 row_pieces;
    int64 x0_stride0;
    int64 z0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint64 block = uint64(begin); block < end; ++block) {
        uint64 rest = block / p.row_pieces;
        const int64 i0 = int64(rest);
        const int64 i1 = int64((block % p.row_pieces) * 32768);
        const int64 n = p.n1 - i1 < 32768 ? int64(p.n1) - i1 : 32768;
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const double* const x1_row = p.x1 + i1;
        double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int64 j = 0; j < n; ++j) {
            const double x0 = x0_row[j];
            const double x1 = x1_row[j];
            z0_row[j] = x0 * x1;
        }
    }
}
