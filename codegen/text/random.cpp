// The texts of the generators. They must agree with <ingot/philox.hpp>, integers and uniforms bit for bit.
#include "codegen/text/random.hpp"

namespace ingot::codegen {

namespace {

using detail::generator_kind;
using detail::target;

// In these texts % is the target's function prefix.
constexpr std::string_view generator_key = "struct generator_key { uint64 seed, call; };\n";

constexpr std::string_view philox = R"(struct philox_words { uint32 w[4]; };

/// Philox4x32-10.
% philox_words philox(generator_key key, uint64 counter) {
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

/// The library's sine and cosine go on for angles of any size, which costs a compiler more than all else here.
constexpr std::string_view circle =
    R"(/// cos(x) and sin(x), 0 <= x < 6.3, within 1.5 ulp: both of what x is off the nearest quarter of the circle.
% void circle(float x, float& cosine, float& sine) {
    const float quarters = rint(x * 0.636619772f);
    float r = fma(quarters, -1.57079601f, x);
    r = fma(quarters, -3.13916473e-07f, r);
    r = fma(quarters, -5.39030253e-15f, r);
    const float s = r * r;
    float c = fma(2.44331571e-5f, s, -1.38873162e-3f), t = fma(-1.95152959e-4f, s, 8.33216087e-3f);
    c = fma(fma(fma(c, s, 4.16666456e-2f), s, -0.5f), s, 1.0f);
    t = fma(fma(t, s, -1.66666546e-1f) * s, r, r);
    const int k = int(quarters);
    cosine = k & 1 ? t : c;
    sine = k & 1 ? c : t;
    if ((k + 1) & 2) cosine = -cosine;
    if (k & 2) sine = -sine;
}
)";

constexpr std::string_view polar_on_circle = R"(/// Box-Muller: a radius from the word p, an angle from q.
% void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * log(float(p) * 0x1p-32f + 0x1p-33f));
    const float angle = 6.28318530717958647692f * (float(q >> 8) * 0x1p-24f);
    float cosine, sine;
    circle(angle, cosine, sine);
    to[0] = radius * cosine;
    to[1] = radius * sine;
}
)";

constexpr std::string_view polar_float = R"(/// Box-Muller: a radius from the word p, an angle from q.
% void polar(float* to, uint32 p, uint32 q) {
    const float radius = sqrt(-2.0f * log(float(p) * 0x1p-32f + 0x1p-33f));
    const float angle = 6.28318530717958647692f * (float(q >> 8) * 0x1p-24f);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}
)";

constexpr std::string_view polar_double = R"(/// Box-Muller: a radius from the word p, an angle from q.
% void polar(double* to, uint64 p, uint64 q) {
    const double radius = sqrt(-2.0 * log(double(p >> 11) * 0x1p-53 + 0x1p-54));
    const double angle = 6.28318530717958647692 * (double(q >> 11) * 0x1p-53);
    to[0] = radius * cos(angle);
    to[1] = radius * sin(angle);
}
)";

constexpr std::string_view uniform_float = R"(% void uniform_float(float* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = float(r.w[0] >> 8) * 0x1p-24f;
    to[1] = float(r.w[1] >> 8) * 0x1p-24f;
    to[2] = float(r.w[2] >> 8) * 0x1p-24f;
    to[3] = float(r.w[3] >> 8) * 0x1p-24f;
}
)";

constexpr std::string_view normal_float = R"(% void normal_float(float* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, r.w[0], r.w[1]);
    polar(to + 2, r.w[2], r.w[3]);
}
)";

constexpr std::string_view uniform_double = R"(% void uniform_double(double* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = double((uint64(r.w[1]) << 32 | r.w[0]) >> 11) * 0x1p-53;
    to[1] = double((uint64(r.w[3]) << 32 | r.w[2]) >> 11) * 0x1p-53;
}
)";

constexpr std::string_view normal_double = R"(% void normal_double(double* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    polar(to, uint64(r.w[1]) << 32 | r.w[0], uint64(r.w[3]) << 32 | r.w[2]);
}
)";

constexpr std::string_view bits_of_32 = R"(% void bits_uint32(uint32* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = r.w[0];
    to[1] = r.w[1];
    to[2] = r.w[2];
    to[3] = r.w[3];
}
)";

constexpr std::string_view bits_of_64 = R"(% void bits_uint64(uint64* to, generator_key key, uint64 group) {
    const philox_words r = philox(key, group);
    to[0] = uint64(r.w[1]) << 32 | r.w[0];
    to[1] = uint64(r.w[3]) << 32 | r.w[2];
}
)";

/// The function that writes a group.
std::string_view group_text(generator_kind kind, bool single) {
    if (kind == generator_kind::normal) return single ? normal_float : normal_double;
    if (kind == generator_kind::uniform) return single ? uniform_float : uniform_double;
    return single ? bits_of_32 : bits_of_64;
}

}  // namespace

std::string spell_generator(generator_kind kind, dtype t, bool approximate, prelude& needs) {
    const bool single = generator_group(t) == 4, normal = kind == generator_kind::normal;
    const std::string type = type_name(t);
    const std::string name = (normal ? "normal_" : kind == generator_kind::uniform ? "uniform_" : "bits_") + type;
    const std::string prefix(needs.function_prefix());
    const auto add = [&](std::string_view as, std::string_view body) {
        std::string text(body);
        text.replace(text.find('%'), 1, prefix);
        needs.add(as, text);
    };
    needs.type(dtype::u4);
    needs.type(dtype::u8);
    needs.add("generator_key", generator_key);
    if (kind == generator_kind::position) {
        const std::string head = prefix + ' ';
        needs.add("position", head +
                                  "void position(int64* to, generator_key, uint64 group) {\n    to[0] = 2 * group;\n" +
                                  "    to[1] = 2 * group + 1;\n}\n\n" + head +
                                  "int64 position(generator_key, uint64 i) { return i; }\n");
        return "position";
    }
    add("philox", philox);
    if (normal) {
        for (const char* const function : {"sqrt", "log", "sin", "cos"}) needs.calls(function, t);
        const bool on_circle = single && needs.where() == target::cuda && !approximate;
        if (on_circle) add("circle", circle);
        add("polar " + type, on_circle ? polar_on_circle : single ? polar_float : polar_double);
    }
    add(name, group_text(kind, single));
    const std::string group = std::to_string(generator_group(t));
    add(name + " of one", "% " + type + ' ' + name + "(generator_key key, uint64 i) {\n    " + type + " group[" +
                              group + "];\n    " + name + "(group, key, i / " + group + ");\n    return " +
                              (single ? "i & 2 ? (i & 1 ? group[3] : group[2]) : i & 1 ? group[1] : group[0]"
                                      : "i & 1 ? group[1] : group[0]") +
                              ";\n}\n");
    return name;
}

}  // namespace ingot::codegen
