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

struct max_float {
    static float join(float a, float b) { return a > b || a != a ? a : b; }
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
    const float* x0;
    float* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step1_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        float max0;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = -__builtin_inff();
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = max_float::join(lanes0[j], x0_strip[j]);
                }
            }
            max0 = join_lanes<max_float, 256>(lanes0);
        }
        *(p.z0 + i0) = max0;
    }
}
}  // namespace step1

namespace step2 {
// sum(exp(x0 - x1))
using int32 = int;
using uint32 = unsigned int;

/// No iteration of the loop that follows depends on another.
#ifdef __clang__
#define independent _Pragma("clang loop vectorize(assume_safety)")
#else
#define independent _Pragma("GCC ivdep")
#endif

static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

static inline float exp_float(float a) {
    float x = a < -104.0f ? -104.0f : a > 89.0f ? 89.0f : a;
    float shifted = x * 1.44269502f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194442e-4f;
    float p = 1.38210540e-3f;
    p = p * r + 8.36867467e-3f;
    p = p * r + 4.16682623e-2f;
    p = p * r + 1.66665211e-1f;
    p = p * r + 4.99999940e-1f;
    p = p * (r * r) + r + 1.0f;
    uint32 k = bits_of(shifted) - bits_of(12582912.0f);
    uint32 half = ((k + 256u) >> 1) - 128u;
    return p * from_bits((half + 127u) << 23) * from_bits((k - half + 127u) << 23);
}

struct sum_float {
    static float join(float a, float b) { return a + b; }
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
    const float* x0;
    const float* x1;
    float* z0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void step2_reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const uint32 row = block;
        const int32 i0 = int32(row);
        const float x1 = *(p.x1 + i0);
        float sum0;
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < 256; ++j) lanes0[j] = 0.0f;
            for (uint32 first = 0; first < p.folded; first += 256) {
                const int m = p.folded - first < 256 ? int(p.folded - first) : 256;
                const int32 i1 = int32(first);
                const float* const x0_strip = p.x0 + i0 * p.x0_stride0 + i1;
                independent
                for (int j = 0; j < m; ++j) {
                    const float t0 = x0_strip[j] - x1;
                    lanes0[j] = sum_float::join(lanes0[j], exp_float(t0));
                }
            }
            sum0 = join_lanes<sum_float, 256>(lanes0);
        }
        *(p.z0 + i0) = sum0;
    }
}
}  // namespace step2

namespace step3 {
// exp(x0 - x1) / x2
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

static inline uint32 bits_of(float a) { return __builtin_bit_cast(uint32, a); }

static inline float from_bits(uint32 a) { return __builtin_bit_cast(float, a); }

static inline float exp_float(float a) {
    float x = a < -104.0f ? -104.0f : a > 89.0f ? 89.0f : a;
    float shifted = x * 1.44269502f + 12582912.0f;
    float n = shifted - 12582912.0f;
    float r = x - n * 0.693359375f + n * 2.12194442e-4f;
    float p = 1.38210540e-3f;
    p = p * r + 8.36867467e-3f;
    p = p * r + 4.16682623e-2f;
    p = p * r + 1.66665211e-1f;
    p = p * r + 4.99999940e-1f;
    p = p * (r * r) + r + 1.0f;
    uint32 k = bits_of(shifted) - bits_of(12582912.0f);
    uint32 half = ((k + 256u) >> 1) - 128u;
    return p * from_bits((half + 127u) << 23) * from_bits((k - half + 127u) << 23);
}

struct arguments {
    const float* x0;
    const float* x1;
    const float* x2;
    float* z0;
    uint32 size;
    uint32 n1;
    uint32 row_pieces;
    int32 x0_stride0;
    int32 z0_stride0;
};

extern "C" void step3_map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    const bool large = p.size >= 16777216;
    for (uint32 block = uint32(begin); block < end; ++block) {
        uint32 rest = block / p.row_pieces;
        const int32 i0 = int32(rest);
        const int32 i1 = int32((block % p.row_pieces) * 32768);
        const int32 n = p.n1 - i1 < 32768 ? int32(p.n1) - i1 : 32768;
        const float* const x0_row = p.x0 + i0 * p.x0_stride0 + i1;
        const float x1 = *(p.x1 + i0);
        const float x2 = *(p.x2 + i0);
        float* const z0_row = p.z0 + i0 * p.z0_stride0 + i1;
        const bool streaming = large && starts_line(z0_row);
        alignas(64) float z0_copy[256];
        const int32 step = streaming ? 256 : n;
        for (int32 first = 0; first < n; first += step) {
            const int32 m = n - first < step ? n - first : step;
            float* const z0_strip = streaming ? z0_copy : z0_row + first;
            independent
            for (int32 j = 0; j < m; ++j) {
                const float x0 = x0_row[first + j];
                const float t0 = x0 - x1;
                const float t1 = exp_float(t0);
                z0_strip[j] = t1 / x2;
            }
            if (streaming) stream(z0_row + first, z0_copy, m * 4ul);
        }
    }
    if (large) settle();
}
}  // namespace step3
