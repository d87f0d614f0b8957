// Gathers the results of a cut graph into parts, each of which becomes a stage: results along the same axes that one
// kernel can compute together, and outputs that a kernel can write beside the rows that it folds.
#include <algorithm>

#include "codegen/graph/reduction.hpp"
#include "codegen/plan/cutting_state.hpp"

namespace ingot::codegen {

using namespace detail;

bool cutting::can_be_fused(const part& p, node_id n) const {
    return are_compatible(p.folds, n) &&
           std::ranges::all_of(roots_of(p), [&](node_id root) { return uses_.can_be_fused(root, n); });
}

cutting::part& cutting::part_with(std::uint32_t level, std::uint64_t axes, node_id n) {
    const bool is_call = graph_.nodes[n].kind == node_kind::library;
    for (part& p : parts_) {
        if (is_call || p.is_call || p.level != level || p.axes != axes || !can_be_fused(p, n)) continue;
        if (nodes_[p.folds].folds() && graph_.nodes[n].kind == node_kind::operand && is_cut(n)) continue;
        if (nodes_[n].folds() && graph_.nodes[p.folds].kind == node_kind::operand && is_cut(p.folds)) continue;
        if (nodes_[n].folds() || nodes_[n].reads_elsewhere() || nodes_[n].loops) p.folds = n;
        return p;
    }
    return parts_.emplace_back(part{level, axes, n, {}, {}, is_call});
}

void cutting::find_parts() {
    for (std::size_t t = 0; t < cut_.size(); ++t)
        part_with(nodes_[cut_[t]].level, axes_of(cut_[t]), cut_[t])
            .temporaries.push_back(static_cast<std::uint16_t>(t));
    // One stage writes all outputs along the same axes: the first that can write the last of them.
    const auto level_of = [&](std::size_t k) {
        const node_id root = graph_.roots[k];
        const bool read = is_cut(root) && (is_broadcast(k) || is_reading(root));
        return nodes_[root].level + (read ? 1 : 0);
    };
    for (std::size_t k = 0; k < graph_.roots.size(); ++k) {
        if (calls_.writes(k)) {
            const node_id library = calls_.writer_of(k);
            parts_.push_back(
                {nodes_[library].level, axes_of(library), library, {}, {static_cast<std::uint16_t>(k)}, true});
            continue;
        }
        std::uint32_t level = 0;
        for (std::size_t o = 0; o < graph_.roots.size(); ++o)
            if (!calls_.writes(o) && axes_of_output(o) == axes_of_output(k) &&
                uses_.can_be_fused(graph_.roots[o], graph_.roots[k]))
                level = std::max(level, level_of(o));
        part_with(level, axes_of_output(k), graph_.roots[k]).outputs.push_back(static_cast<std::uint16_t>(k));
    }
    for (part& p : parts_)
        if (part* const holds = holding_rows_of(p)) {
            holds->outputs.insert(holds->outputs.end(), p.outputs.begin(), p.outputs.end());
            holds->temporaries.insert(holds->temporaries.end(), p.temporaries.begin(), p.temporaries.end());
            p.outputs.clear(), p.temporaries.clear();
        }
    for (part& p : parts_)
        if (part* const folds = folding_over(p))
            folds->outputs.insert(folds->outputs.end(), p.outputs.begin(), p.outputs.end()), p.outputs.clear();
    std::erase_if(parts_, [](const part& p) { return p.temporaries.empty() && p.outputs.empty(); });
}

cutting::part* cutting::holding_rows_of(const part& p) {
    const auto roots = roots_of(p);
    for (part& other : parts_) {
        const bool ready = other.level == p.level || (other.level > p.level && p.temporaries.empty());
        const auto holds = [&](node_id root) {
            return nodes_[root].reduces && are_compatible(other.folds, root) &&
                   uses_.can_join(root, other.axes, roots_of(other));
        };
        const bool inside = (p.axes & ~other.axes) == 0;  // and not broadcast along other axes
        if (&other != &p && !p.is_call && !other.is_call && inside && ready && !roots.empty() &&
            std::ranges::all_of(roots, holds))
            return &other;
    }
    return nullptr;
}

cutting::part* cutting::folding_over(const part& p) {
    const auto folds = [&](std::uint16_t k) {
        const state& root = nodes_[graph_.roots[k]];
        return root.folds() || root.reads_elsewhere() || root.loops;
    };
    if (!p.temporaries.empty() || std::ranges::any_of(p.outputs, folds)) return nullptr;
    for (part& other : parts_)
        if (&other != &p && other.level >= p.level)
            for (const std::uint64_t folded : folded_by(other))
                if ((folded | other.axes) == p.axes && (folded & other.axes) == 0) return &other;
    return nullptr;
}

std::vector<std::uint64_t> cutting::folded_by(const part& p) const {
    std::vector<std::uint64_t> folded;
    const std::vector<bool> needed = needed_by(p);
    for (node_id i = 0; i < needed.size(); ++i) {
        if (!needed[i] || graph_.nodes[i].kind != node_kind::reduce || is_read(i, p.level)) continue;
        folded.push_back(rows_of(key_, graph_, graph_.nodes[i]).folded);
    }
    return folded;
}

std::vector<node_id> cutting::roots_of(const part& p) const {
    std::vector<node_id> roots;
    for (const std::uint16_t t : p.temporaries) roots.push_back(cut_[t]);
    for (const std::uint16_t k : p.outputs) roots.push_back(graph_.roots[k]);
    return roots;
}

std::vector<bool> cutting::needed_by(const part& p) const {
    std::vector<bool> needed(graph_.nodes.size());
    for (const node_id r : roots_of(p)) needed[r] = true;
    for (node_id i = static_cast<node_id>(needed.size()); i-- > 0;)
        if (needed[i] && !is_read(i, p.level) && graph_.nodes[i].kind != node_kind::view)
            for (int a = 0; a < graph_.nodes[i].arity; ++a) needed[graph_.nodes[i].arguments[a]] = true;
    return needed;
}

}  // namespace ingot::codegen
