// Which graphs are row programs, and what one computes in which phase.
#include <doctest/doctest.h>

#include "codegen/graph/rows.hpp"
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
    const graph g = lower(k, loops::shared);
    const auto r = find_row_program(k, g);
    REQUIRE(r);
    CHECK(r->kept == std::vector<int>{0});
    CHECK(r->row == std::vector<int>{1});
    CHECK(r->length_class == 8);
    REQUIRE(r->phases.size() == 2);
    CHECK(static_cast<fold>(g.nodes[r->phases[0][0]].code) == fold::max);
    CHECK(static_cast<fold>(g.nodes[r->phases[1][0]].code) == fold::sum);
    CHECK(r->wanted(g, 1) == std::vector<node_id>{g.nodes[r->phases[1][0]].arguments[0]});
    CHECK(r->wanted(g, 2) == g.roots);
}

TEST_CASE("a reduction of what an earlier one of the row says is a row program though nothing is written along it") {
    key_builder b(target::host);  // sum(x - max(x, 1), 1): axes i, and one for each binder
    b.axes(1).bound_axis(0, 5).bound_axis(1, 5, 2);
    b.leaf(dtype::f4, "s01").same(dtype::f4, "s1", 0).reduce(fold::max, dtype::f4).map("subtract");
    const auto r = rows_of(b.reduce(fold::sum, dtype::f4).output(dtype::f4, "1").done());
    REQUIRE(r);
    CHECK(r->kept == std::vector<int>{0});
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
