// x0 + x1 + x2 == s0
using uint8 = unsigned char;
using int32 = int;
using uint32 = unsigned int;

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
    const uint8* x0;
    const uint8* x1;
    const uint8* x2;
    bool* z0;
    uint32 size;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 x1_stride0;
    int32 x2_stride0;
    int32 z0_stride0;
    uint8 s0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const uint8 s0 = given->s0;
    const arguments& p = *given;
    const bool large = p.size >= 67108864;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const uint8* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const uint8* const x1_row = p.x1 + i0 * p.x1_stride0 + i1;
        const uint8* const x2_row = p.x2 + i0 * p.x2_stride0 + i1;
        bool* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) bool z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            bool* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const uint8 x0 = x0_row[first + j];
                const uint8 x1 = x1_row[first + j];
                const uint8 x2 = x2_row[first + j];
                const uint8 t0 = uint8(uint32(x0) + uint32(x1));
                const uint8 t1 = uint8(uint32(t0) + uint32(x2));
                z0_strip[j] = t1 == s0;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 1ul);
        }
    }
    if (large) settle();
}
