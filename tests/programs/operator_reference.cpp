// Prints docs/operators.md, the reference page of the elementwise functions, from the operator table.
#include <cstdio>
#include <string>

#include "codegen/operator_bodies.hpp"

namespace {

using namespace ingot::detail;
using ingot::dtype;

const char* in_words(rule r) {
    switch (r) {
        case rule::arithmetic:
            return "the promoted type";
        case rule::widened:
            return "the promoted type, bool as int8";
        case rule::division:
            return "the promoted type, integers as float64";
        case rule::floating:
            return "the promoted type, bool and integers as the float that holds them";
        case rule::comparison:
            return "bool, of promoted operands";
        case rule::logical:
            return "bool, of the operands' truth";
        case rule::predicate:
            return "bool";
        case rule::selection:
            return "the promoted type of the last two";
        case rule::doubled:
            return "float64, complex as complex128";
        case rule::special:
            return "the promoted type, bool and integers as the float that holds them; computed in float64";
        case rule::scaling:
            return "the first's type, bool and integers as the float that holds them";
        case rule::counting:
            return "uint8";
        case rule::exponent:
            return "int32";
        case rule::part:
            return "a part";
        case rule::words:
            return "words";
    }
    return "";
}

std::string with_aliases(op o) {
    std::string names = "`" + std::string(facts(o).name) + "`";
    for (const alias_facts& a : alias_table)
        if (a.of == o) names += " `" + std::string(a.name) + "`";
    return names;
}

std::string takes(const op_facts& row) {
    if (row.rule == rule::scaling) return "real, and an integer";
    const bool converts = row.rule == rule::floating || row.rule == rule::special || row.rule == rule::exponent ||
                          row.rule == rule::doubled;
    if (row.rule == rule::logical) return "all";
    if (converts || row.rule == rule::division) return row.has(kind::complex) ? "all" : "real";
    std::string kinds;
    if (row.has(kind::boolean)) kinds += "bool ";
    if (row.has(kind::integer)) kinds += "integers ";
    if (row.has(kind::floating)) kinds += "floats ";
    if (row.has(kind::complex)) kinds += "complex ";
    if ((row.rule == rule::widened || row.rule == rule::counting) && row.has(kind::integer)) kinds = "bool " + kinds;
    kinds.pop_back();
    return kinds == "bool integers floats complex" ? "all" : kinds == "bool integers floats" ? "real" : kinds;
}

std::string in_a_cell(std::string_view text) {
    std::string out;
    for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}
std::string in_text(float ulp) { return ulp == 0 ? "exact" : std::to_string(static_cast<int>(ulp)); }
std::string bound(const op_facts& row, op o, dtype type) {
    if (!row.has(kind::floating)) return "";
    const float host = body_of(o, evaluator::host, type).ulp, cuda = body_of(o, evaluator::cuda, type).ulp;
    return host == cuda ? in_text(host) : in_text(host) + ", CUDA " + in_text(cuda);
}

}  // namespace

int main() {
    std::puts(
        "# Elementwise functions\n\n"
        "Made from `include/ingot/core/operators.def` by `tests/programs/operator_reference.cpp`; a test keeps it "
        "so.\n\n"
        "Each takes expressions, arrays and numbers in any mix, broadcasts, and is a function of C++ numbers where "
        "all\n"
        "arguments are. The C++ operators `+ - * / % == != < <= > >= && || ! & | ^ ~ << >>` are rows of the table too. "
        "The\n"
        "error is in units in the last place, exact where the result is exact or correctly rounded; operations are "
        "those\n"
        "that `explain` counts.\n\n"
        "| function | arguments | takes | gives | operations | error, float32 | error, float64 | error, complex |\n"
        "|---|---|---|---|---|---|---|---|");
    for (std::size_t i = 0; i < op_count; ++i) {
        const op o = static_cast<op>(i);
        // astype<T>(e) is no function of the table's kind, nor are the parts of complex functions.
        if (o == op::astype || !has_function(o)) continue;
        const op_facts& row = facts(o);
        const std::string of_complex = row.has(kind::complex) ? in_text(complex_bound(o)) : "";
        std::printf("| %s | %d | %s | %s | %d | %s | %s | %s |\n", with_aliases(o).c_str(), row.arity,
                    takes(row).c_str(), in_words(row.rule), row.cost, bound(row, o, dtype::f4).c_str(),
                    bound(row, o, dtype::f8).c_str(), of_complex.c_str());
    }
    std::puts(
        "\n## Bounds above 4\n\n"
        "Each has a reason. Those of complex numbers are in last places of the absolute value, of products and\n"
        "quotients whose factors have bounds of up to 4.\n\n"
        "| function | why |\n|---|---|");
    for (const wide_bound_facts& b : wide_bound_table)
        std::printf("| `%s` | %s |\n", facts(b.of).name.data(), in_a_cell(b.reason).c_str());
    std::puts(
        "\n## Functions written in the language\n\n"
        "They take what the rows above take. Those with several results give a tuple of expressions, which `eval` "
        "computes "
        "in\none kernel: `auto [q, r] = eval(divmod(a, b));`.\n\n"
        "| function | gives |\n|---|---|\n"
        "| `divmod(a, b)` | `floor_divide(a, b)` and `remainder(a, b)` |\n"
        "| `modf(x)` | fraction and whole part, both with the sign of x |\n"
        "| `frexp(x)` | `frexp_mantissa(x)` and `frexp_exponent(x)`, whose product with a power of 2 is x |\n"
        "| `round(x)` `round(x, decimals)` `around` | the nearest number of so many decimals, halves to the even one "
        "|\n"
        "| `isclose(a, b, relative, absolute, equal_nan)` | whether \\|a - b\\| <= absolute + relative * \\|b\\| |\n"
        "| `isposinf(x)` `isneginf(x)` | whether x is that infinity |\n"
        "| `nan_to_num(x, nan, posinf, neginf)` | x with numbers for NaN and infinities: 0 and the largest there are "
        "|\n"
        "| `unwrap(x, discontinuity, axis, period)` | angles without jumps along an axis |\n"
        "| `relu(x)` `gelu(x)` `silu(x)` | `maximum(x, 0)`, `x * ndtr(x)`, `x * expit(x)` |\n"
        "| `rsqrt(x)` | `1 / sqrt(x)` |");
}
