// The reductions of one kernel: every `reduce` of a graph whose trees before and after are elementwise, grouped by the
// space over which it folds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codegen/graph/axes.hpp"
#include "codegen/graph/fold_traits.hpp"
#include "codegen/graph/row_length.hpp"

namespace ingot::codegen {

/// Bound axes that one loop walks, and the reductions that fold over them.
struct folded_space {
    std::vector<int> axes;  // loop axes, outermost first
    std::uint8_t length_class = 1;
    std::uint8_t subclass = 0;  // the part of that class, or 0
    std::vector<node_id> reductions;
    std::vector<node_id> values;       // the values that they fold
    std::vector<std::size_t> outputs;  // outputs that move along these axes too: written element by element

    /// All nodes computed for an element: the folded values, then the outputs.
    std::vector<node_id> computed_nodes(const graph& g) const {
        std::vector<node_id> all = values;
        for (const std::size_t k : outputs) all.push_back(g.roots[k]);
        return all;
    }
    std::uint64_t bits() const {
        std::uint64_t b = 0;
        for (const int a : axes) b |= axis_bit(a);
        return b;
    }
    int inner() const { return axes.empty() ? -1 : axes.back(); }
    /// The most elements that the space may have.
    std::uint32_t longest() const { return longest_of(length_class, subclass); }
};

/// The spaces of a graph in which no reduction lies beneath another.
struct folding {
    std::vector<folded_space> spaces;
    std::vector<std::size_t> results;  // outputs written after the folds
};
folding find_folding(const key& k, const graph& g);

/// Whether the graph has a sum of exponentials.
bool has_exponentials(const graph& g);

/// Rows longer than 2^(long_row_class + 4) elements are shared by several blocks where there are few.
inline constexpr std::uint8_t long_row_class = 9;

/// Whether there are so few results that rows alone do not fill the device.
bool few_results(const key& k, int rank);

}  // namespace ingot::codegen
