// Views: the same elements under other axes. A view of an expression is the expression over other layouts; nothing is
// computed. A view of an array that may be written is a selection: transpose(x) = e writes x.
// reshape and ravel are in reshape.hpp.
#pragma once

#include <utility>

#include <ingot/expression.hpp>
#include <ingot/selection.hpp>

namespace ingot {
namespace detail {

/// e through the view that `make(view, shape, arguments...)` gives.
template <class E, class Make, class... A>
auto viewed(E&& e, Make make, const A&... arguments) {
    shape_room room;
    view_room view;
    make(view, as_node(std::as_const(e)).extents(room), arguments...);
    return seen(std::forward<E>(e), view);
}

/// Axes reversed, or in the order given: result axis j is axis order[j] of e.
template <array_expression E>
auto transpose(E&& e) {
    return viewed(std::forward<E>(e), view_permuted, nullptr);
}
template <array_expression E>
auto transpose(E&& e, const axes& order) {
    return viewed(std::forward<E>(e), view_permuted, &order);
}
template <array_expression E>
auto permute_dims(E&& e, const axes& order) {
    return viewed(std::forward<E>(e), view_permuted, &order);
}
template <array_expression E>
auto swapaxes(E&& e, index_t a, index_t b) {
    return viewed(std::forward<E>(e), view_axes_swapped, a, b);
}
template <array_expression E>
auto moveaxis(E&& e, const axes& from, const axes& to) {
    return viewed(std::forward<E>(e), view_axis_moved, from, to);
}
/// Elements in reverse along all axes, or those given.
template <array_expression E>
auto flip(E&& e) {
    return viewed(std::forward<E>(e), view_flipped, nullptr);
}
template <array_expression E>
auto flip(E&& e, const axes& which) {
    return viewed(std::forward<E>(e), view_flipped, &which);
}
/// Without the axes of extent 1, or those given.
template <array_expression E>
auto squeeze(E&& e) {
    return viewed(std::forward<E>(e), view_squeezed, nullptr);
}
template <array_expression E>
auto squeeze(E&& e, const axes& which) {
    return viewed(std::forward<E>(e), view_squeezed, &which);
}
/// New axes of extent 1 at these places of the result.
template <array_expression E>
auto expand_dims(E&& e, const axes& where) {
    return viewed(std::forward<E>(e), view_expanded, where);
}
/// The diagonal `offset` above the main one of the plane of two axes, as the last axis.
template <array_expression E>
auto diagonal(E&& e, index_t offset = 0, index_t axis1 = 0, index_t axis2 = 1) {
    return viewed(std::forward<E>(e), view_diagonal, offset, axis1, axis2);
}
/// e repeated to a shape that it broadcasts to; to be read, for elements stand for several.
template <array_expression E>
auto broadcast_to(E&& e, const shape_like& shape) {
    shape_room room;
    view_room view;
    view_broadcast(view, as_node(std::as_const(e)).extents(room), shape.values());
    return node_seen(std::forward<E>(e), view);
}

}  // namespace detail

using detail::broadcast_to;
using detail::diagonal;
using detail::expand_dims;
using detail::flip;
using detail::moveaxis;
using detail::permute_dims;
using detail::squeeze;
using detail::swapaxes;
using detail::transpose;

}  // namespace ingot
