// astype<float64>(exp(x0) + x1)
using int32 = int;
using uint32 = unsigned int;

/// Declares that the iterations of the next loop are independent.
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
    double* z0;
    uint32 n0;
};

extern "C" void map(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 32768);
        const int32 n = p.n0 - i0 < 32768 ? int32(p.n0) - i0 : 32768;
        const float* const x0_row = p.x0 + i0;
        const float* const x1_row = p.x1 + i0;
        double* const z0_row = p.z0 + i0;
        independent
        for (int32 j = 0; j < n; ++j) {
            const float x0 = x0_row[j];
            const float x1 = x1_row[j];
            const float t0 = exp_float(x0);
            const float t1 = t0 + x1;
            z0_row[j] = double(t1);
        }
    }
}
