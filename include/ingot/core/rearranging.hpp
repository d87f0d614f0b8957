// Rearranged, repeated and removed elements. tile and repeat read elements in cycles, roll reads at places that wrap;
// all are expressions that fuse as views do. insert and delete_elements are joins of slices, or one gather where there
// are many; trim_zeros.
#pragma once

#include <initializer_list>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/gather.hpp>
#include <ingot/core/joins.hpp>

namespace ingot {
namespace detail {

struct cycle_room {
    cycle cycles[max_rank];
    std::size_t count = 0;
    std::span<const cycle> values() const { return {cycles, count}; }
};
/// `shape` has an extent for each repeat count. Throws shape_error.
INGOT_API void find_tiles(cycle_room&, extents_ref shape, const integer_list& repeats);
/// `along` null: the only axis. Throws shape_error.
INGOT_API tree_ref rolled(const tree_ref&, dtype, const integer_list& by, const axes* along);
/// Throws shape_error where the count is negative.
INGOT_API void check_repeats(index_t repeats);

/// Repeats e along each axis by its own count; the shorter of shape and counts is extended in front by ones. The result
/// is read-only. Throws shape_error where a count is negative.
///
///     std::cout << tile(array<int>{1, 2, 3}, 2) << '\n' << tile(array<int>{{1, 2}, {3, 4}}, {2, 2});
///     // prints: [1 2 3 1 2 3]
///     //         [[1 2 1 2]
///     //          [3 4 3 4]
///     //          [1 2 1 2]
///     //          [3 4 3 4]]
template <array_expression E>
auto tile(E&& e, const integer_list& repeats) {
    auto seen = viewed_to_read(std::forward<E>(e), view_with_axes, static_cast<int>(repeats.size()));
    cycle_room room;
    shape_room shape;
    find_tiles(room, seen.extents(shape), repeats);
    return cycled("tile", std::move(seen), room.values());
}

/// Rolls elements along all axes given, by one number for all or one for each; elements that leave one end enter at the
/// other. Without axes elements roll in C order. The result is read-only. Throws shape_error where e does not have such
/// an axis, or there are neither one number nor as many as axes.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << roll(m, 1) << '\n' << roll(m, -1, 1) << '\n' << roll(m, {1, 2}, {0, 1});
///     // prints: [[6 1 2]
///     //          [3 4 5]]
///     //         [[2 3 1]
///     //          [5 6 4]]
///     //         [[5 6 4]
///     //          [2 3 1]]
template <array_expression E>
auto roll(const E& e, const integer_list& by, const axes& along) {
    using T = typename E::value_type;
    return lazy<T>::of(rolled(lazy<T>(e).tree(), dtype_of<T>, by, &along));
}
template <array_expression E>
auto roll(const E& e, const integer_list& by) {
    using T = typename E::value_type;
    const shape_like shape = shape_of_expression(e);
    return reshape(lazy<T>::of(rolled(lazy<T>(ravel(e)).tree(), dtype_of<T>, by, nullptr)), shape);
}

// ---- lists of places -----------------------------------------------------------------------------------------------

/// Indices or counts from the host, in braces or as a range.
struct host_integers {
    std::vector<index_t> values;
    host_integers(std::initializer_list<any_integer> list) {
        for (const any_integer i : list) values.push_back(i.value);
    }
    template <values_of_host R>
        requires integer_argument<value_of<R>>
    host_integers(const R& range) {
        for (auto it = std::begin(range), end = std::end(range); it != end; ++it) values.push_back(as_index(*it));
    }
};
/// The indices of a slice.
INGOT_API std::vector<index_t> indices_of_slice(const slice&, index_t extent);
/// Counts indices from the start. `beyond`: how far behind the last element an index may lie. Throws index_error.
INGOT_API std::vector<index_t> counted_from_start(const char* operation, const std::vector<index_t>& indices,
                                                  extents_ref shape, int axis, index_t beyond);
/// The positions in the list in ascending order of their indices; the sort is stable.
INGOT_API std::vector<std::size_t> order_of(const std::vector<index_t>& indices);
struct run {
    index_t start, end;
};
/// The runs that remain when these indices are removed from an axis; an empty one where nothing remains.
INGOT_API std::vector<run> runs_without(const std::vector<index_t>& indices, index_t extent);
INGOT_API std::vector<index_t> indices_of_runs(const std::vector<run>& runs);
/// Indices from the host, on a device.
INGOT_API array<index_t> listed_on(device_id, const std::vector<index_t>& indices);
/// For each element of a repetition the index of its source. Throws shape_error unless there is a count for each
/// element, or one for all, and none is negative; counts in an array are checked only after their sum was waited for.
INGOT_API lazy<index_t> repeated_indices(device_id, const std::vector<index_t>& counts, index_t extent);
INGOT_API lazy<index_t> repeated_indices(const array<index_t>& counts, index_t extent);
/// For each element along the axis of an insertion the index of its source in x, or -1 - k for value k. `before`: the
/// index before which value k is inserted.
INGOT_API std::vector<index_t> inserted_indices(const std::vector<index_t>& before, index_t extent);

/// The extent of the axis, or the number of all elements.
INGOT_API index_t extent_along(const char* operation, std::span<const index_t> shape, const axis_or_none& axis);

/// e and its axis, or with `none` its elements in C order and their only axis.
template <class T, class E>
std::pair<lazy<T>, int> along_or_flat(const char* operation, const E& e, const axis_or_none& axis) {
    if (axis.is_none()) return {lazy<T>(ravel(e)), 0};
    return {lazy<T>(e), checked_axis(operation, axis.axis(), shape_of_expression(e).count())};
}

/// The elements of x along an axis at these indices, which are in range.
template <class T>
lazy<T> taken(const lazy<T>& x, int axis, const lazy<index_t>& indices) {
    if (indices.size() == 0) return sliced("gather", x, axis, slice(0, 0));
    return take<unchecked_mode>(x, indices, axis);
}

/// Repeats every element, along an axis or with `none` in C order; the result is read-only. With a list or an array of
/// integers each element has its own count, and the result is a `lazy`; counts in an array are summed on its device,
/// and the call waits for the sum. Throws shape_error where a count is negative, there are not as many counts as
/// elements, or e does not have the axis.
///
///     array<int> m{{1, 2}, {3, 4}};
///     std::cout << repeat(m, 2) << '\n' << repeat(m, 2, 1) << '\n' << repeat(m, {1, 2}, 0);
///     std::cout << '\n' << repeat(m, array<int>{{0, 3, 1, 1}}(0));
///     // prints: [1 1 2 2 3 3 4 4]
///     //         [[1 1 2 2]
///     //          [3 3 4 4]]
///     //         [[1 2]
///     //          [3 4]
///     //          [3 4]]
///     //         [2 2 2 3 4]
template <array_expression E, integer_argument I>
auto repeat(E&& e, I repeats, index_t axis) {
    const index_t each = as_extent(repeats);
    check_repeats(each);
    const shape_like shape = shape_of_expression(e);
    const int at = checked_axis("repeat", axis, shape.count());
    index_t extent = 0;
    if (__builtin_mul_overflow(shape[at], each, &extent)) throw_too_large(static_cast<std::uint64_t>(each));
    const cycle one{at, 0, extent, each};
    return cycled("repeat", std::forward<E>(e), {&one, 1});
}
template <array_expression E, integer_argument I>
auto repeat(E&& e, I repeats, none_t = none) {
    return repeat(ravel(std::forward<E>(e)), repeats, 0);
}
template <array_expression E>
auto repeat(const E& e, const host_integers& counts, const axis_or_none& axis = none) {
    using T = typename node_of<E>::value_type;
    const auto [x, at] = along_or_flat<T>("repeat", e, axis);
    return taken(x, at, repeated_indices(x.on_device(), counts.values, x.shape()[at]));
}
template <array_expression E, integer_array C>
auto repeat(const E& e, const C& counts, const axis_or_none& axis = none) {
    using T = typename node_of<E>::value_type;
    const auto [x, at] = along_or_flat<T>("repeat", e, axis);
    return taken(x, at, repeated_indices(array<deferred<index_t, T>>(converted_to<index_t>(counts)), x.shape()[at]));
}

/// `values` in the shape to insert: `count` elements along the axis, elsewhere x's extents. `moves`: the axis is
/// values' first one.
template <class T, class V>
lazy<T> as_inserted(const lazy<T>& x, int axis, const V& values, bool moves, const index_t* count) {
    lazy<T> v = viewed_to_read(lazy<T>(source_node<T>("insert", values)), view_with_axes, x.ndim());
    if (moves) v = moveaxis(v, 0, axis);
    shape_room shape;
    const shape_like given = x.shape();
    if (v.ndim() != given.count()) throw_wrong_rank("insert", v.ndim(), std::to_string(given.count()).c_str());
    for (int j = 0; j < given.count(); ++j) shape[j] = given[j];
    shape[axis] = count ? *count : v.shape()[axis];
    return viewed_to_read(v, view_broadcast, "insert", extents_ref{shape, given.count()}.span());
}

/// Inserts `values` before an index of e, or each value before its own index from a list or slice; along an axis or
/// with `none` in C order. Values are broadcast to the elements around them and converted to e's type. Throws
/// index_error for an index outside, shape_error where the values do not fit.
///
///     array<int> x{1, 2, 3};
///     std::cout << insert(x, 1, array<int>{7, 8}) << ' ' << insert(x, {0, 3}, 9) << '\n';
///     std::cout << insert(array<int>{{1, 2}, {3, 4}}, 1, array<int>{8, 9}, 1);
///     // prints: [1 7 8 2 3] [9 1 2 3 9]
///     //         [[1 8 2]
///     //          [3 9 4]]
template <array_expression E, integer_argument I, assignable_to<typename node_of<E>::value_type> V>
auto insert(const E& e, I index, const V& values, const axis_or_none& axis = none) {
    using T = typename node_of<E>::value_type;
    const auto [x, at] = along_or_flat<T>("insert", e, axis);
    shape_room room;
    const index_t before = counted_from_start("insert", {as_index(index)}, x.extents(room), at, 1)[0];
    return joined("insert",
                  lazy_parts<T>{sliced("insert", x, at, slice(0, before)), as_inserted(x, at, values, true, nullptr),
                                sliced("insert", x, at, slice(before))},
                  at);
}
template <array_expression E, assignable_to<typename node_of<E>::value_type> V>
auto insert(const E& e, const host_integers& indices, const V& values, const axis_or_none& axis = none) {
    using T = typename node_of<E>::value_type;
    const auto [x, at] = along_or_flat<T>("insert", e, axis);
    shape_room room;
    const std::vector<index_t> before = counted_from_start("insert", indices.values, x.extents(room), at, 1);
    const auto count = static_cast<index_t>(before.size());
    const lazy<T> v = as_inserted(x, at, values, false, count == 1 ? nullptr : &count);
    if (before.size() > most_lazy_parts / 2) {
        const lazy<deferred<index_t, T>> from = listed_on(x.on_device(), inserted_indices(before, x.shape()[at]));
        if (x.shape()[at] == 0) return lazy<T>(take<index_mode::clip>(v, -1 - from, at));
        std::vector<index_t> behind;  // new axes that put the indices along theirs
        for (int j = at; ++j < x.ndim();) behind.push_back(-1 - static_cast<index_t>(behind.size()));
        return lazy<T>(where(expand_dims(from, axes(behind)) >= 0, take<index_mode::clip>(x, from, at),
                             take<index_mode::clip>(v, -1 - from, at)));
    }
    lazy_parts<T> parts;
    index_t end = 0;
    for (const std::size_t k : order_of(before)) {
        const index_t start = std::exchange(end, before[k]), number = static_cast<index_t>(k);
        parts.push_back(sliced("insert", x, at, slice(start, end)));
        parts.push_back(count == 1 ? v : lazy<T>(sliced("insert", v, at, slice(number, number + 1))));
    }
    parts.push_back(sliced("insert", x, at, slice(end)));
    return joined("insert", std::move(parts), at);
}
template <array_expression E, std::same_as<slice> S, assignable_to<typename node_of<E>::value_type> V>
auto insert(const E& e, const S& indices, const V& values, const axis_or_none& axis = none) {
    const index_t extent = extent_along("insert", shape_of_expression(e).values(), axis);
    return insert(e, host_integers(indices_of_slice(indices, extent)), values, axis);
}

/// e without the elements at an index, a list of indices or a slice, along an axis or with `none` in C order: NumPy's
/// `delete`. Throws index_error for an index outside, shape_error where e does not have the axis.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << delete_elements(m, 0) << '\n' << delete_elements(m, {0, -1}, 1);
///     // prints: [2 3 4 5 6]
///     //         [[2]
///     //          [5]]
template <array_expression E>
auto delete_elements(const E& e, const host_integers& indices, const axis_or_none& axis = none) {
    using T = typename node_of<E>::value_type;
    const auto [x, at] = along_or_flat<T>("delete_elements", e, axis);
    shape_room room;
    const auto out = counted_from_start("delete_elements", indices.values, x.extents(room), at, 0);
    const std::vector<run> runs = runs_without(out, x.shape()[at]);
    if (runs.size() > most_lazy_parts) return taken(x, at, listed_on(x.on_device(), indices_of_runs(runs)));
    lazy_parts<T> parts;
    for (const run& r : runs) parts.push_back(sliced("delete_elements", x, at, slice(r.start, r.end)));
    return joined("delete_elements", std::move(parts), at);
}
template <array_expression E, integer_argument I>
auto delete_elements(const E& e, I index, const axis_or_none& axis = none) {
    return delete_elements(e, host_integers{as_index(index)}, axis);
}
template <array_expression E, std::same_as<slice> S>
auto delete_elements(const E& e, const S& indices, const axis_or_none& axis = none) {
    const index_t extent = extent_along("delete_elements", shape_of_expression(e).values(), axis);
    return delete_elements(e, host_integers(indices_of_slice(indices, extent)), axis);
}

}  // namespace detail

/// The ends that trim_zeros trims.
enum class trim_ends { both, front, back };

namespace detail {

/// Trims zeros at the ends of all axes, or of those given: a read-only view of e's values. It waits for the values, to
/// find the zeros. Throws shape_error where e does not have such an axis.
///
///     std::cout << trim_zeros(array<int>{0, 0, 1, 0, 2, 0}) << ' ' << trim_zeros(array<int>{0, 1, 0},
///     trim_ends::front);
///     // prints: [1 0 2] [1 0]
template <array_expression E>
auto trim_zeros(const E& e, trim_ends ends, const axes& over) {
    using T = typename E::value_type;
    const array<T> values(e);
    leaf<T> left = values.as_leaf();
    const auto rank = static_cast<index_t>(values.ndim());
    for (const index_t given : over) {
        const int at = checked_axis("trim_zeros", given, values.ndim());
        if (values.size() == 0) {
            left = sliced("trim_zeros", left, at, slice(0, 0));
            continue;
        }
        std::vector<index_t> others;
        for (index_t j = 0; j < rank; ++j)
            if (j != at) others.push_back(j);
        const auto line = any(values, axes(others));
        const auto [some, first, last] = eval(any(line), argmax(line), argmax(flip(line)));
        const index_t n = values.shape()[at];
        slice kept(0, 0);
        if (some.item())
            kept = slice(ends == trim_ends::back ? 0 : first.item(), ends == trim_ends::front ? n : n - last.item());
        left = sliced("trim_zeros", left, at, kept);
    }
    return left;
}
template <array_expression E>
auto trim_zeros(const E& e, trim_ends ends = trim_ends::both) {
    std::vector<index_t> every;
    for (index_t j = 0; j < shape_of_expression(e).count(); ++j) every.push_back(j);
    return trim_zeros(e, ends, axes(every));
}

}  // namespace detail

using detail::delete_elements;
using detail::insert;
using detail::repeat;
using detail::roll;
using detail::tile;
using detail::trim_zeros;

}  // namespace ingot
