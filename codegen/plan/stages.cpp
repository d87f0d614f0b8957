// Decides which rows kernels hold, and so where the graph is cut (plan/cutting.hpp). Where no kernel holds a row, the
// graph is cut again without it; where rows along one axis or rows along another could be held, it is cut both ways,
// and the cut that reads and writes least is taken.
#include "codegen/plan/stages.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <ingot/core/error.hpp>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/cutting.hpp"
#include "codegen/plan/equal_values.hpp"
#include "codegen/plan/thread_folds.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// The loops of the whole graph for axes of a stage.
std::uint64_t loops_of(const stage& s, const std::vector<int>& axes, const graph& whole) {
    std::uint64_t loops = 0;
    for (const int a : axes)
        loops |= axis_bit(whole.loop_axis[static_cast<std::size_t>(s.axes[static_cast<std::size_t>(a)])]);
    return loops;
}

/// The rows of a stage as loops of the whole graph.
refused_rows of_whole(const stage& s, const refused_rows& r, const graph& whole) {
    return {{loops_of(s, axes_in(r.of.kept_axes), whole), loops_of(s, axes_in(r.of.folded), whole)}, r.scanned};
}

refused_rows rows_of(const graph& g, const row_program& r) {
    return {{r.kept_bits(), r.row_bits()}, !r.scans(g).empty()};
}

/// Rows that the kernel of a graph, which is no row program, would have to hold: its outputs walk them, wholly or in
/// part, or its folds fold another fold's values. Where it has scans, these are the scans' rows if it also has
/// reductions or scans of scans, else none.
std::vector<refused_rows> rows_to_hold(const key& k, const graph& g) {
    const std::uint64_t walked = outputs_axes(k);
    std::vector<refused_rows> reduced, scanned;
    const auto add = [](std::vector<refused_rows>& found, const refused_rows& r) {
        if (std::ranges::find(found, r) == found.end()) found.push_back(r);
    };
    bool reduces = false, scans_again = false;
    std::vector<bool> folds(g.nodes.size());  // whether a node or anything below it folds
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        for (int a = 0; a < n.arity; ++a) folds[i] = folds[i] || folds[n.arguments[a]];
        if (n.kind != node_kind::reduce && n.kind != node_kind::scan) continue;
        const rows r = rows_of(k, g, n);
        if (n.kind == node_kind::scan)
            add(scanned, {r, true});
        else if (folds[i] || (r.folded & walked) != 0)
            add(reduced, {r});
        reduces = reduces || n.kind == node_kind::reduce;
        scans_again = scans_again || (n.kind == node_kind::scan && folds[i]);
        folds[i] = true;
    }
    if (scanned.empty()) return reduced;
    return reduces || scans_again ? scanned : std::vector<refused_rows>();
}

/// The rows of the folds of a graph that gathers: row programs alone gather what they fold.
std::vector<refused_rows> rows_that_gather(const key& k, const graph& g) {
    std::vector<refused_rows> found;
    if (!has_kind(g, {node_kind::gather})) return found;
    for (const node& n : g.nodes)
        if (n.kind == node_kind::reduce || n.kind == node_kind::scan)
            found.push_back({rows_of(k, g, n), n.kind == node_kind::scan});
    return found;
}

/// Chooses the kernel of a graph. Returns the rows that it would have to hold, where there is none.
std::vector<refused_rows> choose(std::optional<kernel_choice>& kernel, const key& k, const graph& g) {
    const auto program = find_row_program(k, g);
    std::vector<refused_rows> held;
    if (!program) held = rows_to_hold(k, g);
    if (!program && held.empty()) held = rows_that_gather(k, g);
    if (held.empty()) kernel = choose_kernel(k, g, program);
    if (program && !kernel) held.push_back(rows_of(g, *program));
    return held;
}

/// The cut where no kernel holds these rows, nor the rows found unheld on the way, which are added to `refused`; empty
/// where rows would have to be held nevertheless.
std::optional<staging> cut_without(const key& k, const graph& g, std::vector<refused_rows>& refused,
                                   std::span<const shared_value> shared = {}) {
    for (;;) {
        staging whole = cut(k, g, refused, shared);
        std::vector<refused_rows> now;
        if (whole.stages.empty()) now = choose(whole.kernel, k, g);
        for (stage& s : whole.stages)
            if (!s.call)
                for (const refused_rows& r : choose(s.kernel, s.key, s.graph)) now.push_back(of_whole(s, r, g));
        if (now.empty()) return whole;
        for (const refused_rows& r : now)
            if (std::ranges::find(refused, r) != refused.end()) return {};
        refused.insert(refused.end(), now.begin(), now.end());
    }
}

/// The cost of a staging: how often kernels access arrays that move along the most axes, then the number of kernels.
std::pair<std::size_t, std::size_t> cost_of(const staging& s) {
    if (s.stages.empty()) return {0, 1};  // one kernel
    std::map<std::ptrdiff_t, std::size_t> moving;
    const auto note = [&](const operand_class& o) {
        const auto still = std::ranges::count(o.strides, stride_class::broadcast);
        ++moving[static_cast<std::ptrdiff_t>(o.strides.size()) - still];
    };
    for (const stage& now : s.stages) {
        if (now.call) continue;
        for (const node& n : now.graph.nodes)
            if (n.kind == node_kind::operand) note(now.key.operands[n.index]);
        for (const operand_class& z : now.key.outputs) note(z);
    }
    return {moving.rbegin()->second, s.stages.size()};
}

/// The bytes for each place that move through memory in arrays along the most axes. In a kernel that folds, an array
/// contiguous along another axis than the others moves a sector of 32 bytes for each element; less for small elements,
/// as caches keep some sectors. Maps exchange such arrays in shared memory.
class crossing_arrays {
public:
    crossing_arrays(const key& k, const graph& g) : short_(short_axes(k)) {
        // Blocks of few rows read the same sectors at the same time.
        const bool few = !k.axes.empty() && (k.axes[0].flags & axis_flags::few_rows) != 0;
        for (std::size_t a = 0; a < k.axes.size(); ++a)
            if (k.axes[a].owner == 0 ? few : k.axes[a].length_class == 1) short_ |= axis_bit(g.loop_axis[a]);
    }
    /// `sectors` false: as if no array crossed the others.
    std::size_t moved(const key& k, const graph& g, const staging& s, bool sectors = true) const {
        std::map<int, std::size_t> by_axes;
        const auto add = [&](const key& of, const graph& in, const std::vector<std::uint8_t>& loops) {
            const auto [axes, bytes] = moved_by(of, in, loops, sectors);
            by_axes[axes] += bytes;
        };
        if (s.stages.empty()) add(k, g, g.loop_axis);
        for (const stage& now : s.stages) {
            std::vector<std::uint8_t> loops;
            for (const int a : now.axes) loops.push_back(static_cast<std::uint8_t>(a));
            if (!now.call) add(now.key, now.graph, loops);
        }
        return by_axes.empty() ? 0 : by_axes.rbegin()->second;
    }

private:
    struct array {
        std::uint64_t moves = 0, unit = 0;  // loops of the whole graph
        std::size_t bytes = 1;
    };
    /// The most axes along which an array of a kernel moves, and the bytes of the arrays that move along so many.
    std::pair<int, std::size_t> moved_by(const key& k, const graph& g, const std::vector<std::uint8_t>& loops,
                                         bool sectors) const {
        std::map<std::uint16_t, array> operands;
        std::vector<array> arrays;
        const auto array_of = [&](const operand_class& o) {
            array found;
            for (std::size_t a = 0; a < o.strides.size(); ++a) {
                if (o.strides[a] != stride_class::broadcast) found.moves |= axis_bit(loops[a]);
                if (o.strides[a] == stride_class::unit) found.unit |= axis_bit(loops[a]);
            }
            found.bytes = size_of(o.head.type);
            return found;
        };
        bool folds = false;
        for (const node& n : g.nodes) {
            folds = folds || n.kind == node_kind::reduce || n.kind == node_kind::scan;
            if (n.kind != node_kind::operand || k.operands[n.index].head.kind != operand_kind::array) continue;
            operands.emplace(k.operands[n.index].head.same_as, array_of(k.operands[n.index]));
        }
        for (const auto& [same_as, found] : operands) arrays.push_back(found);
        for (const operand_class& z : k.outputs) arrays.push_back(array_of(z));
        int most = 0;
        for (const array& one : arrays) most = std::max(most, std::popcount(one.moves));
        std::erase_if(arrays, [&](const array& one) { return std::popcount(one.moves) < most; });
        // The kernel walks along the axis along which these arrays cost least.
        std::size_t least = 0;
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            const std::uint64_t along = arrays[i].unit;
            std::size_t cost = 0;
            for (const array& one : arrays) {
                const bool across = one.unit != 0 && along != 0 && (one.unit & along) == 0 && (one.moves & along) != 0;
                const bool moves_sectors = sectors && folds && across && ((one.unit | along) & short_) == 0;
                cost += moves_sectors ? std::min<std::size_t>(32, 8 * one.bytes) : one.bytes;
            }
            least = i == 0 ? cost : std::min(least, cost);
        }
        return {most, least};
    }

    std::uint64_t short_;
};

/// The rows that a stage holds, as loops of the whole graph.
std::optional<refused_rows> held_by(const stage& s, const graph& whole) {
    const auto* held = s.kernel ? std::get_if<row_kernel>(&*s.kernel) : nullptr;
    if (held == nullptr) return {};
    return of_whole(s, rows_of(s.graph, held->rows), whole);
}

/// A value that folds and is used along several loops may be one temporary: it becomes one where that moves less or
/// takes fewer kernels. Returns these values.
std::vector<shared_value> share_values(const key& k, const graph& g, const std::vector<refused_rows>& refused,
                                       staging& best) {
    std::vector<shared_value> shared;
    if (best.stages.empty() || has_kind(g, {node_kind::shifted, node_kind::thread_fold, node_kind::thread_scan}))
        return shared;
    const equal_values values(k, g);
    int trials = 32;
    for (const std::vector<node_id>& same : values.repeated()) {
        std::optional<shared_value> chosen;
        for (const node_id first : same) {
            if (trials-- == 0) return shared;
            shared_value now{{{first, {}}}};
            for (const node_id n : same)
                if (n != first)
                    if (const auto loops = values.along(first, n)) now.occurrences.push_back({n, *loops});
            if (now.occurrences.size() == 1) continue;
            shared.push_back(now);
            std::vector<refused_rows> more = refused;
            std::optional<staging> found = cut_without(k, g, more, shared);
            shared.pop_back();
            if (!found || cost_of(*found) >= cost_of(best)) continue;
            best = std::move(*found);
            chosen = std::move(now);
        }
        if (chosen) shared.push_back(std::move(*chosen));
    }
    return shared;
}

/// Copies arrays that cross the other arrays of a kernel that folds, where that moves at least a quarter less.
void turn_arrays(const key& k, const graph& g, const std::vector<refused_rows>& refused, staging& best,
                 std::vector<shared_value> shared) {
    if (k.header.where != target::cuda || has_kind(g, {node_kind::thread_fold, node_kind::thread_scan})) return;
    const crossing_arrays crossing(k, g);
    std::size_t least = crossing.moved(k, g, best);
    if (least == crossing.moved(k, g, best, false)) return;
    const equal_values values(k, g);
    const std::size_t before = least;
    staging turned = best;
    int trials = 16;
    for (const std::vector<node_id>& same : values.arrays()) {
        if (k.operands[g.nodes[same[0]].index].head.repeats) continue;  // a copy is larger than the array
        std::optional<shared_value> chosen;
        for (const node_id first : same) {
            if (--trials < 0) break;
            shared_value now{{{first, {}}}};
            for (const node_id n : same)
                if (n != first)
                    if (const auto loops = values.along(first, n)) now.occurrences.push_back({n, *loops});
            shared.push_back(now);
            std::vector<refused_rows> more = refused;
            std::optional<staging> found = cut_without(k, g, more, shared);
            shared.pop_back();
            if (!found) continue;
            const std::size_t moved = crossing.moved(k, g, *found);
            if (moved >= least) continue;
            least = moved;
            turned = std::move(*found);
            chosen = std::move(now);
        }
        if (chosen) shared.push_back(std::move(*chosen));
    }
    if (4 * least <= 3 * before) best = std::move(turned);
}

}  // namespace

staging cut_into_stages(const key& k, const graph& g) {
    std::vector<refused_rows> refused;
    std::optional<staging> found = cut_without(k, g, refused);
    if (!found) throw error("[plan] rows are held that no kernel holds");
    staging best = std::move(*found);
    // Whether rows along one axis or along another are held is found by trying without each.
    for (std::size_t i = 0; i < best.stages.size();) {
        const auto held = held_by(best.stages[i++], g);
        if (!held) continue;
        std::vector<refused_rows> more = refused;
        more.push_back(*held);
        found = cut_without(k, g, more);
        if (!found || cost_of(*found) >= cost_of(best)) continue;
        best = std::move(*found);
        refused = std::move(more);
        i = 0;
    }
    turn_arrays(k, g, refused, best, share_values(k, g, refused, best));
    return best;
}

}  // namespace ingot::codegen
