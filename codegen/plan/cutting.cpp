// A node that folds (a reduction or a scan at or below it) becomes a temporary, together with the maps above the fold
// on the same axes, where its user moves along more axes or folds itself, unless one kernel that holds the row serves
// both. A stage folds in one way: reductions, or scans along one axis, or both of the same rows. Nodes are visited
// after their arguments, so one pass finds the cuts, and the earliest stage of each.
#include "codegen/plan/cutting.hpp"

#include <algorithm>
#include <bit>
#include <span>

#include "codegen/graph/reduction.hpp"
#include "codegen/plan/kernel_size.hpp"
#include "codegen/plan/library_calls.hpp"
#include "codegen/plan/thread_folds.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr int no_axis = -1;

class cutting {
public:
    cutting(const key& k, const graph& g, const row_uses& uses, std::span<const shared_value> shared)
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
        for (const shared_value& v : shared)
            for (const shared_value::occurrence& p : v.occurrences) nodes_[p.node].shares = {&v, &p};
        for (node_id i = 0; i < g.nodes.size(); ++i)
            if (g.nodes[i].kind == node_kind::view && calls_.output_of(g.nodes[i].arguments[0]) < 0)
                views_.push_back(i);
    }

    staging run() {
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
            whole.views.push_back({static_cast<std::uint16_t>(nodes_[library].temporary), graph_.nodes[v].pick,
                                   calls_.batch_of(library)});
        }
        for (const node_id n : readings_)
            whole.readings.push_back({static_cast<std::uint16_t>(nodes_[n].temporary), axes_of_temporary(n)});
        std::ranges::stable_sort(parts_, {}, &part::level);
        for (const part& p : parts_) whole.stages.push_back(make_stage(p));
        return whole;
    }

private:
    struct occurrence_of_shared {
        const shared_value* value = nullptr;
        const shared_value::occurrence* at = nullptr;
        explicit operator bool() const { return value != nullptr; }
    };
    struct state {
        bool reduces = false;   // a reduction at or below it, with no cut between
        int scans = no_axis;    // the loop of such scans
        bool reshapes = false;  // such a reshape
        bool loops = false;     // such a fold that a thread makes in a loop of its own
        int temporary = -1;
        occurrence_of_shared shares;  // the value that other nodes share with it
        std::uint32_t level = 0;      // the first stage in which it can be computed
        bool folds() const { return reduces || scans != no_axis; }
    };

    /// The results of one stage, all along the same axes, except outputs that also move along its folded axes.
    struct part {
        std::uint32_t level;
        std::uint64_t axes;
        node_id folds;  // one of its nodes that folds, or any
        std::vector<std::uint16_t> temporaries, outputs;
        bool is_call = false;  // a call of the library function `folds`, whose result is the temporary
    };

    std::uint64_t axes_of(node_id n) const { return graph_.nodes[n].axes; }
    std::uint64_t axes_of_output(std::size_t k) const { return codegen::axes_of_output(key_, graph_, k); }

    /// Axes of a temporary, outermost first, in the key's order. If no array along most of these axes is contiguous
    /// along the last, one along which such an array is becomes the innermost. For an operand's copy other operands and
    /// outputs count.
    std::vector<int> in_order(node_id id) const {
        const std::uint64_t bits = axes_of(id);
        std::vector<int> axes = axes_in(bits);
        std::uint64_t by_one = 0;
        int most = 0;
        const auto count = [&](const operand_class& o) {
            std::uint64_t moves = 0, unit = 0;
            for (std::size_t a = 0; a < o.strides.size(); ++a) {
                const std::uint64_t loop = axis_bit(loop_of(static_cast<int>(a))) & bits;
                if (o.strides[a] != stride_class::broadcast) moves |= loop;
                if (o.strides[a] == stride_class::unit) unit |= loop;
            }
            if (std::popcount(moves) < most || unit == 0) return;
            by_one = std::popcount(moves) > most ? unit : by_one | unit;
            most = std::popcount(moves);
        };
        const node& n = graph_.nodes[id];
        for (const operand_class& o : key_.operands)
            if (o.head.kind == operand_kind::array &&
                (n.kind != node_kind::operand || o.head.same_as != key_.operands[n.index].head.same_as))
                count(o);
        if (n.kind == node_kind::operand) std::ranges::for_each(key_.outputs, count);
        if (axes.empty() || (by_one & axis_bit(axes.back())) != 0) return axes;
        const auto inner = std::ranges::find_if(axes, [&](int loop) { return (by_one & axis_bit(loop)) != 0; });
        if (inner != axes.end()) std::rotate(inner, inner + 1, axes.end());
        return axes;
    }

    /// Axes of a node's value in memory; for a library's operand or result the batch's axes, then its own in order.
    std::vector<int> axes_of_temporary(node_id id) const {
        const node& n = graph_.nodes[id];
        if (is_reading(id)) {
            std::vector<int> axes = axes_of_temporary(made_for(id));
            for (int& a : axes) a = nodes_[id].shares.at->loops[static_cast<std::size_t>(a)];
            return axes;
        }
        if (n.kind != node_kind::store && n.kind != node_kind::library) return in_order(id);
        std::vector<int> axes = axes_in(calls_.batch_of(id));
        for (const int loop : calls_.own_loops(id)) axes.push_back(loop);
        return axes;
    }
    void cut(node_id n, const char* why) {
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
    /// The reason, with the bytes of memory that a value moves, and the cost of computing it again at each use.
    std::string reason_of(node_id id) const {
        const node& n = graph_.nodes[id];
        const bool folds = n.kind == node_kind::reduce || n.kind == node_kind::scan || n.kind == node_kind::thread_fold;
        const std::uint32_t operations = folds ? 1 + cost_of(graph_, {n.arguments[0]}) : cost_of(graph_, {id});
        return std::string(reasons_[static_cast<std::size_t>(nodes_[id].temporary)]) + " (" +
               std::to_string(2 * size_of(n.type)) + " bytes of memory a value; made again, " +
               std::to_string(operations) + (operations == 1 ? " operation" : " operations") +
               (folds ? " for each element that it folds)" : ")");
    }
    bool is_cut(node_id n) const { return nodes_[n].temporary >= 0; }
    bool is_reading(node_id n) const { return nodes_[n].shares && made_for(n) != n; }
    /// The node whose temporary a reading reads.
    node_id made_for(node_id reading) const { return nodes_[reading].shares.value->occurrences[0].node; }

    /// Whether one stage can compute both nodes as they stand: two folds in the same way or over the same rows; a fold
    /// beside no reshape or thread loop; a reshape beside no thread loop.
    bool are_compatible(node_id a, node_id b) const {
        const state &one = nodes_[a], &other = nodes_[b];
        if (one.scans != no_axis && other.scans != no_axis && one.scans != other.scans) return false;
        if (one.folds() && other.folds())
            return (one.reduces == other.reduces && one.scans == other.scans) || uses_.share_rows(a, b);
        const auto conflict = [](const state& s, const state& t) { return s.folds() && (t.reshapes || t.loops); };
        return !conflict(one, other) && !conflict(other, one) && !(one.loops && other.reshapes) &&
               !(one.reshapes && other.loops);
    }

    /// Whether a value within threads' loops costs more than a load and is constant along a long axis of the threads.
    bool is_same_for_many_threads(node_id of, const node& user) const {
        constexpr std::uint32_t reading = 8;
        const node_kind kind = graph_.nodes[of].kind;
        const bool computed = kind == node_kind::map || kind == node_kind::cast || kind == node_kind::user;
        return computed && (axes_of(of) & thread_loops_) != 0 && !nodes_[of].folds() && !nodes_[of].loops &&
               !nodes_[of].reshapes && (user.axes & ~axes_of(of) & ~short_axes_ & ~thread_loops_) != 0 &&
               cost_of(graph_, {of}) >= reading;
    }

    /// Whether vectors compute a value with other bits than single elements would.
    bool is_rounded_by_vectors(node_id of) const {
        return key_.header.where == target::host && calls_inexact(graph_, nodes_below(graph_, {of}), target::host);
    }

    /// Whether vectors do so for any function of the graph.
    bool is_rounded_by_vectors_somewhere() const {
        return key_.header.where == target::host && calls_inexact(graph_, target::host);
    }
    /// Whether a user function reads whole arrays.
    bool reads_raw(const node& n) const {
        return n.kind == node_kind::user && std::any_of(n.arguments, n.arguments + n.arity,
                                                        [this](node_id of) { return is_raw(key_, graph_.nodes[of]); });
    }

    /// Cuts off all nodes up to this one that later nodes still use.
    void cut_behind(node_id last, const std::vector<node_id>& last_user) {
        for (node_id i = 0; i <= last; ++i) {
            const node& n = graph_.nodes[i];
            const bool computed = n.kind == node_kind::map || n.kind == node_kind::cast || n.kind == node_kind::user;
            if (computed && !calls_.computes(i) && last_user[i] > last && (n.axes & thread_loops_) == 0)
                cut(i, "one kernel would hold too many operations");
        }
    }

    void find_cuts() {
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
                if (reads_raw(n) && is_rounded_by_vectors(of)) cut(of, "vectors' idle lanes would read outside");
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
                if (nodes_[of].reshapes && folds) cut(of, "it is read at other places, and folded");
                // A thread's loop is not repeated for each place of a long axis.
                const bool repeats = (n.axes & ~axes_of(of) & ~short_axes_ & ~thread_loops_) != 0;
                if (is_same_for_many_threads(of, n)) cut(of, "each of many threads would make it again");
                if (nodes_[of].loops && (folds || repeats))
                    cut(of, folds ? "many threads fold it" : "it is wanted along a long axis");
                if (n.kind == node_kind::thread_fold && nodes_[of].reshapes)
                    cut(of, "it is read at other places, and folded");
            }
            for (const node_id of : arguments)
                for (const node_id other : arguments)
                    if (!is_cut(of) && !is_cut(other) && !are_compatible(of, other))
                        cut(other, "what stands beside it folds otherwise");
            state& now = nodes_[i];
            now.reduces = n.kind == node_kind::reduce;
            now.reshapes = n.kind == node_kind::unravel || n.kind == node_kind::gather || reads_raw(n);
            if (reads_raw(n) && is_rounded_by_vectors_somewhere()) cut(i, "vectors' idle lanes would read outside");
            now.loops = n.kind == node_kind::thread_fold;
            if (n.kind == node_kind::scan) now.scans = loops_of_binder(key_, graph_, n.index).front();
            for (int a = 0; a < n.arity; ++a) {
                const node_id of = n.arguments[a];
                const bool read = is_cut(of) && !is_at_hand(of, n) && !is_held(i, a);
                now.level = std::max(now.level, nodes_[of].level + (read ? 1 : 0));
                if (read) continue;
                now.reduces = now.reduces || nodes_[of].reduces;
                now.reshapes = now.reshapes || nodes_[of].reshapes;
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

    /// The levels of the nodes whose temporaries are read along other loops too: a reading may precede such a node.
    std::vector<std::uint32_t> levels_of_shared() const {
        std::vector<std::uint32_t> levels;
        for (const shared_value& v : shared_) levels.push_back(nodes_[v.occurrences[0].node].level);
        return levels;
    }
    void find_cuts_again() {
        cut_.clear(), reasons_.clear(), readings_.clear();
        for (node_id n = 0; n < graph_.nodes.size(); ++n) {
            known_level_[n] = nodes_[n].level;
            const occurrence_of_shared shares = nodes_[n].shares;
            nodes_[n] = state();
            nodes_[n].shares = shares;
        }
        find_cuts();
    }

    /// The nodes that are computed or read with the present cuts.
    std::vector<bool> required_nodes() const {
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

    /// Drops the temporaries that nothing reads any more.
    void drop_unread() {
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

    /// Whether the kernel that makes `user` has this value without reading it from memory: the value about which a sum
    /// is taken, or one folded in the same pass as another argument of the user.
    bool is_at_hand(node_id of, const node& user) const {
        if (user.kind == node_kind::shifted) return graph_.nodes[of].kind != node_kind::operand;
        if (nodes_[of].shares || user.kind != node_kind::map || axes_of(of) != user.axes || !nodes_[of].folds())
            return false;
        return std::any_of(user.arguments, user.arguments + user.arity, [&](node_id other) {
            return !is_cut(other) && nodes_[other].folds() && axes_of(other) == user.axes &&
                   are_compatible(of, other) && uses_.can_be_fused(of, other);
        });
    }

    /// Whether the kernel that makes a shared value holds the row of it that `user` needs, and makes the user's other
    /// arguments too.
    bool is_held(node_id user, int argument) const {
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

    /// Whether an output repeats its root, in another kernel than the one that makes the root.
    bool is_broadcast(std::size_t k) const {
        return axes_of(graph_.roots[k]) != axes_of_output(k) && uses_.of_root(k) != row_uses::use::held;
    }

    bool can_be_fused(const part& p, node_id n) const {
        return are_compatible(p.folds, n) &&
               std::ranges::all_of(roots_of(p), [&](node_id root) { return uses_.can_be_fused(root, n); });
    }
    part& part_with(std::uint32_t level, std::uint64_t axes, node_id n) {
        const bool is_call = graph_.nodes[n].kind == node_kind::library;
        for (part& p : parts_) {
            if (is_call || p.is_call || p.level != level || p.axes != axes || !can_be_fused(p, n)) continue;
            if (nodes_[p.folds].folds() && graph_.nodes[n].kind == node_kind::operand && is_cut(n)) continue;
            if (nodes_[n].folds() && graph_.nodes[p.folds].kind == node_kind::operand && is_cut(p.folds)) continue;
            if (nodes_[n].folds() || nodes_[n].reshapes || nodes_[n].loops) p.folds = n;
            return p;
        }
        return parts_.emplace_back(part{level, axes, n, {}, {}, is_call});
    }

    void find_parts() {
        for (std::size_t t = 0; t < cut_.size(); ++t)
            part_with(nodes_[cut_[t]].level, axes_of(cut_[t]), cut_[t])
                .temporaries.push_back(static_cast<std::uint16_t>(t));
        // One stage writes all outputs along the same axes: the first that can write the last of them.
        const auto level_of = [&](std::size_t k) {
            const node_id root = graph_.roots[k];
            const bool read = is_cut(root) && (is_broadcast(k) || is_reading(root));
            return nodes_[root].level + (read ? 1 : 0);
        };
        for (std::size_t k = 0; k < graph_.roots.size(); ++k) {
            if (calls_.writes(k)) {
                const node_id library = calls_.writer_of(k);
                parts_.push_back(
                    {nodes_[library].level, axes_of(library), library, {}, {static_cast<std::uint16_t>(k)}, true});
                continue;
            }
            std::uint32_t level = 0;
            for (std::size_t o = 0; o < graph_.roots.size(); ++o)
                if (!calls_.writes(o) && axes_of_output(o) == axes_of_output(k) &&
                    uses_.can_be_fused(graph_.roots[o], graph_.roots[k]))
                    level = std::max(level, level_of(o));
            part_with(level, axes_of_output(k), graph_.roots[k]).outputs.push_back(static_cast<std::uint16_t>(k));
        }
        for (part& p : parts_)
            if (part* const holds = holding_rows_of(p)) {
                holds->outputs.insert(holds->outputs.end(), p.outputs.begin(), p.outputs.end());
                holds->temporaries.insert(holds->temporaries.end(), p.temporaries.begin(), p.temporaries.end());
                p.outputs.clear(), p.temporaries.clear();
            }
        for (part& p : parts_)
            if (part* const folds = folding_over(p))
                folds->outputs.insert(folds->outputs.end(), p.outputs.begin(), p.outputs.end()), p.outputs.clear();
        std::erase_if(parts_, [](const part& p) { return p.temporaries.empty() && p.outputs.empty(); });
    }

    /// The part whose stage writes along the rows that `p` reduces, and can therefore write p's results as well.
    part* holding_rows_of(const part& p) {
        const auto roots = roots_of(p);
        for (part& other : parts_) {
            const bool ready = other.level == p.level || (other.level > p.level && p.temporaries.empty());
            const auto holds = [&](node_id root) {
                return nodes_[root].reduces && are_compatible(other.folds, root) &&
                       uses_.can_join(root, other.axes, roots_of(other));
            };
            const bool inside = (p.axes & ~other.axes) == 0;  // and not broadcast along other axes
            if (&other != &p && !p.is_call && !other.is_call && inside && ready && !roots.empty() &&
                std::ranges::all_of(roots, holds))
                return &other;
        }
        return nullptr;
    }

    /// The part whose stage folds over all places of `p`; p has outputs only, none of which folds.
    part* folding_over(const part& p) {
        const auto folds = [&](std::uint16_t k) {
            const state& root = nodes_[graph_.roots[k]];
            return root.folds() || root.reshapes || root.loops;
        };
        if (!p.temporaries.empty() || std::ranges::any_of(p.outputs, folds)) return nullptr;
        for (part& other : parts_)
            if (&other != &p && other.level >= p.level)
                for (const std::uint64_t folded : folded_by(other))
                    if ((folded | other.axes) == p.axes && (folded & other.axes) == 0) return &other;
        return nullptr;
    }
    /// The loops of each reduction in a part's stage.
    std::vector<std::uint64_t> folded_by(const part& p) const {
        std::vector<std::uint64_t> folded;
        const std::vector<bool> needed = needed_by(p);
        for (node_id i = 0; i < needed.size(); ++i) {
            if (!needed[i] || graph_.nodes[i].kind != node_kind::reduce || is_read(i, p.level)) continue;
            folded.push_back(rows_of(key_, graph_, graph_.nodes[i]).folded);
        }
        return folded;
    }

    bool is_read(node_id n, std::uint32_t level) const { return nodes_[n].temporary >= 0 && nodes_[n].level < level; }

    std::vector<node_id> roots_of(const part& p) const {
        std::vector<node_id> roots;
        for (const std::uint16_t t : p.temporaries) roots.push_back(cut_[t]);
        for (const std::uint16_t k : p.outputs) roots.push_back(graph_.roots[k]);
        return roots;
    }
    std::vector<bool> needed_by(const part& p) const {
        std::vector<bool> needed(graph_.nodes.size());
        for (const node_id r : roots_of(p)) needed[r] = true;
        for (node_id i = static_cast<node_id>(needed.size()); i-- > 0;)
            if (needed[i] && !is_read(i, p.level) && graph_.nodes[i].kind != node_kind::view)
                for (int a = 0; a < graph_.nodes[i].arity; ++a) needed[graph_.nodes[i].arguments[a]] = true;
        return needed;
    }

    stage make_stage(const part& p) const {
        stage s;
        s.temporaries = p.temporaries;
        s.outputs = p.outputs;
        if (p.is_call) {
            s.call = calls_.make(p.folds, [&](node_id n) {
                return library_calls::placement{static_cast<std::uint16_t>(nodes_[n].temporary), axes_of_temporary(n)};
            });
            return s;
        }
        const std::vector<bool> needed = needed_by(p);
        write_key(s, choose_axes(s, p, needed) == 0);
        write_graph(s, p.level, needed, roots_of(p));
        return s;
    }

    /// Returns the loops along which the stage scans.
    std::uint64_t choose_axes(stage& s, const part& p, const std::vector<bool>& needed) const {
        bool reads_temporaries = false;
        for (node_id i = 0; i < needed.size(); ++i)
            reads_temporaries =
                reads_temporaries || (needed[i] && (is_read(i, p.level) || graph_.nodes[i].kind == node_kind::view));
        const std::vector<int> order = !p.outputs.empty() ? axes_in(p.axes) : axes_of_temporary(cut_[p.temporaries[0]]);
        for (const int a : order) {
            s.axes.push_back(a);
            const axis_class own = key_.axes[static_cast<std::size_t>(a)];
            axis_class axis;
            // No class word tells whether temporaries are contiguous beside the arrays.
            constexpr std::uint16_t any_contiguous = axis_flags::contiguous_columns |
                                                     axis_flags::wide_contiguous_columns |
                                                     axis_flags::middling_contiguous_columns;
            const std::uint16_t known = own.flags & (reads_temporaries ? ~any_contiguous : 0xffff);
            if (p.axes == outer_)
                axis.flags = known, axis.extent = own.extent;
            else if (own.owner == 0)
                axis.flags = known & (axis_flags::short_inner | axis_flags::short_side | any_contiguous);
            else if (is_of_library(a) && a == order.back() && order.size() > 1)
                axis.flags = own.flags & axis_flags::short_inner;
            s.key.axes.push_back(axis);
        }
        const std::size_t kept_axes = s.axes.size();
        bool long_rows = false;
        std::uint64_t scanned = 0;
        for (node_id i = 0; i < needed.size(); ++i) {
            const node& n = graph_.nodes[i];
            const bool binds = n.kind == node_kind::reduce || n.kind == node_kind::scan ||
                               n.kind == node_kind::unravel || n.kind == node_kind::gather ||
                               n.kind == node_kind::thread_fold || n.kind == node_kind::thread_scan;
            if (!needed[i] || !binds || is_read(i, p.level)) continue;
            const auto owner = static_cast<std::uint16_t>(n.index + 1);
            if (n.kind == node_kind::scan)
                for (const int loop : loops_of_binder(key_, graph_, n.index)) scanned |= axis_bit(loop);
            if (std::any_of(s.key.axes.begin(), s.key.axes.end(), [&](axis_class a) { return a.owner == owner; }))
                continue;
            for (std::size_t a = 0; a < key_.axes.size(); ++a)
                if (key_.axes[a].owner == owner) {
                    s.axes.push_back(loop_of(static_cast<int>(a)));
                    s.key.axes.push_back(key_.axes[a]);
                    s.key.axes.back().partner = 0;
                    long_rows = long_rows || key_.axes[a].length_class >= long_row_class;
                }
        }
        if (reads_temporaries) mark_folded_before(s);
        // No class word tells how many rows a temporary has, unless a fold walks the axis that numbers them; splitting
        // a long row among blocks costs little. For scanned rows the key has the count.
        const bool few = !key_.axes.empty() && (key_.axes[0].flags & axis_flags::few_rows) != 0;
        if (kept_axes != 0 && !has_many_rows(s, kept_axes, scanned) &&
            (few || outer_ == 0 || (long_rows && !s.temporaries.empty() && scanned == 0)))
            s.key.axes[0].flags |= axis_flags::few_rows;
        for (std::size_t a = 0; a < s.axes.size(); ++a)
            s.graph.loop_axis.push_back(static_cast<std::uint8_t>(axis_over(s, loop_of(s.axes[a]))));
        return scanned;
    }

    /// Whether one of a stage's first `kept_axes` axes is known to be long; the scanned axis does not count, as rows
    /// lie along it.
    bool has_many_rows(const stage& s, std::size_t kept_axes, std::uint64_t scanned) const {
        constexpr std::uint8_t longer_than_512 = 6;
        for (std::size_t a = 0; a < key_.axes.size(); ++a)
            if (const int axis = axis_over(s, loop_of(static_cast<int>(a)));
                key_.axes[a].owner != 0 && key_.axes[a].length_class >= longer_than_512 && axis != no_axis &&
                static_cast<std::size_t>(axis) < kept_axes && (scanned >> loop_of(static_cast<int>(a)) & 1) == 0)
                return true;
        return false;
    }

    bool is_of_library(int axis) const {
        const std::uint16_t owner = key_.axes[static_cast<std::size_t>(axis)].owner;
        return owner != 0 && std::ranges::any_of(graph_.nodes, [owner](const node& n) {
                   return n.kind == node_kind::library && n.index + 1 == owner;
               });
    }

    /// Marks axes along which the temporaries are constant, as an earlier stage folded them.
    void mark_folded_before(stage& s) const {
        constexpr std::uint8_t longer_than_1024 = 7;
        for (std::size_t a = 0; a < key_.axes.size(); ++a) {
            const axis_class& folded = key_.axes[a];
            if (folded.owner == 0 || folded.length_class < longer_than_1024) continue;
            if (a > 0 && key_.axes[a - 1].owner == folded.owner) continue;
            if (const int axis = axis_over(s, loop_of(static_cast<int>(a)));
                axis != no_axis && s.key.axes[static_cast<std::size_t>(axis)].owner == 0)
                s.key.folded_before |= axis_bit(axis);
        }
    }

    int loop_of(int axis) const { return graph_.loop_axis[static_cast<std::size_t>(axis)]; }
    /// The stage's first axis whose loop this is.
    int axis_over(const stage& s, int loop) const {
        const auto at = std::find_if(s.axes.begin(), s.axes.end(), [&](int a) { return loop_of(a) == loop; });
        return at == s.axes.end() ? no_axis : static_cast<int>(at - s.axes.begin());
    }
    std::uint64_t in_stage(const stage& s, std::uint64_t loops) const {
        std::uint64_t bits = 0;
        for (const int loop : axes_in(loops))
            if (const int a = axis_over(s, loop); a != no_axis) bits |= axis_bit(a);
        return bits;
    }

    /// An operand or output with its strides on the stage's axes; `at`: the axes of these strides in the whole key.
    operand_class in_stage_axes(const stage& s, const operand_class& o, std::vector<int>& at) const {
        operand_class moved{o.head, std::vector<stride_class>(s.axes.size(), stride_class::broadcast)};
        at.assign(s.axes.size(), no_axis);
        int last = no_axis;
        for (std::size_t a = 0; a < o.strides.size(); ++a) {
            const int to = axis_over(s, loop_of(static_cast<int>(a)));
            if (o.strides[a] == stride_class::broadcast || to == no_axis) continue;
            moved.strides[static_cast<std::size_t>(to)] = o.strides[a];
            moved.head.dense = moved.head.dense && to > last;  // axes in another order are no run
            last = to;
            at[static_cast<std::size_t>(to)] = static_cast<int>(a);
        }
        // For columns that are scanned whole the key's order is not the order of their run.
        moved.head.dense =
            moved.head.dense && last != no_axis && moved.strides[static_cast<std::size_t>(last)] == stride_class::unit;
        return moved;
    }
    /// A whole temporary, in the order of its axes. It is one run where rows are asked for and the stage walks it so.
    operand_class contiguous(const stage& s, node_id n, bool rows) const {
        operand_class o;
        o.head.type = graph_.nodes[n].type;
        o.head.wide = key_.header.wide_index;
        o.strides.assign(s.axes.size(), stride_class::broadcast);
        const std::vector<int> axes = axes_of_temporary(n);
        o.head.vector = axes.size() <= 1;
        int last = no_axis;
        o.head.dense = rows;
        for (const int a : axes)
            if (const int to = axis_over(s, a); to != no_axis) {
                o.strides[static_cast<std::size_t>(to)] = a == axes.back() ? stride_class::unit : stride_class::strided;
                o.head.dense = o.head.dense && to > last;
                last = to;
            }
        o.head.dense =
            o.head.dense && last != no_axis && o.strides[static_cast<std::size_t>(last)] == stride_class::unit;
        return o;
    }

    /// A library's result as a pick reads it; `at`: the pick's axes on the whole key.
    operand_class viewed(const stage& s, const node& view, std::vector<int>& at) const {
        const operand_class& pick = key_.operands[view.pick];
        operand_class o = in_stage_axes(s, pick, at);
        o.head = {};
        o.head.type = view.type;
        o.head.wide = key_.header.wide_index || pick.head.wide;
        o.head.vector = pick.head.vector;
        for (const int loop : axes_in(calls_.batch_of(view.arguments[0])))
            if (const int to = axis_over(s, loop); to != no_axis)
                o.strides[static_cast<std::size_t>(to)] = stride_class::strided;
        return o;
    }

    void write_key(stage& s, bool rows) const {
        s.key.header = key_.header;
        for (const operand_class& o : key_.operands)
            s.key.operands.push_back(in_stage_axes(s, o, s.operand_axes.emplace_back()));
        for (const node_id n : cut_) {
            s.key.operands.push_back(contiguous(s, n, rows));
            s.key.operands.back().head.same_as = static_cast<std::uint16_t>(s.key.operands.size() - 1);
        }
        s.operand_axes.resize(s.key.operands.size());
        for (const node_id v : views_) {
            s.key.operands.push_back(viewed(s, graph_.nodes[v], s.operand_axes.emplace_back()));
            s.key.operands.back().head.same_as = static_cast<std::uint16_t>(s.key.operands.size() - 1);
        }
        for (const node_id n : readings_) {
            s.key.operands.push_back(contiguous(s, n, rows));
            s.key.operands.back().head.same_as = static_cast<std::uint16_t>(s.key.operands.size() - 1);
        }
        s.operand_axes.resize(s.key.operands.size());
        for (const std::uint16_t t : s.temporaries) {
            s.key.outputs.push_back(contiguous(s, cut_[t], rows));
            s.output_axes.emplace_back();
        }
        for (const std::uint16_t k : s.outputs)
            s.key.outputs.push_back(in_stage_axes(s, key_.outputs[k], s.output_axes.emplace_back()));
    }

    static std::size_t number_in(const std::vector<node_id>& nodes, node_id n) {
        return static_cast<std::size_t>(std::ranges::find(nodes, n) - nodes.begin());
    }

    void write_graph(stage& s, std::uint32_t level, const std::vector<bool>& needed,
                     const std::vector<node_id>& roots) const {
        std::vector<node_id> moved(graph_.nodes.size(), no_node);
        for (node_id i = 0; i < needed.size(); ++i) {
            if (!needed[i]) continue;
            node n = graph_.nodes[i];
            if (is_read(i, level)) {
                n = node{};
                n.type = graph_.nodes[i].type;
                n.index = static_cast<std::uint16_t>(
                    is_reading(i) ? key_.operands.size() + cut_.size() + views_.size() + number_in(readings_, i)
                                  : key_.operands.size() + static_cast<std::size_t>(nodes_[i].temporary));
            }
            if (n.kind == node_kind::view) {
                n = node{};
                n.type = graph_.nodes[i].type;
                n.index = static_cast<std::uint16_t>(key_.operands.size() + cut_.size() + number_in(views_, i));
            }
            for (int a = 0; a < n.arity; ++a) n.arguments[a] = moved[n.arguments[a]];
            if (n.kind == node_kind::store) {  // the temporary that the stage writes
                moved[i] = n.arguments[0];
                continue;
            }
            n.axes = in_stage(s, axes_of(i));
            moved[i] = static_cast<node_id>(s.graph.nodes.size());
            s.graph.nodes.push_back(n);
        }
        for (const node_id r : roots) s.graph.roots.push_back(moved[r]);
        s.graph.texts = graph_.texts;
    }

    const key& key_;
    const graph& graph_;
    const row_uses& uses_;
    std::span<const shared_value> shared_;
    const library_calls calls_;
    std::vector<state> nodes_;
    std::vector<std::uint32_t> known_level_;  // of each node, at the previous cut
    std::vector<node_id> cut_;                // the node of each temporary
    std::vector<const char*> reasons_;        // the reason of each temporary
    std::vector<node_id> readings_;           // nodes whose values are the temporaries of other nodes
    std::vector<node_id> views_;              // views of libraries' results
    std::vector<part> parts_;
    std::uint64_t outer_;
    std::uint64_t short_axes_, thread_loops_;
};

}  // namespace

staging cut(const key& k, const graph& g, const std::vector<refused_rows>& refused,
            std::span<const shared_value> shared) {
    const row_uses uses(k, g, refused);
    return cutting(k, g, uses, shared).run();
}

}  // namespace ingot::codegen
