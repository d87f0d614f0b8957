// Folds of segments, which are consecutive along the first axis or given by indices: segment_sum and the others, and
// NumPy's add.reduceat. A segment's elements are folded in a fixed order, so that bits are the same in every run.
#pragma once

#include <type_traits>
#include <utility>

#include <ingot/core/index_functions.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// The type in which elements of type T are read, and the type in which they are folded.
template <class T>
using segment_type = std::conditional_t<
    half_float<T>, float,
    std::conditional_t<kind_of(dtype_of<T>) <= kind::integer, type_of<fold_dtype(fold_rule::sums, dtype_of<T>)>, T>>;
template <class V>
using segment_result = std::conditional_t<std::is_same_v<V, float>, double, V>;

/// Folds (sum, max or min) the slices from each start to its end along the first axis; ends are clipped to the number
/// of values. A slice without elements gives the fold's initial value. V: int64, uint64, float32 or float64. `skipped`:
/// the number of first `ends` that belong to no start.
template <class V>
INGOT_API lazy<segment_result<V>> folded_segments(const char* operation, fold, const lazy<V>& values,
                                                  const array<index_t>& starts, const array<index_t>& ends,
                                                  index_t skipped);
/// Throws shape_error unless offsets are a vector with elements.
INGOT_API void check_offsets(const char* operation, std::span<const index_t> offsets);

template <fold F, class E>
auto segments_of(const char* operation, const E& e, const array<index_t>& starts, const array<index_t>& ends,
                 index_t skipped = 0) {
    using T = typename node_of<E>::value_type;
    if constexpr (complex_number<T>) {
        return complex_of(segments_of<F>(operation, real(e), starts, ends, skipped),
                          segments_of<F>(operation, imag(e), starts, ends, skipped));
    } else {
        using V = segment_type<T>;
        return astype<type_of<fold_dtype(facts(F).rule, dtype_of<T>)>>(
            folded_segments(operation, F, lazy<V>(e), starts, ends, skipped));
    }
}
template <fold F, class E, class O>
auto segments_between(const char* operation, const E& e, const O& offsets) {
    check_offsets(operation, shape_of_expression(offsets).values());
    const array<deferred<index_t, E>> all(converted_to<index_t>(offsets));
    return segments_of<F>(operation, e, all, all, 1);
}

/// The sum of each segment along the first axis: segment i is the elements offsets[i] to offsets[i + 1], so there is
/// one offset more than segments. A segment without elements gives 0, as where an offset is not less than the next one.
/// The result is in int64 or uint64 for bool and integers, else in the elements' type. Offsets outside are clipped to 0
/// or the number of elements. An expression for the values is evaluated now. Throws shape_error where the offsets are
/// no vector or none, or the values have no axis.
///
///     array<double> v{1, 2, 3, 4, 5};
///     std::cout << segment_sum(v, array<int>{0, 2, 2, 5}) << ' ' << segment_sum(v > 1, array<int>{0, 5});
///     // prints: [ 3.  0. 12.] [4]
template <array_expression E, integer_array O>
auto segment_sum(const E& values, const O& offsets) {
    return segments_between<fold::sum>("segment_sum", values, offsets);
}

/// The greatest element of each segment (see `segment_sum`); NaN where one is NaN. A segment without elements gives the
/// least value of the type, which is -inf for floats.
///
///     std::cout << segment_max(array<int>{3, 1, 4, 1, 5}, array<int>{0, 2, 5});
///     // prints: [3 5]
template <real_expression E, integer_array O>
auto segment_max(const E& values, const O& offsets) {
    return segments_between<fold::max>("segment_max", values, offsets);
}

/// The least element of each segment (see `segment_sum`); NaN where one is NaN. A segment without elements gives the
/// greatest value of the type, which is inf for floats.
///
///     std::cout << segment_min(array<double>{3, 1, 4, 1, 5}, array<int>{0, 2, 2});
///     // prints: [ 1. inf]
template <real_expression E, integer_array O>
auto segment_min(const E& values, const O& offsets) {
    return segments_between<fold::min>("segment_min", values, offsets);
}

/// The mean of each segment (see `segment_sum`): float64 for bool and integers, else in the elements' type. A segment
/// without elements gives NaN.
///
///     std::cout << segment_mean(array<int>{3, 1, 4, 1, 5}, array<int>{0, 2, 5});
///     // prints: [2.         3.33333333]
template <array_expression E, integer_array O>
auto segment_mean(const E& values, const O& offsets) {
    check_offsets("segment_mean", shape_of_expression(offsets).values());
    const index_t rows = values.ndim() == 0 ? 0 : values.shape()[0];
    const array<deferred<index_t, E>> at(clip(converted_to<index_t>(offsets), index_t{0}, rows));
    std::vector<index_t> behind;  // new axes that put the lengths along the first one
    for (int j = 1; j < values.ndim(); ++j) behind.push_back(-j);
    const auto length = expand_dims(at(slice(1, none)) - at(slice(0, -1)), axes(behind));
    using T = typename std::remove_cvref_t<decltype(with_fractions(values))>::value_type;
    const auto total =
        segments_between<fold::sum>("segment_mean", converted_to<mean_type<T>>(with_fractions(values)), offsets);
    return converted_to<T>(total / astype<mean_type<T>>(maximum(length, index_t{0})));
}

/// NumPy's add.reduceat along an axis: for each index the sum of the elements from it up to the next index, or to the
/// end; where the next index is not greater, the element at the index alone. The type is that of `sum`. An expression
/// for the values is evaluated now. Throws shape_error where the indices are no vector or e does not have the axis; the
/// next wait throws index_error where an index is out of range or negative.
///
///     std::cout << add_reduceat(array<int>{0, 1, 2, 3, 4, 5, 6, 7}, array<int>{0, 4, 1, 5});
///     // prints: [ 6  4 10 18]
template <array_expression E, integer_array I>
auto add_reduceat(const E& e, const I& indices, index_t axis = 0) {
    using T = typename node_of<E>::value_type;
    using R = type_of<fold_dtype(fold_rule::sums, dtype_of<T>)>;
    const int at = checked_axis("add_reduceat", axis, e.ndim());
    if (indices.ndim() != 1)
        throw shape_error("[add_reduceat] indices of shape " + to_text(indices.shape().values()) +
                          ": a vector is wanted");
    const lazy<T> x = moveaxis(lazy<T>(e), at, 0);
    const index_t rows = x.shape()[0], count = indices.size();
    if (count == 0) return moveaxis(lazy<R>(astype<R>(sliced("add_reduceat", x, 0, slice(0, 0)))), 0, at);
    const array<deferred<index_t, E>> starts(converted_to<index_t>(indices));
    array<deferred<index_t, E>> ends(
        where(position_along<E>(count, 0) == count - 1, rows, nearest("add_reduceat", starts, 0, 1)));
    std::vector<index_t> behind;  // new axes that put the indices along the first one
    for (int j = 1; j < x.ndim(); ++j) behind.push_back(-j);
    const auto alone = take(x, where(starts < 0, rows, starts), 0);
    return moveaxis(lazy<R>(where(expand_dims(starts < ends, axes(behind)),
                                  segments_of<fold::sum>("add_reduceat", x, starts, ends), astype<R>(alone))),
                    0, at);
}

}  // namespace detail

using detail::add_reduceat;
using detail::segment_max;
using detail::segment_mean;
using detail::segment_min;
using detail::segment_sum;

}  // namespace ingot
