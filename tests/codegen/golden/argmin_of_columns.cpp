// argmin(x0)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;

/// An element and its place in the row.
struct place_int32 {
    int32 value;
    int64 at;
};

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct argmin_int32 {
    static place_int32 join(place_int32 a, place_int32 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
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
    const int32* x0;
    int64* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride1;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        place_int32 argmin0 = place_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
        {
            alignas(64) place_int32 lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = place_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
            alignas(64) int32 x0_copy[256] = {};
            for (uint32 from = piece * 32768; from < p.folded; from += pieces * 32768) {
                const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
                for (uint32 first = from; first < to; first += 256) {
                    const int m = to - first < 256 ? int(to - first) : 256;
                    const int32 i1 = int32(first);
                    for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 + i1 * p.x0_stride1 + j * p.x0_stride1);
                    const int32* const x0_strip = x0_copy;
                    alignas(64) place_int32 value0[256];
                    independent
                    for (int j = 0; j < 256; ++j) {
                        value0[j] = place_int32{x0_strip[j], int64(first + j)};
                    }
                    for (int j = m; j < 256; ++j) value0[j] = place_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
                    for (int l = 0; l < 64; ++l) lanes0[l] = argmin_int32::join(lanes0[l], argmin_int32::join(argmin_int32::join(value0[l], value0[l + 64]), argmin_int32::join(value0[l + 128], value0[l + 192])));
                }
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = argmin_int32::join(lanes0[l], lanes0[l + half]);
            argmin0 = lanes0[0];
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 2;
        put(slots + piece * stride, argmin0.value);
        put(slots + piece * stride + 1 * p.rows, argmin0.at);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        place_int32 whole0 = place_int32{int32(~(1ull << 31)), int64(~0ull >> 1)};
        for (uint32 s = 0; s < pieces; ++s) whole0 = argmin_int32::join(whole0, place_int32{take<int32>(slots + s * stride), take<int64>(slots + s * stride + 1 * p.rows)});
        argmin0 = whole0;
        *(p.z0 + i0) = argmin0.at;
    }
}
