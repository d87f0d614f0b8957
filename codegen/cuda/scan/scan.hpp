// What the schedules of scans for CUDA share: a kernel in the making, and how tiles publish through the scratch what
// they fold to.
//
// Blocks take the tiles of all strips (rows, or neighbouring columns) by a ticket, in order, so that a block that waits
// for an earlier tile waits for one that runs. In slots of its own a tile publishes what it folds to by itself, the
// last of a run of 32 or 64 what all up to its end do. So what lies before a tile is joined from few such values, in
// one order that its number alone decides; only a run's last tile waits for one that waits, and no tile for more than
// these two.
//
// Slots and counters are zero before a kernel and after: the last block to read those of a run clears them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/cuda/scan/choice.hpp"

namespace ingot::codegen {

class cuda_scan {
public:
    cuda_scan(cuda_kernel& b, const scanning& s, const scan_choice& c)
        : b_(b),
          s_(s),
          choice_(c),
          threads_(c.threads),
          each_(c.each),
          run_(c.run),
          inputs_(inputs_along(b, s)),
          generators_(generators_along(b, s)),
          folds_(folds_of(s, b.graph, b.needs)) {}

protected:
    std::uint64_t all_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t kept_bits() const { return all_bits() & ~s_.bit(); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    /// The nodes that are computed along the scanned axis: what the folds fold, and the results.
    std::vector<node_id> roots() const;
    std::string scanned() { return b_.count(points_of(s_.bit()), "scanned"); }
    /// Whether the row has all of the chunk's elements at `at`.
    std::string is_inside() { return "at + " + std::to_string(each_) + " <= " + scanned(); }

    /// Reads and computes what is the same all along the row.
    void read_fixed();
    std::string random_element(node_id g, std::uint64_t axes);

    /// A call of scan_lanes, up to its arguments.
    std::string scan_lanes(fold_writer& f, std::uint32_t lanes);
    /// Joins what the warps have: what all fold to, and what lies ahead of a warp.
    void fold_block();

    /// 64-bit words of a slot of one column.
    std::uint32_t slot_words() const { return static_cast<std::uint32_t>(2 * folds_.size()); }
    /// `ticket`: the number of this block among those that began.
    void take_ticket();
    /// Where the slots begin, and the counter of a strip's run; `tiles` are a strip's. Into the prelude: what publishes
    /// a message, tell(slot, value), what polls for one, ask(slot, value), and what declare_before_tile adds.
    void write_slots(const std::string& strip, const std::string& strips, const std::string& tiles);
    /// Counts this tile among those of its run that have read what they want of the slots; all its threads have.
    void write_arrival();
    /// In the end: the last block clears. `write_loop` does so for run number `run`, which may be the one with which
    /// the strip `ends`, by forget.
    void clear_slots(const std::string& tiles, const std::function<void()>& write_loop);
    /// " + 2": where a fold's words are in a slot.
    std::string at(std::size_t fold) const { return fold == 0 ? "" : " + " + std::to_string(2 * fold); }
    std::string widened(fold_writer& f, const std::string& value) const;
    /// A value joined to what lies before it in the row.
    std::string behind(fold_writer& f, const std::string& before, const std::string& value) const;
    std::string before(const fold_writer& f) const { return "before_" + f.name(); }
    /// The whole source and the step, once the kernel's body is written.
    void finish(plan& p);

    cuda_kernel& b_;
    const scanning& s_;
    const scan_choice& choice_;
    const std::uint32_t threads_, each_, run_;
    const std::vector<const array_argument*> inputs_;  // along the scanned axis
    const std::vector<node_id> generators_;
    std::vector<fold_writer> folds_;

private:
    void declare_slots();
    void declare_scan_warps();
};

/// Into the prelude: before_tile(slots, all, tile, own, start), for a warp, and forget(slots, all, run, column, number,
/// ends). The slots of a column's run of tiles lie beside each other.
void declare_before_tile(cuda_kernel& b, std::uint32_t run);
/// The same for all columns of a tile: before_columns(room, told, numbers, slots, all, tile, width, height, start,
/// wide_start). Asks for declare_before_tile and scan_lanes.
void declare_before_columns(cuda_kernel& b, const scan_choice& c);

void emit_row_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p);
void emit_long_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p);
void emit_short_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p);
void emit_whole_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p);
void emit_column_scan_cuda(cuda_kernel& b, const scanning& s, const scan_choice& c, plan& p);

}  // namespace ingot::codegen
