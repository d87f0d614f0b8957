// The axes over which a statement's elements are computed, and this rank's share of them.
//
// A statement computes over its result's axes, and each of its binders over the axes that it binds. An operand's layout
// has those of its place in the program, aligned to the right. Loops hold one entry for each such axis: its extent, the
// mesh axis that it is split over, and the range at each place of that.
#pragma once

#include <algorithm>
#include <deque>
#include <span>
#include <vector>

#include "runtime/distributed/storage.hpp"
#include "runtime/front/statement.hpp"

namespace ingot::runtime {

struct loop {
    index_t extent = 1;
    int over = -1;
    std::vector<range> ranges;  // of each place along the mesh axis; empty where the loop is whole
    bool may_split = false;     // the result's axes, and those of a reduction that is computed in parts
    // The indices that each rank reads, if an unravel binds the loop or it is restricted to a range. Indices beyond the
    // extent continue at the first one.
    std::vector<range> of_rank{};

    range range_at(int place) const noexcept {
        return ranges.empty() ? range{0, extent} : ranges[static_cast<std::size_t>(place)];
    }
};

/// The indices that a leaf of a distributed array reads: along each axis of the array, the first one and the step for
/// each of the leaf's loops.
struct access {
    std::vector<index_t> first;               // of each array axis
    std::vector<std::vector<index_t>> steps;  // [array axis][layout axis]
};

class loops {
public:
    /// `rank`: the number of the result's axes; a negative one is that of the operands. Where `splits_last` is true,
    /// the program ends in a reduction whose bound axes may be split.
    loops(std::span<const detail::word> program, std::span<const operand>, std::span<const detail::word> attributes,
          int rank, bool splits_last = false);
    /// Over the axes of this result.
    loops(std::span<const detail::word> program, std::span<const operand> operands,
          std::span<const detail::word> attributes, const detail::layout& result)
        : loops(program, operands, attributes, result.rank()) {
        for (int j = 0; j < rank_; ++j) loops_[static_cast<std::size_t>(j)].extent = result.shape()[j];
    }

    int rank() const noexcept { return rank_; }
    const std::vector<loop>& all() const noexcept { return loops_; }
    /// The loops of an operand's layout.
    std::span<const int> of(std::size_t operand) const noexcept { return contexts_[context_of_[operand]]; }
    /// The loops of the value of word number `w`, without those that the word itself binds.
    std::span<const int> of_word(std::size_t w) const noexcept { return contexts_[context_of_word_[w]]; }
    /// The loops that the last word binds.
    std::span<const int> of_last() const noexcept { return bound_last_; }

    /// The mesh axis over which operand `i` is split along a loop; -1: none.
    int split_along(int at, std::size_t i, const placement& p, const detail::layout& l) const {
        for (const alignment& a : alignments_of(p, l, of(i)))
            if (a.loop == at) return a.over;
        return -1;
    }
    /// The greatest number of a loop's indices that a rank has.
    index_t greatest_part(int at) const noexcept {
        const loop& l = loops_[static_cast<std::size_t>(at)];
        index_t most = l.over < 0 ? l.extent : 0;
        for (const range& r : l.ranges) most = std::max(most, r.size());
        return most;
    }
    /// Keeps a loop whole, however operands are split along it.
    void keep_whole(int at) noexcept { loops_[static_cast<std::size_t>(at)].may_split = false; }
    /// Splits the loops as a layout of a distributed array is, where nothing splits them yet.
    void follow(const placement&, const detail::layout&, std::span<const int> own);
    /// Splits them as all distributed operands are, the largest first. `placements`: of each operand, null for others.
    void follow_operands(std::span<const operand>, std::span<const placement* const> placements);

    /// Narrows a loop that no unravel binds to a range. Call it once all loops are split.
    void restrict_to(int loop, range);

    /// Narrows the loops that unravels bind (rolls, pads, joins, tiles) to the indices that each rank reads, where an
    /// array is split along them. Call it once all other loops are split.
    void follow_places(std::span<const operand>, std::span<const placement* const> placements);
    /// The layout of an unravel's places over narrowed loops; null where operand `i` is none or stays as it is.
    const detail::layout* place_of(std::size_t i) const noexcept {
        const auto found = std::ranges::find(adjusted_, i, &adjusted_place::operand);
        return found == adjusted_.end() ? nullptr : &found->where;
    }
    bool has_places() const noexcept { return !adjusted_.empty(); }

    /// The ranks of a mesh differ in these loops alone.
    const rank_mesh* mesh() const noexcept { return mesh_; }
    bool is_split() const noexcept;
    range range_of(int loop, int rank) const noexcept;

private:
    /// A loop that moves along a split axis: index j reads the array's index first + step * j.
    struct alignment {
        int loop, over;
        index_t first, step;
        const std::vector<range>* ranges;
    };
    /// The places of an unravel: numbers of elements in C order of the loops that it binds, or indices along one.
    struct unraveled_places {
        std::size_t operand;
        detail::place_rule rule;
        std::vector<int> bound;
    };
    struct adjusted_place {
        std::size_t operand;
        detail::layout where;
    };
    void check_mesh(const placement&);
    std::vector<alignment> alignments_of(const placement&, const detail::layout&, std::span<const int> own) const;
    /// Splits the loop of an alignment, where nothing splits it yet, as if its first index were `first`.
    void split(const alignment&, index_t first);
    /// Splits the loop over which an unravel's places move along that of an alignment.
    void split_through(const alignment&, std::span<const operand>);
    /// Whether any operand moves along a loop.
    bool is_moved_along(int loop, std::span<const operand>) const;
    /// The distance between places at which the digit above one is another: of the next loop outwards along which an
    /// operand moves. 0: there is none.
    index_t period_of(const unraveled_places&, std::size_t digit, std::span<const operand>) const;
    /// The indices along a bound loop that a rank reads. False where they are no range.
    bool read_by(range& to, const unraveled_places&, std::size_t digit, index_t period, const detail::layout& places,
                 int rank) const;

    bool splits_last_ = false;
    int rank_ = 0;
    std::vector<loop> loops_;
    std::vector<std::vector<int>> contexts_;
    std::vector<std::size_t> context_of_, context_of_word_;
    std::vector<int> bound_last_;
    std::vector<unraveled_places> unravels_;  // the outermost first
    std::vector<adjusted_place> adjusted_;
    const rank_mesh* mesh_ = nullptr;
};

/// Takes apart a layout of a distributed array. Returns false where it is no affine map of the array's indices, as
/// after a reshape.
bool take_apart(access&, const placement&, const detail::layout&);
/// The loop of layout axis `j`, or -1 where the layout has more axes than there are loops.
inline int loop_of(std::span<const int> own, int rank, int j) noexcept {
    const int at = static_cast<int>(own.size()) - rank + j;
    return at < 0 ? -1 : own[static_cast<std::size_t>(at)];
}

}  // namespace ingot::runtime
