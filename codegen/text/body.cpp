// Walks over a graph for the emitters. Nodes are numbered after what they need, so every walk is one loop over numbers
// and none is recursive.
#include "codegen/text/body.hpp"

#include <ingot/error.hpp>

#include "codegen/text/shifted_reduction.hpp"

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

/// user_l2::map(x0, x1)
std::string spell_user(const graph& g, const node& n, const std::vector<std::string>& arguments, prelude& needs) {
    std::string call = spell_user_text(g.texts, n.index, needs) + "::" + g.texts[n.index].function(n.code) + '(';
    for (std::size_t i = 0; i < arguments.size(); ++i) call += (i > 0 ? ", " : "") + arguments[i];
    return call + ')';
}

bool is_computed(const node& n) {
    return n.kind == node_kind::map || n.kind == node_kind::user || n.kind == node_kind::cast ||
           n.kind == node_kind::constant || n.kind == node_kind::unravel || n.kind == node_kind::shifted;
}

}  // namespace

body_writer::body_writer(const graph& g, prelude& needs)
    : graph_(g), needs_(needs), names_(g.nodes.size()), uses_(g.nodes.size()) {
    for (const node& n : g.nodes)
        for (int a = 0; a < n.arity; ++a) ++uses_[n.arguments[a]];
    for (const node_id r : g.roots) ++uses_[r];
}

std::string body_writer::spell(node_id id) const {
    const node& n = graph_.nodes[id];
    std::vector<std::string> arguments;
    std::vector<dtype> types;
    for (int a = 0; a < n.arity; ++a) {
        arguments.push_back(names_[n.arguments[a]]);
        types.push_back(graph_.nodes[n.arguments[a]].type);
    }
    if (n.kind == node_kind::constant) return spell_constant(n.type, n.value, needs_);
    if (n.kind == node_kind::unravel) return arguments[0];  // its digits are in the operands' offsets
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
    if (!is_computed(n)) throw error("[emit] a leaf or a reduction has no name yet");
    const std::string value = spell(id);
    if (n.kind == node_kind::constant || n.kind == node_kind::unravel) {
        names_[id] = value;
        return;
    }
    names_[id] = "t" + std::to_string(next_++);
    out.line("const ", needs_.type(n.type), " ", names_[id], " = ", value, ";");
}

std::vector<bool> body_writer::wanted_by(const std::vector<node_id>& roots) const {
    return marked_below(graph_, roots,
                        [&](node_id i) { return !names_[i].empty() || graph_.nodes[i].kind == node_kind::reduce; });
}

std::string body_writer::value(node_id root, source_writer& out) {
    const auto named = [this](node_id i) { return !names_[i].empty(); };
    const std::vector<bool> below = marked_below(graph_, {root}, named);
    for (node_id i = 0; i < root; ++i)
        if (below[i] && !named(i)) write(i, out);
    if (named(root)) return names_[root];
    if (uses_[root] == 1 && is_computed(graph_.nodes[root])) return spell(root);
    write(root, out);
    return names_[root];
}

void body_writer::hoist(std::uint64_t axes, const std::vector<node_id>& roots, source_writer& out) {
    const auto named = [this](node_id i) { return !names_[i].empty(); };
    const std::vector<bool> below = marked_below(graph_, roots, named);
    for (node_id i = 0; i < below.size(); ++i) {
        const node& n = graph_.nodes[i];
        if (below[i] && !named(i) && (n.axes & ~axes) == 0 && is_computed(n)) {
            bool ready = true;
            for (int a = 0; a < n.arity; ++a) ready = ready && named(n.arguments[a]);
            if (ready) write(i, out);
        }
    }
}

std::vector<bool> nodes_below(const graph& g, const std::vector<node_id>& roots) {
    return marked_below(g, roots, [&](node_id i) {
        return g.nodes[i].kind == node_kind::reduce || g.nodes[i].kind == node_kind::scan;
    });
}

std::vector<std::string> operand_names(const graph& g, const key& k) {
    std::vector<bool> read(k.operands.size());
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::operand) read[n.index] = true;
        if (n.kind == node_kind::scan || n.kind == node_kind::unravel) read[n.pick] = true;
    }
    std::vector<std::string> names(k.operands.size());
    int counts[4] = {};
    for (std::size_t i = 0; i < read.size(); ++i) {
        const auto kind = static_cast<std::size_t>(k.operands[i].head.kind);
        if (read[i] && kind < 4) names[i] = "xsgp"[kind] + std::to_string(counts[kind]++);
    }
    return names;
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
