// reshape, ravel and flatten. Where the axes of every layout in the tree merge and split again as asked, a reshape only
// changes strides; else the node reads its operand at the digits of a linear place. It is always lazy.
#pragma once

#include <utility>

#include <ingot/core/binders.hpp>

namespace ingot {
namespace detail {

/// Completes the shape `wanted`, which has at most one -1, for an expression. Throws shape_error.
INGOT_API std::span<const index_t> infer_shape(shape_room&, const char* operation, extents_ref shape,
                                               std::span<const index_t> wanted);

template <class E>
auto reshaped(const char* operation, E&& e, std::span<const index_t> wanted) {
    using node = node_of<E>;
    using result = binder<make_word(word_kind::unravel, node::type), node, pick>;
    node operand = as_node(std::forward<E>(e));
    shape_room room, new_room;
    const extents_ref shape = operand.extents(room);
    const std::span<const index_t> new_shape = infer_shape(new_room, operation, shape, wanted);

    view_room view;
    view_whole(view, shape);
    node merged = operand;
    merged.apply(view, 0);
    layout place = contiguous_layout(new_shape);
    if (merged.try_reshape(new_shape, 0)) {
        for (int j = 0; j < place.rank(); ++j) place.strides()[j] = 0;  // only the place's shape is used
        return result(std::move(merged), 0, pick(std::move(place)));
    }
    view_unravelled(view, operation, shape, new_shape);
    const int bound = shape.rank;
    operand.apply(view, 0);
    return result(std::move(operand), bound, pick(std::move(place)));
}

/// `e` in another shape of equal size, with its elements in C order; one extent may be -1, which is inferred from the
/// others. It is lazy, as views are, and read-only. Throws shape_error where the sizes differ.
///
///     std::cout << reshape(arange(6), {2, 3}) << '\n' << reshape(arange(6), {-1, 2}).shape();
///     // prints: [[0 1 2]
///     //          [3 4 5]]
///     //         (3, 2)
template <array_expression E>
auto reshape(E&& e, const shape_like& shape, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return reshaped("reshape", std::forward<E>(e), shape.values());
}

/// `e` along one axis, with its elements in C order; read-only.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << ravel(m);
///     // prints: [1 2 3 4 5 6]
template <array_expression E>
auto ravel(E&& e) {
    const index_t shape[] = {-1};
    return reshaped("ravel", std::forward<E>(e), shape);
}

/// An alias of `ravel`, since an expression never shares its values.
///
///     std::cout << flatten(array<int>{{1, 2}, {3, 4}});
///     // prints: [1 2 3 4]
template <array_expression E>
auto flatten(E&& e) {
    const index_t shape[] = {-1};
    return reshaped("flatten", std::forward<E>(e), shape);
}

/// The shape with these axes merged to one. Throws shape_error.
INGOT_API shape_like flattened_shape(extents_ref shape, index_t first, index_t last);
/// The shape with one axis split into several. Throws shape_error.
INGOT_API shape_like unflattened_shape(extents_ref shape, index_t axis, const shape_like& extents);

/// `e` with its axes from `first` to `last` merged to one; read-only. Throws shape_error where e does not have them in
/// this order.
///
///     std::cout << flatten(zeros({2, 3, 4}), 0, 1).shape() << ' ' << flatten(zeros({2, 3, 4}), 1, -1).shape();
///     // prints: (6, 4) (2, 12)
template <array_expression E>
auto flatten(E&& e, index_t first, index_t last) {
    shape_room room;
    const shape_like shape = flattened_shape(as_node(std::as_const(e)).extents(room), first, last);
    return reshaped("flatten", std::forward<E>(e), shape.values());
}

/// `e` with one axis split into these extents, one of which may be -1, which is inferred; read-only. Throws shape_error
/// where their product is not the axis' extent.
///
///     std::cout << unflatten(zeros({2, 12}), 1, {3, 4}).shape() << ' ' << unflatten(zeros({6, 2}), 0, {2,
///     -1}).shape();
///     // prints: (2, 3, 4) (2, 3, 2)
template <array_expression E>
auto unflatten(E&& e, index_t axis, const shape_like& extents) {
    shape_room room;
    const shape_like shape = unflattened_shape(as_node(std::as_const(e)).extents(room), axis, extents);
    return reshaped("unflatten", std::forward<E>(e), shape.values());
}

}  // namespace detail

using detail::flatten;
using detail::ravel;
using detail::reshape;
using detail::unflatten;

}  // namespace ingot
