// The texts of the generators. They must agree with <ingot/core/philox.hpp>, integers and uniforms bit for bit.
#include "codegen/text/random.hpp"

namespace ingot::codegen {

namespace {

using detail::generator_kind;
using detail::target;

// In these texts % is the target's function prefix.

constexpr std::string_view host_key = "struct generator_key { uint64 seed, call; };\n";
constexpr std::string_view host_philox = R"(struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
% philox_words philox(const generator_key& key, uint64 counter) {
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
)";

// A GPU reads the rounds' keys as constants, which every thread would otherwise add up again.
constexpr std::string_view cuda_key =
    R"(/// The call's number, and the two words that each Philox round mixes in, derived from the seed.
struct generator_key { uint64 call; uint32 rounds[20]; };
)";
constexpr std::string_view cuda_philox = R"(struct philox_words { uint32 w[4]; };

/// Multiplies 32-bit words. For 64-bit operands ptxas would add the products of the zero upper halves.
% uint64 wide_product(uint32 a, uint32 b) { return uint64(__umulhi(a, b)) << 32 | a * b; }

/// Philox4x32-10.
% philox_words philox(const generator_key& key, uint64 counter) {
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
)";

/// The library's sine and cosine handle angles of any size, which costs a compiler more than all else here.
constexpr std::string_view circle_float =
    R"(/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
% void circle(float x, float& cosine, float& sine) {
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
)";

// CUDA's own logarithm and root of floats handle all numbers, at a third more instructions and a branch to slower code.
constexpr std::string_view cuda_logarithm =
    R"(/// log(x) for 2^-33 <= x <= 1, within 1 ulp: a polynomial in f for x = 2^k (1 + f), 1 + f in [2/3, 4/3].
% float logarithm(float x) {
    const uint32 exponent = (bits_of(x) - 0x3f2aaaabu) & 0xff800000u;
    const float f = from_bits(bits_of(x) - exponent) - 1.0f;
    float t = fma(-0.130310059f, f, 0.140869141f);
    t = fma(fma(fma(t, f, -0.121483512f), f, 0.139814854f), f, -0.166846126f);
    t = fma(fma(fma(t, f, 0.200120345f), f, -0.249996200f), f, 0.333331972f);
    t = fma(fma(t, f, -0.5f) * f, f, f);
    return fma(float(int(exponent)), 0x1p-23f * 0.693147182f, t);
}
)";
constexpr std::string_view cuda_root =
    R"(/// sqrt(x) for x = 0 or 2^-24 <= x < 64, within 1 ulp: an approximation and one Newton step.
% float root(float x) {
    const float y = rsqrt_approx(fmaxf(x, 0x1p-30f)), s = x * y;
    return fma(fma(-s, s, x), 0.5f * y, s);
}
)";

constexpr std::string_view cuda_polar = R"(/// Box-Muller: word p gives the radius, word q the angle.
% void polar(float* to, uint32 p, uint32 q) {
    const float radius = root(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * 0x1p-24f * float(q >> 8), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}
)";

constexpr std::string_view polar_float = R"(/// Box-Muller: word p gives the radius, word q the angle.
% void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * log(float(p) * 0x1p-32f + 0x1p-33f));
    const float angle = 6.28318530717958647692f * (float(q >> 8) * 0x1p-24f);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}
)";

constexpr std::string_view polar_double = R"(/// Box-Muller: word p gives the radius, word q the angle.
% void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}
)";

// The host's own logarithm and circle have neither branches nor calls, so loops of them are vectorised. Every sum of a
// product is an explicit fma, so a number's bits depend neither on contraction nor on its lane.
// <runtime/kernels/box_muller.hpp> is the same in C++, for the interpreter.

constexpr std::string_view fraction =
    R"(/// The upper 53 bits of a word divided by 2^53, from parts that are exact in the mantissas of 2^52 and 2^84.
static inline double fraction(uint64 word) {
    const double low = __builtin_bit_cast(double, (word >> 11 & 0xffffffffu) | 0x4330000000000000u);
    const double high = __builtin_bit_cast(double, word >> 43 | 0x4530000000000000u);
    return (high - 0x1.00000001p84 + low) * 0x1p-53;
}
)";

constexpr std::string_view logarithm_float =
    R"(/// log(x) for 2^-33 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
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
)";

constexpr std::string_view logarithm_double =
    R"(/// log(x) for 2^-54 <= x <= 1, within 1 ulp, as in fdlibm: x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)].
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
)";

constexpr std::string_view host_circle_double =
    R"(/// cos(x) and sin(x) for 0 <= x < 6.3, within 1.5 ulp: x is reduced by the nearest multiple of pi / 2.
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
)";

constexpr std::string_view host_polar_float = R"(/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * logarithm(float(p) * 0x1p-32f + 0x1p-33f));
    float cosine, sine;
    circle(6.28318530717958647692f * (float(int(q >> 8)) * 0x1p-24f), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}
)";

constexpr std::string_view host_polar_double = R"(/// Box-Muller: word p gives the radius, word q the angle.
static inline void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * logarithm(fraction(p) + 0x1p-54));
    double cosine, sine;
    circle(6.28318530717958647692 * fraction(q), cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}
)";

constexpr std::string_view uniform_float = R"(% void uniform_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}
)";

constexpr std::string_view normal_float = R"(% void normal_float(float* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}
)";

constexpr std::string_view uniform_double =
    R"(% void uniform_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = double((uint64(r.w[1]) << 32 | r.w[0]) >> 11) * 0x1p-53;
    to[1] = double((uint64(r.w[3]) << 32 | r.w[2]) >> 11) * 0x1p-53;
}
)";

constexpr std::string_view normal_double = R"(% void normal_double(double* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}
)";

constexpr std::string_view bits_of_32 = R"(% void bits_uint32(uint32* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = r.w[0];
    to[1] = r.w[1];
    to[2] = r.w[2];
    to[3] = r.w[3];
}
)";

constexpr std::string_view bits_of_64 = R"(% void bits_uint64(uint64* to, const generator_key& key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = uint64(r.w[1]) << 32 | r.w[0];
    to[1] = uint64(r.w[3]) << 32 | r.w[2];
}
)";

constexpr std::string_view ranged_key = R"(/// A generator of integers from 0 to `last`.
struct ranged_key { generator_key of; uint64 last; };
)";

// A multiply-add of two factors and a 64-bit sum is one instruction on a GPU.
constexpr std::string_view scaled = R"(/// word * (last + 1).
% uint64 scaled(uint32 word, uint32 last) { return uint64(word) * last + word; }
)";

constexpr std::string_view integers_of_32 =
    R"(/// Multiplies 64-bit words by the range and divides by 2^64. The lower halves of the words add at most `last`
/// to the products of the upper halves, so they are drawn only if a product may carry.
% void integers_uint32(uint32* to, const ranged_key& key, uint64 group) {
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
)";

/// The text of the function that writes a group.
std::string_view group_text(generator_kind kind, bool single) {
    if (kind == generator_kind::normal) return single ? normal_float : normal_double;
    if (kind == generator_kind::uniform) return single ? uniform_float : uniform_double;
    if (kind == generator_kind::integers) return integers_of_32;
    return single ? bits_of_32 : bits_of_64;
}

std::string_view name_of(generator_kind kind) {
    switch (kind) {
        case generator_kind::uniform:
            return "uniform_";
        case generator_kind::normal:
            return "normal_";
        case generator_kind::integers:
            return "integers_";
        default:
            return "bits_";
    }
}

}  // namespace

std::string spell_generator(generator_kind kind, dtype t, bool approximate, prelude& needs) {
    const bool single = generator_group(t) == 4, normal = kind == generator_kind::normal;
    const std::string type = type_name(t);
    const std::string name = std::string(name_of(kind)) + type;
    const std::string prefix(needs.function_prefix());
    const auto add = [&](std::string_view as, std::string_view body) {
        std::string text;
        for (const char c : body) c == '%' ? text += prefix : text += c;
        needs.add(as, text);
    };
    needs.type(dtype::u4);
    needs.type(dtype::u8);
    const bool host = needs.where() == target::host;
    needs.add("generator_key", host ? host_key : cuda_key);
    if (kind == generator_kind::position) {
        const std::string head = prefix + ' ';
        needs.add("position",
                  head + "void position(int64* to, const generator_key&, uint64 group) {\n    to[0] = 2 * group;\n" +
                      "    to[1] = 2 * group + 1;\n}\n\n" + head +
                      "int64 position(const generator_key&, uint64 i) { return i; }\n");
        return "position";
    }
    add("philox", host ? host_philox : cuda_philox);
    if (host && !single && kind != generator_kind::bits) needs.add("fraction", fraction);
    if (kind == generator_kind::integers) {
        needs.add("ranged_key", ranged_key);
        add("scaled", scaled);
    }
    if (normal && single && (host || !approximate)) {
        add_reinterpretations(needs);
        for (const char* const function : {"sqrt", "fma"}) needs.calls(function, t);
        if (!host) add_instruction("rsqrt_approx", t, needs);
        add("logarithm " + type, host ? logarithm_float : cuda_logarithm);
        if (!host) add("root", cuda_root);
        add("circle " + type, circle_float);
        add("polar " + type, host ? host_polar_float : cuda_polar);
    } else if (normal && host) {
        for (const char* const function : {"sqrt", "fma"}) needs.calls(function, t);
        needs.add("logarithm " + type, logarithm_double);
        needs.add("circle " + type, host_circle_double);
        needs.add("polar " + type, host_polar_double);
    } else if (normal) {
        for (const char* const function : {"sqrt", "log", "sin", "cos"}) needs.calls(function, t);
        add("polar " + type, single ? polar_float : polar_double);
    }
    add(name, group_text(kind, single));
    const std::string group = std::to_string(generator_group(t));
    add(name + " of one", "% " + type + ' ' + name + "(const " + std::string(key_type_of(kind)) +
                              "& key, uint64 i) {\n    " + type + " group[" + group + "];\n    " + name +
                              "(group, key, i / " + group + ");\n    return " +
                              (single ? "i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0]"
                                      : "i & 1 ? group[1] : group[0]") +
                              ";\n}\n");
    return name;
}

std::string spell_generator_from(generator_kind kind, dtype t, bool approximate, prelude& needs) {
    const std::string name = spell_generator(kind, t, approximate, needs), type = type_name(t);
    const std::uint32_t group = generator_group(t);
    const std::string size = std::to_string(group);
    needs.type(dtype::i8);
    std::string text =
        "/// Draws the numbers [i, i + n). Results at negative indices are arbitrary and unused.\ntemplate <int n>\n";
    text += std::string(needs.function_prefix()) + " void " + name + "_from(" + type + "* to, const " +
            std::string(key_type_of(kind)) + "& key, int64 i) {\n";
    text += "    constexpr int groups = (n + " + std::to_string(2 * group - 2) + ") / " + size + ";\n";
    text += "    const unsigned int before = static_cast<unsigned int>(i) % " + size + ";\n";
    text += "    " + type + " all[groups * " + size + "] = {};\n#pragma unroll\n";
    text += "    for (int g = 0; g < groups; ++g)\n        if (g * " + size + " < before + n) " + name + "(all + g * " +
            size + ", key, (i >> " + std::to_string(group / 2) + ") + g);\n";
    for (std::uint32_t step = group / 2; step > 0; step /= 2) {
        const std::string by = std::to_string(step);
        text += "    if (before & " + by + ") {\n#pragma unroll\n        for (int k = 0; k + " + by + " < groups * " +
                size + "; ++k) all[k] = all[k + " + by + "];\n    }\n";
    }
    text += "#pragma unroll\n    for (int k = 0; k < n; ++k) to[k] = all[k];\n}\n";
    needs.add(name + " from", text);
    return name + "_from";
}

}  // namespace ingot::codegen
