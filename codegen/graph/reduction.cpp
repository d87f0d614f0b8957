// Finds the spaces over which the reductions of a graph fold.
#include "codegen/graph/reduction.hpp"

#include <algorithm>

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

/// The loops along which an output moves.
std::uint64_t loops_of_output(const key& k, const graph& g, std::size_t output) {
    std::uint64_t axes = 0;
    const std::vector<stride_class>& strides = k.outputs[output].strides;
    for (std::size_t a = 0; a < strides.size(); ++a)
        if (strides[a] != stride_class::broadcast) axes |= axis_bit(g.loop_axis[a]);
    return axes;
}

/// The part of the first length class, as far as any binder of these loops tells it.
std::uint8_t subclass_of_rows(const key& k, const graph& g, const std::vector<int>& loops) {
    std::uint8_t known = 0;
    for (const axis_class& a : k.axes)
        if (a.owner != 0 && a.subclass > known &&
            loops_of_binder(k, g, static_cast<std::uint16_t>(a.owner - 1)) == loops)
            known = a.subclass;
    return known;
}

}  // namespace

folding find_folding(const key& k, const graph& g) {
    folding f;
    for (node_id i = 0; i < g.nodes.size(); ++i) {
        const node& n = g.nodes[i];
        if (n.kind != node_kind::reduce) continue;
        folded_space s;
        for (std::size_t a = 0; a < k.axes.size(); ++a)
            if (k.axes[a].owner == n.index + 1) {
                s.axes.push_back(g.loop_axis[a]);
                s.length_class = k.axes[a].length_class;
            }
        if (s.length_class == 1) s.subclass = subclass_of_rows(k, g, s.axes);
        auto same =
            std::find_if(f.spaces.begin(), f.spaces.end(), [&](const folded_space& o) { return o.axes == s.axes; });
        if (same == f.spaces.end()) same = f.spaces.insert(f.spaces.end(), s);
        same->reductions.push_back(i);
        same->values.push_back(n.arguments[0]);
    }
    std::uint64_t kept_axes = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0) kept_axes |= axis_bit(g.loop_axis[a]);
    for (std::size_t o = 0; o < k.outputs.size(); ++o) {
        const std::uint64_t axes = loops_of_output(k, g, o);
        // An output along the whole space and nothing else beside the kept axes: one space may be a part of another.
        const auto along = std::ranges::find_if(f.spaces, [&](const folded_space& s) {
            return s.bits() != 0 && (axes & s.bits()) == s.bits() && (axes & ~(s.bits() | kept_axes)) == 0;
        });
        (along == f.spaces.end() ? f.results : along->outputs).push_back(o);
    }
    return f;
}

bool has_exponentials(const graph& g) {
    return std::ranges::any_of(g.nodes, [](const node& n) {
        return n.kind == node_kind::reduce && static_cast<fold>(n.code) == fold::exponentials;
    });
}

bool few_results(const key& k, int rank) { return rank == 0 || (k.axes[0].flags & axis_flags::few_rows) != 0; }

}  // namespace ingot::codegen
