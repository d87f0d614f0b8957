// The matrix of trees whose kernels are kept as golden sources: one for each schedule and each thing the bodies do.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/codegen/key_builder.hpp"

namespace ingot::codegen {

struct named_tree {
    std::string name;
    std::function<key(detail::target)> on;
    std::size_t kernels = 1;
};

/// On a GPU: marks the axes `again` as reading their arrays again, and sets exact extents of some axes.
inline key made_again(key k, std::initializer_list<std::size_t> again,
                      std::initializer_list<std::pair<std::size_t, std::uint8_t>> extents) {
    if (k.header.where != detail::target::cuda) return k;
    for (const std::size_t a : again) k.axes[a].flags = detail::axis_flags::reads_again;
    for (const auto& [a, extent] : extents) k.axes[a].extent = extent;
    return k;
}

/// exp(x - max(x)) / sum(exp(x - max(x))) along rows, or along columns: axes i, j, and one for each binder.
inline key softmax_tree(detail::target where, dtype t, std::uint8_t length_class, bool vector = true,
                        bool columns = false) {
    using detail::fold;
    key_builder b(where);
    const std::uint8_t partner = columns ? 1 : 2;
    b.axes(2)
        .bound_axis(0, length_class, partner)
        .bound_axis(1, length_class, partner)
        .bound_axis(2, length_class, partner);
    const auto again = [&](std::size_t binder) -> key_builder& {
        return b.same(t, (columns ? "01" : "s0") + std::string(binder, '0') + (columns ? 's' : '1'), 0);
    };
    b.leaf(t, "s1", vector);
    again(0).reduce(fold::max, t).map("subtract").map("exp");
    again(2);
    again(1).reduce(fold::max, t).map("subtract").map("exp").reduce(fold::sum, t);
    return b.map("divide").output(t, "s1", vector).done();
}

/// softmax over the middle one of three axes, the last of which has the extent `inner`.
inline key softmax_of_middle_axis(detail::target where, dtype t, std::uint8_t length_class, std::uint8_t inner) {
    using detail::fold;
    key_builder b(where);
    b.axes(3, detail::axis_flags::short_inner)
        .bound_axis(0, length_class, 2)
        .bound_axis(1, length_class, 2)
        .bound_axis(2, length_class, 2);
    const auto again = [&](std::size_t binder) -> key_builder& {
        return b.same(t, "s01" + std::string(binder, '0') + 's', 0);
    };
    b.leaf(t, "ss1", false);
    again(0).reduce(fold::max, t).map("subtract").map("exp");
    again(2);
    again(1).reduce(fold::max, t).map("subtract").map("exp").reduce(fold::sum, t);
    key k = b.map("divide").output(t, "ss1", false).done();
    k.axes[2].extent = inner;
    return k;
}

/// sum(square(x - sum(x) / n)) / n along rows that begin anywhere.
inline key variance_of_rows(detail::target where, dtype t, std::uint8_t length_class, bool few) {
    using detail::fold;
    key_builder b(where);
    b.axes(1).bound_axis(0, length_class).bound_axis(1, length_class, 2);
    if (few) b.few_rows();
    b.leaf(t, "s01", false).same(t, "s10", 0).reduce(fold::sum, t).scalar(t).map("divide").map("subtract");
    return b.map("square").reduce(fold::sum, t).scalar(t).map("divide").output(t, "1").done();
}

/// sum(exp(x - max(x))) of long gapless columns of doubles.
inline key exponentials_of_columns(detail::target where, std::uint16_t how_many) {
    using detail::fold;
    using enum dtype;
    key_builder b(where);
    const std::uint8_t row = detail::length_class::of_length(1 << 16);
    b.axes(2, how_many | detail::axis_flags::contiguous_columns).bound_axis(0, row).bound_axis(1, row, 3);
    b.leaf(f8, "s10s", false).same(f8, "s1s0", 0).reduce(fold::max, f8).map("subtract").map("exp");
    return b.reduce(fold::sum, f8).output(f8, "s1", false).done();
}

inline const std::vector<named_tree>& golden_trees() {
    using detail::fold;
    using detail::generator_kind;
    using detail::target;
    using enum dtype;
    const auto row = [](std::int64_t n) { return detail::length_class::of_length(n); };
    static const std::vector<named_tree> trees{
        {"where", [](target t) { return where_tree(t, f4, 1, "1", "1").output(f4, "1").done(); }},
        {"where_int8", [](target t) { return where_tree(t, i1, 1, "1", "1").output(i1, "1").done(); }},
        {"where_misaligned", [](target t) { return where_tree(t, f4, 1, "1", "1", false).output(f4, "1").done(); }},
        {"where_row", [](target t) { return where_tree(t, f4, 2, "s1", "01").output(f4, "s1").done(); }},
        {"where_column", [](target t) { return where_tree(t, f4, 2, "s1", "10").output(f4, "s1").done(); }},
        {"where_transposed", [](target t) { return where_tree(t, f4, 2, "s1", "1s").output(f4, "s1").done(); }},
        {"where_short_rows",
         [](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner).leaf(f4, "s1", false).leaf(f4, "1s", false).map("add");
             return b.output(f4, "s1", false).done();
         }},
        {"stencil_of_five_points",
         [](target t) {
             key_builder b(t);
             b.axes(2).leaf(f4, "s1", false).related(0, {-1, 0}).map("add").related(0, {1, 0}).map("add");
             b.related(0, {0, -1}).map("add").related(0, {0, 1}).map("add").scalar(f4).map("multiply");
             return b.output(f4, "s1", false).done();
         }},
        {"stencil_of_seven_points",
         [](target t) {
             key_builder b(t);
             b.axes(3).leaf(f8, "ss1", false).related(0, {-1, 0, 0}).map("add").related(0, {1, 0, 0}).map("add");
             b.related(0, {0, -1, 0}).map("add").related(0, {0, 1, 0}).map("add").related(0, {0, 0, -1}).map("add");
             return b.related(0, {0, 0, 1}).map("add").leaf(f8, "010").map("multiply").output(f8, "ss1", false).done();
         }},
        {"stencil_of_bytes",
         [](target t) {
             key_builder b(t);
             b.axes(2).leaf(i1, "s1", false).related(0, {-1, -1}).map("add").related(0, {1, 1}).map("add").in_place(0);
             return b.output(i1, "s1", false).done();
         }},
        {"stencil_of_byte_pairs",
         [](target t) {
             key_builder b(t);
             b.axes(2).leaf(u1, "s1").related(0, {-1, -1}).map("add").related(0, {1, 1}).map("add").scalar(u1);
             return b.map("equal").output(b1, "s1", false).done();
         }},
        {"stencil_that_goes_round",
         [](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, 0).bound_axis(0, 0).bound_axis(1, 0).bound_axis(1, 0);
             b.leaf(f4, "010s00").unravel("100000").shift({-1, 0, 0, 1, 0, 0});
             b.leaf(f4, "s00001").unravel("010000").shift({0, 1, 0, 0, 0, 2}).map("add").of_one_buffer(0, 2);
             return b.output(f4, "s10000").done();
         }},
        {"stencil_of_one_dimension",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(c8, "1", false).related(0, {3}).map("subtract");
             return b.output(c8, "1", false).done();
         }},
        {"where_past_caches",
         [](target t) { return where_tree(t, f4, 1, "1", "1").past_caches().output(f4, "1").done(); }},
        {"where_wide",
         [](target t) {
             key_builder b(t, true);
             b.axes(2).leaf(f8, "s1", true, true).leaf(f8, "01").map("multiply");
             return b.output(f8, "s1", true, true).done();
         }},
        {"where_zero_dimensional", [](target t) { return where_tree(t, f4, 0, "", "").output(f4, "").done(); }},
        {"in_place",
         [](target t) {
             return key_builder(t).axes(1).leaf(f4, "1").leaf(f4, "1").map("add").output(f4, "1").in_place(0).done();
         }},
        {"two_outputs",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(f4, "1").leaf(i4, "1").map("multiply").again(0).astype(i2);
             return b.output(f8, "1").output(i2, "1").done();
         }},
        {"transcendental",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(f8, "1").map("exp").scalar(f8).map("multiply").leaf(f8, "1").map("tanh").map("add");
             return b.output(f8, "1").done();
         }},
        {"float_of_double_expression",
         [](target t) {
             return key_builder(t).axes(1).leaf(f4, "1").map("exp").leaf(f4, "1").map("add").output(f8, "1").done();
         }},
        {"integer_division",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(i4, "1").leaf(i4, "1").map("floor_divide").again(0).again(1).map("remainder").map("add");
             return b.output(i4, "1").done();
         }},
        {"mixed_comparison",
         [](target t) {
             return key_builder(t).axes(1).leaf(i8, "1").leaf(u8, "1").map("less").output(b1, "1").done();
         }},
        {"cube",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(f4, "1").scalar(f4, detail::exponent_class::three).map("power");
             return b.output(f4, "1").done();
         }},
        {"strict",
         [](target t) {
             key_builder b(t);
             b.math(detail::math_mode::strict)
                 .axes(1)
                 .leaf(f4, "1")
                 .leaf(f4, "1")
                 .map("multiply")
                 .leaf(f4, "1")
                 .map("add");
             return b.output(f4, "1").done();
         }},
        {"uniform",
         [](target t) {
             return key_builder(t).axes(1).random(generator_kind::uniform, f4, "1").output(f4, "1").done();
         }},
        {"integers",
         [](target t) {
             return key_builder(t).axes(1).random(generator_kind::integers, u4, "1").output(u4, "1").done();
         }},
        {"normal_rows",
         [](target t) {
             key_builder b(t);
             b.axes(2).random(generator_kind::normal, f8, "s1", false).leaf(f8, "10").map("multiply");
             return b.output(f8, "s1").done();
         }},
        {"reshape",
         [](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, 0).bound_axis(0, 1).leaf(f4, "0s1", false).map("sqrt").unravel("1");
             return b.leaf(f4, "1").map("add").output(f4, "1").done();
         }},
        {"gather",
         [](target t) {
             key_builder b(t);
             return b.axes(1).bound_axis(0, 0).leaf(f4, "01").leaf(i4, "1").gather().output(f4, "1").done();
         }},
        {"scatter_add",
         [](target t) {
             key_builder b(t);
             b.axes(1).leaf(f4, "1").leaf(i8, "1").scatter(detail::scatter_rule::add);
             return b.output(f4, "0").done();
         }},
        {"counts_of_few_bytes",
         [](target t) {
             key_builder b(t);
             b.axes(1).scalar(i8).leaf(u1, "1").scatter(detail::scatter_rule::add);
             return b.output(i8, "0").few_places(8).done();
         }},
        {"sum",
         [row](target t) {
             key_builder b(t);
             b.bound_axis(0, row(1 << 20)).leaf(f4, "1").leaf(f4, "1").map("multiply").reduce(fold::sum, f4);
             return b.map("sqrt").output(f4, "").done();
         }},
        {"sum_of_int8",
         [row](target t) {
             return key_builder(t).bound_axis(0, row(5000)).leaf(i1, "1").reduce(fold::sum, i8).output(i8, "").done();
         }},
        {"sum_of_short_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(17)).leaf(f4, "s1", false).map("exp").reduce(fold::sum, f4).map("log");
             return b.output(f4, "1").done();
         }},
        {"sum_of_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(500)).leaf(f4, "s1").leaf(f4, "10").map("multiply").reduce(fold::sum, f4);
             return b.output(f4, "1").done();
         }},
        {"sum_of_long_rows",
         [row](target t) {
             return key_builder(t)
                 .axes(1)
                 .bound_axis(0, row(1 << 16))
                 .leaf(f4, "s1")
                 .reduce(fold::sum, f4)
                 .output(f4, "1")
                 .done();
         }},
        {"sum_of_columns",
         [row](target t) {
             return key_builder(t)
                 .axes(1)
                 .bound_axis(0, row(1 << 16))
                 .leaf(f8, "1s")
                 .reduce(fold::sum, f8)
                 .output(f8, "1")
                 .done();
         }},
        {"sum_over_two_axes",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, 0).bound_axis(0, row(4000)).leaf(f4, "ss1", false).reduce(fold::sum, f4);
             return b.output(f4, "1").done();
         }},
        {"map_and_sum",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(1 << 20), 1).leaf(f4, "1").scalar(f4).map("add");
             return b.same(f4, "01", 0).reduce(fold::sum, f4).output(f4, "1").output(f4, "").done();
         }},
        {"map_and_sums_of_long_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(1 << 16), 1).leaf(f4, "s1").scalar(f4).map("add");
             return b.same(f4, "01s", 0).reduce(fold::sum, f4).output(f4, "s1").output(f4, "01").done();
         }},
        {"two_sums_of_a_row",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(4000)).bound_axis(1, row(4000), 2);
             b.leaf(f4, "s1").reduce(fold::sum, f4);
             b.same(f4, "s01", 0).same(f4, "s01", 0).map("multiply").reduce(fold::sum, f4);
             return b.output(f4, "1").output(f4, "1").done();
         }},
        {"softmax", [row](target t) { return softmax_tree(t, f4, row(4096)); }},
        {"softmax_of_rows_of_a_warp", [row](target t) { return softmax_tree(t, f4, row(500)); }},
        {"softmax_of_long_rows", [row](target t) { return softmax_tree(t, f4, row(1 << 16)); }},
        {"softmax_of_rows_of_a_cluster", [row](target t) { return softmax_tree(t, f4, row(1 << 19)); }},
        {"softmax_of_misaligned_rows", [row](target t) { return softmax_tree(t, f8, row(1000), false); }},
        {"softmax_of_columns", [row](target t) { return softmax_tree(t, f4, row(500), true, true); }},
        {"softmax_of_middle_axis", [row](target t) { return dense(softmax_of_middle_axis(t, f4, row(20), 2)); }},
        {"softmax_of_long_middle_axis", [row](target t) { return softmax_of_middle_axis(t, f4, row(2000), 3); }},
        {"softmax_of_runs_of_memory", [row](target t) { return softmax_of_middle_axis(t, f4, row(4000), 18); }},
        {"map_and_sum_of_everything",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(1 << 20), 1).leaf(f4, "1").scalar(f4).map("add");
             b.same(f4, "01", 0).again(0).map("multiply").reduce(fold::sum, f4);
             return b.output(f4, "1").output(f4, "0").done();
         }},
        {"map_and_sums_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(4000), 1).leaf(f4, "s1").map("sqrt");
             b.same(f4, "01s", 0).reduce(fold::sum, f4);
             return b.output(f4, "s1").output(f4, "01").done();
         }},
        {"max_of_rows",
         [row](target t) {
             return key_builder(t)
                 .axes(1)
                 .bound_axis(0, row(500))
                 .leaf(f4, "s1")
                 .reduce(fold::max, f4)
                 .output(f4, "1")
                 .done();
         }},
        {"log_of_short_rows",
         [](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner);
             return b.leaf(f8, "s1", false).leaf(f8, "01").map("add").map("log").output(f8, "s1", false).done();
         }},
        {"normal_short_rows",
         [](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner);
             b.random(generator_kind::normal, f8, "s1", false).leaf(f8, "01").map("multiply");
             return b.output(f8, "s1", false).done();
         }},
        {"exponentials_of_few_rows_beside_each_other",
         [row](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner).bound_axis(0, row(10));
             if (t == target::cuda) b.subclass(4);
             return b.leaf(f8, "s1s", false).map("exp").reduce(fold::sum, f8).output(f8, "s1", false).done();
         }},
        {"sum_of_few_long_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).few_rows().bound_axis(0, row(1 << 20));
             return b.leaf(f4, "s1", false).reduce(fold::sum, f4).map("sqrt").output(f4, "1").done();
         }},
        {"mean_of_narrow_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(1).few_rows().contiguous_columns().bound_axis(0, row(1 << 20));
             return b.leaf(f4, "1s").reduce(fold::sum, f4).scalar(f4).map("divide").output(f4, "1").done();
         }},
        {"sum_of_wide_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::wide_contiguous_columns).bound_axis(0, row(1300));
             return b.leaf(f4, "s1s", false).reduce(fold::sum, f4).output(f4, "s10").done();
         }},
        {"sum_of_columns_of_100",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(100)).leaf(f4, "1s").reduce(fold::sum, f4);
             return b.output(f4, "1").done();
         }},
        {"sum_of_short_columns_side_by_side",
         [row](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner | detail::axis_flags::contiguous_columns).bound_axis(0, row(20));
             return dense(b.leaf(i4, "s1s", false).reduce(fold::sum, i8).output(i8, "s1", false).done());
         }},
        {"max_of_columns_of_8",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(8));
             if (t == target::cuda) b.subclass(4);
             return b.leaf(f4, "s1s").reduce(fold::max, f4).output(f4, "s10").done();
         }},
        {"variance_of_pairs_across",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(2)).bound_axis(1, row(2), 3);
             if (t == target::cuda) b.subclass(2);
             b.leaf(f4, "s10s", false).same(f4, "s1s0", 0).reduce(fold::sum, f4).scalar(f4).map("divide");
             b.map("subtract").map("square").reduce(fold::sum, f4).scalar(f4).map("divide");
             return b.output(f4, "s100", false).done();
         }},
        {"variance_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(1 << 20)).bound_axis(1, row(1 << 20), 2);
             b.leaf(f4, "10s").same(f4, "1s0", 0).reduce(fold::sum, f4).scalar(f4).map("divide").map("subtract");
             b.map("square").reduce(fold::sum, f4).scalar(f4).map("divide");
             return b.output(f4, "1").done();
         }},
        {"variance_of_few_long_rows", [row](target t) { return variance_of_rows(t, f8, row(1 << 20), true); }},
        {"variance_of_dense_rows", [row](target t) { return dense(variance_of_rows(t, f4, row(100), false)); }},
        {"exponentials_of_long_columns_of_doubles",
         [](target t) { return exponentials_of_columns(t, detail::axis_flags::short_inner); }},
        {"exponentials_of_a_hundred_columns_of_doubles",
         [](target t) { return exponentials_of_columns(t, detail::axis_flags::middling_contiguous_columns); }},
        {"logs_of_sums_of_long_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(1 << 20)).bound_axis(1, row(1 << 20), 2).few_rows();
             b.leaf(f4, "s01", false).same(f4, "s10", 0).reduce(fold::max, f4).map("subtract").map("exp");
             return b.reduce(fold::sum, f4).map("log").output(f4, "1").done();
         }},
        {"share_of_very_long_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(1 << 20), 2).few_rows().leaf(f4, "s10", false).same(f4, "s01", 0);
             return b.reduce(fold::sum, f4).map("divide").output(f4, "s1", false).done();
         },
         2},
        {"share_of_very_long_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(1 << 20), 1).few_rows().leaf(f4, "s10", false).same(f4, "01s", 0);
             return b.reduce(fold::sum, f4).map("divide").output(f4, "s1", false).done();
         },
         2},
        {"argmax",
         [row](target t) {
             return key_builder(t)
                 .bound_axis(0, row(1 << 20))
                 .leaf(f4, "1")
                 .reduce(fold::argmax, i8)
                 .output(i8, "")
                 .done();
         }},
        {"argmin_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(1 << 16)).leaf(i4, "1s").reduce(fold::argmin, i8);
             return b.output(i8, "1").done();
         }},
        {"softmax_of_short_rows", [row](target t) { return dense(softmax_tree(t, f4, row(16))); }},
        {"logs_of_sums_of_dense_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(17)).leaf(f4, "s1", false).map("exp").reduce(fold::sum, f4).map("log");
             return dense(b.output(f4, "1").done());
         }},
        {"logsumexp_of_dense_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(17)).bound_axis(1, row(17), 2).leaf(f4, "s01", false);
             b.same(f4, "s10", 0).reduce(fold::max, f4).map("isfinite").reference(2).scalar(f4).map("where");
             b.map("subtract").map("exp").reduce(fold::sum, f4).map("log");
             return dense(b.output(f4, "1").done());
         }},
        {"folds_of_dense_aligned_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(100)).bound_axis(1, row(100), 3).leaf(f8, "ss1").leaf(f4, "001");
             b.map("multiply").leaf(f4, "10").map("add").reduce(fold::max, f8);
             b.leaf(i2, "ss01", false).reduce(fold::argmin, i8);
             return dense(b.output(f8, "s1").output(i8, "s1").done());
         }},
        {"any_of_rows",
         [row](target t) {
             return key_builder(t)
                 .axes(1)
                 .bound_axis(0, row(17))
                 .leaf(f8, "s1")
                 .reduce(fold::any, b1)
                 .output(b1, "1")
                 .done();
         }},
        {"cumsum",
         [row](target t) {
             key_builder b(t);
             b.axes(1).few_rows().bound_axis(0, row(1 << 28), 1).leaf(f4, "01").again(0).map("multiply");
             return b.scan(fold::sum, f4, "1").leaf(f4, "1").map("add").output(f4, "1").done();
         }},
        {"cumsum_of_costly_values",
         [row](target t) {
             key_builder b(t);
             b.axes(1).few_rows().bound_axis(0, row(1 << 28), 1).random(detail::generator_kind::normal, f4, "01");
             b.leaf(f4, "01").map("multiply").map("erf").map("tanh").scan(fold::sum, f4, "1");
             return b.leaf(f4, "1").map("add").output(f4, "1").done();
         }},
        {"cumsum_of_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(4096), 2).leaf(f4, "s01").map("exp").scan(fold::sum, f4, "01");
             return b.output(f4, "s1").done();
         }},
        {"drawdown_of_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(2520)).bound_axis(1, row(2520), 2).leaf(f4, "s01").same(f4, "s10", 0);
             b.scan(fold::max, f4, "001").map("divide").scalar(f4).map("subtract").reduce(fold::min, f4);
             key k = b.output(f4, "1").done();
             k.axes[2].subclass = 1;
             return k;
         }},
        {"nearest_of_centres",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(5)).bound_axis(1, row(64)).leaf(f4, "s10").leaf(f4, "01s");
             b.map("subtract").map("square").reduce(fold::sum, f4).reduce(fold::argmin, i8);
             return made_again(b.output(i8, "1").done(), {1, 2}, {});
         }},
        {"nearest_of_centres_of_16",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(16)).bound_axis(1, row(64)).leaf(f4, "s10").leaf(f4, "01s");
             b.map("subtract").map("square").reduce(fold::sum, f4).reduce(fold::argmin, i8);
             return made_again(b.output(i8, "1").done(), {1, 2}, {{1, 16}});
         }},
        {"forces_between_bodies",
         [row](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner).bound_axis(0, row(3), 2).bound_axis(1, row(16384), 1);
             b.leaf(f4, "010s", false).same(f4, "s100", 0).map("subtract");
             b.same(f4, "001s", 0).same(f4, "s010", 0).map("subtract").map("square").reduce(fold::sum, f4);
             b.scalar(f4).map("add").map("reciprocal").map("multiply").reduce(fold::sum, f4);
             return made_again(b.output(f4, "s1", false).done(), {2, 3}, {{1, 3}, {2, 3}});
         }},
        {"likelihoods_of_a_mixture",
         [row](target t) {
             key_builder b(t);
             b.axes(1).bound_axis(0, row(16)).leaf(f4, "10").leaf(f4, "01").map("subtract").map("square");
             b.leaf(f4, "01").map("multiply").map("exp").reduce(fold::sum, f4).map("log");
             return made_again(b.output(f4, "1").done(), {1}, {{1, 16}});
         }},
        {"cummax_of_short_rows",
         [row](target t) {
             key_builder b(t);
             b.axes(2, detail::axis_flags::short_inner).bound_axis(0, row(17), 2).leaf(i2, "s01", false);
             return b.scan(fold::max, i2, "01").output(i2, "s1", false).done();
         }},
        {"cumprod_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(1 << 16), 1).leaf(f8, "01s").scan(fold::prod, f8, "10");
             return b.output(f8, "s1").done();
         }},
        {"cumsum_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(1 << 16), 1).leaf(f4, "01s").again(0).map("multiply");
             b.scan(fold::sum, f4, "10").leaf(f4, "01").map("add");
             return b.output(f4, "s1").done();
         }},
        {"cumsum_of_narrow_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(3, detail::axis_flags::short_inner).few_rows().bound_axis(0, row(1 << 20), 2);
             return b.leaf(f4, "s01s").scan(fold::sum, f4, "010").output(f4, "ss1").done();
         }},
        {"cumsum_of_columns_of_17",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(17), 1).leaf(f4, "01s").scan(fold::sum, f4, "10");
             return b.output(f4, "s1").done();
         }},
        {"cumsum_of_whole_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(2).bound_axis(0, row(300), 1).leaf(f4, "01s").scan(fold::sum, f4, "10");
             return b.output(f4, "s1").done();
         }},
        {"cumsum_of_runs_of_columns",
         [row](target t) {
             key_builder b(t);
             b.axes(3, detail::axis_flags::short_inner).extent(3).bound_axis(0, row(100), 2);
             return dense(b.leaf(f4, "s01s", false).scan(fold::sum, f4, "010").output(f4, "ss1", false).done());
         }},
        {"l2_from_a_text",
         [row](target t) {
             using namespace std::string_view_literals;
             constexpr std::string_view text =
                 "l2\0T x\0T y\0x * x\0a + b\0y = sqrt(a)\0"
                 "0"sv;
             key_builder b(t);
             b.axes(1).bound_axis(0, row(500)).leaf(f4, "s1").user(text, detail::user_part::map, f4, 1);
             b.user_reduce(text, f4).user(text, detail::user_part::post, f4, 1).leaf(f4, "1").map("add");
             return b.output(f4, "1").done();
         }},
        {"min_and_count_of_uint16",
         [row](target t) {
             key_builder b(t);
             b.bound_axis(0, row(1 << 20)).bound_axis(1, row(1 << 20), 1);
             b.leaf(u2, "1").reduce(fold::min, u2).same(u2, "01", 0).reduce(fold::count_nonzero, i8);
             return b.output(u2, "").output(i8, "").done();
         }},
    };
    return trees;
}

}  // namespace ingot::codegen
