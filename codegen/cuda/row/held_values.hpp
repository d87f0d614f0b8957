// What the threads of a row program hold of an element from one phase to a later one: arrays, values that cost much,
// prefixes, and arrays that may wait in shared memory until a later phase reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cuda/row/register_rows.hpp"

namespace ingot::codegen {

class held_values {
public:
    held_values(const graph& g, const row_program& r);

    const std::vector<node_id>& kept() const { return kept_; }
    /// What is held from the beginning: operands that move along the row, but those that all rows read alike, which are
    /// loaded where they are used, and deferred ones.
    std::vector<node_id> streams() const;
    /// Of an element, over all phases.
    std::uint32_t cost() const { return cost_; }
    /// Bytes of an element that are held where most are.
    std::uint32_t bytes() const;

    /// Arrays of words that one phase reads alone, and not the first, are not held but deferred. False where there are
    /// none.
    bool defer_loads(const key& k);
    bool defers_loads() const { return !deferred_.empty(); }

    /// Where what is held of a shared chunk lies: what a phase keeps takes the place of what no later one reads.
    void place_shared(register_rows& s) const;
    void place_deferred(register_rows& s) const;

private:
    /// One past the last phase that reads a node along the row; 0 where none does.
    std::vector<std::size_t> ends() const;
    std::uint32_t bytes_of(node_id i) const;
    bool along_row(node_id i) const { return (graph_.nodes[i].axes & row_) != 0; }
    bool is_stream(node_id i) const;
    bool is_kept(node_id i) const;
    bool is_scan(node_id i) const { return graph_.nodes[i].kind == node_kind::scan; }
    void keep(node_id i, std::size_t phase);

    const graph& graph_;
    std::uint64_t row_, rows_;
    std::size_t phases_;
    std::vector<std::size_t> first_;  // phase that computes a node along the row, or makes prefixes
    std::vector<std::vector<node_id>> wanted_;
    std::vector<node_id> kept_, deferred_;
    std::uint32_t cost_ = 0;
};

}  // namespace ingot::codegen
