// See value_in_memory.hpp.
#include "runtime/trees/value_in_memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <numeric>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::index_t;
using detail::operand_kind;

namespace {

/// The steps on axis `along` that move all operands as one on `axis`; 0 where there is no such number.
index_t steps_along(std::span<const operand> operands, int axis, int along) {
    index_t steps = 0;
    for (const operand& o : operands) {
        if (!has_axes(o)) continue;
        const index_t on_axis = o.where->shape()[axis] == 1 ? 0 : o.where->strides()[axis],
                      on_along = o.where->shape()[along] == 1 ? 0 : o.where->strides()[along];
        if (on_axis == 0 && on_along == 0) continue;
        if (on_along == 0 || on_axis == 0 || on_axis % on_along != 0) return 0;
        if (steps != 0 && steps != on_axis / on_along) return 0;
        steps = on_axis / on_along;
    }
    return steps;
}

/// Merges axes that overlap, so that an element of several windows is computed once: lengthens the extent of one axis
/// and makes the other's 1.
std::vector<axis_overlap> merge_overlaps(std::span<const operand> operands, std::vector<index_t>& extents) {
    std::vector<axis_overlap> found;
    const int rank = static_cast<int>(extents.size());
    const auto extent = [&](int j) -> index_t& { return extents[static_cast<std::size_t>(j)]; };
    const auto is_merged = [&](int j) { return std::ranges::count(found, j, &axis_overlap::axis) != 0; };
    for (int axis = rank; axis-- > 0;)
        for (int along = 0; along < rank && extent(axis) > 1; ++along) {
            if (along == axis || extent(along) <= 1 || is_merged(along)) continue;
            const index_t steps = steps_along(operands, axis, along), behind = std::abs(steps) * (extent(axis) - 1);
            // Without gaps, and where it saves elements.
            if (steps == 0 || std::abs(steps) > extent(along) || extent(along) + behind >= extent(along) * extent(axis))
                continue;
            found.push_back({axis, along, steps, steps < 0 ? extent(axis) - 1 : 0});
            extent(along) += behind;
            extent(axis) = 1;
        }
    return found;
}

/// The order of a value's axes, of these extents, in which the operand that moves along the most axes lies in memory,
/// outermost first. A scan or a pad moves along its own axis as its operand does along the bound one.
std::vector<int> order_in_memory(std::span<const operand> operands, const std::vector<index_t>& extents) {
    const int rank = static_cast<int>(extents.size());
    const auto moves = [&](const detail::layout& l, int j) {
        return l.shape()[j] != 1 && l.strides()[j] != 0 && (j >= rank || extents[static_cast<std::size_t>(j)] != 1);
    };
    const auto axes_of = [&](const detail::layout& l, int from, int to) {
        std::vector<int> axes;
        for (int j = from; j < to; ++j)
            if (moves(l, j)) axes.push_back(j);
        return axes;
    };
    std::vector<int> order(static_cast<std::size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    const detail::layout* widest = nullptr;
    std::size_t most = 0;
    for (const operand& o : operands) {
        if (o.kind != operand_kind::array || !has_axes(o)) continue;
        const std::size_t axes = axes_of(*o.where, 0, o.where->rank()).size();
        if (axes > most) most = axes, widest = o.where;
    }
    if (widest == nullptr) return order;
    std::vector<index_t> strides(order.size());  // 0 where it does not move
    for (const int j : axes_of(*widest, 0, rank)) strides[static_cast<std::size_t>(j)] = std::abs(widest->strides()[j]);
    const std::vector<int> bound = axes_of(*widest, rank, widest->rank());
    for (const operand& o : operands) {
        if (o.kind != operand_kind::pick || bound.size() != 1) continue;
        for (const int j : axes_of(*o.where, 0, rank))
            if (index_t& own = strides[static_cast<std::size_t>(j)]; own == 0)
                own = std::abs(o.where->strides()[j] * widest->strides()[bound[0]]);
    }
    const auto stride = [&](int j) { return strides[static_cast<std::size_t>(j)]; };
    std::vector<int> moving;
    std::ranges::copy_if(order, std::back_inserter(moving), stride);
    std::ranges::stable_sort(moving, std::greater<>(), stride);
    auto next = moving.begin();
    for (int& j : order)
        if (stride(j) != 0) j = *next++;
    return order;
}

}  // namespace

value_in_memory::value_in_memory(std::span<const operand> operands, int rank)
    : extents_(static_cast<std::size_t>(rank), 1), read_(rank) {
    for (int j = 0; j < rank; ++j) {
        bool moves = false;
        read_.shape()[j] = 1;
        for (const operand& o : operands) {
            if (!has_axes(o)) continue;
            if (o.where->shape()[j] != 1) read_.shape()[j] = o.where->shape()[j];
            moves |= o.where->strides()[j] != 0;
        }
        if (moves) extents_[static_cast<std::size_t>(j)] = read_.shape()[j];
    }
    overlaps_ = merge_overlaps(operands, extents_);
    order_ = order_in_memory(operands, extents_);
    index_t stride = 1;
    for (std::size_t k = order_.size(); k-- > 0;) {
        read_.strides()[order_[k]] = extent(order_[k]) == 1 ? 0 : stride;
        stride *= extent(order_[k]);
    }
    // The last first: an axis along which one overlaps may overlap another in its turn.
    for (auto o = overlaps_.rbegin(); o != overlaps_.rend(); ++o) {
        read_.strides()[o->axis] = o->steps * read_.strides()[o->along];
        read_.offset -= o->back * read_.strides()[o->axis];
    }
}

detail::layout value_in_memory::evaluated(const detail::layout& l) const {
    const int rank = static_cast<int>(order_.size()), bound = l.rank() - rank;
    const auto own = static_cast<int>(std::ranges::count_if(order_, [&](int j) { return extent(j) != 1; }));
    detail::layout seen(own + bound);
    seen.offset = l.offset;
    for (const axis_overlap& o : overlaps_)
        if (l.shape()[o.axis] != 1) seen.offset += o.back * l.strides()[o.axis];
    int at = 0;
    for (const int j : order_) {
        if (extent(j) == 1) continue;
        seen.shape()[at] = l.shape()[j] != 1 ? extent(j) : 1;
        seen.strides()[at++] = l.strides()[j];
    }
    std::copy_n(l.shape() + rank, bound, seen.shape() + at);
    std::copy_n(l.strides() + rank, bound, seen.strides() + at);
    return seen;
}

}  // namespace ingot::runtime
