// Functions along axes: running sums and products with an initial element, differences with elements added at the ends,
// and any function of vectors.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include <ingot/core/joins.hpp>
#include <ingot/core/scans.hpp>

namespace ingot {
namespace detail {

struct with_initial {};

}  // namespace detail

/// Makes `cumulative_sum` and `cumulative_prod` begin with the sum or the product of no elements.
///
///     std::cout << cumulative_sum(array<int>{1, 2, 3}, include_initial);
///     // prints: [0 1 3 6]
inline constexpr detail::with_initial include_initial{};

namespace detail {

/// The axis; it must be given where there are several.
INGOT_API index_t only_axis(const char* operation, extents_ref shape);

/// A number with extent 1 along an axis, to be joined before or behind e.
template <class T, class E>
lazy<T> one_along(const char* operation, const E& e, int axis, const lazy<T>& value) {
    const shape_like whole = shape_of_expression(e);
    std::vector<index_t> shape(whole.begin(), whole.end());
    shape[static_cast<std::size_t>(axis)] = 1;
    return viewed_to_read(value, view_broadcast, operation, std::span<const index_t>(shape));
}

template <class R>
auto behind_initial(const char* operation, R&& scanned, index_t axis, int initial) {
    using T = typename std::remove_cvref_t<R>::value_type;
    const int at = checked_axis(operation, axis, shape_of_expression(scanned).count());
    lazy_parts<T> parts;
    parts.push_back(one_along<T>(operation, scanned, at, element_leaf<T>(operation, initial)));
    parts.push_back(scanned);
    return joined(operation, std::move(parts), at);
}

#define INGOT_CUMULATIVE(name, of, initial)                                                              \
    template <foldable_expression<fold::of> E>                                                           \
    auto name(E&& e, index_t axis) {                                                                     \
        return scanned<fold::of>(#name, std::forward<E>(e), axis);                                       \
    }                                                                                                    \
    template <foldable_expression<fold::of> E>                                                           \
    auto name(E&& e) {                                                                                   \
        shape_room room;                                                                                 \
        const index_t axis = only_axis(#name, as_node(std::as_const(e)).extents(room));                  \
        return scanned<fold::of>(#name, std::forward<E>(e), axis);                                       \
    }                                                                                                    \
    template <foldable_expression<fold::of> E>                                                           \
    auto name(E&& e, index_t axis, with_initial) {                                                       \
        return behind_initial(#name, scanned<fold::of>(#name, std::forward<E>(e), axis), axis, initial); \
    }                                                                                                    \
    template <foldable_expression<fold::of> E>                                                           \
    auto name(E&& e, with_initial) {                                                                     \
        shape_room room;                                                                                 \
        const index_t axis = only_axis(#name, as_node(std::as_const(e)).extents(room));                  \
        return behind_initial(#name, scanned<fold::of>(#name, std::forward<E>(e), axis), axis, initial); \
    }

/// Running sums along an axis, as in `cumsum`; a vector's axis need not be given. With a last `include_initial` a 0
/// precedes them. Throws shape_error where e does not have the axis, or none is given for several.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << cumulative_sum(m, 1) << ' ' << cumulative_sum(m, 1, include_initial);
///     // prints: [[ 1  3  6]
///     //          [ 4  9 15]] [[ 0  1  3  6]
///     //          [ 0  4  9 15]]
INGOT_CUMULATIVE(cumulative_sum, sum, 0)

/// Running products along an axis, as in `cumprod`; a vector's axis need not be given. With a last `include_initial` a
/// 1 precedes them. Throws as `cumulative_sum`.
///
///     std::cout << cumulative_prod(array<int>{2, 3, 4}) << ' ' << cumulative_prod(array<int>{2, 3}, include_initial);
///     // prints: [ 2  6 24] [1 2 6]
INGOT_CUMULATIVE(cumulative_prod, prod, 1)
#undef INGOT_CUMULATIVE

// ---- differences ---------------------------------------------------------------------------------------------------

/// A value for `prepend` or `append` of diff: a number, an expression, or none.
template <class V>
concept end_value = std::same_as<V, none_t> || operand_like<V>;
template <class T, class V>
constexpr dtype with_end() {
    if constexpr (std::same_as<V, none_t>)
        return dtype_of<T>;
    else if constexpr (array_expression<V>)
        return promote(dtype_of<T>, V::type);
    else
        return promote_weak(dtype_of<T>, kind_of(weak_dtype<V>()));
}

/// The n-th differences along an axis of e with elements added before and behind: a number, an expression without axes,
/// or one of e's shape but for the axis; `none` adds nothing. The type is that to which all promote, where a number has
/// only its kind. Throws shape_error where shapes do not fit.
///
///     std::cout << diff(array<int>{1, 4, 9}, 1, -1, 0) << ' ' << diff(array<int>{1, 4, 9}, 1, 0, none,
///     array<int>{16});
///     // prints: [1 3 5] [3 5 7]
template <array_expression E, end_value P, end_value A = none_t>
auto diff(const E& e, index_t n, index_t axis, const P& prepend, const A& append = none) {
    using T = type_of<with_end<type_of<with_end<typename node_of<E>::value_type, P>()>, A>()>;
    const int at = checked_axis("diff", axis, shape_of_expression(e).count());
    lazy_parts<T> parts;
    const auto add = [&]<class V>(const V& value) {
        if constexpr (std::same_as<V, none_t>)
            return;
        else if constexpr (array_expression<V>)
            parts.push_back(shape_of_expression(value).count() == 0 ? one_along<T>("diff", e, at, lazy<T>(value))
                                                                    : lazy<T>(value));
        else
            parts.push_back(one_along<T>("diff", e, at, element_leaf<T>("diff", value)));
    };
    add(prepend);
    parts.push_back(lazy<T>(e));
    add(append);
    return diff(joined("diff", std::move(parts), at), n, at);
}

// ---- any function --------------------------------------------------------------------------------------------------

/// The number of vectors along an axis, and their length. Throws shape_error where there are none.
INGOT_API std::array<index_t, 2> vectors_along(extents_ref shape, index_t axis);
/// The position of the stacked results of all vectors: their shape behind the other axes, and the axes that are moved
/// from there.
struct placed_results {
    shape_like shape;
    axes from, to;
};
INGOT_API placed_results place_results(extents_ref shape, index_t axis, extents_ref stacked);

/// Replaces each vector along an axis by f of it, a number or an expression: an array. f is called once for each
/// vector, and each result is written by its own kernel; an expression over the whole with an axis, as `sum(x, 1)`, is
/// one kernel. Throws shape_error where e does not have the axis or no vectors, and where results differ in shape.
///
///     array<int> m{{3, 1, 2}, {6, 5, 4}};
///     std::cout << apply_along_axis([](const auto& v) { return v(-1) - v(0); }, 1, m) << ' ';
///     std::cout << apply_along_axis([](const auto& v) { return sort(v); }, 0, m);
///     // prints: [-1 -2] [[3 1 2]
///     //          [6 5 4]]
template <class F, array_expression E>
auto apply_along_axis(const F& f, index_t axis, const E& e) {
    constexpr const char* operation = "apply_along_axis";
    const shape_like whole = shape_of_expression(e);
    const extents_ref shape = extents_ref::of(whole.values());
    const std::array<index_t, 2> vectors = vectors_along(shape, axis);
    const array<typename E::value_type> rows(
        reshaped(operation, viewed_to_read(e, view_axis_moved, axes(axis), axes(-1)), vectors));
    const auto result_of = [&](index_t i) {
        auto result = f(rows(i));
        if constexpr (array_expression<decltype(result)>)
            return result;
        else
            return scalar(result);
    };
    using T = typename decltype(result_of(0))::value_type;
    lazy_parts<T> results;
    for (index_t i = 0; i < vectors[0]; ++i) results.push_back(lazy<T>(expand_dims(result_of(i), 0)));
    const lazy<T> stacked = joined(operation, std::move(results), 0);
    const shape_like given = stacked.shape();
    const placed_results placed = place_results(shape, axis, extents_ref::of(given.values()));
    return array<T>(
        viewed_to_read(reshaped(operation, stacked, placed.shape.values()), view_axis_moved, placed.from, placed.to));
}

}  // namespace detail

using detail::apply_along_axis;
using detail::cumulative_prod;
using detail::cumulative_sum;
using detail::diff;

}  // namespace ingot
