// Views show the same elements under other axes. A view of an expression is the expression over other layouts; nothing
// is computed. A view of an array that may be written is a selection: transpose(x) = e writes x. reshape and ravel are
// in reshape.hpp, windows in windows.hpp, parts in splits.hpp.
#pragma once

#include <tuple>
#include <utility>

#include <ingot/core/expression.hpp>
#include <ingot/core/selection.hpp>

namespace ingot {
namespace detail {

/// e under a view as in `viewed`, but read-only, since one element may occur several times.
template <class E, class Make, class... A>
auto viewed_to_read(E&& e, Make make, const A&... arguments) {
    shape_room room;
    view_room view;
    make(view, as_node(std::as_const(e)).extents(room), arguments...);
    return node_seen(std::forward<E>(e), view);
}

/// The shape of any operand, scalars included.
template <class E>
shape_like shape_of_expression(const E& e) {
    shape_room room;
    return as_node(e).extents(room).span();
}

/// e at a slice of one axis, read-only.
template <class E>
auto sliced(const char* operation, const E& e, index_t axis, slice s) {
    return viewed_to_read(e, view_sliced, operation, axis, as_index_item(s));
}

/// The axes reversed, or in the order given: result axis j is axis order[j] of e. It is a view, which computes nothing;
/// writing it writes the array, where that may be written. Throws shape_error where the order does not name each axis
/// once.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << transpose(m) << '\n' << transpose(m, {1, 0}).shape();
///     // prints: [[1 4]
///     //          [2 5]
///     //          [3 6]]
///     //         (3, 2)
template <array_expression E>
auto transpose(E&& e) {
    return viewed(std::forward<E>(e), view_permuted, nullptr, "transpose");
}
template <array_expression E>
auto transpose(E&& e, const axes& order, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_permuted, &order, "transpose");
}

/// The axes in the order given, as in `transpose`: result axis j is axis order[j] of e. Throws shape_error where the
/// order does not name each axis once.
///
///     std::cout << permute_dims(zeros({2, 3, 4}), {1, 2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto permute_dims(E&& e, const axes& order, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_permuted, &order, "permute_dims");
}

/// Swaps two axes: a view. Throws shape_error where e does not have them.
///
///     std::cout << swapaxes(zeros({2, 3, 4}), 0, -1).shape();
///     // prints: (4, 3, 2)
template <array_expression E>
auto swapaxes(E&& e, index_t a, index_t b, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_axes_swapped, a, b);
}

/// Moves axes to these positions of the result; the others keep their order: a view. Throws shape_error where e does
/// not have such axes, one is given twice, or the two numbers of axes differ.
///
///     std::cout << moveaxis(zeros({2, 3, 4}), {0, 1}, {2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto moveaxis(E&& e, const axes& from, const axes& to, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_axis_moved, from, to);
}

/// Moves one axis before the axis `start`, or to the end where `start` is the number of axes; the others keep their
/// order: a view. Throws shape_error where e does not have such axes.
///
///     std::cout << rollaxis(zeros({2, 3, 4}), 2).shape() << ' ' << rollaxis(zeros({2, 3, 4}), 0, 3).shape();
///     // prints: (4, 2, 3) (3, 4, 2)
template <array_expression E>
auto rollaxis(E&& e, index_t axis, index_t start = 0) {
    return viewed(std::forward<E>(e), view_axis_rolled, axis, start);
}

/// Swaps the last two axes, which transposes each matrix of a stack: a view. Writing it writes the array, where that
/// may be written. Throws shape_error where there are fewer than two axes.
///
///     std::cout << mT(zeros({5, 2, 3})).shape() << '\n' << mT(array<int>{{1, 2}, {3, 4}});
///     // prints: (5, 3, 2)
///     //         [[1 3]
///     //          [2 4]]
template <array_expression E>
auto mT(E&& e) {
    return viewed(std::forward<E>(e), view_matrices_transposed, "mT");
}

/// An alias of `mT`.
///
///     std::cout << matrix_transpose(zeros({5, 2, 3})).shape();
///     // prints: (5, 3, 2)
template <array_expression E>
auto matrix_transpose(E&& e) {
    return viewed(std::forward<E>(e), view_matrices_transposed, "matrix_transpose");
}

/// Reverses the elements along all axes, or those given: a view. Throws shape_error where e does not have such an axis
/// or one is given twice.
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
auto flip(E&& e, const axes& which, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_flipped, &which);
}

/// Reverses the elements along the second axis, as a picture from left to right: a view. Throws shape_error where there
/// are fewer than two axes.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     fliplr(m)(all, 0) = 0;
///     std::cout << m << '\n' << fliplr(m);
///     // prints: [[1 2 0]
///     //          [4 5 0]]
///     //         [[0 2 1]
///     //          [0 5 4]]
template <array_expression E>
auto fliplr(E&& e) {
    return viewed(std::forward<E>(e), view_mirrored, "fliplr", 1);
}

/// Reverses the elements along the first axis, as a picture upside down: a view. Throws shape_error where there is
/// none.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     flipud(m) = array<int>{{7, 8, 9}, {1, 1, 1}};
///     std::cout << m;
///     // prints: [[1 1 1]
///     //          [7 8 9]]
template <array_expression E>
auto flipud(E&& e) {
    return viewed(std::forward<E>(e), view_mirrored, "flipud", 0);
}

/// Turns e by `turns` quarter turns, from the first axis of the plane towards the second: a view. Throws shape_error
/// where e does not have two such axes.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << rot90(m) << '\n' << rot90(m, -1);
///     // prints: [[3 6]
///     //          [2 5]
///     //          [1 4]]
///     //         [[4 1]
///     //          [5 2]
///     //          [6 3]]
template <array_expression E>
auto rot90(E&& e, index_t turns = 1, const axes& plane = {0, 1}) {
    return viewed(std::forward<E>(e), view_rotated, turns, plane);
}

/// Removes the axes of extent 1, or those given: a view. Throws shape_error where one of these has another extent, is
/// given twice or is none of e's.
///
///     std::cout << squeeze(zeros({1, 3, 1})).shape() << ' ' << squeeze(zeros({1, 3, 1}), 0).shape();
///     // prints: (3,) (3, 1)
template <array_expression E>
auto squeeze(E&& e) {
    return viewed(std::forward<E>(e), view_squeezed, nullptr);
}
template <array_expression E>
auto squeeze(E&& e, const axes& which, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_squeezed, &which);
}

/// Adds axes of extent 1 at these positions of the result: a view. Throws shape_error where a position is given twice
/// or lies beyond the result's axes, of which there are 64 at most.
///
///     std::cout << expand_dims(zeros({2, 3}), {0, -1}).shape();
///     // prints: (1, 2, 3, 1)
template <array_expression E>
auto expand_dims(E&& e, const axes& where, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_expanded, where);
}

/// One expression's view with at least `rank` axes; for several expressions a tuple of views.
template <class... E>
auto at_least(int rank, E&&... e) {
    if constexpr (sizeof...(E) == 1)
        return viewed(std::forward<E>(e)..., view_at_least, rank);
    else
        return std::tuple(viewed(std::forward<E>(e), view_at_least, rank)...);
}

/// A view with at least one axis: a value without axes gets one of extent 1. Several expressions give a tuple.
///
///     std::cout << atleast_1d(scalar(7)) << ' ' << atleast_1d(zeros({2, 3})).shape();
///     // prints: [7] (2, 3)
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_1d(E&&... e) {
    return at_least(1, std::forward<E>(e)...);
}

/// A view with at least two axes: axes of extent 1 are added in front. Several expressions give a tuple.
///
///     std::cout << atleast_2d(array<int>{1, 2, 3});
///     // prints: [[1 2 3]]
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_2d(E&&... e) {
    return at_least(2, std::forward<E>(e)...);
}

/// A view with at least three axes: axes of extent 1 are added. A vector's axis becomes the second one, a matrix' axes
/// the first two. Several expressions give a tuple.
///
///     auto [v, m] = atleast_3d(zeros(4), zeros({2, 3}));
///     std::cout << v.shape() << ' ' << m.shape();
///     // prints: (1, 4, 1) (2, 3, 1)
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_3d(E&&... e) {
    return at_least(3, std::forward<E>(e)...);
}

/// The diagonal `offset` above the main one in the plane of two axes, as the last axis; the other axes come first. It
/// is a view: writing it writes the array, where that may be written. Throws shape_error where e does not have two such
/// axes.
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

/// e broadcast to a shape, read-only, since one element occurs several times. Throws shape_error where e does not
/// broadcast to it.
///
///     std::cout << broadcast_to(array<int>{1, 2, 3}, {2, 3});
///     // prints: [[1 2 3]
///     //          [1 2 3]]
template <array_expression E>
auto broadcast_to(E&& e, const shape_like& shape, const source_place& at = source_place::current()) {
    const in_statement of_the_user(at);
    return viewed_to_read(std::forward<E>(e), view_broadcast, "broadcast_to", shape.values());
}

}  // namespace detail

using detail::atleast_1d;
using detail::atleast_2d;
using detail::atleast_3d;
using detail::broadcast_to;
using detail::diagonal;
using detail::expand_dims;
using detail::flip;
using detail::fliplr;
using detail::flipud;
using detail::matrix_transpose;
using detail::moveaxis;
using detail::mT;
using detail::permute_dims;
using detail::rollaxis;
using detail::rot90;
using detail::squeeze;
using detail::swapaxes;
using detail::transpose;

}  // namespace ingot
