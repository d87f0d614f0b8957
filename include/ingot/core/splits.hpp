// Splits cut an expression along an axis into a vector of views. These are read-only; to write a part, use
// x(slice(...)).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// The axis of a split, and the number of first parts that have `most` elements; the others have one less.
struct even_parts {
    int axis;
    index_t most;
    index_t longer;
};
/// Throws shape_error where there is no such axis, the number is not positive, or parts that must be equal are not.
INGOT_API even_parts find_parts(const char* operation, extents_ref shape, index_t count, index_t axis, bool equal);

template <class E>
using split_part = decltype(sliced("", std::declval<const E&>(), 0, std::declval<slice>()));

template <class E>
std::vector<split_part<E>> split_evenly(const char* operation, const E& e, index_t count, index_t axis, bool equal) {
    shape_room room;
    const even_parts p = find_parts(operation, as_node(e).extents(room), count, axis, equal);
    std::vector<split_part<E>> parts;
    index_t end = 0;
    for (index_t i = 0; i < count; ++i) {
        const index_t start = end;
        end += i < p.longer ? p.most : p.most - 1;
        parts.push_back(sliced(operation, e, p.axis, slice(start, end)));
    }
    return parts;
}
template <class E>
std::vector<split_part<E>> split_before(const char* operation, const E& e, const integer_list& indices, index_t axis) {
    std::vector<split_part<E>> parts;
    slice_end start = 0;
    for (const index_t end : indices) {
        parts.push_back(sliced(operation, e, axis, slice(start, end)));
        start = end;
    }
    parts.push_back(sliced(operation, e, axis, slice(start)));
    return parts;
}

/// The axis along which hsplit cuts.
template <class E>
index_t horizontal_axis(const E& e) {
    shape_room room;
    const extents_ref shape = as_node(e).extents(room);
    want_axes("hsplit", shape, 1);
    return shape.rank > 1 ? 1 : 0;
}
/// The given axis. Throws shape_error where e has fewer than `axes_wanted` axes.
template <class E>
index_t axis_among(const char* operation, const E& e, index_t axis, int axes_wanted) {
    shape_room room;
    want_axes(operation, as_node(e).extents(room), axes_wanted);
    return axis;
}

/// Splits e into `count` equal parts along an axis, or into the parts before, between and behind indices, as slices
/// take them: a vector of views. Throws shape_error where e does not have the axis or equal parts are impossible.
///
///     for (const auto& part : split(arange(6), 3)) std::cout << part << ';';
///     for (const auto& part : split(arange(6) * 2, {1, 4})) std::cout << part << ';';
///     // prints: [0 1];[2 3];[4 5];[0];[2 4 6];[ 8 10];
template <array_expression E, integer_argument I>
auto split(const E& e, I count, index_t axis = 0) {
    return split_evenly("split", e, as_index(count), axis, true);
}
template <array_expression E>
auto split(const E& e, const integer_list& indices, index_t axis = 0) {
    return split_before("split", e, indices, axis);
}

/// As `split`, but the first parts may have one element more.
///
///     for (const auto& part : array_split(arange(7), 3)) std::cout << part << ';';
///     // prints: [0 1 2];[3 4];[5 6];
template <array_expression E, integer_argument I>
auto array_split(const E& e, I count, index_t axis = 0) {
    return split_evenly("array_split", e, as_index(count), axis, false);
}
template <array_expression E>
auto array_split(const E& e, const integer_list& indices, index_t axis = 0) {
    return split_before("array_split", e, indices, axis);
}

/// The slices along an axis, without that axis, as a vector of views. Throws shape_error where e does not have the
/// axis.
///
///     for (const auto& row : unstack(array<int>{{1, 2}, {3, 4}})) std::cout << row << ';';
///     for (const auto& column : unstack(array<int>{{1, 2}, {3, 4}}, 1)) std::cout << column << ';';
///     // prints: [1 2];[3 4];[1 3];[2 4];
template <array_expression E>
auto unstack(const E& e, index_t axis = 0) {
    shape_room room;
    const extents_ref shape = as_node(e).extents(room);
    const int at = checked_axis("unstack", axis, shape.rank);
    const axes own(at);
    std::vector<split_part<E>> parts;
    for (index_t i = 0; i < shape.data[at]; ++i)
        parts.push_back(viewed_to_read(sliced("unstack", e, at, slice(i, i + 1)), view_squeezed, &own));
    return parts;
}

/// `split` along the second axis; a vector is split along its only one.
///
///     for (const auto& part : hsplit(array<int>{{1, 2}, {3, 4}}, 2)) std::cout << part.shape() << ';';
///     // prints: (2, 1);(2, 1);
template <array_expression E, integer_argument I>
auto hsplit(const E& e, I count) {
    return split_evenly("hsplit", e, as_index(count), horizontal_axis(e), true);
}
template <array_expression E>
auto hsplit(const E& e, const integer_list& indices) {
    return split_before("hsplit", e, indices, horizontal_axis(e));
}

/// `split` along the first axis. Throws shape_error where there are fewer than two.
///
///     for (const auto& part : vsplit(array<int>{{1, 2}, {3, 4}}, 2)) std::cout << part << ';';
///     // prints: [[1 2]];[[3 4]];
template <array_expression E, integer_argument I>
auto vsplit(const E& e, I count) {
    return split_evenly("vsplit", e, as_index(count), axis_among("vsplit", e, 0, 2), true);
}
template <array_expression E>
auto vsplit(const E& e, const integer_list& indices) {
    return split_before("vsplit", e, indices, axis_among("vsplit", e, 0, 2));
}

/// `split` along the third axis.
///
///     for (const auto& part : dsplit(zeros({2, 3, 4}), {1})) std::cout << part.shape() << ';';
///     // prints: (2, 3, 1);(2, 3, 3);
template <array_expression E, integer_argument I>
auto dsplit(const E& e, I count) {
    return split_evenly("dsplit", e, as_index(count), axis_among("dsplit", e, 2, 3), true);
}
template <array_expression E>
auto dsplit(const E& e, const integer_list& indices) {
    return split_before("dsplit", e, indices, axis_among("dsplit", e, 2, 3));
}

}  // namespace detail

using detail::array_split;
using detail::dsplit;
using detail::hsplit;
using detail::split;
using detail::unstack;
using detail::vsplit;

}  // namespace ingot
