// log(sum(exp(x0)))
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

struct sum_float {
    static float join(float a, float b) { return a + b; }
};

struct sum_double {
    static double join(double a, double b) { return a + b; }
};

static inline float log_float(float a) {
    bool tiny = a < 1.17549435e-38f;
    float x = tiny ? a * 8388608.0f : a;
    uint32 e = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    float f = from_bits(bits_of(x) - e) - 1.0f;
    float n = from_bits(bits_of(12582912.0f) + uint32(int32(e) >> 23)) - (tiny ? 12582935.0f : 12582912.0f);
    float p = -1.28744870e-1f;
    p = p * f + 1.39867082e-1f;
    p = p * f - 1.21883437e-1f;
    p = p * f + 1.40053406e-1f;
    p = p * f - 1.66801810e-1f;
    p = p * f + 2.00104445e-1f;
    p = p * f - 2.49998048e-1f;
    p = p * f + 3.33332151e-1f;
    p = p * f - 0.5f;
    p = p * (f * f) + f;
    p = n * 0.693147182f + p;
    p = bits_of(a) < 0x7f800000u ? p : a * from_bits(0x7f800000u) + from_bits(0x7f800000u);
    return a == 0 ? from_bits(0xff800000u) : p;
}

struct arguments {
    const float* x0;
    float* z0;
    uint32 n0;
    uint32 folded;
    int32 x0_stride0;
};

extern "C" void reduce(const arguments* given, unsigned long long begin, unsigned long long end) {
    const arguments& p = *given;
    for (uint32 block = uint32(begin); block < end; ++block) {
        const int32 i0 = int32(block * 256);
        const int m = p.n0 - i0 < 256 ? int(p.n0 - i0) : 256;
        alignas(64) float x0[8704];
        for (int j = 0; j < m; ++j)
            for (int k = 0; k < int(p.folded); ++k) x0[k * 272 + j] = (p.x0 + i0 * p.x0_stride0)[j * p.x0_stride0 + k];
        alignas(64) double sum0[256];
        {
            alignas(64) float lanes0[256];
            for (int j = 0; j < m; ++j) lanes0[j] = 0.0f;
            for (uint32 k = 0; k < p.folded; ++k) {
                const float* const x0_strip = x0 + k * 272;
                independent
                for (int j = 0; j < m; ++j) {
                    lanes0[j] = sum_float::join(lanes0[j], exp_float(x0_strip[j]));
                }
            }
            for (int j = 0; j < m; ++j) sum0[j] = lanes0[j];
        }
        float* const z0_strip = p.z0 + i0;
        independent
        for (int j = 0; j < m; ++j) {
            z0_strip[j] = log_float(float(sum0[j]));
        }
    }
}
