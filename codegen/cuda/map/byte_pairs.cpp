// See byte_pairs.hpp.
#include "codegen/cuda/map/byte_pairs.hpp"

#include <algorithm>

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t most_of_half = 0xffff;

bool is_byte(dtype t) { return t == dtype::u1 || t == dtype::b1; }

/// Rows of the operator table that byte_pairs spells, for bytes, for bools, or for both.
bool has_pair_spelling(const cuda_kernel& b, const node& n) {
    const bool bools = b.graph.nodes[n.arguments[0]].type == dtype::b1;
    switch (static_cast<op>(n.code)) {
        case op::add:
            return n.type == dtype::u1;
        case op::bitwise_and:
        case op::bitwise_or:
        case op::bitwise_xor:
        case op::equal:
        case op::not_equal:
        case op::where:
            return true;
        case op::logical_and:
        case op::logical_or:
        case op::logical_xor:
        case op::logical_not:
            return bools;
        default:
            return false;
    }
}

}  // namespace

bool computes_byte_pairs(const cuda_kernel& b, const std::vector<view_window>& windows) {
    if (!b.generators.empty() || b.loops != 0) return false;
    std::size_t rows = 0;
    for (const view_window& w : windows) rows += w.family.views.size();
    if (rows != b.inputs.size()) return false;
    for (const array_argument& z : b.outputs)
        if (!is_byte(z.at->head.type)) return false;
    return std::ranges::all_of(b.graph.nodes, [&](const node& n) {
        if (!is_byte(n.type)) return false;
        const bool arguments =
            std::all_of(n.arguments, n.arguments + n.arity, [&](node_id a) { return is_byte(b.graph.nodes[a].type); });
        switch (n.kind) {
            case node_kind::operand:
            case node_kind::constant:
            case node_kind::unravel:
                return true;
            case node_kind::cast:
                return arguments;
            case node_kind::map:
                return arguments && has_pair_spelling(b, n);
            default:
                return false;
        }
    });
}

void byte_pairs::name(node_id operand, const std::string& as) {
    pairs_[operand].name = is_bool(operand) ? '(' + as + " << 8)" : as;
}

std::string byte_pairs::value(node_id root) {
    std::vector<bool> required(root + 1);
    required[root] = true;
    for (node_id i = root + 1; i-- > 0;)
        if (required[i] && of(i).empty())
            for (int a = 0; a < b_.graph.nodes[i].arity; ++a) required[b_.graph.nodes[i].arguments[a]] = true;
    for (node_id i = 0; i <= root; ++i) {
        if (!required[i] || !of(i).empty()) continue;
        pair p = spell(i);
        if (b_.graph.nodes[i].kind != node_kind::unravel) {
            const std::string name = "w" + std::to_string(i);
            b_.code.line("const ", b_.needs.type(dtype::u4), ' ', name, " = ", p.name, ";");
            p.name = name;
        }
        pairs_[i] = std::move(p);
    }
    return is_bool(root) ? '(' + of(root) + " >> 8 & 0x10001u)" : of(root);
}

std::string byte_pairs::lower_bytes(node_id n) const {
    return pairs_[n].most <= 255 ? of(n) : '(' + of(n) + " & 0xff00ffu)";
}

byte_pairs::pair byte_pairs::spell(node_id id) const {
    const node& n = b_.graph.nodes[id];
    switch (n.kind) {
        case node_kind::unravel:
            return pairs_[n.arguments[0]];
        case node_kind::cast:
            return spell_cast(n);
        case node_kind::map:
            return spell_map(n);
        default:
            return spell_leaf(id);
    }
}

/// A scalar or a constant, the same in both halves.
byte_pairs::pair byte_pairs::spell_leaf(node_id id) const {
    const node& n = b_.graph.nodes[id];
    std::string value = b_.body.name_of(id);
    if (n.kind == node_kind::constant) value = std::to_string(static_cast<int>(n.value)) + 'u';
    return {value + (is_bool(id) ? " * 0x1000100u" : " * 0x10001u")};
}

byte_pairs::pair byte_pairs::spell_cast(const node& n) const {
    const node_id from = n.arguments[0];
    if (is_bool(from) == (n.type == dtype::b1)) return pairs_[from];
    if (is_bool(from)) return {of(from) + " >> 8 & 0x10001u", 1};
    return {lower_bytes(from) + " + 0xff00ffu"};
}

byte_pairs::pair byte_pairs::spell_map(const node& n) const {
    const node_id x = n.arguments[0], y = n.arguments[1], z = n.arguments[2];
    const auto joined = [&](const char* by) { return of(x) + ' ' + by + ' ' + of(y); };
    const auto most = [&](node_id a, node_id b) { return std::max(pairs_[a].most, pairs_[b].most); };
    // Halves of equal numbers become 0.
    const auto difference = [&] { return most(x, y) <= 255 ? joined("^") : '(' + joined("^") + ") & 0xff00ffu"; };
    switch (static_cast<op>(n.code)) {
        case op::add:
            if (pairs_[x].most + pairs_[y].most <= most_of_half) return {joined("+"), pairs_[x].most + pairs_[y].most};
            return {lower_bytes(x) + " + " + lower_bytes(y), 510};
        case op::bitwise_and:
            return {joined("&"), std::min(pairs_[x].most, pairs_[y].most)};
        case op::bitwise_or:
        case op::bitwise_xor:
            return {joined(static_cast<op>(n.code) == op::bitwise_or ? "|" : "^"),
                    most(x, y) <= 255 ? 255 : most_of_half};
        case op::logical_and:
            return {joined("&")};
        case op::logical_or:
            return {joined("|")};
        case op::logical_xor:
            return {joined("^")};
        case op::logical_not:
            return {'~' + of(x)};
        case op::equal:
            if (is_bool(x)) return {"~(" + joined("^") + ')'};
            return {"0x1000100u - (" + difference() + ')'};
        case op::not_equal:
            if (is_bool(x)) return {joined("^")};
            return {'(' + difference() + ") + 0xff00ffu"};
        default: {  // `where` of a bool
            const std::string both = '(' + of(y) + " ^ " + of(z) + ')';
            if (n.type == dtype::b1) return {of(z) + " ^ (" + both + " & " + of(x) + ')'};
            return {of(z) + " ^ (" + both + " & (" + of(x) + " >> 8 & 0x10001u) * 255u)", pairs_[z].most | 255u};
        }
    }
}

}  // namespace ingot::codegen
