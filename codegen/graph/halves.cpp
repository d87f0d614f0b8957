// Nodes are rebuilt in order, each over its new arguments.
#include "codegen/graph/halves.hpp"

#include <algorithm>
#include <utility>

#include <ingot/core/half.hpp>
#include <ingot/core/operators.hpp>

#include "codegen/graph/builder.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

double nearest(dtype half, double x) {
    return half == dtype::f2 ? static_cast<double>(float16(x)) : static_cast<double>(bfloat16(x));
}

class widening : graph_builder {
public:
    widening(graph& g, bool strict) : from_(g), strict_(strict) {}

    void run() {
        graph_.loop_axis = from_.loop_axis;
        graph_.texts = from_.texts;
        for (const node& n : from_.nodes) became_.push_back(rebuild(n));
        for (const node_id r : from_.roots) {
            const dtype stored = from_.nodes[r].type;
            graph_.roots.push_back(is_half(stored) ? narrowed(became_[r], stored) : became_[r]);
        }
        drop_unused(graph_);
        from_ = std::move(graph_);
    }

private:
    /// A value as the 16-bit float; a value that was widened from one is that one.
    node_id narrowed(node_id value, dtype to) {
        const node& n = at(value);
        return n.kind == node_kind::cast && at(n.arguments[0]).type == to ? n.arguments[0] : cast(value, to);
    }
    node_id rounded(node_id value, dtype to) {
        if (at(value).kind == node_kind::constant) return constant(dtype::f4, nearest(to, at(value).value));
        return cast(narrowed(value, to), dtype::f4);
    }

    static bool holds(dtype half, dtype t) { return is_half(half) && size_of(t) == 1; }

    node_id rebuild(const node& given) {
        node n = given;
        for (int a = 0; a < n.arity; ++a) n.arguments[a] = became_[n.arguments[a]];
        if (n.kind == node_kind::library || n.kind == node_kind::store) {
            for (int a = 0; a < n.arity; ++a) {
                const dtype type = from_.nodes[given.arguments[a]].type;
                if (is_half(type)) n.arguments[a] = narrowed(n.arguments[a], type);
            }
            return intern(n);
        }
        if (n.kind == node_kind::scatter) {
            if (is_half(n.type)) n.arguments[0] = narrowed(n.arguments[0], n.type);
            return intern(n);
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
        if (!is_half(n.type)) return intern(n);
        if (n.kind == node_kind::operand || n.kind == node_kind::view || reinterprets)
            return cast(intern(n), dtype::f4);
        if (n.kind == node_kind::constant) return constant(dtype::f4, nearest(n.type, n.value));
        n.type = dtype::f4;
        const bool rounds = given.kind == node_kind::reduce ||
                            (given.kind == node_kind::gather && !is_read(n.arguments[0])) ||
                            (strict_ && (given.kind == node_kind::map || given.kind == node_kind::scan));
        const node_id value = intern(n);
        return rounds ? rounded(value, given.type) : value;
    }
    bool is_read(node_id value) const {
        return at(value).kind == node_kind::cast && at(at(value).arguments[0]).kind == node_kind::operand;
    }

    graph& from_;
    const bool strict_;
    std::vector<node_id> became_;
};

}  // namespace

void widen_halves(graph& g, bool strict) {
    if (std::ranges::any_of(g.nodes, [](const node& n) { return is_half(n.type); })) widening(g, strict).run();
}

}  // namespace ingot::codegen
