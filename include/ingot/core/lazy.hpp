// lazy<T>: an expression whose tree exists at run time, for trees that loops make or whose type would grow too large.
// The tree is an immutable shared DAG and a lazy is a handle to a node, so `x = x * a + b` makes new nodes over the old
// one. An elementwise operation with a lazy operand gives a lazy. A tree that outgrows a kernel is cut while it is
// built: see runtime/trees/tree.hpp.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <ingot/core/expression.hpp>

namespace ingot {
namespace detail {

/// A hash of 128 bits, equal for two trees with equal words over the same arrays, views and scalars.
struct tree_hash {
    std::uint64_t low = 0x243f6a8885a308d3u;
    std::uint64_t high = 0x13198a2e03707344u;
    friend bool operator==(const tree_hash&, const tree_hash&) = default;
};

/// The head of every node of a run-time tree; its operands follow (runtime/trees/tree.hpp).
struct tree_node {
    std::atomic<std::uint32_t> references{1};
    word code = 0;
    tree_hash hash;
    const index_t* shape = nullptr;  // held by this node or one beneath it
    std::uint8_t rank = 0;
    std::uint8_t bound = 0;  // a binder's attribute word
    device_id device;        // no_device: scalars alone
    // Facts of the piece that ends here, without pieces cut off below; a larger number is stored as the field's
    // maximum.
    std::uint32_t nodes : 12 = 0;
    std::uint32_t bound_axes : 6 = 0;       // bound by all its binders
    std::uint32_t argument_bytes : 14 = 0;  // its leaves' part of a kernel's arguments

    extents_ref extents() const noexcept { return {shape, rank}; }
};

INGOT_API void release_tree(tree_node&) noexcept;

/// A counted pointer to a node, or null.
class tree_ref {
public:
    tree_ref() noexcept = default;
    /// Takes over one reference that is counted already.
    static tree_ref adopt(tree_node* counted) noexcept {
        tree_ref r;
        r.node_ = counted;
        return r;
    }
    static tree_ref share(tree_node* n) noexcept {
        n->references.fetch_add(1, std::memory_order_relaxed);
        return adopt(n);
    }
    tree_ref(const tree_ref& other) noexcept : node_(other.node_) {
        if (node_) node_->references.fetch_add(1, std::memory_order_relaxed);
    }
    tree_ref(tree_ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    tree_ref& operator=(tree_ref other) noexcept {
        std::swap(node_, other.node_);
        return *this;
    }
    ~tree_ref() {
        if (node_) release_tree(*node_);
    }

    tree_node* get() const noexcept { return node_; }
    tree_node* operator->() const noexcept { return node_; }
    tree_node& operator*() const noexcept { return *node_; }
    explicit operator bool() const noexcept { return node_ != nullptr; }
    /// Gives the counted reference away.
    tree_node* detach() noexcept { return std::exchange(node_, nullptr); }

private:
    tree_node* node_ = nullptr;
};

/// Makes the nodes of a program; lazy operands join with the nodes they have.
INGOT_API tree_ref make_tree(std::span<const word> program, std::span<const operand> operands,
                             std::span<const word> attributes);
/// The tree under a view of its result: new nodes, with the view on every layout beneath.
INGOT_API tree_ref view_tree(const tree_ref&, const axis_view&, int bound);
/// The tree under a reshape; null where a layout does not allow it.
INGOT_API tree_ref reshape_tree(const tree_ref&, std::span<const index_t> shape, int bound);
/// A leaf over the array into which the tree will be evaluated; a leaf stays as it is.
INGOT_API tree_ref keep_tree(const tree_ref&);
/// Whether the tree shows a buffer's elements unchanged, and if so their buffer and layout.
INGOT_API bool find_leaf(const tree_node&, buffer_ref& memory, layout& where);
/// The references to a buffer that end with the tree's only owner: those of nodes that nothing else holds.
INGOT_API std::uint32_t count_own(const tree_node&, const buffer*) noexcept;
[[noreturn]] INGOT_API void throw_moved_from();

}  // namespace detail

/// An expression whose tree exists at run time, for trees that loops make. An elementwise operation with a lazy operand
/// gives a lazy. It has the members of every expression (members.hpp).
///
///     array<double> x{0, 1, 2};
///     lazy p = scalar(1.0);
///     for (int k = 0; k < 3; ++k) p = p * x + 1;
///     std::cout << p;
///     // prints: [ 1.  4. 15.]
template <class T>
class lazy : public detail::expression_members<lazy<T>> {
    static_assert(
        element_type<T>,
        "lazy<T>: T must be bool, an integer, a float of 16, 32 or 64 bits, or std::complex of one of 32 or 64");

public:
    using value_type = T;
    static constexpr dtype type = detail::dtype_of<T>;
    static constexpr std::array<detail::word, 1> program{detail::make_word(detail::word_kind::lazy, type)};
    // It counts as a tree of maximum size, so that every operator over it makes a lazy.
    static constexpr int operands = 1, binders = 0, nodes = detail::static_nodes;

    /// No elements, of shape (0,), until an expression is assigned.
    lazy() : lazy(array<T>()) {}

    /// Takes an expression as T, of the same kind or a wider one; other conversions are explicit: `lazy<int> k =
    /// astype<int>(e)`. Nothing is computed.
    template <array_expression E>
        requires(!std::same_as<std::remove_cvref_t<E>, lazy> && detail::same_kind(E::type, type))
    lazy(const E& e) : tree_(tree_of(detail::as_node(e))) {}
    INGOT_REJECTED("an expression of a greater kind is converted by name: lazy<int> k = astype<int>(e); real(e)",
                   (array_expression E), !detail::same_kind(E::type, type), lazy(const E&))

    // Inner: what the last word of `Node` makes of its operands, without the node.
    template <class Node, class... A>
    static lazy applied(const A&... arguments) {
        detail::operand gathered[Node::operands];
        detail::word attributes[Node::binders + 1];
        detail::cursor c{gathered, attributes};
        (arguments.gather(c), ...);
        return lazy(detail::make_tree(Node::program, gathered, {attributes, static_cast<std::size_t>(Node::binders)}));
    }

    // Inner: over a tree of this dtype.
    static lazy of(detail::tree_ref tree) noexcept { return lazy(std::move(tree)); }
    // Inner
    const detail::tree_ref& tree() const noexcept { return tree_; }
    // Inner: the same value, evaluated once into an array of its own when something is that reads it.
    lazy kept() const { return lazy(detail::keep_tree(tree_)); }

    // Inner: what every node has.
    void gather(detail::cursor& c) const {
        detail::operand& o = *c.operands++;
        o.kind = detail::operand_kind::lazy;
        o.type = type;
        o.tree = &node();
    }
    detail::extents_ref extents(detail::shape_room&) const { return node().extents(); }
    void apply(const detail::axis_view& v, int bound) { tree_ = detail::view_tree(tree_, v, bound); }
    bool try_reshape(std::span<const index_t> shape, int bound) {
        detail::tree_ref reshaped = detail::reshape_tree(tree_, shape, bound);
        if (!reshaped) return false;
        tree_ = std::move(reshaped);
        return true;
    }
    detail::device_id on_device() const { return node().device; }
    std::uint32_t count(const detail::buffer* b) const noexcept { return tree_ ? detail::count_own(*tree_, b) : 0; }

private:
    explicit lazy(detail::tree_ref tree) noexcept : tree_(std::move(tree)) {}

    const detail::tree_node& node() const {
        if (!tree_) detail::throw_moved_from();
        return *tree_;
    }

    template <class N>
    static detail::tree_ref tree_of(const N& e) {
        using namespace detail;
        operand gathered[N::operands];
        word attributes[N::binders + 1];
        cursor c{gathered, attributes};
        e.gather(c);
        const std::span<const word> bound{attributes, static_cast<std::size_t>(N::binders)};
        if constexpr (N::type == type) {
            return make_tree(N::program, gathered, bound);
        } else {
            constexpr word cast = make_word(word_kind::map, type, static_cast<std::uint32_t>(op::astype));
            return make_tree(join_words(N::program, std::array<word, 1>{cast}), gathered, bound);
        }
    }

    detail::tree_ref tree_;
};

template <array_expression E>
lazy(const E&) -> lazy<typename E::value_type>;

namespace detail {

template <class T>
std::optional<leaf<T>> leaf_of(const lazy<T>& e) {
    if (!e.tree()) throw_moved_from();
    leaf<T> l;
    if (!find_leaf(*e.tree(), l.memory(), l.where())) return {};
    return l;
}

}  // namespace detail

}  // namespace ingot
