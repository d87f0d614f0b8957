// Prints docs/operators.md, the reference page of the elementwise functions, from the operator table.
#include <cstdio>
#include <string>

#include <ingot/operators.hpp>

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
    if (row.rule == rule::floating || row.rule == rule::logical || row.rule == rule::division) return "all";
    std::string kinds;
    if (row.has(kind::boolean)) kinds += "bool ";
    if (row.has(kind::integer)) kinds += "integers ";
    if (row.has(kind::floating)) kinds += "floats ";
    if (row.rule == rule::widened && row.has(kind::integer)) kinds = "bool " + kinds;
    kinds.pop_back();
    return kinds == "bool integers floats" ? "all" : kinds;
}

std::string bound(const op_facts& row, op o, dtype type) {
    if (!row.has(kind::floating)) return "";
    const float host = body_of(o, evaluator::host, type).ulp, cuda = body_of(o, evaluator::cuda, type).ulp;
    const auto text = [](float ulp) { return ulp == 0 ? std::string("exact") : std::to_string(static_cast<int>(ulp)); };
    return host == cuda ? text(host) : text(host) + ", CUDA " + text(cuda);
}

}  // namespace

int main() {
    std::puts(
        "# Elementwise functions\n\n"
        "Made from `include/ingot/operators.def` by `tests/programs/operator_reference.cpp`; a test keeps it so.\n\n"
        "Each takes expressions, arrays and numbers in any mix, broadcasts, and is a function of C++ numbers where "
        "all\n"
        "arguments are. The C++ operators `+ - * / % == != < <= > >= && || ! & | ^ ~ << >>` are rows of the table too. "
        "The\n"
        "error is in units in the last place, exact where the result is exact or correctly rounded; operations are "
        "those\n"
        "that `explain` counts.\n\n"
        "| function | arguments | takes | gives | operations | error, float32 | error, float64 |\n"
        "|---|---|---|---|---|---|---|");
    for (std::size_t i = 0; i < op_count; ++i) {
        const op o = static_cast<op>(i);
        if (o == op::astype) continue;  // astype<T>(e) is no function of the table's kind
        const op_facts& row = facts(o);
        std::printf("| %s | %d | %s | %s | %d | %s | %s |\n", with_aliases(o).c_str(), row.arity, takes(row).c_str(),
                    in_words(row.rule), row.cost, bound(row, o, dtype::f4).c_str(), bound(row, o, dtype::f8).c_str());
    }
}
