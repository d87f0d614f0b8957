#include "codegen/graph/builder.hpp"

#include <functional>
#include <string>

#include <ingot/core/error.hpp>

namespace ingot::codegen {

using namespace detail;

op row_named(std::string_view name) {
    for (std::size_t i = 0; i < op_count; ++i)
        if (op_table[i].name == name) return static_cast<op>(i);
    throw error("[lower] the operator table has no row " + std::string(name));
}

std::size_t graph_builder::node_hash::operator()(const node& n) const noexcept {
    std::uint64_t h = static_cast<std::uint64_t>(n.kind) | static_cast<std::uint64_t>(n.type) << 8 |
                      static_cast<std::uint64_t>(n.code) << 16 | static_cast<std::uint64_t>(n.index) << 32 |
                      static_cast<std::uint64_t>(n.pick) << 48;
    for (const node_id a : n.arguments) h = (h ^ a) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return static_cast<std::size_t>((h ^ std::hash<double>{}(n.value)) * 0x9e3779b97f4a7c15u);
}

node_id graph_builder::intern(const node& n) {
    const auto [entry, inserted] = numbers_.try_emplace(n, static_cast<node_id>(graph_.nodes.size()));
    if (inserted) graph_.nodes.push_back(n);
    return entry->second;
}

node_id graph_builder::constant(dtype type, double value) {
    node n;
    n.kind = node_kind::constant;
    n.type = type;
    n.value = value;
    return intern(n);
}

node_id graph_builder::cast(node_id from, dtype type) {
    if (at(from).type == type) return from;
    if (at(from).kind == node_kind::constant) return constant(type, at(from).value);
    node n;
    n.kind = node_kind::cast;
    n.type = type;
    n.arity = 1;
    n.arguments[0] = from;
    n.axes = at(from).axes;
    return intern(n);
}

node_id graph_builder::map(op o, dtype type, std::initializer_list<node_id> arguments) {
    node n;
    n.kind = node_kind::map;
    n.type = type;
    n.code = static_cast<std::uint16_t>(o);
    for (const node_id a : arguments) {
        n.arguments[n.arity++] = a;
        n.axes |= at(a).axes;
    }
    return intern(n);
}

}  // namespace ingot::codegen
