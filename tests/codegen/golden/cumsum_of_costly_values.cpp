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

//// generator_key, philox_words, philox, bits_of, from_bits, logarithm.2, circle.2, polar.2, normal_float,
//// normal_float.2, rolled, independent, sum_double

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
