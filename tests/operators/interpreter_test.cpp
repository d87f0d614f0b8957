// The interpreter through the sweep, and the sweep through the mutation check: a body put in another's place must be
// found.
#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>

#include "runtime/interpreter.hpp"
#include "tests/operators/sweep.hpp"

namespace {

using namespace ingot;
using detail::op;
using testing::sweep_case;

/// One map node over contiguous operands, run by the interpreter; casts around it where the row computes in another
/// dtype.
void interpret_row(const sweep_case& c, void* out) {
    const int arity = c.arity();
    codegen::key key;
    codegen::graph graph;
    key.axes.resize(1);
    const std::int64_t stride = 1, extent = static_cast<std::int64_t>(c.count);
    std::vector<runtime::bound_operand> operands;
    codegen::node result;
    const auto add = [&](codegen::node n) {
        graph.nodes.push_back(n);
        return static_cast<codegen::node_id>(graph.nodes.size() - 1);
    };
    const auto cast = [&](codegen::node_id from, dtype to) {
        if (graph.nodes[from].type == to) return from;
        codegen::node n;
        n.kind = codegen::node_kind::cast;
        n.type = to;
        n.arity = 1;
        n.axes = 1;
        n.arguments[0] = from;
        return add(n);
    };
    const bool special = detail::facts(c.row).rule == detail::rule::special;
    for (int i = 0; i < arity; ++i) {
        codegen::node n;
        n.type = c.type_of_operand(i);
        n.index = static_cast<std::uint16_t>(i);
        n.axes = 1;
        const codegen::node_id leaf = add(n);
        key.operands.push_back({{.type = n.type}, {codegen::stride_class::unit}});
        key.program.push_back(detail::make_word(detail::word_kind::leaf, n.type));
        operands.push_back({c.operands[i].data(), {}, 0, &stride});
        result.arguments[i] = special ? cast(leaf, dtype::f8) : leaf;
    }
    result.kind = c.row == op::astype ? codegen::node_kind::cast : codegen::node_kind::map;
    result.type = special ? dtype::f8 : c.result;
    result.code = static_cast<std::uint16_t>(c.row);
    result.arity = static_cast<std::uint8_t>(arity);
    result.axes = 1;
    graph.roots = {cast(add(result), c.result)};
    key.outputs.push_back({{.type = c.result}, {codegen::stride_class::unit}});
    const runtime::bound_output output{out, &stride};
    runtime::interpret(key, graph, operands, {&output, 1}, {&extent, 1});
}

testing::verdict judge(const sweep_case& c) {
    return testing::judge(c, interpret_row, detail::body_of(c.row, detail::evaluator::interpreter, c.computes()).ulp);
}

op row_to_replace, replacement;

/// Whether the sweep of `row` notices that `other` is computed in its place.
bool notices(op row, op other) {
    row_to_replace = row;
    replacement = other;
    runtime::swap_bodies([](op o) { return o == row_to_replace ? replacement : o; });
    bool noticed = false;
    for (const sweep_case& c : testing::sweep_cases())
        if (c.row == row && detail::facts(other).has(detail::kind_of(c.computes())))
            noticed = noticed || judge(c).wrong > 0;
    runtime::swap_bodies(nullptr);
    return noticed;
}

}  // namespace

TEST_CASE("every row computes what NumPy computes, in every dtype") {
    for (const sweep_case& c : testing::sweep_cases()) {
        const testing::verdict v = judge(c);
        CHECK_MESSAGE(v.wrong == 0, v.first_wrong, " and ", v.wrong, " in all of ", c.count);
        if (std::getenv("INGOT_PRINT_ULP") != nullptr && !c.exact)
            std::cout << c.name() << ": " << v.worst_ulp << " ulp\n";
    }
}

TEST_CASE("a row with another row's body fails its sweep") {
    for (std::size_t i = 0; i < detail::op_count; ++i)
        for (std::size_t k = 0; k < detail::op_count; ++k) {
            const op row = static_cast<op>(i), other = static_cast<op>(k);
            const detail::op_facts &own = detail::facts(row), &its = detail::facts(other);
            if (row == other || row == op::astype || other == op::astype || own.rule == detail::rule::part) continue;
            if (own.rule != its.rule || own.arity != its.arity) continue;
            if (own.integer == its.integer && own.floating == its.floating) continue;  // `real` and `positive`
            CHECK_MESSAGE(notices(row, other), own.name, " computed as ", its.name);
        }
}
