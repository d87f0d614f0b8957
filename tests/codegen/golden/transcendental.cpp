// exp(x0) * s0 + tanh(x1)
using int32 = int;
using uint32 = unsigned int;
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
extern "C" vectorised double exp(double a);
extern "C" vectorised_since_235 double tanh(double a);

/// Stores that go past the caches, in parts so wide that a line's follow each other at once.
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
/// Others see what was streamed before what this thread writes from here on.
static inline void settle() {
#if defined(__SSE__)
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

/// The loop that follows stays one until it is vectors: unrolled before, its calls would be scalar.
#ifdef __clang__
#define rolled
#else
#define rolled _Pragma("GCC unroll 1")
#endif

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    double s0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const double s0 = given->s0;
    const arguments& p = *given;
    const bool large = p.n0 >= 8388608;
    alignas(64) double x0_copy[256] = {};
    alignas(64) double x1_copy[256] = {};
    alignas(64) double z0_copy[256] = {};
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const double* const x0_row = p.x0 + i0;
        const double* const x1_row = p.x1 + i0;
        double* const z0_row = p.z0 + i0;
        const bool streaming = large && starts_line(z0_row);
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            const bool whole = m % 8 == 0;
            const double* const x0_strip = whole ? x0_row + first : x0_copy;
            const double* const x1_strip = whole ? x1_row + first : x1_copy;
            double* const z0_strip = whole && !streaming ? z0_row + first : z0_copy;
            if (x0_strip == x0_copy) for (int j = 0; j < m; ++j) x0_copy[j] = x0_row[first + j];
            if (x1_strip == x1_copy) for (int j = 0; j < m; ++j) x1_copy[j] = x1_row[first + j];
            for (int vector = 0; vector < m; vector += 8) {
                rolled
                independent
                for (int j = vector; j < vector + 8; ++j) {
                    const double x0 = x0_strip[j];
                    const double x1 = x1_strip[j];
                    const double t0 = exp(x0);
                    const double t1 = t0 * s0;
                    const double t2 = tanh(x1);
                    z0_strip[j] = t1 + t2;
                }
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
            else if (z0_strip == z0_copy) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
    if (large) settle();
}
