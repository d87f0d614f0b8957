// One box for a node, one arrow for an operand; outputs have a double frame.
#include "codegen/graph/dot.hpp"

#include <algorithm>

namespace ingot::codegen {

namespace {

std::string number(double v) {
    std::string text = std::to_string(v);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
    return text;
}

std::string label(const node& n, const key& k) {
    switch (n.kind) {
        case node_kind::operand: {
            const auto kind = k.operands[n.index].head.kind;
            return (kind == detail::operand_kind::scalar      ? "s"
                    : kind == detail::operand_kind::generator ? "random "
                                                              : "x") +
                   std::to_string(n.index);
        }
        case node_kind::constant:
            return number(n.value);
        case node_kind::map:
            return std::string(detail::op_table[n.code].name);
        case node_kind::cast:
            return "astype";
        case node_kind::reduce:
            return "reduce";
        case node_kind::scan:
            return "scan";
        case node_kind::gather:
            return "gather";
        case node_kind::unravel:
            return "reshape";
        case node_kind::user:
            return "kernel";
        case node_kind::library:
            return std::string(detail::facts(static_cast<detail::library_function>(n.code)).name);
        case node_kind::scatter:
            return "scatter";
        case node_kind::view:
            return "view";
        case node_kind::text:
        case node_kind::store:
        case node_kind::shifted:  // made by the planner only
        case node_kind::thread_fold:
        case node_kind::thread_scan:
            break;
    }
    return "";
}

}  // namespace

std::string to_dot(const graph& g, const key& k) {
    std::string text = "digraph expression {\n    rankdir=BT;\n    node [shape=box, fontname=monospace];\n";
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        const bool is_output = std::find(g.roots.begin(), g.roots.end(), i) != g.roots.end();
        text += "    n" + std::to_string(i) + " [label=\"" + label(n, k) + "\\n" + std::string(name(n.type)) + "\"" +
                (is_output ? ", peripheries=2" : "") + "];\n";
        for (int a = 0; a < n.arity; ++a)
            text += "    n" + std::to_string(n.arguments[a]) + " -> n" + std::to_string(i) + ";\n";
    }
    return text + "}\n";
}

}  // namespace ingot::codegen
