// astype<float64>(x0) * astype<float64>(x1); astype<int16>(x0)
using int16 = short;
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

/// Saturates; NaN is 0.
static inline int16 to_int16(float a) {
    const int16 least = int16(1ull << 15);
    return a >= 32768.0f ? int16(~int16(0) ^ least) : a <= -32768.0f ? least : (a <= -1.0f) | (a >= 1.0f) ? int16(a) : int16(0);
}

struct arguments {
    const float* x0;
    const int32* x1;
    double* z0;
    int16* z1;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.n0 >= 6710886;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const int32* const x1_row = p.x1 + i0;
        double* const z0_row = p.z0 + i0;
        int16* const z1_row = p.z1 + i0;
        const bool streaming = large && starts_line(z0_row) && starts_line(z1_row);
        alignas(64) double z0_copy[256];
        alignas(64) int16 z1_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            double* const z0_strip = streaming ? z0_copy : z0_row + first;
            int16* const z1_strip = streaming ? z1_copy : z1_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const float x0 = x0_row[first + j];
                const int32 x1 = x1_row[first + j];
                const double t0 = double(x0);
                const double t1 = double(x1);
                const double r0 = t0 * t1;
                const int16 r1 = to_int16(x0);
                z0_strip[j] = r0;
                z1_strip[j] = r1;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 8ul);
            if (streaming) stream(z1_row + first, z1_copy, m * 2ul);
        }
    }
    if (large) settle();
}
