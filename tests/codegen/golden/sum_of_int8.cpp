// sum(astype<int64>(x0))
using int8 = signed char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_int64 {
    static int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

struct arguments {
    const int8* x0;
    int64* z0;
    uint32 folded;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        int64 sum0 = int64(0);
        {
            alignas(64) int64 lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = int64(0);
            alignas(64) int8 x0_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i0 = int32(first);
                if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 + j);
                const int8* const x0_strip = m < 256 ? x0_copy : p.x0 + i0;
                alignas(64) int64 value0[256];
                independent
                for (int j = 0; j < 256; ++j) {
                    value0[j] = int64(x0_strip[j]);
                }
                for (int j = m; j < 256; ++j) value0[j] = int64(0);
                for (int l = 0; l < 64; ++l) lanes0[l] = sum_int64::join(lanes0[l], sum_int64::join(sum_int64::join(value0[l], value0[l + 64]), sum_int64::join(value0[l + 128], value0[l + 192])));
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = sum_int64::join(lanes0[l], lanes0[l + half]);
            sum0 = lanes0[0];
        }
        *(p.z0) = sum0;
    }
}
