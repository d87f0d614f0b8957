// The values of an element that the threads of a row program hold from one phase to a later one: arrays, costly values,
// prefixes; and arrays that may wait in shared memory until a later phase reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "codegen/cuda/row/register_rows.hpp"

namespace ingot::codegen {

class held_values {
public:
    held_values(const graph& g, const row_program& r);

    /// Operations of an element, over all phases.
    std::uint32_t cost() const { return cost_; }
    /// Bytes held of an element, in the phase that holds the most.
    std::uint32_t bytes() const;

    /// Defers arrays of words that one phase alone reads, and not the first: they are not held. False where there are
    /// none.
    bool defer_loads(const key& k);
    bool defers_loads() const { return !deferred_.empty(); }

    /// The values, with their places in shared memory; of those of shared chunks where there are any.
    held_elements choose(bool has_shared_chunks) const;

private:
    /// Places the held values of a shared chunk: a value that a phase keeps replaces one that no later phase reads.
    void place_shared(held_elements& h) const;
    void place_deferred(held_elements& h) const;
    /// The values held from the beginning: operands that move along the row, except deferred ones and those that all
    /// rows read alike, which are loaded where they are used.
    std::vector<node_id> streams() const;
    /// One past the last phase that reads a node along the row; 0 where none does.
    std::vector<std::size_t> ends() const;
    std::uint32_t bytes_of(node_id i) const;
    bool along_row(node_id i) const { return (graph_.nodes[i].axes & row_) != 0; }
    bool is_stream(node_id i) const;
    bool is_cached(node_id i) const;
    bool is_scan(node_id i) const { return graph_.nodes[i].kind == node_kind::scan; }
    void keep(node_id i, std::size_t phase);

    const graph& graph_;
    std::uint64_t row_, rows_;
    std::size_t phases_;
    std::vector<std::size_t> first_;  // phase that computes a node along the row, or makes prefixes
    std::vector<std::vector<node_id>> computed_;
    std::vector<node_id> cached_, deferred_;
    std::uint32_t cost_ = 0;
};

}  // namespace ingot::codegen
