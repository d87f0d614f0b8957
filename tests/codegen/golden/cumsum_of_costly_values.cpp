// cumsum(tanh(erf(g0 * x0))) + x1
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;
using uint64 = unsigned long long;
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <features.h>
#define vectorised __attribute__((simd("notinbranch"), const, nothrow))
#endif
#if defined(vectorised) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define vectorised_since_235 vectorised
#endif
#endif
#ifndef vectorised
#define vectorised __attribute__((const, nothrow))
#endif
#ifndef vectorised_since_235
#define vectorised_since_235 __attribute__((const, nothrow))
#endif
extern "C" vectorised_since_235 float erff(float a);
static inline float erf(float a) { return erff(a); }
static inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline float sqrt(float a) { return __builtin_sqrtf(a); }
extern "C" vectorised_since_235 float tanhf(float a);
static inline float tanh(float a) { return tanhf(a); }

extern "C" int sched_yield(void) noexcept;
/// Waits until the flag is set; the thread that sets it is already running.
static inline void wait_for(const uint64* flag) {
    for (int turns = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0; ++turns)
        if (turns % 1024 == 0) sched_yield();
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

static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

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

/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * (float(int(q >> 8)) * 0x1p-24f), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

static inline void normal_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}

static inline float normal_float(const generator_key& key, uint64 i) {
    float group[4];
    normal_float(group, key, i / 4);
    return i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0];
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

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

struct arguments {
    const float* x0;
    const float* x1;
    float* z0;
    uint64* scratch;
    int64 g0_first;
    generator_key g0_key;
    uint32 row_pieces;
    uint32 scanned;
    uint32 blocks;
};

extern "C" void scan(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const uint32 pieces = p.row_pieces;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 ticket = uint32(__atomic_fetch_add(p.scratch, 1, __ATOMIC_RELAXED));
        const uint32 piece = ticket % pieces;
        const uint32 from = piece * 32768, to = p.scanned - from < 32768 ? p.scanned : from + 32768;
        uint64* const left = p.scratch + 2 + uint64(ticket) * 2;
        double sum0 = -0.0;
        for (int32 first = int32(from); first < int32(to); first += 256) {
            const int m = int32(to) - first < 256 ? int(int32(to) - first) : 256;
            alignas(64) float x0_copy[256] = {};
            alignas(64) int64 g0_copy[256] = {};
            for (int j = 0; j < m; ++j) {
                const int32 i0 = first + j;
                x0_copy[j] = *(p.x0 + i0);
                g0_copy[j] = p.g0_first + i0;
            }
            alignas(64) float value0[256];
            for (int vector = 0; vector < m; vector += 16) {
                rolled
                independent
                for (int j = vector; j < vector + 16; ++j) {
                    const float t0 = normal_float(p.g0_key, g0_copy[j]) * x0_copy[j];
                    const float t1 = erf(t0);
                    value0[j] = tanh(t1);
                }
            }
            for (int j = 0; j < m; ++j) {
                sum0 = sum_double::join(sum0, value0[j]);
            }
        }
        double whole0 = sum0;
        sum0 = -0.0;
        if (piece != 0) {
            wait_for(left - 2);
            __builtin_memcpy(&sum0, left - 1, sizeof sum0);
            whole0 = sum_double::join(sum0, whole0);
        }
        __builtin_memcpy(left + 1, &whole0, sizeof whole0);
        __atomic_store_n(left, 1, __ATOMIC_RELEASE);
        for (int32 first = int32(from); first < int32(to); first += 256) {
            const int m = int32(to) - first < 256 ? int(int32(to) - first) : 256;
            alignas(64) float x0_copy[256] = {};
            alignas(64) float x1_copy[256] = {};
            alignas(64) int64 g0_copy[256] = {};
            for (int j = 0; j < m; ++j) {
                const int32 i0 = first + j;
                x0_copy[j] = *(p.x0 + i0);
                x1_copy[j] = *(p.x1 + i0);
                g0_copy[j] = p.g0_first + i0;
            }
            alignas(64) float value0[256];
            for (int vector = 0; vector < m; vector += 16) {
                rolled
                independent
                for (int j = vector; j < vector + 16; ++j) {
                    const float t2 = normal_float(p.g0_key, g0_copy[j]) * x0_copy[j];
                    const float t3 = erf(t2);
                    value0[j] = tanh(t3);
                }
            }
            for (int j = 0; j < m; ++j) {
                sum0 = sum_double::join(sum0, value0[j]);
                value0[j] = float(sum0);
            }
            alignas(64) float r0[256];
            for (int vector = 0; vector < m; vector += 16) {
                rolled
                independent
                for (int j = vector; j < vector + 16; ++j) {
                    r0[j] = value0[j] + x1_copy[j];
                }
            }
            for (int j = 0; j < m; ++j) {
                const int32 i0 = first + j;
                *(p.z0 + i0) = r0[j];
            }
        }
        if (__atomic_add_fetch(p.scratch + 1, 1, __ATOMIC_ACQ_REL) != p.blocks) continue;
        __builtin_memset(p.scratch, 0, uint64(p.blocks) * 16 + 16);
    }
}
