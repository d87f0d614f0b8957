// The kernel of a row program for CUDA: phases that fold or scan what a row's lanes hold and exchange it, then the
// outputs.
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
    /// All that a lane holds of its row, under way at once.
    virtual void load() { load_streams(); }
    /// After all lanes have met, before the first phase.
    virtual void await_loads() {}
    /// What this lane has of each of a phase's reductions, and of its scans the prefixes within each of its chunks.
    virtual void write_folds(std::size_t phase);
    /// Outputs that move along the row.
    virtual void write_along(const std::vector<const array_argument*>& outputs, const std::vector<node_id>& values);

    /// Whether statements that these values still want have a quick body.
    bool has_quick_bodies(const std::vector<node_id>& values) const;
    /// What is kept for later phases of those values, computed for the first time.
    std::vector<node_id> newly_kept(const std::vector<node_id>& values) const;
    static std::string value(std::size_t i) { return "value" + std::to_string(i); }
    std::string kept_name(node_id n) const;

    std::vector<std::vector<fold_writer>> folds_;  // of each phase: its reductions

private:
    void count_work();
    /// A thread that has several rows loads all of them before it computes the first.
    void load_rows();
    /// While a cluster waits for its blocks little is read: rows that are loaded next come into the second-level cache.
    void prefetch_rows();
    /// What does not move along the row.
    void read_constant();
    /// What does not move along the row is computed as soon as what it needs is there.
    void hoist();
    /// An element beyond the row's end becomes what the fold starts with, so that nothing comes of it.
    void drop_outside(fold_writer& f, const std::string& element);
    /// Prefixes of an array of n elements, in its place.
    void scan_elements(fold_writer& f, const char* index, std::uint32_t n, const std::string& of);
    /// Prefixes of a phase, from those within each lane's chunks to the row's; they stay in the lanes' registers.
    void scan_rows(std::size_t phase);
    /// Whether a lane's value of a chunk has this name: of an array, or kept.
    bool is_held(const std::string& element) const;
    void write_outputs();

    std::vector<std::vector<fold_writer>> scans_;  // of each phase
    row_exchange exchange_;
};

/// The kernel where chunks are single elements, computed by groups.
void emit_grouped_rows(const key& k, const graph& g, const row_program& r, const register_rows& choice, plan& p);

}  // namespace ingot::codegen
