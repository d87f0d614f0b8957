// Sorting along an axis, as library functions in trees: expressions before it are computed into its rows, expressions
// behind it read its results. NaN comes last; complex numbers are ordered by their real parts, then by their imaginary
// ones, those with a NaN part behind the others.
#pragma once

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/library_nodes.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// Throws shape_error where there is no such axis, index_error where it has no such element.
INGOT_API void check_kths(const char* operation, const integer_list& kths, std::span<const index_t> shape,
                          index_t axis);
/// Throws shape_error where there is no such axis, index_error where it has fewer elements.
INGOT_API void check_element_count(const char* operation, index_t count, std::span<const index_t> shape, index_t axis);

struct in_descending_order {};
/// Throws shape_error where a key's shape differs from the first's.
INGOT_API void check_keys(std::span<const index_t> first, std::span<const index_t> key);

}  // namespace detail

/// Makes `sort` and `argsort` begin with the greatest element, and with NaN.
///
///     std::cout << sort(array<int>{3, 1, 2}, descending);
///     // prints: [3 2 1]
inline constexpr detail::in_descending_order descending{};

namespace detail {

template <library_function F, class T, class E>
auto by_rows(const char* operation, E&& e, index_t axis) {
    return moveaxis(call_library<F, T>(operation, moveaxis(std::forward<E>(e), axis, -1)), -1, axis);
}
/// The elements in ascending order along an axis, by default the last one: an expression with e's type and shape. With
/// `none` it sorts all elements along one axis; with a last `descending` in descending order, NaN first. The sort is
/// stable either way. Throws shape_error where e does not have the axis.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     std::cout << sort(array<double>{3, nan, -1, 2}) << ' ' << sort(array<int>{{3, 1}, {2, 4}}, 0) << ' ';
///     std::cout << sort(array<int>{{3, 1}, {2, 4}}, none) << ' ' << sort(array<int>{{3, 1}, {2, 4}}, 0, descending);
///     // prints: [-1.  2.  3. nan] [[2 1]
///     //          [3 4]] [1 2 3 4] [[3 4]
///     //          [2 1]]
template <array_expression E>
auto sort(E&& e, index_t axis = -1, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename std::remove_cvref_t<E>::value_type;
    checked_axis("sort", axis, e.ndim());
    return by_rows<library_function::sort_rows, T>("sort", std::forward<E>(e), axis);
}

template <array_expression E>
auto sort(E&& e, none_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return sort(ravel(std::forward<E>(e)));
}
// Reversing a stable sort of the reversed axis keeps equal elements in order.
template <array_expression E>
auto sort(const E& e, index_t axis, in_descending_order, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    checked_axis("sort", axis, shape_of_expression(e).count());
    const axes over(axis);
    return viewed_to_read(sort(viewed_to_read(e, view_flipped, &over), axis), view_flipped, &over);
}
template <array_expression E>
auto sort(const E& e, in_descending_order, const source_place& here = source_place::current()) {
    return sort(e, -1, descending, here);
}
template <array_expression E>
auto sort(const E& e, none_t, in_descending_order, const source_place& here = source_place::current()) {
    return sort(ravel(e), -1, descending, here);
}

/// The indices that sort e along an axis, by default the last one: take_along_axis(e, argsort(e, axis), axis) is
/// sort(e, axis); `none` and `descending` are as in `sort`. The sort is stable. The result is an expression in int64
/// with e's shape. Throws shape_error where e does not have the axis.
///
///     array<double> x{0.3, 0.1, 0.2, 0.1};
///     std::cout << argsort(x) << ' ' << argsort(x, descending) << ' ' << argsort(array<int>{{3, 1}, {2, 4}}, none);
///     // prints: [1 3 2 0] [0 2 1 3] [1 2 0 3]
template <array_expression E>
auto argsort(const E& e, index_t axis = -1, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    checked_axis("argsort", axis, e.ndim());
    return by_rows<library_function::argsort_rows, index_t>("argsort", e, axis);
}

template <array_expression E>
auto argsort(E&& e, none_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return argsort(ravel(std::forward<E>(e)));
}
template <array_expression E>
auto argsort(const E& e, index_t axis, in_descending_order, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const shape_like shape = shape_of_expression(e);
    const int at = checked_axis("argsort", axis, shape.count());
    const axes over(at);
    const auto from_behind = argsort(viewed_to_read(e, view_flipped, &over), at);
    return (shape[at] - 1) - viewed_to_read(from_behind, view_flipped, &over);
}
template <array_expression E>
auto argsort(const E& e, in_descending_order, const source_place& here = source_place::current()) {
    return argsort(e, -1, descending, here);
}
template <array_expression E>
auto argsort(const E& e, none_t, in_descending_order, const source_place& here = source_place::current()) {
    return argsort(ravel(e), -1, descending, here);
}

/// The indices that sort along the last axis by the last of several keys, among equal ones by the one before, and so
/// on; all keys have one shape. int64. Throws shape_error where the shapes differ.
///
///     array<int> surname{2, 1, 2, 1}, name{1, 9, 0, 3};
///     std::cout << lexsort(std::tuple{name, surname});
///     // prints: [3 1 2 0]
template <array_expression... E>
    requires(sizeof...(E) > 0)
array<index_t> lexsort(const std::tuple<E...>& keys) {
    const shape_like shape = std::get<0>(keys).shape();
    array<deferred<index_t, E...>> order;
    bool first = true;
    const auto by = [&](const auto& key) {
        const shape_like own = key.shape();
        check_keys(shape.values(), own.values());
        if (std::exchange(first, false))
            order = argsort(key);
        else
            order = eval(
                take_along_axis<unchecked_mode>(order, argsort(take_along_axis<unchecked_mode>(key, order, -1)), -1));
    };
    std::apply([&](const auto&... key) { (by(key), ...); }, keys);
    return order;
}

/// Returns the array, or a copy of it if its elements are not contiguous.
template <class T>
array<T> in_c_order(const char* operation, array<T> a) {
    const layout& where = a.as_leaf().where();
    if (is_in_c_order(where)) return a;
    array<T> copy(adopted{}, new_leaf<T>(operation, where.extents(), a.device()));
    copy(ellipsis) = a;
    return copy;
}

/// The rows along an axis, evaluated; an array with such rows is shared.
template <class T, class E>
array<T> rows_along(const E& e, index_t axis) {
    if constexpr (std::is_same_v<E, array<T>>)
        if (axis == -1 || axis + 1 == e.ndim()) return e;
    return array<T>(moveaxis(e, axis, -1));
}

/// Copies rows in C order of the host to `to` and sorts them as far as it decides the elements at these positions,
/// which count from the end where they are negative.
INGOT_API void partition_rows(const buffer_ref& from, const layout& where, dtype, std::vector<index_t> positions,
                              const buffer_ref& to);

/// As NumPy's partition: element kth, or each of several, is at its sorted position, smaller ones are before it and
/// others behind. Evaluated now; on a GPU the axis is sorted completely, which is one such order. Throws shape_error
/// where e does not have the axis, index_error where the axis has no element kth.
///
///     std::cout << partition(array<int>{7, 1, 5, 3}, 1)(1) << ' ' << partition(array<int>{7, 1, 5, 3}, {0, 1, -1});
///     // prints: 3 [1 3 5 7]
template <array_expression E>
auto partition(const E& e, const integer_list& kths, index_t axis = -1,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    check_kths("partition", kths, shape_of_expression(e).values(), axis);
    const array<T> rows = rows_along<T>(e, axis);
    if (rows.device().kind() != device_kind::host) return array<T>(moveaxis(sort(rows), -1, axis));
    const array<T> from = in_c_order("partition", rows);
    const array<T> made(adopted{}, new_leaf<T>("partition", from.shape().values(), from.device()));
    partition_rows(from.as_leaf().memory(), from.as_leaf().where(), dtype_of<T>, {kths.begin(), kths.end()},
                   made.as_leaf().memory());
    return array<T>(moveaxis(made, -1, axis));
}
/// The indices that partition e: those that sort it, as in `argsort`. Throws as `partition`.
///
///     std::cout << argpartition(array<int>{7, 1, 5, 3}, 0)(0);
///     // prints: 1
template <array_expression E>
auto argpartition(const E& e, const integer_list& kths, index_t axis = -1,
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    check_kths("argpartition", kths, shape_of_expression(e).values(), axis);
    return argsort(e, axis);
}

/// Keys in the reverse order of e's elements: equal elements have equal keys, including both zeros and all NaN.
template <class E>
auto descending_keys(const E& e) {
    using T = typename E::value_type;
    if constexpr (std::same_as<T, bool>) {
        return !e;
    } else if constexpr (std::integral<T>) {
        return ~e;
    } else {
        using number = std::conditional_t<std::same_as<T, double>, double, float>;
        using bits_of = std::conditional_t<std::same_as<T, double>, std::int64_t, std::int32_t>;
        constexpr bits_of greatest = std::numeric_limits<bits_of>::max();
        const auto value = astype<number>(e) + number(0);
        const auto bits = bit_cast<bits_of>(value);
        return ~where(isnan(value), greatest, bits ^ ((bits >> (8 * sizeof(bits_of) - 1)) & greatest));
    }
}
/// Writes to `to` the indices in each row, rows being in C order, of the `count` greatest or least elements; the first
/// of equal ones are taken. Returns whether they are in order.
INGOT_API bool select_elements(const buffer_ref& from, const layout& where, dtype, index_t count, bool largest,
                               const buffer_ref& to);

template <class E>
array<index_t> order_along(const E& e, index_t axis, bool descending) {
    if (descending) return array<index_t>(argsort(descending_keys(e), axis));
    return array<index_t>(argsort(e, axis));
}
/// The elements of each row of an array in parts that this rank has: the number of the row's elements before them, and
/// whether they are the whole row.
struct own_rows {
    index_t first;
    bool are_whole;
};
INGOT_API own_rows take_own_rows(destination to, const buffer_ref& from);
/// Joins rows of which each rank has a part, in the order of ranks; then they are whole. `like`: an array in parts
/// whose rows have their parts on the same ranks; a rank has `most` elements of a row, or as many as it has of like's.
/// A collective call.
INGOT_API void join_rows(destination to, const buffer_ref& part, const layout& where, const buffer_ref& like,
                         index_t most);

/// The k greatest or least elements of each row, in order, and their indices.
template <class T>
std::pair<array<T>, array<deferred<index_t, T>>> chosen_of_rows(array<T> rows, index_t k, bool largest) {
    using index = deferred<index_t, T>;
    const layout& where = rows.as_leaf().where();
    const index_t length = where.shape()[where.rank() - 1];
    const auto chosen = [&](const array<index>& places) {
        return std::pair(array<T>(take_along_axis<unchecked_mode>(rows, places, -1)), places);
    };
    if (rows.device().kind() == device_kind::distributed) {
        const auto joined = [&]<class E>(const array<E>& part) {
            leaf<E> l;
            join_rows({dtype_of<E>, l.memory(), l.where()}, part.as_leaf().memory(), part.as_leaf().where(),
                      rows.as_leaf().memory(), k);
            return array<E>(adopted{}, std::move(l));
        };
        leaf<T> l;
        const own_rows own = take_own_rows({dtype_of<T>, l.memory(), l.where()}, rows.as_leaf().memory());
        const index_t own_length = l.where().shape()[l.where().rank() - 1];
        auto [values, places] =
            chosen_of_rows(array<T>(adopted{}, std::move(l)), k < own_length ? k : own_length, largest);
        const array<T> all_values = joined(values);
        const array<index> all_places = joined(array<index>(places + own.first));
        if (own.are_whole) return std::pair(all_values, all_places);
        auto [best, candidates] = chosen_of_rows(all_values, k, largest);
        return std::pair(best, array<index>(take_along_axis<unchecked_mode>(all_places, candidates, -1)));
    }
    constexpr index_t of_a_block = 2048, worth_sorting = 8;
    const bool selects = k <= length / worth_sorting || (rows.device().is_cuda() && length <= of_a_block);
    if (!selects || rows.size() == 0 || k == 0)
        return chosen(array<index_t>(sliced("topk", order_along(rows, -1, largest), -1, slice(0, k))));
    rows = in_c_order("topk", std::move(rows));
    const shape_like all = rows.shape();
    std::vector<index_t> shape(all.values().begin(), all.values().end());
    shape.back() = k;
    array<index> places(adopted{}, new_leaf<index_t>("topk", shape, rows.device()));
    if (select_elements(rows.as_leaf().memory(), rows.as_leaf().where(), dtype_of<T>, k, largest,
                        places.as_leaf().memory()))
        return chosen(places);
    places = array<index_t>(sort(places));
    const array<T> values = take_along_axis<unchecked_mode>(rows, places, -1);
    const array<index> order = order_along(values, -1, largest);
    return chosen(array<index_t>(take_along_axis<unchecked_mode>(places, order, -1)));
}

/// The k greatest elements along an axis in descending order, or the least in ascending order, and their indices: two
/// arrays, evaluated now. The first of equal elements are taken; NaN is greater than all numbers. A long axis is not
/// sorted for a few. Throws shape_error where e does not have the axis, index_error where it has fewer than k elements.
///
///     const auto [values, indices] = topk(array<int>{4, 9, 1, 9, 5}, 3);
///     std::cout << values << ' ' << indices << ' ' << std::get<0>(topk(array<int>{4, 9, 1}, 2, 0, false));
///     // prints: [9 9 5] [1 3 4] [1 4]
template <array_expression E>
    requires(kind_of(dtype_of<typename E::value_type>) != kind::complex)
auto topk(const E& e, index_t k, index_t axis = -1, bool largest = true,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename E::value_type;
    check_element_count("topk", k, shape_of_expression(e).values(), axis);
    auto [values, places] = chosen_of_rows(rows_along<T>(e, axis), k, largest);
    return std::tuple(array<T>(moveaxis(values, -1, axis)), array<index_t>(moveaxis(places, -1, axis)));
}

INGOT_REJECTED("how many is the second argument: topk(x, 10)", (array_expression E), true,
               ::ingot::detail::rejected topk(const E&))
INGOT_REJECTED("the greatest come first by sort(x, axis, descending)", (array_expression E, std::same_as<bool> B), true,
               ::ingot::detail::rejected sort(const E&, index_t, B))
INGOT_REJECTED("the greatest come first by argsort(x, axis, descending)", (array_expression E, std::same_as<bool> B),
               true, ::ingot::detail::rejected argsort(const E&, index_t, B))

}  // namespace detail

using detail::argpartition;
using detail::argsort;
using detail::lexsort;
using detail::partition;
using detail::sort;
using detail::topk;

}  // namespace ingot
