// max(x0 * astype<float64>(x1) + astype<float64>(x2)); argmin(x3)
using int16 = short;
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

struct min_int16 {
    static int16 join(int16 a, int16 b) { return b < a ? b : a; }
};

/// Updates a lane's best element and the number of its strip.
static inline void keep_min_int16(int16 v, int16 strip, int16& best, int16& best_strip) {
    const bool wins = v < best;
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

/// An element and its index in the row.
struct indexed_int16 {
    int16 value;
    int64 at;
};

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_double {
    static double join(double a, double b) { return (a < b) | (b != b) ? b : a; }
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

struct argmin_int16 {
    static indexed_int16 join(indexed_int16 a, indexed_int16 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_int16 first_argmin_int16(const int16* lanes, const int16* strips, int64 from) {
    int16 best;
    const int index = first_of_lanes<min_int16, n>(lanes, strips, best);
    return {best, from + index};
}

struct arguments {
    const double* x0;
    const float* x1;
    const float* x2;
    const int16* x3;
    double* z0;
    int64* z1;
    uint32 n1;
    uint32 folded;
    int32 x0_stride0;
    int32 x0_stride1;
    int32 x3_stride0;
    int32 x3_stride1;
    int32 z0_stride0;
    int32 z1_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 row = block;
        const int32 i1 = int32(row % p.n1);
        row /= p.n1;
        const int32 i0 = int32(row);
        const float x2 = *(p.x2 + i0);
        const double t0 = double(x2);
        double max0;
        indexed_int16 argmin1;
        {
            alignas(64) double lanes0[128];
            for (int j = 0; j < 128; ++j) lanes0[j] = -__builtin_inf();
            alignas(64) int16 lanes1[128];
            alignas(64) int16 strips1[128];
            for (int j = 0; j < 128; ++j) lanes1[j] = int16(~(1ull << 15)), strips1[j] = 0;
            for (uint32 first = 0; first < p.folded; first += 128) {
                const int m = p.folded - first < 128 ? int(p.folded - first) : 128;
                const int32 i2 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1 * p.x0_stride1 + i2;
                const float* const x1_strip = p.x1 + i2;
                const int16* const x3_strip = p.x3 + i0 * p.x3_stride0 + i1 * p.x3_stride1 + i2;
                independent
                for (int j = 0; j < m; ++j) {
                    const double t1 = double(x1_strip[j]);
                    const double t2 = x0_strip[j] * t1;
                    lanes0[j] = max_double::join(lanes0[j], t2 + t0);
                    keep_min_int16(x3_strip[j], int16(first / 128), lanes1[j], strips1[j]);
                }
            }
            max0 = join_lanes<max_double, 128>(lanes0);
            argmin1 = first_argmin_int16<128>(lanes1, strips1, 0);
        }
        *(p.z0 + i0 * p.z0_stride0 + i1) = max0;
        *(p.z1 + i0 * p.z1_stride0 + i1) = argmin1.at;
    }
}
