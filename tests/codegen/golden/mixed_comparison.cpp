// x0 < x1
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// independent

struct arguments {
    const int64* x0;
    const uint64* x1;
    bool* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const int64* const x0_row = p.x0 + i0;
        const uint64* const x1_row = p.x1 + i0;
        bool* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const int64 x0 = x0_row[j];
            const uint64 x1 = x1_row[j];
            z0_row[j] = x0 < 0 || (x1 >= 0 && uint64(x0) < uint64(x1));
        }
    }
}
