namespace step1 {
// max(x0)
using int32 = int;
using uint32 = unsigned int;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct max_double {
    static double join(double a, double b) { return a > b || a != a ? a : b; }
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

struct arguments {
    const double* x0;
    double* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        double max0;
        {
            alignas(64) double lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inf();
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const double* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_double::join(lanes0[j], x0_strip[j]);
                }
            }
            max0 = join_lanes<max_double, 256>(lanes0);
        }
        *(p.z0 + i0) = max0;
    }
}
}  // namespace step1

namespace step2 {
// sum(exp(x0 - x1))
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

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct sum_double {
    static double join(double a, double b) { return a + b; }
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

struct arguments {
    const double* x0;
    const double* x1;
    double* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        alignas(64) double x1_copy[256] = {};
        const double x1 = *(p.x1 + i0);
        double sum0;
        {
            alignas(64) double lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0;
            alignas(64) double x0_copy[256] = {};
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const bool x0_whole = m == 256;
                if (!x0_whole) for (int j = 0; j < m; ++j) x0_copy[j] = (p.x0 + i0 * p.x0_stride0 + i1)[j];
                const double* const x0_strip = x0_whole ? p.x0 + i0 * p.x0_stride0 + i1 : x0_copy;
                alignas(64) double value0[256];
                independent
                for (int j = 0; j < (m + 63) / 64 * 64; ++j) {
                    const double t0 = x0_strip[j] - x1;
                    value0[j] = exp(t0);
                }
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_double::join(lanes0[j], value0[j]);
                }
            }
            sum0 = join_lanes<sum_double, 256>(lanes0);
        }
        *(p.z0 + i0) = sum0;
    }
}
}  // namespace step2

namespace step3 {
// exp(x0 - x1) / x2
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

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

struct arguments {
    const double* x0;
    const double* x1;
    const double* x2;
    double* z0;
    uint32 size;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void step3_map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 8388608;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const double x1 = *(p.x1 + i0);
        const double x2 = *(p.x2 + i0);
        double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) double x0_copy[256] = {};
        alignas(64) double z0_copy[256] = {};
        for (int32 first = 0; first < n; first += 256) {
            const int m = n - first < 256 ? int(n - first) : 256;
            const double* const x0_strip = m < 256 ? x0_copy : x0_row + first;
            double* const z0_strip = streaming || m < 256 ? z0_copy : z0_row + first;
            if (m < 256) for (int j = 0; j < m; ++j) x0_copy[j] = x0_row[first + j];
            independent
            for (int j = 0; j < 256; ++j) {
                const double x0 = x0_strip[j];
                const double t0 = x0 - x1;
                const double t1 = exp(t0);
                z0_strip[j] = t1 / x2;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
            else if (m < 256) for (int j = 0; j < m; ++j) z0_row[first + j] = z0_copy[j];
        }
    }
    if (large) settle();
}
}  // namespace step3
