// floor_divide(x0, x1) + remainder(x0, x1)
using int32 = int;
using uint32 = unsigned int;

//// independent, floor_divide_int32, remainder_int32

struct arguments {
    const int32* x0;
    const int32* x1;
    int32* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const int32* const x0_row = p.x0 + i0;
        const int32* const x1_row = p.x1 + i0;
        int32* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const int32 x0 = x0_row[j];
            const int32 x1 = x1_row[j];
            const int32 t0 = floor_divide_int32(x0, x1);
            const int32 t1 = remainder_int32(x0, x1);
            z0_row[j] = int32(uint32(t0) + uint32(t1));
        }
    }
}
