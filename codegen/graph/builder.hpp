// Makes the nodes of a graph. Equal nodes have one number, so a subtree that was written three times is one node.
#pragma once

#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include <ingot/core/operators.hpp>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// The row of this name; throws where there is none.
detail::op row_named(std::string_view name);

class graph_builder {
public:
    node_id intern(const node& n);
    node_id constant(dtype type, double value);
    /// A cast; a constant is converted here.
    node_id cast(node_id from, dtype type);
    /// A row over arguments that already have the dtypes in which it computes.
    node_id map(detail::op o, dtype type, std::initializer_list<node_id> arguments);

    const node& at(node_id id) const { return graph_.nodes[id]; }

protected:
    graph graph_;

private:
    struct node_hash {
        std::size_t operator()(const node& n) const noexcept;
    };
    std::unordered_map<node, node_id, node_hash> numbers_;
};

}  // namespace ingot::codegen
