// These tests hold which graphs are row programs, and which phase computes each node.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/schedule.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

std::optional<row_program> rows_of(const key& k) { return find_row_program(k, lower(k, loops::shared)); }

}  // namespace

TEST_CASE("softmax is a row program of two phases") {
    const key k = softmax_tree(target::host, dtype::f4, 8);
    const codegen::graph g = lower(k, loops::shared);
    const auto r = find_row_program(k, g);
    REQUIRE(r);
    CHECK(r->kept_axes == std::vector<int>{0});
    CHECK(r->row == std::vector<int>{1});
    CHECK(r->length_class == 8);
    REQUIRE(r->phases.size() == 2);
    CHECK(static_cast<fold>(g.nodes[r->phases[0][0]].code) == fold::max);
    CHECK(static_cast<fold>(g.nodes[r->phases[1][0]].code) == fold::sum);
    CHECK(r->computed_nodes(g, 1) == std::vector<node_id>{g.nodes[r->phases[1][0]].arguments[0]});
    CHECK(r->computed_nodes(g, 2) == g.roots);
}

TEST_CASE("a reduction of what an earlier one of the row says is a row program though nothing is written along it") {
    key_builder b(target::host);  // sum(x - max(x, 1), 1): axes i, and one for each binder
    b.axes(1).bound_axis(0, 5).bound_axis(1, 5, 2);
    b.leaf(dtype::f4, "s01").same(dtype::f4, "s1", 0).reduce(fold::max, dtype::f4).map("subtract");
    const auto r = rows_of(b.reduce(fold::sum, dtype::f4).output(dtype::f4, "1").done());
    REQUIRE(r);
    CHECK(r->kept_axes == std::vector<int>{0});
    CHECK(r->row == std::vector<int>{1});
    CHECK(r->phases.size() == 2);
}

TEST_CASE("reductions side by side, along two axes, or beneath another of other rows, are no row program") {
    for (const named_tree& tree : golden_trees())
        if (tree.name == "two_sums_of_a_row" || tree.name == "sum") CHECK(!rows_of(tree.on(target::cuda)));
    key_builder both(target::host);  // x - sum(x, 1) - sum(x, 0), of extents that differ
    both.axes(2).bound_axis(0, 5, 2).bound_axis(1, 6, 1);
    both.leaf(dtype::f4, "s1").same(dtype::f4, "s01", 0).reduce(fold::sum, dtype::f4).map("subtract");
    both.same(dtype::f4, "010s", 0).reduce(fold::sum, dtype::f4).map("subtract");
    CHECK(!rows_of(both.output(dtype::f4, "s1").done()));
    key_builder whole(target::host);  // x - sum(y), y a vector as long as x's rows
    whole.axes(2).bound_axis(0, 5, 2).leaf(dtype::f4, "s1").leaf(dtype::f4, "001");
    CHECK(!rows_of(whole.reduce(fold::sum, dtype::f4).map("subtract").output(dtype::f4, "s1").done()));
}

TEST_CASE("a fold of a scan along its row is a row program whose first phase scans") {
    const auto tree = std::ranges::find(golden_trees(), "drawdown_of_rows", &named_tree::name);
    REQUIRE(tree != golden_trees().end());
    const key k = tree->on(target::cuda);
    const codegen::graph g = lower(k, loops::shared);
    const auto r = find_row_program(k, g);
    REQUIRE(r);
    CHECK(r->kept_axes == std::vector<int>{0});
    CHECK(r->row == std::vector<int>{1});
    REQUIRE(r->phases.size() == 2);
    CHECK(g.nodes[r->phases[0][0]].kind == node_kind::scan);
    CHECK(g.nodes[r->phases[1][0]].kind == node_kind::reduce);
    CHECK(r->scans(g) == r->phases[0]);
    CHECK(make_plan(k).temporaries.empty());
    key longer = k;
    longer.axes[1].length_class = longer.axes[2].length_class = detail::length_class::of_length(1 << 17);
    CHECK(make_plan(longer).temporaries.size() == 1);
}

TEST_CASE("scans alone are no row program, a scan of a scan is one") {
    for (const named_tree& tree : golden_trees())
        if (tree.name == "cumsum_of_rows" || tree.name == "cumsum") CHECK(!rows_of(tree.on(target::cuda)));
    key_builder b(target::host);  // cummax(cumsum(x, 1), 1): axes i, j, and one for each binder
    b.axes(2).bound_axis(0, 5, 2).bound_axis(1, 5, 2).leaf(dtype::f4, "s01").scan(fold::sum, dtype::f4, "0001");
    const auto r = rows_of(b.scan(fold::max, dtype::f4, "01").output(dtype::f4, "s1").done());
    REQUIRE(r);
    CHECK(r->row == std::vector<int>{1});
    CHECK(r->phases.size() == 2);
}
