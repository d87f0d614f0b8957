// See host/random_numbers.hpp.
#include "codegen/host/random_numbers.hpp"

#include "codegen/host/random_numbers.h.hpp"
#include "codegen/text/random.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t groups_at_once = 16;  // whole vectors of every dtype

/// The loop that computes a group's numbers from `words`.
std::string numbers_of_words(generator_kind kind, bool single) {
    const std::string n = std::to_string(groups_at_once * (single ? 4 : 2) / (kind == generator_kind::normal ? 2 : 1));
    const std::string number = kind == generator_kind::normal ? "polar(at + 2 * j, words[2 * j], words[2 * j + 1])"
                               : single                       ? "at[j] = float(int(words[j] >> 8)) * 0x1p-24f"
                                                              : "at[j] = fraction(words[j])";
    return "        rolled\n        independent\n        for (int j = 0; j < " + n + "; ++j) " + number + ";\n";
}

/// Adds the function that computes groups to the prelude.
std::string spell_run(kernel_builder& b, node_id generator) {
    const node& n = b.graph.nodes[generator];
    const auto kind = static_cast<generator_kind>(n.code);
    const bool single = generator_group(n.type) == 4;
    const std::string name = b.generator_name(generator), type = b.needs.type(n.type);
    const std::string size = std::to_string(generator_group(n.type)), groups = std::to_string(groups_at_once);
    add_rolled(b.needs);
    add_independent(b.needs);
    b.needs.add("philox_groups", embedded::philox_groups);
    if (kind == generator_kind::integers) {
        b.needs.add(name + "_run", embedded::integers_uint32_run);
        return name + "_run";
    }
    std::string text =
        "/// Computes the numbers [first, first + m) in `to`, which has room for whole vectors of groups.\n"
        "static inline const " +
        type + "* " + name + "_run(" + type +
        "* to, generator_key key, uint64 first, int m) {\n    const int before = int(first % " + size +
        "), groups = (before + m + " + size + " - 1) / " + size +
        ";\n    for (int vector = 0; vector < groups; vector += " + groups + ") {\n        " + type +
        "* const at = to + " + size + " * vector;\n";
    if (kind != generator_kind::bits)
        text += std::string("        alignas(64) ") + (single ? "uint32" : "uint64") + " words[" + groups + " * " +
                size + "];\n";
    text += std::string("        philox_groups(") + (kind == generator_kind::bits ? "at" : "words") +
            ", key, first / " + size + " + vector);\n";
    if (kind != generator_kind::bits) text += numbers_of_words(kind, single);
    b.needs.add(name + "_run", text + "    }\n    return to + before;\n}\n");
    return name + "_run";
}

}  // namespace

bool calls_philox(const graph& g, node_id generator) {
    return static_cast<generator_kind>(g.nodes[generator].code) != generator_kind::position;
}

void declare_numbers(kernel_builder& b, node_id generator, const std::string& name, std::uint32_t room) {
    const dtype t = b.graph.nodes[generator].type;
    const std::uint32_t beyond = (groups_at_once + 1) * generator_group(t);  // of the last vector and the first group
    b.code.line("alignas(64) ", b.needs.type(t), ' ', name, "_numbers[", room + beyond, "] = {};");
}

void write_numbers(kernel_builder& b, node_id generator, const std::string& name, const std::string& first,
                   const std::string& along, const std::string& consecutive) {
    source_writer& out = b.code;
    const std::string run = spell_run(b, generator), key = b.generator_key(generator);
    const std::string type = b.needs.type(b.graph.nodes[generator].type), numbers = name + "_numbers";
    const std::string strip = name + "_strip", of_run = run + '(' + numbers + ", " + key + ", " + first + ", m)";
    if (consecutive.empty()) return out.line("const ", type, "* const ", strip, " = ", of_run, ";");
    const bool never = consecutive == "false";
    out.line("const ", type, "* ", strip, " = ", numbers, ";");
    if (!never) {
        out.open("if (", consecutive, ")");
        out.line(strip, " = ", of_run, ";");
        out.otherwise();
    }
    open_whole_vectors(b);
    out.line(numbers, "[j] = ", b.generator_call(generator, first + along), ";");
    close_whole_vectors(b);
    if (!never) out.close();
}

}  // namespace ingot::codegen
