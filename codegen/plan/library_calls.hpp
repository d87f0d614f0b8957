// Calls of libraries' functions among the steps of a plan: which outputs they write themselves, and where their
// operands and results lie. The stages around them are cut by plan/cutting.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/plan/plan.hpp"

namespace ingot::codegen {

class library_calls {
public:
    /// The temporary of a node's value, and its loops, outermost first.
    struct placement {
        std::uint16_t index;
        std::vector<int> loops;
    };
    using placements = std::function<placement(node_id)>;

    library_calls(const key& k, const graph& g);

    /// Whether a library's function writes an output itself, and the node of that function.
    bool writes(std::size_t output) const { return written_[output].view != no_node; }
    node_id writer_of(std::size_t output) const { return graph_.nodes[written_[output].view].arguments[0]; }
    /// The output that a library's function writes itself, else -1.
    int output_of(node_id library) const;
    /// Whether a call that writes an output also computes this node, above its function.
    bool computes(node_id n) const { return within_call_[n]; }

    /// For a library's operand or result: its own axes in the library's order, as loops, and the other axes, those of
    /// the batch.
    std::vector<int> own_loops(node_id stored) const;
    std::uint64_t batch_of(node_id stored) const;

    library_call make(node_id library, const placements& where) const;

private:
    /// The output that a library's function writes itself: a view of its result, and for a matrix product a vector that
    /// the call adds to each row.
    struct written_output {
        node_id view = no_node, bias = no_node;
    };

    written_output written_by_library(node_id root, const std::vector<int>& users);
    bool lies_along_rows(const node& bias, const node& product) const;
    std::vector<int> loops_in(const node& library, std::uint32_t mask) const;
    bool is_in_tf32(dtype product) const;
    library_array array_of(node_id id, const std::vector<int>& loops, const placements& where) const;
    library_array bias_of(node_id id, const std::vector<int>& batch, int columns) const;
    std::vector<library_axis> axes_written(std::size_t output, const std::vector<int>& loops) const;
    int loop_of(int axis) const { return graph_.loop_axis[static_cast<std::size_t>(axis)]; }

    const key& key_;
    const graph& graph_;
    std::vector<written_output> written_;
    std::vector<bool> within_call_;
};

}  // namespace ingot::codegen
