// Reads the text of a user's kernel as a key has it.
#include "codegen/graph/user_text.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>
#include <ingot/kernels/kernel_text.hpp>

#include "codegen/graph/names_in_text.hpp"
#include "codegen/type_names.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t to; (to = text.find('\0', from)) != text.npos; from = to + 1)
        parts.push_back(text.substr(from, to - from));
    parts.push_back(text.substr(from));
    return parts;
}

}  // namespace

std::string user_text::function(std::uint16_t which) const {
    if (writes) return "write";
    if (!reduces()) return outputs[which].name;
    return static_cast<user_part>(which) == user_part::map ? "map" : "post";
}

bool user_text::counts() const { return has_name(parts[2], "_in_ind") || has_name(parts[2], "_out_ind"); }

bool has_name(std::string_view text, std::string_view name) {
    bool found = false;
    for_each_name(text, [&](std::string_view n) { found = found || n == name; });
    return found;
}

user_text read_user_text(const std::string& text, std::uint64_t binding) {
    std::vector<std::string> parts = split(text);
    const bool reduces = parts.size() >= 7 && parts.size() <= 9;
    if (!reduces && parts.size() != 4 && parts.size() != 5) throw error("[key] has a text that is no kernel's");
    const parameter_list in = parse_parameters(parts[1]), out = parse_parameters(parts[2]);
    if (!is_identifier(parts[0]) || !in.valid || !out.valid || (reduces && out.count != 1))
        throw error("[key] has a kernel's text with a name or parameters that are none");
    placeholder_list letters;
    letters.add(in);
    letters.add(out);
    letters.decode(binding);
    user_text t;
    t.name = parts[0];
    for (int i = 0; i < letters.count; ++i) t.types.emplace_back(letters.letters[i], computed_in(letters.types[i]));
    const auto parameter_of = [&](const kernel_parameter& p) -> user_text::parameter {
        if (p.is_placeholder() && letters.find(p.type[0]) == letters.count)
            throw error("[key] has a kernel's text whose output has a type of its own");
        const dtype of = computed_in(letters.type_of(p));
        const std::string type(p.is_placeholder() ? p.type : type_name_in_text(of));
        return {p.raw ? "raw_array<" + type + '>' : type, std::string(p.name), of, p.raw};
    };
    for (const kernel_parameter& p : in) {
        t.inputs.push_back(parameter_of(p));
        if (p.raw) t.inputs.back().type.insert(0, "const ");  // its elements are read alone
    }
    for (const kernel_parameter& p : out) t.outputs.push_back(parameter_of(p));
    if (reduces) {
        t.partial =
            parameter_of({parts.size() < 8 || parts[7].empty() ? out[0].type : std::string_view(parts[7]), "a"});
        if (kind_of(t.partial.of) == kind::complex)
            throw dtype_error("[" + t.name + "] partial results are real numbers, not " +
                              std::string(name(t.partial.of)) +
                              ": sum(k(x)) of an elementwise kernel k adds complex numbers");
    } else {
        t.writes = out.has_raw();
        if (t.writes)
            for (const user_text::parameter& p : t.outputs)
                t.inputs.push_back(
                    p.raw ? p : user_text::parameter{"raw_array<" + p.type + '>', "all_of_" + p.name, p.of, true});
        // Further inputs of CuPy's elementwise kernels: the element's number and their count.
        for (const char* known : {"i", "_ind_size"}) t.inputs.push_back({"int64", known, dtype::i8});
    }
    const std::size_t end = reduces ? 7 : 4;
    t.parts.assign(parts.begin() + 3, parts.begin() + static_cast<std::ptrdiff_t>(end));
    if (parts.size() > end + reduces) t.preamble = parts.back();
    return t;
}

std::uint32_t cost_of_user(const user_text& t, std::uint16_t which) {
    const std::string& text = t.reduces() && static_cast<user_part>(which) == user_part::post ? t.parts[2] : t.parts[0];
    return 1 + static_cast<std::uint32_t>(text.size() / 8);
}

}  // namespace ingot::codegen
