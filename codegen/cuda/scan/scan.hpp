// The frame that CUDA's schedules of scans share: the kernel being written, and how tiles publish their folds through
// the scratch.
//
// Blocks take the tiles of all strips (rows, or neighbouring columns) in order, by a ticket, so a block waits only for
// earlier tiles, which run. A tile publishes its own fold in its slot; the last tile of a run of 32 or 64 publishes the
// fold of all tiles up to its end. The prefix ahead of a tile is therefore joined from few values, in an order that its
// number alone decides. Only a run's last tile waits for a tile that waits, and no tile waits for more than these two
// kinds of value.
//
// Slots and counters are zero before and after a kernel: the last block that reads a run's slots clears them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/cuda/scan/choice.hpp"
#include "codegen/text/fold.hpp"

namespace ingot::codegen {

class cuda_scan {
public:
    /// Threads of a block, elements of a chunk, and, where tiles look back, tiles of a run.
    cuda_scan(cuda_kernel& b, const scanning& s, std::uint32_t threads, std::uint32_t each, std::uint32_t run = 0)
        : b_(b),
          s_(s),
          threads_(threads),
          each_(each),
          run_(run),
          inputs_(inputs_along(b, s)),
          generators_(generators_along(b, s)),
          folds_(folds_of(s, b.graph, b.needs)) {}

protected:
    std::uint64_t all_bits() const { return axis_range(0, b_.rank); }
    std::uint64_t kept_bits() const { return all_bits() & ~s_.bit(); }
    std::uint64_t loops_of(node_id n) const { return b_.graph.nodes[n].axes; }
    /// The nodes that are computed along the scanned axis: the folded values and the results.
    std::vector<node_id> roots() const;
    std::string scanned() { return b_.count(points_of(s_.bit()), "scanned"); }
    /// Whether the whole chunk at `at` lies in the row.
    std::string is_inside() { return "at + " + std::to_string(each_) + " <= " + scanned(); }

    /// Loads and computes the values that are constant along the row.
    void read_fixed();
    std::string random_element(node_id g, std::uint64_t axes);

    /// A call of scan_lanes, up to its arguments.
    std::string scan_lanes(fold_writer& f, std::uint32_t lanes);
    /// Joins the values of the block's warps: the fold of all, and the prefix ahead of each warp.
    void fold_block();

    /// 64-bit words of a slot of one column.
    std::uint32_t slot_words() const { return static_cast<std::uint32_t>(2 * folds_.size()); }
    /// `ticket`: the number of this block among those that began.
    void take_ticket();
    /// Declares the address of the slots and a strip's counter of a run; a strip has `tiles` tiles. Adds publish(slot,
    /// value), poll(slot, value) and declare_before_tile's functions to the prelude.
    void write_slots(const std::string& strip, const std::string& strips, const std::string& tiles);
    /// Counts this tile among the tiles of its run that have read their slots; all its threads have.
    void write_arrival();
    /// At the end the last block clears the slots. `write_loop` clears run number `run` by calls of clear_slot; the run
    /// may be the one with which the strip `ends`.
    void clear_slots(const std::string& tiles, const std::function<void()>& write_loop);
    /// " + 2": the offset of a fold's words in a slot.
    std::string at(std::size_t fold) const { return fold == 0 ? "" : " + " + std::to_string(2 * fold); }
    std::string widened(fold_writer& f, const std::string& value) const;
    /// A value joined to the prefix ahead of it in the row.
    std::string behind(fold_writer& f, const std::string& before, const std::string& value) const;
    std::string before(const fold_writer& f) const { return "before_" + f.name(); }

    cuda_kernel& b_;
    const scanning& s_;
    const std::uint32_t threads_, each_, run_;
    const std::vector<const array_argument*> inputs_;  // along the scanned axis
    const std::vector<node_id> generators_;
    std::vector<fold_writer> folds_;

private:
    void declare_slots();
    void declare_scan_warps();
};

/// Adds to the prelude before_tile(slots, all, tile, own, start), for a warp, and clear_slot(slots, all, run, column,
/// number, ends). The slots of a column's run of tiles lie beside each other.
void declare_before_tile(cuda_kernel& b, std::uint32_t run);
/// Adds before_columns(room, prefixes, numbers, slots, all, tile, width, height, start, wide_start), for all columns of
/// a tile. It calls functions of declare_before_tile and scan_lanes.
void declare_before_columns(cuda_kernel& b, const long_column_scan_layout& c);

}  // namespace ingot::codegen
