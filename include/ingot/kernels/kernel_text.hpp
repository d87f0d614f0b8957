// Kernels that a user writes as text: their parameter lists ("T x, float y"), which the compiler parses and the lowerer
// parses again, and the text itself, which is part of the key, so that the key alone decides the code.
//
// A text is one string, its parts separated by zeros: name, inputs, outputs; then an elementwise kernel's statements,
// or a reduction's map, join, statements after it, identity, and the type of partial results, which may be empty; last
// the preamble, if there is one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <ingot/core/expression.hpp>
#include <ingot/core/rejected.hpp>

namespace ingot::detail {

/// "T x", "float x" or "raw T x". One letter stands for a type that the call decides; other types have NumPy's or C++'s
/// names. A raw parameter is a whole array, which the text may read at any index.
struct kernel_parameter {
    std::string_view type, name;
    bool raw = false;

    constexpr bool is_placeholder() const { return type.size() == 1; }
    /// The dtype of a parameter that is no placeholder; dtype_count where there is no such type.
    constexpr std::size_t fixed_dtype() const {
        if (type == "float") return static_cast<std::size_t>(dtype::f4);
        if (type == "double") return static_cast<std::size_t>(dtype::f8);
        if (type == "int") return static_cast<std::size_t>(dtype::i4);
        std::size_t d = 0;
        while (d < dtype_count && dtype_table[d].name != type) ++d;
        return d;
    }
};

constexpr bool is_identifier(std::string_view s) {
    const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    for (const char c : s)
        if (!letter(c) && !(c >= '0' && c <= '9')) return false;
    return !s.empty() && letter(s[0]);
}

struct parameter_list {
    static constexpr int most = 8;
    static_assert(most + 3 <= most_arguments);  // an elementwise node takes the element's number, their count, the text
    std::array<kernel_parameter, most> parameters{};
    int count = 0;
    bool valid = true;

    constexpr const kernel_parameter* begin() const { return parameters.data(); }
    constexpr const kernel_parameter* end() const { return parameters.data() + count; }
    constexpr const kernel_parameter& operator[](int i) const { return parameters[static_cast<std::size_t>(i)]; }
    constexpr bool has(std::string_view name) const {
        for (const kernel_parameter& p : *this)
            if (p.name == name) return true;
        return false;
    }
    /// Whether a placeholder of this list has the same letter as `of`.
    constexpr bool has_type(const kernel_parameter& of) const {
        for (const kernel_parameter& p : *this)
            if (p.is_placeholder() && p.type == of.type) return true;
        return false;
    }
    constexpr bool has_raw() const {
        for (const kernel_parameter& p : *this)
            if (p.raw) return true;
        return false;
    }
};

constexpr parameter_list parse_parameters(std::string_view text) {
    parameter_list list;
    const auto trim = [](std::string_view s) {
        while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
        while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
        return s;
    };
    if (trim(text).empty()) return list;
    while (list.valid) {
        // This is not text.find, since under a sanitizer g++ 12 takes its test of a pointer for no constant.
        std::size_t comma = 0;
        while (comma < text.size() && text[comma] != ',') ++comma;
        const std::string_view one = trim(text.substr(0, comma));
        const std::size_t gap = one.find_last_of(' ');
        list.valid = gap != one.npos && list.count < parameter_list::most;
        if (!list.valid) break;
        kernel_parameter p{trim(one.substr(0, gap)), one.substr(gap + 1)};
        p.raw = p.type.starts_with("raw ");
        if (p.raw) p.type = trim(p.type.substr(4));
        list.valid = is_identifier(p.name) && is_identifier(p.type) &&
                     (p.is_placeholder() || p.fixed_dtype() < dtype_count) && !list.has(p.name);
        list.parameters[static_cast<std::size_t>(list.count++)] = p;
        if (comma == text.size()) break;
        text.remove_prefix(comma + 1);
    }
    return list;
}

/// The letters of a kernel's placeholders in the order of their first occurrence, with the dtypes that a call gives
/// them.
struct placeholder_list {
    static constexpr int most = 8;  // one byte each
    char letters[most]{};
    dtype types[most]{};
    int count = 0;

    constexpr int find(char letter) const {
        int at = 0;
        while (at < count && letters[at] != letter) ++at;
        return at;
    }
    constexpr void add(const parameter_list& list) {
        for (const kernel_parameter& p : list)
            if (p.is_placeholder() && find(p.type[0]) == count && count < most) letters[count++] = p.type[0];
    }
    constexpr dtype type_of(const kernel_parameter& p) const {
        return p.is_placeholder() ? types[find(p.type[0])] : static_cast<dtype>(p.fixed_dtype());
    }
    constexpr std::uint64_t encode() const {
        std::uint64_t code = 0;
        for (int i = 0; i < count; ++i) code |= static_cast<std::uint64_t>(types[i]) << 8 * i;
        return code;
    }
    constexpr void decode(std::uint64_t code) {
        for (int i = 0; i < count; ++i) types[i] = static_cast<dtype>(code >> 8 * i & 0xffu);
    }
};

/// The binding of a call's arguments to placeholders. Arrays decide, and a number where there is no array; `legal`
/// where every array has the dtype of its parameter.
struct text_binding : placeholder_list {
    bool legal = true;
};
template <class... A>
constexpr text_binding bind_placeholders(const parameter_list& inputs) {
    text_binding b;
    b.add(inputs);
    bool bound[placeholder_list::most + 1]{};
    constexpr operand_type given[] = {operand_type_of<A>()..., operand_type{}};
    for (const bool weak : {false, true})
        for (int i = 0; i < inputs.count; ++i) {
            if (given[i].weak != weak) continue;
            const int k = inputs[i].is_placeholder() ? b.find(inputs[i].type[0]) : placeholder_list::most;
            if (k < b.count && !bound[k]) b.types[k] = given[i].type, bound[k] = true;
            if (!weak) b.legal = b.legal && b.type_of(inputs[i]) == given[i].type;
        }
    return b;
}

/// A text that is never freed: equal texts are one object, so its address identifies it.
struct kernel_text {
    std::string name;
    std::vector<std::uint32_t> words;  // as in the key: the number of characters, then the characters
};
/// The text with these parts. Throws ingot::error where the first, the name, is no identifier, where a part has a zero
/// byte or none sets an output, and compile_error where a comment does not end. A preamble that is not empty is the
/// last part.
INGOT_API const kernel_text& keep_text(std::initializer_list<std::string_view> parts, std::string_view preamble = "");

/// The last operand of a function given as text. `binding`: the dtypes of its placeholders.
class text_leaf : public expression_base, public single_leaf {
public:
    static constexpr std::array<word, 1> program{make_word(word_kind::text, dtype::b1)};
    text_leaf(const kernel_text& t, std::uint64_t binding) noexcept : single_leaf(t, binding) {}
};

/// The operand that a node stores for an argument of a text's function, whose parameter has dtype `d`.
template <class A>
decltype(auto) as_text_argument(const char* operation, dtype d, A&& a) {
    if constexpr (array_expression<A>) {
        return as_node(std::forward<A>(a));
    } else {
        const auto value = plain_number(a);
        using number = std::remove_const_t<decltype(value)>;
        if constexpr (std::is_integral_v<number> && !std::is_same_v<number, bool>)
            if (!fits(value, d))
                throw_does_not_fit(operation, static_cast<long long>(value), std::is_unsigned_v<number>, d);
        return weak_leaf(scalar_words(value, d), d);
    }
}

}  // namespace ingot::detail
