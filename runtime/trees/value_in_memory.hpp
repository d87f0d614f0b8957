// How a value beneath a reshape is evaluated into an array: each element once, in the order in which its operands lie
// in memory.
#pragma once

#include <span>
#include <vector>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

/// A step on `axis` moves every operand as `steps` steps on `along` do, as an axis of windows does. Negative:
/// backwards, as windows of a flipped axis do.
struct axis_overlap {
    int axis, along;
    detail::index_t steps;
    detail::index_t back = 0;  // steps on `axis` from where it lies first in memory to its beginning
};

class value_in_memory {
public:
    /// The value moves over the first `rank` axes of these operands, which may have bound axes behind them.
    value_in_memory(std::span<const operand> operands, int rank);
    /// An operand's layout over the array's axes. Axes on which nothing moves, and those of windows, are left out.
    detail::layout evaluated(const detail::layout&) const;
    /// The array's layout over all axes.
    const detail::layout& read() const { return read_; }

private:
    detail::index_t extent(int axis) const { return extents_[static_cast<std::size_t>(axis)]; }

    std::vector<detail::index_t> extents_;  // of the array; 1 on axes that are left out
    std::vector<axis_overlap> overlaps_;
    std::vector<int> order_;  // of the axes, outermost first
    detail::layout read_;
};

}  // namespace ingot::runtime
