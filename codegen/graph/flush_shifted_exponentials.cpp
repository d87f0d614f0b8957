// Finds such exponentials by the shape of the graph.
#include "codegen/graph/flush_shifted_exponentials.hpp"

#include "codegen/graph/axes.hpp"
#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

bool is_row(const node& n, op row) { return n.kind == node_kind::map && n.code == static_cast<std::uint16_t>(row); }
bool is_fold(const node& n, fold of) { return n.kind == node_kind::reduce && n.code == static_cast<std::uint16_t>(of); }

std::uint64_t folded_by(const key& k, const graph& g, const node& reduction) {
    std::uint64_t loops = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == reduction.index + 1) loops |= axis_bit(g.loop_axis[a]);
    return loops;
}

/// m of where(isfinite(m), m, ...). If m is not finite, all elements are -infinity, or one makes the sum infinite or
/// NaN.
node_id without_guard(const graph& g, node_id c) {
    const node& n = g.nodes[c];
    if (!is_row(n, op::where)) return c;
    const node& test = g.nodes[n.arguments[0]];
    return is_row(test, op::isfinite) && test.arguments[0] == n.arguments[1] ? n.arguments[1] : c;
}

bool is_shifted_exponential(const key& k, const graph& g, const node& sum) {
    const node& e = g.nodes[sum.arguments[0]];
    if (!is_fold(sum, fold::sum) || !is_row(e, op::exp)) return false;
    const node& difference = g.nodes[e.arguments[0]];
    if (!is_row(difference, op::subtract)) return false;
    const node& greatest = g.nodes[without_guard(g, difference.arguments[1])];
    return is_fold(greatest, fold::max) && greatest.arguments[0] == difference.arguments[0] &&
           greatest.type == difference.type && folded_by(k, g, greatest) == folded_by(k, g, sum);
}

}  // namespace

void flush_shifted_exponentials(const key& k, graph& g) {
    std::vector<std::uint32_t> uses(g.nodes.size());
    for (const node& n : g.nodes)
        for (int a = 0; a < n.arity; ++a) ++uses[n.arguments[a]];
    for (const node_id r : g.roots) ++uses[r];
    for (const node& n : g.nodes)
        if (n.arity > 0 && uses[n.arguments[0]] == 1 && is_shifted_exponential(k, g, n))
            g.nodes[n.arguments[0]].flushed = true;
}

}  // namespace ingot::codegen
