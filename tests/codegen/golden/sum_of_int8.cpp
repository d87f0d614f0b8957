// sum(astype<int64>(x0))
using int8 = signed char;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_int64 {
    static int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

/// Combines all lanes as a balanced tree.
template <class joiner, int n, class type>
static inline type join_lanes(type* lanes) {
    if constexpr (n > 1) {
        for (int l = 0; l < n / 2; ++l) lanes[l] = joiner::join(lanes[l], lanes[l + n / 2]);
        return join_lanes<joiner, n / 2>(lanes);
    } else {
        return lanes[0];
    }
}

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
