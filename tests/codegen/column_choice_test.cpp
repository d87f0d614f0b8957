// The choice for folds across memory on CUDA, as a value from which the kernel is printed.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/cuda/fold/across/choice.hpp"
#include "codegen/plan/schedule.hpp"
#include "tests/codegen/trees.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

std::string shape_of(std::string_view name) {
    const auto tree = std::ranges::find(golden_trees(), name, &named_tree::name);
    REQUIRE(tree != golden_trees().end());
    return describe(std::get<launch>(make_plan(tree->on(target::cuda)).steps.at(0)).shape);
}

column_fold_choice choice_of(const key& k) {
    const codegen::graph g = lower(k, loops::shared);
    const cuda_kernel b(k, g);
    const folding f = find_folding(k, g);
    return choose_column_fold(folded_kernel(b, f));
}

/// The sums of a matrix's columns, or over a middle axis where two axes are kept.
key sum_of_columns(int rank, std::uint8_t length_class, std::uint16_t inner_flags, bool vector = true,
                   std::uint8_t subclass = 0) {
    key_builder b(target::cuda);
    b.axes(rank, inner_flags).bound_axis(0, length_class).subclass(subclass);
    b.leaf(dtype::f4, rank == 1 ? "1s" : "s1s", vector).reduce(fold::sum, dtype::f4);
    return b.output(dtype::f4, rank == 1 ? "1" : "s1").done();
}

}  // namespace

TEST_CASE("how threads share columns is a value that explain prints") {
    CHECK(shape_of("sum_of_columns_of_100") ==
          "wide columns: blocks of 256 threads, 8 times 4 elements a thread, read where they lie, joined in shared "
          "memory");
    CHECK(
        shape_of("mean_of_narrow_columns") ==
        "runs of columns: blocks of 512 threads, 8 times 4 elements a thread, read by vectors of their run of memory, "
        "joined through the scratch, 2 blocks a multiprocessor");
    CHECK(shape_of("sum_of_wide_columns") ==
          "strips of columns: blocks of 256 threads, 8 times 4 elements a thread, read where they lie, joined through "
          "the scratch, 2 blocks a multiprocessor");
    CHECK(shape_of("max_of_columns_of_8") ==
          "unrolled columns: blocks of 128 threads, 8 times 4 elements a thread, read where they lie");
    CHECK(
        shape_of("share_of_very_long_columns") ==
        "wide columns: blocks of 1024 threads, 16 elements a thread, read where they lie, joined through the scratch, "
        "1 block a multiprocessor");
    CHECK(shape_of("exponentials_of_long_columns_of_doubles") ==
          "runs of columns: blocks of 256 threads, 8 elements a thread, read by vectors of their run of memory, joined "
          "through the scratch, 1 ahead, 2 blocks a multiprocessor");
}

TEST_CASE("each layout of columns is chosen for the lengths and widths that it suits") {
    using detail::axis_flags::contiguous_columns;
    using detail::axis_flags::short_inner;
    using detail::axis_flags::wide_contiguous_columns;
    CHECK(std::holds_alternative<alone_columns_layout>(choice_of(sum_of_columns(1, 1, 0))));
    CHECK(std::holds_alternative<unrolled_columns_layout>(choice_of(sum_of_columns(1, 1, 0, true, 4))));
    CHECK(std::holds_alternative<wide_columns_layout>(choice_of(sum_of_columns(1, 5, 0))));
    CHECK(std::holds_alternative<column_strips_layout>(choice_of(sum_of_columns(1, 5, wide_contiguous_columns))));
    CHECK(std::holds_alternative<contiguous_columns_layout>(choice_of(sum_of_columns(1, 5, contiguous_columns))));
    CHECK(std::holds_alternative<packed_columns_layout>(choice_of(sum_of_columns(2, 4, short_inner))));
    CHECK(std::holds_alternative<narrow_columns_layout>(choice_of(sum_of_columns(2, 8, short_inner))));
    CHECK(std::holds_alternative<staged_columns_layout>(
        choice_of(sum_of_columns(2, 4, short_inner | contiguous_columns))));
}

TEST_CASE("columns too few to fill the GPU are split between blocks, whose launch has the choice's numbers") {
    for (const std::uint8_t length_class : {std::uint8_t{5}, std::uint8_t{8}}) {
        const key k = sum_of_columns(1, length_class, detail::axis_flags::contiguous_columns);
        const auto c = std::get<contiguous_columns_layout>(choice_of(k));
        const auto step = std::get<launch>(make_plan(k).steps.at(0));
        CAPTURE(int(length_class));
        CHECK(c.split.has_value() == (length_class > 5));
        CHECK(step.threads == c.threads);
        CHECK(step.resident_blocks == (c.split ? c.resident_blocks : 0));
        CHECK(step.waves == (c.split ? c.split->waves : 1));
        CHECK(step.shape == c.shape());
    }
}
