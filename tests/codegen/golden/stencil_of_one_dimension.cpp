// complex_of(real(x0) - real(x1), imag(x0) - imag(x1))
using int32 = int;
using uint32 = unsigned int;

struct alignas(8) complex64 {
    float re, im;
    complex64() = default;
    complex64(float a, float b) : re(a), im(b) {}
};
static inline float real(const complex64& z) { return z.re; }
static inline float imag(const complex64& z) { return z.im; }

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
    const complex64* x0;
    const complex64* x1;
    complex64* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.n0 >= 8388608;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const complex64* const x0_row = p.x0 + i0;
        const complex64* const x1_row = p.x1 + i0;
        complex64* const z0_row = p.z0 + i0;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) complex64 z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            complex64* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const complex64 x0 = x0_row[first + j];
                const complex64 x1 = x1_row[first + j];
                const float t0 = real(x0);
                const float t1 = imag(x0);
                const float t2 = real(x1);
                const float t3 = imag(x1);
                const float t4 = t0 - t2;
                const float t5 = t1 - t3;
                z0_strip[j] = complex64(t4, t5);
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
        }
    }
    if (large) settle();
}
