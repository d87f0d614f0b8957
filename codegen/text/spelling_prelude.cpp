// The prelude of a generated source: the names of its types, and the functions that its kernel calls, each declared or
// defined once.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <ingot/core/operators.hpp>

#include "codegen/text/spelling.hpp"
#include "codegen/text/spelling_helpers.hpp"
#include "codegen/text/vectorised_macros.h.hpp"

namespace ingot::codegen {

using namespace detail;

const function_facts* function_named(std::string_view name) {
    for (const function_facts& f : function_table)
        if (f.name == name) return &f;
    return nullptr;
}

std::string parameters(std::string_view type, std::size_t count) {
    std::string out;
    for (std::size_t i = 0; i < count; ++i) {
        if (i > 0) out += ", ";
        if (!type.empty()) out.append(type).append(" ");
        out += "abcd"[i];
    }
    return out;
}

namespace {

/// Functions that every evaluator rounds alike: the host has an instruction or an exact sequence for each.
constexpr std::array<std::string_view, 7> exact_functions{"abs", "ceil", "copysign", "floor", "fma", "rint", "sqrt"};
/// Functions of libmvec from its beginning, and from glibc 2.35 on.
constexpr std::array<std::string_view, 5> vector_functions{"cos", "exp", "log", "pow", "sin"};
constexpr std::array<std::string_view, 20> later_vector_functions{
    "acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt", "cosh", "erf",
    "erfc", "exp2",  "expm1", "hypot", "log10", "log1p", "log2",  "sinh", "tan",  "tanh"};

template <class List>
bool contains(const List& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

/// The host's declaration of a function of the mathematical library, with the overload for float. Where libmvec has the
/// function, the attribute lets the compiler vectorise its calls.
std::string declare_on_host(std::string_view name, dtype t) {
    const std::string name_of(name);
    const std::size_t arity = function_named(name)->arity;
    const std::string type = type_name(t), suffix = t == dtype::f4 ? "f" : "";
    const std::string head = "static inline " + type + ' ' + name_of + '(' + parameters(type, arity) + ')';
    if (contains(exact_functions, name)) {
        const std::string builtin = (name == "abs" ? "fabs" : name_of) + suffix;
        return head + " { return __builtin_" + builtin + '(' + parameters("", arity) + "); }\n";
    }
    const std::string attribute = contains(vector_functions, name)         ? "vectorised "
                                  : contains(later_vector_functions, name) ? "vectorised_since_235 "
                                                                           : "";
    std::string out =
        "extern \"C\" " + attribute + type + ' ' + name_of + suffix + '(' + parameters(type, arity) + ");\n";
    if (t == dtype::f4) out += head + " { return " + name_of + "f(" + parameters("", arity) + "); }\n";
    return out;
}

/// A complex number as it lies in memory. Nothing is computed with it, only with its parts.
std::string spell_complex(dtype t, std::string_view function) {
    const std::string type = type_name(t), part = type_name(part_of(t)), head = std::string(function) + ' ';
    const std::string inside(function.starts_with("static ") ? "" : head);
    return "struct alignas(" + std::to_string(size_of(t)) + ") " + type + " {\n    " + part + " re, im;\n    " + type +
           "() = default;\n    " + inside + type + '(' + part + " a, " + part + " b) : re(a), im(b) {}\n};\n" + head +
           part + " real(const " + type + "& z) { return z.re; }\n" + head + part + " imag(const " + type +
           "& z) { return z.im; }\n";
}

}  // namespace

std::string prelude::type(dtype t) {
    if (is_integer(t) || is_half(t)) types_.insert(t);
    if (kind_of(t) == kind::complex) add(type_name(t), spell_complex(t, function_prefix()));
    return type_name(t);
}

bool prelude::has(std::string_view name) const {
    return std::any_of(parts_.begin(), parts_.end(), [&](const auto& part) { return part.first == name; });
}

void prelude::add(std::string_view name, std::string_view text) {
    if (!has(name)) parts_.emplace_back(name, text);
}

void prelude::calls(std::string_view function, dtype t) {
    calls_[std::string(function)].insert(t);
    if (!contains(exact_functions, function)) inexact_ = true;
}

std::string prelude::element(dtype t, std::string at) {
    if (where_ != target::host || t != dtype::b1) return at;
    add("truth",
        "/// Reads a bool by a comparison: g++ 12 does not vectorise conditions on a bool that is loaded.\n"
        "static inline bool truth(const bool& b) { return reinterpret_cast<const unsigned char&>(b) != 0; }\n");
    return "truth(" + at + ')';
}

std::string for_target(std::string_view text, const prelude& needs, std::string_view host_prefix) {
    constexpr std::string_view prefix = "__device__ __forceinline__ ";
    std::string out(text);
    if (needs.where() == target::cuda) return out;
    for (std::size_t at = 0; (at = out.find(prefix, at)) != out.npos;) out.replace(at, prefix.size(), host_prefix);
    return out;
}

std::string_view prelude::function_prefix() const {
    return where_ == target::cuda ? "__device__ __forceinline__" : "static inline";
}

std::string prelude::text() const {
    static constexpr std::pair<dtype, std::string_view> spelled[] = {{dtype::i1, "signed char"},
                                                                     {dtype::u1, "unsigned char"},
                                                                     {dtype::i2, "short"},
                                                                     {dtype::u2, "unsigned short"},
                                                                     {dtype::i4, "int"},
                                                                     {dtype::u4, "unsigned int"},
                                                                     {dtype::i8, "long long"},
                                                                     {dtype::u8, "unsigned long long"},
                                                                     {dtype::f2, "unsigned short"},
                                                                     {dtype::bf, "unsigned short"}};
    std::string out;
    for (const auto& [type, as] : spelled)
        if (types_.contains(type)) out += "using " + type_name(type) + " = " + std::string(as) + ";\n";
    if (where_ == target::host && !calls_.empty()) {
        if (inexact_) out += embedded::vectorised_macros;
        for (const auto& [function, dtypes] : calls_)
            for (const dtype t : dtypes) out += declare_on_host(function, t);
    }
    for (const auto& [name, text] : parts_) {
        if (!out.empty()) out += '\n';
        out += text;
    }
    return out;
}

bool is_exact_function(std::string_view name) { return contains(exact_functions, name); }

}  // namespace ingot::codegen
