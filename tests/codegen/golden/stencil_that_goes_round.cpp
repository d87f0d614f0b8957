// reshape(x0) + reshape(x1)
using int32 = int;
using uint32 = unsigned int;
using int64 = long long;

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
    const float* x0;
    const float* x1;
    float* z0;
    int64 p1_first;
    int64 p0_first;
    uint32 size;
    uint32 n1;
    uint32 row_pieces;
    int32 z0_stride0;
    uint32 n5;
    uint32 n3;
    int32 x0_stride3;
    int32 x1_stride0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 16777216;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) float z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            float* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                uint32 p1 = uint32(p.p1_first + i1 + (first + j));
                const int32 i5 = int32(p1 % p.n5);
                p1 /= p.n5;
                const int32 i4 = int32(p1);
                uint32 p0 = uint32(p.p0_first + i0);
                const int32 i3 = int32(p0 % p.n3);
                p0 /= p.n3;
                const int32 i2 = int32(p0);
                const float x0 = *(p.x0 + i1 + i3 * p.x0_stride3 + (first + j));
                const float x1 = *(p.x1 + i0 * p.x1_stride0 + i5);
                z0_strip[j] = x0 + x1;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 4ul);
        }
    }
    if (large) settle();
}
