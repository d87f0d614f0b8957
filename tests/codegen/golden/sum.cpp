// sqrt(sum(x0 * x1))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;
static inline float sqrt(float a) { return __builtin_sqrtf(a); }

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_float {
    static float join(float a, float b) { return a + b; }
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

/// A block writes its slots of the scratch memory; the finishing block reads and clears them.
template <class type>
static inline void put(uint64* slot, type v) {
    __builtin_memcpy(slot, &v, sizeof v);
}

template <class type>
static inline type take(uint64* slot) {
    type v;
    __builtin_memcpy(&v, slot, sizeof v);
    *slot = 0;
    return v;
}

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        float sum0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i0 = int32(first);
                const float* const x0_strip = p.x0 + i0;
                const float* const x1_strip = p.x1 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], x0_strip[j] * x1_strip[j]);
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, sum0);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        double whole0 = 0.0;
        for (uint32 s = 0; s < pieces; ++s) whole0 = sum_double::join(whole0, take<float>(slots + s * stride));
        sum0 = float(whole0);
        *(p.z0) = sqrt(sum0);
    }
}
