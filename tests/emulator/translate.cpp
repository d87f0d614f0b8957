#include "translate.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <stdexcept>

namespace emulator {

namespace {

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The end of the literal, comment or character that begins here; here where none does.
std::size_t behind_opaque(const std::string& text, std::size_t at) {
    if (text.compare(at, 2, "//") == 0) return std::min(text.find('\n', at), text.size());
    if (text.compare(at, 2, "/*") == 0) return std::min(text.find("*/", at) + 2, text.size());
    if (text[at] != '"' && text[at] != '\'') return at;
    const char quote = text[at];
    for (++at; at < text.size() && text[at] != quote; ++at)
        if (text[at] == '\\') ++at;
    return at + 1;
}

/// asm's inner text, split at the colons: instructions, outputs, inputs.
std::vector<std::string> sections_of(const std::string& text) {
    std::vector<std::string> sections(1);
    int depth = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t end = behind_opaque(text, i);
        if (end != i) {
            sections.back() += text.substr(i, end - i);
            i = end;
            continue;
        }
        const char c = text[i++];
        depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        if (c == ':' && depth == 0)
            sections.emplace_back();
        else
            sections.back() += c;
    }
    return sections;
}

/// "=r"(w.x), "l"(from): the parenthesised.
void append_operands(const std::string& section, std::vector<std::string>& operands) {
    for (std::size_t i = 0; i < section.size();) {
        if (section[i] == '"') {
            i = behind_opaque(section, i);
            continue;
        }
        if (section[i] != '(') {
            ++i;
            continue;
        }
        const std::size_t begin = i;
        int depth = 0;
        do {
            depth += section[i] == '(' ? 1 : section[i] == ')' ? -1 : 0;
            ++i;
        } while (depth != 0);
        operands.push_back(section.substr(begin + 1, i - begin - 2));
    }
}

/// The pieces of a literal joined, "\n" a space.
std::string joined_literal(const std::string& section) {
    std::string out;
    bool inside = false;
    for (std::size_t i = 0; i < section.size(); ++i) {
        if (section[i] == '"') {
            inside = !inside;
        } else if (inside && section[i] == '\\') {
            out += ' ';
            ++i;
        } else if (inside) {
            out += section[i];
        }
    }
    return out;
}

/// A call of the function for the first instruction that is not an assembler directive.
std::string call_for(const std::string& inner) {
    const std::vector<std::string> sections = sections_of(inner);
    const std::string instructions = joined_literal(sections[0]);
    if (instructions.find_first_not_of(' ') == std::string::npos) return "(void)0";  // only hides a value
    static const std::regex first(R"(^[\s{]*(?:\.reg[^;]*;\s*)*([a-z][\w.:]*)([^;]*);)");
    std::smatch found;
    if (!std::regex_search(instructions, found, first))
        throw std::runtime_error("the emulator cannot read this PTX: " + instructions);

    std::string name = "ptx_" + found[1].str();
    std::ranges::replace_if(name, [](char c) { return !in_name(c); }, '_');
    std::vector<std::string> operands;
    for (std::size_t i = 1; i < sections.size() && i < 3; ++i) append_operands(sections[i], operands);
    const std::string written = found[2].str();
    static const std::regex literal(R"((^|[\s,])(\d+)\b)");
    for (std::sregex_iterator at(written.begin(), written.end(), literal), end; at != end; ++at)
        operands.push_back((*at)[2]);

    std::string call = name + '(';
    for (std::size_t i = 0; i < operands.size(); ++i) call += (i == 0 ? "" : ", ") + operands[i];
    call += ')';
    return call + std::string(static_cast<std::size_t>(std::ranges::count(inner, '\n')), '\n');
}

std::string without_assembly(const std::string& source) {
    std::string out;
    for (std::size_t i = 0; i < source.size();) {
        const std::size_t opaque = behind_opaque(source, i);
        if (opaque != i) {
            out += source.substr(i, opaque - i);
            i = opaque;
            continue;
        }
        if (!in_name(source[i])) {
            out += source[i++];
            continue;
        }
        std::size_t end = i;
        while (end < source.size() && in_name(source[end])) ++end;
        const std::string word = source.substr(i, end - i);
        i = end;
        if (word != "asm") {
            out += word;
            continue;
        }
        const std::size_t open = source.find('(', i);
        std::size_t close = open + 1;
        for (int depth = 1; depth != 0;) {
            const std::size_t behind = behind_opaque(source, close);
            if (behind == close) depth += source[close] == '(' ? 1 : source[close] == ')' ? -1 : 0;
            close = std::max(behind, close + 1);
        }
        out += call_for(source.substr(open + 1, close - open - 2));
        i = close;
    }
    return out;
}

/// "step1::" of a kernel that begins at `at`.
std::string namespaces_at(const std::string& text, std::size_t at) {
    static const std::regex opening(R"(namespace\s+(\w+)\s*\{)");
    std::string around;
    for (std::sregex_iterator n(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), opening), end; n != end;
         ++n) {
        int depth = 1;
        for (auto i = static_cast<std::size_t>(n->position() + n->length()); i < at && depth != 0;) {
            const std::size_t behind = behind_opaque(text, i);
            if (behind == i) depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
            i = std::max(behind, i + 1);
        }
        if (depth != 0) around += (*n)[1].str() + "::";
    }
    return around;
}

}  // namespace

namespace {

/// __device__ before a variable as __constant__: it is no function, so that nothing opens before it ends.
std::string with_variables_marked(std::string text) {
    constexpr std::string_view word = "__device__", mark = "__constant__";
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
        const std::size_t end = text.find_first_of("(;={[", at);
        const bool is_whole = (at == 0 || !in_name(text[at - 1])) && !in_name(text[at + word.size()]);
        const bool is_variable = is_whole && end != std::string::npos && text[end] != '(' && text[end] != '{' &&
                                 text.substr(at, end - at).find("operator") == std::string::npos;
        if (is_variable) text.replace(at, word.size(), mark);
        at += is_variable ? mark.size() : word.size();
    }
    return text;
}

/// Whether template<...> precedes this position.
bool is_template_at(const std::string& text, std::size_t at) {
    const std::size_t end = text.find_last_not_of(" \t\n", at == 0 ? 0 : at - 1);
    return at != 0 && end != std::string::npos && text[end] == '>';
}

}  // namespace

translation translate(const std::string& source) {
    static const std::regex dynamic(R"(extern\s+__shared__\s+([\w: ]+?)\s+(\w+)\[\];)"),
        aligned(R"(__shared__\s+alignas\((\d+)\))"),
        kernel(R"(__global__\s+(?:__launch_bounds__\([^)]*\)\s*)?void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\()");
    translation out;
    out.text = with_variables_marked(without_assembly(source));
    out.text = std::regex_replace(out.text, dynamic, "alignas(128) static $1 $2[emulator::most_dynamic / sizeof($1)];");
    out.text = std::regex_replace(out.text, aligned, "alignas($1) __shared__");
    for (std::sregex_iterator at(out.text.begin(), out.text.end(), kernel), end; at != end; ++at)
        if (const auto begin = static_cast<std::size_t>(at->position()); !is_template_at(out.text, begin))
            out.kernels.push_back({(*at)[1], namespaces_at(out.text, begin)});
    return out;
}

}  // namespace emulator
