// The host's generators call these, beside those of random.cuh. They must agree with <ingot/core/philox.hpp>, integers
// and uniforms bit for bit. The host's own logarithm and circle have neither branches nor calls, so loops of them are
// vectorised. Every sum of a product is an explicit fma, so a number's bits depend neither on contraction nor on its
// lane. <runtime/kernels/box_muller.hpp> is the same in C++, for the interpreter.

//// host_key
struct generator_key { uint64 seed, call; };

//// host_philox needs host_key
struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
static inline philox_words philox(const generator_key& key, uint64 counter) {
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

//// fraction
/// The upper 53 bits of a word divided by 2^53, from parts that are exact in the mantissas of 2^52 and 2^84.
static inline double fraction(uint64 word) {
    const double low = __builtin_bit_cast(double, (word >> 11 & 0xffffffffu) | 0x4330000000000000u);
    const double high = __builtin_bit_cast(double, word >> 43 | 0x4530000000000000u);
    return (high - 0x1.00000001p84 + low) * 0x1p-53;
}

//// logarithm_float needs fma
/// log(x) for 2^-33 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
static inline float logarithm(float x) {
    const uint32 bits = __builtin_bit_cast(uint32, x), exponent = (bits + 0x004afb0du) >> 23;
    const float k = float(int(exponent) - 127);
    const float f = __builtin_bit_cast(float, bits - (exponent << 23) + 0x3f800000u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, h = 0.5f * f;
    float t = fma(2.4279078841e-01f, z, 2.8498786688e-01f);
    t = fma(fma(t, z, 4.0000972152e-01f), z, 6.6666662693e-01f);
    t = fma(s, fma(h, f, t * z), k * 9.0580006145e-06f);
    return fma(k, 6.9313812256e-01f, f - fma(h, f, -t));
}

//// logarithm_double needs fma
/// log(x) for 2^-54 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
static inline double logarithm(double x) {
    const uint64 bits = __builtin_bit_cast(uint64, x), exponent = (bits + 0x00095f619980c433u) >> 52;
    const double k = __builtin_bit_cast(double, exponent | 0x4330000000000000u) - (0x1p52 + 1023);
    const double f = __builtin_bit_cast(double, bits - (exponent << 52) + 0x3ff0000000000000u) - 1.0;
    const double s = f / (2.0 + f), z = s * s, h = 0.5 * f;
    double t = fma(1.479819860511658591e-01, z, 1.531383769920937332e-01);
    t = fma(fma(fma(t, z, 1.818357216161805012e-01), z, 2.222219843214978396e-01), z, 2.857142874366239149e-01);
    t = fma(fma(t, z, 3.999999999940941908e-01), z, 6.666666666666735130e-01);
    t = fma(s, fma(h, f, t * z), k * 1.90821492927058770002e-10);
    return fma(k, 6.93147180369123816490e-01, f - fma(h, f, -t));
}

//// host_circle_double needs fma
/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
static inline void circle(double x, double& cosine, double& sine) {
    const double counted = fma(x, 0.636619772367581343076, 0x1.8p52), quarters = counted - 0x1.8p52;
    double r = fma(quarters, -1.57079632679489655800e+00, x);
    r = fma(quarters, -6.12323399573676603587e-17, r);
    const double s = r * r;
    double c = fma(-1.13596475577881948265e-11, s, 2.08757232129817482790e-09);
    c = fma(fma(fma(c, s, -2.75573143513906633035e-07), s, 2.48015872894767294178e-05), s, -1.38888888888741095749e-03);
    c = fma(fma(fma(c, s, 4.16666666666666019037e-02), s, -0.5), s, 1.0);
    double t = fma(1.58969099521155010221e-10, s, -2.50507602534068634195e-08);
    t = fma(fma(fma(t, s, 2.75573137070700676789e-06), s, -1.98412698298579493134e-04), s, 8.33333333332248946124e-03);
    t = fma(fma(t, s, -1.66666666666666324348e-01) * s, r, r);
    const uint64 k = __builtin_bit_cast(uint64, counted);
    cosine = __builtin_bit_cast(double, __builtin_bit_cast(uint64, k & 1 ? t : c) ^ ((k + 1) & 2) << 62);
    sine = __builtin_bit_cast(double, __builtin_bit_cast(uint64, k & 1 ? c : t) ^ (k & 2) << 62);
}

//// host_polar_float needs sqrt, logarithm_float, circle_float
/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * (float(int(q >> 8)) * 0x1p-24f), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

//// host_polar_double needs sqrt, fraction, logarithm_double, host_circle_double
/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * logarithm(fraction(p) + 0x1p-54));
    double cosine, sine;
    circle(6.28318530717958647692 * fraction(q), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}
