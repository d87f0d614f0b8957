// sum(astype<int64>(x0))
using int8 = signed char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

//// independent, sum_int64, join_lanes

struct arguments {
    const int8* x0;
    int64* z0;
    uint32 folded;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        int64 sum0;
        {
            alignas(64) int64 lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = int64(0);
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i0 = int32(first);
                const int8* const x0_strip = p.x0 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_int64::join(lanes0[j], int64(x0_strip[j]));
                }
            }
            sum0 = join_lanes<sum_int64, 256>(lanes0);
        }
        *(p.z0) = sum0;
    }
}
