// What a block of short rows holds in shared memory, phase by phase: the rows of each array, in their place then values
// that one phase computed and later ones want, in the end an output's rows.
#pragma once

#include "codegen/rows.hpp"

namespace ingot::codegen {

bool moves_on(const operand_class& o, int axis);
bool moves_on(const node& n, int axis);

/// Rows in shared memory.
struct slab {
    dtype type;
    bool chunked;                // a row is whole 16-byte chunks
    std::vector<node_id> holds;  // what each phase finds in it
    int output = -1;

    std::uint32_t bytes() const { return static_cast<std::uint32_t>(detail::size_of(type)); }
    bool is_loaded() const { return holds[0] != no_node; }
    /// What a phase leaves in it for the next ones.
    node_id kept_by(std::size_t phase) const {
        return phase + 1 < holds.size() && holds[phase + 1] != holds[phase] ? holds[phase + 1] : no_node;
    }
};

class row_slabs {
public:
    row_slabs(const key& k, const graph& g, const row_program& rows);

    const std::vector<slab>& all() const { return slabs_; }
    /// Whether a phase reads or computes a node.
    bool uses(std::size_t phase, node_id n) const { return (uses_[n] >> phase & 1u) != 0; }
    /// Elements of a row that are read at once; rows are whole groups, or not.
    std::uint32_t group() const { return group_; }
    bool whole_groups() const { return whole_ > 1; }
    bool writes_rows() const;

private:
    void find_uses(const graph& g, const row_program& rows);
    void find_groups(const key& k, const row_program& rows);
    void hold(node_id n, dtype type, bool chunked, std::size_t from);
    void give_out(int output, const operand_head& head);
    slab& add(dtype type, bool chunked);

    std::size_t phases_;
    std::vector<std::uint64_t> uses_;  // of each node: bit p: phase p reads it or computes it
    std::vector<std::uint8_t> made_;   // of each node that is kept: the phase after that which makes it
    std::vector<slab> slabs_;
    std::uint32_t whole_ = 1, group_ = 1;
};

inline constexpr std::uint32_t short_row_threads = 128;

/// How much of its slabs a block fills. Its rows are about `elements`, rounded up to what keeps every thread busy (a
/// power of two, or a multiple of the threads), which is twice as many at most; and `multiple` rows at least, for every
/// block's memory begins with one of the caches' sectors.
struct slab_room {
    std::uint32_t bytes, multiple, capacity, elements;
    bool shared;  // several threads may work on a row
    slab_room(const row_slabs& slabs, std::uint8_t bucket, std::uint32_t threads);
};

}  // namespace ingot::codegen
