// reshape(x0) + reshape(x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

//// independent

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    int64 p1_first;
    int64 p0_first;
    uint32 n1;
    uint32 row_pieces;
    int32 z0_stride0;
    uint32 n5;
    uint32 n3;
    int32 x0_stride3;
    int32 x1_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            uint32 p1 = uint32(p.p1_first + i1 + j);
            const int32 i5 = int32(p1 % p.n5);
            p1 /= p.n5;
            const int32 i4 = int32(p1);
            uint32 p0 = uint32(p.p0_first + i0);
            const int32 i3 = int32(p0 % p.n3);
            p0 /= p.n3;
            const int32 i2 = int32(p0);
            const float x0 = *(p.x0 + i1 + i3 * p.x0_stride3 + j);
            const float x1 = *(p.x1 + i0 * p.x1_stride0 + i5);
            z0_row[j] = x0 + x1;
        }
    }
}
