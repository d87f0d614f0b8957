// where(x0 - s0 > x1, x0 * x1, x0 + x1)
using int8 = signed char;
using int32 = int;
using uint32 = unsigned int;

//// independent

struct arguments {
    const int8* x0;
    const int8* x1;
    int8* z0;
    uint32 n0;
    int8 s0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const int8 s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const int8* const x0_row = p.x0 + i0;
        const int8* const x1_row = p.x1 + i0;
        int8* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const int8 x0 = x0_row[j];
            const int8 x1 = x1_row[j];
            const int8 t0 = int8(uint32(x0) - uint32(s0));
            const bool t1 = t0 > x1;
            const int8 t2 = int8(uint32(x0) * uint32(x1));
            const int8 t3 = int8(uint32(x0) + uint32(x1));
            z0_row[j] = t1 ? t2 : t3;
        }
    }
}
