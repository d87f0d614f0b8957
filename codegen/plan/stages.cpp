// Which rows are held, and so where the graph is cut (plan/cutting.hpp). Where it turns out that no kernel holds a row,
// the graph is cut again without; where rows along one axis and rows along another could be held, it is cut both ways,
// and the one that reads and writes least is taken.
#include "codegen/plan/stages.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <ingot/error.hpp>

#include "codegen/graph/rows.hpp"
#include "codegen/plan/cutting.hpp"
#include "codegen/plan/equal_values.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// Loops of the whole graph, for axes of a stage.
std::uint64_t loops_of(const stage& s, const std::vector<int>& axes, const graph& whole) {
    std::uint64_t loops = 0;
    for (const int a : axes)
        loops |= axis_bit(whole.loop_axis[static_cast<std::size_t>(s.axes[static_cast<std::size_t>(a)])]);
    return loops;
}

/// Rows of a stage, told by the loops of the whole graph.
refused_rows of_whole(const stage& s, const refused_rows& r, const graph& whole) {
    return {{loops_of(s, axes_in(r.of.kept), whole), loops_of(s, axes_in(r.of.folded), whole)}, r.scanned};
}

refused_rows rows_of(const graph& g, const row_program& r) {
    return {{r.kept_bits(), r.row_bits()}, !r.scans(g).empty()};
}

/// Rows that a kernel would have to hold and does not: its outputs walk them, all along or in part, or what it folds
/// comes of another fold. Where it has scans, those of the scans, unless it has nothing else.
std::vector<refused_rows> rows_not_held(const key& k, const graph& g, const row_test& holds) {
    if (const auto r = find_row_program(k, g)) {
        if (holds(k, g, *r)) return {};
        return {rows_of(g, *r)};
    }
    const std::uint64_t walked = outputs_axes(k);
    std::vector<refused_rows> reduced, scanned;
    const auto add = [](std::vector<refused_rows>& found, const refused_rows& r) {
        if (std::ranges::find(found, r) == found.end()) found.push_back(r);
    };
    bool reduces = false, scans_again = false;
    std::vector<bool> folds(g.nodes.size());  // a node or something beneath it
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

/// As it is cut where no kernel holds these rows, nor those found not to be held on the way, which are added; nothing
/// where rows would have to be held all the same.
std::optional<staging> cut_without(const key& k, const graph& g, const row_test& holds,
                                   std::vector<refused_rows>& refused, std::span<const shared_value> shared = {}) {
    for (;;) {
        staging whole = cut(k, g, refused, shared);
        std::vector<refused_rows> now;
        if (whole.stages.empty()) now = rows_not_held(k, g, holds);
        for (const stage& s : whole.stages)
            if (!s.call)
                for (const refused_rows& r : rows_not_held(s.key, s.graph, holds)) now.push_back(of_whole(s, r, g));
        if (now.empty()) return whole;
        for (const refused_rows& r : now)
            if (std::ranges::find(refused, r) != refused.end()) return {};
        refused.insert(refused.end(), now.begin(), now.end());
    }
}

/// What a staging costs: how often its kernels read or write along the most axes that any does, then how many they are.
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

/// The rows that a stage holds, told by the loops of the whole graph.
std::optional<refused_rows> held_by(const stage& s, const graph& whole) {
    const auto r = s.call ? std::nullopt : find_row_program(s.key, s.graph);
    if (!r) return {};
    return of_whole(s, rows_of(s.graph, *r), whole);
}

/// What is folded and wanted along several loops may be one temporary; it is where that moves less, or takes fewer
/// kernels.
void share_values(const key& k, const graph& g, const row_test& holds, const std::vector<refused_rows>& refused,
                  staging& best) {
    const auto made_by_threads = [](const node& n) {
        return n.kind == node_kind::shifted || n.kind == node_kind::thread_fold || n.kind == node_kind::thread_scan;
    };
    if (best.stages.empty() || std::ranges::any_of(g.nodes, made_by_threads)) return;
    const equal_values values(k, g);
    std::vector<shared_value> shared;
    int trials = 32;
    for (const std::vector<node_id>& same : values.repeated()) {
        std::optional<shared_value> chosen;
        for (const node_id first : same) {
            if (trials-- == 0) return;
            shared_value now{{{first, {}}}};
            for (const node_id n : same)
                if (n != first)
                    if (const auto loops = values.along(first, n)) now.places.push_back({n, *loops});
            if (now.places.size() == 1) continue;
            shared.push_back(now);
            std::vector<refused_rows> more = refused;
            std::optional<staging> found = cut_without(k, g, holds, more, shared);
            shared.pop_back();
            if (!found || cost_of(*found) >= cost_of(best)) continue;
            best = std::move(*found);
            chosen = std::move(now);
        }
        if (chosen) shared.push_back(std::move(*chosen));
    }
}

}  // namespace

staging cut_into_stages(const key& k, const graph& g, const row_test& holds) {
    std::vector<refused_rows> refused;
    std::optional<staging> found = cut_without(k, g, holds, refused);
    if (!found) throw error("[plan] rows are held that no kernel holds");
    staging best = std::move(*found);
    // Rows along one axis or rows along another: which to hold is found by trying without.
    for (std::size_t i = 0; i < best.stages.size();) {
        const auto held = held_by(best.stages[i++], g);
        if (!held) continue;
        std::vector<refused_rows> more = refused;
        more.push_back(*held);
        found = cut_without(k, g, holds, more);
        if (!found || cost_of(*found) >= cost_of(best)) continue;
        best = std::move(*found);
        refused = std::move(more);
        i = 0;
    }
    share_values(k, g, holds, refused, best);
    return best;
}

}  // namespace ingot::codegen
