// x0 * x1
using int64 = long long;
using uint64 = unsigned long long;

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
    double* z0;
    uint64 size;
    uint64 n1;
    uint64 row_pieces;
    int64 x0_stride0;
    int64 z0_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 8388608;
    for (uint64 block = uint64(begin); block < end; ++block) {
        uint64 rest = block / p.row_pieces;
        const int64 i0 = int64(rest);
        const int64 i1 = int64((block % p.row_pieces) * 32768);
        const int64 n = p.n1 - i1 < 32768 ? int64(p.n1) - i1 : 32768;
        const double* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const double* const x1_row = p.x1 + i1;
        double* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) double z0_copy[256];
        const int64 step = streaming ? 256 : n;
        for (int64 first = 0; first < n; first += step) {
            const int64 m = n - first < step ? n - first : step;
            double* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int64 j = 0; j < m; ++j) {
                const double x0 = x0_row[first + j];
                const double x1 = x1_row[first + j];
                z0_strip[j] = x0 * x1;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
        }
    }
    if (large) settle();
}
