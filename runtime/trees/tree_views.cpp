// Views and reshapes of run-time trees: the same nodes with other layouts.
#include <algorithm>
#include <ingot/core/binders.hpp>
#include <optional>

#include <ingot/core/error.hpp>

#include "runtime/trees/tree.hpp"

namespace ingot::runtime {

using detail::layout;
using detail::word_kind;

namespace {

piece_size size_below(const tree_node& n) {
    const int own = detail::is_binder(kind_of(n)) ? n.bound : 0;
    return {static_cast<int>(n.nodes) - 1, static_cast<int>(n.argument_bytes),
            std::max(static_cast<int>(n.bound_axes) - own, 0)};
}

/// Rebuilds a tree and applies `change(layout, bound)` to every layout in it; null where a change returns false.
template <class Change>
tree_ref rebuilt(const tree_ref& root, int bound, Change&& change) {
    struct frame {
        const tree_node* node;
        int bound;
        int next = 0;
    };
    node_table met;
    std::vector<tree_ref> rebuilt_nodes;  // rebuilt shared nodes, by their number in `met`
    std::vector<tree_ref> results;        // rebuilt arguments
    std::vector<frame> open{{root.get(), bound}};
    while (!open.empty()) {
        frame& f = open.back();
        const tree_node& n = *f.node;
        const int arity = arity_of(n);
        if (f.next == 0 && may_be_shared(n)) {
            const std::uint32_t known = met.at(&n, static_cast<std::uint32_t>(f.bound));
            if (known != node_table::absent) {
                results.push_back(rebuilt_nodes[known]);
                open.pop_back();
                continue;
            }
        }
        if (f.next < arity) {
            const int i = f.next++;
            open.push_back({arguments_of(n)[i], f.bound + binds(n, i)});
            continue;
        }
        tree_ref result;
        if (arity > 0) {
            const auto arguments = std::span(results).last(static_cast<std::size_t>(arity));
            std::optional<layout> pick;
            if (detail::operands_of_word(n.code) == 1) {
                pick = static_cast<const picking_branch&>(n).pick;
                if (!change(*pick, f.bound)) return {};
            }
            result = make_branch(n.code, arguments, n.bound, pick ? &*pick : nullptr, size_below(n));
            results.resize(results.size() - arguments.size());
        } else if (kind_of(n) == word_kind::scalar || kind_of(n) == word_kind::text) {
            result = tree_ref::share(const_cast<tree_node*>(&n));
        } else {
            const auto& old = static_cast<const leaf_node&>(n);
            auto* leaf = new_node<leaf_node>(n.code);
            result = tree_ref::adopt(leaf);  // owned from here on: a change may throw
            leaf->where = old.where;
            leaf->memory = old.memory;
            leaf->device = old.device;
            std::copy_n(old.bits, 2, leaf->bits);
            leaf->last = old.last;
            if (old.source) leaf->source = tree_ref::share(old.source).detach();
            if (!change(leaf->where, f.bound)) return {};
            result = finish_leaf(static_cast<leaf_node*>(result.detach()));
        }
        if (may_be_shared(n) && met.insert(&n, static_cast<std::uint32_t>(f.bound),
                                           static_cast<std::uint32_t>(rebuilt_nodes.size())) == node_table::absent)
            rebuilt_nodes.push_back(result);
        results.push_back(std::move(result));
        open.pop_back();
    }
    return std::move(results.back());
}

/// Whether the view shows all elements as they are.
bool changes_nothing(const detail::axis_view& view, detail::extents_ref shape) {
    if (view.old_rank != shape.rank || view.new_rank != shape.rank) return false;
    int walked = 0;
    for (int j = 0; j < shape.rank; ++j) {
        if (view.new_shape[j] != shape.data[j] || view.start[j] != 0) return false;
        walked += shape.data[j] != 1;
    }
    for (int k = 0; k < view.step_count; ++k) {
        const auto& s = view.steps[k];
        if (s.new_axis != s.old_axis || s.by != 1) return false;
        walked -= shape.data[s.old_axis] != 1;
    }
    return walked == 0;
}

}  // namespace
}  // namespace ingot::runtime

namespace ingot::detail {

using namespace runtime;

tree_ref view_tree(const tree_ref& tree, const axis_view& view, int bound) {
    if (!tree) throw_moved_from();
    // The same nodes, so that a statement that reads the tree twice computes it once.
    if (bound == 0 && changes_nothing(view, tree->extents())) return tree;
    bool has_layouts = false;
    const auto composed = [&](layout& l, int b) {
        l = compose(l, view, b);
        has_layouts = true;
        return true;
    };
    // Every view would walk a large tree again, so the tree is materialized instead. A tree beneath a binder has more
    // axes than the result, and is not worth an array.
    const int most = tree->bound_axes != 0 ? viewed_nodes_with_folds : viewed_nodes;
    const bool is_large = static_cast<int>(tree->nodes) >= most || tree->bound_axes > viewed_axes;
    if (bound == 0 && is_large) return rebuilt(make_materialized(tree), bound, composed);
    tree_ref seen = rebuilt(tree, bound, composed);
    if (has_layouts || bound != 0) return seen;
    // A tree of scalars alone has no layout. An unravel that binds no axes gives it the view's shape.
    const layout shape = compose(layout(0), view, 0);
    const word code = make_word(word_kind::unravel, dtype_of_word(tree->code));
    const piece_size size{static_cast<int>(seen->nodes), static_cast<int>(seen->argument_bytes),
                          static_cast<int>(seen->bound_axes)};
    return make_branch(code, {&seen, 1}, 0, &shape, size);
}

bool find_leaf(const tree_node& tree, buffer_ref& memory, layout& where) {
    const tree_node* n = &tree;
    while (runtime::kind_of(*n) == word_kind::unravel && n->bound == 0) n = arguments_of(*n)[0];
    if (runtime::kind_of(*n) != word_kind::leaf || materialized_source(*n) != nullptr) return false;
    const auto& l = static_cast<const leaf_node&>(*n);
    memory = l.memory;
    where = l.where;
    return true;
}

tree_ref keep_tree(const tree_ref& tree) {
    if (!tree) throw_moved_from();
    return arity_of(*tree) == 0 ? tree : make_materialized(tree);
}

tree_ref reshape_tree(const tree_ref& tree, std::span<const index_t> shape, int bound) {
    if (!tree) throw_moved_from();
    // A layout may have fewer axes than the tree, which repeats it: it gets all of them before they are merged.
    const extents_ref all = tree->extents();
    view_room whole;
    view_whole(whole, {all.data, all.rank - bound});
    return rebuilt(tree, bound, [&](layout& l, int b) {
        l = compose(l, whole, b);
        return try_reshape(l, shape, b);
    });
}

}  // namespace ingot::detail
