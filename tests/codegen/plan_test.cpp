// The steps of a tree, and the plan's message for a pattern without a kernel.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "codegen/plan/schedule.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

const launch& kernel(const plan& p, std::size_t step) { return std::get<launch>(p.steps[step]); }
bool says(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("every tree of the matrix is one kernel, unless it folds rows too long to be held") {
    for (const named_tree& tree : golden_trees())
        for (const target where : {target::cuda, target::host}) {
            // A thread of the host keeps no row of that length in its cache, and folds by no loop inside a map's loop.
            const bool gpu_alone = tree.name == "softmax_of_rows_of_a_cluster" ||
                                   tree.name.starts_with("nearest_of_centres") || tree.name == "forces_between_bodies";
            if (where == target::host && gpu_alone) continue;
            CAPTURE(tree.name);
            const plan p = make_plan(tree.on(where));
            CHECK(p.steps.size() == tree.kernels);
            CHECK(p.temporaries.size() == tree.kernels - 1);
        }
}

TEST_CASE("kernels that may be launched early wait for those before them, and first of all") {
    constexpr std::string_view wait = ") {\n    asm volatile(\"griddepcontrol.wait;\"";
    for (const named_tree& tree : golden_trees())
        for (const std::uint32_t architecture : {80u, 90u}) {
            key k = tree.on(target::cuda);
            k.header.architecture = architecture;
            const plan p = make_plan(k);
            std::size_t waits = 0;
            for (std::size_t at = 0; (at = p.source.find(wait, at)) != std::string::npos; ++at) ++waits;
            CHECK(waits == (architecture == 90 ? p.steps.size() : 0));
            for (const launch& step : launches_of(p)) CHECK(step.programmatic_launch == (architecture == 90));
        }
}

TEST_CASE("softmax of rows that a host's caches hold is one kernel that reads them once") {
    for (const std::int64_t length : {1, 33, 4096, 1 << 15, 1 << 17}) {
        const plan p = make_plan(softmax_tree(target::host, dtype::f4, detail::length_class::of_length(length)));
        CHECK(p.pattern == "row program");
        REQUIRE(p.steps.size() == 1);
        CHECK(kernel(p, 0).reads == std::vector<std::uint16_t>{0});
        CHECK(p.temporaries.empty());
    }
}

TEST_CASE("softmax of rows that registers hold is one kernel that reads them once") {
    for (const std::int64_t length : {1, 33, 4096, 1 << 15, 1 << 18}) {
        const plan p = make_plan(softmax_tree(target::cuda, dtype::f4, detail::length_class::of_length(length)));
        CHECK(p.pattern == "row program");
        REQUIRE(p.steps.size() == 1);
        CHECK(kernel(p, 0).pattern == "row program");
        CHECK(kernel(p, 0).reads == std::vector<std::uint16_t>{0});
        CHECK(kernel(p, 0).cluster == (length == 1 << 18 ? 16 : length == 1 << 15 ? 4 : 1));
    }
}

TEST_CASE("softmax of longer rows is a row program, and runs in steps through temporaries") {
    for (const target where : {target::cuda, target::host}) {
        const plan p = make_plan(softmax_tree(where, dtype::f4, detail::length_class::looped));
        CHECK(p.pattern == "row program");
        CHECK(p.missing == "");
        const std::vector<std::uint16_t> first{0}, both{0, 1};
        REQUIRE(p.steps.size() == 2);  // the maximum, and the sum about whatever it is, from one reading
        CHECK(kernel(p, 0).writes_temporaries == both);
        if (where == target::cuda) CHECK(says(p.source, "(gridDim.x - 1 - blockIdx.x) * "));  // a cache has the end
        CHECK(kernel(p, p.steps.size() - 1).pattern == "map");
        CHECK(kernel(p, p.steps.size() - 1).reads_temporaries == both);
        CHECK(kernel(p, p.steps.size() - 1).writes == first);
        REQUIRE(p.temporaries.size() == 2);
        for (const temporary& t : p.temporaries) CHECK(t.elements == points_of(1));
    }
}

TEST_CASE("a reduction along another axis ends the kernel: two steps with a temporary") {
    for (const target where : {target::cuda, target::host}) {
        key_builder b(where);  // sum(x * sum(y, 0), 1): axes i, k of the inner sum, j of the outer
        b.axes(1).bound_axis(0, 5).bound_axis(1, 5);
        b.leaf(dtype::f4, "s01")
            .leaf(dtype::f4, "0s1")
            .reduce(fold::sum, dtype::f4)
            .map("multiply")
            .reduce(fold::sum, dtype::f4);
        const plan p = make_plan(b.output(dtype::f4, "1").done());
        CHECK(p.pattern == "reduction");
        CHECK(p.missing == "");
        REQUIRE(p.steps.size() == 2);
        // On the host a block has many columns.
        CHECK(kernel(p, 0).grid[0].axes() == 4);
        CHECK(kernel(p, 1).grid[0].axes() == 1);
        REQUIRE(p.temporaries.size() == 1);
        CHECK(p.temporaries[0].elements == points_of(4));
    }
}

TEST_CASE("what stands above a reduction on its own axes is computed once, in its kernel") {
    key_builder b(target::cuda);  // x / sqrt(sum(x * x, 1)): axes i, j, k
    b.axes(2)
        .bound_axis(0, detail::length_class::looped, 2)
        .leaf(dtype::f4, "s1")
        .same(dtype::f4, "s01", 0)
        .same(dtype::f4, "s01", 0)
        .map("multiply");
    b.reduce(fold::sum, dtype::f4).map("sqrt").map("divide");
    const plan p = make_plan(b.output(dtype::f4, "s1").done());
    REQUIRE(p.steps.size() == 2);
    CHECK(says(p.source, "sqrt(sum0)"));
    CHECK(says(p.source, "// x0 / x1"));
}

TEST_CASE("a scan read one after the other is one step, a flipped one goes through a temporary") {
    const auto scan = [](target t, std::uint8_t partner, std::string_view pick) {
        key_builder b(t);
        b.axes(1).bound_axis(0, 10, partner).leaf(dtype::f4, "01").scan(fold::sum, dtype::f4, pick);
        return make_plan(b.output(dtype::f4, "1").done());
    };
    for (const target t : {target::cuda, target::host}) {
        CHECK(scan(t, 1, "1").pattern == "scan");
        CHECK(scan(t, 1, "1").steps.size() == 1);
        CHECK(scan(t, 1, "s").steps.size() == 2);
        CHECK(scan(t, 0, "1").steps.size() == 2);
        CHECK(scan(t, 1, "s").missing == "");
    }
}

TEST_CASE("a scan on CUDA says how threads share its elements") {
    const auto says_of = [](std::string_view name) {
        for (const named_tree& tree : golden_trees())
            if (tree.name == name) return describe(kernel(make_plan(tree.on(target::cuda)), 0).shape);
        return std::string("no such tree");
    };
    CHECK(says_of("cumsum_of_rows") ==
          "row pairs: blocks of 1024 threads, 1024 lanes a row, 2 times 4 elements a thread, "
          "read where they lie, joined in shared memory, 2 blocks a multiprocessor");
    CHECK(says_of("cummax_of_short_rows") ==
          "rows: blocks of 256 threads, 8 lanes a row, 4 elements a thread, read where they lie, joined by "
          "shuffles");
    CHECK(says_of("cumsum") ==
          "look-back rows: blocks of 256 threads, 256 lanes a row, 8 times 4 elements a thread, "
          "staged in shared memory, joined through the scratch, 4 blocks a multiprocessor");
    CHECK(says_of("cumsum_of_costly_values") == says_of("cumsum"));
    CHECK(says_of("cumsum_of_columns_of_17") ==
          "short columns: blocks of 256 threads, 8 elements a thread, read where they lie");
    CHECK(says_of("cumsum_of_whole_columns") ==
          "whole columns: blocks of 256 threads, 32 lanes a row, 17 times 4 elements a thread, "
          "staged in shared memory, joined in shared memory, 2 blocks a multiprocessor");
    CHECK(says_of("cumsum_of_columns") ==
          "look-back columns: blocks of 512 threads, 64 lanes a row, 13 times 4 elements a thread, "
          "staged in shared memory, joined through the scratch, 2 blocks a multiprocessor");
}

TEST_CASE("a map on CUDA says how its threads fold") {
    const auto says_of = [](std::string_view name) {
        for (const named_tree& tree : golden_trees())
            if (tree.name == name) return kernel(make_plan(tree.on(target::cuda)), 0).reason;
        return std::string("no such tree");
    };
    CHECK(
        says_of("forces_between_bodies") ==
        "3 elements of a short axis a thread: what is the same along it is computed once; a short loop unrolled; rows "
        "of 4 arrays in registers");
    CHECK(says_of("nearest_of_centres_of_16") ==
          "1 element a thread, a block apart: coalesced at any alignment and stride; a short loop unrolled; rows of 2 "
          "arrays in registers");
    CHECK(says_of("nearest_of_centres") == "1 element a thread, a block apart: coalesced at any alignment and stride");
}

TEST_CASE("a gather from a tree is planned as one kernel that computes at the gathered places") {
    key_builder b(target::cuda);
    b.axes(1).bound_axis(0, 10).leaf(dtype::f4, "01").map("exp").leaf(dtype::i8, "1").gather();
    const plan p = make_plan(b.output(dtype::f4, "1").done());
    CHECK(p.pattern == "map");
    CHECK(p.steps.size() == 1);
    CHECK(p.missing == "");
    CHECK(says(p.source, "// take(exp(x0), x1)"));
}

TEST_CASE("fast arithmetic is approximate, and has no quick body to fall back from") {
    const auto quotient = [](detail::math_mode math) {
        key_builder b(target::cuda);
        b.math(math).axes(1).leaf(dtype::f4, "1").leaf(dtype::f4, "1").map("divide");
        return make_plan(b.output(dtype::f4, "1").done());
    };
    const plan standard = quotient(detail::math_mode::standard), fast = quotient(detail::math_mode::fast);
    CHECK(fast.approximate);
    CHECK_FALSE(standard.approximate);
    CHECK(says(standard.source, "rare"));
    CHECK_FALSE(says(fast.source, "rare"));
}

TEST_CASE("strict arithmetic forbids contraction") {
    for (const named_tree& tree : golden_trees())
        CHECK(make_plan(tree.on(target::cuda)).contract == (tree.name != "strict"));
}

TEST_CASE("the members of an argument struct do not overlap and are aligned") {
    for (const named_tree& tree : golden_trees()) {
        const plan p = make_plan(tree.on(target::cuda));
        for (const launch& step : launches_of(p)) {
            std::uint32_t end = 0;
            for (const argument& a : step.arguments) {
                CHECK(a.at % a.bytes == 0);
                CHECK(a.at >= end);
                end = a.at + a.bytes * members_of(a.kind);
            }
            CHECK(end <= step.argument_bytes);
        }
    }
}

TEST_CASE("a large body caps the elements of a thread") {
    key_builder b(target::cuda);
    b.axes(1).leaf(dtype::f4, "1");
    for (int i = 0; i < 40; ++i) b.scalar(dtype::f4).map("power");
    const plan p = make_plan(b.output(dtype::f4, "1").done());
    const detail::index_t million[] = {1 << 20};
    CHECK(kernel(p, 0).grid[0].value(million, 132) > (1 << 20) / 1024);
    ;
}
