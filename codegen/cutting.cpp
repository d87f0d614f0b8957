// A node is cut off, with all that stands above its folds (reductions and scans) on the same axes, where its user moves
// along more axes or folds itself, unless a kernel that holds the row serves both. A stage folds in one way: it has
// reductions, or scans along one axis. Nodes are visited after what they need, so one pass finds the cuts, and the
// number of the stage in which each can be made.
#include "codegen/cutting.hpp"

#include <algorithm>
#include <span>

#include "codegen/kernel.hpp"
#include "codegen/reduction.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr int no_axis = -1;

class cutting {
public:
    cutting(const key& k, const graph& g, const row_uses& uses)
        : key_(k), graph_(g), uses_(uses), nodes_(g.nodes.size()), outer_(outputs_axes(k)) {}

    staging run() {
        find_cuts();
        find_parts();
        staging whole;
        if (cut_.empty() && parts_.size() == 1 && parts_[0].axes == outer_) return whole;
        for (const node_id n : cut_) {
            whole.temporaries.push_back({graph_.nodes[n].type, {.axes = axes_of(n)}});
            whole.temporary_axes.push_back(in_order(axes_of(n)));
        }
        std::ranges::stable_sort(parts_, {}, &part::level);
        for (const part& p : parts_) whole.stages.push_back(make_stage(p));
        return whole;
    }

private:
    struct state {
        bool reduces = false;   // a reduction at or beneath it, with no cut between
        int scans = no_axis;    // the same of scans: the loop along which they go
        bool reshapes = false;  // and of reshapes
        int temporary = -1;
        std::uint32_t level = 0;  // of the first stage in which it can be computed
        bool folds() const { return reduces || scans != no_axis; }
    };

    /// What one stage writes, all of it along the same axes, but for outputs that also move along what it folds over.
    struct part {
        std::uint32_t level;
        std::uint64_t axes;
        node_id folds;  // one of its nodes that does, or any
        std::vector<std::uint16_t> temporaries, outputs;
    };

    std::uint64_t axes_of(node_id n) const { return graph_.nodes[n].axes; }
    std::uint64_t axes_of_output(std::size_t k) const { return codegen::axes_of_output(key_, graph_, k); }

    /// Axes of a temporary, outermost first: in the key's order, but for one along which arrays lie in memory where
    /// they do not lie along the last.
    std::vector<int> in_order(std::uint64_t bits) const {
        std::vector<int> axes = axes_in(bits);
        const auto unit = [&](int loop) {
            for (const operand_class& o : key_.operands)
                for (std::size_t a = 0; a < o.strides.size() && o.head.kind == operand_kind::array; ++a)
                    if (o.strides[a] == stride_class::unit && loop_of(static_cast<int>(a)) == loop) return true;
            return false;
        };
        if (axes.empty() || unit(axes.back())) return axes;
        const auto inner = std::find_if(axes.begin(), axes.end(), unit);
        if (inner != axes.end()) std::rotate(inner, inner + 1, axes.end());
        return axes;
    }

    void cut(node_id n) {
        if (is_cut(n)) return;
        nodes_[n].temporary = static_cast<int>(cut_.size());
        cut_.push_back(n);
    }
    bool is_cut(node_id n) const { return nodes_[n].temporary >= 0; }

    /// Whether one stage can compute both as they stand: they fold in the same way, if they do, and nothing is read at
    /// the digits of a place where anything folds.
    bool go_together(node_id a, node_id b) const {
        const state &one = nodes_[a], &other = nodes_[b];
        if (one.folds() && other.folds()) return one.reduces == other.reduces && one.scans == other.scans;
        return !(one.folds() && other.reshapes) && !(other.folds() && one.reshapes);
    }

    void find_cuts() {
        for (node_id i = 0; i < graph_.nodes.size(); ++i) {
            const node& n = graph_.nodes[i];
            const bool folds = n.kind == node_kind::reduce || n.kind == node_kind::scan;
            const std::span<const node_id> arguments(n.arguments, n.arity);
            for (int a = 0; a < n.arity; ++a) {
                const node_id of = n.arguments[a];
                const row_uses::use use = uses_.of_argument(i, a);
                const bool elsewhere = (folds || axes_of(of) != n.axes) && use != row_uses::use::held;
                if (nodes_[of].folds() && (elsewhere || use == row_uses::use::parted)) cut(of);
                if (nodes_[of].reshapes && folds) cut(of);
            }
            for (const node_id of : arguments)
                for (const node_id other : arguments)
                    if (!is_cut(of) && !is_cut(other) && !go_together(of, other)) cut(other);
            state& now = nodes_[i];
            now.reduces = n.kind == node_kind::reduce;
            now.reshapes = n.kind == node_kind::unravel;
            if (n.kind == node_kind::scan) now.scans = loops_of_binder(key_, graph_, n.index).front();
            for (const node_id of : arguments) {
                const bool read = is_cut(of) && !is_at_hand(of, n);
                now.level = std::max(now.level, nodes_[of].level + (read ? 1 : 0));
                if (read) continue;
                now.reduces = now.reduces || nodes_[of].reduces;
                now.reshapes = now.reshapes || nodes_[of].reshapes;
                if (nodes_[of].scans != no_axis) now.scans = nodes_[of].scans;
            }
        }
        for (std::size_t k = 0; k < graph_.roots.size(); ++k)
            if (nodes_[graph_.roots[k]].folds() && is_broadcast(k)) cut(graph_.roots[k]);
    }

    /// Whether a value that others read from memory is at hand in the kernel that makes its user: what a sum is taken
    /// about, or what one pass folds beside another argument of the user.
    bool is_at_hand(node_id of, const node& user) const {
        if (user.kind == node_kind::about) return true;
        if (user.kind != node_kind::map || axes_of(of) != user.axes || !nodes_[of].folds()) return false;
        return std::any_of(user.arguments, user.arguments + user.arity, [&](node_id other) {
            return !is_cut(other) && nodes_[other].folds() && axes_of(other) == user.axes && go_together(of, other) &&
                   uses_.are_made_together(of, other);
        });
    }

    /// Whether an output repeats its root, in another kernel than that which makes the root.
    bool is_broadcast(std::size_t k) const {
        return axes_of(graph_.roots[k]) != axes_of_output(k) && uses_.of_root(k) != row_uses::use::held;
    }

    bool are_made_together(const part& p, node_id n) const {
        return go_together(p.folds, n) &&
               std::ranges::all_of(roots_of(p), [&](node_id root) { return uses_.are_made_together(root, n); });
    }
    part& part_with(std::uint32_t level, std::uint64_t axes, node_id n) {
        for (part& p : parts_) {
            if (p.level != level || p.axes != axes || !are_made_together(p, n)) continue;
            if (nodes_[n].folds() || nodes_[n].reshapes) p.folds = n;
            return p;
        }
        return parts_.emplace_back(part{level, axes, n, {}, {}});
    }

    void find_parts() {
        for (std::size_t t = 0; t < cut_.size(); ++t)
            part_with(nodes_[cut_[t]].level, axes_of(cut_[t]), cut_[t])
                .temporaries.push_back(static_cast<std::uint16_t>(t));
        // Outputs along the same axes are written together, by the stage that can write the last of them.
        const auto level_of = [&](std::size_t k) {
            const node_id root = graph_.roots[k];
            return nodes_[root].level + (is_broadcast(k) && nodes_[root].temporary >= 0 ? 1 : 0);
        };
        for (std::size_t k = 0; k < graph_.roots.size(); ++k) {
            std::uint32_t level = 0;
            for (std::size_t o = 0; o < graph_.roots.size(); ++o)
                if (axes_of_output(o) == axes_of_output(k) && uses_.are_made_together(graph_.roots[o], graph_.roots[k]))
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

    /// The part whose stage writes along the rows that `p` reduces, and so can write p's results as well.
    part* holding_rows_of(const part& p) {
        const auto roots = roots_of(p);
        for (part& other : parts_) {
            const bool ready = other.level == p.level || (other.level > p.level && p.temporaries.empty());
            const auto holds = [&](node_id root) {
                return nodes_[root].reduces && go_together(other.folds, root) &&
                       uses_.holds_rows(root, other.axes, roots_of(other));
            };
            const bool inside = (p.axes & ~other.axes) == 0;  // and not broadcast along others
            if (&other != &p && inside && ready && !roots.empty() && std::ranges::all_of(roots, holds)) return &other;
        }
        return nullptr;
    }

    /// The part whose stage comes by all places of `p`, which is to write outputs without a reduction.
    part* folding_over(const part& p) {
        const auto folds = [&](std::uint16_t k) {
            return nodes_[graph_.roots[k]].folds() || nodes_[graph_.roots[k]].reshapes;
        };
        if (!p.temporaries.empty() || std::ranges::any_of(p.outputs, folds)) return nullptr;
        for (part& other : parts_)
            if (&other != &p && other.level >= p.level)
                for (const std::uint64_t folded : folded_by(other))
                    if ((folded | other.axes) == p.axes && (folded & other.axes) == 0) return &other;
        return nullptr;
    }
    /// The loops of each reduction that a part's stage makes.
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
            if (needed[i] && !is_read(i, p.level))
                for (int a = 0; a < graph_.nodes[i].arity; ++a) needed[graph_.nodes[i].arguments[a]] = true;
        return needed;
    }

    stage make_stage(const part& p) const {
        stage s;
        s.temporaries = p.temporaries;
        s.outputs = p.outputs;
        const std::vector<bool> needed = needed_by(p);
        choose_axes(s, p, needed);
        write_key(s);
        write_graph(s, p.level, needed, roots_of(p));
        return s;
    }

    void choose_axes(stage& s, const part& p, const std::vector<bool>& needed) const {
        bool reads_temporaries = false;
        for (node_id i = 0; i < needed.size(); ++i)
            reads_temporaries = reads_temporaries || (needed[i] && is_read(i, p.level));
        for (const int a : p.outputs.empty() ? in_order(p.axes) : axes_in(p.axes)) {
            s.axes.push_back(a);
            const axis_class own = key_.axes[static_cast<std::size_t>(a)];
            axis_class axis;
            // Of temporaries nobody said that they are gapless beside the arrays.
            constexpr std::uint8_t any_gapless =
                bucket::gapless_columns | bucket::wide_gapless_columns | bucket::middling_gapless_columns;
            const std::uint8_t known = own.bucket & (reads_temporaries ? ~any_gapless : 0xff);
            if (p.axes == outer_)
                axis.bucket = known, axis.fine = own.fine;
            else if (own.owner == 0)
                axis.bucket = known & (bucket::short_inner | any_gapless);
            s.key.axes.push_back(axis);
        }
        const std::size_t kept = s.axes.size();
        bool scans = false, long_rows = false;
        for (node_id i = 0; i < needed.size(); ++i) {
            const node& n = graph_.nodes[i];
            const bool binds = n.kind == node_kind::reduce || n.kind == node_kind::scan || n.kind == node_kind::unravel;
            if (!needed[i] || !binds || is_read(i, p.level)) continue;
            scans = scans || n.kind == node_kind::scan;
            const std::uint8_t owner = static_cast<std::uint8_t>(n.index + 1);
            if (std::any_of(s.key.axes.begin(), s.key.axes.end(), [&](axis_class a) { return a.owner == owner; }))
                continue;
            for (std::size_t a = 0; a < key_.axes.size(); ++a)
                if (key_.axes[a].owner == owner) {
                    s.axes.push_back(loop_of(static_cast<int>(a)));
                    s.key.axes.push_back({owner, 0, key_.axes[a].bucket, key_.axes[a].fine});
                    long_rows = long_rows || key_.axes[a].bucket >= long_row_bucket;
                }
        }
        if (reads_temporaries) mark_folded_before(s);
        // How many rows a temporary has nobody said; splitting a long row among blocks costs little. Rows that are
        // scanned the key does count.
        const bool few = !key_.axes.empty() && (key_.axes[0].bucket & bucket::few_rows) != 0;
        if (kept != 0 && (few || outer_ == 0 || (long_rows && !s.temporaries.empty() && !scans)))
            s.key.axes[0].bucket |= bucket::few_rows;
        for (std::size_t a = 0; a < s.axes.size(); ++a)
            s.graph.loop_axis.push_back(static_cast<std::uint8_t>(axis_over(s, loop_of(s.axes[a]))));
    }

    /// What the temporaries hold is the same all along these axes.
    void mark_folded_before(stage& s) const {
        constexpr std::uint8_t longer_than_1024 = 7;
        for (std::size_t a = 0; a < key_.axes.size(); ++a) {
            const axis_class& folded = key_.axes[a];
            if (folded.owner == 0 || folded.bucket < longer_than_1024) continue;
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

    /// An operand or output with its strides on the stage's axes, and where on the whole key's these are.
    operand_class placed(const stage& s, const operand_class& o, std::vector<int>& at) const {
        operand_class moved{o.head, std::vector<stride_class>(s.axes.size(), stride_class::broadcast)};
        at.assign(s.axes.size(), no_axis);
        int last = no_axis;
        for (std::size_t a = 0; a < o.strides.size(); ++a) {
            const int to = axis_over(s, loop_of(static_cast<int>(a)));
            if (o.strides[a] == stride_class::broadcast || to == no_axis) continue;
            moved.strides[static_cast<std::size_t>(to)] = o.strides[a];
            moved.head.dense = moved.head.dense && to > last;  // axes in another order make no run
            last = to;
            at[static_cast<std::size_t>(to)] = static_cast<int>(a);
        }
        return moved;
    }
    /// The whole of a temporary, in the order of its axes.
    operand_class contiguous(const stage& s, node_id n) const {
        operand_class o;
        o.head.type = graph_.nodes[n].type;
        o.head.wide = key_.header.wide_index;
        o.strides.assign(s.axes.size(), stride_class::broadcast);
        const std::vector<int> axes = in_order(axes_of(n));
        o.head.vector = axes.size() <= 1;
        for (const int a : axes)
            if (const int to = axis_over(s, a); to != no_axis)
                o.strides[static_cast<std::size_t>(to)] = a == axes.back() ? stride_class::unit : stride_class::strided;
        return o;
    }

    void write_key(stage& s) const {
        s.key.header = key_.header;
        for (const operand_class& o : key_.operands)
            s.key.operands.push_back(placed(s, o, s.operand_axes.emplace_back()));
        for (const node_id n : cut_) {
            s.key.operands.push_back(contiguous(s, n));
            s.key.operands.back().head.same_as = static_cast<std::uint16_t>(s.key.operands.size() - 1);
        }
        for (const std::uint16_t t : s.temporaries) {
            s.key.outputs.push_back(contiguous(s, cut_[t]));
            s.output_axes.emplace_back();
        }
        for (const std::uint16_t k : s.outputs)
            s.key.outputs.push_back(placed(s, key_.outputs[k], s.output_axes.emplace_back()));
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
                n.index =
                    static_cast<std::uint16_t>(key_.operands.size() + static_cast<std::size_t>(nodes_[i].temporary));
            }
            for (int a = 0; a < n.arity; ++a) n.arguments[a] = moved[n.arguments[a]];
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
    std::vector<state> nodes_;
    std::vector<node_id> cut_;  // the node of each temporary
    std::vector<part> parts_;
    std::uint64_t outer_;
};

}  // namespace

staging cut(const key& k, const graph& g, const std::vector<rows>& refused) {
    const row_uses uses(k, g, refused);
    return cutting(k, g, uses).run();
}

}  // namespace ingot::codegen
