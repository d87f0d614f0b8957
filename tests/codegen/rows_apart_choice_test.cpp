// The number of threads, and of elements a thread, for short rows on CUDA that are not a run of memory, as values.
#include <algorithm>

#include <doctest/doctest.h>

#include "codegen/cuda/fold/along/choice.hpp"
#include "codegen/cuda/scan/choice.hpp"
#include "codegen/plan/kernel_choice.hpp"
#include "codegen/plan/schedule.hpp"
#include "runtime/kernels/compile_cuda.hpp"
#include "runtime/kernels/nvrtc.hpp"
#include "tests/codegen/trees.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

using detail::fold;
using detail::target;

constexpr std::uint8_t up_to_8 = 4;  // the part of the first length class

std::uint32_t slots_of_fold(std::string_view strides, bool aligned, std::uint8_t subclass = up_to_8) {
    key_builder b(target::cuda);
    b.axes(1).bound_axis(0, 1).subclass(subclass).leaf(dtype::f4, strides, aligned).reduce(fold::sum, dtype::f4);
    const key k = b.output(dtype::f4, "1").done();
    const codegen::graph g = lower(k, loops::shared);
    const cuda_kernel kernel(k, g);
    const folding f = find_folding(k, g);
    const row_layout c =
        std::visit([](const row_layout& numbers) { return numbers; }, choose_row_fold(folded_kernel(kernel, f)));
    return c.lanes * c.spaces.at(0).each * c.spaces.at(0).unroll;
}

std::uint32_t slots_of_rows(key k, std::uint8_t subclass = up_to_8) {
    for (axis_class& a : k.axes)
        if (a.owner != 0) a.subclass = subclass;
    const codegen::graph g = lower(k, loops::shared);
    const auto r = find_row_program(k, g);
    REQUIRE(r);
    const register_rows c = std::get<register_rows>(std::get<row_kernel>(choose_kernel(k, g, r).value()).how);
    return c.lanes * c.each * c.chunks;
}

/// A scan along the last axis, or the middle one of three.
scan_choice choice_of_scan(std::string_view strides, std::string_view bound, std::uint8_t width = 0) {
    key_builder b(target::cuda);
    const auto rank = static_cast<int>(strides.size());
    b.axes(rank, width > 0 ? detail::axis_flags::short_inner : std::uint16_t{0}).extent(width);
    b.bound_axis(0, 1, 2).subclass(up_to_8).leaf(dtype::f4, bound, false);
    std::string pick(strides.size(), '0');
    pick[1] = '1';
    const key k = b.scan(fold::sum, dtype::f4, pick).output(dtype::f4, strides, false).done();
    const codegen::graph g = lower(k, loops::shared);
    const cuda_kernel kernel(k, g);
    return choose_scan(kernel, find_scanning(k, g));
}

/// Running sums over the middle axis, of three columns that are one run with all others, into another type.
key narrow_cumsum(dtype from, dtype scanned, dtype to) {
    key_builder b(target::cuda);
    b.axes(3, detail::axis_flags::short_inner).extent(3).bound_axis(0, 1, 2).subclass(up_to_8);
    b.leaf(from, "s01s", false).astype(scanned).scan(fold::sum, scanned, "010");
    return dense(b.output(to, "ss1", false).done());
}

void check_compiles(const key& k) {
    const plan p = make_plan(k);
    CAPTURE(p.expression);
    const runtime::compilation c = runtime::compile_cuda(
        {runtime::target::cuda, "compute_90", p.source, {}, {std::get<launch>(p.steps.at(0)).kernel}});
    INFO(c.log);
    CHECK(c.accepted);
}

}  // namespace

TEST_CASE("a row of up to eight elements that lies apart has no more places than these, and a vector beside them") {
    CHECK(slots_of_fold("s1", true) == 8);
    CHECK(slots_of_fold("s1", false) == 8);
    CHECK(slots_of_fold("ss", false) == 8);
    CHECK(slots_of_rows(softmax_tree(target::cuda, dtype::f4, 1)) == 8);
    CHECK(slots_of_rows(softmax_tree(target::cuda, dtype::f4, 1, false)) == 12);
    CHECK(slots_of_rows(softmax_tree(target::cuda, dtype::f4, 1, false, true)) == 8);
    CHECK(slots_of_rows(softmax_of_middle_axis(target::cuda, dtype::f4, 1, 3)) == 8);
    const auto along = std::get<row_scan_layout>(choice_of_scan("s1", "s01"));
    CHECK(along.lanes * along.each * along.register_chunks == 8);
    CHECK(std::get<short_column_scan_layout>(choice_of_scan("ss1", "s01s")).chunks == 8);
    CHECK(std::get<whole_column_scan_layout>(choice_of_scan("ss1", "s01s", 3)).chunks == 8);
}

TEST_CASE("of which part of the first class the length is says how many places rows that lie apart have") {
    for (std::uint8_t subclass = 2; subclass <= 6; ++subclass) {
        const std::uint32_t longest = longest_of(1, subclass);
        CAPTURE(longest);
        CHECK(slots_of_fold("ss", false, subclass) == std::max(longest, 2u));
        CHECK(slots_of_rows(softmax_tree(target::cuda, dtype::f4, 1), subclass) == std::max(longest, 4u));
        CHECK(slots_of_rows(softmax_tree(target::cuda, dtype::f4, 1, false), subclass) <= longest + 16);
    }
}

TEST_CASE("NVRTC accepts scans of short columns whose results take the place of elements of another type") {
    if (!runtime::nvrtc_path()) return test::untested("NVRTC is not here");
    check_compiles(narrow_cumsum(dtype::i4, dtype::f4, dtype::f4));
    check_compiles(narrow_cumsum(dtype::i4, dtype::i4, dtype::u4));
    check_compiles(narrow_cumsum(dtype::f8, dtype::f8, dtype::c8));
    check_compiles(narrow_cumsum(dtype::u2, dtype::f2, dtype::f2));
    check_compiles(narrow_cumsum(dtype::b1, dtype::i1, dtype::i1));
}
