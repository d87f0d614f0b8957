// Box-Muller as the host's kernels compute it, bit for bit: the texts of codegen/text/random.cpp in C++, for the
// interpreter. Every sum of a product is an explicit fma, so that no compiler's contraction changes a number.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include <ingot/core/philox.hpp>

namespace ingot::runtime::box_muller {

struct point {
    double cosine, sine;
};
struct point_float {
    float cosine, sine;
};

/// log(x), 2^-33 <= x <= 1, within 1 ulp.
inline float logarithm(float x) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t exponent = (bits + 0x004afb0du) >> 23;
    const float k = static_cast<float>(static_cast<int>(exponent) - 127);
    const float f = std::bit_cast<float>(bits - (exponent << 23) + 0x3f800000u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, h = 0.5f * f;
    float t = std::fma(2.4279078841e-01f, z, 2.8498786688e-01f);
    t = std::fma(std::fma(t, z, 4.0000972152e-01f), z, 6.6666662693e-01f);
    t = std::fma(s, std::fma(h, f, t * z), k * 9.0580006145e-06f);
    return std::fma(k, 6.9313812256e-01f, f - std::fma(h, f, -t));
}

/// log(x), 2^-54 <= x <= 1, within 1 ulp.
inline double logarithm(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = (bits + 0x00095f619980c433u) >> 52;
    const double k = static_cast<double>(static_cast<int>(exponent) - 1023);
    const double f = std::bit_cast<double>(bits - (exponent << 52) + 0x3ff0000000000000u) - 1.0;
    const double s = f / (2.0 + f), z = s * s, h = 0.5 * f;
    double t = std::fma(1.479819860511658591e-01, z, 1.531383769920937332e-01);
    t = std::fma(t, z, 1.818357216161805012e-01);
    t = std::fma(std::fma(t, z, 2.222219843214978396e-01), z, 2.857142874366239149e-01);
    t = std::fma(std::fma(t, z, 3.999999999940941908e-01), z, 6.666666666666735130e-01);
    t = std::fma(s, std::fma(h, f, t * z), k * 1.90821492927058770002e-10);
    return std::fma(k, 6.93147180369123816490e-01, f - std::fma(h, f, -t));
}

/// cos(x) and sin(x), 0 <= x < 6.3, within 1.5 ulp.
inline point_float circle(float x) {
    const float counted = std::fma(x, 0.636619772f, 0x1.8p23f), quarters = counted - 0x1.8p23f;
    float r = std::fma(quarters, -1.57079601f, x);
    r = std::fma(quarters, -3.13916473e-07f, r);
    r = std::fma(quarters, -5.39030253e-15f, r);
    const float s = r * r;
    float c = std::fma(2.44331571e-5f, s, -1.38873162e-3f), t = std::fma(-1.95152959e-4f, s, 8.33216087e-3f);
    c = std::fma(std::fma(std::fma(c, s, 4.16666456e-2f), s, -0.5f), s, 1.0f);
    t = std::fma(std::fma(t, s, -1.66666546e-1f) * s, r, r);
    const int k = static_cast<int>(quarters);
    const float cosine = (k & 1) != 0 ? t : c, sine = (k & 1) != 0 ? c : t;
    return {((k + 1) & 2) != 0 ? -cosine : cosine, (k & 2) != 0 ? -sine : sine};
}

inline point circle(double x) {
    const double counted = std::fma(x, 0.636619772367581343076, 0x1.8p52), quarters = counted - 0x1.8p52;
    double r = std::fma(quarters, -1.57079632679489655800e+00, x);
    r = std::fma(quarters, -6.12323399573676603587e-17, r);
    const double s = r * r;
    double c = std::fma(-1.13596475577881948265e-11, s, 2.08757232129817482790e-09);
    c = std::fma(std::fma(c, s, -2.75573143513906633035e-07), s, 2.48015872894767294178e-05);
    c = std::fma(std::fma(c, s, -1.38888888888741095749e-03), s, 4.16666666666666019037e-02);
    c = std::fma(std::fma(c, s, -0.5), s, 1.0);
    double t = std::fma(1.58969099521155010221e-10, s, -2.50507602534068634195e-08);
    t = std::fma(std::fma(t, s, 2.75573137070700676789e-06), s, -1.98412698298579493134e-04);
    t = std::fma(t, s, 8.33333333332248946124e-03);
    t = std::fma(std::fma(t, s, -1.66666666666666324348e-01) * s, r, r);
    const int k = static_cast<int>(quarters);
    const double cosine = (k & 1) != 0 ? t : c, sine = (k & 1) != 0 ? c : t;
    return {((k + 1) & 2) != 0 ? -cosine : cosine, (k & 2) != 0 ? -sine : sine};
}

/// The even or the odd normal number of the words p and q.
template <class T, class Word>
T normal(Word p, Word q, bool odd) {
    namespace philox = detail::philox;
    const T radius = std::sqrt(T(-2) * logarithm(philox::uniform_above_zero(p)));
    const auto [cosine, sine] = circle(philox::two_pi<T> * philox::uniform(q));
    return radius * (odd ? sine : cosine);
}

}  // namespace ingot::runtime::box_muller
