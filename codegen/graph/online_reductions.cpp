// Finds such sums by the shape of the graph, node after node; changed nodes get new numbers.
#include "codegen/graph/online_reductions.hpp"

#include <algorithm>
#include <optional>

#include "codegen/graph/axes.hpp"
#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

struct shifted_sum {
    fold of;
    node_id x, c;
    bool share = false;  // c is sum(x) divided by the member c
};

class rewriting {
public:
    rewriting(const key& k, const graph& g) : key_(k), graph_(g), beneath_(g.nodes.size()), uses_(g.nodes.size()) {
        for (node_id i = 0; i < g.nodes.size(); ++i) note_reductions(i);
        for (const node& n : g.nodes)
            for (int a = 0; a < n.arity; ++a) ++uses_[n.arguments[a]];
        for (const node_id r : g.roots) ++uses_[r];
    }

    graph run() {
        graph made;
        made.loop_axis = graph_.loop_axis;
        made.texts = graph_.texts;
        std::vector<node_id> moved, reductions(graph_.nodes.size(), no_node);  // the new node of each sum
        for (node_id i = 0; i < graph_.nodes.size(); ++i) {
            const node_id sum = sum_that_knows(i);  // or the node itself
            const std::optional<shifted_sum> shifted = find(sum);
            if (!shifted || reductions[sum] == no_node) {
                node n = graph_.nodes[sum];
                if (shifted) {
                    n.code = static_cast<std::uint16_t>(shifted->of);
                    n.arguments[0] = shifted->x;
                }
                for (int a = 0; a < n.arity; ++a) n.arguments[a] = moved[n.arguments[a]];
                reductions[sum] = static_cast<node_id>(made.nodes.size());
                made.nodes.push_back(n);
            }
            if (shifted) {
                node taken;
                taken.kind = node_kind::shifted;
                taken.type = graph_.nodes[i].type;
                taken.code = static_cast<std::uint16_t>(shifted->of);
                taken.pick = sum != i ? 2 : shifted->share ? 1 : 0;
                taken.arity = sum != i ? 1 : 2;
                taken.arguments[0] = reductions[sum];
                if (sum == i) taken.arguments[1] = moved[shifted->c];
                taken.axes = graph_.nodes[i].axes;
                made.nodes.push_back(taken);
            }
            moved.push_back(static_cast<node_id>(made.nodes.size() - 1));
        }
        for (const node_id r : graph_.roots) made.roots.push_back(moved[r]);
        drop_unused(made);
        return made;
    }

private:
    const node& at(node_id i) const { return graph_.nodes[i]; }
    bool is_row(node_id i, op row) const {
        return at(i).kind == node_kind::map && at(i).code == static_cast<std::uint16_t>(row);
    }

    /// Notes over which binders nodes at or below a node reduce.
    void note_reductions(node_id i) {
        const node& n = at(i);
        for (int a = 0; a < n.arity; ++a)
            beneath_[i].insert(beneath_[i].end(), beneath_[n.arguments[a]].begin(), beneath_[n.arguments[a]].end());
        if (n.kind == node_kind::reduce) beneath_[i].push_back(n.index);
        std::sort(beneath_[i].begin(), beneath_[i].end());
        beneath_[i].erase(std::unique(beneath_[i].begin(), beneath_[i].end()), beneath_[i].end());
    }

    std::uint64_t folded_by(const node& reduction) const {
        std::uint64_t loops = 0;
        for (std::size_t a = 0; a < key_.axes.size(); ++a)
            if (key_.axes[a].owner == reduction.index + 1) loops |= axis_bit(graph_.loop_axis[a]);
        return loops;
    }

    std::optional<shifted_sum> find(node_id i) const {
        const node& n = at(i);
        if (n.kind != node_kind::reduce || static_cast<fold>(n.code) != fold::sum || kind_of(n.type) != kind::floating)
            return {};
        const node_id value = n.arguments[0];
        const node& v = at(value);
        const bool squares =
            is_row(value, op::square) || (is_row(value, op::multiply) && v.arguments[0] == v.arguments[1]);
        if (!squares && !is_row(value, op::exp)) return {};
        const node_id difference = v.arguments[0];
        if (!is_row(difference, op::subtract)) return {};
        const shifted_sum found{squares ? fold::squares : fold::exponentials, at(difference).arguments[0],
                                at(difference).arguments[1]};
        // All have one dtype; only c is constant along the row, and it is computed from the row.
        const std::uint64_t folded = folded_by(n);
        const bool fits = at(found.x).type == n.type && at(found.c).type == n.type &&
                          (at(found.x).axes & folded) != 0 && (at(found.c).axes & folded) == 0 &&
                          is_made_of(found.c, squares ? fold::sum : fold::max, found.x, folded) &&
                          beneath_[found.x].empty();
        if (!fits) return {};
        const bool alone = uses_[value] == 1 && uses_[difference] == (v.arity == 2 ? 2 : 1) && uses_[found.c] == 1;
        return alone && squares ? shifted_by_share(found, folded) : found;
    }

    /// Whether there are reductions below c and all of them are this one. That holds for a mean and a maximum: where
    /// the row has infinities or NaN, c decides the result.
    bool is_made_of(node_id c, fold of, node_id x, std::uint64_t folded) const {
        if (beneath_[c].empty()) return false;
        const node& n = at(c);
        if (n.kind == node_kind::reduce)
            return static_cast<fold>(n.code) == of && n.arguments[0] == x && folded_by(n) == folded;
        return std::all_of(n.arguments, n.arguments + n.arity,
                           [&](node_id a) { return beneath_[a].empty() || is_made_of(a, of, x, folded); });
    }

    /// For a row's maximum, the sum of exponentials of that row, which computes it too; else the node itself.
    node_id sum_that_knows(node_id i) const {
        const node& n = at(i);
        if (n.kind != node_kind::reduce || static_cast<fold>(n.code) != fold::max) return i;
        for (node_id sum = i + 1; sum < graph_.nodes.size(); ++sum)
            if (const auto shifted = find(sum); shifted && shifted->of == fold::exponentials &&
                                                shifted->x == n.arguments[0] && folded_by(at(sum)) == folded_by(n))
                return sum;
        return i;
    }

    /// Where c is the row's own sum divided, and has no other user, the sum need not be kept: the partial result of the
    /// squares contains it.
    shifted_sum shifted_by_share(const shifted_sum& found, std::uint64_t folded) const {
        const node& c = at(found.c);
        if (!is_row(found.c, op::divide) || uses_[c.arguments[0]] != 1) return found;
        const node& sum = at(c.arguments[0]);
        const bool own = sum.kind == node_kind::reduce && static_cast<fold>(sum.code) == fold::sum &&
                         sum.arguments[0] == found.x && folded_by(sum) == folded && beneath_[c.arguments[1]].empty();
        return own ? shifted_sum{found.of, found.x, c.arguments[1], true} : found;
    }

    const key& key_;
    const graph& graph_;
    std::vector<std::vector<std::uint16_t>> beneath_;
    std::vector<std::uint32_t> uses_;
};

}  // namespace

graph with_online_reductions(const key& k, const graph& g) { return rewriting(k, g).run(); }

}  // namespace ingot::codegen
