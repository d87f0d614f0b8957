// The scans of one kernel: every `scan` of a graph whose trees before and after are elementwise. All go along one axis
// of the outputs' space; the other axes number the rows, each of which is scanned separately.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/graph/axes.hpp"
#include "codegen/graph/fold_traits.hpp"
#include "codegen/graph/row_length.hpp"

namespace ingot::codegen {

struct scanning {
    int axis = 0;
    std::uint8_t length_class = 1;  // of the axis's length
    std::uint8_t subclass = 0;      // the part of that class, or 0
    std::vector<node_id> scans;
    std::vector<node_id> values;  // the values that they fold

    std::uint64_t bit() const { return axis_bit(axis); }
    /// The most elements that a row may have.
    std::uint32_t longest() const { return longest_of(length_class, subclass); }
};
scanning find_scanning(const key& k, const graph& g);

/// The axes [0, rank) without one.
std::vector<int> axes_without(int rank, int axis);

}  // namespace ingot::codegen
