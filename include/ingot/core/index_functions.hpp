// Functions that read and write at indices: along an axis, by choice, where a condition is true.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// The views of take_along_axis: source and index over the result's axes, the source's own axis last. Throws
/// shape_error.
INGOT_API void view_along_axis(view_room& source, view_room& index, const char* operation, extents_ref source_shape,
                               extents_ref index_shape, index_t axis);
/// The view with one axis that steps along all axes of a shape at once. Throws shape_error.
INGOT_API void view_main_diagonal(view_room&, const char* operation, extents_ref shape);

template <index_mode Mode, class Source, class I>
auto along_axis(const char* operation, Source source, I&& indices, index_t axis) {
    using index_node = node_of<I>;
    index_node index = as_node(std::forward<I>(indices));
    if (const device_id a = source.on_device(), b = index.on_device(); !may_meet(a, b))
        throw_two_devices(operation, a, b);
    shape_room room, index_room;
    view_room view, index_view;
    view_along_axis(view, index_view, operation, source.extents(room), index.extents(index_room), axis);
    source.apply(view, 0);
    index.apply(index_view, 0);
    constexpr word code = make_word(word_kind::gather, Source::type, static_cast<std::uint32_t>(Mode));
    return binder<code, Source, index_node>(std::move(source), 1, std::move(index));
}

/// Along `axis` reads the element that `indices` names, at the same index on the other axes: result[i, j] =
/// e[indices[i, j], j] along axis 0. Both have the same rank and broadcast on all axes but `axis`. `Mode` says what an
/// index outside does. Throws shape_error where the shapes do not fit.
///
///     array<int> m{{3, 1, 2}, {6, 5, 4}};
///     std::cout << take_along_axis(m, array<int>{{1, 2, 0}, {2, 1, 0}}, 1);
///     // prints: [[1 2 3]
///     //          [4 5 6]]
template <index_mode Mode = index_mode::check, array_expression E, integer_array I>
auto take_along_axis(E&& e, I&& indices, index_t axis) {
    return along_axis<Mode>("take_along_axis", as_node(std::forward<E>(e)), std::forward<I>(indices), axis);
}

// ---- choices ---------------------------------------------------------------------------------------------------

template <std::size_t K, class N, class Choices>
auto chosen_from(const N& number, const Choices& choices) {
    if constexpr (K + 1 == std::tuple_size_v<Choices>)
        return std::get<K>(choices);
    else
        return where(number == static_cast<index_t>(K), std::get<K>(choices), chosen_from<K + 1>(number, choices));
}

/// Each element comes from the expression in the tuple that `which` numbers. The expressions broadcast together, and
/// the result has the type to which theirs promote. `Mode` says what a number outside does.
///
///     array<int> a{1, 2, 3};
///     std::cout << choose(array<int>{0, 1, 0}, std::tuple{a, a * 10});
///     // prints: [ 1 20  3]
template <index_mode Mode = index_mode::check, integer_array I, operand_like... C>
    requires(sizeof...(C) > 1)
auto choose(const I& which, const std::tuple<C...>& choices) {
    return chosen_from<0>(take<Mode>(position_along<I>(sizeof...(C), 0), which, 0), choices);
}

template <std::size_t K, class Conditions, class Choices, class Otherwise>
auto selected_from(const Conditions& conditions, const Choices& choices, const Otherwise& otherwise) {
    if constexpr (K == std::tuple_size_v<Conditions>)
        return otherwise;
    else
        return where(std::get<K>(conditions), std::get<K>(choices),
                     selected_from<K + 1>(conditions, choices, otherwise));
}

/// Each element comes from the first choice whose condition is true, else from `otherwise`; all broadcast together.
///
///     array<int> a{1, 5, 9};
///     std::cout << select(std::tuple{a < 3, a < 7}, std::tuple{a, a * 10}, -1);
///     // prints: [ 1 50 -1]
template <array_expression... Condition, operand_like... C, operand_like D = int>
    requires(sizeof...(Condition) == sizeof...(C))
auto select(const std::tuple<Condition...>& conditions, const std::tuple<C...>& choices, const D& otherwise = 0) {
    return selected_from<0>(conditions, choices, otherwise);
}

// ---- where something is true -----------------------------------------------------------------------------------

/// The indices of the elements that are not 0, counted in C order over all axes. Waits for their number.
///
///     std::cout << flatnonzero(array<int>{{0, 3}, {4, 0}});
///     // prints: [1 2]
template <array_expression E>
array<index_t> flatnonzero(const E& e) {
    return true_indices(ravel(e));
}

/// Converts flat indices to indices along each axis, one array for each; rows_of_indices gives them as rows.
INGOT_API std::vector<array<index_t>> indices_of_places(const array<index_t>& place, const shape_like& shape);
INGOT_API array<index_t> rows_of_indices(const array<index_t>& place, const shape_like& shape);

/// The indices of the elements that are not 0, one array i, j, ... for each axis: x(i, j) is these elements. Waits for
/// their number.
///
///     const auto found = nonzero(array<int>{{0, 3}, {4, 0}});
///     std::cout << found[0] << ' ' << found[1];
///     // prints: [0 1] [1 0]
template <array_expression E>
std::vector<array<index_t>> nonzero(const E& e) {
    return indices_of_places(flatnonzero(e), e.shape());
}
/// The indices of the elements that are true or not 0, as in `nonzero`.
///
///     std::cout << where(array<int>{5, 0, 7} > 0)[0];
///     // prints: [0 2]
template <array_expression E>
std::vector<array<index_t>> where(const E& condition) {
    return nonzero(condition);
}

/// The indices of the elements that are not 0 as rows, of shape (number, ndim). Waits for their number.
///
///     std::cout << argwhere(array<int>{{0, 3}, {4, 0}});
///     // prints: [[0 1]
///     //          [1 0]]
template <array_expression E>
array<index_t> argwhere(const E& e) {
    return rows_of_indices(flatnonzero(e), e.shape());
}

/// The slices of e along an axis where `condition`, a vector of at most that extent, is true; without an axis the
/// elements in C order. Waits for their number. Throws shape_error where the condition has more axes or is longer.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << compress(array<bool>{true, false, true}, m, 1);
///     // prints: [[1 3]
///     //          [4 6]]
template <array_expression C, array_expression E>
auto compress(const C& condition, const E& e, index_t axis) {
    const index_t extent = e.shape()[checked_axis("compress", axis, e.ndim())];
    if (condition.ndim() != 1 || condition.size() > extent)
        throw shape_error("[compress] a condition of shape " + to_text(condition.shape().values()) + " for axis " +
                          std::to_string(axis) + " of shape " + to_text(e.shape().values()));
    const slice tested(0, condition.size());
    if (e.ndim() == 1) return compressed(sliced("compress", e, 0, tested), as_mask("compress", condition));
    return array(take<unchecked_mode>(e, flatnonzero(condition), axis));
}
template <array_expression C, array_expression E>
auto compress(const C& condition, const E& e) {
    return compress(condition, ravel(e), 0);
}

/// The elements of e in C order where `condition`, which has as many elements, is true. Waits for their number. Throws
/// shape_error where the sizes differ.
///
///     array<int> a{3, 4, 5, 6};
///     std::cout << extract(a % 2 == 0, a);
///     // prints: [4 6]
template <array_expression C, array_expression E>
auto extract(const C& condition, const E& e) {
    if (condition.size() != e.size())
        throw shape_error("[extract] a condition of shape " + to_text(condition.shape().values()) +
                          " for an array of shape " + to_text(e.shape().values()));
    return compressed(ravel(e), ravel(as_mask("extract", condition)));
}

// ---- writing ---------------------------------------------------------------------------------------------------

/// An array that may be written, a view of one, or a selection from one.
template <class D>
concept selectable = requires(D&& x) { std::forward<D>(x).as_selection(); };
template <class D>
using selected_type = typename std::remove_cvref_t<D>::value_type;

/// The target of a statement's write: an array's leaf, and the part of it.
template <class T>
struct written_part {
    explicit written_part(selection<T> part) : target(access::target(part)), where(access::seen(part).where()) {}
    leaf<T>& target;
    layout where;
};

/// n values; they repeat from the first where there are fewer.
template <class V>
auto repeated_values(const V& values, index_t n) {
    if constexpr (array_expression<V>)
        return take<index_mode::wrap>(ravel(values), position_along<V>(n, 0), 0);
    else
        return values;
}

/// Writes values to the elements of an array, or of a part of one, that `indices` number in C order; values repeat from
/// the first where there are fewer. Of several values for one element one wins. `Mode` says what an index outside does.
///
///     array<int> m = zeros<int>({2, 2});
///     put(m, array<int>{0, 3}, array<int>{7, 8});
///     std::cout << m;
///     // prints: [[7 0]
///     //          [0 8]]
template <index_mode Mode = index_mode::check, class D, integer_array I, class V>
    requires selectable<D> && assignable_to<V, selected_type<D>>
void put(D&& x, const I& indices, const V& values) {
    using T = selected_type<D>;
    const written_part<T> part(std::forward<D>(x).as_selection());
    auto place = take<Mode>(ravel(positions<T>(part.where)), ravel(indices), 0);
    write_places<scatter_rule::set>("put", part.target, part.target.memory().get(),
                                    source_node<T>("put", repeated_values(values, indices.size())), place, 0);
}

/// Writes values in order to the elements of x where `mask`, which has x's shape, is true; values repeat from the first
/// where there are fewer.
///
///     array<int> a{1, 2, 3, 4};
///     place(a, a > 1, array<int>{7, 8});
///     std::cout << a;
///     // prints: [1 7 8 7]
template <class D, array_expression M, class V>
    requires selectable<D> && assignable_to<V, selected_type<D>>
void place(D&& x, const M& mask, const V& values) {
    if (!same_extents(extents_ref::of(mask.shape().values()), extents_ref::of(x.shape().values())))
        throw shape_error("[place] a mask of shape " + to_text(mask.shape().values()) + " for an array of shape " +
                          to_text(x.shape().values()));
    put<unchecked_mode>(std::forward<D>(x), flatnonzero(mask), values);
}

/// Writes to each element of x where `mask`, which has x's shape, is true the value with the element's number in C
/// order; values repeat from the first where there are fewer.
///
///     array<int> a{1, 2, 3, 4};
///     putmask(a, a > 1, array<int>{7, 8});
///     std::cout << a;
///     // prints: [1 8 7 8]
template <class D, array_expression M, class V>
    requires selectable<D> && assignable_to<V, selected_type<D>>
void putmask(D&& x, const M& mask, const V& values) {
    if constexpr (array_expression<V>) {
        auto all_values = reshape(repeated_values(values, x.size()), x.shape());
        std::forward<D>(x)(mask) = all_values(mask);
    } else {
        std::forward<D>(x)(mask) = values;
    }
}

/// Writes e into x, broadcast and converted, as `assign` does; with a mask only where the mask is true.
///
///     array<int> a{1, 2, 3};
///     copyto(a, 0, a > 1);
///     std::cout << a;
///     // prints: [1 0 0]
template <class D, class E>
    requires selectable<D> && assignable_to<E, selected_type<D>>
void copyto(D&& x, const E& e) {
    if constexpr (writable<D>)  // an array or a selection: all but views
        write("copyto", std::forward<D>(x), e);
    else
        write("copyto", std::forward<D>(x).as_selection(), e);
}
template <class D, class E, array_expression M>
    requires selectable<D> && assignable_to<E, selected_type<D>>
void copyto(D&& x, const E& e, const M& mask) {
    using T = selected_type<D>;
    auto value = make_node<op::astype, dtype_of<T>>("copyto", source_node<T>("copyto", e));
    copyto(std::forward<D>(x), detail::where(mask, std::move(value), std::as_const(x)));
}

/// Writes values along `axis` at indices; `take_along_axis` is the corresponding read.
///
///     array<int> m{{3, 1, 2}, {6, 5, 4}};
///     put_along_axis(m, argmax(m, 1, keepdims), 0, 1);
///     std::cout << m;
///     // prints: [[0 1 2]
///     //          [0 5 4]]
template <class D, integer_array I, class V>
    requires selectable<D> && assignable_to<V, selected_type<D>>
void put_along_axis(D&& x, const I& indices, const V& values, index_t axis) {
    using T = selected_type<D>;
    const written_part<T> part(std::forward<D>(x).as_selection());
    auto place = along_axis<index_mode::check>("put_along_axis", positions<T>(part.where), indices, axis);
    write_places<scatter_rule::set>("put_along_axis", part.target, part.target.memory().get(),
                                    source_node<T>("put_along_axis", values), place, 0);
}

/// Writes to the main diagonal, whose indices are equal on all axes. Throws shape_error where x has fewer than two
/// axes, or more than two of different extents.
///
///     array<int> m = zeros<int>({2, 3});
///     fill_diagonal(m, 7);
///     std::cout << m;
///     // prints: [[7 0 0]
///     //          [0 7 0]]
template <class D, class V>
    requires selectable<D> && assignable_to<V, selected_type<D>>
void fill_diagonal(D&& x, const V& value) {
    shape_room room;
    view_room view;
    auto diagonal = std::forward<D>(x).as_selection();
    view_main_diagonal(view, "fill_diagonal", diagonal.as_leaf().extents(room));
    diagonal.apply(view);
    std::move(diagonal) = value;
}

INGOT_REJECTED(
    "it takes three: where(condition, x, y); the indices of true elements are where(condition), nonzero(condition)",
    (array_expression A, operand_like B), true, ::ingot::detail::rejected where(const A&, const B&))

}  // namespace detail

using detail::argwhere;
using detail::choose;
using detail::compress;
using detail::copyto;
using detail::extract;
using detail::fill_diagonal;
using detail::flatnonzero;
using detail::nonzero;
using detail::place;
using detail::put;
using detail::put_along_axis;
using detail::putmask;
using detail::select;
using detail::take_along_axis;
using detail::where;

}  // namespace ingot
