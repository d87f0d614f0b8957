#include "codegen/text/scatter.hpp"

#include "codegen/graph/builder.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// The row of the table that joins two values.
std::string_view row_of(scatter_rule rule) {
    return rule == scatter_rule::add ? "add" : rule == scatter_rule::max ? "maximum" : "minimum";
}

/// `a` and `b` joined, in the dtype; 16-bit floats by way of float32.
std::string join(scatter_rule rule, dtype t, const std::string& a, const std::string& b, prelude& needs) {
    if (is_half(t)) {
        const std::string joined =
            join(rule, dtype::f4, spell_cast(a, t, dtype::f4, needs), spell_cast(b, t, dtype::f4, needs), needs);
        return spell_cast('(' + joined + ')', dtype::f4, t, needs);
    }
    node n;
    n.kind = node_kind::map;
    n.type = t;
    n.code = static_cast<std::uint16_t>(row_named(row_of(rule)));
    n.arity = 2;
    return spell_map(n, {t, t}, {a, b}, needs);
}

/// The hardware's reduction instruction, which returns nothing; an empty name where there is none.
struct reduction_instruction {
    std::string name, operand;  // the type and the constraint of the joined value
    std::string as;
};
reduction_instruction instruction_of(scatter_rule rule, dtype t) {
    const bool whole = kind_of(t) == kind::integer && size_of(t) >= 4, is_add = rule == scatter_rule::add;
    const std::string red = "red.relaxed.gpu.global.", bits = std::to_string(8 * size_of(t));
    if (is_add && (t == dtype::f4 || t == dtype::f8))
        return {red + "add.f" + bits, t == dtype::f4 ? "f" : "d", type_name(t)};
    if (!whole) return {};
    const bool has_sign = !is_add && is_signed(t);
    return {red +
                (is_add                      ? "add"
                 : rule == scatter_rule::max ? "max"
                                             : "min") +
                (has_sign ? ".s" : ".u") + bits,
            size_of(t) == 4 ? "r" : "l",
            (has_sign ? "" : "unsigned ") + std::string(size_of(t) == 4 ? "int" : "long long")};
}

/// A loop that stores the joined value if the word has not changed since it was read: a word of four or eight bytes, of
/// which a smaller element is a part.
std::string compare_and_swap(scatter_rule rule, dtype t, prelude& needs) {
    const std::string type = needs.type(t), word = size_of(t) == 8 ? "unsigned long long" : "unsigned int";
    const bool part = size_of(t) < 4;
    std::string text = "    union {\n        " + word + " bits;\n        " + type + " element;\n    } u;\n";
    if (part)
        text +=
            "    const unsigned int shift = (unsigned int)((unsigned long long)at & 3) * 8;\n"
            "    unsigned int* const word = (unsigned int*)((unsigned long long)at & ~3ull);\n";
    else
        text += "    " + word + "* const word = (" + word + "*)at;\n";
    const std::string mask = size_of(t) == 1 ? "0xffu" : "0xffffu";
    text += "    " + word + " old = *word, seen;\n    do {\n        seen = old;\n        u.bits = " +
            std::string(part ? "seen >> shift & " + mask : "seen") +
            ";\n        u.element = " + join(rule, t, "u.element", "value", needs) +
            ";\n        old = atomicCAS(word, seen, " +
            (part ? "(seen & ~(" + mask + " << shift)) | (u.bits & " + mask + ") << shift" : "u.bits") +
            ");\n    } while (old != seen);\n";
    return text;
}

}  // namespace

std::string spell_scatter(scatter_rule rule, dtype t, prelude& needs) {
    const std::string function = "scatter_" + std::string(row_of(rule)), type = needs.type(t);
    const std::string name = function + '_' + std::string(ingot::name(t));
    if (needs.has(name)) return name;
    std::string body;
    if (kind_of(t) == kind::complex) {  // only sums: of both parts
        const std::string of_part = spell_scatter(rule, t == dtype::c8 ? dtype::f4 : dtype::f8, needs);
        body = "    " + of_part + "(&at->re, value.re);\n    " + of_part + "(&at->im, value.im);\n";
    } else if (needs.where() == target::host) {
        body = "    *at = " + join(rule, t, "*at", "value", needs) + ";\n";
    } else if (const auto [instruction, operand, as] = instruction_of(rule, t); !instruction.empty()) {
        // The assembler may turn the intrinsic into the instruction that returns the old value, which is slower.
        body = "    asm volatile(\"" + instruction + " [%0], %1;\" : : \"l\"(at), \"" + operand + "\"((" + as +
               ")value) : \"memory\");\n";
    } else {
        body = compare_and_swap(rule, t, needs);
    }
    needs.add(name, "/// Combines a value with the element at its address.\n" + std::string(needs.function_prefix()) +
                        " void " + name + '(' + type + "* at, " + type + " value) {\n" + body + "}\n");
    return name;
}

}  // namespace ingot::codegen
