// g0 * x0
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;
static inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
static inline double sqrt(double a) { return __builtin_sqrt(a); }

/// Consecutive strips in linear order; each covers whole points of the axis that is cut.
struct packing {
    uint32 span, step;  // elements of all points of that axis, and of a strip
    /// Returns the start of the first strip at or after `at`.
    uint32 first(uint32 at) const {
        const uint32 within = (at % span + step - 1) / step * step;
        return at / span * span + (within < span ? within : span);
    }
    /// Returns the number of elements of the strip that starts at `at`.
    int length(uint32 at) const {
        const uint32 left = span - at % span;
        return int(left < step ? left : step);
    }
};
/// Cuts the innermost axis that exceeds `room`. A strip is a whole number of vectors if `room` has space
/// for enough points.
template <class... extents>
static inline packing pack(uint32 room, uint32 vector, uint32 inner, extents... outer) {
    const uint32 sizes[] = {outer...};
    uint32 point = 1, span = inner;
    for (const uint32 n : sizes) {
        if (span > room) break;
        point = span;
        span *= n;
    }
    const uint32 common = (point | vector) & -(point | vector);
    uint32 most = room / point, multiple = vector / common;
    if (multiple > most) multiple = 1;
    most = most / multiple * multiple;
    const uint32 points = span / point, strips = (points + most - 1) / most;
    const uint32 each = ((points + strips - 1) / strips + multiple - 1) / multiple * multiple;
    return {span, (each < points ? each : points) * point};
}

struct generator_key { uint64 seed, call; };

struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
static inline philox_words philox(const generator_key& key, uint64 counter) {
    uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(key.call), c3 = uint32(key.call >> 32);
    uint32 k0 = uint32(key.seed), k1 = uint32(key.seed >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64 a = uint64(c0) * 0xd2511f53u, b = uint64(c2) * 0xcd9e8d57u;
        c0 = uint32(b >> 32) ^ c1 ^ k0;
        c2 = uint32(a >> 32) ^ c3 ^ k1;
        c1 = uint32(b);
        c3 = uint32(a);
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{c0, c1, c2, c3}};
}

/// The upper 53 bits of a word divided by 2^53, from parts that are exact in the mantissas of 2^52 and 2^84.
static inline double fraction(uint64 word) {
    const double low = __builtin_bit_cast(double, (word >> 11 & 0xffffffffu) | 0x4330000000000000u);
    const double high = __builtin_bit_cast(double, word >> 43 | 0x4530000000000000u);
    return (high - 0x1.00000001p84 + low) * 0x1p-53;
}

/// log(x) for 2^-54 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
static inline double logarithm(double x) {
    const uint64 bits = __builtin_bit_cast(uint64, x), exponent = (bits + 0x00095f619980c433u) >> 52;
    const double k = __builtin_bit_cast(double, exponent | 0x4330000000000000u) - (0x1p52 + 1023);
    const double f = __builtin_bit_cast(double, bits - (exponent << 52) + 0x3ff0000000000000u) - 1.0;
    const double s = f / (2.0 + f), z = s * s, h = 0.5 * f;
    double t = fma(1.479819860511658591e-01, z, 1.531383769920937332e-01);
    t = fma(fma(fma(t, z, 1.818357216161805012e-01), z, 2.222219843214978396e-01), z, 2.857142874366239149e-01);
    t = fma(fma(t, z, 3.999999999940941908e-01), z, 6.666666666666735130e-01);
    t = fma(s, fma(h, f, t * z), k * 1.90821492927058770002e-10);
    return fma(k, 6.93147180369123816490e-01, f - fma(h, f, -t));
}

/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
static inline void circle(double x, double& cosine, double& sine) {
    const double counted = fma(x, 0.636619772367581343076, 0x1.8p52), quarters = counted - 0x1.8p52;
    double r = fma(quarters, -1.57079632679489655800e+00, x);
    r = fma(quarters, -6.12323399573676603587e-17, r);
    const double s = r * r;
    double c = fma(-1.13596475577881948265e-11, s, 2.08757232129817482790e-09);
    c = fma(fma(fma(c, s, -2.75573143513906633035e-07), s, 2.48015872894767294178e-05), s, -1.38888888888741095749e-03);
    c = fma(fma(fma(c, s, 4.16666666666666019037e-02), s, -0.5), s, 1.0);
    double t = fma(1.58969099521155010221e-10, s, -2.50507602534068634195e-08);
    t = fma(fma(fma(t, s, 2.75573137070700676789e-06), s, -1.98412698298579493134e-04), s, 8.33333333332248946124e-03);
    t = fma(fma(t, s, -1.66666666666666324348e-01) * s, r, r);
    const uint64 k = __builtin_bit_cast(uint64, counted);
    cosine = __builtin_bit_cast(double, __builtin_bit_cast(uint64, k & 1 ? t : c) ^ ((k + 1) & 2) << 62);
    sine = __builtin_bit_cast(double, __builtin_bit_cast(uint64, k & 1 ? c : t) ^ (k & 2) << 62);
}

/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * logarithm(fraction(p) + 0x1p-54));
    double cosine, sine;
    circle(6.28318530717958647692 * fraction(q), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

static inline void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

static inline double normal_double(const generator_key& key, uint64 i) {
    double group[2];
    normal_double(group, key, i / 2);
    return i & 1 ? group[1] : group[0];
}

/// Keeps the next loop rolled until it is vectorised; if unrolled before, its calls would stay scalar.
#ifdef __clang__
#define rolled
#else
#define rolled _Pragma("GCC unroll 1")
#endif

/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

/// Computes the words of 16 consecutive groups.
#ifdef __AVX2__
typedef uint64 word_lanes __attribute__((vector_size(32)));
static inline word_lanes low_product(word_lanes a, word_lanes b) {
#ifdef __clang__
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#else
    typedef int half_lanes __attribute__((vector_size(32)));
    return (word_lanes)__builtin_ia32_pmuludq256((half_lanes)a, (half_lanes)b);
#endif
}
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    const word_lanes zero = {}, multiplier0 = zero + 0xd2511f53u, multiplier1 = zero + 0xcd9e8d57u;
    rolled
    for (int j = 0; j < 16; j += 4) {
        const word_lanes counter = word_lanes{0, 1, 2, 3} + (group + j);
        word_lanes c0 = counter, c1 = counter >> 32, c2 = zero + key.call, c3 = zero + (key.call >> 32);
        uint32 k0 = uint32(key.seed), k1 = uint32(key.seed >> 32);
        for (int round = 0; round < 10; ++round) {
            const word_lanes a = low_product(c0, multiplier0), b = low_product(c2, multiplier1);
            c0 = b >> 32 ^ c1 ^ k0;
            c2 = a >> 32 ^ c3 ^ k1;
            c1 = b;
            c3 = a;
            k0 += 0x9e3779b9u;
            k1 += 0xbb67ae85u;
        }
        const word_lanes w01 = (c0 & 0xffffffffu) | c1 << 32, w23 = (c2 & 0xffffffffu) | c3 << 32;
        const word_lanes groups[] = {__builtin_shufflevector(w01, w23, 0, 4, 1, 5),
                                     __builtin_shufflevector(w01, w23, 2, 6, 3, 7)};
        __builtin_memcpy((char*)to + 16 * j, groups, sizeof groups);
    }
}
#else
template <class word>
static inline void philox_groups(word* to, generator_key key, uint64 group) {
    rolled
    independent
    for (int j = 0; j < 16; ++j) {
        const philox_words r = philox(key, group + j);
        __builtin_memcpy((char*)to + 16 * j, r.w, sizeof r.w);
    }
}
#endif

/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.
static inline const double* normal_double_run(double* to, generator_key key, uint64 first, int m) {
    const int before = int(first % 2), groups = (before + m + 2 - 1) / 2;
    for (int vector = 0; vector < groups; vector += 16) {
        double* const at = to + 2 * vector;
        alignas(64) uint64 words[16 * 2];
        philox_groups(words, key, first / 2 + vector);
        rolled
        independent
        for (int j = 0; j < 16; ++j) polar(at + 2 * j, words[2 * j], words[2 * j + 1]);
    }
    return to + before;
}

/// Stores the lanes of a strip, which are contiguous or have one offset each.
template <class type, class offset>
static inline void scatter_lanes(const type* from, type* row, const offset* at, bool dense, int m) {
    if (dense)
        for (int j = 0; j < m; ++j) row[j] = from[j];
    else
        for (int j = 0; j < m; ++j) row[at[j]] = from[j];
}

struct arguments {
    const double* x0;
    double* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 n1;
    uint32 n0;
    int32 z0_stride0;
    int32 g0_stride0;
    uint32 size;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    alignas(64) double x0_copy[512] = {};
    alignas(64) double z0_copy[512] = {};
    alignas(64) double g0_numbers[546] = {};
    const packing strips = pack(512, 8, p.n1, p.n0);
    int32 z0_at[512];
    bool z0_dense = true;
    int64 g0_at[512];
    bool g0_dense = true;
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_copy[j] = *(p.x0 + i1);
            z0_at[j] = int32(i0 * p.z0_stride0 + i1);
            z0_dense &= z0_at[j] == j;
            g0_at[j] = int64(i0 * p.g0_stride0 + i1);
            g0_dense &= g0_at[j] == j;
            ++i1;
            if (i1 < int32(p.n1)) continue;
            i1 = 0;
            ++i0;
        }
    }
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 from = block * 32768;
        const uint32 to = p.size - from < 32768 ? p.size : from + 32768;
        for (uint32 start = strips.first(from); start < to; start += strips.length(start)) {
            const int m = strips.length(start);
            uint32 rest = start;
            const int32 i1 = int32(rest % p.n1);
            rest /= p.n1;
            const int32 i0 = int32(rest);
            double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            const int64 g0_row = p.g0_first + i0 * p.g0_stride0 + i1;
            const bool whole = m % 8 == 0;
            double* const z0_strip = z0_dense && whole ? z0_row : z0_copy;
            const double* g0_strip = g0_numbers;
            if (g0_dense) {
                g0_strip = normal_double_run(g0_numbers, p.g0_key, g0_row, m);
            } else {
                for (int vector = 0; vector < m; vector += 8) {
                    rolled
                    independent
                    for (int j = vector; j < vector + 8; ++j) {
                        g0_numbers[j] = normal_double(p.g0_key, g0_row + g0_at[j]);
                    }
                }
            }
            for (int vector = 0; vector < m; vector += 8) {
                rolled
                independent
                for (int j = vector; j < vector + 8; ++j) {
                    const double x0 = x0_copy[j];
                    const double g0 = g0_strip[j];
                    z0_strip[j] = g0 * x0;
                }
            }
            if (z0_strip == z0_copy) scatter_lanes(z0_copy, z0_row, z0_at, z0_dense, m);
        }
    }
}
