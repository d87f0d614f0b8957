// x(i, all, j) and x(mask): arrays as indices, read and written. A read is one gather for each array of integers. A
// write is a scatter to positions which the same gathers make from the numbers of x's elements; so one function makes
// both, from a leaf or from the numbers of its elements.
#pragma once

#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/compaction.hpp>
#include <ingot/core/composed_functions.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/scans.hpp>

namespace ingot {
namespace detail {

// ---- reading ---------------------------------------------------------------------------------------------------

/// Gathers from `source` at the nodes of indices, which index its last axes in order.
template <index_mode Mode, std::size_t K, class Source, class... Index>
auto gathered_last(Source source, std::tuple<Index...> indices) {
    if constexpr (K == 0) {
        return source;
    } else {
        using index_node = std::tuple_element_t<K - 1, std::tuple<Index...>>;
        constexpr word code = make_word(word_kind::gather, Source::type, static_cast<std::uint32_t>(Mode));
        binder<code, Source, index_node> read(std::move(source), 1, std::move(std::get<K - 1>(indices)));
        return gathered_last<Mode, K - 1>(std::move(read), std::move(indices));
    }
}

/// The indices of one x(...) and the nodes of the arrays among them. `merged` is x's shape with the axes of each mask
/// merged to one, which the mask's array of indices reads.
template <bool Masked, std::size_t Items, class... Index>
struct index_list {
    std::array<index_item, Items> items;
    std::tuple<Index...> arrays;
    std::span<const index_t> merged;
};

/// The elements of a source that a list of indices reads.
template <class Source, bool Masked, std::size_t Items, class... Index>
auto gathered_by(Source whole, const index_list<Masked, Items, Index...>& list) {
    std::tuple<Index...> indices = list.arrays;
    auto source = [&] {
        if constexpr (Masked)
            return reshaped("index", std::move(whole), list.merged);
        else
            return std::move(whole);
    }();
    view_room view, views[sizeof...(Index)], *next = views;
    std::apply(
        [&](auto&... index) {
            shape_room rooms[sizeof...(Index) + 1], *room = rooms;
            const std::array<extents_ref, sizeof...(Index)> shapes{index.extents(*room++)...};
            view_by_arrays(view, views, source.extents(*room), list.items.data(), static_cast<int>(Items),
                           shapes.data());
            (index.apply(*next++, 0), ...);
        },
        indices);
    source.apply(view, 0);
    std::apply([&](const auto&... index) { check_if_unread<index_mode::check>(source, index...); }, list.arrays);
    return gathered_last<index_mode::check, sizeof...(Index)>(std::move(source), std::move(indices));
}

// ---- writing ---------------------------------------------------------------------------------------------------

/// Whether a node contains a run-time tree, which may read anything.
template <class N>
consteval bool has_lazy_leaves() {
    for (const word w : N::program)
        if (kind_of_word(w) == word_kind::lazy) return true;
    return false;
}
template <class N>
bool may_read(const N& node, const buffer* b) {
    return has_lazy_leaves<N>() || node.count(b) != 0;
}

/// Drops the leading axes of extent 1 that `from` has beyond `to`; false where there are none. Throws shape_error where
/// `from` does not broadcast to `to`.
INGOT_API bool view_assigned(view_room&, const char* operation, extents_ref from, extents_ref to);
/// Un-shares a buffer that no operand of the tree reads, and writes a tree that ends in a scatter into it.
INGOT_API void assign_scattered(const char* operation, const tree&, destination to, const buffer* from,
                                std::uint32_t own);

/// A value and its position, as the tree of a scattered output.
template <scatter_rule Rule, class T, class Value, class Place>
struct scattered_tree {
    static constexpr auto program =
        join_words(Value::program, Place::program,
                   std::array<word, 1>{make_word(word_kind::scatter, dtype_of<T>, static_cast<std::uint32_t>(Rule))});
    static constexpr int operands = Value::operands + Place::operands, binders = Value::binders + Place::binders;
    const Value& value;
    const Place& place;
    void gather(cursor& c) const {
        value.gather(c);
        place.gather(c);
    }
    extents_ref extents(shape_room& room) const { return place.extents(room); }
};

/// A node's values in new memory, even where the node is a whole array.
template <class N>
leaf<typename N::value_type> values_apart(const N& node) {
    leaf<typename N::value_type> values;
    evaluate_into<typename N::value_type>(node, values.memory(), values.where());
    return values;
}

/// Writes as write_places, for a buffer that no operand reads.
template <scatter_rule Rule, class T, class Value, class Place>
void scatter_into(const char* operation, leaf<T>& target, const buffer* seen, Value value, const Place& place,
                  std::uint32_t own) {
    shape_room from, to;
    view_room view;
    if (view_assigned(view, operation, value.extents(from), place.extents(to))) value.apply(view, 0);
    const scattered_tree<Rule, T, Value, Place> tree{value, place};
    assign_scattered(operation, gathered<T, scattered_tree<Rule, T, Value, Place>>(tree),
                     {dtype_of<T>, target.memory(), target.where()}, seen, 1 + own);
}
/// Writes `value` into the target's elements with these numbers. `own`: the references to its buffer that the statement
/// holds beside the target's. Operands that read the buffer are computed first, unless others hold the buffer: then the
/// target moves to a copy, and the statement reads the old one.
template <scatter_rule Rule, class T, class Value, class Place>
void write_places(const char* operation, leaf<T>& target, const buffer* seen, Value value, const Place& place,
                  std::uint32_t own) {
    const bool value_reads = may_read(value, seen), place_reads = may_read(place, seen);
    if (value_reads || place_reads) {
        const std::uint32_t of_place = place.count(seen);
        const buffer_ref& memory = target.memory();
        if (memory && (memory->unowned || memory.unique(1 + own + value.count(seen) + of_place))) {
            if (place_reads) {
                const auto first = values_apart(place);
                return write_places<Rule>(operation, target, seen, std::move(value), first, own + of_place);
            }
            auto first = values_apart(value);
            { const Value released(std::move(value)); }  // so that the target is written in place
            return write_places<Rule>(operation, target, seen, std::move(first), place, own);
        }
    }
    scatter_into<Rule>(operation, target, seen, std::move(value), place, own);
}

/// The compound assignments of a class with `update`, as in NumPy: x(i) += e is x(i) = x(i) + e, so of several sums for
/// one element one wins. `Named`: lvalues are written too.
#define INGOT_COMPOUND_MEMBER(symbol, row)                                                                            \
    template <class E>                                                                                                \
        requires applicable<op::row, S, E> && (same_kind(signature_of<op::row, S, E>().result, dtype_of<T>))          \
    S&& operator symbol(E && e)&& {                                                                                   \
        static_cast<S&>(*this).template update<op::row>(std::forward<E>(e));                                          \
        return static_cast<S&&>(*this);                                                                               \
    }                                                                                                                 \
    template <class E>                                                                                                \
        requires Named && applicable<op::row, S, E> && (same_kind(signature_of<op::row, S, E>().result, dtype_of<T>)) \
    S& operator symbol(E && e)& {                                                                                     \
        static_cast<S&>(*this).template update<op::row>(std::forward<E>(e));                                          \
        return static_cast<S&>(*this);                                                                                \
    }
template <class S, class T, bool Named = false>
struct compound_members {
    INGOT_COMPOUND_MEMBER(+=, add)
    INGOT_COMPOUND_MEMBER(-=, subtract)
    INGOT_COMPOUND_MEMBER(*=, multiply)
    INGOT_COMPOUND_MEMBER(/=, divide)
    INGOT_COMPOUND_MEMBER(%=, remainder)
    INGOT_COMPOUND_MEMBER(&=, bitwise_and)
    INGOT_COMPOUND_MEMBER(|=, bitwise_or)
    INGOT_COMPOUND_MEMBER(^=, bitwise_xor)
    INGOT_COMPOUND_MEMBER(<<=, left_shift)
    INGOT_COMPOUND_MEMBER(>>=, right_shift)
};
#undef INGOT_COMPOUND_MEMBER

/// The type of x(i, all, j) for an array x that may be written: an expression, and a target within the statement.
template <class T, class Read, class Place>
class indexed_selection : public expression_members<indexed_selection<T, Read, Place>>,
                          public compound_members<indexed_selection<T, Read, Place>, T> {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;

    indexed_selection(Read read, Place place, leaf<T>& target, const buffer* seen)
        : read_(std::move(read)), place_(std::move(place)), target_(&target), seen_(seen) {}
    indexed_selection(const indexed_selection&) = default;
    indexed_selection(indexed_selection&&) noexcept = default;

    /// Writes e, broadcast and converted, to the elements that the indices name; of several values for one element one
    /// wins. Throws shape_error where e does not broadcast.
    template <class E>
        requires assignable_to<E, T>
    void operator=(E&& e) && {
        assign_value("assign", std::forward<E>(e));
    }
    INGOT_REJECTED("a selection is written in its own statement: x(i) = 7", (class E), (assignable_to<E, T>),
                   void operator=(E&&) &)
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    void operator=(const indexed_selection& e) && { assign_value("assign", e); }

    // Inner
    const Read& as_leaf() const& noexcept { return read_; }
    Read as_leaf() && noexcept { return std::move(read_); }
    template <class E>
    void assign_value(const char* operation, E&& e) {
        write<scatter_rule::set>(operation, std::forward<E>(e));
    }
    template <op O, class E>
    void update(E&& e) {
        assign_value(facts(O).name.data(), apply_operator<O>(*this, std::forward<E>(e)));
    }
    template <scatter_rule Rule, class E>
    void write(const char* operation, E&& e) {
        auto value = source_node<T>(operation, std::forward<E>(e));
        write_places<Rule>(operation, *target_, seen_, std::move(value), place_, read_.count(seen_));
    }
    bool is_on_host() const { return target_->on_device().is_host(); }
    /// Calls f(array, its buffer, the numbers of its elements, the statement's own references to the buffer).
    template <class F>
    void with_places(F&& f) {
        f(*target_, seen_, place_, read_.count(seen_));
    }

private:
    Read read_;
    Place place_;
    leaf<T>* target_;
    const buffer* seen_;
};

// ---- masks -----------------------------------------------------------------------------------------------------

/// The shape of an array with the axes of each mask among the indices merged to one; a mask of no axes adds one of
/// extent 1. `masks` has a mask's extents for each item, rank -1 where the item is no mask. Throws shape_error where
/// extents differ, index_error where there are too many indices.
INGOT_API std::span<const index_t> shape_under_masks(shape_room&, extents_ref of, const index_item* items,
                                                     const extents_ref* masks, int count);
/// Throws shape_error where a mask is not over the first axes of a shape.
INGOT_API void check_mask(extents_ref mask, extents_ref of);
/// The shape of an array whose first axes, those of a mask, are merged to one.
INGOT_API std::span<const index_t> shape_under_mask(shape_room&, extents_ref mask, extents_ref of);

/// Appends axes of extent 1 to a mask's.
INGOT_API void view_trailing(view_room&, extents_ref mask, int axes);

/// The indices along one axis of the elements of a mask that are true.
template <class M>
array<index_t> true_places(const M& mask) {
    const leaf<bool> flags = contiguous_values_as<bool>(mask);
    return compact<index_t>("index", {kept::places, {}, elements_of(flags)});
}

/// The elements of `values` where `mask` is true, in order; both have one axis. Waits for their number. Contiguous
/// values are copied from memory; values of a tree are computed only where the mask is true.
template <class V, class M>
auto compressed(const V& values, const M& mask) {
    using T = typename V::value_type;
    if constexpr (may_be_leaf<V>)
        if (const auto from = leaf_of(values); from && from->memory() && is_contiguous(from->where())) {
            const leaf<bool> flags = contiguous_values_as<bool>(mask);
            if (const device_id a = from->on_device(), b = flags.on_device(); a != b && b != no_device)
                throw_two_devices("index", a, b);
            return compact<T>("index", {kept::flagged, elements_of(*from), elements_of(flags)});
        }
    return array<T>(take<unchecked_mode>(values, true_places(mask), 0));
}

/// A mask unchanged; for any other expression the mask of its elements that are not 0.
template <class E>
decltype(auto) as_mask(const char* operation, const E& e) {
    if constexpr (std::same_as<typename E::value_type, bool>)
        return as_node(e);
    else
        return make_node<op::astype, dtype::b1>(operation, as_node(e));
}

/// The indices of the elements of e, which has one axis, that are not 0.
template <class E>
array<index_t> true_indices(const E& e) {
    return true_places(as_mask("index", e));
}

/// e with its first axes, those of a mask, merged to one.
template <class E>
auto under_mask(E&& e, extents_ref mask) {
    shape_room room, from;
    auto node = as_node(std::forward<E>(e));
    return reshaped("index", node, shape_under_mask(room, mask, node.extents(from)));
}

/// The elements of e, or its slices along the remaining axes, for which a mask over the first axes is true.
template <class N, class Mask>
auto selected_by(N&& e, const Mask& mask) {
    shape_room room;
    const auto rows = under_mask(std::forward<N>(e), mask.extents(room));
    if (rows.ndim() == 1) return compressed(rows, ravel(mask));
    return array(take<unchecked_mode>(rows, true_indices(ravel(mask)), 0));
}

/// The type of x(mask) for an array x that may be written: an array when read, a target within the statement.
template <class T, class Mask>
class masked_selection : public expression_members<masked_selection<T, Mask>>,
                         public compound_members<masked_selection<T, Mask>, T> {
public:
    using value_type = T;
    static constexpr dtype type = dtype_of<T>;

    masked_selection(selection<T> whole, Mask mask) : whole_(std::move(whole)), mask_(std::move(mask)) {}
    masked_selection(const masked_selection&) = default;
    masked_selection(masked_selection&&) noexcept = default;

    /// Writes e to the elements for which the mask is true: one value for each in order, or e broadcast. Throws
    /// shape_error where e does not broadcast.
    template <class E>
        requires assignable_to<E, T>
    void operator=(E&& e) && {
        if constexpr (array_expression<E>)
            if (wants_values(e)) return assign_value("assign", std::forward<E>(e));
        assign_everywhere("assign", std::forward<E>(e));
    }
    INGOT_REJECTED("a selection is written in its own statement: x(mask) = 7", (class E), (assignable_to<E, T>),
                   void operator=(E&&) &)
    // NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
    void operator=(const masked_selection& e) && { assign_value("assign", e); }

    // Inner
    const leaf<T>& as_leaf() const {
        if (!chosen_) chosen_ = selected_by(whole_.as_leaf(), mask_).as_leaf();
        return *chosen_;
    }
    /// Writes one value for each selected element.
    template <class E>
    void assign_value(const char* operation, E&& e) {
        shape_room room;
        const extents_ref mask = mask_.extents(room);
        const array<index_t> indices = true_indices(ravel(mask_));
        const leaf<T>& seen = whole_.as_leaf();
        auto place = take<unchecked_mode>(under_mask(positions<T>(seen.where()), mask), indices, 0);
        const buffer* const buffer = seen.memory().get();
        write_places<scatter_rule::set>(operation, access::target(whole_), buffer,
                                        source_node<T>(operation, std::forward<E>(e)), place, 1 + mask_.count(buffer));
    }

    template <op O, class E>
    void update(E&& e) {
        const char* operation = facts(O).name.data();
        if constexpr (array_expression<E>)
            if (wants_values(e)) return assign_value(operation, apply_operator<O>(*this, std::forward<E>(e)));
        assign_everywhere(operation, apply_operator<O>(whole_.as_leaf(), std::forward<E>(e)));
    }

private:
    /// Whether e has as many axes as the selected elements, and more than one element along the first of these.
    template <class E>
    bool wants_values(const E& e) const {
        shape_room room, of_mask, of_whole;
        const extents_ref given = as_node(e).extents(room);
        const int rest = whole_.as_leaf().extents(of_whole).rank - mask_.extents(of_mask).rank;
        return given.rank > rest && given.data[given.rank - rest - 1] != 1;
    }
    /// Computes x = where(mask, e, x) in place.
    template <class E>
    void assign_everywhere(const char* operation, E&& e) {
        shape_room of_mask, of_whole, of_value;
        const extents_ref whole = whole_.as_leaf().extents(of_whole);
        const int rest = whole.rank - mask_.extents(of_mask).rank;
        Mask mask = std::move(mask_);  // its references to the array are then the statement's own
        view_room view;
        view_trailing(view, mask.extents(of_mask), rest);
        if (rest != 0) mask.apply(view, 0);
        auto value = make_node<op::astype, dtype_of<T>>(operation, source_node<T>(operation, std::forward<E>(e)));
        if (view_assigned(view, operation, value.extents(of_value), {whole.data, whole.rank})) value.apply(view, 0);
        leaf<T> old = whole_.as_leaf();
        detail::write(operation, std::move(whole_), where(std::move(mask), std::move(value), std::move(old)));
    }

    selection<T> whole_;
    Mask mask_;
    mutable std::optional<leaf<T>> chosen_;
};

// ---- x(...) ----------------------------------------------------------------------------------------------------

/// The node of an index of x(...): an array's own, or the true indices of a mask in C order, which are found now. A
/// bool is a mask of no axes.
template <any_index I>
auto listed_index(I&& i) {
    if constexpr (std::same_as<std::remove_cvref_t<I>, bool>)
        return std::tuple(zeros<index_t>({i ? 1 : 0}).as_leaf());
    else if constexpr (integer_array<I>)
        return std::tuple(as_node(std::forward<I>(i)));
    else if constexpr (mask_array<I>)
        return std::tuple(true_indices(ravel(i)).as_leaf());
    else
        return std::tuple<>();
}
template <any_index I>
index_item listed_item(const I& i) {
    if constexpr (array_argument<I> || std::same_as<I, bool>)
        return {index_item::form::array};
    else
        return as_index_item(i);
}
/// The extents of a mask; rank -1 for any other index.
template <any_index I>
extents_ref extents_of_mask(const I& i, shape_room& room) {
    if constexpr (mask_array<I>)
        return as_node(i).extents(room);
    else
        return {nullptr, std::same_as<I, bool> ? 0 : -1};
}
template <class I>
concept any_mask = mask_array<I> || std::same_as<std::remove_cvref_t<I>, bool>;

/// The indices of x(...) for an x of this shape. Throws shape_error where a mask does not have the extents of its axes.
template <class... I>
auto list_indices(shape_room& merged, extents_ref of, I&&... indices) {
    const std::array<index_item, sizeof...(I)> items{listed_item(indices)...};
    std::span<const index_t> shape;
    if constexpr ((any_mask<I> || ...)) {
        shape_room rooms[sizeof...(I)], *next = rooms;
        const extents_ref masks[] = {extents_of_mask(indices, *next++)...};
        shape = shape_under_masks(merged, of, items.data(), masks, sizeof...(I));
    }
    auto arrays = std::tuple_cat(listed_index(std::forward<I>(indices))...);
    return [&]<class... N>(std::tuple<N...>&& nodes) {
        return index_list<(any_mask<I> || ...), sizeof...(I), N...>{items, std::move(nodes), shape};
    }(std::move(arrays));
}

template <class E, class... I>
auto index_by_arrays(E&& e, I&&... indices) {
    if constexpr (sizeof...(I) == 1 && (mask_array<I> && ...)) {
        shape_room room, of_mask;
        auto node = as_node((std::forward<I>(indices), ...));  // a temporary's node holds no reference to the array
        check_mask(node.extents(of_mask), as_node(std::as_const(e)).extents(room));
        if constexpr (requires { std::forward<E>(e).as_selection(); }) {
            auto whole = std::forward<E>(e).as_selection();
            return masked_selection<typename std::remove_cvref_t<E>::value_type, decltype(node)>(std::move(whole),
                                                                                                 std::move(node));
        } else {
            return selected_by(std::forward<E>(e), node);
        }
    } else {
        shape_room room, merged;
        const auto list = list_indices(merged, as_node(std::as_const(e)).extents(room), std::forward<I>(indices)...);
        if constexpr (requires { std::forward<E>(e).as_selection(); }) {
            auto whole = std::forward<E>(e).as_selection();
            using T = typename decltype(whole)::value_type;
            const leaf<T>& seen = whole.as_leaf();
            auto read = gathered_by(seen, list);
            auto place = gathered_by(positions<T>(seen.where()), list);
            return indexed_selection<T, decltype(read), decltype(place)>(std::move(read), std::move(place),
                                                                         access::target(whole), seen.memory().get());
        } else {
            return gathered_by(as_node(std::forward<E>(e)), list);
        }
    }
}

}  // namespace detail
}  // namespace ingot
