#include "runtime/kernels/raw_source.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <utility>

#include <ingot/kernels/kernel_text.hpp>

#include "codegen/text/device_math.hpp"
#include "runtime/kernels/raw_complex.cuh.hpp"
#include "runtime/kernels/raw_host_prelude.h.hpp"
#include "runtime/kernels/raw_host_runner.h.hpp"
#include "runtime/kernels/raw_parameters.cuh.hpp"

namespace ingot::runtime {

namespace {

// Behind embedded::raw_parameters, of a text that has complex numbers.
constexpr std::string_view complex_words = R"(namespace ingot_raw {
template <class T> struct kind<thrust::complex<T>> { enum { value = 5 }; };
}
)";

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads the next word or sign of a text, past blanks, comments and literals. It counts #if and #endif.
class token_reader {
public:
    explicit token_reader(std::string_view text) : text_(text) {}

    std::string_view next() {
        while (at_ < text_.size()) {
            const char c = text_[at_];
            const bool at_line_start = line_start_;
            if (c == '\n') {
                line_start_ = true;
                ++at_;
            } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\\') {
                ++at_;
            } else if (text_.substr(at_, 2) == "//") {
                at_ = std::min(text_.find('\n', at_), text_.size());
            } else if (text_.substr(at_, 2) == "/*") {
                at_ = past(text_.find("*/", at_ + 2), 2);
            } else if (c == '#' && at_line_start) {
                skip_directive();
            } else {
                line_start_ = false;
                if (c == '"') return literal("\"\"", '"');
                if (c == '\'') return literal("''", '\'');
                const std::size_t begin = at_;
                if (!in_name(c)) return text_.substr(at_++, 1);
                while (at_ < text_.size() && in_name(text_[at_])) ++at_;
                if (at_ < text_.size() && text_[at_] == '"' && text_[at_ - 1] == 'R') return raw_literal();
                return text_.substr(begin, at_ - begin);
            }
        }
        return {};
    }

    bool in_condition() const noexcept { return conditions_ > 0; }

private:
    std::size_t past(std::size_t found, std::size_t length) const {
        return found == text_.npos ? text_.size() : std::min(found + length, text_.size());
    }
    std::string_view literal(std::string_view as, char quote) {
        for (++at_; at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n'; ++at_)
            if (text_[at_] == '\\') ++at_;
        at_ = std::min(at_ + 1, text_.size());
        return as;
    }
    std::string_view raw_literal() {
        const std::size_t open = std::min(text_.find('(', at_), text_.size());
        const std::string close = ")" + std::string(text_.substr(at_ + 1, open - at_ - 1)) + "\"";
        at_ = past(text_.find(close, open), close.size());
        return "\"\"";
    }
    void skip_directive() {
        std::size_t word = at_ + 1;
        while (word < text_.size() && (text_[word] == ' ' || text_[word] == '\t')) ++word;
        if (text_.substr(word, 2) == "if") ++conditions_;
        if (text_.substr(word, 5) == "endif") --conditions_;
        do {
            at_ = std::min(text_.find('\n', at_ + 1), text_.size());
        } while (at_ < text_.size() && text_[at_ - 1] == '\\');
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int conditions_ = 0;
    bool line_start_ = true;
};

void skip_parentheses(token_reader& tokens) {
    int depth = 1;
    for (std::string_view t; depth > 0 && !(t = tokens.next()).empty();) depth += t == "(" ? 1 : t == ")" ? -1 : 0;
}

/// The name of the declared function: the last word before its parameters.
std::string_view name_before_parameters(token_reader& tokens) {
    std::string_view name;
    for (std::string_view t; !(t = tokens.next()).empty();) {
        if (t == ";" || t == "{" || t == "}") return {};
        if (t != "(") {
            name = t;
        } else if (name.starts_with("__") && name.ends_with("__")) {
            skip_parentheses(tokens);  // __launch_bounds__(256)
        } else if (name == "alignas") {
            skip_parentheses(tokens);
        } else {
            skip_parentheses(tokens);
            return detail::is_identifier(name) ? name : std::string_view{};
        }
    }
    return {};
}

/// Removes the line that includes CuPy's complex numbers, and keeps the number of lines.
bool take_complex_include(std::string& text) {
    for (std::size_t line = 0; line < text.size(); line = std::min(text.find('\n', line), text.size() - 1) + 1) {
        std::size_t at = text.find_first_not_of(" \t", line);
        if (at == text.npos || text[at] != '#') continue;
        at = text.find_first_not_of(" \t", at + 1);
        if (at == text.npos || text.compare(at, 7, "include") != 0) continue;
        at = text.find_first_not_of(" \t", at + 7);
        constexpr std::string_view file = "<cupy/complex.cuh>";
        if (at == text.npos || text.compare(at, file.size(), file) != 0) continue;
        text.replace(line, at + file.size() - line, "");
        return true;
    }
    return false;
}

/// Replaces `extern __shared__ T name[];`, whose size comes with the launch.
std::string with_dynamic_shared(const std::string& text) {
    static const std::regex declared(
        R"(extern\s+__shared__\s+(?:(?:__align__|alignas)\s*\([^)]*\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;)");
    static const std::regex aligned(R"(__shared__\s+(alignas\s*\([^)]*\)))");
    return std::regex_replace(std::regex_replace(text, declared, "static ingot_raw::shared_array<$1> $2;"), aligned,
                              "$1 __shared__");
}

std::string first_line_of(std::string_view file) { return "\n#line 1 \"" + std::string(file) + "\"\n"; }

}  // namespace

std::vector<std::string> kernels_in(std::string_view text) {
    token_reader tokens(text);
    std::vector<std::string> around;  // for each open brace: its namespace, "" for extern "C", "{" for all others
    std::map<std::string, int> found;
    std::vector<std::string> in_order;
    std::string space;
    bool in_template = false, in_namespace = false, after_literal = false;
    for (std::string_view t; !(t = tokens.next()).empty();) {
        const bool is_linkage = std::exchange(after_literal, t == "\"\"");
        if (t == "{") {
            around.push_back(in_namespace ? space : is_linkage ? "" : "{");
        } else if (t == "}") {
            if (!around.empty()) around.pop_back();
        } else if (t == "namespace") {
            in_namespace = true;
            space.clear();
            continue;
        } else if (t == "template") {
            in_template = true;
            continue;
        } else if (t == "__global__") {
            const bool is_conditional = tokens.in_condition();
            std::string name(name_before_parameters(tokens)), scopes;
            bool is_reachable = !name.empty() && !in_template && !is_conditional;
            for (const std::string& scope : around) {
                is_reachable = is_reachable && scope != "{";
                if (!scope.empty()) scopes += scope + "::";
            }
            if (is_reachable && found[scopes + name]++ == 0) in_order.push_back(scopes + name);
        } else if (in_namespace) {
            if (t != "inline") space += t;
            continue;
        } else if (t != ";") {
            continue;
        }
        in_template = in_namespace = false;
    }
    std::erase_if(in_order, [&](const std::string& name) { return found[name] > 1; });
    return in_order;
}

std::string parameters_symbol(std::size_t i) { return "ingot_parameters_" + std::to_string(i); }
std::string runner_symbol(std::size_t i) { return "ingot_run_" + std::to_string(i); }

std::string cuda_text(std::string_view text, const std::vector<std::string>& kernels) {
    std::string own(text), out;
    const bool has_complex = take_complex_include(own);
    if (has_complex) out += std::string(embedded::raw_complex) + first_line_of("ingot_kernel.cu");
    out += own + first_line_of(names_file);
    // A missing kernel is an error in the first lines.
    for (std::size_t i = 0; i < kernels.size(); ++i)
        out += "typedef decltype(&" + kernels[i] + ") ingot_kernel_" + std::to_string(i) + ";\n";
    out += embedded::raw_parameters;
    if (has_complex) out += complex_words;
    for (std::size_t i = 0; i < kernels.size(); ++i)
        out += "extern \"C\" __device__ auto " + parameters_symbol(i) + " = ingot_raw::signature<ingot_kernel_" +
               std::to_string(i) + ">::all();\n";
    return out;
}

std::string host_text(std::string_view text, const std::vector<std::string>& kernels) {
    std::string own(text), out(embedded::raw_host_prelude);
    out += codegen::declare_beside_c(text);
    const bool has_complex = take_complex_include(own);
    if (has_complex) out += embedded::raw_complex;
    out += first_line_of("ingot_kernel.cu") + with_dynamic_shared(own) + first_line_of(names_file);
    const bool waits = own.find("__sync") != own.npos;
    out += std::string("namespace ingot_raw { static constexpr bool threads_wait = ") + (waits ? "true" : "false") +
           "; }\n";
    for (std::size_t i = 0; i < kernels.size(); ++i)
        out += "typedef decltype(&" + kernels[i] + ") ingot_kernel_" + std::to_string(i) + ";\n";
    out += embedded::raw_parameters;
    if (has_complex) out += complex_words;
    out += embedded::raw_host_runner;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        out += "extern \"C\" { extern const decltype(ingot_raw::signature<ingot_kernel_" + std::to_string(i) +
               ">::all()) " + parameters_symbol(i) + "; const decltype(ingot_raw::signature<ingot_kernel_" +
               std::to_string(i) + ">::all()) " + parameters_symbol(i) + " = ingot_raw::signature<ingot_kernel_" +
               std::to_string(i) + ">::all();\n";
        out += "void " + runner_symbol(i) +
               "(void** arguments, const ingot_raw::grid_of_blocks* g, unsigned long long begin, unsigned long long "
               "end) {\n    ingot_raw::run_blocks(&" +
               kernels[i] + ", arguments, g, begin, end);\n} }\n";
    }
    return out;
}

std::vector<std::string> host_compiler_options(const std::vector<std::string>& options) {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const std::string& o = options[i];
        const auto with_value = [&](std::string_view longer, const char* letter) {
            if (o == longer || o == letter) {
                if (i + 1 < options.size()) known.push_back(letter + options[++i]);
            } else if (o.starts_with(std::string(longer) + "=")) {
                known.push_back(letter + o.substr(longer.size() + 1));
            } else if (o.starts_with(letter)) {
                known.push_back(o);
            } else {
                return false;
            }
            return true;
        };
        if (with_value("--define-macro", "-D") || with_value("--undefine-macro", "-U") ||
            with_value("--include-path", "-I"))
            continue;
        if (o.starts_with("--std=") || o.starts_with("-std=")) known.push_back("-std=" + o.substr(o.find('=') + 1));
        if (o == "--fmad=false" || o == "-fmad=false") known.emplace_back("-ffp-contract=off");
    }
    return known;
}

}  // namespace ingot::runtime
