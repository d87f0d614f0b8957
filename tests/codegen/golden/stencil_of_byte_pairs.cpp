// x0 + x1 + x2 == s0
using uint8 = unsigned char;
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const uint8* x0;
    const uint8* x1;
    const uint8* x2;
    bool* z0;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 x1_stride0;
    int32 x2_stride0;
    int32 z0_stride0;
    uint8 s0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const uint8 s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const uint8* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const uint8* const x1_row = p.x1 + i0 * p.x1_stride0 + i1;
        const uint8* const x2_row = p.x2 + i0 * p.x2_stride0 + i1;
        bool* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int32 j = 0; j < n; ++j) {
            const uint8 x0 = x0_row[j];
            const uint8 x1 = x1_row[j];
            const uint8 x2 = x2_row[j];
            const uint8 t0 = uint8(uint32(x0) + uint32(x1));
            const uint8 t1 = uint8(uint32(t0) + uint32(x2));
            z0_row[j] = t1 == s0;
        }
    }
}
