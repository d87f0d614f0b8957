// argmax(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

struct max_float {
    static float join(float a, float b) { return (a < b) | (b != b) ? b : a; }
};

/// Updates a lane's best element and the number of its strip; a NaN stays best.
static inline void keep_max_float(float v, int32 strip, float& best, int32& best_strip) {
    const int32 wins = -int32(!(v <= best)) & -int32(best == best);
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

struct argmax_float {
    static indexed_float join(indexed_float a, indexed_float b) {
        if (a.value != a.value || b.value != b.value)
            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;
        return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_float first_argmax_float(const float* lanes, const int32* strips, int64 from) {
    float best;
    const int index = first_of_lanes<max_float, n>(lanes, strips, best);
    return {best, from + index};
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

struct arguments {
    const float* x0;
    int64* z0;
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
        indexed_float argmax0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            alignas(64) int32 strips0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inff(), strips0[j] = 0;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i0 = int32(first);
                const float* const x0_strip = p.x0 + i0;
                independent
                for (int j = 0; j < m; ++j) {
                    keep_max_float(x0_strip[j], int32((first - from) / 256), lanes0[j], strips0[j]);
                }
            }
            argmax0 = first_argmax_float<256>(lanes0, strips0, from);
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, argmax0.value);
        put(slots + piece * stride + 1 * p.rows, argmax0.at);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        indexed_float whole0 = indexed_float{-__builtin_inff(), int64(~0ull >> 1)};
        for (uint32 s = 0; s < pieces; ++s) whole0 = argmax_float::join(whole0, indexed_float{take<float>(slots + s * stride), take<int64>(slots + s * stride + 1 * p.rows)});
        argmax0 = whole0;
        *(p.z0) = argmax0.at;
    }
}
