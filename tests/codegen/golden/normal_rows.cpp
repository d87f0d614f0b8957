// g0 * x0
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
extern "C" vectorised double cos(double a);
extern "C" vectorised double log(double a);
extern "C" vectorised double sin(double a);
static inline double sqrt(double a) { return __builtin_sqrt(a); }

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

struct generator_key { uint64 seed, call; };

struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
static inline philox_words philox(generator_key key, uint64 counter) {
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

/// Box-Muller: a radius from the word p, an angle from q.
static inline void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}

static inline void normal_double(double* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

static inline double normal_double(generator_key key, uint64 i) {
    double group[2];
    normal_double(group, key, i / 2);
    return i & 1 ? group[1] : group[0];
}

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct arguments {
    const double* x0;
    double* z0;
    int64 g0_first;
    generator_key g0_key;
    uint32 size;
    uint32 n1;
    uint32 row_pieces;
    int32 z0_stride0;
    int32 g0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 8388608;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const double x0 = *(p.x0 + i0);
        double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const int64 g0_row = p.g0_first + i0 * p.g0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) double z0_copy[256] = {};
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            double* const z0_strip = streaming || m < 256 ? z0_copy : z0_row + first;
            independent
            for (int j = 0; j < 256; ++j) {
                z0_strip[j] = normal_double(p.g0_key, g0_row + (first + j)) * x0;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
            else if (m < 256) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
    if (large) settle();
}
