// The declarations that the sources in this folder share, each below its name.

//// independent
/// Declares that the iterations of the next loop are independent.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

//// packing
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

//// gather_lanes
/// Loads the lanes of a strip, which are contiguous or have one offset each.
template <class type, class offset>
static inline void gather_lanes(type* to, const type* row, const offset* at, bool dense, int m) {
    if (dense)
        for (int j = 0; j < m; ++j) to[j] = row[j];
    else
        for (int j = 0; j < m; ++j) to[j] = row[at[j]];
}

//// scatter_lanes
/// Stores the lanes of a strip, which are contiguous or have one offset each.
template <class type, class offset>
static inline void scatter_lanes(const type* from, type* row, const offset* at, bool dense, int m) {
    if (dense)
        for (int j = 0; j < m; ++j) row[j] = from[j];
    else
        for (int j = 0; j < m; ++j) row[at[j]] = from[j];
}

//// complex64
struct alignas(8) complex64 {
    float re, im;
    complex64() = default;
    complex64(float a, float b) : re(a), im(b) {}
};
static inline float real(const complex64& z) { return z.re; }
static inline float imag(const complex64& z) { return z.im; }

//// stream
/// Stores that bypass the caches, in wide parts, so that each cache line is written without interruption.
#if defined(__AVX512F__)
typedef long long part __attribute__((vector_size(64), may_alias));
#else
typedef long long part __attribute__((vector_size(32), may_alias));
#endif
static inline void stream(void* to, const void* from, unsigned long bytes) {
    const unsigned long parts = bytes / sizeof(part), done = parts * sizeof(part);
    for (unsigned long i = 0; i < parts; ++i) {
        part* const at = (part*)to + i;
        const part value = ((const part*)from)[i];
#if defined(__clang__)
        __builtin_nontemporal_store(value, at);
#elif defined(__AVX512F__)
        __builtin_ia32_movntdq512(at, value);
#elif defined(__AVX__)
        __builtin_ia32_movntdq256(at, value);
#else
        *at = value;
#endif
    }
    __builtin_memcpy((char*)to + done, (const char*)from + done, bytes - done);
}
static inline bool starts_line(const void* row) { return (unsigned long)row % 64 == 0; }
/// Makes streamed stores visible before this thread's later stores.
static inline void settle() {
#if defined(__SSE__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

//// to_int16
/// Converts with saturation; NaN gives 0.
static inline int16 to_int16(float a) {
    const int16 least = int16(1ull << 15);
    return a >= 32768.0f ? int16(~int16(0) ^ least) : a <= -32768.0f ? least : (a <= -1.0f) | (a >= 1.0f) ? int16(a) : int16(0);
}

//// rolled
/// Keeps the next loop rolled until it is vectorised; if unrolled before, its calls would stay scalar.
#ifdef __clang__
#define rolled
#else
#define rolled _Pragma("GCC unroll 1")
#endif

//// bits_of
static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

//// from_bits
static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

//// exp_float
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

//// floor_divide_int32
static inline int32 floor_divide_int32(int32 a, int32 b) {
    if (b == 0) return int32(0);
    if (int32(-1) < 0 && b == int32(-1)) return int32(uint32(0) - uint32(a));
    return a % b != 0 && (a < 0) != (b < 0) ? int32(a / b - 1) : int32(a / b);
}

//// remainder_int32
static inline int32 remainder_int32(int32 a, int32 b) {
    if (b == 0 || (int32(-1) < 0 && b == int32(-1))) return int32(0);
    int32 m = int32(a % b);
    return m != 0 && (m < 0) != (b < 0) ? int32(m + b) : m;
}

//// generator_key
struct generator_key { uint64 seed, call; };

//// philox_words
struct philox_words { uint32 w[4]; };

//// philox
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

//// uniform_float
static inline void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

//// uniform_float.2
static inline float uniform_float(const generator_key& key, uint64 i) {
    float group[4];
    uniform_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// low_product
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

//// uniform_float_run
/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.
static inline const float* uniform_float_run(float* to, generator_key key, uint64 first, int m) {
    const int before = int(first % 4), groups = (before + m + 4 - 1) / 4;
    for (int vector = 0; vector < groups; vector += 16) {
        float* const at = to + 4 * vector;
        alignas(64) uint32 words[16 * 4];
        philox_groups(words, key, first / 4 + vector);
        rolled
        independent
        for (int j = 0; j < 64; ++j) at[j] = float(int(words[j] >> 8)) * 0x1p-24f;
    }
    return to + before;
}

//// ranged_key
/// A generator of integers from 0 to `last`.
struct ranged_key { generator_key of; uint64 last; };

//// scaled
/// word * (last + 1).
static inline uint64 scaled(uint32 word, uint32 last) { return uint64(word) * last + word; }

//// integers_uint32
/// Multiplies 64-bit words by the range and divides by 2^64. The lower halves of the words add at most `last`
/// to the products of the upper halves, so they are drawn only if a product may carry.
static inline void integers_uint32(uint32* to, const ranged_key& key, uint64 group) {
    const philox_words upper = philox(key.of, group);
    const uint32 last = uint32(key.last);
    bool may_carry = false;
    for (int j = 0; j < 4; ++j) {
        const uint64 product = scaled(upper.w[j], last);
        to[j] = uint32(product >> 32);
        may_carry |= uint32(product) > ~last;
    }
    if (!may_carry) return;
    const philox_words lower = philox(key.of, group + (1ull << 60));
    for (int j = 0; j < 4; ++j)
        to[j] = uint32((scaled(upper.w[j], last) + (scaled(lower.w[j], last) >> 32)) >> 32);
}

//// integers_uint32.2
static inline uint32 integers_uint32(const ranged_key& key, uint64 i) {
    uint32 group[4];
    integers_uint32(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// integers_uint32_run
/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.
static inline const uint32* integers_uint32_run(uint32* to, ranged_key key, uint64 first, int m) {
    const int before = int(first % 4), groups = (before + m + 4 - 1) / 4;
    for (int vector = 0; vector < groups; vector += 16) {
        uint32* const at = to + 4 * vector;
        alignas(64) uint32 words[16 * 4];
        philox_groups(words, key.of, first / 4 + vector);
        const uint32 last = uint32(key.last);
        uint32 may_carry = 0;
        rolled
        for (int j = 0; j < 64; ++j) {
            const uint64 product = scaled(words[j], last);
            at[j] = uint32(product >> 32);
            may_carry |= uint32(product) > ~last;
        }
        if (may_carry == 0) continue;
        alignas(64) uint32 lower[64];
        philox_groups(lower, key.of, first / 4 + vector + (1ull << 60));
        rolled
        independent
        for (int j = 0; j < 64; ++j)
            at[j] = uint32((scaled(words[j], last) + (scaled(lower[j], last) >> 32)) >> 32);
    }
    return to + before;
}

//// spread_lanes
/// Repeats one element over each row of n lanes. For very short rows one offset per lane is cheaper.
template <class type, class offset>
static inline void spread_lanes(type* to, const type* from, const offset* at, int n, int m) {
    if (n < 16) {
        for (int j = 0; j < m; ++j) to[j] = from[at[j]];
        return;
    }
    for (int j = 0; j < m; j += n) {
        const type value = from[at[j]];
        const int end = m - j < n ? m : j + n;
        for (int k = j; k < end; ++k) to[k] = value;
    }
}

//// fraction
/// The upper 53 bits of a word divided by 2^53, from parts that are exact in the mantissas of 2^52 and 2^84.
static inline double fraction(uint64 word) {
    const double low = __builtin_bit_cast(double, (word >> 11 & 0xffffffffu) | 0x4330000000000000u);
    const double high = __builtin_bit_cast(double, word >> 43 | 0x4530000000000000u);
    return (high - 0x1.00000001p84 + low) * 0x1p-53;
}

//// logarithm
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

//// circle
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

//// polar
/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * logarithm(fraction(p) + 0x1p-54));
    double cosine, sine;
    circle(6.28318530717958647692 * fraction(q), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

//// normal_double
static inline void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

//// normal_double.2
static inline double normal_double(const generator_key& key, uint64 i) {
    double group[2];
    normal_double(group, key, i / 2);
    return i & 1 ? group[1] : group[0];
}

//// normal_double_run
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

//// error_record
/// The first error on a stream that has not been thrown yet.
struct error_record {
    unsigned long long statement;
    unsigned int kind;
    int axis;
    long long index, extent;
};
static void report_error(error_record* record, unsigned long long statement, unsigned int kind, int axis,
                  long long index, long long extent) {
    unsigned long long none = 0;
    if (!__atomic_compare_exchange_n(&record->statement, &none, statement, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED))
        return;
    record->axis = axis;
    record->index = index;
    record->extent = extent;
    __atomic_store_n(&record->kind, kind, __ATOMIC_RELEASE);
}

//// checked_index
/// Converts an index, which may be negative, for an axis of n. One out of range gives 0 and is reported.
static inline int32 checked_index(int32 at, int32 n, error_record* errors, unsigned long long statement, bool& outside) {
    const int32 index = at < 0 ? at + n : at;
    if (index >= 0 && index < n) return int32(index);
    report_error(errors, statement, 1, -1, at, n);
    outside = true;
    return 0;
}

//// scatter_add_float32
/// Combines a value with the element at its address.
static inline void scatter_add_float32(float* at, float value) {
    *at = *at + value;
}

//// scatter_add_int64
/// Combines a value with the element at its address.
static inline void scatter_add_int64(int64* at, int64 value) {
    *at = int64(uint64(*at) + uint64(value));
}

//// sum_float
struct sum_float {
    static float join(float a, float b) { return a + b; }
};

//// join_lanes
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

//// put
/// A block writes its slots of the scratch memory; the finishing block reads and clears them.
template <class type>
static inline void put(uint64* slot, type v) {
    __builtin_memcpy(slot, &v, sizeof v);
}

//// take
template <class type>
static inline type take(uint64* slot) {
    type v;
    __builtin_memcpy(&v, slot, sizeof v);
    *slot = 0;
    return v;
}

//// sum_double
struct sum_double {
    static double join(double a, double b) { return a + b; }
};

//// sum_int64
struct sum_int64 {
    static int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};

//// log_float
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

//// max_float
struct max_float {
    static float join(float a, float b) { return (a < b) | (b != b) ? b : a; }
};

//// weight
static inline float weight(float x) { return exp_float(x); }

//// weight.2
static inline double weight(double x) { return exp(x); }

//// largest
template <class type>
constexpr type largest();
template <>
constexpr float largest() {
    return 3.402823466e+38f;
}
template <>
constexpr double largest() {
    return 1.7976931348623157e+308;
}

//// exponential_sum
/// The greatest element `top` and the sum of exp(x - top).
struct exponential_sum {
    double top, sum;
};

//// exponentials
struct exponentials {
    static exponential_sum join(exponential_sum a, exponential_sum b) {
        const bool above = a.top > b.top;
        const double less = weight(above ? b.top - a.top : a.top - b.top);
        return {above ? a.top : b.top, above ? a.sum + b.sum * less : b.sum + a.sum * less};
    }
    /// Each lane holds its greatest element `top` and the sum of exp(x - near). `near` is updated only when an
    /// element exceeds it by more than 2; lanes that reduce one row share it. end_strips() adds the exponentials
    /// of some strips of m elements.
    template <class type>
    static void keep(type v, type& of_strip, int& far, type near, type& top) {
        of_strip = v;
        top = v > top ? v : top;
        far |= v - near > 2;
    }
    template <int strips, int width, bool one_row, class type>
    static void end_strips(const type* __restrict v, int& far, int m, type* __restrict near, type* __restrict sum,
                          type* __restrict top) {
        if (far) {
            far = 0;
            type most = -largest<type>();
            for (int j = 0; one_row && j < m; ++j) most = top[j] > most ? top[j] : most;
            independent
            for (int j = 0; j < m; ++j) {
                top[j] = top[j] < largest<type>() ? top[j] : largest<type>();
                const type high = one_row ? most < largest<type>() ? most : largest<type>() : top[j];
                sum[j] *= weight(near[j] - high);
                near[j] = high;
            }
        }
        independent
        for (int j = 0; j < m; ++j)
            for (int s = 0; s < strips; ++s) sum[j] += weight(v[s * width + j] - near[j]);
    }
    static exponential_sum of_lane(double near, double sum, double top, uint64) {
        return {top, sum == 0 ? 0 : sum * weight(near - top)};
    }
    template <int lanes, class type>
    static exponential_sum of_lanes(const type* near, const type* sum, const type* top, uint64) {
        type most = top[0];
        for (int l = 1; l < lanes; ++l) most = top[l] > most ? top[l] : most;
        double shares[lanes], all = 0;
        for (int l = 0; l < lanes; ++l) shares[l] = sum[l] * weight(double(near[l]) - most);
        for (int l = 0; l < lanes; ++l) all += shares[l];
        return {most, all};
    }
    template <class type>
    static type about(exponential_sum a, type c) {
        return type(a.sum * weight(a.top - c));
    }
    /// Returns the greatest element. The sum shows whether it is infinite or NaN.
    static double greatest(exponential_sum a) {
        return a.sum > 0 && a.sum <= largest<double>() ? a.top : a.sum == 0 ? -__builtin_inf() : a.sum;
    }
};

//// max_double
struct max_double {
    static double join(double a, double b) { return (a < b) | (b != b) ? b : a; }
};

//// moments
/// Moments of elements: their count, a reference value `near`, the mean minus `near`, and the sum of squared
/// deviations from the mean.
struct moments {
    double count, near, mean, squares;
};

//// squares
struct squares {
    static moments join(moments a, moments b) {
        if (b.count == 0) return a;
        if (a.count == 0) return b;
        const double count = a.count + b.count, share = b.count / count, off = (b.near - a.near) + (b.mean - a.mean);
        return {count, a.near, a.mean + off * share, a.squares + b.squares + off * off * a.count * share};
    }
    template <class type>
    static void keep(type v, type near, type& sum, type& squares) {
        const type off = v - near;
        sum += off;
        squares += off * off;
    }
    /// Sets `near` to the mean of the first strip, which `sum` holds relative to 0.
    template <class type>
    static void begin(int m, type& near, type* sum, type* squares) {
        double mean = 0;
        for (int j = 0; j < m; ++j) mean += sum[j] * (1.0 / m);
        near = type(mean);
        for (int j = 0; j < m; ++j) {
            sum[j] -= near;
            squares[j] = sum[j] * sum[j];
        }
    }
    template <int lanes, class type>
    static moments of_lanes(type near, const type* sum, const type* squares, uint64 n) {
        constexpr int chains = 8;
        double sums[chains] = {}, more[chains] = {}, all = 0, all_squares = 0;
        for (int l = 0; l < lanes; l += chains)
            for (int c = 0; c < chains; ++c) sums[c] += sum[l + c], more[c] += squares[l + c];
        for (int c = 0; c < chains; ++c) all += sums[c], all_squares += more[c];
        return of_lane(near, all, all_squares, n);
    }
    /// Variants for lanes that each reduce their own row: keep_first() makes the row's first element `near`, and
    /// begin_lanes() moves `near` to the mean of the first n elements.
    template <class type>
    static void keep_first(type v, bool first, type& near, type& sum, type& squares) {
        near = first ? v : near;
        keep(v, near, sum, squares);
    }
    template <int n, class type>
    static void begin_lanes(int m, type* near, type* sum, type* squares) {
        for (int j = 0; j < m; ++j) {
            const type before = near[j];
            near[j] += sum[j] * type(1.0 / n);
            const type moved = near[j] - before, less = n * moved;
            const type about = squares[j] - moved * (sum[j] + (sum[j] - less));
            squares[j] = about == about ? about : squares[j];  // an overflowed sum stays infinite
            sum[j] -= less;
        }
    }
    static moments of_lane(double near, double sum, double squares, uint64 n) {
        if (n == 0) return {0, 0, 0, 0};
        const double mean = sum / n, about = squares - sum * mean;
        // If the squares overflow and the mean is finite, the result is infinite; the difference would be NaN.
        return {double(n), near, mean, about >= 0 ? about : about < 0 ? 0 : squares + (mean - mean)};
    }
    template <class type>
    static type about(moments a, type c) {
        const double off = a.near - c + a.mean;
        return type(a.squares + a.count * off * off);
    }
    /// Returns the squares about the sum of all elements divided by n, which may differ from their count.
    template <class type>
    static type about_share(moments a, type n) {
        if (a.count == n) return type(a.squares);
        const double off = (a.near + a.mean) * (1 - a.count / n);
        return type(a.squares + a.count * off * off);
    }
};

//// keep_max_float
/// Updates a lane's best element and the number of its strip; a NaN stays best.
static inline void keep_max_float(float v, int32 strip, float& best, int32& best_strip) {
    const int32 wins = -int32(!(v <= best)) & -int32(best == best);
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

//// indexed_float
/// An element and its index in the row.
struct indexed_float {
    float value;
    int64 at;
};

//// earlier
struct earlier {
    static int join(int a, int b) { return a < b ? a : b; }
};

//// first_of_lanes
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

//// argmax_float
struct argmax_float {
    static indexed_float join(indexed_float a, indexed_float b) {
        if (a.value != a.value || b.value != b.value)
            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;
        return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// first_argmax_float
/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_float first_argmax_float(const float* lanes, const int32* strips, int64 from) {
    float best;
    const int index = first_of_lanes<max_float, n>(lanes, strips, best);
    return {best, from + index};
}

//// min_int32
struct min_int32 {
    static int32 join(int32 a, int32 b) { return b < a ? b : a; }
};

//// keep_min_int32
/// Updates a lane's best element and the number of its strip.
static inline void keep_min_int32(int32 v, int32 strip, int32& best, int32& best_strip) {
    const bool wins = v < best;
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

//// indexed_int32
/// An element and its index in the row.
struct indexed_int32 {
    int32 value;
    int64 at;
};

//// argmin_int32
struct argmin_int32 {
    static indexed_int32 join(indexed_int32 a, indexed_int32 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// min_int16
struct min_int16 {
    static int16 join(int16 a, int16 b) { return b < a ? b : a; }
};

//// keep_min_int16
/// Updates a lane's best element and the number of its strip.
static inline void keep_min_int16(int16 v, int16 strip, int16& best, int16& best_strip) {
    const bool wins = v < best;
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

//// indexed_int16
/// An element and its index in the row.
struct indexed_int16 {
    int16 value;
    int64 at;
};

//// argmin_int16
struct argmin_int16 {
    static indexed_int16 join(indexed_int16 a, indexed_int16 b) {
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// first_argmin_int16
/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_int16 first_argmin_int16(const int16* lanes, const int16* strips, int64 from) {
    int16 best;
    const int index = first_of_lanes<min_int16, n>(lanes, strips, best);
    return {best, from + index};
}

//// any_bool
struct any_bool {
    static bool join(bool a, bool b) { return b ? true : a; }
};

//// logarithm.2
/// log(x) for 2^-33 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
static inline float logarithm(float x) {
    const uint32 bits = __builtin_bit_cast(uint32, x), exponent = (bits + 0x004afb0du) >> 23;
    const float k = float(int(exponent) - 127);
    const float f = __builtin_bit_cast(float, bits - (exponent << 23) + 0x3f800000u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, h = 0.5f * f;
    float t = fma(2.4279078841e-01f, z, 2.8498786688e-01f);
    t = fma(fma(t, z, 4.0000972152e-01f), z, 6.6666662693e-01f);
    t = fma(s, fma(h, f, t * z), k * 9.0580006145e-06f);
    return fma(k, 6.9313812256e-01f, f - fma(h, f, -t));
}

//// circle.2
/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
static inline void circle(float x, float& cosine, float& sine) {
    const float counted = fma(x, 0.636619772f, 0x1.8p23f), quarters = counted - 0x1.8p23f;
    float r = fma(quarters, -1.57079601f, x);
    r = fma(quarters, -3.13916473e-07f, r);
    r = fma(quarters, -5.39030253e-15f, r);
    const float s = r * r;
    float c = fma(2.44331571e-5f, s, -1.38873162e-3f), t = fma(-1.95152959e-4f, s, 8.33216087e-3f);
    c = fma(fma(fma(c, s, 4.16666456e-2f), s, -0.5f), s, 1.0f);
    t = fma(fma(t, s, -1.66666546e-1f) * s, r, r);
    const uint32 k = bits_of(counted);
    cosine = from_bits(bits_of(k & 1 ? t : c) ^ ((k + 1) & 2) << 30);
    sine = from_bits(bits_of(k & 1 ? c : t) ^ (k & 2) << 30);
}

//// polar.2
/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * (float(int(q >> 8)) * 0x1p-24f), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

//// normal_float
static inline void normal_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}

//// normal_float.2
static inline float normal_float(const generator_key& key, uint64 i) {
    float group[4];
    normal_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
}

//// min_float
struct min_float {
    static float join(float a, float b) { return (b < a) | (b != b) ? b : a; }
};

//// keep_min_float
/// Updates a lane's best element and the number of its strip; a NaN stays best.
static inline void keep_min_float(float v, int32 strip, float& best, int32& best_strip) {
    const int32 wins = -int32(!(v >= best)) & -int32(best == best);
    best = wins ? v : best;
    best_strip = wins ? strip : best_strip;
}

//// argmin_float
struct argmin_float {
    static indexed_float join(indexed_float a, indexed_float b) {
        if (a.value != a.value || b.value != b.value)
            return a.value != a.value && (b.value == b.value || a.at < b.at) ? a : b;
        return a.value < b.value || (a.value == b.value && a.at < b.at) ? a : b;
    }
};

//// first_argmin_float
/// Returns the best element of all lanes and its index.
template <int n>
static inline indexed_float first_argmin_float(const float* lanes, const int32* strips, int64 from) {
    float best;
    const int index = first_of_lanes<min_float, n>(lanes, strips, best);
    return {best, from + index};
}

//// max_int16
struct max_int16 {
    static int16 join(int16 a, int16 b) { return a < b ? b : a; }
};

//// prod_double
struct prod_double {
    static double join(double a, double b) { return a * b; }
};

//// user_l2
/// The text of l2.
struct user_l2 {
    using T = float;
    static T map(T x) { return x * x; }
    static T join(T a, T b) { return a + b; }
    static T identity() { return 0; }
    static T post(T a) {
        T y;
        y = sqrt(a);
        return y;
    }
};

//// min_uint16
struct min_uint16 {
    static uint16 join(uint16 a, uint16 b) { return b < a ? b : a; }
};

//// count_nonzero_int64
struct count_nonzero_int64 {
    static int64 join(int64 a, int64 b) { return int64(uint64(a) + uint64(b)); }
};
