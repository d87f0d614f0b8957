// This file chooses the texts of random.cuh and random_host.h that a generator needs.
#include "codegen/text/random.hpp"

#include "codegen/text/random.cuh.hpp"
#include "codegen/text/random_host.h.hpp"

namespace ingot::codegen {

namespace {

using detail::generator_kind;
using detail::target;

/// The text of the function that writes a group.
std::string_view group_text(generator_kind kind, bool single) {
    if (kind == generator_kind::normal) return single ? embedded::normal_float : embedded::normal_double;
    if (kind == generator_kind::uniform) return single ? embedded::uniform_float : embedded::uniform_double;
    if (kind == generator_kind::integers) return embedded::integers_of_32;
    return single ? embedded::bits_of_32 : embedded::bits_of_64;
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
    const auto add = [&](std::string_view as, std::string_view text) { needs.add(as, for_target(text, needs)); };
    needs.type(dtype::u4);
    needs.type(dtype::u8);
    const bool host = needs.where() == target::host;
    needs.add("generator_key", host ? embedded::host_key : embedded::cuda_key);
    if (kind == generator_kind::position) {
        add("position", embedded::position);
        return "position";
    }
    add("philox", host ? embedded::host_philox : embedded::cuda_philox);
    if (host && !single && kind != generator_kind::bits) needs.add("fraction", embedded::fraction);
    if (kind == generator_kind::integers) {
        needs.add("ranged_key", embedded::ranged_key);
        add("scaled", embedded::scaled);
    }
    if (normal && single && (host || !approximate)) {
        add_reinterpretations(needs);
        for (const char* const function : {"sqrt", "fma"}) needs.calls(function, t);
        if (!host) add_instruction("rsqrt_approx", t, needs);
        add("logarithm " + type, host ? embedded::logarithm_float : embedded::cuda_logarithm);
        if (!host) add("root", embedded::cuda_root);
        add("circle " + type, embedded::circle_float);
        add("polar " + type, host ? embedded::host_polar_float : embedded::cuda_polar);
    } else if (normal && host) {
        for (const char* const function : {"sqrt", "fma"}) needs.calls(function, t);
        needs.add("logarithm " + type, embedded::logarithm_double);
        needs.add("circle " + type, embedded::host_circle_double);
        needs.add("polar " + type, embedded::host_polar_double);
    } else if (normal) {
        for (const char* const function : {"sqrt", "log", "sin", "cos"}) needs.calls(function, t);
        add("polar " + type, single ? embedded::polar_float : embedded::polar_double);
    }
    add(name, group_text(kind, single));
    const std::string group = std::to_string(generator_group(t));
    needs.add(name + " of one", std::string(needs.function_prefix()) + ' ' + type + ' ' + name + "(const " +
                                    std::string(key_type_of(kind)) + "& key, uint64 i) {\n    " + type + " group[" +
                                    group + "];\n    " + name + "(group, key, i / " + group + ");\n    return " +
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
