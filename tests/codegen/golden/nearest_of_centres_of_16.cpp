namespace step1 {
// sum(square(x0 - x1))
using int32 = int;
using uint32 = unsigned int;

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_float {
    static float join(float a, float b) { return a + b; }
};

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint32 n1;
    uint32 tiles;
    uint32 folded;
    int32 x0_stride0;
    int32 x1_stride1;
    int32 z0_stride0;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i1 = int32(block % p.tiles * 256);
        const int m = p.n1 - i1 < 256 ? int(p.n1 - i1) : 256;
        const uint32 row = block / p.tiles;
        const int32 i0 = int32(row);
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const int32 i2 = int32(k);
                const float x0 = *(p.x0 + i0 * p.x0_stride0 + i2);
                const float* const x1_strip = p.x1 + i1 * p.x1_stride1 + i2;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0 - x1_strip[j * p.x1_stride1];
                    lanes0[j] = sum_float::join(lanes0[j], t0 * t0);
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0 * p.z0_stride0 + i1;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = float(sum0[j]);
        }
    }
}
}  // namespace step1

namespace step2 {
// argmin(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

struct min_float {
    static float join(float a, float b) { return (b < a) | (b != b) ? b : a; }
};

/// Updates a lane's best element and the number of its strip; a NaN stays best.
static inline void keep_min_float(float v, int32 strip, float& best, int32& best_strip) {
    const int32 wins = -int32(!(v >= best)) & -int32(best == best);
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

/// An element and its index in the row.
struct indexed_float {
    float value;
    int64 at;
};

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

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

struct earlier {
    static int join(int a, int b) { return a < b ? a : b; }
};

/// Returns the first index of the best value; lane j of strip s has index s * n + j. A NaN is best.
template <class joiner, int n, class type, class number>
static inline int first_of_lanes(const type* lanes, const number* strips, type& best) {
    alignas(64) type values[n];
    alignas(64) int indices[n];
    for (int l = 0; l < n; ++l) values[l] = lanes[l];
    best = join_lanes<joiner, n>(values);
    for (int l = 0; l < n; ++l)
        indices[l] = (lanes[l] == best) | (lanes[l] != lanes[l]) ? int(strips[l]) * n + l : 128 * n;
    return join_lanes<earlier, n>(indices);
}

struct argmin_float {
    static indexed_float join(indexed_float a, indexed_float b) {
        if (a.value != a.value || b.value != b.value)
            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_float first_argmin_float(const float* lanes, const int32* strips, int64 from) {
    float best;
    const int index = first_of_lanes<min_float, n>(lanes, strips, best);
    return {best, from + index};
}

struct arguments {
    const float* x0;
    int64* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        indexed_float argmin0;
        {
            alignas(64) float lanes0[64];
            alignas(64) int32 strips0[64];
            for (int j = 0; j < 64; ++j) lanes0[j] = __builtin_inff(), strips0[j] = 0;
            for (uint32 first = 0; first < p.folded; first += 64) {
                const int m = p.folded - first < 64 ? int(p.folded - first) : 64;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    keep_min_float(x0_strip[j], int32(first / 64), lanes0[j], strips0[j]);
                }
            }
            argmin0 = first_argmin_float<64>(lanes0, strips0, 0);
        }
        *(p.z0 + i0) = argmin0.at;
    }
}
}  // namespace step2
