// A GPU's generators call these. The host's call those whose constant does not begin with cuda, as static inline
// functions. They must agree with <ingot/core/philox.hpp>, integers and uniforms bit for bit.

//// cuda_key
// A GPU reads the rounds' keys as constants, which every thread would otherwise add up again.
/// The call's number, and the two words that each Philox round mixes in, derived from the seed.
struct generator_key { uint64 call; uint32 rounds[20]; };

//// cuda_philox needs cuda_key
struct philox_words { uint32 w[4]; };

/// Multiplies 32-bit words. For 64-bit operands ptxas would add the products of the zero upper halves.
__device__ __forceinline__ uint64 wide_product(uint32 a, uint32 b) { return uint64(__umulhi(a, b)) << 32 | a * b; }

/// Philox4x32-10.
__device__ __forceinline__ philox_words philox(const generator_key& key, uint64 counter) {
    uint32 c0 = uint32(counter), c1 = uint32(counter >> 32), c2 = uint32(key.call), c3 = uint32(key.call >> 32);
    for (int round = 0; round < 10; ++round) {
        const uint64 a = wide_product(c0, 0xd2511f53u), b = wide_product(c2, 0xcd9e8d57u);
        c0 = uint32(b >> 32) ^ c1 ^ key.rounds[2 * round];
        c2 = uint32(a >> 32) ^ c3 ^ key.rounds[2 * round + 1];
        c1 = uint32(b);
        c3 = uint32(a);
    }
    return {{c0, c1, c2, c3}};
}

//// circle_float needs bits_of, from_bits, fma
// The library's sine and cosine handle angles of any size, which costs a compiler more than all else here.
/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
__device__ __forceinline__ void circle(float x, float& cosine, float& sine) {
    const float counted = fma(x, 0.636619772f, 0x1.8p23f), quarters = counted - 0x1.8p23f;
    float r = fma(quarters, -1.57079601f, x);
    r = fma(quarters, -3.13916473e-07f, r);
    r = fma(quarters, -5.39030253e-15f, r);
    const float s = r * r;
    float c = fma(2.44331571e-5f, s, -1.38873162e-3f), t = fma(-1.95152959e-4f, s, 8.33216087e-3f);
    c = fma(fma(fma(c, s, 4.16666456e-2f), s, -0.5f), s, 1.0f);
    t = fma(fma(t, s, -1.66666546e-1f) * s, r, r);
    const uint32 k = bits_of(counted);
    cosine = from_bits(bits_of(k & 1 ? t : c) ^ ((k + 1) & 2) << 30);
    sine = from_bits(bits_of(k & 1 ? c : t) ^ (k & 2) << 30);
}

//// cuda_logarithm needs bits_of, from_bits, fma
// CUDA's own logarithm and root of floats handle all numbers, at a third more instructions and a branch to slower code.
/// log(x) for 2^-33 <= x <= 1, within 1 ulp: a polynomial in f for x = 2^k (1 + f), 1 + f in [2/3, 4/3].
__device__ __forceinline__ float logarithm(float x) {
    const uint32 exponent = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    const float f = from_bits(bits_of(x) - exponent) - 1.0f;
    float t = fma(-0.130310059f, f, 0.140869141f);
    t = fma(fma(fma(t, f, -0.121483512f), f, 0.139814854f), f, -0.166846126f);
    t = fma(fma(fma(t, f, 0.200120345f), f, -0.249996200f), f, 0.333331972f);
    t = fma(fma(t, f, -0.5f) * f, f, f);
    return fma(float(int(exponent)), 0x1p-23f * 0.693147182f, t);
}

//// cuda_root needs rsqrt_approx, fma
/// sqrt(x) for x = 0 or 2^-24 <= x < 64, within 1 ulp: an approximation and one Newton step.
__device__ __forceinline__ float root(float x) {
    const float y = rsqrt_approx(fmaxf(x, 0x1p-30f)), s = x * y;
    return fma(fma(-s, s, x), 0.5f * y, s);
}

//// cuda_polar needs cuda_root, cuda_logarithm, circle_float
/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(float* to, uint32 p, uint32 q) {
    const float radius = root(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * 0x1p-24f * float(q >> 8), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}

//// polar_float needs sqrt, log, cos, sin
/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * log(float(p) * 0x1p-32f + 0x1p-33f));
    const float angle = 6.28318530717958647692f * (float(q >> 8) * 0x1p-24f);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}

//// polar_double needs sqrt, log, cos, sin
/// Box-Muller: word p gives the radius, word q the angle.
__device__ __forceinline__ void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}

//// uniform_float needs philox
__device__ __forceinline__ void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}

//// uniform_double needs philox
__device__ __forceinline__ void uniform_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = double((uint64(r.w[1]) << 32 | r.w[0]) >> 11) * 0x1p-53;
    to[1] = double((uint64(r.w[3]) << 32 | r.w[2]) >> 11) * 0x1p-53;
}

//// normal_float needs philox, polar
__device__ __forceinline__ void normal_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}

//// normal_double needs philox, polar
__device__ __forceinline__ void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}

//// bits_of_32 needs philox
__device__ __forceinline__ void bits_uint32(uint32* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = r.w[0];
    to[1] = r.w[1];
    to[2] = r.w[2];
    to[3] = r.w[3];
}

//// bits_of_64 needs philox
__device__ __forceinline__ void bits_uint64(uint64* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = uint64(r.w[1]) << 32 | r.w[0];
    to[1] = uint64(r.w[3]) << 32 | r.w[2];
}

//// position
__device__ __forceinline__ void position(int64* to, const generator_key&, uint64 group) {
    to[0] = 2 * group;
    to[1] = 2 * group + 1;
}

__device__ __forceinline__ int64 position(const generator_key&, uint64 i) { return i; }

//// ranged_key needs generator_key
/// A generator of integers from 0 to `last`.
struct ranged_key { generator_key of; uint64 last; };

//// scaled
// A multiply-add of two factors and a 64-bit sum is one instruction on a GPU.
/// word * (last + 1).
__device__ __forceinline__ uint64 scaled(uint32 word, uint32 last) { return uint64(word) * last + word; }

//// integers_of_32 needs philox, ranged_key, scaled
/// Multiplies 64-bit words by the range and divides by 2^64. The lower halves of the words add at most `last`
/// to the products of the upper halves, so they are drawn only if a product may carry.
__device__ __forceinline__ void integers_uint32(uint32* to, const ranged_key& key, uint64 group) {
    const philox_words upper = philox(key.of, group);
    const uint32 last = uint32(key.last);
    bool may_carry = false;
    for (int j = 0; j < 4; ++j) {
        const uint64 product = scaled(upper.w[j], last);
        to[j] = uint32(product >> 32);
        may_carry |= uint32(product) > ~last;
    }
    if (!may_carry) return;
    const philox_words lower = philox(key.of, group + (1ull << 60));
    for (int j = 0; j < 4; ++j)
        to[j] = uint32((scaled(upper.w[j], last) + (scaled(lower.w[j], last) >> 32)) >> 32);
}
