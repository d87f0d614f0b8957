// Splines of one variable: polynomials between knots that join smoothly.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <ingot/interpolate/points.hpp>

namespace ingot {
namespace interpolate {

/// The condition at an end of a `cubic_spline`: the derivative of this order, 1 or 2, has this value; order 0 stands
/// for `not_a_knot`, -1 for `periodic`.
struct end_condition {
    int order = 0;
    double value = 0;
    friend constexpr bool operator==(const end_condition&, const end_condition&) = default;
};
/// The first two and the last two polynomials are one.
inline constexpr end_condition not_a_knot{0, 0};
/// The spline repeats: its first and second derivatives are equal at both ends. A value of
/// `spline_options::extrapolate` too: places beyond the ends are taken modulo the period.
inline constexpr end_condition periodic{-1, 0};
/// The first derivative is 0.
inline constexpr end_condition clamped{1, 0};
/// The second derivative is 0.
inline constexpr end_condition natural{2, 0};

/// The conditions at both ends of a `cubic_spline`: one for both, or two.
///
///     const array<double> x{0, 1, 2, 3}, y{0, 1, 4, 9};
///     std::cout << interpolate::cubic_spline(x, y, {.bc_type = {{1, 0}, {2, 2}}})(2.5);
///     // prints: 6.25
class boundary {
public:
    constexpr boundary(end_condition both) : first_(both), last_(both) {}
    constexpr boundary(end_condition first, end_condition last) : first_(first), last_(last) {}

    // Inner
    constexpr end_condition first() const noexcept { return first_; }
    // Inner
    constexpr end_condition last() const noexcept { return last_; }

private:
    end_condition first_, last_;
};

/// The values of a spline beyond its ends: those of the first and the last polynomial (true), NaN (false), or those of
/// a function that repeats (`periodic`).
///
///     const array<double> x{0, 1, 2}, y{0, 1, 0};
///     const auto s = interpolate::cubic_spline(x, y);
///     std::cout << s(3) << ' ' << s(3, 0, false) << ' ' << s(3, 0, interpolate::periodic);
///     // prints: -3.0 nan 1.0
class extrapolation {
public:
    constexpr extrapolation(std::same_as<bool> auto yes) : goes_on_(yes) {}
    INGOT_API extrapolation(end_condition periodic);

    // Inner
    constexpr bool goes_on() const noexcept { return goes_on_; }
    // Inner
    constexpr bool repeats() const noexcept { return repeats_; }

private:
    bool goes_on_ = false, repeats_ = false;
};

/// The options of `cubic_spline`.
struct spline_options {
    /// The axis of the values that belongs to the knots.
    index_t axis = 0;
    /// The conditions at the ends.
    boundary bc_type = not_a_knot;
    /// The values beyond the ends; by default the spline goes on, or repeats where its ends are `periodic`.
    std::optional<extrapolation> extrapolate = {};
};

/// The options of `pchip`.
struct pchip_options {
    /// The axis of the values that belongs to the knots.
    index_t axis = 0;
    /// The values beyond the ends.
    extrapolation extrapolate = true;
};

/// How `akima` finds the slope at a knot: `makima` weights a flat stretch more, so that it stays flat.
enum class akima_method : std::uint8_t { akima, makima };

/// The options of `akima`.
struct akima_options {
    /// The axis of the values that belongs to the knots.
    index_t axis = 0;
    /// The rule for slopes.
    akima_method method = akima_method::akima;
    /// The values beyond the ends.
    extrapolation extrapolate = false;
};

/// A polynomial between each two knots, as SciPy's PPoly. T is double or std::complex<double>. It holds coefficients on
/// the device of the values and the knots also on the host.
///
///     const array<double> x{0, 1, 2}, y{0, 1, 8}, slopes{0, 3, 12};
///     const auto s = interpolate::cubic_hermite_spline(x, y, slopes);
///     std::cout << s(array<double>{0.5, 1.5, 4}) << ' ' << s(2, 1) << ' ' << s.derivative()(2) << ' '
///               << s.integrate(0, 2) << ' ' << s.antiderivative()(2) << '\n' << s.c()(all, 1) << ' ' << s.x();
///     // prints: [ 0.125  3.375 64.   ] 12.0 12.0 4.0 4.0
///     //         [1. 3. 3. 1.] [0. 1. 2.]
template <class T>
class ppoly {
public:
    /// The values at x, or those of the derivative of order nu: a `lazy` in which the axes of x stand where the values
    /// had the axis of the knots. x is an expression or a number, and is part of the result. `beyond` stands for the
    /// spline's own `extrapolate`. A place that is NaN has the value NaN. Throws error where nu is negative.
    template <detail::real_places X>
    lazy<T> operator()(const X& x, int nu = 0, const std::optional<extrapolation>& beyond = {}) const {
        return at(detail::any_expression(x), nu, beyond ? *beyond : extrapolate_);
    }

    /// The derivative of order nu, of polynomials of lower degree; of a negative order an antiderivative.
    INGOT_API ppoly derivative(int nu = 1) const;
    /// The antiderivative, nu times, which is continuous and 0 at the first knot.
    INGOT_API ppoly antiderivative(int nu = 1) const;
    /// The integral from a to b: a `lazy` of the values' other axes. `beyond` stands for the spline's own
    /// `extrapolate`; NaN where a limit lies beyond the ends of a spline that does not go on.
    INGOT_API lazy<T> integrate(double a, double b, const std::optional<extrapolation>& beyond = {}) const;

    /// The knots.
    const array<double>& x() const noexcept { return knots_.values; }
    /// The coefficients: along the first axis those of descending powers of the distance from the knot before, along
    /// the second one those of each interval.
    INGOT_API lazy<T> c() const;

    // Inner: coefficients of each interval along the first axis, of descending powers along the second one.
    ppoly(detail::knots k, array<T> coefficients, int axis, extrapolation beyond)
        : knots_(std::move(k)), coefficients_(std::move(coefficients)), axis_(axis), extrapolate_(beyond) {}

private:
    INGOT_API lazy<T> at(const detail::any_expression& x, int nu, const extrapolation&) const;

    detail::knots knots_;
    array<T> coefficients_;
    int axis_;
    extrapolation extrapolate_;
};

}  // namespace interpolate

namespace detail {

template <class T>
INGOT_API interpolate::ppoly<T> cubic_spline_through(const any_expression& x, const any_expression& y,
                                                     const interpolate::spline_options&);
INGOT_API interpolate::ppoly<double> pchip_through(const any_expression& x, const any_expression& y,
                                                   const interpolate::pchip_options&);
INGOT_API interpolate::ppoly<double> akima_through(const any_expression& x, const any_expression& y,
                                                   const interpolate::akima_options&);
template <class T>
INGOT_API interpolate::ppoly<T> hermite_through(const any_expression& x, const any_expression& y,
                                                const any_expression& dydx, index_t axis,
                                                const interpolate::extrapolation&);

}  // namespace detail

namespace interpolate {

/// The cubic spline through the points (x, y), whose second derivative is continuous: a `ppoly`. x increases and is
/// read on the host, which waits; the slopes of all columns of y are found together by cyclic reduction. Throws
/// shape_error where x is no vector of at least two elements, or y has another number of them along the axis; error
/// where x does not increase, a boundary is `periodic` at one end alone or the values at periodic ends differ, or the
/// order of a derivative is neither 1 nor 2.
///
///     const array<double> x{0, 1, 2, 3}, y{0, 1, 0, -1};
///     std::cout << interpolate::cubic_spline(x, y)(1.5) << ' '
///               << round(interpolate::cubic_spline(x, y, {.bc_type = interpolate::natural})(1.5), 4);
///     // prints: 0.625 0.65
template <detail::real_values X, array_expression Y>
ppoly<detail::double_of<Y>> cubic_spline(const X& x, const Y& y, const spline_options& how = {}) {
    return detail::cubic_spline_through<detail::double_of<Y>>(x, y, how);
}

/// The piecewise cubic through the points (x, y) that is monotonic where they are, by the slopes of Fritsch and
/// Butland (1984): a `ppoly`. Throws as `cubic_spline`.
///
///     const auto p = interpolate::pchip(array<double>{0, 1, 2, 3}, array<double>{0, 0, 1, 1});
///     std::cout << p(array<double>{0.5, 1.5, 2.5});
///     // prints: [0.  0.5 1. ]
template <detail::real_values X, detail::real_values Y>
ppoly<double> pchip(const X& x, const Y& y, const pchip_options& how = {}) {
    return detail::pchip_through(x, y, how);
}

/// The piecewise cubic through the points (x, y) by the slopes of Akima (1970), which an outlier moves near itself
/// alone: a `ppoly`. Throws as `cubic_spline`.
///
///     const auto a = interpolate::akima(array<double>{0, 1, 2, 3, 4}, array<double>{0, 0, 0, 1, 2});
///     std::cout << a(array<double>{0.5, 1.5, 2.5, 5});
///     // prints: [ 0.     -0.0625  0.4375     nan]
template <detail::real_values X, detail::real_values Y>
ppoly<double> akima(const X& x, const Y& y, const akima_options& how = {}) {
    return detail::akima_through(x, y, how);
}

/// The piecewise cubic through the points (x, y) that has the slopes `dydx`, of y's shape, there: a `ppoly`. Throws as
/// `cubic_spline`, and shape_error where the shapes of y and dydx differ.
///
///     const auto h = interpolate::cubic_hermite_spline(array<double>{0, 1}, array<double>{0, 1}, array<double>{0, 0});
///     std::cout << h(array<double>{0.25, 0.5});
///     // prints: [0.15625 0.5    ]
template <detail::real_values X, array_expression Y, array_expression D>
auto cubic_hermite_spline(const X& x, const Y& y, const D& dydx, index_t axis = 0, const extrapolation& beyond = true) {
    using T = detail::type_of<detail::promote(detail::promote(Y::type, D::type), dtype::f8)>;
    return detail::hermite_through<T>(x, y, dydx, axis, beyond);
}

}  // namespace interpolate
}  // namespace ingot
