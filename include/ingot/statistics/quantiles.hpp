// Medians and quantiles: values at positions in the sorted order, along an axis or over all elements. They are
// evaluated at once.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/sorting/sorts.hpp>

namespace ingot {

/// The position of a quantile among n sorted values, and its value between two of them: NumPy's methods of these names.
/// The continuous ones interpolate linearly at n q + alpha + q (1 - alpha - beta) - 1 (Hyndman and Fan, 1996).
enum class quantile_method : std::uint8_t {
    linear,  // alpha = beta = 1
    lower,   // the lower one of linear's two values
    higher,
    midpoint,
    nearest,  // halves go to the even one
    inverted_cdf,
    averaged_inverted_cdf,
    closest_observation,
    interpolated_inverted_cdf,  // alpha = 0, beta = 1
    hazen,                      // alpha = beta = 1/2
    weibull,                    // alpha = beta = 0
    median_unbiased,            // alpha = beta = 1/3
    normal_unbiased,            // alpha = beta = 3/8
};

namespace detail {

/// The quantile along the last axis of sorted values; T is float or double. A row with a NaN gives NaN; if NaN is
/// `ignored`, only a row of NaN alone does. A row without elements gives NaN.
template <class T>
array<T> quantile_of_sorted(const array<T>& sorted, double q, quantile_method, bool ignored);
/// The median along the last axis of sorted values: with two middle elements their mean.
template <class T>
array<T> median_of_sorted(const array<T>& sorted, bool ignored);
extern template INGOT_API array<float> quantile_of_sorted(const array<float>&, double, quantile_method, bool);
extern template INGOT_API array<double> quantile_of_sorted(const array<double>&, double, quantile_method, bool);
extern template INGOT_API array<float> median_of_sorted(const array<float>&, bool);
extern template INGOT_API array<double> median_of_sorted(const array<double>&, bool);

/// Throws error where q is outside 0 to 1 (or 0 to 100: `whole`).
INGOT_API double checked_quantile(const char* operation, double q, double whole);

template <class E>
concept real_numbers =
    array_expression<E> && kind_of(dtype_of<typename std::remove_cvref_t<E>::value_type>) != kind::complex;

/// The type in which quantiles of T are computed, and the type of the result.
template <class T>
using quantile_of = std::conditional_t<std::same_as<T, float> || half_float<T>, float, double>;
template <class T>
using quantile_type = std::conditional_t<half_float<T>, T, quantile_of<T>>;

/// Whether selecting the elements at these quantiles of `count` rows is less work than sorting the rows.
INGOT_API bool worth_selecting(std::size_t quantiles, index_t length, index_t count, device_id);
/// Partially sorts rows in C order on the host: the elements around each quantile q get their sorted positions, those
/// between in any order; a row with a NaN has one last.
INGOT_API void select_quantiles(const buffer_ref& rows, dtype, index_t length, index_t count,
                                std::span<const double> q);
/// As select_quantiles, on a GPU and into other rows, which get only the elements around the quantiles and whether the
/// last is NaN. Waits. Returns false, and sets nothing, where its sample decides too little or the stream is being
/// captured.
INGOT_API bool select_quantiles_on_gpu(const buffer_ref& from, const layout& where, const buffer_ref& to, dtype,
                                       std::span<const double> q);

/// Rows that are sorted as far as the quantiles q need it; without any, or where NaN is ignored, completely.
template <class E>
auto ordered_rows(const char* operation, const E& e, index_t axis, std::span<const double> q) {
    using T = quantile_of<typename E::value_type>;
    checked_axis(operation, axis, e.ndim());
    const auto rows = moveaxis(astype<T>(e), axis, -1);
    const shape_like shape = rows.shape();
    const index_t length = shape.values().back(), size = rows.size();
    if (!worth_selecting(q.size(), length, length == 0 ? 0 : size / length, device_of(rows)))
        return array<T>(sort(rows, -1));
    const auto room = [&] { return array<T>(adopted{}, new_leaf<T>(operation, shape.values(), device_of(rows))); };
    if (size == 0) return room();
    if (device_of(rows).is_cuda()) {
        const auto evaluated = [&] {
            if constexpr (std::is_same_v<E, array<T>>)
                return rows_along<T>(e, axis);
            else
                return array<T>(rows);
        };
        const array<T> given = in_c_order(operation, evaluated());
        {
            array<T> made = room();
            if (select_quantiles_on_gpu(given.as_leaf().memory(), given.as_leaf().where(), made.as_leaf().memory(),
                                        dtype_of<T>, q))
                return made;
        }
        return array<T>(sort(given, -1));
    }
    array<T> made = room();
    made(ellipsis) = rows;
    select_quantiles(made.as_leaf().memory(), dtype_of<T>, length, size / length, q);
    return made;
}
template <class T, class R>
array<quantile_type<T>> as_quantile(const R& values) {
    return array<quantile_type<T>>(astype<quantile_type<T>>(values));
}

/// The axis to reduce: one of them, or all together if none is given.
struct quantile_axis {
    quantile_axis() = default;
    quantile_axis(index_t a) : all(false), axis(a) {}
    bool all = true;
    index_t axis = 0;
};
/// Whether e is flattened: all axes are reduced, and e is no vector, whose only axis is 0.
template <class E>
bool is_flattened(const E& e, const quantile_axis& axis) {
    return axis.all && e.ndim() != 1;
}
/// f(rows that are ordered around the fractions q), without the axis.
template <class E, class F>
auto along(const char* operation, const E& e, std::span<const double> q, quantile_axis axis, F f) {
    using T = typename E::value_type;
    return as_quantile<T>(is_flattened(e, axis) ? f(ordered_rows(operation, ravel(e), 0, q))
                                                : f(ordered_rows(operation, e, axis.axis, q)));
}
/// f(rows, one q) for each of several q, stacked. `whole`: 1 or 100; NaN is `ignored`, or not.
template <class E, class F>
auto along(const char* operation, const E& e, const std::vector<double>& q, double whole, bool ignored,
           quantile_axis axis, F f) {
    using T = typename E::value_type;
    std::vector<deferred<double, E>> parts;
    for (const double one : q) parts.push_back(checked_quantile(operation, one, whole));
    const auto ordered = ignored ? std::span<const deferred<double, E>>() : parts;
    const auto sorted = is_flattened(e, axis) ? ordered_rows(operation, ravel(e), 0, ordered)
                                              : ordered_rows(operation, e, axis.axis, ordered);
    const shape_like all = sorted.shape();
    std::vector<deferred<index_t, E>> shape{static_cast<index_t>(q.size())};
    for (int j = 0; j + 1 < static_cast<int>(all.size()); ++j) shape.push_back(all[j]);
    array<quantile_type<T>> result{zeros<quantile_type<T>>(shape)};
    for (std::size_t i = 0; i < q.size(); ++i) result(static_cast<index_t>(i)) = as_quantile<T>(f(sorted, parts[i]));
    return result;
}

/// The median along an axis or over all elements: the middle one in sorted order, or the mean of the middle two. NaN
/// where one is NaN, and for no elements. The result is float64; for float32 and the halves their type. Throws
/// shape_error where e does not have the axis.
///
///     array<double> m{{10, 7, 4}, {3, 2, 1}};
///     std::cout << median(m) << ' ' << median(m, 0) << ' ' << median(m, 1);
///     // prints: 3.5 [6.5 4.5 2.5] [7. 2.]
template <real_numbers E>
auto median(const E& e, quantile_axis axis = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    constexpr double middle[] = {0.5};
    return along("median", e, middle, axis, [](const auto& sorted) { return median_of_sorted(sorted, false); });
}
template <real_numbers E>
auto median(const E& e, index_t axis, keepdims_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return eval(expand_dims(median(e, axis), axis));
}

/// `median` without the NaN elements.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     std::cout << nanmedian(array<double>{{1, nan, 3}, {nan, nan, nan}}, 1);
///     // prints: [ 2. nan]
template <real_numbers E>
auto nanmedian(const E& e, quantile_axis axis = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return along("nanmedian", e, {}, axis, [](const auto& sorted) { return median_of_sorted(sorted, true); });
}
template <real_numbers E>
auto nanmedian(const E& e, index_t axis, keepdims_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return eval(expand_dims(nanmedian(e, axis), axis));
}

/// The value below which a fraction q of the elements lies, along an axis or over all; between two sorted elements the
/// method decides. Several q give as many results, along a new first axis. NaN where an element is NaN, and for no
/// elements. The result is float64; for float32 and the halves their type. Throws shape_error where e does not have the
/// axis, error where q is outside 0 to 1.
///
///     array<double> x{1, 2, 3, 4, 5};
///     std::cout << quantile(x, 0.3) << ' ' << quantile(x, {0.25, 0.75}) << ' '
///               << quantile(x, 0.3, 0, quantile_method::higher);
///     // prints: 2.2 [2. 4.] 3.0
template <real_numbers E>
auto quantile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
              const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const double part = checked_quantile("quantile", q, 1);
    return along("quantile", e, {&part, 1}, axis,
                 [=](const auto& sorted) { return quantile_of_sorted(sorted, part, method, false); });
}
template <real_numbers E>
auto quantile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
              quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return along("quantile", e, q, 1, false, axis,
                 [=](const auto& sorted, double one) { return quantile_of_sorted(sorted, one, method, false); });
}

/// `quantile` without the NaN elements.
///
///     std::cout << nanquantile(array<double>{1, std::numeric_limits<double>::quiet_NaN(), 5}, 0.5);
///     // prints: 3.0
template <real_numbers E>
auto nanquantile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const double part = checked_quantile("nanquantile", q, 1);
    return along("nanquantile", e, {}, axis,
                 [=](const auto& sorted) { return quantile_of_sorted(sorted, part, method, true); });
}
template <real_numbers E>
auto nanquantile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                 quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return along("nanquantile", e, q, 1, true, axis,
                 [=](const auto& sorted, double one) { return quantile_of_sorted(sorted, one, method, true); });
}

/// `quantile` with q in percent, 0 to 100.
///
///     std::cout << percentile(array<int>{1, 2, 3, 4, 5}, 75);
///     // prints: 4.0
template <real_numbers E>
auto percentile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const double part = checked_quantile("percentile", q, 100);
    return along("percentile", e, {&part, 1}, axis,
                 [=](const auto& sorted) { return quantile_of_sorted(sorted, part, method, false); });
}
template <real_numbers E>
auto percentile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return along("percentile", e, q, 100, false, axis,
                 [=](const auto& sorted, double one) { return quantile_of_sorted(sorted, one, method, false); });
}

/// `percentile` without the NaN elements.
///
///     std::cout << nanpercentile(array<double>{1, std::numeric_limits<double>::quiet_NaN(), 5}, 25);
///     // prints: 2.0
template <real_numbers E>
auto nanpercentile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const double part = checked_quantile("nanpercentile", q, 100);
    return along("nanpercentile", e, {}, axis,
                 [=](const auto& sorted) { return quantile_of_sorted(sorted, part, method, true); });
}
template <real_numbers E>
auto nanpercentile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                   quantile_method method = quantile_method::linear,
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return along("nanpercentile", e, q, 100, true, axis,
                 [=](const auto& sorted, double one) { return quantile_of_sorted(sorted, one, method, true); });
}

}  // namespace detail

using detail::median;
using detail::nanmedian;
using detail::nanpercentile;
using detail::nanquantile;
using detail::percentile;
using detail::quantile;

}  // namespace ingot
