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

/// Axes reversed, or in the order given: result axis j is axis order[j] of e. A view, which computes nothing; of an
/// array that may be written it is written too. Throws shape_error where the order does not name each axis once.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << transpose(m) << '\n' << transpose(m, {1, 0}).shape();
///     // prints: [[1 4]
///     //          [2 5]
///     //          [3 6]]
///     //         (3, 2)
template <array_expression E>
auto transpose(E&& e) {
    return viewed(std::forward<E>(e), view_permuted, nullptr);
}
template <array_expression E>
auto transpose(E&& e, const axes& order) {
    return viewed(std::forward<E>(e), view_permuted, &order);
}

/// Axes in the order given, as `transpose` has it: result axis j is axis order[j] of e. Throws shape_error where the
/// order does not name each axis once.
///
///     std::cout << permute_dims(zeros({2, 3, 4}), {1, 2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto permute_dims(E&& e, const axes& order) {
    return viewed(std::forward<E>(e), view_permuted, &order);
}

/// Two axes in each other's place: a view. Throws shape_error where e does not have them.
///
///     std::cout << swapaxes(zeros({2, 3, 4}), 0, -1).shape();
///     // prints: (4, 3, 2)
template <array_expression E>
auto swapaxes(E&& e, index_t a, index_t b) {
    return viewed(std::forward<E>(e), view_axes_swapped, a, b);
}

/// Axes moved to these places of the result, the others in their order: a view. Throws shape_error where e does not
/// have such axes, one is given twice, or there are not as many of both.
///
///     std::cout << moveaxis(zeros({2, 3, 4}), {0, 1}, {2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto moveaxis(E&& e, const axes& from, const axes& to) {
    return viewed(std::forward<E>(e), view_axis_moved, from, to);
}

/// Elements in reverse along all axes, or those given: a view. Throws shape_error where e does not have such an axis or
/// one is given twice.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << flip(m) << '\n' << flip(m, 1);
///     // prints: [[6 5 4]
///     //          [3 2 1]]
///     //         [[3 2 1]
///     //          [6 5 4]]
template <array_expression E>
auto flip(E&& e) {
    return viewed(std::forward<E>(e), view_flipped, nullptr);
}
template <array_expression E>
auto flip(E&& e, const axes& which) {
    return viewed(std::forward<E>(e), view_flipped, &which);
}

/// Without the axes of extent 1, or without those given: a view. Throws shape_error where one of these has another
/// extent, is given twice or is none of e's.
///
///     std::cout << squeeze(zeros({1, 3, 1})).shape() << ' ' << squeeze(zeros({1, 3, 1}), 0).shape();
///     // prints: (3,) (3, 1)
template <array_expression E>
auto squeeze(E&& e) {
    return viewed(std::forward<E>(e), view_squeezed, nullptr);
}
template <array_expression E>
auto squeeze(E&& e, const axes& which) {
    return viewed(std::forward<E>(e), view_squeezed, &which);
}

/// New axes of extent 1 at these places of the result: a view. Throws shape_error where a place is given twice or
/// beyond the result's axes, of which there are 64 at most.
///
///     std::cout << expand_dims(zeros({2, 3}), {0, -1}).shape();
///     // prints: (1, 2, 3, 1)
template <array_expression E>
auto expand_dims(E&& e, const axes& where) {
    return viewed(std::forward<E>(e), view_expanded, where);
}

/// The diagonal `offset` above the main one of the plane of two axes, as the last axis; the others stand before it. A
/// view: of an array that may be written it is written too. Throws shape_error where e does not have two such axes.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     diagonal(m) = 0;
///     std::cout << m << '\n' << diagonal(m, 1);
///     // prints: [[0 2 3]
///     //          [4 0 6]]
///     //         [2 6]
template <array_expression E>
auto diagonal(E&& e, index_t offset = 0, index_t axis1 = 0, index_t axis2 = 1) {
    return viewed(std::forward<E>(e), view_diagonal, offset, axis1, axis2);
}

/// e repeated to a shape that it broadcasts to; to be read, for elements stand for several. Throws shape_error where it
/// does not broadcast to that.
///
///     std::cout << broadcast_to(array<int>{1, 2, 3}, {2, 3});
///     // prints: [[1 2 3]
///     //          [1 2 3]]
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
