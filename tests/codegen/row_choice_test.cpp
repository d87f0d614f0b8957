// The choice for rows on CUDA, as a value: cutting asks for it, and the kernel is printed from it.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/plan/kernel_choice.hpp"
#include "codegen/plan/schedule.hpp"
#include "codegen/text/fold.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

std::optional<row_kernel> choice_of(const key& k) {
    const codegen::graph g = lower(k, loops::shared);
    const auto r = find_row_program(k, g);
    auto choice = choose_kernel(k, g, r);
    return r && choice ? std::optional(std::get<row_kernel>(*std::move(choice))) : std::nullopt;
}

std::string shape_of(std::string_view name) {
    const auto tree = std::ranges::find(golden_trees(), name, &named_tree::name);
    REQUIRE(tree != golden_trees().end());
    return describe(std::get<launch>(make_plan(tree->on(target::cuda)).steps.at(0)).shape);
}

std::uint32_t bytes_of_fold(fold f, dtype of, dtype result) {
    key_builder b(target::cuda);
    b.axes(1).bound_axis(0, 5).leaf(of, "s1").reduce(f, result);
    const codegen::graph g = lower(b.output(result, "1").done(), loops::shared);
    const auto reduction = std::ranges::find(g.nodes, node_kind::reduce, &node::kind);
    return fold_traits(g, static_cast<node_id>(reduction - g.nodes.begin())).bytes();
}

}  // namespace

TEST_CASE("how threads share rows is a value that explain prints") {
    CHECK(shape_of("softmax_of_rows_of_a_warp") ==
          "rows: blocks of 64 threads, 32 lanes a row, 4 times 4 elements a thread, read where they lie, joined by "
          "shuffles");
    CHECK(shape_of("softmax_of_long_rows") ==
          "rows: blocks of 512 threads, clusters of 4, 2048 lanes a row, 8 times 4 elements a thread, read where they "
          "lie, joined in the cluster's shared memory, 1 ahead, 2 blocks a multiprocessor");
    CHECK(shape_of("softmax_of_columns") ==
          "fitted columns: blocks of 512 threads, 32 elements a thread, read where they lie, joined in shared memory, "
          "2 blocks a multiprocessor");
    CHECK(shape_of("softmax_of_long_middle_axis") ==
          "runs of columns: blocks of 256 threads, 85 lanes a row, 28 elements a thread, read where they lie, joined "
          "in shared memory, 4 blocks a multiprocessor");
    CHECK(shape_of("softmax_of_middle_axis") ==
          "runs of short rows: blocks of 128 threads, 4 elements a thread, staged in shared memory by tiles of 5120 "
          "elements, joined by shuffles");
    CHECK(shape_of("sum_of_short_columns_side_by_side") ==
          "short rows: blocks of 128 threads, 4 elements a thread, staged in shared memory by tiles of 4096 elements");
}

TEST_CASE("a row program is one kernel just where there is a choice for it") {
    for (const std::int64_t length : {1, 33, 4096, 1 << 15, 1 << 18, 1 << 24})
        for (const bool across : {false, true})
            for (const std::uint32_t architecture : {80u, 90u}) {
                key k = softmax_tree(target::cuda, dtype::f4, detail::length_class::of_length(length), true, across);
                k.header.architecture = architecture;
                CAPTURE(length);
                CAPTURE(across);
                CHECK(choice_of(k).has_value() == (make_plan(k).temporaries.empty()));
            }
}

TEST_CASE("a row's launch has the numbers of its choice") {
    for (const named_tree& tree : golden_trees()) {
        const key k = tree.on(target::cuda);
        const auto choice = choice_of(k);
        if (!choice) continue;
        CAPTURE(tree.name);
        const auto step = std::get<launch>(make_plan(k).steps.at(0));
        if (step.pattern != "row program") continue;  // sums about a result are folded without holding the row
        if (const auto* held = std::get_if<register_rows>(&choice->how)) {
            CHECK(step.threads == held->threads);
            CHECK(step.cluster == held->cluster);
            CHECK(step.shared_bytes == held->shared_bytes());
            CHECK(step.shape == held->shape());
        } else {
            CHECK(step.shape == std::get<staged_rows>(choice->how).shape());
        }
    }
}

TEST_CASE("what a fold keeps of a row is known without its text") {
    CHECK(bytes_of_fold(fold::sum, dtype::f4, dtype::f4) == 8);  // joined in double
    CHECK(bytes_of_fold(fold::max, dtype::f4, dtype::f4) == 4);
    CHECK(bytes_of_fold(fold::any, dtype::i4, dtype::b1) == 1);
    CHECK(bytes_of_fold(fold::argmax, dtype::f8, dtype::i8) == 16);
}
