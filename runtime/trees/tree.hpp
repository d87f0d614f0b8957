// Run-time trees: the nodes of a lazy.
//
// A node is immutable and counts its references. The structs below are the kinds of nodes; the kind of a node's program
// word tells which one it is. A map node over arrays of one shape takes 64 bytes.
//
// Cutting. A node knows how many nodes and argument bytes the kernel that ends in it would have (shared ones counted
// once). If an elementwise node would pass a bound, its largest operand is *materialized*: a leaf stands for the array
// into which the operand's tree will be evaluated. So a tree of any size is a chain of pieces of bounded size, each
// beginning at the materialized leaves of the one below. Loops of different lengths consist of the same pieces and
// reuse their kernels. A view stops at a materialized leaf and changes its layout.
#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include <ingot/core/lazy.hpp>
#include <ingot/core/leaves.hpp>

#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

using detail::tree_node;
using detail::tree_ref;

/// The planner cuts where it is cheap. A piece bounds the planner's and the compiler's input: NVRTC takes 0.15 s for
/// 500 operations of a number each.
inline constexpr int piece_nodes = 1024;
inline constexpr int piece_argument_bytes = 3600;  // of 4096, which any driver takes
/// A statement has room for 64 axes, including those of the result.
inline constexpr int piece_axes = 48;
/// A larger tree is evaluated before it is viewed, because each view would be another tree of that size. Trees with
/// folds are left to the planner, which knows more, as long as there is room for their axes.
inline constexpr int viewed_nodes = 64, viewed_nodes_with_folds = 256, viewed_axes = 24;

/// A map, reduce or gather. It counts its arguments. Where a map broadcasts, its extents follow it in memory.
struct branch : tree_node {
    tree_node* arguments[3] = {nullptr, nullptr, nullptr};
};
/// A user kernel: a branch with more arguments.
struct user_branch : tree_node {
    tree_node* arguments[detail::most_arguments] = {};
};
/// A scan, unravel or library function.
struct picking_branch : branch {
    detail::layout pick;
};
/// A leaf (of an array, or materialized), a generator, or a whole array, which is a scalar word and which a text
/// indexes itself.
struct leaf_node : tree_node {
    detail::layout where;
    buffer_ref memory;
    tree_node* source = nullptr;     // counted; the tree whose values the leaf will hold
    std::uint64_t bits[2] = {0, 0};  // a generator's seed and call number
    std::uint64_t last = 0;          // the largest integer of a generator of integers
};
/// A scalar's value, or a text (its address and binding).
struct number : tree_node {
    detail::scalar_value value{};
    dtype type = dtype::b1;
    detail::exponent_class exponent = detail::exponent_class::none;
};
static_assert(sizeof(branch) == 64);

inline detail::word_kind kind_of(const tree_node& n) { return detail::kind_of_word(n.code); }
inline int arity_of(const tree_node& n) { return detail::arity_of_word(n.code); }
inline tree_node* const* arguments_of(const tree_node& n) {
    return kind_of(n) == detail::word_kind::user ? static_cast<const user_branch&>(n).arguments
                                                 : static_cast<const branch&>(n).arguments;
}
/// The source of a materialized leaf, else null.
inline tree_node* materialized_source(const tree_node& n) {
    return kind_of(n) == detail::word_kind::leaf ? static_cast<const leaf_node&>(n).source : nullptr;
}
/// Whether a node is a whole array for a text. It has no axes, and no view changes it.
inline bool is_whole_array(const tree_node& n) {
    return kind_of(n) == detail::word_kind::scalar && detail::code_of_word(n.code) != 0;
}
/// The number of axes that operand `i` has beyond those of the node.
inline int binds(const tree_node& n, int i) { return detail::binds_value(kind_of(n), i) ? n.bound : 0; }
/// Whether a walk may meet the node twice. A node with one reference has one user as long as the walk holds its root.
inline bool may_be_shared(const tree_node& n) { return n.references.load(std::memory_order_relaxed) > 1; }

/// A node without arguments, with one reference. `more_bytes` follow it in memory.
template <class N>
N* new_node(detail::word code, std::size_t more_bytes = 0) {
    N* n = new (::operator new(sizeof(N) + more_bytes)) N;
    n->code = code;
    return n;
}

struct piece_size {
    int nodes = 0, bytes = 0, axes = 0;
    bool fits() const noexcept { return nodes < piece_nodes && bytes <= piece_argument_bytes && axes <= piece_axes; }
};

/// The axes that the trees of a statement bind, or a number beyond piece_axes. Outputs of one shape share what their
/// trees have in common.
int bound_axes_of(std::span<const operand> operands, bool have_several_shapes);

/// Completes a leaf whose layout and source are set: shape, size and hash follow from them.
tree_ref finish_leaf(leaf_node*);
/// A leaf over the array into which a tree will be evaluated.
tree_ref make_materialized(tree_ref source);
/// A node over `arguments`, which it takes over. `pick` belongs to a scan, an unravel or a library function. `size` is
/// the size of the piece without the node.
tree_ref make_branch(detail::word code, std::span<tree_ref> arguments, int bound, const detail::layout* pick,
                     piece_size size);

/// The key of a node in a table: leaves with equal contents share one, other nodes have their own.
inline const tree_node* identity_of(const tree_node& n) {
    return arity_of(n) == 0 ? reinterpret_cast<const tree_node*>(static_cast<std::uintptr_t>(n.hash.low | 1u)) : &n;
}

/// A table from (node, number) to a number, for nodes that a walk has met. It uses open addressing; clearing takes time
/// proportional to its entries.
class node_table {
public:
    static constexpr std::uint32_t absent = ~std::uint32_t{0};
    /// Returns the number stored for the pair. If there was none, stores `value` and returns `absent`.
    std::uint32_t insert(const tree_node* n, std::uint32_t which, std::uint32_t value) {
        if (2 * (used_.size() + 1) > slots_.size()) grow();
        slot& s = find(n, which);
        if (s.node) return s.value;
        s = {n, which, value};
        used_.push_back(static_cast<std::uint32_t>(&s - slots_.data()));
        return absent;
    }
    std::uint32_t at(const tree_node* n, std::uint32_t which) {
        if (slots_.empty()) return absent;
        const slot& s = find(n, which);
        return s.node ? s.value : absent;
    }
    void clear() {
        for (const std::uint32_t u : used_) slots_[u].node = nullptr;
        used_.clear();
    }

private:
    struct slot {
        const tree_node* node = nullptr;
        std::uint32_t which = 0, value = 0;
    };
    slot& find(const tree_node* n, std::uint32_t which) {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = (reinterpret_cast<std::uintptr_t>(n) / 16 + which) * 0x9e3779b97f4a7c15u >> 32;
        while (slots_[i & mask].node && (slots_[i & mask].node != n || slots_[i & mask].which != which)) ++i;
        return slots_[i & mask];
    }
    /// Makes room for all inserts until it grows again. Where memory is missing, the table is unchanged.
    void grow() {
        std::vector<slot> old(slots_.empty() ? 256 : 2 * slots_.size());
        used_.reserve(old.size() / 2);
        slots_.swap(old);
        used_.clear();
        for (const slot& s : old)
            if (s.node) insert(s.node, s.which, s.value);
    }

    std::vector<slot> slots_;
    std::vector<std::uint32_t> used_;
};

/// Workspace of a walk over a tree. A thread has one; between walks it is empty but keeps its memory.
struct tree_walk {
    struct visit {
        const tree_node* node;
        std::uint32_t context;  // for walks that distinguish values computed over other axes
    };
    node_table met;
    std::vector<visit> open;

    static tree_walk& begin() {
        tree_walk& own = per_thread<tree_walk>::own();
        own.met.clear();
        own.open.clear();
        return own;
    }
};

}  // namespace ingot::runtime
