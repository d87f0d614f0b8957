// The kernel of a row program for CUDA: phases that fold or scan the elements of a row's lanes and exchange the
// results, then the outputs.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "codegen/cuda/row/elements.hpp"
#include "codegen/cuda/row/exchange.hpp"

namespace ingot::codegen {

class cuda_rows : protected row_elements {
public:
    cuda_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice);
    virtual ~cuda_rows() = default;
    void write(plan& p);

protected:
    /// Loads all that a lane holds of its row, in flight together.
    virtual void load() { load_streams(); }
    /// Called after all lanes have met, before the first phase.
    virtual void await_loads() {}
    /// Writes this lane's part of each reduction of a phase, and the prefixes of its scans within each chunk.
    virtual void write_folds(std::size_t phase);
    /// Stores the outputs that move along the row.
    virtual void write_along(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values);

    /// Whether statements still to be written for these values have a quick body.
    bool has_quick_bodies(const std::vector<node_id>& values) const;
    /// The nodes, of those under these values, that are computed for the first time and kept for later phases.
    std::vector<node_id> newly_cached(const std::vector<node_id>& values) const;
    static std::string value(std::size_t i) { return "value" + std::to_string(i); }
    std::string cached_name(node_id n) const;

    std::vector<std::vector<fold_writer>> folds_;  // of each phase: its reductions

private:
    void count_work();
    /// A thread with several rows loads all of them before it computes the first.
    void load_rows();
    /// Little is read while a cluster waits for its blocks: the next rows are prefetched into the second-level cache.
    void prefetch_rows();
    /// Finds the places at which gathers read, and reports indices outside.
    void find_gathered();
    /// Reads the operands that do not move along the row.
    void read_constant();
    void read_still(const std::vector<bool>& required);
    /// Computes values that do not move along the row as soon as their operands are known.
    void hoist();
    /// Replaces an element beyond the row's end by the fold's start, which changes nothing.
    void drop_outside(fold_writer& f, const std::string& element);
    /// Replaces an array of n elements by its prefixes.
    void scan_elements(fold_writer& f, const char* index, std::uint32_t n, const std::string& of);
    /// Turns the prefixes within each lane's chunks into the row's; they stay in the lanes' registers.
    void scan_rows(std::size_t phase);
    /// Whether a lane's value of a chunk has this name: an array's, or a cached value's.
    bool is_held(const std::string& element) const;
    void write_outputs();

    std::vector<std::vector<fold_writer>> scans_;  // of each phase
    row_exchange exchange_;
};

/// The kernel whose chunks are single elements, computed by groups.
void emit_grouped_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p);

}  // namespace ingot::codegen
