// Values that are equal along other loops: what an expression uses beneath two folds is two nodes where these share no
// loop (in `sum(t / max(t, 1)(all, newaxis))` the prefixes t of one array along the sum's axes and along those of the
// maximum). That they are equal is told from the key alone: which operands are one view, and along which axes each of
// them moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// For each loop of a value that of another, or -1.
using loop_map = std::array<std::int8_t, 64>;

/// Nodes that have one value, along other loops each: the first is made, the others read what it is in memory.
struct shared_value {
    struct place {
        node_id node;
        loop_map loops;  // the node's for those of the first
    };
    std::vector<place> places;
};

class equal_values {
public:
    equal_values(const key& k, const graph& g);

    /// The values that are folds or have folds beneath them, and that several nodes have, the last of a graph first.
    /// Not of those that read at places, read whole arrays or are a library's: of these nothing is told.
    std::vector<std::vector<node_id>> repeated() const;
    /// The nodes of each array that is an operand, as far as they are one view of it.
    std::vector<std::vector<node_id>> arrays() const;
    /// Where the value of `a` is that of `b`, but for the loops along which they move, those of b for those of a.
    std::optional<loop_map> along(node_id a, node_id b) const;

private:
    /// Of nodes that are asked for, in groups that have one value, the last of a graph first.
    std::vector<std::vector<node_id>> grouped(const std::vector<bool>& asked) const;
    std::uint64_t form(const node& n) const;
    /// Adds how the axes of one operand lie in another that is the same view; false where that is not known, or where
    /// it is otherwise than was found before.
    bool match_operands(std::uint16_t a, std::uint16_t b, loop_map& there, loop_map& back) const;

    const key& key_;
    const graph& graph_;
    std::vector<std::uint64_t> forms_;  // the same of equal nodes, whatever their loops; 0: nothing is told of it
    std::vector<bool> folds_;
    std::vector<std::size_t> extent_of_;  // of each axis of the key, the first that is known to have its extent
};

}  // namespace ingot::codegen
