// The choice for folds along memory on CUDA, as a value, before the kernel is printed.
#include <doctest/doctest.h>

#include <algorithm>

#include "codegen/cuda/fold/along/choice.hpp"
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

row_fold_choice choice_of(const key& k) {
    const codegen::graph g = lower(k, loops::shared);
    const folding f = find_folding(k, g);
    const cuda_kernel b(k, g);
    return choose_row_fold(folded_kernel(b, f));
}

/// The numbers of its layout, whichever that is.
row_layout layout_of(const key& k) {
    return std::visit([](const row_layout& c) { return c; }, choice_of(k));
}

key rows(std::int64_t length, dtype of, bool few = false, fold by = fold::max, bool aligned = true) {
    key_builder b(target::cuda);
    b.axes(1);
    if (few) b.few_rows();
    b.bound_axis(0, detail::length_class::of_length(length)).leaf(of, "s1", aligned).reduce(by, of);
    return b.output(of, "1").done();
}

}  // namespace

TEST_CASE("how threads share rows that are folded is a value that explain prints") {
    CHECK(shape_of("sum_of_short_rows") ==
          "rows: blocks of 256 threads, 8 lanes a row, 4 elements a thread, read where they lie, joined "
          "by shuffles");
    CHECK(shape_of("sum_of_long_rows") ==
          "rows: blocks of 256 threads, 256 lanes a row, 8 times 4 elements a thread, read where they "
          "lie, joined in shared memory");
    CHECK(shape_of("sum_of_few_long_rows") ==
          "split rows: blocks of 512 threads, 512 lanes a row, 8 times 4 elements a thread, read "
          "where they lie, joined through the scratch, 2 blocks a multiprocessor");
    CHECK(shape_of("sum") ==
          "split rows: blocks of 512 threads, 512 lanes a row, 4 times 4 elements a thread, read where "
          "they lie, joined through the scratch, 2 blocks a multiprocessor");
    CHECK(shape_of("sum_of_int8") ==
          "split rows, last rounds dealt: blocks of 256 threads, 256 lanes a row, 2 times 16 elements a "
          "thread, read where they lie, joined through the scratch, 4 blocks a multiprocessor");
}

TEST_CASE("a row is folded by as many lanes as have vectors of it, a long one of few by several blocks") {
    CHECK(layout_of(rows(16, dtype::f4)).lanes == 8);
    CHECK(layout_of(rows(500, dtype::f4)).lanes == 32);
    CHECK(layout_of(rows(500, dtype::f4, true)).is_block_wide());
    CHECK(layout_of(rows(1 << 15, dtype::f4)).is_block_wide());
    CHECK(std::holds_alternative<whole_rows_layout>(choice_of(rows(1 << 15, dtype::f4))));
    CHECK(std::holds_alternative<split_rows_layout>(choice_of(rows(1 << 15, dtype::f4, true))));
    for (const std::int64_t length : {16, 500, 1 << 12, 1 << 15, 1 << 20})
        for (const bool few : {false, true}) {
            const key k = rows(length, dtype::f4, few);
            const bool whole = std::holds_alternative<whole_rows_layout>(choice_of(k));
            CHECK(layout_of(k).split.has_value() == !whole);
            CHECK((whole || layout_of(k).is_block_wide()));
        }
}

TEST_CASE("only the rows of a single operand are read by vectors wherever they begin") {
    const auto space = [](bool aligned, int operands) {
        key_builder b(target::cuda);
        b.axes(1).bound_axis(0, detail::length_class::of_length(500)).leaf(dtype::f4, "s1", aligned);
        if (operands == 2) b.leaf(dtype::f4, "s1", aligned).map("multiply");
        return layout_of(b.reduce(fold::sum, dtype::f4).output(dtype::f4, "1").done()).spaces.at(0);
    };
    CHECK(space(true, 2).each == 4);
    CHECK(space(true, 2).aligned);
    CHECK(space(false, 2).each == 1);
    CHECK(space(false, 1).each == 4);
    CHECK_FALSE(space(false, 1).aligned);
}

TEST_CASE("extremes of narrow integers are joined several at once") {
    CHECK(layout_of(rows(500, dtype::i1)).spaces.at(0).packed.at(0) != nullptr);
    CHECK(layout_of(rows(500, dtype::i4)).spaces.at(0).packed.at(0) == nullptr);
}

TEST_CASE("the launch of a fold along memory has the numbers of its choice") {
    for (const bool few : {false, true})
        for (const std::int64_t length : {16, 500, 1 << 12, 1 << 15, 1 << 20}) {
            const key k = rows(length, dtype::f4, few);
            const auto step = std::get<launch>(make_plan(k).steps.at(0));
            std::visit(
                [&](const auto& c) {
                    CHECK(step.threads == c.threads);
                    CHECK(step.resident_blocks == c.resident_blocks);
                    CHECK(step.shape == c.shape());
                    CHECK(step.reason == c.reason());
                },
                choice_of(k));
        }
}
