// Views: the same elements under other axes. A view of an expression is the expression over other layouts; nothing is
// computed. A view of an array that may be written is a selection: transpose(x) = e writes x.
// reshape and ravel are in reshape.hpp, windows in windows.hpp, parts in splits.hpp.
#pragma once

#include <tuple>
#include <utility>

#include <ingot/core/expression.hpp>
#include <ingot/core/selection.hpp>

namespace ingot {
namespace detail {

/// e through a view as `viewed` has it, to be read alone: elements may stand for several.
template <class E, class Make, class... A>
auto viewed_to_read(E&& e, Make make, const A&... arguments) {
    shape_room room;
    view_room view;
    make(view, as_node(std::as_const(e)).extents(room), arguments...);
    return node_seen(std::forward<E>(e), view);
}

/// Of anything, scalars among them.
template <class E>
shape_like shape_of_expression(const E& e) {
    shape_room room;
    return as_node(e).extents(room).span();
}

/// e at these indices of one axis, to be read.
template <class E>
auto sliced(const char* operation, const E& e, index_t axis, slice s) {
    return viewed_to_read(e, view_sliced, operation, axis, as_index_item(s));
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
    return viewed(std::forward<E>(e), view_permuted, nullptr, "transpose");
}
template <array_expression E>
auto transpose(E&& e, const axes& order, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_permuted, &order, "transpose");
}

/// Axes in the order given, as `transpose` has it: result axis j is axis order[j] of e. Throws shape_error where the
/// order does not name each axis once.
///
///     std::cout << permute_dims(zeros({2, 3, 4}), {1, 2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto permute_dims(E&& e, const axes& order, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_permuted, &order, "permute_dims");
}

/// Two axes in each other's place: a view. Throws shape_error where e does not have them.
///
///     std::cout << swapaxes(zeros({2, 3, 4}), 0, -1).shape();
///     // prints: (4, 3, 2)
template <array_expression E>
auto swapaxes(E&& e, index_t a, index_t b, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_axes_swapped, a, b);
}

/// Axes moved to these places of the result, the others in their order: a view. Throws shape_error where e does not
/// have such axes, one is given twice, or there are not as many of both.
///
///     std::cout << moveaxis(zeros({2, 3, 4}), {0, 1}, {2, 0}).shape();
///     // prints: (3, 4, 2)
template <array_expression E>
auto moveaxis(E&& e, const axes& from, const axes& to, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_axis_moved, from, to);
}

/// One axis moved to before the axis `start`, or with `start` the number of axes to the end, the others in their order:
/// a view. Throws shape_error where e does not have such axes.
///
///     std::cout << rollaxis(zeros({2, 3, 4}), 2).shape() << ' ' << rollaxis(zeros({2, 3, 4}), 0, 3).shape();
///     // prints: (4, 2, 3) (3, 4, 2)
template <array_expression E>
auto rollaxis(E&& e, index_t axis, index_t start = 0) {
    return viewed(std::forward<E>(e), view_axis_rolled, axis, start);
}

/// The last two axes in each other's place: each matrix of a stack transposed. A view; of an array that may be written
/// it is written too. Throws shape_error where there are fewer than two axes.
///
///     std::cout << mT(zeros({5, 2, 3})).shape() << '\n' << mT(array<int>{{1, 2}, {3, 4}});
///     // prints: (5, 3, 2)
///     //         [[1 3]
///     //          [2 4]]
template <array_expression E>
auto mT(E&& e) {
    return viewed(std::forward<E>(e), view_matrices_transposed, "mT");
}

/// The same as `mT`.
///
///     std::cout << matrix_transpose(zeros({5, 2, 3})).shape();
///     // prints: (5, 3, 2)
template <array_expression E>
auto matrix_transpose(E&& e) {
    return viewed(std::forward<E>(e), view_matrices_transposed, "matrix_transpose");
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
auto flip(E&& e, const axes& which, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_flipped, &which);
}

/// Elements in reverse along the second axis, from left to right in a picture: a view. Throws shape_error where there
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

/// Elements in reverse along the first axis, upside down in a picture: a view. Throws shape_error where there is none.
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

/// A quarter turn, so often, from the first axis of the plane towards the second: a view. Throws shape_error where e
/// does not have two such axes.
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
auto squeeze(E&& e, const axes& which, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_squeezed, &which);
}

/// New axes of extent 1 at these places of the result: a view. Throws shape_error where a place is given twice or
/// beyond the result's axes, of which there are 64 at most.
///
///     std::cout << expand_dims(zeros({2, 3}), {0, -1}).shape();
///     // prints: (1, 2, 3, 1)
template <array_expression E>
auto expand_dims(E&& e, const axes& where, const source_place& at = {}) {
    const in_statement of_the_user(at);
    return viewed(std::forward<E>(e), view_expanded, where);
}

/// Of one expression its view with so many axes at least, of several a tuple.
template <class... E>
auto at_least(int rank, E&&... e) {
    if constexpr (sizeof...(E) == 1)
        return viewed(std::forward<E>(e)..., view_at_least, rank);
    else
        return std::tuple(viewed(std::forward<E>(e), view_at_least, rank)...);
}

/// With an axis of extent 1 where there is none: a view. Of several expressions a tuple.
///
///     std::cout << atleast_1d(scalar(7)) << ' ' << atleast_1d(zeros({2, 3})).shape();
///     // prints: [7] (2, 3)
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_1d(E&&... e) {
    return at_least(1, std::forward<E>(e)...);
}

/// With axes of extent 1 in front, two axes in all or more: a view. Of several expressions a tuple.
///
///     std::cout << atleast_2d(array<int>{1, 2, 3});
///     // prints: [[1 2 3]]
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_2d(E&&... e) {
    return at_least(2, std::forward<E>(e)...);
}

/// With axes of extent 1, three axes in all or more: a view. A vector's axis becomes the second one, a matrix' axes the
/// first two. Of several expressions a tuple.
///
///     auto [v, m] = atleast_3d(zeros(4), zeros({2, 3}));
///     std::cout << v.shape() << ' ' << m.shape();
///     // prints: (1, 4, 1) (2, 3, 1)
template <array_expression... E>
    requires(sizeof...(E) > 0)
auto atleast_3d(E&&... e) {
    return at_least(3, std::forward<E>(e)...);
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
auto broadcast_to(E&& e, const shape_like& shape, const source_place& at = {}) {
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
