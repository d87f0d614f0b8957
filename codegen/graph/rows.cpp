// Finds rows from below: a node has the rows of the reductions and scans below it, as long as one kernel computes them
// all.
#include "codegen/graph/rows.hpp"

#include <algorithm>
#include <bit>

namespace ingot::codegen {

namespace {

/// Stands for the folded axes of several reductions side by side, each over axes of its own.
constexpr std::uint64_t mixed_axes = ~std::uint64_t{0};

bool within(std::uint64_t axes, std::uint64_t others) { return (axes & ~others) == 0; }

bool is_fold(const node& n) { return n.kind == node_kind::reduce || n.kind == node_kind::scan; }

/// Whether a row program may read a gather: a GPU's threads find the place of a row once.
bool may_gather_rows(const key& k, const graph& g, const node& gather) {
    if (k.header.where != detail::target::cuda) return false;
    std::uint64_t bound = 0;
    for (const int a : loops_of_binder(k, g, gather.index)) bound |= axis_bit(a);
    std::vector<bool> below(g.nodes.size());
    for (int a = 0; a < gather.arity; ++a) below[gather.arguments[a]] = true;
    for (auto i = static_cast<node_id>(below.size()); i-- > 0;) {
        if (!below[i]) continue;
        const node& n = g.nodes[i];
        if (n.kind == node_kind::operand) {
            const bool drawn = k.operands[n.index].head.kind == detail::operand_kind::generator;
            if (drawn && (n.axes & bound) != 0) return false;
        } else if (n.kind != node_kind::map && n.kind != node_kind::cast && n.kind != node_kind::constant &&
                   n.kind != node_kind::gather) {
            return false;
        }
        for (int a = 0; a < n.arity; ++a) below[n.arguments[a]] = true;
    }
    return true;
}

}  // namespace

std::vector<node_id> row_program::computed_nodes(const graph& g, std::size_t phase) const {
    if (phase == phases.size()) return g.roots;
    std::vector<node_id> values;
    for (const node_id r : phases[phase]) values.push_back(g.nodes[r].arguments[0]);
    return values;
}

std::vector<node_id> row_program::scans(const graph& g) const {
    std::vector<node_id> found;
    for (const std::vector<node_id>& phase : phases)
        for (const node_id n : phase)
            if (g.nodes[n].kind == node_kind::scan) found.push_back(n);
    return found;
}

std::uint64_t outputs_axes(const key& k) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0) axes |= axis_bit(static_cast<int>(a));
    return axes;
}

std::vector<int> loops_of_binder(const key& k, const graph& g, std::uint16_t binder) {
    std::vector<int> loops;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == binder + 1) loops.push_back(g.loop_axis[a]);
    return loops;
}

rows rows_of(const key& k, const graph& g, const node& fold) {
    rows r{fold.axes, 0};
    for (const int a : loops_of_binder(k, g, fold.index)) r.folded |= axis_bit(a);
    r.kept_axes &= ~r.folded;  // a scan's values also move along its row
    return r;
}

std::optional<row_program> find_row_program(const key& k, const graph& g) {
    std::optional<row_program> found;
    std::vector<std::size_t> phase(g.nodes.size());  // the first phase in which a node's value can be computed
    std::uint64_t kept_axes = 0, gathered = 0, indices = 0;
    bool reduces = false;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind == node_kind::unravel) return {};
        if (n.kind == node_kind::gather) {
            if (!may_gather_rows(k, g, n)) return {};
            for (const int a : loops_of_binder(k, g, n.index)) gathered |= axis_bit(a);
            indices |= g.nodes[n.arguments[1]].axes;
        }
        for (int a = 0; a < n.arity; ++a) phase[i] = std::max(phase[i], phase[n.arguments[a]]);
        if (!is_fold(n)) continue;
        reduces = reduces || n.kind == node_kind::reduce;
        std::vector<int> row = loops_of_binder(k, g, n.index);
        const std::uint64_t others = rows_of(k, g, n).kept_axes;
        if (!found) {
            found.emplace();
            found->row = row;
            kept_axes = others;
        }
        for (const axis_class& a : k.axes)
            if (a.owner == n.index + 1) found->length_class = std::max(found->length_class, a.length_class);
        if (row.empty() || row != found->row || others != kept_axes) return {};
        for (std::size_t a = 0; a < k.axes.size(); ++a)  // facts from axes that walk the row again
            if (k.axes[a].owner != 0 && g.loop_axis[a] == row.back())
                found->subclass = std::max(found->subclass, k.axes[a].subclass);
        found->phases.resize(std::max(found->phases.size(), phase[i] + 1));
        found->phases[phase[i]++].push_back(i);
    }
    if (!found || (!reduces && found->phases.size() == 1)) return {};
    const std::uint64_t outputs = outputs_axes(k), row = found->row_bits();
    const bool along = within(row, outputs);  // outputs move along the row
    if (kept_axes != (outputs & ~row) || (!along && (row & outputs) != 0)) return {};
    if (!along && found->phases.size() == 1) return {};
    if (!within(indices, kept_axes | gathered)) return {};
    for (const node& n : g.nodes)
        if (!within(n.axes, kept_axes | row | gathered)) return {};
    found->kept_axes = axes_in(kept_axes);
    found->gathered = gathered;
    return found;
}

std::uint64_t axes_of_output(const key& k, const graph& g, std::size_t output) {
    const node& root = g.nodes[g.roots[output]];
    // A value added repeatedly along an axis without strides counts each time.
    const bool counts =
        root.kind == node_kind::scatter && static_cast<detail::scatter_rule>(root.code) == detail::scatter_rule::add;
    std::uint64_t axes = outputs_axes(k) & (counts ? ~std::uint64_t{0} : root.axes);
    const std::vector<stride_class>& strides = k.outputs[output].strides;
    for (std::size_t a = 0; a < strides.size(); ++a)
        if (strides[a] != stride_class::broadcast) axes |= axis_bit(static_cast<int>(a));
    return axes;
}

bool reduces_strided_axis(const key& k, const graph& g, std::uint64_t folded, int innermost_kept) {
    std::uint64_t by_one = 0, by_one_on_both = 0;  // the axes along which arrays lie without gaps
    bool on_both = false;
    const auto look = [&](const operand_class& at) {
        std::uint64_t moves = 0, unit = 0;
        for (std::size_t a = 0; a < at.strides.size(); ++a) {
            if (at.strides[a] != stride_class::broadcast) moves |= axis_bit(g.loop_axis[a]);
            if (at.strides[a] == stride_class::unit) unit |= axis_bit(g.loop_axis[a]);
        }
        if ((moves & folded) == 0) return;
        by_one |= unit;
        if ((moves & axis_bit(innermost_kept)) == 0) return;
        by_one_on_both |= unit;
        on_both = true;
    };
    for (const node& n : g.nodes)
        if (n.kind == node_kind::operand) look(k.operands[n.index]);
    for (const operand_class& z : k.outputs) look(z);
    if (on_both) by_one = by_one_on_both;
    return (by_one & axis_bit(innermost_kept)) != 0 && (by_one & folded) == 0;
}

row_uses::row_uses(const key& k, const graph& g, const std::vector<refused_rows>& refused)
    : refused_(refused),
      nodes_(g.nodes.size()),
      arguments_(detail::most_arguments * g.nodes.size(), use::plain),
      roots_(g.roots.size(), use::plain) {
    // Cutting makes a temporary of a value that reads at other places and is folded, so all kernels read it as an
    // array.
    std::vector<bool> is_folded(g.nodes.size());
    for (const node& n : g.nodes)
        if (n.kind == node_kind::reduce || n.kind == node_kind::scan) is_folded[n.arguments[0]] = true;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        const std::span<const node_id> values(n.arguments, n.arity);
        use* const uses = arguments_.data() + argument_index(i, 0);
        if (n.kind == node_kind::map || n.kind == node_kind::cast || n.kind == node_kind::user ||
            n.kind == node_kind::store) {
            nodes_[i] = join(values, n.axes, uses);
        } else if (n.kind == node_kind::reduce) {
            const rows own = rows_of(k, g, n);
            const state& folded = nodes_[n.arguments[0]];
            const bool held = holds(folded, own);
            if (held) *uses = use::held;
            nodes_[i] = {own, true, held, held && folded.scans};
        } else if (n.kind == node_kind::scan && !is_refused(rows_of(k, g, n), true)) {
            const rows own = rows_of(k, g, n);
            const bool held = holds(nodes_[n.arguments[0]], own);
            if (held) *uses = use::held;
            nodes_[i] = {own, true, true, true, !held};
        } else {
            const bool gathers = n.kind == node_kind::gather && may_gather_rows(k, g, n);
            if (gathers) nodes_[i].indices = g.nodes[n.arguments[1]].axes;
            nodes_[i].reads_elsewhere =
                n.kind == node_kind::unravel || n.kind == node_kind::scan || (n.kind == node_kind::gather && !gathers);
        }
        if (n.kind == node_kind::library || n.kind == node_kind::view) continue;  // these read memory
        for (const node_id v : values) {
            nodes_[i].reads_elsewhere |= nodes_[v].reads_elsewhere;
            nodes_[i].indices |= nodes_[v].indices;
        }
        if (nodes_[i].folds && (nodes_[i].indices & nodes_[i].of.folded) != 0) nodes_[i].reads_elsewhere = true;
        if (is_folded[i] && nodes_[i].reads_elsewhere && !nodes_[i].folds) nodes_[i] = {};
    }
    for (std::size_t i = 0; i < g.roots.size(); ++i) join({&g.roots[i], 1}, axes_of_output(k, g, i), &roots_[i]);
    find_in_rows(g);
}

void row_uses::find_in_rows(const graph& g) {
    in_rows_.resize(g.nodes.size());
    for (std::size_t i = 0; i < g.roots.size(); ++i)
        if (roots_[i] == use::held) in_rows_[g.roots[i]] = true;
    for (auto i = static_cast<node_id>(g.nodes.size()); i-- > 0;) {
        const node& n = g.nodes[i];
        for (int a = 0; a < n.arity; ++a) {
            const node_id of = n.arguments[a];
            const bool held = of_argument(i, a) == use::held;
            if (held) in_rows_[i] = true;
            if (held || (in_rows_[i] && nodes_[of].folds && nodes_[of].of == nodes_[i].of)) in_rows_[of] = true;
        }
    }
}

bool row_uses::is_refused(const rows& of, bool scans) const {
    return std::ranges::any_of(refused_, [&](const refused_rows& r) { return r.of == of && (scans || !r.scanned); });
}

/// Whether a kernel that computes this has the values that a node along `axes` needs.
bool row_uses::fits(const state& s, std::uint64_t axes) const {
    if (!s.folds || s.reads_elsewhere) return false;
    if (within(axes, s.of.kept_axes)) return true;
    return within(axes, s.of.kept_axes | s.of.folded) && s.of.folded != mixed_axes && !is_refused(s.of, s.scans);
}

bool row_uses::can_join(node_id n, std::uint64_t axes, const std::vector<node_id>& others) const {
    const state& s = nodes_[n];
    return axes == (s.of.kept_axes | s.of.folded) && fits(s, axes) &&
           std::ranges::all_of(others, [&](node_id other) { return !nodes_[other].folds || nodes_[other].of == s.of; });
}

/// The state of a node over these values that moves along `axes`; sets how it uses each.
row_uses::state row_uses::join(std::span<const node_id> values, std::uint64_t axes, use* uses) const {
    // The most rows come first: a value constant along some of them is computed once, in a kernel of its own.
    const auto before = [](const state& a, const state& b) {
        const int of_a = std::popcount(a.of.kept_axes), of_b = std::popcount(b.of.kept_axes);
        return of_a != of_b ? of_a > of_b : a.deep && !b.deep;
    };
    state all;
    for (const node_id v : values)
        if (fits(nodes_[v], axes) && (!all.folds || before(nodes_[v], all))) all = nodes_[v];
    if (!all.folds) return all;
    const bool along = !within(axes, all.of.kept_axes);
    all.deep = all.deep || along;
    const rows chosen = all.of;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const state& s = nodes_[values[i]];
        if (!s.folds) continue;
        if (s.of == chosen) {
            uses[i] = along ? use::held : use::plain;
            all.scans = all.scans || s.scans;
            all.scans_alone = all.scans_alone && s.scans_alone;
        } else if (!all.deep && !s.deep && s.of.kept_axes == chosen.kept_axes) {
            all.of.folded = mixed_axes;
        } else if (!scan_alike(s, all)) {
            uses[i] = use::parted;
        }
    }
    return all;
}

}  // namespace ingot::codegen
