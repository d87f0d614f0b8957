// From words to graphs: sharing, casts, strength reduction.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/graph/graph.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::target;

std::size_t count(const codegen::graph& g, node_kind kind) {
    return static_cast<std::size_t>(
        std::count_if(g.nodes.begin(), g.nodes.end(), [kind](const node& n) { return n.kind == kind; }));
}

std::string expression(const key_builder& b) {
    const key k = b.done();
    const codegen::graph g = lower(k);
    std::string out;
    for (const node_id r : g.roots) out += (out.empty() ? "" : "; ") + text(g, r, k);
    return out;
}

}  // namespace

TEST_CASE("a view that is written three times is read once") {
    const codegen::graph g = lower(where_tree(target::host, dtype::f4, 1, "1", "1").output(dtype::f4, "1").done());
    CHECK(count(g, node_kind::operand) == 3);
    CHECK(count(g, node_kind::map) == 5);
}

TEST_CASE("a subtree that is written twice is computed once, in two outputs too") {
    key_builder b(target::host);
    b.axes(1).leaf(dtype::f4, "1").map("exp").again(0).map("exp").map("add").again(0).map("exp");
    const codegen::graph g = lower(b.output(dtype::f4, "1").output(dtype::f4, "1").done());
    CHECK(count(g, node_kind::map) == 2);
    CHECK(g.roots.size() == 2);
}

TEST_CASE("every operand is cast to the dtype its row computes in, and the root to its output's") {
    key_builder b(target::host);
    b.axes(1).leaf(dtype::i4, "1").leaf(dtype::f4, "1").map("multiply");
    CHECK(expression(b.output(dtype::f4, "1")) == "astype<float32>(astype<float64>(x0) * astype<float64>(x1))");
}

TEST_CASE("the special exponents of power leave no power and no scalar") {
    using detail::exponent_class;
    const auto power = [](exponent_class e) {
        key_builder b(target::host);
        return expression(b.axes(1).leaf(dtype::f4, "1").scalar(dtype::f4, e).map("power").output(dtype::f4, "1"));
    };
    CHECK(power(exponent_class::two) == "x0 * x0");
    CHECK(power(exponent_class::three) == "x0 * x0 * x0");
    CHECK(power(exponent_class::half) == "sqrt(x0)");
    CHECK(power(exponent_class::minus_half) == "1 / sqrt(x0)");
    CHECK(power(exponent_class::minus_one) == "1 / x0");
    CHECK(power(exponent_class::none) == "power(x0, s0)");
}

TEST_CASE("a reference is the value of an earlier word") {
    key_builder b(target::host);
    b.axes(1).leaf(dtype::f4, "1").map("exp").reference(1).map("multiply");
    const codegen::graph g = lower(b.output(dtype::f4, "1").done());
    CHECK(g.nodes.size() == 3);
}

TEST_CASE("a chain of a hundred thousand nodes is lowered without a deep stack") {
    key_builder b(target::host);
    b.axes(1).leaf(dtype::f4, "1");
    for (int i = 0; i < 100000; ++i) b.again(0).map("add");
    const key k = b.output(dtype::f4, "1").done();
    const codegen::graph g = lower(k);
    CHECK(g.nodes.size() == 100001);
    CHECK(text(g, g.roots[0], k).size() < 400);
}

TEST_CASE("two reductions of one row share a loop, and what they read") {
    const std::vector<named_tree> trees = golden_trees();
    const auto tree =
        std::find_if(trees.begin(), trees.end(), [](const named_tree& t) { return t.name == "two_sums_of_a_row"; });
    REQUIRE(tree != trees.end());
    const key k = tree->on(target::host);
    CHECK(count(lower(k, loops::own), node_kind::operand) == 2);
    const codegen::graph shared = lower(k, loops::shared);
    CHECK(count(shared, node_kind::operand) == 1);
    CHECK(shared.loop_axis[2] == 1);
}

TEST_CASE("a reduction broadcast back walks the outputs' loop: the row is one operand, its exponential one node") {
    const key k = softmax_tree(target::host, dtype::f4, 8);
    CHECK(count(lower(k, loops::own), node_kind::operand) == 4);
    const codegen::graph g = lower(k, loops::shared);
    CHECK(g.loop_axis == std::vector<std::uint8_t>{0, 1, 1, 1, 1});
    CHECK(count(g, node_kind::operand) == 1);
    CHECK(count(g, node_kind::reduce) == 2);
    CHECK(count(g, node_kind::map) == 3);
}

TEST_CASE("a reduction whose result moves along the axis of its extent has a loop of its own") {
    key_builder b(target::host);  // sum over k of (x[i, k] * y[k, j]), all extents equal
    b.axes(2).bound_axis(0, 1, 2);
    b.leaf(dtype::f4, "s01").leaf(dtype::f4, "01s").map("multiply").reduce(detail::fold::sum, dtype::f4);
    CHECK(lower(b.output(dtype::f4, "s1").done(), loops::shared).loop_axis == std::vector<std::uint8_t>{0, 1, 2});
}

TEST_CASE("nested reductions of equal extents do not share a loop") {
    key_builder b(target::host);  // sum over l of (sum over k of (x[k] + y[l]))
    b.bound_axis(0, 1).bound_axis(1, 1, 1);
    b.leaf(dtype::f4, "10").leaf(dtype::f4, "01").map("add").reduce(detail::fold::sum, dtype::f4);
    b.reduce(detail::fold::sum, dtype::f4);
    const codegen::graph g = lower(b.output(dtype::f4, "").done(), loops::shared);
    CHECK(g.loop_axis[1] == 1);
    CHECK(count(g, node_kind::reduce) == 2);
}

TEST_CASE("a node knows the axes along which it changes") {
    const key k = golden_trees()[3].on(target::host);  // x of (s1), y of (01)
    const codegen::graph g = lower(k);
    CHECK(g.nodes[g.roots[0]].axes == 3);
    for (const node& n : g.nodes)
        if (n.kind == node_kind::operand && k.operands[n.index].head.kind == detail::operand_kind::scalar)
            CHECK(n.axes == 0);
}

TEST_CASE("a program that leaves too much or takes what is not there is refused") {
    key_builder two(target::host);
    CHECK_THROWS_AS(lower(two.axes(1).leaf(dtype::f4, "1").leaf(dtype::f4, "1").output(dtype::f4, "1").done()), error);
    key none = key_builder(target::host).axes(1).leaf(dtype::f4, "1").output(dtype::f4, "1").done();
    none.program.push_back(none.program[0]);
    CHECK_THROWS_AS(lower(none), error);
}
