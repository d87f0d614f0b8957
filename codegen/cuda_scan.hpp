// What the schedules of scans for CUDA share: a kernel in the making, and how tiles tell each other through the scratch
// what lies before them.
#pragma once

#include <string>
#include <vector>

#include "codegen/cuda_kernel.hpp"
#include "codegen/scan.hpp"

namespace ingot::codegen {

class cuda_scan {
protected:
    cuda_scan(const key& k, const graph& g, const scanning& s) : b_(k, g), s_(s), folds_(folds_of(s, g, b_.needs)) {}

    std::uint64_t all_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t kept_bits() const { return all_bits() & ~s_.bit(); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    /// 64-bit words of a tile's slot.
    std::uint32_t slot_words() const { return static_cast<std::uint32_t>(2 * folds_.size()); }
    /// What moves along the row.
    std::vector<const place*> inputs_along() const;

    /// Reads and computes what is the same all along the row.
    void read_fixed();
    std::string random_element(node_id g, std::uint64_t axes);
    void open_unrolled(const char* variable, std::uint32_t n);
    /// Names of functions: scan_warps<fold, warps, step>(parts, start, warp, all), and look_back<fold>(slot, further,
    /// tile, lane, own, start).
    std::string scan_warps();
    std::string look_back();

    /// Blocks are numbered as they begin, so that whoever waits for an earlier one waits for one that runs.
    void take_ticket();
    /// " + 2": where a fold's words are in a slot.
    std::string at(const fold_writer& f) const;
    std::string widened(fold_writer& f, const std::string& value) const;
    /// A value joined to what lies before it in the row.
    std::string behind(fold_writer& f, const std::string& before, const std::string& value) const;
    void finish(plan& p, const std::string& bounds);

    cuda_kernel b_;
    const scanning& s_;
    std::vector<fold_writer> folds_;
};

}  // namespace ingot::codegen
