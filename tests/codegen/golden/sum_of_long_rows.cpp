// sum(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_float {
    static float join(float a, float b) { return a + b; }
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

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        float sum0 = 0.0f;
        {
            alignas(64) float lanes0[64];
            for (int l = 0; l < 64; ++l) lanes0[l] = 0.0f;
            alignas(64) float x0_copy[256] = {};
            for (uint32 from = piece * 32768; from < p.folded; from += pieces * 32768) {
                const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
                for (uint32 first = from; first < to; first += 256) {
                    const int m = to - first < 256 ? int(to - first) : 256;
                    const int32 i1 = int32(first);
                    if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = *(p.x0 + i0 * p.x0_stride0 + i1 + j);
                    const float* const x0_strip = m < 256 ? x0_copy : p.x0 + i0 * p.x0_stride0 + i1;
                    alignas(64) float value0[256];
                    independent
                    for (int j = 0; j < 256; ++j) {
                        value0[j] = x0_strip[j];
                    }
                    for (int j = m; j < 256; ++j) value0[j] = 0.0f;
                    for (int l = 0; l < 64; ++l) lanes0[l] = sum_float::join(lanes0[l], sum_float::join(sum_float::join(value0[l], value0[l + 64]), sum_float::join(value0[l + 128], value0[l + 192])));
                }
            }
            for (int half = 32; half > 0; half /= 2)
                for (int l = 0; l < half; ++l) lanes0[l] = sum_float::join(lanes0[l], lanes0[l + half]);
            sum0 = lanes0[0];
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, sum0);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        double whole0 = 0.0;
        for (uint32 s = 0; s < pieces; ++s) whole0 = sum_double::join(whole0, take<float>(slots + s * stride));
        sum0 = float(whole0);
        *(p.z0 + i0) = sum0;
    }
}
