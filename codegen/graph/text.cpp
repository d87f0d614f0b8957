// Prints the expression of a graph in one line. Nodes are rendered in order, each once, and a long text is shortened to
// its head, so a shared subtree or a chain of 10^6 nodes costs no more than its number of nodes.
#include <algorithm>
#include <array>

#include <ingot/core/folds.hpp>

#include "codegen/graph/graph.hpp"
#include "codegen/operator_bodies.hpp"

namespace ingot::codegen {

namespace {

using namespace detail;

constexpr std::size_t longest = 160;

/// C++'s precedence of a binary operator; 0 where the body is not a plain `a @ b`.
struct infix {
    std::string_view symbol;
    int precedence = 0;
};

infix infix_of(op o) {
    constexpr std::array<infix, 19> known{{{"*", 9},
                                           {"/", 9},
                                           {"+", 8},
                                           {"-", 8},
                                           {"<", 6},
                                           {"<=", 6},
                                           {">", 6},
                                           {">=", 6},
                                           {"==", 5},
                                           {"!=", 5},
                                           {"&", 4},
                                           {"^", 3},
                                           {"|", 2},
                                           {"&&", 1},
                                           {"||", 1},
                                           {"%", 9},
                                           {"<<", 7},
                                           {">>", 7},
                                           {"", 0}}};
    const op_facts& row = facts(o);
    if (row.arity != 2) return {};
    const row_bodies& bodies = bodies_of(o);
    const std::string_view body = row.has(kind::floating)  ? bodies.floating
                                  : row.has(kind::boolean) ? bodies.boolean
                                                           : bodies.integer;
    for (const infix& i : known)
        if (i.precedence > 0 && body == "return a " + std::string(i.symbol) + " b;") return i;
    return {};
}

/// "sum", or "l2.fold" for a user's fold.
std::string fold_name(const node& n, const graph& g) {
    const auto of = static_cast<fold>(n.code);
    if (of == fold::user && n.kind != node_kind::scan) return g.texts[n.pick].name + ".fold";
    return std::string(facts(of).name);
}

struct rendered {
    std::string text;
    int precedence = 100;  // of its outermost operator
};

std::string in_parentheses(const rendered& r, int than) { return r.precedence < than ? '(' + r.text + ')' : r.text; }

std::string call(std::string_view name, const node& n, const std::vector<rendered>& values) {
    std::string out(name);
    for (int a = 0; a < n.arity; ++a) out += (a == 0 ? "(" : ", ") + values[n.arguments[a]].text;
    return out + ')';
}

/// `scanned`: the node's first argument is a scan.
rendered render(const graph& g, const node& n, bool scanned, const std::vector<rendered>& values,
                const std::vector<std::string>& names) {
    switch (n.kind) {
        case node_kind::operand:
            return {names[n.index]};
        case node_kind::constant: {
            const auto whole = static_cast<long long>(n.value);
            return {static_cast<double>(whole) == n.value ? std::to_string(whole) : std::to_string(n.value)};
        }
        case node_kind::cast:
            return {"astype<" + std::string(name(n.type)) + ">(" + values[n.arguments[0]].text + ")"};
        case node_kind::reduce:
        case node_kind::thread_fold:
            return {call(fold_name(n, g), n, values)};
        case node_kind::scan:
        case node_kind::thread_scan:
            return {"cum" + call(fold_name(n, g), n, values)};
        case node_kind::gather:
            return {call("take", n, values)};
        case node_kind::unravel: {
            constexpr const char* rules[] = {"reshape", "nearest", "reflect", "symmetric", "wrap"};
            if (scanned) return values[n.arguments[0]];  // read at other places
            return {call(rules[n.code], n, values)};
        }
        case node_kind::user:
            return {call(g.texts[n.index].name + '.' + g.texts[n.index].function(n.code), n, values)};
        case node_kind::shifted: {
            const std::string& whole = values[n.arguments[0]].text;  // "squares(x0)"
            if (n.arity == 1) return {"max" + whole.substr(whole.find('('))};
            const std::string shift = in_parentheses(values[n.arguments[1]], 9);
            const std::string share = "sum" + whole.substr(whole.find('(')) + " / ";
            return {whole.substr(0, whole.size() - 1) + " - " + (n.pick == 1 ? share : "") + shift + ')'};
        }
        case node_kind::scatter:
            return {call("scatter", n, values)};
        case node_kind::library:
            return {call(facts(static_cast<library_function>(n.code)).name, n, values)};
        case node_kind::view:
        case node_kind::store:
            return values[n.arguments[0]];
        case node_kind::text:
        case node_kind::map:
            if (static_cast<op>(n.code) == op::bit_cast)
                return {"bit_cast<" + std::string(name(n.type)) + ">(" + values[n.arguments[0]].text + ")"};
            break;
    }
    const op_facts& row = facts(static_cast<op>(n.code));
    const infix i = infix_of(static_cast<op>(n.code));
    if (i.precedence == 0) return {call(row.name, n, values)};
    return {in_parentheses(values[n.arguments[0]], i.precedence) + ' ' + std::string(i.symbol) + ' ' +
                in_parentheses(values[n.arguments[1]], i.precedence + 1),
            i.precedence};
}

}  // namespace

std::vector<std::string> operand_names(const graph& g, const key& k) {
    std::vector<bool> read(k.operands.size());
    for (const node& n : g.nodes) {
        if (n.kind == node_kind::operand) read[n.index] = true;
        if (n.kind == node_kind::scan || n.kind == node_kind::unravel) read[n.pick] = true;
    }
    std::vector<std::string> names(k.operands.size());
    constexpr std::string_view letters = "xsgp  r";  // of operand_kind
    int counts[letters.size()] = {};
    for (std::size_t i = 0; i < read.size(); ++i) {
        const auto kind = static_cast<std::size_t>(k.operands[i].head.kind);
        if (read[i] && letters[kind] != ' ') names[i] = letters[kind] + std::to_string(counts[kind]++);
    }
    return names;
}

std::string text(const graph& g, node_id root, const key& k) {
    const std::vector<std::string> names = operand_names(g, k);
    std::vector<rendered> values(root + 1);
    for (node_id i = 0; i <= root; ++i) {
        const node& n = g.nodes[i];
        const bool scanned = n.arity == 1 && g.nodes[n.arguments[0]].kind == node_kind::scan;
        values[i] = render(g, n, scanned, values, names);
        if (values[i].text.size() > longest) values[i] = {values[i].text.substr(0, longest / 2) + "..."};
    }
    return values[root].text;
}

}  // namespace ingot::codegen
