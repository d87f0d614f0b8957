// Integrals of samples, as scipy.integrate has them. Each is one pass over the samples, an expression.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/views.hpp>
#include <ingot/solvers/loops.hpp>

namespace ingot {
namespace integrate {

/// The options of `cumulative_trapezoid` and `simpson`.
struct sample_options {
    /// The distance of samples that have no places.
    double dx = 1;
    /// The axis along which samples lie.
    index_t axis = -1;
};

/// The options of `cumulative_trapezoid`.
struct cumulative_options {
    /// The distance of samples that have no places.
    double dx = 1;
    /// The axis along which samples lie.
    index_t axis = -1;
    /// 0 puts a 0 before the integrals, so that there are as many as samples.
    std::optional<double> initial = {};
};

}  // namespace integrate

namespace detail {

/// The samples' axis. Throws shape_error where there is no such axis, or it has no elements.
template <class Y>
int axis_of_samples(const char* operation, const Y& y, index_t axis) {
    const int at = checked_axis(operation, axis, y.ndim());
    if (y.shape()[at] == 0)
        throw shape_error("[" + std::string(operation) + "] no samples along axis " + std::to_string(at) +
                          "; at least one is wanted");
    return at;
}

/// The places of samples, in the samples' shape or along their axis. Throws shape_error where they have another one.
template <class Y, class X>
auto places_of_samples(const char* operation, const Y& y, const X& x, int at) {
    const int rank = y.ndim();
    x.ndim() == 1 ? check_vector(operation, x.shape(), y.shape(), at) : check_shapes(operation, y, x);
    std::vector<index_t> behind;
    for (int j = at + 1; j < rank && x.ndim() == 1; ++j) behind.push_back(-1 - static_cast<index_t>(behind.size()));
    return lazy(expand_dims(x, axes(behind)));
}

template <class Y, class D>
auto cumulative_trapezoids(const Y& y, const D& widths, int at, const std::optional<double>& initial) {
    using T = type_of<promote(Y::type, D::type)>;
    constexpr const char* operation = "cumulative_trapezoid";
    if (initial && *initial != 0)
        throw error("[cumulative_trapezoid] an initial value of " + std::to_string(*initial) + "; 0 or none is wanted");
    const lazy<T> sums(cumsum(widths * (all_but_first(operation, y, at) + all_but_last(operation, y, at)) / 2, at));
    if (!initial) return sums;
    const shape_like shape(y.shape());
    std::vector<index_t> first(shape.begin(), shape.end());
    first[static_cast<std::size_t>(at)] = 1;
    return lazy<T>(concatenate({lazy<T>(broadcast_to(scalar<T>(T(0)), shape_like(first))), sums}, at));
}

/// Simpson's rule over samples that lie dx apart: a sum with weights. Of an even number the last interval is that of
/// the parabola through the last three samples (Cartwright, 2017).
template <class Y>
auto simpson_sum(const Y& y, double dx, int at) {
    using T = typename Y::value_type;
    using R = norm_type<T>;
    const index_t n = y.shape()[at], last = n - (n % 2 == 0 ? 2 : 1);
    const axes over(at);
    const auto number = [&](double v) { return scalar<R>(static_cast<R>(v * dx)); };
    const auto i = position_along(n, y.ndim() - 1 - at);
    lazy<R> w =
        where((i & index_t{1}) == 1, number(4.0 / 3), where(i == 0 || i == last, number(1.0 / 3), number(2.0 / 3)));
    if (n == 1) w = where(i == 0, number(0), w);
    if (n == 2) w = where(i >= 0, number(0.5), w);
    if (n % 2 == 0 && n > 2)
        w = where(i == n - 1, number(5.0 / 12), where(i == n - 2, number(1.0), where(i == n - 3, number(1.25), w)));
    return lazy<T>(sum(y * w, over));
}

/// The same over samples at places, which need not lie equally apart.
template <class Y, class X>
auto simpson_sum_at(const Y& y, const X& x, int at) {
    using T = type_of<promote(Y::type, X::type)>;
    using R = type_of<kind_of(X::type) == kind::floating ? X::type : dtype::f8>;
    const index_t n = y.shape()[at], pairs = (n - 1) / 2;
    const axes over(at);
    const auto part = [&](const auto& e, slice s) { return lazy(sliced("simpson", e, at, s)); };
    const lazy<R> h(astype<R>(differences("simpson", x, at)));
    const auto ratio = [](const lazy<R>& a, const lazy<R>& b) { return lazy<R>(where(b == 0, R(0), a / b)); };
    if (n == 1) return lazy<T>(sum(y * R(0), over));
    if (n == 2) return lazy<T>(sum(h * (part(y, slice(0, 1)) + part(y, slice(1, 2))) / 2, over));
    const auto every_second = [&](const auto& e, index_t first) { return part(e, slice(first, first + 2 * pairs, 2)); };
    const lazy<R> h0 = every_second(h, 0), h1 = every_second(h, 1), both = h0 + h1, rest = ratio(h0, h1);
    const lazy<T> pieces =
        both / 6 *
        (every_second(y, 0) * (2 - ratio(lazy<R>(rest * R(0) + 1), rest)) +
         every_second(y, 1) * (both * ratio(both, lazy<R>(h0 * h1))) + every_second(y, 2) * (2 - rest));
    const lazy<T> inner(sum(pieces, over));
    if (n % 2 == 1) return inner;
    const auto end = [&](const auto& e, index_t i) { return part(e, slice(i, i + 1)); };
    const lazy<R> before = end(h, n - 3), behind = end(h, n - 2), sum_of_both = before + behind;
    const lazy<R> alpha = ratio(lazy<R>(2 * behind * behind + 3 * before * behind), lazy<R>(6 * sum_of_both));
    const lazy<R> beta = ratio(lazy<R>(behind * behind + 3 * before * behind), lazy<R>(6 * before));
    const lazy<R> eta = ratio(lazy<R>(behind * behind * behind), lazy<R>(6 * before * sum_of_both));
    const lazy<T> last = alpha * end(y, n - 1) + beta * end(y, n - 2) - eta * end(y, n - 3);
    return lazy<T>(inner + sum(last, over));
}

}  // namespace detail

namespace integrate {

/// The integrals from the first sample to each one behind it, by the trapezoidal rule: a `lazy` with one element less
/// along the axis, or with `initial` as many. Samples lie `dx` apart, or at x, which is a vector or has y's shape. It
/// is float64 for bool and integers, else of the type to which y and x promote. Throws shape_error where y does not
/// have the axis, has no samples along it, or x does not fit; error where `initial` is not 0.
///
///     const array<double> y{1, 2, 4}, x{0, 1, 3};
///     std::cout << integrate::cumulative_trapezoid(y, {.initial = 0}) << ' ' << integrate::cumulative_trapezoid(y, x);
///     // prints: [0.  1.5 4.5] [1.5 7.5]
template <array_expression Y>
auto cumulative_trapezoid(const Y& y, const cumulative_options& how = {}) {
    const lazy samples(detail::with_fractions(y));
    const int at = detail::axis_of_samples("cumulative_trapezoid", samples, how.axis);
    using R = detail::norm_type<typename decltype(samples)::value_type>;
    return detail::cumulative_trapezoids(samples, lazy<R>(scalar<R>(static_cast<R>(how.dx))), at, how.initial);
}
template <array_expression Y, array_expression X>
auto cumulative_trapezoid(const Y& y, const X& x, const cumulative_options& how = {}) {
    const lazy samples(detail::with_fractions(y));
    const int at = detail::axis_of_samples("cumulative_trapezoid", samples, how.axis);
    const auto places = detail::places_of_samples("cumulative_trapezoid", samples, x, at);
    const lazy widths(detail::differences("cumulative_trapezoid", places, at - samples.ndim()));
    return detail::cumulative_trapezoids(samples, widths, at, how.initial);
}

/// The integral along an axis by Simpson's rule: a `lazy` without the axis. Of an even number of samples the last
/// interval is that of the parabola through the last three. Samples, dtypes and errors are those of
/// `cumulative_trapezoid`.
///
///     const array<double> x{0, 1, 2, 3, 4};
///     std::cout << round(integrate::simpson(x * x), 4) << ' ' << round(integrate::simpson(x * x, x * 2), 4) << ' '
///               << round(integrate::simpson(array<double>{0, 1, 4, 9}, {.dx = 0.5}), 4);
///     // prints: 21.3333 42.6667 4.5
template <array_expression Y>
auto simpson(const Y& y, const sample_options& how = {}) {
    const lazy samples(detail::with_fractions(y));
    return detail::simpson_sum(samples, how.dx, detail::axis_of_samples("simpson", samples, how.axis));
}
template <array_expression Y, array_expression X>
auto simpson(const Y& y, const X& x, const sample_options& how = {}) {
    const lazy samples(detail::with_fractions(y));
    const int at = detail::axis_of_samples("simpson", samples, how.axis);
    // In the samples' shape, of which slices are taken along the axis.
    return detail::simpson_sum_at(
        samples, lazy(broadcast_to(detail::places_of_samples("simpson", samples, x, at), samples.shape())), at);
}

}  // namespace integrate
}  // namespace ingot
