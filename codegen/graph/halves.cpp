// Nodes are rebuilt in order, each with what its arguments became.
#include "codegen/graph/halves.hpp"

#include <algorithm>
#include <utility>

#include <ingot/half.hpp>
#include <ingot/operators.hpp>

namespace ingot::codegen {

using namespace detail;

namespace {

class widening {
public:
    widening(graph& g, bool strict) : from_(g), strict_(strict) {}

    void run() {
        for (const node& n : from_.nodes) became_.push_back(rebuild(n));
        for (std::size_t k = 0; k < from_.roots.size(); ++k) {
            const dtype kept = from_.nodes[from_.roots[k]].type;
            from_.roots[k] = is_half(kept) ? narrowed(became_[from_.roots[k]], kept) : became_[from_.roots[k]];
        }
        from_.nodes = std::move(nodes_);
        drop_unused(from_);
    }

private:
    /// Few nodes convert; equal ones are found by looking.
    node_id cast(node_id of, dtype to) {
        const auto known = std::find_if(casts_.begin(), casts_.end(), [&](node_id c) {
            return nodes_[c].arguments[0] == of && nodes_[c].type == to;
        });
        if (known != casts_.end()) return *known;
        node n;
        n.kind = node_kind::cast;
        n.type = to;
        n.arity = 1;
        n.arguments[0] = of;
        n.axes = nodes_[of].axes;
        casts_.push_back(add(n));
        return casts_.back();
    }
    node_id add(const node& n) {
        nodes_.push_back(n);
        return static_cast<node_id>(nodes_.size() - 1);
    }
    /// A value as the 16-bit float; what was widened from one is that.
    node_id narrowed(node_id value, dtype to) {
        const node& n = nodes_[value];
        if (n.kind == node_kind::cast && nodes_[n.arguments[0]].type == to) return n.arguments[0];
        return n.type == to ? value : cast(value, to);
    }
    node_id rounded(node_id value, dtype to) { return cast(narrowed(value, to), dtype::f4); }

    static bool holds(dtype half, dtype t) { return is_half(half) && size_of(t) == 1; }

    node_id rebuild(const node& given) {
        node n = given;
        for (int a = 0; a < n.arity; ++a) n.arguments[a] = became_[n.arguments[a]];
        if (n.kind == node_kind::library || n.kind == node_kind::store) {
            for (int a = 0; a < n.arity && is_half(n.type); ++a) n.arguments[a] = narrowed(n.arguments[a], n.type);
            return add(n);
        }
        if (n.kind == node_kind::cast) {
            const dtype from = from_.nodes[given.arguments[0]].type;
            if (!is_half(n.type))
                return is_half(from) && n.type == dtype::f4 ? n.arguments[0] : cast(n.arguments[0], n.type);
            return holds(n.type, from) ? cast(n.arguments[0], dtype::f4) : rounded(n.arguments[0], n.type);
        }
        const bool reinterprets = n.kind == node_kind::map && static_cast<op>(n.code) == op::bit_cast;
        if (reinterprets) {
            const dtype from = from_.nodes[given.arguments[0]].type;
            if (is_half(from)) n.arguments[0] = narrowed(n.arguments[0], from);
        }
        if (!is_half(n.type)) return add(n);
        if (n.kind == node_kind::operand || n.kind == node_kind::view || reinterprets) return cast(add(n), dtype::f4);
        if (n.kind == node_kind::constant)
            n.value =
                n.type == dtype::f2 ? static_cast<double>(float16(n.value)) : static_cast<double>(bfloat16(n.value));
        n.type = dtype::f4;
        const bool rounds = given.kind == node_kind::reduce ||
                            (given.kind == node_kind::gather && !is_read(n.arguments[0])) ||
                            (strict_ && (given.kind == node_kind::map || given.kind == node_kind::scan));
        const node_id value = add(n);
        return rounds ? rounded(value, given.type) : value;
    }
    bool is_read(node_id value) const {
        return nodes_[value].kind == node_kind::cast && nodes_[nodes_[value].arguments[0]].kind == node_kind::operand;
    }

    graph& from_;
    const bool strict_;
    std::vector<node> nodes_;
    std::vector<node_id> became_, casts_;
};

}  // namespace

void widen_halves(graph& g, bool strict) {
    if (std::ranges::any_of(g.nodes, [](const node& n) { return is_half(n.type); })) widening(g, strict).run();
}

}  // namespace ingot::codegen
