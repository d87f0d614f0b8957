// Builds and releases run-time trees. Every walk has its own stack on the heap, because trees are as deep as loops are
// long.
#include "runtime/trees/tree.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include <ingot/core/error.hpp>
#include <ingot/kernels/kernel_text.hpp>

namespace ingot::runtime {

using detail::extents_ref;
using detail::layout;
using detail::tree_hash;
using detail::word;
using detail::word_kind;

namespace {

void add(tree_hash& h, std::uint64_t v) {
    h.low = (h.low ^ v) * 0x9e3779b97f4a7c15u;
    h.low ^= h.low >> 29;
    h.high = (h.high + v) * 0xc2b2ae3d27d4eb4fu;
    h.high ^= h.high >> 31 ^ h.low;
}
void add(tree_hash& h, const tree_hash& other) {
    add(h, other.low);
    add(h, other.high);
}
void add(tree_hash& h, const layout& l) {
    add(h, static_cast<std::uint64_t>(l.offset));
    for (int j = 0; j < l.rank(); ++j) {
        add(h, static_cast<std::uint64_t>(l.shape()[j]));
        add(h, static_cast<std::uint64_t>(l.strides()[j]));
    }
}

/// Saturates: a count beyond the bounds stays beyond them.
void set_size(tree_node& n, piece_size size) {
    n.nodes = static_cast<std::uint32_t>(std::min(size.nodes, 0xfff)) & 0xfffu;
    n.bound_axes = static_cast<std::uint32_t>(std::min(size.axes, 0x3f)) & 0x3fu;
    n.argument_bytes = static_cast<std::uint32_t>(std::min(size.bytes, 0x3fff)) & 0x3fffu;
}
piece_size size_of(const tree_node& n) {
    return {static_cast<int>(n.nodes), static_cast<int>(n.argument_bytes), static_cast<int>(n.bound_axes)};
}

int bytes_of_layout(const layout& l) { return 8 + 8 * l.rank(); }

// ---- leaves ----------------------------------------------------------------------------------------------------

void set_shape(tree_node& n, extents_ref shape) {
    n.shape = shape.data;
    n.rank = static_cast<std::uint8_t>(shape.rank);
}

/// For a whole array bits[1] is the number of elements.
tree_ref make_leaf_node(word code, const operand& o) {
    auto* n = new_node<leaf_node>(code);
    n->where = *o.where;
    n->device = o.device;
    if (o.memory) {
        // The operand was gathered from a tree that holds a reference, so the count is not 0.
        const_cast<buffer*>(o.memory)->references.fetch_add(1, std::memory_order_relaxed);
        n->memory = buffer_ref::adopt(const_cast<buffer*>(o.memory));
        n->device = o.memory->device;
    }
    n->bits[0] = o.bits[0];
    n->bits[1] = o.bits[1];
    n->last = o.serial;
    return finish_leaf(n);
}

tree_ref make_number(word code, const operand& o) {
    auto* n = new_node<number>(code);
    n->device = detail::no_device;
    set_size(*n, {1, static_cast<int>(detail::size_of(o.type))});
    n->value = {{o.bits[0], o.bits[1]}, o.serial};
    n->type = o.type;
    n->exponent = o.exponent;
    add(n->hash, n->code);
    add(n->hash, n->value.bits[0]);
    if (n->value.bits[1] != 0) add(n->hash, n->value.bits[1]);  // few values have more than eight bytes
    add(n->hash, n->value.serial);
    add(n->hash, static_cast<std::uint64_t>(n->type) | static_cast<std::uint64_t>(n->exponent) << 8);
    return tree_ref::adopt(n);
}

// ---- sizes of pieces -------------------------------------------------------------------------------------------

/// Counts every occurrence of a node: an upper bound without a walk.
piece_size size_by_sum(std::span<tree_ref> arguments) {
    piece_size s;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (i > 0 && arguments[i].get() == arguments[i - 1].get()) continue;
        const piece_size one = size_of(*arguments[i]);
        s.nodes += one.nodes;
        s.bytes += one.bytes;
        s.axes += one.axes;
    }
    return s;
}

piece_size size_with_pick(std::span<tree_ref> arguments, const operand* pick) {
    piece_size s = size_by_sum(arguments);
    if (pick) s.bytes += bytes_of_layout(*pick->where);
    return s;
}

/// The size of a piece of several trees, which share nodes unless each has a context of its own. A node counts once for
/// each binder beneath which it is computed. The walk stops beyond the bounds.
template <class Trees, class Get>
piece_size size_by_walk(const Trees& trees, Get get, bool several_contexts = false) {
    auto& [seen, open] = tree_walk::begin();
    piece_size s;
    std::uint32_t contexts = 0;
    for (const auto& t : trees) {
        if (const tree_node* n = get(t)) open.push_back({n, contexts});
        if (several_contexts) ++contexts;
    }
    while (!open.empty() && s.fits()) {
        const auto [node, context] = open.back();
        const tree_node& n = *node;
        open.pop_back();
        const int arity = arity_of(n);
        if ((arity == 0 || may_be_shared(n)) && seen.insert(identity_of(n), context, 0) != node_table::absent) continue;
        ++s.nodes;
        if (detail::is_binder(kind_of(n))) s.axes += n.bound;
        if (arity == 0)
            s.bytes += n.argument_bytes;
        else if (detail::operands_of_word(n.code))
            s.bytes += bytes_of_layout(static_cast<const picking_branch&>(n).pick);
        for (int i = 0; i < arity; ++i)
            open.push_back({arguments_of(n)[i], detail::binds_value(kind_of(n), i) ? ++contexts : context});
    }
    return s;
}

piece_size size_by_walk(std::span<tree_ref> arguments) {
    return size_by_walk(arguments, [](const tree_ref& a) { return a.get(); });
}

// ---- nodes over nodes ------------------------------------------------------------------------------------------

/// The operation's name in errors.
const char* name_of(word code, std::span<tree_ref> arguments) {
    switch (detail::kind_of_word(code)) {
        case word_kind::map:
            return facts(detail::op_of_word(code)).name.data();
        case word_kind::user:  // the text is its last operand
            return reinterpret_cast<const detail::kernel_text*>(
                       static_cast<const number&>(*arguments.back()).value.bits[0])
                ->name.c_str();
        case word_kind::library:
            return facts(static_cast<detail::library_function>(detail::code_of_word(code))).name.data();
        default:
            return "take";
    }
}

/// The extents to which arguments broadcast: those of an argument, or new ones in `room`.
extents_ref broadcast(word code, std::span<tree_ref> arguments, detail::shape_room& room) {
    extents_ref result = arguments[0]->extents();
    bool alike = true;
    for (const tree_ref& a : arguments.subspan(1)) {
        if (a->rank == 0 || (a->shape == result.data && a->rank == result.rank)) continue;
        if (result.rank == 0)
            result = a->extents();
        else
            alike &= detail::same_extents(result, a->extents());
    }
    if (alike) return result;
    const std::string_view operation = name_of(code, arguments);
    if (detail::kind_of_word(code) == word_kind::user) arguments = arguments.first(arguments.size() - 1);  // no text
    extents_ref shapes[detail::most_arguments];
    std::transform(arguments.begin(), arguments.end(), shapes, [](const tree_ref& a) { return a->extents(); });
    int rank = 0;
    const int source =
        detail::broadcast_shapes(operation.data(), shapes, static_cast<int>(arguments.size()), room, rank);
    return source >= 0 ? shapes[source] : extents_ref{room, rank};
}

device_id common_device(word code, std::span<tree_ref> arguments) {
    device_id d = detail::no_device;
    for (const tree_ref& a : arguments) {
        if (!detail::may_meet(d, a->device)) detail::throw_two_devices(name_of(code, arguments), d, a->device);
        detail::meet(d, a->device);
    }
    return d;
}

extents_ref leading(extents_ref e, int bound) { return {e.data, e.rank - bound}; }

/// The size of the piece below a new elementwise node. Its largest operands are materialized until the piece fits.
piece_size cut(std::span<tree_ref> arguments) {
    piece_size s = size_by_sum(arguments);
    if (!s.fits()) s = size_by_walk(arguments);
    while (!s.fits()) {
        tree_ref* largest = nullptr;
        const auto weight = [&](const tree_ref& a) {
            const piece_size own = size_of(*a);
            return s.nodes >= piece_nodes ? own.nodes : s.axes > piece_axes ? own.axes : own.bytes;
        };
        for (tree_ref& a : arguments)
            if (arity_of(*a) > 0 && (!largest || weight(a) > weight(*largest))) largest = &a;
        if (!largest) break;  // only leaves, of very high rank
        const tree_ref materialized_leaf = make_materialized(*largest), source = *largest;
        for (tree_ref& a : arguments)
            if (a.get() == source.get()) a = materialized_leaf;
        s = size_by_sum(arguments);
        if (!s.fits()) s = size_by_walk(arguments);
    }
    return s;
}

/// For each word, whether it is beneath a binder and so computed over more axes than the result's.
std::vector<bool> beneath_binders(std::span<const word> program) {
    std::vector<bool> beneath(program.size()), open{false};
    for (std::size_t w = program.size(); w-- > 0;) {
        const bool here = open.back();
        beneath[w] = here;
        open.pop_back();
        for (int i = 0; i < detail::arity_of_word(program[w]); ++i)
            open.push_back(here || detail::binds_value(detail::kind_of_word(program[w]), i));
    }
    return beneath;
}

void destroy(tree_node& n) {
    if (is_whole_array(n)) static_cast<leaf_node&>(n).~leaf_node();
    switch (kind_of(n)) {
        case word_kind::leaf:
        case word_kind::generator:
            static_cast<leaf_node&>(n).~leaf_node();
            break;
        case word_kind::scan:
        case word_kind::unravel:
        case word_kind::library:
            static_cast<picking_branch&>(n).~picking_branch();
            break;
        default:
            break;  // only numbers and pointers
    }
    ::operator delete(&n);
}

}  // namespace

int bound_axes_of(std::span<const operand> operands, bool have_several_shapes) {
    const auto tree_of = [](const operand& o) {
        return o.kind == detail::operand_kind::lazy ? static_cast<const tree_node*>(o.tree) : nullptr;
    };
    const piece_size s = size_by_walk(operands, tree_of, have_several_shapes);
    return s.fits() ? s.axes : std::max(s.axes, piece_axes + 1);
}

tree_ref finish_leaf(leaf_node* n) {
    // The shape of a whole array is for its text; the node has no axes.
    set_shape(*n, {n->where.shape(), is_whole_array(*n) ? 0 : n->where.rank()});
    constexpr int bytes_of_whole = 8 * (3 + 2 * detail::most_raw_axes);  // its pointer, count and axes
    set_size(*n,
             {1, is_whole_array(*n) ? bytes_of_whole : bytes_of_layout(n->where) + (n->memory || n->source ? 0 : 16)});
    add(n->hash, n->code);
    if (n->source)
        add(n->hash, n->source->hash);
    else
        add(n->hash, std::bit_cast<std::uintptr_t>(n->memory.get()));
    add(n->hash, n->where);
    add(n->hash, n->bits[0]);
    add(n->hash, n->bits[1]);
    if (n->last != 0) add(n->hash, n->last);
    return tree_ref::adopt(n);
}

tree_ref make_materialized(tree_ref source) {
    auto* n = new_node<leaf_node>(detail::make_word(word_kind::leaf, detail::dtype_of_word(source->code)));
    n->where = detail::contiguous_layout(source->extents().span());
    n->device = source->device;
    n->source = source.detach();
    return finish_leaf(n);
}

tree_ref make_branch(word code, std::span<tree_ref> arguments, int bound, const layout* pick, piece_size size) {
    const word_kind kind = detail::kind_of_word(code);
    detail::shape_room room;
    extents_ref shape{nullptr, 0};
    const device_id device = common_device(code, arguments);
    if (kind == word_kind::map || kind == word_kind::user)
        shape = broadcast(code, arguments, room);
    else if (!pick)
        shape = leading(arguments[0]->extents(), bound);

    tree_node* n;
    tree_node** to;
    // New extents are stored behind the node.
    const auto make = [&]<class N>(std::type_identity<N>) {
        const bool own = shape.data == room;
        N* const made = new_node<N>(code, own ? static_cast<std::size_t>(shape.rank) * sizeof(index_t) : 0);
        if (own) shape.data = std::copy_n(room, shape.rank, reinterpret_cast<index_t*>(made + 1)) - shape.rank;
        n = made;
        to = made->arguments;
        return made;
    };
    if (pick) {
        auto* with_pick = make(std::type_identity<picking_branch>{});
        with_pick->pick = *pick;
        shape = {with_pick->pick.shape(), with_pick->pick.rank()};
    } else if (kind == word_kind::user) {
        make(std::type_identity<user_branch>{});
    } else {
        make(std::type_identity<branch>{});
    }
    set_shape(*n, shape);
    n->bound = static_cast<std::uint8_t>(bound);
    set_size(*n, {size.nodes + 1, size.bytes, size.axes + (detail::is_binder(kind) ? bound : 0)});
    n->device = device;
    add(n->hash, code | static_cast<std::uint64_t>(bound) << 32);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        add(n->hash, arguments[i]->hash);
        to[i] = arguments[i].detach();
    }
    if (pick) add(n->hash, *pick);
    return tree_ref::adopt(n);
}

}  // namespace ingot::runtime

namespace ingot::detail {

using namespace runtime;

void release_tree(tree_node& last) noexcept {
    // Nodes to be destroyed form a list through their shape pointers, which are no longer read. So the depth of a tree
    // costs no stack and no memory.
    tree_node* waiting = nullptr;
    const auto drop = [&](tree_node* n) {
        if (n->references.load(std::memory_order_acquire) != 1 &&
            n->references.fetch_sub(1, std::memory_order_acq_rel) != 1)
            return;
        n->shape = reinterpret_cast<const index_t*>(waiting);
        waiting = n;
    };
    drop(&last);
    while (waiting) {
        tree_node* n = waiting;
        waiting = reinterpret_cast<tree_node*>(const_cast<index_t*>(n->shape));
        for (int i = 0, arity = arity_of(*n); i < arity; ++i) drop(arguments_of(*n)[i]);
        if (tree_node* source = materialized_source(*n)) drop(source);
        destroy(*n);
    }
}

std::uint32_t count_own(const tree_node& n, const buffer* b) noexcept {
    // The recursion ends at materialized leaves, so it is only as deep as one piece.
    if (may_be_shared(n)) return 0;
    std::uint32_t count = 0;
    if (runtime::kind_of(n) == word_kind::leaf || is_whole_array(n))
        count = static_cast<const leaf_node&>(n).memory.get() == b ? 1 : 0;
    for (int i = 0; i < arity_of(n); ++i) count += count_own(*arguments_of(n)[i], b);
    return count;
}

void throw_moved_from() { throw error("[lazy] this lazy was moved from and has no value"); }

namespace {

/// Finds equal nodes while a tree is made, by their hash: several copies in a static tree become one node.
class made_nodes {
public:
    explicit made_nodes(std::size_t nodes) : slots_(per_thread<std::vector<tree_node*>>::own()) {
        slots_.assign(std::bit_ceil(2 * nodes), nullptr);
    }
    /// Replaces the node by an equal one that was made before, if there is one.
    void join(tree_ref& made) {
        std::size_t i = made->hash.low;
        for (;; ++i) {
            tree_node*& known = slots_[i & (slots_.size() - 1)];
            if (known == nullptr) {
                known = made.get();
                return;
            }
            if (known->hash == made->hash) {
                made = tree_ref::share(known);
                return;
            }
        }
    }

private:
    std::vector<tree_node*>& slots_;
};

}  // namespace

tree_ref make_tree(std::span<const word> program, std::span<const operand> operands, std::span<const word> attributes) {
    const std::vector<bool> beneath = attributes.empty() ? std::vector<bool>() : beneath_binders(program);
    // One operator is a few words and should allocate nothing beside its nodes.
    std::array<tree_ref, 6> few;
    std::vector<tree_ref> many(program.size() > few.size() ? program.size() : 0);
    const std::span<tree_ref> stack = many.empty() ? std::span<tree_ref>(few) : many;
    constexpr std::size_t worth_joining = 16;
    std::optional<made_nodes> known;
    if (program.size() > worth_joining) known.emplace(program.size());
    std::size_t height = 0, next_operand = 0, next_attribute = 0;
    for (std::size_t w = 0; w < program.size(); ++w) {
        const word code = program[w];
        const operand* o = operands_of_word(code) ? &operands[next_operand++] : nullptr;
        const auto arity = static_cast<std::size_t>(arity_of_word(code));
        height -= arity;
        const auto arguments = stack.subspan(height, arity);
        tree_ref result;
        switch (kind_of_word(code)) {
            case word_kind::leaf:
            case word_kind::generator:
                result = make_leaf_node(code, *o);
                break;
            case word_kind::scalar:
            case word_kind::text:
                result = o->kind == operand_kind::raw ? make_leaf_node(code, *o) : make_number(code, *o);
                break;
            case word_kind::lazy:
                result = tree_ref::share(const_cast<tree_node*>(static_cast<const tree_node*>(o->tree)));
                break;
            case word_kind::map:
            case word_kind::user:
                result = make_branch(code, arguments, 0, nullptr,
                                     beneath.empty() || !beneath[w] ? cut(arguments) : size_by_sum(arguments));
                break;
            case word_kind::reduce:
            case word_kind::scan:
            case word_kind::gather:
            case word_kind::unravel:
            case word_kind::library:
                result = make_branch(code, arguments, static_cast<int>(attributes[next_attribute++]),
                                     o ? o->where : nullptr, size_with_pick(arguments, o));
                break;
            case word_kind::scatter:
            case word_kind::reference:
                throw error("[lazy] a program that is spliced already");
        }
        if (known) known->join(result);
        stack[height++] = std::move(result);
    }
    return std::move(stack[0]);
}

}  // namespace ingot::detail
