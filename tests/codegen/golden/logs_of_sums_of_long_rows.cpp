namespace step1 {
// max(x0)
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_float {
    static float join(float a, float b) {
        const float m = a < b ? b : a;
        return b == b ? m : b;
    }
};

/// All lanes as one, joined as a tree.
template <class joiner, int n, class type>
static inline type join_lanes(type* lanes) {
    if constexpr (n > 1) {
        for (int l = 0; l < n / 2; ++l) lanes[l] = joiner::join(lanes[l], lanes[l + n / 2]);
        return join_lanes<joiner, n / 2>(lanes);
    } else {
        return lanes[0];
    }
}

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
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        float max0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inff();
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                }
            }
            max0 = join_lanes<max_float, 256>(lanes0);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, max0);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        float whole0 = -__builtin_inff();
        for (uint32 s = 0; s < pieces; ++s) whole0 = max_float::join(whole0, take<float>(slots + s * stride));
        max0 = whole0;
        *(p.z0 + i0) = max0;
    }
}
}  // namespace step1

namespace step2 {
// log(sum(exp(x0 - x1)))
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

static inline float exp_float(float a) {
    float x = a < -104.0f ? -104.0f : a > 89.0f ? 89.0f : a;
    float shifted = x * 1.44269502f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194442e-4f;
    float p = 1.38210540e-3f;
    p = p * r + 8.36867467e-3f;
    p = p * r + 4.16682623e-2f;
    p = p * r + 1.66665211e-1f;
    p = p * r + 4.99999940e-1f;
    p = p * (r * r) + r + 1.0f;
    uint32 k = bits_of(shifted) - bits_of(12582912.0f);
    uint32 half = ((k + 256u) >> 1) - 128u;
    return p * from_bits((half + 127u) << 23) * from_bits((k - half + 127u) << 23);
}

struct sum_float {
    static float join(float a, float b) { return a + b; }
};

/// All lanes as one, joined as a tree.
template <class joiner, int n, class type>
static inline type join_lanes(type* lanes) {
    if constexpr (n > 1) {
        for (int l = 0; l < n / 2; ++l) lanes[l] = joiner::join(lanes[l], lanes[l + n / 2]);
        return join_lanes<joiner, n / 2>(lanes);
    } else {
        return lanes[0];
    }
}

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

static inline float log_float(float a) {
    bool tiny = a < 1.17549435e-38f;
    float x = tiny ? a * 8388608.0f : a;
    uint32 e = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(x) - e) - 1.0f;
    float n = from_bits(bits_of(12582912.0f) + uint32(int32(e) >> 23)) - (tiny ? 12582935.0f : 12582912.0f);
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = n * 0.693147182f + p;
    p = bits_of(a) < 0x7f800000u ? p : a * from_bits(0x7f800000u) + from_bits(0x7f800000u);
    return a == 0 ? from_bits(0xff800000u) : p;
}

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    uint32 row_pieces;
    uint32 folded;
    int32 x0_stride0;
    uint32 rows;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 piece = block % pieces;
        const uint32 row = block / pieces;
        const int32 i0 = int32(row);
        const float x1 = *(p.x1 + i0);
        float sum0;
        {
            const uint32 from = piece * 32768;
            const uint32 to = p.folded - from < 32768 ? p.folded : from + 32768;
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = from; first < to; first += 256) {
                const int m = to - first < 256 ? int(to - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j] - x1;
                    lanes0[j] = sum_float::join(lanes0[j], exp_float(t0));
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        uint64* const slots = p.scratch + p.rows + row;
        const uint64 stride = uint64(p.rows) * 1;
        put(slots + piece * stride, sum0);
        if (__atomic_add_fetch(p.scratch + row, 1, __ATOMIC_ACQ_REL) != pieces) continue;
        p.scratch[row] = 0;
        double whole0 = 0.0;
        for (uint32 s = 0; s < pieces; ++s) whole0 = sum_double::join(whole0, take<float>(slots + s * stride));
        sum0 = float(whole0);
        *(p.z0 + i0) = log_float(sum0);
    }
}
}  // namespace step2
