// Medians and quantiles: values at positions in the sorted order, along an axis or over all elements. They are
// evaluated at once.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>

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

template <class E>
concept real_numbers =
    array_expression<E> && kind_of(dtype_of<typename std::remove_cvref_t<E>::value_type>) != kind::complex;

/// The type in which quantiles of T are computed, and that of the result but for halves, which keep theirs.
template <class T>
using quantile_of = std::conditional_t<std::same_as<T, float> || half_float<T>, float, double>;

/// The axis to reduce: one of them, or all together if none is given.
struct quantile_axis {
    quantile_axis() = default;
    quantile_axis(index_t a) : all(false), axis(a) {}
    bool all = true;
    index_t axis = 0;
};
/// A question about values: their quantiles at `q`, fractions of `whole`, or their medians. If NaN is `ignored`, only a
/// row of NaN alone gives NaN. Results for several q are `stacked` along a new first axis.
struct quantile_question {
    const char* operation;
    std::span<const double> q = {};
    double whole = 1;
    bool ignored = false, median = false, stacked = false;
    quantile_method method = quantile_method::linear;
};
/// T is float or double. Throws as `quantile`.
template <class T>
array<T> answer(const quantile_question&, const lazy<T>& e, quantile_axis);
extern template INGOT_API array<float> answer(const quantile_question&, const lazy<float>&, quantile_axis);
extern template INGOT_API array<double> answer(const quantile_question&, const lazy<double>&, quantile_axis);

template <class E>
auto quantile_by(const quantile_question& asked, const E& e, quantile_axis axis) {
    using T = typename E::value_type;
    using C = quantile_of<T>;
    if constexpr (half_float<T>)
        return array<T>(astype<T>(answer(asked, lazy<C>(astype<C>(e)), axis)));
    else
        return answer(asked, lazy<C>(as_values<C>(e)), axis);
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
    return quantile_by({.operation = "median", .median = true}, e, axis);
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
    return quantile_by({.operation = "nanmedian", .ignored = true, .median = true}, e, axis);
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
    return quantile_by({.operation = "quantile", .q = {&q, 1}, .method = method}, e, axis);
}
template <real_numbers E>
auto quantile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
              quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "quantile", .q = q, .stacked = true, .method = method}, e, axis);
}

/// `quantile` without the NaN elements.
///
///     std::cout << nanquantile(array<double>{1, std::numeric_limits<double>::quiet_NaN(), 5}, 0.5);
///     // prints: 3.0
template <real_numbers E>
auto nanquantile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                 const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "nanquantile", .q = {&q, 1}, .ignored = true, .method = method}, e, axis);
}
template <real_numbers E>
auto nanquantile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                 quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "nanquantile", .q = q, .ignored = true, .stacked = true, .method = method}, e,
                       axis);
}

/// `quantile` with q in percent, 0 to 100.
///
///     std::cout << percentile(array<int>{1, 2, 3, 4, 5}, 75);
///     // prints: 4.0
template <real_numbers E>
auto percentile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "percentile", .q = {&q, 1}, .whole = 100, .method = method}, e, axis);
}
template <real_numbers E>
auto percentile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                quantile_method method = quantile_method::linear, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "percentile", .q = q, .whole = 100, .stacked = true, .method = method}, e, axis);
}

/// `percentile` without the NaN elements.
///
///     std::cout << nanpercentile(array<double>{1, std::numeric_limits<double>::quiet_NaN(), 5}, 25);
///     // prints: 2.0
template <real_numbers E>
auto nanpercentile(const E& e, double q, quantile_axis axis = {}, quantile_method method = quantile_method::linear,
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by({.operation = "nanpercentile", .q = {&q, 1}, .whole = 100, .ignored = true, .method = method}, e,
                       axis);
}
template <real_numbers E>
auto nanpercentile(const E& e, const std::vector<double>& q, quantile_axis axis = {},
                   quantile_method method = quantile_method::linear,
                   const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return quantile_by(
        {.operation = "nanpercentile", .q = q, .whole = 100, .ignored = true, .stacked = true, .method = method}, e,
        axis);
}

}  // namespace detail

using detail::median;
using detail::nanmedian;
using detail::nanpercentile;
using detail::nanquantile;
using detail::percentile;
using detail::quantile;

}  // namespace ingot
