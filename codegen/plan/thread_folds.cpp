#include "codegen/plan/thread_folds.hpp"

#include <algorithm>

#include "codegen/graph/rows.hpp"

namespace ingot::codegen {

using namespace detail;

namespace {

constexpr std::uint8_t short_class = 1;  // up to 32 elements

class choosing {
public:
    choosing(const key& k, const graph& g) : key_(k), graph_(g), chosen_(g.nodes.size()) {}

    std::vector<bool> run() {
        for (node_id i = 0; i < graph_.nodes.size(); ++i)
            if (graph_.nodes[i].kind == node_kind::reduce && suits(i)) chosen_[i] = true;
        drop_unshared_loops();
        return chosen_;
    }

private:
    const node& at(node_id id) const { return graph_.nodes[id]; }

    /// Whether any axis of the key that a binder binds satisfies f.
    template <class F>
    bool any_axis(const node& binder, F f) const {
        for (const axis_class& a : key_.axes)
            if (a.owner == binder.index + 1 && f(a)) return true;
        return false;
    }
    std::uint64_t loops_of(const node& binder) const { return codegen::rows_of(key_, graph_, binder).folded; }

    bool suits(node_id id) const {
        const node& n = at(id);
        const auto says_so = [](const axis_class& a) { return (a.flags & axis_flags::reads_again) != 0; };
        const auto is_short = [](const axis_class& a) { return a.length_class == short_class; };
        if (!any_axis(n, says_so)) return false;
        bool nested = false;
        for (const node_id below : beneath(id)) {
            const node& b = at(below);
            switch (b.kind) {
                case node_kind::reduce:
                    if (!chosen_[below] || !moves_with(b, n)) return false;
                    nested = true;
                    break;
                case node_kind::scan:
                    if (loops_of(b) != loops_of(n) || reads_arrays_along(below, loops_of(n))) return false;
                    nested = true;
                    break;
                case node_kind::operand:
                case node_kind::constant:
                case node_kind::map:
                case node_kind::cast:
                case node_kind::user:
                    break;
                default:
                    return false;
            }
        }
        return nested || any_axis(n, is_short);
    }

    /// All nodes below a node, without itself.
    std::vector<node_id> beneath(node_id id) const {
        std::vector<bool> below(id + 1);
        below[id] = true;
        std::vector<node_id> found;
        for (node_id i = id + 1; i-- > 0;) {
            if (!below[i]) continue;
            if (i != id) found.push_back(i);
            for (int a = 0; a < at(i).arity; ++a) below[at(i).arguments[a]] = true;
        }
        return found;
    }

    /// Whether an inner fold differs for each result of the outer one, so that it is not repeated.
    bool moves_with(const node& inner, const node& outer) const {
        return (outer.axes & ~short_axes(key_) & ~inner.axes) == 0;
    }

    bool reads_arrays_along(node_id scan, std::uint64_t loops) const {
        return std::ranges::any_of(beneath(scan), [&](node_id i) {
            return at(i).kind == node_kind::operand && key_.operands[at(i).index].head.kind == operand_kind::array &&
                   (at(i).axes & loops) != 0;
        });
    }

    /// Drops folds that would draw random numbers once for each of several folds of a row: a random number costs more
    /// than a byte of a temporary. Also drops folds over a loop along which threads of the kernel lie.
    void drop_unshared_loops() {
        for (node_id i = 0; i < graph_.nodes.size(); ++i)
            if (chosen_[i] && makes_numbers_again(i)) drop(i);
        for (bool again = true; again;) {
            again = false;
            std::vector<bool> outside(graph_.nodes.size());
            for (const node_id r : graph_.roots) outside[r] = true;
            for (node_id i = static_cast<node_id>(graph_.nodes.size()); i-- > 0;)
                if (outside[i] && !chosen_[i])
                    for (int a = 0; a < at(i).arity; ++a) outside[at(i).arguments[a]] = true;
            std::uint64_t walked = outputs_axes(key_);
            for (node_id i = 0; i < graph_.nodes.size(); ++i)
                if (outside[i]) walked |= at(i).axes;
            for (node_id i = 0; i < graph_.nodes.size(); ++i) {
                if (!chosen_[i] || (loops_of(at(i)) & walked) == 0) continue;
                drop(i);
                again = true;
            }
        }
    }
    bool makes_numbers_again(node_id id) const {
        const auto is_random = [&](node_id i) {
            return at(i).kind == node_kind::operand && key_.operands[at(i).index].head.kind == operand_kind::generator;
        };
        if (!std::ranges::any_of(beneath(id), is_random)) return false;
        for (node_id i = 0; i < graph_.nodes.size(); ++i)
            if (i != id && at(i).kind == node_kind::reduce && loops_of(at(i)) == loops_of(at(id))) return true;
        return false;
    }
    /// Drops a fold and all chosen folds that contain it.
    void drop(node_id id) {
        chosen_[id] = false;
        for (node_id i = 0; i < graph_.nodes.size(); ++i)
            if (chosen_[i] && std::ranges::count(beneath(i), id) != 0) chosen_[i] = false;
    }

    const key& key_;
    const graph& graph_;
    std::vector<bool> chosen_;
};

}  // namespace

bool use_thread_folds(const key& k, graph& g) {
    if (k.header.where != target::cuda || k.header.math == math_mode::strict) return false;
    const std::vector<bool> chosen = choosing(k, g).run();
    std::vector<bool> below = chosen;
    for (node_id i = static_cast<node_id>(g.nodes.size()); i-- > 0;) {
        if (!below[i]) continue;
        if (g.nodes[i].kind == node_kind::scan) g.nodes[i].kind = node_kind::thread_scan;
        for (int a = 0; a < g.nodes[i].arity; ++a) below[g.nodes[i].arguments[a]] = true;
    }
    for (node_id i = 0; i < g.nodes.size(); ++i)
        if (chosen[i]) g.nodes[i].kind = node_kind::thread_fold;
    return std::ranges::count(chosen, true) != 0;
}

std::uint64_t thread_loops(const key& k, const graph& g) {
    std::uint64_t loops = 0;
    for (const node& n : g.nodes)
        if (n.kind == node_kind::thread_fold) loops |= rows_of(k, g, n).folded;
    return loops;
}

std::uint64_t short_axes(const key& k) {
    std::uint64_t axes = 0;
    for (std::size_t a = 0; a < k.axes.size(); ++a)
        if (k.axes[a].owner == 0 && (k.axes[a].flags & axis_flags::short_inner) != 0)
            axes |= axis_bit(static_cast<int>(a));
    return axes;
}

}  // namespace ingot::codegen
