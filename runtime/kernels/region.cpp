#include "runtime/kernels/region.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include <ingot/core/error.hpp>

#include "runtime/kernels/interpreter.hpp"

namespace ingot::runtime {

namespace interpreter {

namespace {

using codegen::graph;
using codegen::node;
using codegen::node_id;
using codegen::node_kind;

constinit std::atomic<bodies::map_lookup> replaced{nullptr};

/// Calls `f` for the arguments that a node reads at its own points; a binder's first argument is a separate region.
template <class F>
void for_each_own_argument(const graph& g, node_id id, F f) {
    const node& n = g.nodes[id];
    switch (n.kind) {
        case node_kind::map:
        case node_kind::cast:
        case node_kind::user:
            for (int i = 0; i < n.arity; ++i) f(i, n.arguments[i]);
            break;
        case node_kind::gather:
            f(1, n.arguments[1]);
            break;
        default:
            break;
    }
}

step make_step(const graph& g, node_id id) {
    const node& n = g.nodes[id];
    step s;
    s.id = id;
    if (n.kind == node_kind::map) {
        const auto row = static_cast<detail::op>(n.code);
        const bodies::map_lookup other = replaced.load(std::memory_order_relaxed);
        const dtype first = g.nodes[n.arguments[0]].type, second = n.arity > 1 ? g.nodes[n.arguments[1]].type : first;
        s.map = (other != nullptr ? other : bodies::map_for)(row, first, second);
        if (s.map == nullptr)
            throw dtype_error("[" + std::string(detail::facts(row).name) + "] has no body for " +
                              std::string(name(first)));
    }
    if (n.kind == node_kind::cast) {
        s.cast = bodies::cast_for(g.nodes[n.arguments[0]].type, n.type);
        if (s.cast == nullptr) throw dtype_error("[astype] cannot compute in " + std::string(name(n.type)));
    }
    return s;
}

}  // namespace

region make_region(const graph& g, const std::vector<node_id>& roots) {
    region made;
    std::vector<node_id> needed, open = roots;
    std::vector<bool> seen(g.nodes.size());
    while (!open.empty()) {
        const node_id id = open.back();
        open.pop_back();
        if (seen[id]) continue;
        seen[id] = true;
        needed.push_back(id);
        for_each_own_argument(g, id, [&](int, node_id a) { open.push_back(a); });
    }
    std::sort(needed.begin(), needed.end());

    std::unordered_map<node_id, std::size_t> last_use;
    for (std::size_t s = 0; s < needed.size(); ++s)
        for_each_own_argument(g, needed[s], [&](int, node_id a) { last_use[a] = s; });
    for (const node_id r : roots) last_use[r] = needed.size();

    std::unordered_map<node_id, std::uint32_t> buffer_of;
    std::vector<std::uint32_t> free;
    for (std::size_t s = 0; s < needed.size(); ++s) {
        step next = make_step(g, needed[s]);
        if (free.empty()) {
            next.to = static_cast<std::uint32_t>(made.buffers.size());
            made.buffers.push_back(std::make_unique<std::byte[]>(block_elements * element_bytes));
        } else {
            next.to = free.back();
            free.pop_back();
        }
        buffer_of[needed[s]] = next.to;
        for_each_own_argument(g, needed[s], [&](int i, node_id a) {
            next.from[i] = buffer_of.at(a);
            for (int rest = i + 1; rest < 3; ++rest) next.from[rest] = buffer_of.at(a);  // a body reads all three
            if (last_use.at(a) == s) {
                free.push_back(buffer_of.at(a));
                last_use[a] = needed.size();  // free it once, even if it occurs twice among the arguments
            }
        });
        made.steps.push_back(next);
    }
    for (const node_id r : roots) made.results.push_back(buffer_of.at(r));
    return made;
}

}  // namespace interpreter

void replace_bodies(bodies::map_lookup other) noexcept {
    interpreter::replaced.store(other, std::memory_order_relaxed);
}

}  // namespace ingot::runtime
