// Values that are equal along other loops. A value that an expression uses below two folds is two nodes where these
// share no loop (in `sum(t / max(t, 1)(all, newaxis))` the prefixes t of one array along the sum's axes and along the
// maximum's). The key alone tells that they are equal: which operands are one view, and along which axes each moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// For each loop of a value the corresponding loop of another, or -1.
using loop_map = std::array<std::int8_t, 64>;

/// Nodes with one value, each along its own loops: the first is computed, the others read its temporary.
struct shared_value {
    struct occurrence {
        node_id node;
        loop_map loops;  // the node's loop for each loop of the first node
    };
    std::vector<occurrence> occurrences;
};

class equal_values {
public:
    equal_values(const key& k, const graph& g);

    /// Values that are folds or contain folds and that several nodes have, the last of the graph first. Values that
    /// read at places or whole arrays, and libraries' results, are never found equal.
    std::vector<std::vector<node_id>> repeated() const;
    /// The nodes of each array operand, as far as they are one view of it.
    std::vector<std::vector<node_id>> arrays() const;
    /// The loops of `b` for those of `a`, where the two values are equal but for the loops along which they move.
    std::optional<loop_map> along(node_id a, node_id b) const;

private:
    /// The `selected` nodes in groups of one value, the last of the graph first.
    std::vector<std::vector<node_id>> grouped(const std::vector<bool>& selected) const;
    std::uint64_t form(const node& n) const;
    /// Maps the axes of one operand to those of another that is the same view. False where the mapping is not known, or
    /// contradicts one found before.
    bool match_operands(std::uint16_t a, std::uint16_t b, loop_map& there, loop_map& back) const;

    const key& key_;
    const graph& graph_;
    std::vector<std::uint64_t> forms_;  // a hash, equal for equal nodes whatever their loops; 0: never equal to another
    std::vector<bool> folds_;
    std::vector<std::size_t> extent_of_;  // for each axis of the key the first one known to have its extent
};

}  // namespace ingot::codegen
