// Draws whole statements: 2 to 30 operations, one to three of them folds or scans, nested or side by side; broadcasts,
// repeated subtrees, random leaves, one result or two. A statement is a function of the seed and its number.
//
// Results can be checked: only exact leaves are compared, logarithms, roots and divisors keep away from 0, exponents
// are small, growing values are scaled down, and integers never wrap.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>

#include "../drawing.hpp"
#include "../mixed.hpp"
#include "statement.hpp"

namespace bench {

struct statement_limits {
    double least_log2 = 20, most_log2 = 27;  // elements of the space; of float64 half as many
};
inline constexpr int most_operators = 30, most_passes = 3;
/// Values of the pools that arrays are taken from.
inline constexpr double pool_range = 4, integer_range = 100;

class statement_draw {
public:
    statement_draw(std::uint64_t seed, std::uint64_t number, statement_limits limits)
        : random_(mixed(mixed(seed + 1) + number)), limits_(limits) {}

    statement next() {
        for (;;) {
            s_ = {.seed = random_()};
            draw_space();
            const int operators = static_cast<int>(random_.logarithmic(2, 30));
            const int passes = 1 + random_.below(most_passes);
            const axis_set root = random_.chance(55) ? all_axes() : subset_of(all_axes(), true);
            s_.results = {grow(root, operators, passes)};
            if (random_.chance(20))
                s_.results.push_back(grow(s_.nodes.back().axes, 1 + random_.below(4), random_.chance(50)));
            if (is_wanted()) return s_;
        }
    }

private:
    // ---- the space ---------------------------------------------------------------------------------------------

    void draw_space() {
        const int kind = random_.below(100);
        s_.type = kind < 76 ? dtype::f4 : kind < 88 ? dtype::f8 : dtype::i4;
        const double most = limits_.most_log2 - (s_.type == dtype::f8);
        const double log2_all = limits_.least_log2 + (most - limits_.least_log2) * random_.fraction();
        const int dice = random_.below(10), rank = dice < 2 ? 1 : dice < 7 ? 2 : 3;
        s_.extents = random_.shape(log2_all, rank, [](index_t extent) { return extent | 1; });
    }
    axis_set all_axes() const { return (1u << s_.rank()) - 1; }
    /// Some of the axes and not all where there are several; `none` allows for none.
    axis_set subset_of(axis_set axes, bool none) {
        if (std::popcount(axes) < (none ? 1 : 2)) return axes;
        axis_set subset;
        do subset = axes & static_cast<axis_set>(random_());
        while (subset == axes || (subset == 0 && !none));
        return subset;
    }
    axis_set one_axis_of(axis_set axes) {
        for (int skip = random_.below(std::popcount(axes)); skip > 0; --skip) axes &= axes - 1;
        return axes & -axes;
    }

    // ---- the tree ----------------------------------------------------------------------------------------------

    const statement_node& node(int i) const { return s_.nodes[static_cast<std::size_t>(i)]; }
    int add(statement_node n) {
        s_.nodes.push_back(n);
        return static_cast<int>(s_.nodes.size()) - 1;
    }
    void bound(int i, double low, double high) {
        s_.nodes[static_cast<std::size_t>(i)].low = low;
        s_.nodes[static_cast<std::size_t>(i)].high = high;
    }
    bool floating() const { return s_.type != dtype::i4; }

    /// A node that varies along no other axes; about `operators` operators and `passes` passes are beneath it.
    int grow(axis_set axes, int operators, int passes) {
        if (passes == 0 && random_.chance(12))
            if (const int again = used_again(axes, false); again >= 0) return again;
        if (passes > 0 && (operators <= passes || axes == 0 || random_.chance(40)))
            return grow_pass(axes, operators - 1, passes);
        if (operators <= 0 || axes == 0) return leaf(axes);
        if (random_.chance(30)) return unary(grow(axes, operators - 1, passes));
        if (random_.chance(8) && axes != 0) return select(axes, operators, passes);
        const int left = random_.below(operators), left_passes = random_.below(passes + 1);
        const axis_set other = random_.chance(35) ? subset_of(axes, passes > left_passes) : axes;
        // Broadcast operands are small, and seldom expensive.
        const int right = other == axes ? operators - 1 - left : std::min(operators - 1 - left, 3);
        const int a = grow(axes, left, left_passes), b = grow(other, right, passes - left_passes);
        return random_.chance(50) ? binary(a, b) : binary(b, a);
    }
    /// A node of these axes that is there already, a leaf or an operation; -1 if there is none.
    int used_again(axis_set axes, bool leaf) {
        std::vector<int> fitting;
        for (std::size_t i = 0; i < s_.nodes.size(); ++i)
            if (s_.nodes[i].is_leaf() == leaf && s_.nodes[i].axes == axes) fitting.push_back(static_cast<int>(i));
        return fitting.empty() ? -1 : random_.one_of(fitting);
    }

    int grow_pass(axis_set axes, int operators, int passes) {
        const axis_set others = all_axes() & ~axes;
        const int dice = random_.below(100);
        if (axes == 0 || (others != 0 && dice < 60)) {
            const axis_set along = random_.chance(25) ? others : one_axis_of(others), inner = axes | along;
            return fold(with_axes(grow(inner, operators, passes - 1), inner, along), along);
        }
        const axis_set along = one_axis_of(axes);
        if (dice < 25) return scan(with_axes(grow(axes, operators, passes - 1), axes, along), along);
        // A fold that meets its own operand: the rows are needed again.
        if (floating() && passes > 1 && dice < 45) return softmax(axes, along, operators - 3, passes - 2);
        const int a = with_axes(grow(axes, operators - 1, passes - 1), axes, along);
        const int folded = fold(a, along);
        return random_.chance(80) ? binary(a, folded) : binary(folded, a);
    }
    int softmax(axis_set axes, axis_set along, int operators, int passes) {
        const int a = tamed(with_axes(grow(axes, operators, passes), axes, along));
        const int e = map(op::exp, map(op::subtract, a, fold_by(folding::max, a, along)));
        bound(e, 0, 1);
        const int sum = fold_by(folding::sum, e, along);
        bound(sum, 1, extent(along));
        const int share = map(op::divide, e, sum);
        bound(share, 0, 1);
        return share;
    }
    /// The node, made to vary along these axes, so that there is something to fold.
    int with_axes(int i, axis_set axes, axis_set along) {
        return (node(i).axes & along) == along ? i : binary(i, array_leaf(axes));
    }

    // ---- leaves ------------------------------------------------------------------------------------------------

    int leaf(axis_set axes) {
        if (random_.chance(25))
            if (const int again = used_again(axes, true); again >= 0) return again;
        if (floating() && random_.chance(8)) {
            const bool normal = random_.chance(50);
            const double most = s_.type == dtype::f8 ? 8.7 : 6.8;
            return add({.what = normal ? action::normal : action::uniform,
                        .axes = axes,
                        .place = calls(),
                        .low = normal ? -most : 0,
                        .high = normal ? most : 1,
                        .exact = !normal});
        }
        return array_leaf(std::popcount(axes) > 1 && random_.chance(30) ? subset_of(axes, false) : axes);
    }
    std::uint64_t calls() const {
        return static_cast<std::uint64_t>(std::ranges::count_if(
            s_.nodes, [](const statement_node& n) { return n.what == action::uniform || n.what == action::normal; }));
    }
    int array_leaf(axis_set axes) {
        const bool integers = !floating() || random_.chance(8);
        const double range = integers ? integer_range : pool_range;
        return add({.what = floating() && integers ? action::converted : action::array,
                    .axes = axes,
                    .place = (random_() >> 16) / 64 * 64 + (random_.chance(15) ? 1 + random_() % 63 : 0),
                    .reversed = std::popcount(axes) > 1 && random_.chance(8),
                    .low = -range,
                    .high = range,
                    .exact = true});
    }

    // ---- operations --------------------------------------------------------------------------------------------

    static constexpr double integer_limit = 0x1p30, grown = 64;

    int map(op row, int a, int b = -1) {
        const statement_node &x = node(a), &y = node(b < 0 ? a : b);
        const auto [low, high] = bounds_of(row, x.low, x.high, y.low, y.high);
        return add(
            {.what = action::map, .axes = x.axes | y.axes, .from = {a, b, -1}, .row = row, .low = low, .high = high});
    }
    int map_constant(op row, int a, double constant) {
        const statement_node& x = node(a);
        const auto [low, high] = bounds_of(row, x.low, x.high, constant, constant);
        return add({.what = action::map,
                    .axes = x.axes,
                    .from = {a, -1, -1},
                    .row = row,
                    .with_constant = true,
                    .constant = constant,
                    .low = low,
                    .high = high});
    }
    struct bounds {
        double low, high;
    };
    static bounds bounds_of(op row, double a, double b, double c, double d) {
        const auto of_four = [](double p, double q, double r, double s) {
            return bounds{std::min({p, q, r, s}), std::max({p, q, r, s})};
        };
        const double least = a <= 0 && b >= 0 ? 0 : std::min(std::abs(a), std::abs(b));
        const double most = std::max(std::abs(a), std::abs(b));
        switch (row) {
            case op::add:
                return {a + c, b + d};
            case op::subtract:
                return {a - d, b - c};
            case op::multiply:
                return of_four(a * c, a * d, b * c, b * d);
            case op::divide:
                return of_four(a / c, a / d, b / c, b / d);
            case op::maximum:
                return {std::max(a, c), std::max(b, d)};
            case op::minimum:
                return {std::min(a, c), std::min(b, d)};
            case op::negative:
                return {-b, -a};
            case op::absolute:
                return {least, most};
            case op::square:
                return {least * least, most * most};
            case op::exp:
                return {std::exp(a), std::exp(b)};
            case op::log:
                return {std::log(a), std::log(b)};
            case op::log1p:
                return {std::log1p(a), std::log1p(b)};
            case op::sqrt:
                return {std::sqrt(a), std::sqrt(b)};
            default:  // tanh, sin, cos, erf
                return {-1, 1};
        }
    }
    double largest(int i) const { return std::max(std::abs(node(i).low), std::abs(node(i).high)); }
    /// Scaled down by a power of two where it may be large.
    int tamed(int i) {
        if (!floating() || largest(i) <= grown) return i;
        return map_constant(op::multiply, i, std::exp2(2 - std::ceil(std::log2(largest(i)))));
    }
    /// The node with values of at least 0.25.
    int positive(int i) {
        if (node(i).low >= 0.25) return i;
        return map_constant(op::add, node(i).low >= 0 ? i : map(op::absolute, i), random_.one_of({0.25, 0.5, 1.0}));
    }

    int unary(int a) {
        if (!floating()) {
            const op row = random_.one_of({op::negative, op::absolute, op::square, op::add, op::multiply});
            if (row == op::add) return fitting(op::add, a, random_.one_of({-3.0, 1.0, 7.0}));
            if (row == op::multiply) return fitting(op::multiply, a, random_.one_of({-2.0, 2.0, 3.0}));
            return row == op::square && largest(a) * largest(a) > integer_limit ? map(op::negative, a) : map(row, a);
        }
        a = tamed(a);
        switch (random_.below(12)) {
            case 0:
                return map(op::negative, a);
            case 1:
                return map(op::absolute, a);
            case 2:
                return map(op::square, a);
            case 3:
                return map(op::sin, a);
            case 4:
                return map(op::tanh, a);
            case 5:
                return map(op::exp, node(a).high > 5 ? map(op::negative, map(op::absolute, a)) : a);
            case 6:
                return map(op::log, positive(a));
            case 7:
                return map(op::sqrt, positive(a));
            case 8:
                return map(op::log1p, node(a).low < 0 ? map(op::absolute, a) : a);
            case 9:
                return map(op::erf, a);
            case 10:
                return map_constant(op::add, a, random_.one_of({-1.0, 0.5, 2.0}));
            default:
                return map_constant(op::multiply, a, random_.one_of({-0.5, 0.25, 1.5, 3.0}));
        }
    }
    /// An operation of integers that do not wrap by it.
    int fitting(op row, int a, double constant) {
        const statement_node& x = node(a);
        const auto [low, high] = bounds_of(row, x.low, x.high, constant, constant);
        return std::max(-low, high) > integer_limit ? map(op::negative, a) : map_constant(row, a, constant);
    }

    int binary(int a, int b) {
        op row = random_.one_of({op::add, op::add, op::subtract, op::subtract, op::multiply, op::multiply, op::multiply,
                                 op::divide, op::maximum, op::minimum});
        if (a == b) row = op::multiply;
        if (!floating()) {
            if (row == op::divide) row = op::maximum;
            const auto [low, high] = bounds_of(row, node(a).low, node(a).high, node(b).low, node(b).high);
            return map(std::max(-low, high) > integer_limit ? op::minimum : row, a, b);
        }
        a = tamed(a);
        b = tamed(b);
        return map(row, a, row == op::divide ? positive(b) : b);
    }
    int select(axis_set axes, int operators, int passes) {
        const int compared = array_leaf(axes), a = grow(axes, (operators - 1) / 2, passes);
        int b = grow(axes, (operators - 1) / 2, 0);
        if (a == b) b = array_leaf(axes);
        return add({.what = action::select,
                    .axes = node(compared).axes | node(a).axes | node(b).axes,
                    .from = {compared, a, b},
                    .constant = random_.one_of({-1.0, 0.0, 2.0}),
                    .low = std::min(node(a).low, node(b).low),
                    .high = std::max(node(a).high, node(b).high)});
    }

    int fold(int a, axis_set along) {
        if (floating())
            return tamed(fold_by(random_.one_of({folding::sum, folding::sum, folding::mean, folding::mean, folding::max,
                                                 folding::min, folding::var, folding::logsumexp}),
                                 a, along));
        const bool sums = random_.chance(50) && largest(a) * extent(along) < integer_limit;
        return fold_by(sums ? folding::sum : random_.one_of({folding::max, folding::min}), a, along);
    }
    double extent(axis_set along) const {
        double product = 1;
        for (std::size_t j = 0; j < s_.extents.size(); ++j)
            if (along >> j & 1) product *= static_cast<double>(s_.extents[j]);
        return product;
    }
    int fold_by(folding how, int a, axis_set along) {
        a = tamed(a);
        statement_node n{.what = action::fold,
                         .axes = node(a).axes & ~along,
                         .from = {a, -1, -1},
                         .fold = how,
                         .along = along,
                         .low = node(a).low,
                         .high = node(a).high};
        const double range = n.high - n.low;
        if (how == folding::sum) n.low *= extent(along), n.high *= extent(along);
        if (how == folding::var) n.low = 0, n.high = range * range / 4;
        if (how == folding::logsumexp) n.low += std::log(extent(along)), n.high += std::log(extent(along));
        return add(n);
    }
    int scan(int a, axis_set along) {
        a = tamed(a);
        statement_node n{.what = action::scan,
                         .axes = node(a).axes,
                         .from = {a, -1, -1},
                         .fold = random_.one_of({folding::sum, folding::sum, folding::max, folding::min}),
                         .along = along,
                         .low = node(a).low,
                         .high = node(a).high};
        if (!floating() && largest(a) * extent(along) >= integer_limit) n.fold = folding::max;
        if (n.fold == folding::sum) {
            n.low = std::min(n.low, n.low * extent(along));
            n.high = std::max(n.high, n.high * extent(along));
        }
        return tamed(add(n));
    }

    // ---- whether it is what was wanted -------------------------------------------------------------------------

    bool is_wanted() const {
        axis_set used = 0;
        for (const statement_node& n : s_.nodes) used |= n.axes;
        for (const int i : s_.results)
            if (node(i).is_leaf()) return false;
        if (s_.results.front() == s_.results.back() && s_.results.size() > 1) return false;
        return used == all_axes() && s_.operators() >= 2 && s_.operators() <= most_operators && s_.passes() >= 1 &&
               s_.passes() <= most_passes && s_.bytes_read() + s_.bytes_written() > 0;
    }

    drawing random_;
    statement_limits limits_;
    statement s_;
};

}  // namespace bench
