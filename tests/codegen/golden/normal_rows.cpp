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

/// Strips of whole points of an axis, one behind the other in linear order.
struct packing {
    uint32 span, step;  // elements of all points of the axis, and of a strip
    /// The first strip that begins at a place or behind it.
    uint32 first(uint32 at) const {
        const uint32 within = (at % span + step - 1) / step * step;
        return at / span * span + (within < span ? within : span);
    }
    /// Elements of the strip that begins there.
    int length(uint32 at) const {
        const uint32 left = span - at % span;
        return int(left < step ? left : step);
    }
};
/// The axis is the innermost with more points than there is room for; a strip is whole vectors
/// where so many of its points have room.
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
    uint32 most = room / point, several = vector / common;
    if (several > most) several = 1;
    most = most / several * several;
    const uint32 points = span / point, strips = (points + most - 1) / most;
    const uint32 each = ((points + strips - 1) / strips + several - 1) / several * several;
    return {span, (each < points ? each : points) * point};
}

/// An element for each row of n lanes. Of very short rows a loop costs more than an offset a lane.
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

/// The numbers [first, first + m), in an array that has room for whole vectors of groups.
static inline const double* normal_double_run(double* to, generator_key key, uint64 first, int m) {
    const int before = int(first % 2), groups = (before + m + 2 - 1) / 2;
    for (int vector = 0; vector < groups; vector += 16) {
        rolled
        independent
        for (int j = vector; j < vector + 16; ++j) normal_double(to + 2 * j, key, first / 2 + j);
    }
    return to + before;
}

/// Lanes of a strip to memory.
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
    uint32 size;
    uint32 n1;
    uint32 n0;
    int32 z0_stride0;
    int32 g0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 8388608;
    alignas(64) double x0_copy[512] = {};
    alignas(64) double z0_copy[512] = {};
    alignas(64) double g0_numbers[546] = {};
    const packing strips = pack(512, 8, p.n1, p.n0);
    int32 x0_at[512];
    bool x0_dense = true;
    int32 z0_at[512];
    bool z0_dense = true;
    int64 g0_at[512];
    bool g0_dense = true;
    {
        int32 i0 = 0, i1 = 0;
        for (int j = 0; j < int(strips.step); ++j) {
            x0_at[j] = int32(i0);
            x0_dense &= x0_at[j] == j;
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
            const double* const x0_row = p.x0 + i0;
            double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
            const int64 g0_row = p.g0_first + i0 * p.g0_stride0 + i1;
            const bool streaming = large && z0_dense && starts_line(z0_row);
            const bool whole = m % 8 == 0;
            const double* const x0_strip = x0_dense && whole ? x0_row : x0_copy;
            double* const z0_strip = z0_dense && whole && !streaming ? z0_row : z0_copy;
            if (x0_strip == x0_copy) spread_lanes(x0_copy, x0_row, x0_at, int(p.n1), m);
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
                    const double x0 = x0_strip[j];
                    const double g0 = g0_strip[j];
                    z0_strip[j] = g0 * x0;
                }
            }
            if (streaming) stream(z0_row, z0_copy, m * 8ul);
            else if (z0_strip == z0_copy) scatter_lanes(z0_copy, z0_row, z0_at, z0_dense, m);
        }
    }
    if (large) settle();
}
