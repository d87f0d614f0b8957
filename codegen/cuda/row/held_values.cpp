// Walks over the nodes that each phase computes along the row.
#include "codegen/cuda/row/held_values.hpp"

#include <algorithm>
#include <optional>

#include "codegen/text/fold.hpp"
#include "codegen/text/kernel.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint32_t cost_worth_keeping = 6;
constexpr std::uint32_t cost_of_prefix = 3, cost_of_costly_prefix = 30;  // joins of an element in a scan

bool contains(const std::vector<node_id>& nodes, node_id n) { return std::ranges::find(nodes, n) != nodes.end(); }

}  // namespace

held_values::held_values(const graph& g, const row_program& r)
    : graph_(g),
      row_(r.row_bits()),
      rows_(r.kept_bits() | r.gathered),
      phases_(r.phases.size() + 1),
      first_(g.nodes.size(), phases_) {
    for (std::size_t p = 0; p < phases_; ++p) {
        computed_.push_back(r.computed_nodes(g, p));
        const std::vector<bool> below = nodes_below(g, computed_[p]);
        for (node_id i = 0; i < below.size(); ++i)
            if (below[i] && along_row(i)) first_[i] = std::min(first_[i], p);
        cost_ += cost_of(g, computed_[p]);
    }
    for (std::size_t p = 0; p < r.phases.size(); ++p)
        for (const node_id i : r.phases[p]) {
            if (!is_scan(i)) continue;
            first_[i] = p;
            cost_ += fold_traits(g, i).is_costly() ? cost_of_costly_prefix : cost_of_prefix;
        }
    for (std::size_t p = 1; p < phases_; ++p) {
        for (node_id i = 0; i < g.nodes.size(); ++i)
            if (along_row(i) && first_[i] == p && g.nodes[i].kind != node_kind::reduce)
                for (int a = 0; a < g.nodes[i].arity; ++a) keep(g.nodes[i].arguments[a], p);
        for (const node_id root : computed_[p]) keep(root, p);
    }
}

/// A value that a later phase than its first needs is kept where computing it again costs much.
void held_values::keep(node_id i, std::size_t phase) {
    if (!along_row(i) || first_[i] >= phase || is_cached(i)) return;
    if (graph_.nodes[i].kind != node_kind::operand && cost_of(graph_, {i}) >= cost_worth_keeping) cached_.push_back(i);
}

bool held_values::defer_loads(const key& k) {
    const auto words = [&](node_id i) {
        return k.operands[graph_.nodes[i].index].head.kind == operand_kind::array && bytes_of(i) >= 4;
    };
    std::vector<std::size_t> reads(graph_.nodes.size());
    for (const std::vector<node_id>& computed : computed_) {
        const std::vector<bool> below = nodes_below(graph_, computed);
        for (node_id i = 0; i < below.size(); ++i) reads[i] += below[i] ? 1 : 0;
    }
    std::vector<node_id> found;
    for (node_id i = 0; i < reads.size(); ++i)
        if (is_stream(i) && reads[i] == 1 && first_[i] > 0 && words(i)) found.push_back(i);
    deferred_ = std::move(found);
    return defers_loads();
}

held_elements held_values::choose(bool has_shared_chunks) const {
    held_elements h{.streams = streams(), .cached = cached_};
    if (has_shared_chunks) place_shared(h);
    place_deferred(h);
    return h;
}

void held_values::place_deferred(held_elements& h) const {
    h.deferred_phase = phases_;
    for (const node_id i : deferred_) {
        h.deferred_loads.push_back({i, h.deferred_bytes});
        h.deferred_bytes += bytes_of(i);
        h.deferred_phase = std::min(h.deferred_phase, first_[i]);
    }
}

std::uint32_t held_values::bytes() const {
    const std::vector<std::size_t> end = ends();
    std::uint32_t most = 0;
    for (std::size_t p = 0; p < phases_; ++p) {
        std::uint32_t bytes = 0;
        for (node_id i = 0; i < end.size(); ++i)
            if (end[i] > p && (is_stream(i) || ((is_cached(i) || is_scan(i)) && first_[i] < p))) bytes += bytes_of(i);
        most = std::max(most, bytes);
    }
    return most;
}

void held_values::place_shared(held_elements& h) const {
    const std::vector<std::size_t> end = ends();
    struct slot {
        std::uint32_t at, bytes;
        std::size_t free_from;  // phase
    };
    std::vector<slot> slots;
    // `phase` keeps the value; none: it is loaded before the first one, when every slot is still to be read.
    const auto add = [&](node_id i, std::optional<std::size_t> phase) {
        auto found = std::ranges::find_if(
            slots, [&](const slot& o) { return phase && o.bytes == bytes_of(i) && o.free_from <= *phase; });
        if (found == slots.end()) {
            found = slots.insert(found, {h.shared_chunk_bytes, bytes_of(i), 0});
            h.shared_chunk_bytes += bytes_of(i);
        }
        found->free_from = end[i] - 1;
        h.shared_values.push_back({i, found->at});
    };
    for (node_id i = 0; i < end.size(); ++i)
        if (end[i] > 0 && is_stream(i)) add(i, {});
    for (std::size_t p = 0; p < phases_; ++p)
        for (const node_id i : cached_)
            if (first_[i] == p) add(i, p);
}

std::vector<std::size_t> held_values::ends() const {
    std::vector<std::size_t> end(graph_.nodes.size());
    for (std::size_t p = 0; p < phases_; ++p) {
        std::vector<node_id> open = computed_[p];
        while (!open.empty()) {
            const node_id i = open.back();
            open.pop_back();
            if (!along_row(i) || end[i] == p + 1) continue;
            end[i] = p + 1;
            const node& n = graph_.nodes[i];
            if (is_scan(i) || (is_cached(i) && first_[i] < p)) continue;
            open.insert(open.end(), n.arguments, n.arguments + n.arity);
        }
    }
    return end;
}

std::uint32_t held_values::bytes_of(node_id i) const {
    return static_cast<std::uint32_t>(size_of(graph_.nodes[i].type));
}

std::vector<node_id> held_values::streams() const {
    std::vector<node_id> found;
    for (node_id i = 0; i < graph_.nodes.size(); ++i)
        if (is_stream(i)) found.push_back(i);
    return found;
}

bool held_values::is_stream(node_id i) const {
    return graph_.nodes[i].kind == node_kind::operand && along_row(i) && !contains(deferred_, i) &&
           (rows_ == 0 || (graph_.nodes[i].axes & rows_) != 0);
}

bool held_values::is_cached(node_id i) const { return contains(cached_, i); }

}  // namespace ingot::codegen
