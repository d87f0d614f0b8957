// Complex dtypes in the operator table, and the graphs that they become.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/graph/graph.hpp"
#include "tests/codegen/key_builder.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

detail::signature resolved(detail::op o, dtype t) {
    const detail::operand_type operands[] = {{t, false}, {t, false}, {t, false}};
    return detail::resolve(o, operands);
}

/// Nodes of a complex dtype other than operands.
std::ptrdiff_t complex_nodes(const codegen::graph& g) {
    return std::ranges::count_if(g.nodes, [](const node& n) {
        return detail::kind_of(n.type) == detail::kind::complex && n.kind != node_kind::operand;
    });
}

}  // namespace

TEST_CASE("a row takes complex numbers or does not, and says what it gives") {
    using detail::op;
    using enum dtype;
    CHECK(resolved(op::add, c8).legal);
    CHECK(resolved(op::add, c8).result == c8);
    CHECK(resolved(op::equal, c16).result == b1);
    CHECK(resolved(op::absolute, c8).result == f4);
    CHECK(resolved(op::absolute, c16).result == f8);
    CHECK(resolved(op::absolute, f4).result == f4);
    CHECK(resolved(op::logical_not, c8).result == b1);
    CHECK_FALSE(resolved(op::less, c16).legal);
    CHECK_FALSE(resolved(op::floor, c8).legal);
    CHECK(resolved(op::maximum, c8).result == c8);  // the real part decides, then the imaginary one
    CHECK_FALSE(resolved(op::fmod, c8).legal);
}

TEST_CASE("what is computed of complex numbers is computed of their parts") {
    key_builder b(detail::target::host);
    b.axes(1).leaf(dtype::c8, "1").leaf(dtype::c8, "1").map("multiply").map("exp").output(dtype::c8, "1");
    const codegen::graph g = lower(b.done(), loops::shared);
    CHECK(complex_nodes(g) == 1);  // the result, made of its parts
    CHECK(std::ranges::all_of(g.nodes, [](const node& n) { return n.type == dtype::c8 || n.type == dtype::f4; }));

    key_builder copied(detail::target::host);
    copied.axes(1).leaf(dtype::c16, "1").map("conjugate").map("conjugate").output(dtype::c16, "1");
    CHECK(complex_nodes(lower(copied.done(), loops::shared)) <= 1);
}

TEST_CASE("a complex number that is only moved stays one") {
    key_builder b(detail::target::host);
    b.axes(1).leaf(dtype::c16, "1").map("positive").output(dtype::c16, "1");
    CHECK(lower(b.done(), loops::shared).nodes.size() == 1);
}
