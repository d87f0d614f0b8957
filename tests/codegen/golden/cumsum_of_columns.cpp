// cumsum(x0 * x0) + x1
using int32 = int;
using uint32 = unsigned int;

//// independent, sum_double

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 row_pieces;
    uint32 n1;
    uint32 n0;
    int32 x0_stride2;
    int32 z0_stride0;
};

extern "C" void scan(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const int32 first = int32(piece * 256);
        const int32 last = int32(p.n1) - first < 256 ? int32(p.n1) : first + 256;
        alignas(64) double sum0[256];
        for (int j = 0; j < 256; ++j) sum0[j] = -0.0;
        for (int32 i0 = 0; i0 < int32(p.n0); ++i0) {
            independent
            for (int32 i1 = int32(first); i1 < int32(last); ++i1) {
                const float x0 = *(p.x0 + i1 + i0 * p.x0_stride2);
                const float x1 = *(p.x1 + i1);
                sum0[i1 - first] = sum_double::join(sum0[i1 - first], x0 * x0);
                *(p.z0 + i0 * p.z0_stride0 + i1) = float(sum0[i1 - first]) + x1;
            }
        }
    }
}
