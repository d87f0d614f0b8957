// Functions through points that are constant or linear between them.
#pragma once

#include <type_traits>

#include <ingot/interpolate/points.hpp>

namespace ingot {
namespace interpolate {

/// The options of `interp`.
struct interp_options {
    /// The value between two points.
    interpolate::method kind = method::linear;
    /// The axis of the values that belongs to the points.
    index_t axis = -1;
    /// The value beyond the points.
    fill fill_value = {};
};

}  // namespace interpolate

namespace detail {

template <class T>
INGOT_API lazy<T> interpolated_in_pieces(const any_expression& x, const any_expression& xp, const any_expression& fp,
                                         const interpolate::interp_options&);

}  // namespace detail

namespace interpolate {

/// The function through the points (xp, fp) at x, as SciPy's interp1d: a `lazy` in float64, or complex128 where fp is
/// complex. The axis of fp that belongs to the points is replaced by the axes of x. The points are read on the host,
/// which waits, and sorted where they do not increase; x, an expression or a number, is part of the result. Beyond the
/// points the value is `fill_value`, NaN by default; `previous` and `next` that are extrapolated are NaN on the side
/// without a point. A place that is NaN has the value NaN. Throws shape_error where xp is no vector, has no elements,
/// or fp has another number of them along the axis.
///
///     const array<double> xp{0, 1, 4}, fp{3, 5, 2}, x{0.5, 1, 2.5, 5};
///     std::cout << interpolate::interp(x, xp, fp) << ' '
///               << interpolate::interp(x, xp, fp, {.kind = interpolate::method::next}) << '\n'
///               << interpolate::interp(0.5, array<int>{0, 1}, array<int>{{1, 2}, {5, 9}}, {.axis = 0});
///     // prints: [4.  5.  3.5 nan] [ 5.  5.  2. nan]
///     //         [3.  5.5]
template <detail::real_places X, detail::real_values P, array_expression F>
lazy<detail::double_of<F>> interp(const X& x, const P& xp, const F& fp, const interp_options& how = {}) {
    return detail::interpolated_in_pieces<detail::double_of<F>>(x, xp, fp, how);
}

}  // namespace interpolate
}  // namespace ingot
