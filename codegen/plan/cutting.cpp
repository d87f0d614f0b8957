// A node that folds (a reduction or a scan at or below it) becomes a temporary, together with the maps above the fold
// on the same axes, where its user moves along more axes or folds itself, unless one kernel that holds the row serves
// both. A stage folds in one way: reductions, or scans along one axis, or both of the same rows. Nodes are visited
// after their arguments, so one pass finds the cuts, and the earliest stage of each.
#include "codegen/plan/cutting.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "codegen/graph/reduction.hpp"
#include "codegen/plan/cutting_state.hpp"
#include "codegen/plan/kernel_size.hpp"
#include "codegen/plan/thread_folds.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

cutting::cutting(const key& k, const graph& g, const row_uses& uses, std::span<const shared_value> shared)
    : key_(k),
      graph_(g),
      uses_(uses),
      shared_(shared),
      calls_(k, g),
      nodes_(g.nodes.size()),
      known_level_(g.nodes.size()),
      outer_(outputs_axes(k)),
      short_axes_(short_axes(k)),
      thread_loops_(thread_loops(k, g)) {
    for (const node& n : g.nodes)
        only_maps_ = only_maps_ && (n.kind == node_kind::map || n.kind == node_kind::cast ||
                                    n.kind == node_kind::user || n.kind == node_kind::operand);
    for (const shared_value& v : shared)
        for (const shared_value::occurrence& p : v.occurrences) nodes_[p.node].shares = {&v, &p};
    for (node_id i = 0; i < g.nodes.size(); ++i)
        if (g.nodes[i].kind == node_kind::view && calls_.output_of(g.nodes[i].arguments[0]) < 0) views_.push_back(i);
}

staging cutting::run() {
    find_cuts();
    for (std::vector<std::uint32_t> before; levels_of_shared() != before; find_cuts_again())
        before = levels_of_shared();
    if (!shared_.empty()) drop_unread();
    find_parts();
    staging whole;
    if (cut_.empty() && parts_.size() == 1 && !parts_[0].is_call && parts_[0].axes == outer_) return whole;
    for (const node_id n : cut_) {
        whole.temporaries.push_back({graph_.nodes[n].type, points_of(axes_of(n))});
        whole.temporary_axes.push_back(axes_of_temporary(n));
        whole.reasons.push_back(reason_of(n));
    }
    for (const node_id v : views_) {
        const node_id library = graph_.nodes[v].arguments[0];
        whole.views.push_back(
            {static_cast<std::uint16_t>(nodes_[library].temporary), graph_.nodes[v].pick, calls_.batch_of(library)});
    }
    for (const node_id n : readings_)
        whole.readings.push_back({static_cast<std::uint16_t>(nodes_[n].temporary), axes_of_temporary(n)});
    std::ranges::stable_sort(parts_, {}, &part::level);
    for (const part& p : parts_) whole.stages.push_back(make_stage(p));
    return whole;
}

void cutting::cut(node_id n, const char* why) {
    if (is_cut(n)) return;
    if (is_reading(n)) {
        cut(made_for(n), why);
        nodes_[n].temporary = nodes_[made_for(n)].temporary;
        nodes_[n].level = known_level_[made_for(n)];
        readings_.push_back(n);
        return;
    }
    nodes_[n].temporary = static_cast<int>(cut_.size());
    cut_.push_back(n);
    reasons_.push_back(why);
}

std::string cutting::reason_of(node_id id) const {
    const node& n = graph_.nodes[id];
    const bool folds = n.kind == node_kind::reduce || n.kind == node_kind::scan || n.kind == node_kind::thread_fold;
    const std::uint32_t operations = folds ? 1 + cost_of(graph_, {n.arguments[0]}) : cost_of(graph_, {id});
    return std::string(reasons_[static_cast<std::size_t>(nodes_[id].temporary)]) + " (" +
           std::to_string(2 * size_of(n.type)) + " bytes of memory a value; made again, " + std::to_string(operations) +
           (operations == 1 ? " operation" : " operations") + (folds ? " for each element that it folds)" : ")");
}

bool cutting::are_compatible(node_id a, node_id b) const {
    const state &one = nodes_[a], &other = nodes_[b];
    if (one.scans != no_axis && other.scans != no_axis && one.scans != other.scans) return false;
    if (one.folds() && other.folds())
        return (one.reduces == other.reduces && one.scans == other.scans) || uses_.share_rows(a, b);
    const auto conflict = [&](node_id fold, node_id beside) {
        const state &s = nodes_[fold], &t = nodes_[beside];
        return s.folds() && (t.reshapes || t.loops || (t.gathers && !uses_.gathers_rows(fold, beside)));
    };
    return !conflict(a, b) && !conflict(b, a) && !(one.loops && other.reads_elsewhere()) &&
           !(one.reads_elsewhere() && other.loops);
}

bool cutting::is_same_for_many_threads(node_id of, const node& user) const {
    constexpr std::uint32_t reading = 8;
    const node_kind kind = graph_.nodes[of].kind;
    const bool computed = kind == node_kind::map || kind == node_kind::cast || kind == node_kind::user;
    return computed && (axes_of(of) & thread_loops_) != 0 && !nodes_[of].folds() && !nodes_[of].loops &&
           !nodes_[of].reads_elsewhere() && (user.axes & ~axes_of(of) & ~short_axes_ & ~thread_loops_) != 0 &&
           cost_of(graph_, {of}) >= reading;
}

bool cutting::is_repeated_at_cost(node_id of, const node& user) const {
    // On a GPU that much arithmetic is done while an element of memory is moved.
    const bool on_host = key_.header.where == target::host;
    const std::uint32_t worth_reading = on_host ? 8 : 24;
    const node_kind kind = graph_.nodes[of].kind;
    const bool computed = kind == node_kind::map || kind == node_kind::cast || kind == node_kind::user;
    const std::uint64_t axes = axes_of(of),
                        inner = outer_ == 0 ? 0 : axis_bit(static_cast<int>(std::bit_width(outer_)) - 1);
    // The host computes a value that is constant along a row once for the row, and so do packed strips of short rows.
    const std::uint64_t worth_memory = axes & ~short_axes_ & (on_host ? inner : ~std::uint64_t{0});
    return only_maps_ && computed && worth_memory != 0 && (user.axes & ~axes & ~short_axes_) != 0 &&
           !nodes_[of].reads_elsewhere() && cost_of(graph_, {of}) >= worth_reading;
}

bool cutting::is_rounded_by_vectors(node_id of) const {
    return key_.header.where == target::host && calls_inexact(graph_, nodes_below(graph_, {of}), target::host);
}

bool cutting::has_whole_vectors(const std::vector<bool>& among) const {
    if (key_.header.where != target::host) return false;
    for (node_id i = 0; i < among.size(); ++i) {
        const node& n = graph_.nodes[i];
        if (among[i] && n.kind == node_kind::operand &&
            key_.operands[n.index].head.kind == detail::operand_kind::generator &&
            static_cast<detail::generator_kind>(n.code) != detail::generator_kind::position)
            return true;
    }
    return calls_inexact(graph_, among, target::host);
}

bool cutting::reads_raw(const node& n) const {
    return n.kind == node_kind::user && std::any_of(n.arguments, n.arguments + n.arity,
                                                    [this](node_id of) { return is_raw(key_, graph_.nodes[of]); });
}

void cutting::cut_behind(node_id last, const std::vector<node_id>& last_user) {
    for (node_id i = 0; i <= last; ++i) {
        const node& n = graph_.nodes[i];
        const bool computed = n.kind == node_kind::map || n.kind == node_kind::cast || n.kind == node_kind::user;
        if (computed && !calls_.computes(i) && last_user[i] > last && (n.axes & thread_loops_) == 0)
            cut(i, "one kernel would hold too many operations");
    }
}

void cutting::find_cuts() {
    const std::vector<bool> everywhere(graph_.nodes.size(), true);
    const std::vector<bool> ends = ends_of_kernels(graph_);
    std::vector<node_id> last_user(graph_.nodes.size());
    for (node_id i = 0; i < graph_.nodes.size(); ++i)
        for (int a = 0; a < graph_.nodes[i].arity; ++a) last_user[graph_.nodes[i].arguments[a]] = i;
    for (node_id i = 0; i < graph_.nodes.size(); ++i) {
        const node& n = graph_.nodes[i];
        const bool folds = n.kind == node_kind::reduce || n.kind == node_kind::scan;
        const std::span<const node_id> arguments(n.arguments, n.arity);
        if (n.kind == node_kind::gather && is_rounded_by_vectors(n.arguments[1]))
            cut(n.arguments[1], "an index is computed by single elements, which round otherwise");
        for (const node_id of : arguments)
            if (reads_raw(n) && has_whole_vectors(nodes_below(graph_, {of})))
                cut(of, "vectors' idle lanes would read outside");
        for (int a = 0; a < n.arity; ++a) {
            const node_id of = n.arguments[a];
            const bool moves_elsewhere = n.kind == node_kind::scatter || n.kind == node_kind::gather;
            if (moves_elsewhere && (nodes_[of].folds() || nodes_[of].loops))
                cut(of, n.kind == node_kind::gather ? "a gather takes it" : "it is scattered");
            const row_uses::use use = uses_.of_argument(i, a);
            const bool elsewhere = (folds || axes_of(of) != n.axes) && use != row_uses::use::held;
            if (nodes_[of].folds() && elsewhere)
                cut(of, folds ? "what wants it folds along other axes" : "it is wanted along more axes");
            if (nodes_[of].folds() && use == row_uses::use::parted) cut(of, "beside it other rows are folded");
            if (folds && (nodes_[of].reshapes ||
                          (nodes_[of].gathers && !(n.kind == node_kind::reduce && uses_.gathers_rows(i, of)))))
                cut(of, "it is read at other places, and folded");
            // A thread's loop is not repeated for each place of a long axis.
            const bool repeats = (n.axes & ~axes_of(of) & ~short_axes_ & ~thread_loops_) != 0;
            if (is_same_for_many_threads(of, n)) cut(of, "each of many threads would make it again");
            if (is_repeated_at_cost(of, n)) cut(of, "each index of a long axis would make it again");
            if (nodes_[of].loops && (folds || repeats))
                cut(of, folds ? "many threads fold it" : "it is wanted along a long axis");
            if (n.kind == node_kind::thread_fold && nodes_[of].reads_elsewhere())
                cut(of, "it is read at other places, and folded");
        }
        for (const node_id of : arguments)
            for (const node_id other : arguments)
                if (!is_cut(of) && !is_cut(other) && !are_compatible(of, other))
                    cut(other, "what stands beside it folds otherwise");
        state& now = nodes_[i];
        now.reduces = n.kind == node_kind::reduce;
        now.reshapes = n.kind == node_kind::unravel || reads_raw(n);
        now.gathers = n.kind == node_kind::gather;
        if (reads_raw(n) && has_whole_vectors(everywhere)) cut(i, "vectors' idle lanes would read outside");
        now.loops = n.kind == node_kind::thread_fold;
        if (n.kind == node_kind::scan) now.scans = loops_of_binder(key_, graph_, n.index).front();
        for (int a = 0; a < n.arity; ++a) {
            const node_id of = n.arguments[a];
            const bool read = is_cut(of) && !is_at_hand(of, n) && !is_held(i, a);
            now.level = std::max(now.level, nodes_[of].level + (read ? 1 : 0));
            if (read) continue;
            now.reduces = now.reduces || nodes_[of].reduces;
            now.reshapes = now.reshapes || nodes_[of].reshapes;
            now.gathers = now.gathers || nodes_[of].gathers;
            now.loops = now.loops || nodes_[of].loops;
            if (nodes_[of].scans != no_axis) now.scans = nodes_[of].scans;
        }
        if (n.kind == node_kind::store || (n.kind == node_kind::library && calls_.output_of(i) < 0))
            cut(i, n.kind == node_kind::store ? "a library takes it" : "a library makes it");
        if (now.shares)
            cut(i, n.kind == node_kind::operand ? "it lies across what is read beside it"
                                                : "it is wanted along other loops, too");
        if (ends[i]) cut_behind(i, last_user);
    }
    for (std::size_t k = 0; k < graph_.roots.size(); ++k)
        if ((nodes_[graph_.roots[k]].folds() || nodes_[graph_.roots[k]].loops) && is_broadcast(k))
            cut(graph_.roots[k], "a result repeats it");
}

std::vector<std::uint32_t> cutting::levels_of_shared() const {
    std::vector<std::uint32_t> levels;
    for (const shared_value& v : shared_) levels.push_back(nodes_[v.occurrences[0].node].level);
    return levels;
}

void cutting::find_cuts_again() {
    cut_.clear(), reasons_.clear(), readings_.clear();
    for (node_id n = 0; n < graph_.nodes.size(); ++n) {
        known_level_[n] = nodes_[n].level;
        const occurrence_of_shared shares = nodes_[n].shares;
        nodes_[n] = state();
        nodes_[n].shares = shares;
    }
    find_cuts();
}

std::vector<bool> cutting::required_nodes() const {
    std::vector<bool> required(graph_.nodes.size());
    for (const node_id root : graph_.roots) required[root] = true;
    for (bool more = true; more;) {
        more = false;
        for (node_id i = static_cast<node_id>(required.size()); i-- > 0;) {
            if (!required[i]) continue;
            if (is_reading(i)) {
                more = more || !required[made_for(i)];
                required[made_for(i)] = true;
                continue;
            }
            for (int a = 0; a < graph_.nodes[i].arity; ++a) required[graph_.nodes[i].arguments[a]] = true;
        }
    }
    return required;
}

void cutting::drop_unread() {
    const std::vector<bool> required = required_nodes();
    std::vector<node_id> remaining;
    std::vector<const char*> reasons;
    for (const node_id n : cut_) {
        const char* const why = reasons_[static_cast<std::size_t>(nodes_[n].temporary)];
        nodes_[n].temporary = -1;
        if (!required[n]) continue;
        nodes_[n].temporary = static_cast<int>(remaining.size());
        remaining.push_back(n);
        reasons.push_back(why);
    }
    cut_ = std::move(remaining), reasons_ = std::move(reasons);
    std::erase_if(readings_, [&](node_id n) { return !required[n]; });
    for (const node_id n : readings_) nodes_[n].temporary = nodes_[made_for(n)].temporary;
}

bool cutting::is_at_hand(node_id of, const node& user) const {
    if (user.kind == node_kind::shifted) return graph_.nodes[of].kind != node_kind::operand;
    if (nodes_[of].shares || user.kind != node_kind::map || axes_of(of) != user.axes || !nodes_[of].folds())
        return false;
    return std::any_of(user.arguments, user.arguments + user.arity, [&](node_id other) {
        return !is_cut(other) && nodes_[other].folds() && axes_of(other) == user.axes && are_compatible(of, other) &&
               uses_.can_be_fused(of, other);
    });
}

bool cutting::is_held(node_id user, int argument) const {
    const node& n = graph_.nodes[user];
    const auto may_be_held = [&](int a) {
        const node_id of = n.arguments[a];
        return nodes_[of].shares && !is_reading(of) && uses_.of_argument(user, a) == row_uses::use::held;
    };
    if (!may_be_held(argument)) return false;
    for (int a = 0; a < n.arity; ++a)
        if ((!is_cut(n.arguments[a]) || may_be_held(a)) && !are_compatible(n.arguments[argument], n.arguments[a]))
            return false;
    return true;
}

bool cutting::is_broadcast(std::size_t k) const {
    return axes_of(graph_.roots[k]) != axes_of_output(k) && uses_.of_root(k) != row_uses::use::held;
}

staging cut(const key& k, const graph& g, const std::vector<refused_rows>& refused,
            std::span<const shared_value> shared) {
    const row_uses uses(k, g, refused);
    return cutting(k, g, uses, shared).run();
}

}  // namespace ingot::codegen
