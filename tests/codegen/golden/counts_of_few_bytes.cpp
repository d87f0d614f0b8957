// scatter(s0, astype<int64>(x0))
using uint8 = unsigned char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// scatter_add_int64

struct arguments {
    const uint8* x0;
    int64* z0;
    int64 s0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const int64 s0 = given->s0;
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const uint8* const x0_row = p.x0 + i0;
        for (int32 j = 0; j < n; ++j) {
            const uint8 x0 = x0_row[j];
            const int64 r0 = s0;
            const int64 at0 = int64(x0);
            if (at0 >= 0) scatter_add_int64(&p.z0[at0], r0);
        }
    }
}
