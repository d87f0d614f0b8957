// Draws statements of views, gathers and joins: one to three operands, each of one to three of slices with steps and
// reversals, transposes, broadcasts, gathers, joins, rolls and maps over arrays of several dtypes. A statement is a
// function of the seed and its number.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../drawing.hpp"
#include "rearrangement.hpp"

namespace bench {

struct rearrangement_limits {
    double least_log2 = 20, most_log2 = 27;  // elements of the result
    double pool_log2 = 28;                   // elements of a pool, and at most of a leaf
};

class rearrangement_draw {
public:
    rearrangement_draw(std::uint64_t seed, std::uint64_t number, rearrangement_limits limits)
        : random_(mixed(mixed(seed + 11) + number)), limits_(limits) {}

    rearrangement next() {
        for (;;) {
            s_ = {.seed = random_() >> 1};
            s_.type = random_.one_of(
                {dtype::u1, dtype::i2, dtype::i4, dtype::f2, dtype::f4, dtype::f4, dtype::f4, dtype::f8});
            leaves_only_ = true;
            const auto shape = drawn_shape();
            if (size_of(shape) > 1.5 * std::exp2(limits_.most_log2)) continue;
            int root = grow(shape, 1 + random_.below(3));
            for (int more = random_.below(3); more > 0; --more) root = join_by_map(root, grow(shape, random_.below(3)));
            if (!leaves_only_ && s_.nodes.size() <= 16) return s_;
        }
    }

private:
    index_t up_to(index_t n) { return random_.below(n + 1); }

    std::vector<index_t> drawn_shape() {
        const double log2_all = limits_.least_log2 + (limits_.most_log2 - limits_.least_log2) * random_.fraction();
        const int dice = random_.below(10), rank = dice < 2 ? 1 : dice < 6 ? 2 : dice < 9 ? 3 : 4;
        return random_.shape(log2_all, rank, [](index_t extent) { return (extent + 15) / 16 * 16; });
    }

    int add(rearrangement_node n) {
        s_.nodes.push_back(std::move(n));
        return static_cast<int>(s_.nodes.size()) - 1;
    }
    static double size_of(const std::vector<index_t>& shape) {
        double product = 1;
        for (const index_t e : shape) product *= static_cast<double>(e);
        return product;
    }
    bool fits(const std::vector<index_t>& shape) const { return size_of(shape) <= std::exp2(limits_.pool_log2); }

    int join_by_map(int a, int b) {
        const auto shape = s_.node(a).shape;
        return add({.what = rearranging::map,
                    .shape = shape,
                    .from = {a, b},
                    .op = random_.one_of({mapping::add, mapping::add, mapping::maximum, mapping::minimum})});
    }
    int leaf(const std::vector<index_t>& shape) {
        rearrangement_node n{.shape = shape, .type = s_.type};
        if (random_.chance(20)) n.type = random_.one_of({dtype::u1, dtype::i4, dtype::f4});
        // Places of 256 bytes, but for some that are not even whole vectors.
        n.place = random_() >> 24 << 8;
        if (random_.chance(12)) n.place += 1;
        return add(n);
    }

    /// A node of this shape with at most `depth` above its leaves.
    int grow(const std::vector<index_t>& shape, int depth) {
        if (depth == 0) return leaf(shape);
        rearrangement_node n{.shape = shape};
        std::vector<index_t> operand = shape;
        const auto axis = random_.below(shape.size());
        n.axis = axis;
        const int kind = random_.below(100);
        if (kind < 30) {
            n.what = rearranging::slice;
            for (std::size_t j = 0; j < shape.size(); ++j) {
                axis_slice c;
                if (random_.chance(25)) c.step = 2 + random_.below(3);
                const index_t behind = random_.chance(40) ? up_to(9) : 0, before = random_.chance(40) ? up_to(9) : 0;
                operand[j] = before + (shape[j] - 1) * c.step + 1 + behind;
                c.start = before;
                if (random_.chance(30)) c = {.start = operand[j] - 1 - before, .step = -c.step};
                n.slices.push_back(c);
            }
        } else if (kind < 45) {
            n.what = rearranging::transpose;
            n.order.resize(shape.size());
            std::iota(n.order.begin(), n.order.end(), 0);
            std::ranges::shuffle(n.order, random_);
            for (std::size_t j = 0; j < shape.size(); ++j) operand[static_cast<std::size_t>(n.order[j])] = shape[j];
        } else if (kind < 55 && shape.size() > 1) {
            n.what = rearranging::broadcast;
            operand[axis] = 1;
        } else if (kind < 68 && shape[axis] <= index_t{1} << 24) {
            n.what = rearranging::gather;
            operand[axis] = std::max<index_t>(1, shape[axis] / 2 + up_to(shape[axis]));
            n.indices = random_.one_of({index_order::random, index_order::sorted, index_order::runs});
            n.short_indices = random_.chance(50);
        } else if (kind < 82 && shape[axis] > 2) {
            n.what = rearranging::join;
            index_t left = shape[axis];
            for (int parts = 2 + random_.below(2); parts > 0 && left > 0; --parts) {
                operand[axis] = parts == 1 ? left : std::max<index_t>(1, up_to(left - 1));
                left -= operand[axis];
                n.from.push_back(grow(operand, parts == 1 ? depth - 1 : random_.below(depth)));
            }
            leaves_only_ = false;
            return add(n);
        } else if (kind < 88) {
            n.what = rearranging::roll;
            n.by = 1 + up_to(shape[axis]);
        } else if (kind < 94) {
            n.what = rearranging::map;
            n.op = mapping::twice;
        } else {
            return join_by_map(grow(shape, depth - 1), grow(shape, depth - 1));
        }
        if (!fits(operand)) return leaf(shape);
        leaves_only_ = leaves_only_ && n.what == rearranging::map;
        n.from = {grow(operand, depth - 1)};
        return add(n);
    }

    drawing random_;
    rearrangement_limits limits_;
    rearrangement s_;
    bool leaves_only_ = true;
};

}  // namespace bench
