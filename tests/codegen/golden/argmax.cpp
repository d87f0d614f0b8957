// argmax(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// An element and its place in the row.
struct place_float {
    float value;
    int64 at;
};

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct argmax_float {
    static place_float join(place_float a, place_float b) {
        if (a.value != a.value || b.value != b.value)
            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;
        return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

/// A slot of the scratch: written by one block, read and cleared by the one that finishes.
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
        place_float argmax0 = place_float{-__builtin_inff(), int64(~0ull >> 1)};
        {
            alignas(64) place_float lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = place_float{-__builtin_inff(), int64(~0ull >> 1)};
            alignas(64) float x0_copy[256] = {};
            for (uint32 from = piece * 32768; from < p.folded; from += pieces * 32768) {
                const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
                for (uint32 first = from; first < to; first += 256) {
                    const int m = to - first < 256 ? int(to - first) : 256;
                    const int32 i0 = int32(first);
                    if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 + j);
                    const float* const x0_strip = m < 256 ? x0_copy : p.x0 + i0;
                    alignas(64) place_float value0[256];
                    independent
                    for (int j = 0; j < 256; ++j) {
                        value0[j] = place_float{x0_strip[j], int64(first + j)};
                    }
                    for (int j = m; j < 256; ++j) value0[j] = place_float{-__builtin_inff(), int64(~0ull >> 1)};
                    for (int l = 0; l < 64; ++l) lanes0[l] = argmax_float::join(lanes0[l], argmax_float::join(argmax_float::join(value0[l], value0[l + 64]), argmax_float::join(value0[l + 128], value0[l + 192])));
                }
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = argmax_float::join(lanes0[l], lanes0[l + half]);
            argmax0 = lanes0[0];
        }
        uint64* const slots = p.scratch + p.rows + 0;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, argmax0.value);
        put(slots + piece * stride + 1 * p.rows, argmax0.at);
        if (__atomic_add_fetch(p.scratch + 0, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[0] = 0;
        place_float whole0 = place_float{-__builtin_inff(), int64(~0ull >> 1)};
        for (uint32 s = 0; s < pieces; ++s) whole0 = argmax_float::join(whole0, place_float{take<float>(slots + s * stride), take<int64>(slots + s * stride + 1 * p.rows)});
        argmax0 = whole0;
        *(p.z0) = argmax0.at;
    }
}
