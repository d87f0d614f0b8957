// Makes a stage of each part of a cut graph: its axes, a key of its own, in which temporaries are operands and outputs,
// and a graph of the nodes that it computes.
#include <algorithm>
#include <bit>

#include "codegen/graph/reduction.hpp"
#include "codegen/plan/cutting_state.hpp"

namespace ingot::codegen {

using namespace detail;

std::vector<int> cutting::in_order(node_id id) const {
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

std::vector<int> cutting::axes_of_temporary(node_id id) const {
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

stage cutting::make_stage(const part& p) const {
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

std::uint64_t cutting::choose_axes(stage& s, const part& p, const std::vector<bool>& needed) const {
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
        constexpr std::uint16_t any_contiguous = axis_flags::contiguous_columns | axis_flags::wide_contiguous_columns |
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
        const bool binds = n.kind == node_kind::reduce || n.kind == node_kind::scan || n.kind == node_kind::unravel ||
                           n.kind == node_kind::gather || n.kind == node_kind::thread_fold ||
                           n.kind == node_kind::thread_scan;
        if (!needed[i] || !binds || is_read(i, p.level)) continue;
        const auto owner = static_cast<std::uint16_t>(n.index + 1);
        if (n.kind == node_kind::scan)
            for (const int loop : loops_of_binder(key_, graph_, n.index)) scanned |= axis_bit(loop);
        if (std::any_of(s.key.axes.begin(), s.key.axes.end(), [&](axis_class a) { return a.owner == owner; })) continue;
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

bool cutting::has_many_rows(const stage& s, std::size_t kept_axes, std::uint64_t scanned) const {
    constexpr std::uint8_t longer_than_512 = 6;
    for (std::size_t a = 0; a < key_.axes.size(); ++a)
        if (const int axis = axis_over(s, loop_of(static_cast<int>(a)));
            key_.axes[a].owner != 0 && key_.axes[a].length_class >= longer_than_512 && axis != no_axis &&
            static_cast<std::size_t>(axis) < kept_axes && (scanned >> loop_of(static_cast<int>(a)) & 1) == 0)
            return true;
    return false;
}

bool cutting::is_of_library(int axis) const {
    const std::uint16_t owner = key_.axes[static_cast<std::size_t>(axis)].owner;
    return owner != 0 && std::ranges::any_of(graph_.nodes, [owner](const node& n) {
               return n.kind == node_kind::library && n.index + 1 == owner;
           });
}

void cutting::mark_folded_before(stage& s) const {
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

int cutting::axis_over(const stage& s, int loop) const {
    const auto at = std::find_if(s.axes.begin(), s.axes.end(), [&](int a) { return loop_of(a) == loop; });
    return at == s.axes.end() ? no_axis : static_cast<int>(at - s.axes.begin());
}

std::uint64_t cutting::in_stage(const stage& s, std::uint64_t loops) const {
    std::uint64_t bits = 0;
    for (const int loop : axes_in(loops))
        if (const int a = axis_over(s, loop); a != no_axis) bits |= axis_bit(a);
    return bits;
}

operand_class cutting::in_stage_axes(const stage& s, const operand_class& o, std::vector<int>& at) const {
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

operand_class cutting::contiguous(const stage& s, node_id n, bool rows) const {
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
    o.head.dense = o.head.dense && last != no_axis && o.strides[static_cast<std::size_t>(last)] == stride_class::unit;
    return o;
}

operand_class cutting::viewed(const stage& s, const node& view, std::vector<int>& at) const {
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

void cutting::write_key(stage& s, bool rows) const {
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

std::size_t cutting::number_in(const std::vector<node_id>& nodes, node_id n) {
    return static_cast<std::size_t>(std::ranges::find(nodes, n) - nodes.begin());
}

void cutting::write_graph(stage& s, std::uint32_t level, const std::vector<bool>& needed,
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

}  // namespace ingot::codegen
