// Functions of several variables, given on a rectangular grid.
#pragma once

#include <utility>
#include <vector>

#include <ingot/interpolate/points.hpp>

namespace ingot {
namespace interpolate {

/// The options of `regular_grid_interpolator`.
struct grid_options {
    /// The value between grid points: linear along each axis, or that of the nearest one.
    interpolate::method method = method::linear;
    /// Whether a place outside of the grid is an error.
    bool bounds_error = true;
    /// Without `bounds_error` the value outside of the grid: a number, or `extrapolate`.
    fill fill_value = {};
};

/// The function through values on a rectangular grid: `points` has the places of the grid's lines along each axis, in
/// ascending or descending order; further axes of the values are those of each value. Grid points are read on the host,
/// which waits. T is double or std::complex<double>. Throws shape_error where a vector of points is none, has no
/// elements or not as many as the values have along its axis, or there are more of them than axes; error where points
/// are not in order, or the method is none of linear and nearest.
///
///     const array<double> x{0, 1, 2}, y{0, 10};
///     const interpolate::regular_grid_interpolator f({x, y}, array<double>{{0, 1}, {2, 3}, {4, 9}});
///     std::cout << f(array<double>{{0.5, 5}, {2, 10}, {1.5, 0}});
///     // prints: [1.5 9.  3. ]
template <class T>
class regular_grid_interpolator {
public:
    template <array_expression V>
    regular_grid_interpolator(const std::vector<array<double>>& points, const V& values, const grid_options& how = {})
        : regular_grid_interpolator(detail::any_expression(values), points, how) {}

    /// The function at places: a `lazy` of their shape without the last axis, which has a number for each axis of the
    /// grid. An expression of places is part of the result. With `bounds_error` the call waits, and throws index_error
    /// where a place lies outside. A place that has a NaN has the value NaN. Throws shape_error where the last axis of
    /// the places is not as long as the grid has axes.
    ///
    ///     const array<double> x{0, 1}, y{0, 1};
    ///     const interpolate::regular_grid_interpolator f({x, y}, array<double>{{0, 1}, {2, 3}},
    ///                                                    {.bounds_error = false, .fill_value = -1});
    ///     std::cout << f(array<double>{{0.5, 0.5}, {2, 0}}) << ' ' << f(array<float>{1, 0.25});
    ///     // prints: [ 1.5 -1. ] 2.25
    template <detail::real_values X>
    lazy<T> operator()(const X& places) const {
        return at(detail::any_expression(places));
    }

private:
    INGOT_API regular_grid_interpolator(const detail::any_expression& values, const std::vector<array<double>>& points,
                                        const grid_options&);
    INGOT_API lazy<T> at(const detail::any_expression& places) const;

    std::vector<detail::knots> grid_;
    array<T> values_;  // one axis for all points of the grid, then those of each value
    grid_options how_;
};

template <array_expression V>
regular_grid_interpolator(const std::vector<array<double>>&, const V&,
                          const grid_options& = {}) -> regular_grid_interpolator<detail::double_of<V>>;

}  // namespace interpolate
}  // namespace ingot
