// The tiles of a block's short rows in shared memory, phase by phase: the rows of each array, then, in their place,
// values that one phase computed for later ones, and in the end an output's rows.
#pragma once

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

bool moves_on(const operand_class& o, int axis);
bool moves_on(const node& n, int axis);

/// Rows in shared memory.
struct smem_tile {
    dtype type;
    bool chunked;                // a row is whole 16-byte chunks
    std::vector<node_id> holds;  // the value in it at each phase
    int output = -1;

    std::uint32_t bytes() const { return static_cast<std::uint32_t>(detail::size_of(type)); }
    bool is_loaded() const { return holds[0] != no_node; }
    /// The value that a phase stores in it for the next ones.
    node_id stored_by(std::size_t phase) const {
        return phase + 1 < holds.size() && holds[phase + 1] != holds[phase] ? holds[phase + 1] : no_node;
    }
};

/// Whether a few rows lie side by side: tiles then hold runs of memory, each of some whole rows.
bool lie_side_by_side(const row_program& rows);

class smem_tiles {
public:
    smem_tiles(const key& k, const graph& g, const row_program& rows);

    const std::vector<smem_tile>& all() const { return tiles_; }
    /// Whether a phase reads or computes a node.
    bool uses(std::size_t phase, node_id n) const { return (uses_[n] >> phase & 1u) != 0; }
    /// Elements of a row that are read at once; whether rows are whole groups.
    std::uint32_t group() const { return group_; }
    bool whole_groups() const { return whole_ > 1; }
    bool writes_rows() const;
    /// Bytes of an element in all tiles together.
    std::uint32_t bytes_of_element() const;

private:
    void find_uses(const graph& g, const row_program& rows);
    void find_groups(const key& k, const graph& g, const row_program& rows);
    void hold(node_id n, dtype type, bool chunked, std::size_t from);
    void put_output(int output, const operand_head& head);
    smem_tile& add(dtype type, bool chunked);

    std::size_t phases_;
    std::vector<std::uint64_t> uses_;  // for each node, bit p: phase p reads or computes it
    std::vector<std::uint8_t> made_;   // for each cached node: the phase that computes it, plus one
    std::vector<smem_tile> tiles_;
    std::uint32_t whole_ = 1, group_ = 1;
    bool in_runs_;
};

}  // namespace ingot::codegen
