// A node is cut off, with all that stands above its reductions on the same axes, where its user moves along more axes
// or is a reduction. Nodes are visited after what they need, so one pass finds the cuts, and the number of the stage in
// which each can be made.
#include "codegen/stages.hpp"

#include <algorithm>

#include "codegen/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr int no_axis = -1;

std::vector<int> axes_in(std::uint64_t bits) {
    std::vector<int> axes;
    for (int a = 0; a < 64; ++a)
        if ((bits >> a & 1u) != 0) axes.push_back(a);
    return axes;
}

class cutting {
public:
    cutting(const key& k, const graph& g) : key_(k), graph_(g), nodes_(g.nodes.size()) {
        for (std::size_t a = 0; a < k.axes.size(); ++a)
            if (k.axes[a].owner == 0) outer_ |= axis_bit(static_cast<int>(a));
    }

    staging run() {
        find_cuts();
        staging whole;
        if (cut_.empty()) return whole;
        for (const node_id n : cut_)
            whole.temporaries.push_back({graph_.nodes[n].type, {.axes = graph_.nodes[n].axes}});
        std::vector<bool> done(cut_.size());
        for (std::uint32_t level = 0; level < last_; ++level)
            for (std::size_t t = 0; t < cut_.size(); ++t) {
                if (done[t] || nodes_[cut_[t]].level != level) continue;
                std::vector<std::uint16_t> together;  // over the same axes: one kernel
                for (std::size_t u = t; u < cut_.size(); ++u)
                    if (nodes_[cut_[u]].level == level && axes_of(cut_[u]) == axes_of(cut_[t])) {
                        together.push_back(static_cast<std::uint16_t>(u));
                        done[u] = true;
                    }
                whole.stages.push_back(make_stage(level, std::move(together)));
            }
        whole.stages.push_back(make_stage(last_, {}));
        return whole;
    }

private:
    struct state {
        bool reduces = false;  // a reduction at or beneath it, with no cut between
        int temporary = -1;
        std::uint32_t level = 0;  // of the first stage in which it can be computed
    };

    std::uint64_t axes_of(node_id n) const { return graph_.nodes[n].axes; }

    void cut(node_id n) {
        if (!nodes_[n].reduces || nodes_[n].temporary >= 0) return;
        nodes_[n].temporary = static_cast<int>(cut_.size());
        cut_.push_back(n);
        last_ = std::max(last_, nodes_[n].level + 1);
    }

    void find_cuts() {
        for (node_id i = 0; i < graph_.nodes.size(); ++i) {
            const node& n = graph_.nodes[i];
            nodes_[i].reduces = n.kind == node_kind::reduce;
            for (int a = 0; a < n.arity; ++a) {
                const node_id of = n.arguments[a];
                if (n.kind == node_kind::reduce || axes_of(of) != n.axes) cut(of);
                const bool through = nodes_[of].temporary >= 0;
                nodes_[i].reduces = nodes_[i].reduces || (nodes_[of].reduces && !through);
                nodes_[i].level = std::max(nodes_[i].level, nodes_[of].level + (through ? 1 : 0));
            }
        }
        for (const node_id r : graph_.roots)
            if (axes_of(r) != outer_) cut(r);
    }

    bool is_read(node_id n, std::uint32_t level) const { return nodes_[n].temporary >= 0 && nodes_[n].level < level; }

    stage make_stage(std::uint32_t level, std::vector<std::uint16_t> writes) const {
        stage s;
        s.writes = std::move(writes);
        std::vector<node_id> roots;
        for (const std::uint16_t t : s.writes) roots.push_back(cut_[t]);
        if (s.writes.empty()) roots = graph_.roots;

        std::vector<bool> needed(graph_.nodes.size());
        for (const node_id r : roots) needed[r] = true;
        for (node_id i = static_cast<node_id>(needed.size()); i-- > 0;)
            if (needed[i] && !is_read(i, level))
                for (int a = 0; a < graph_.nodes[i].arity; ++a) needed[graph_.nodes[i].arguments[a]] = true;

        choose_axes(s, level, needed, s.writes.empty() ? outer_ : axes_of(roots[0]));
        write_key(s);
        write_graph(s, level, needed, roots);
        return s;
    }

    void choose_axes(stage& s, std::uint32_t level, const std::vector<bool>& needed, std::uint64_t kept) const {
        for (const int a : axes_in(kept)) {
            s.axes.push_back(a);
            axis_class axis = s.writes.empty() ? key_.axes[static_cast<std::size_t>(a)] : axis_class{};
            axis.owner = axis.partner = 0;
            s.key.axes.push_back(axis);
        }
        // How many rows a temporary has nobody said; splitting a long row among blocks costs little.
        if (!s.writes.empty() && !s.axes.empty()) s.key.axes[0].bucket |= bucket::few_rows;
        for (node_id i = 0; i < needed.size(); ++i) {
            const node& n = graph_.nodes[i];
            if (!needed[i] || n.kind != node_kind::reduce || is_read(i, level)) continue;
            const std::uint8_t owner = static_cast<std::uint8_t>(n.index + 1);
            if (std::any_of(s.key.axes.begin(), s.key.axes.end(), [&](axis_class a) { return a.owner == owner; }))
                continue;
            for (std::size_t a = 0; a < key_.axes.size(); ++a)
                if (key_.axes[a].owner == owner) {
                    s.axes.push_back(static_cast<int>(a));
                    s.key.axes.push_back({owner, 0, key_.axes[a].bucket});
                }
        }
        for (std::size_t a = 0; a < s.axes.size(); ++a)
            s.graph.loop_axis.push_back(static_cast<std::uint8_t>(axis_over(s, loop_of(s.axes[a]))));
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
        for (std::size_t a = 0; a < o.strides.size(); ++a) {
            const int to = axis_over(s, loop_of(static_cast<int>(a)));
            if (o.strides[a] == stride_class::broadcast || to == no_axis) continue;
            moved.strides[static_cast<std::size_t>(to)] = o.strides[a];
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
        const std::vector<int> axes = axes_in(axes_of(n));
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
        std::vector<int> as_axes;
        for (const std::uint16_t t : s.writes) s.key.outputs.push_back(contiguous(s, cut_[t]));
        if (s.writes.empty())
            for (const operand_class& o : key_.outputs) s.key.outputs.push_back(placed(s, o, as_axes));
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
    }

    const key& key_;
    const graph& graph_;
    std::vector<state> nodes_;
    std::vector<node_id> cut_;  // the node of each temporary
    std::uint64_t outer_ = 0;
    std::uint32_t last_ = 0;  // level of the stage that writes the outputs
};

}  // namespace

staging cut_into_stages(const key& k, const graph& g) { return cutting(k, g).run(); }

void rebind(launch& step, const stage& from, const staging& whole, std::size_t operands) {
    const auto bits = [&](std::uint64_t axes) {
        std::uint64_t b = 0;
        for (const int a : axes_in(axes)) b |= axis_bit(from.axes[static_cast<std::size_t>(a)]);
        return b;
    };
    const auto move = [&](formula& f) {
        f.axes = bits(f.axes);
        f.inner = bits(f.inner);
    };
    for (formula& f : step.formulas) move(f);
    for (formula& f : step.grid) move(f);
    move(step.scratch_count);
    for (work& w : step.work) w.axes = bits(w.axes);

    // How far one step along an axis is in a temporary: the product of the extents of its axes within.
    const auto stride_in = [&](argument& a, std::size_t temporary) {
        const int axis = from.axes[a.axis];
        const std::uint64_t inner = whole.temporaries[temporary].elements.axes & ~axis_range(0, axis + 1);
        step.formulas.push_back({.axes = inner});
        a.kind = argument_kind::count;
        a.index = static_cast<std::uint16_t>(step.formulas.size() - 1);
    };
    for (argument& a : step.arguments) {
        const std::size_t index = a.index;
        const bool reads_temporary = index >= operands;
        switch (a.kind) {
            case argument_kind::operand_pointer:
                if (reads_temporary)
                    a.kind = argument_kind::temporary_pointer, a.index = static_cast<std::uint16_t>(index - operands);
                break;
            case argument_kind::operand_stride:
                if (reads_temporary)
                    stride_in(a, index - operands);
                else
                    a.axis = static_cast<std::uint16_t>(from.operand_axes[index][a.axis]);
                break;
            case argument_kind::output_pointer:
                if (!from.writes.empty()) a.kind = argument_kind::temporary_pointer, a.index = from.writes[index];
                break;
            case argument_kind::output_stride:
                if (!from.writes.empty())
                    stride_in(a, from.writes[index]);
                else
                    a.axis = static_cast<std::uint16_t>(from.axes[a.axis]);
                break;
            default:
                break;
        }
    }

    std::vector<std::uint16_t> arrays;
    for (const std::uint16_t i : step.reads)
        if (i < operands)
            arrays.push_back(i);
        else
            step.reads_temporaries.push_back(static_cast<std::uint16_t>(i - operands));
    step.reads = std::move(arrays);
    if (!from.writes.empty()) {
        step.writes_temporaries = from.writes;
        step.writes.clear();
    }
}

}  // namespace ingot::codegen
