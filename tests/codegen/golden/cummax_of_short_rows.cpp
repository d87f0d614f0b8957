// cummax(x0)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;

//// max_int16

struct arguments {
    const int16* x0;
    int16* z0;
    uint32 scanned;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void scan(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        int16 max0 = int16(1ull << 15);
        for (int32 i1 = int32(0); i1 < int32(p.scanned); ++i1) {
            const int16 x0 = *(p.x0 + i0 * p.x0_stride0 + i1);
            max0 = max_int16::join(max0, x0);
            *(p.z0 + i0 * p.z0_stride0 + i1) = max0;
        }
    }
}
