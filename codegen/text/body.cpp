// Walks over a graph for the emitters. Nodes are numbered after their arguments, so every walk is one loop over numbers
// and none is recursive.
#include "codegen/text/body.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "codegen/text/fold.hpp"
#include "codegen/text/shifted_reduction.hpp"
#include "codegen/text/user_text.hpp"

namespace ingot::codegen {

namespace {

/// Nodes below `roots` that `stop` does not hide, roots included.
template <class Stop>
std::vector<bool> marked_below(const graph& g, const std::vector<node_id>& roots, const Stop& stop) {
    std::vector<bool> below(g.nodes.size());
    for (const node_id r : roots) below[r] = true;
    for (node_id i = static_cast<node_id>(below.size()); i-- > 0;)
        if (below[i] && !stop(i))
            for (int a = 0; a < g.nodes[i].arity; ++a) below[g.nodes[i].arguments[a]] = true;
    return below;
}

/// Whether a node is its operand at another place, which is in the operand's digits.
bool is_read_elsewhere(const node& n) { return n.kind == node_kind::unravel || n.kind == node_kind::gather; }

/// The nodes from which the roots are computed; a gather's index is left out, for it has become a digit.
template <class Stop>
std::vector<bool> computed_below(const graph& g, const std::vector<node_id>& roots, const Stop& stop) {
    std::vector<bool> below(g.nodes.size());
    for (const node_id r : roots) below[r] = true;
    for (node_id i = static_cast<node_id>(below.size()); i-- > 0;) {
        const int values = g.nodes[i].kind == node_kind::gather ? 1 : g.nodes[i].arity;
        if (below[i] && !stop(i))
            for (int a = 0; a < values; ++a) below[g.nodes[i].arguments[a]] = true;
    }
    return below;
}

/// user_l2::map(x0, x1)
std::string spell_user(const graph& g, const node& n, const std::vector<std::string>& arguments, prelude& needs) {
    std::string call = spell_user_text(g.texts, n.index, needs) + "::" + g.texts[n.index].function(n.code) + '(';
    for (std::size_t i = 0; i < arguments.size(); ++i) call += (i > 0 ? ", " : "") + arguments[i];
    return call + ')';
}

/// Whether a node is written as an expression.
bool is_computed(const node& n) {
    return n.kind == node_kind::map || n.kind == node_kind::user || n.kind == node_kind::cast ||
           n.kind == node_kind::constant || is_read_elsewhere(n) || n.kind == node_kind::shifted;
}

}  // namespace

body_writer::body_writer(const graph& g, prelude& needs)
    : graph_(g),
      needs_(needs),
      names_{std::vector<std::string>(g.nodes.size()), std::vector<std::string>(g.nodes.size())},
      uses_(g.nodes.size()) {
    for (const node& n : g.nodes)
        for (int a = 0; a < n.arity; ++a) ++uses_[n.arguments[a]];
    // Equal scatters are one node, each of whose roots reads the arguments.
    for (const node_id r : g.roots)
        if (++uses_[r] > 1 && g.nodes[r].kind == node_kind::scatter)
            for (int a = 0; a < g.nodes[r].arity; ++a) ++uses_[g.nodes[r].arguments[a]];
}

std::string body_writer::spell(node_id id) const {
    const node& n = graph_.nodes[id];
    std::vector<std::string> arguments;
    std::vector<dtype> types;
    for (int a = 0; a < n.arity; ++a) {
        arguments.push_back(names_.values[n.arguments[a]]);
        types.push_back(graph_.nodes[n.arguments[a]].type);
    }
    if (n.kind == node_kind::constant) return spell_constant(n.type, n.value, needs_);
    if (is_read_elsewhere(n)) return arguments[0];
    if (n.kind == node_kind::cast) return spell_cast(arguments[0], types[0], n.type, needs_);
    if (n.kind == node_kind::shifted) {
        static constexpr std::string_view functions[] = {"::about(", "::about_share(", "::greatest("};
        std::string call = spell_shifted_fold(static_cast<detail::fold>(n.code), n.type, needs_);
        call.append(functions[n.pick]).append(arguments[0]);
        return call + (n.arity == 2 ? ", " + arguments[1] + ')' : ")");
    }
    if (n.kind == node_kind::user) return spell_user(graph_, n, arguments, needs_);
    return spell_map(n, types, arguments, needs_, n.arity == 2 && graph_.nodes[n.arguments[1]].axes != n.axes);
}

void body_writer::write(node_id id, source_writer& out) {
    const node& n = graph_.nodes[id];
    if (n.kind == node_kind::operand && !names_.rows[id].empty()) {
        names_.values[id] = row_element(id);
        return;
    }
    if (n.kind == node_kind::operand && (n.axes & loops_) != 0) {
        const std::string element = from_->element_at_digits(id, out);
        names_.values[id] = "v" + std::to_string(next_++);
        return out.line("const ", needs_.type(n.type), " ", names_.values[id], " = ", element, ";");
    }
    if (n.kind == node_kind::thread_scan) {
        fold_writer f(graph_, id, id, needs_);
        const std::string value = f.joined(f.name(), f.element(names_.values[n.arguments[0]], ""));
        names_.values[id] = f.name();
        return out.line(f.name(), " = ", value, ";");
    }
    if (!is_computed(n)) throw error("[emit] a leaf or a reduction has no name yet");
    const std::string value = spell(id);
    if (n.kind == node_kind::constant || is_read_elsewhere(n)) {
        names_.values[id] = value;
        return;
    }
    names_.values[id] = "t" + std::to_string(next_++);
    out.line("const ", needs_.type(n.type), " ", names_.values[id], " = ", value, ";");
}

void body_writer::forget_values(const names& since) {
    for (node_id i = 0; i < graph_.nodes.size(); ++i)
        if (is_computed(graph_.nodes[i])) names_.values[i] = since.values[i];
}

std::vector<bool> body_writer::required_by(const std::vector<node_id>& roots) const {
    return computed_below(graph_, roots,
                          [&](node_id i) { return has_name(i) || graph_.nodes[i].kind == node_kind::reduce; });
}

std::vector<bool> body_writer::unnamed_below(const std::vector<node_id>& roots) const {
    return computed_below(graph_, roots, [this](node_id i) { return has_name(i); });
}

std::string body_writer::value(node_id root, source_writer& out) {
    write_needed({root}, root, out);
    if (has_name(root)) return names_.values[root];
    if (uses_[root] == 1 && is_computed(graph_.nodes[root])) return spell(root);
    write_needed({root}, root + 1, out);
    return names_.values[root];
}

/// Writes the nodes [0, last) that the roots need and that can be written here.
void body_writer::write_needed(const std::vector<node_id>& roots, node_id last, source_writer& out) {
    const std::vector<bool> below = unnamed_below(roots);
    for (node_id i = 0; i < last; ++i) {
        if (!below[i] || has_name(i)) continue;
        if (graph_.nodes[i].kind == node_kind::thread_fold) {
            if (is_in_open_loops(i)) write_loop(fused_folds(i, below), out);
        } else if (is_at_hand(i)) {
            write(i, out);
        }
    }
}

void body_writer::hoist(std::uint64_t axes, const std::vector<node_id>& roots, source_writer& out) {
    const std::vector<bool> below = unnamed_below(roots);
    for (node_id i = 0; i < below.size(); ++i) {
        const node& n = graph_.nodes[i];
        if (below[i] && !has_name(i) && (n.axes & ~axes) == 0 && is_computed(n)) {
            bool ready = true;
            for (int a = 0; a < (n.kind == node_kind::gather ? 1 : n.arity); ++a)
                ready = ready && has_name(n.arguments[a]);
            if (ready) write(i, out);
        }
    }
}

std::vector<bool> nodes_below(const graph& g, const std::vector<node_id>& roots) {
    return marked_below(g, roots, [&](node_id i) {
        return g.nodes[i].kind == node_kind::reduce || g.nodes[i].kind == node_kind::scan ||
               g.nodes[i].kind == node_kind::thread_fold;
    });
}

bool calls_inexact(const graph& g, detail::target where) {
    return calls_inexact(g, std::vector<bool>(g.nodes.size(), true), where);
}

bool calls_inexact(const graph& g, const std::vector<bool>& among, detail::target where) {
    prelude calls(where);
    for (node_id i = 0; i < among.size(); ++i) {
        const node& n = g.nodes[i];
        if (!among[i]) continue;
        if (n.kind == node_kind::operand && n.code == static_cast<std::uint16_t>(detail::generator_kind::normal))
            return true;
        if (n.kind != node_kind::map) continue;
        std::vector<dtype> types;
        for (int a = 0; a < n.arity; ++a) types.push_back(g.nodes[n.arguments[a]].type);
        spell_map(n, types, {"a", "b", "c"}, calls);
    }
    return calls.inexact();
}

namespace {

/// The last node that uses each node's value; for a root the end of the graph.
std::vector<node_id> last_users(const graph& g) {
    std::vector<node_id> last(g.nodes.size());
    for (node_id i = 0; i < g.nodes.size(); ++i)
        for (int a = 0; a < g.nodes[i].arity; ++a) last[g.nodes[i].arguments[a]] = i;
    for (const node_id r : g.roots) last[r] = static_cast<node_id>(g.nodes.size());
    return last;
}

bool is_leaf(const node& n) { return n.kind == node_kind::operand || n.kind == node_kind::constant; }

}  // namespace

std::uint32_t live_registers(const graph& g) {
    const std::vector<node_id> last = last_users(g);
    std::vector<std::vector<node_id>> ending(g.nodes.size() + 1);
    std::uint32_t now = 0, most = 0;
    const auto registers = [&](node_id i) { return detail::size_of(g.nodes[i].type) > 4 ? 2u : 1u; };
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        if (is_leaf(g.nodes[i]) && g.nodes[i].axes != 0) now += registers(i);
        ending[last[i]].push_back(i);
    }
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        if (!is_leaf(g.nodes[i])) now += registers(i);
        most = std::max(most, now);
        for (const node_id e : ending[i])
            if (!is_leaf(g.nodes[e]) || g.nodes[e].axes != 0) now -= registers(e);
    }
    return most;
}

std::vector<std::uint32_t> live_values(const graph& g) {
    const std::vector<node_id> last = last_users(g);
    std::vector<std::uint32_t> ending(g.nodes.size() + 1), live(g.nodes.size());
    std::uint32_t now = 0;
    for (node_id i = 0; i < g.nodes.size(); ++i)
        if (!is_leaf(g.nodes[i])) ++ending[last[i]];
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        if (!is_leaf(g.nodes[i])) ++now;
        live[i] = now -= ending[i];
    }
    return live;
}

std::uint32_t cost_of(const graph& g, const std::vector<node_id>& roots) {
    const std::vector<bool> below = nodes_below(g, roots);
    std::uint32_t cost = 0;
    for (node_id i = 0; i < below.size(); ++i) {
        const node& n = g.nodes[i];
        if (!below[i]) continue;
        if (n.kind == node_kind::map) cost += detail::facts(static_cast<detail::op>(n.code)).cost;
        if (n.kind == node_kind::user) cost += cost_of_user(g.texts[n.index], n.code);
    }
    return cost;
}

}  // namespace ingot::codegen
