// Images at places between their elements, by splines of order 0 to 5. The result is an expression of the operand's
// dtype, computed in float32 for float32 and halves and otherwise in float64; places are float64. Integers are rounded
// and saturate. The filter before orders above 1 is a correlation with SciPy's recurrence as weights.
#pragma once

#include <concepts>
#include <optional>

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace ndimage {

/// The options of `map_coordinates` and `shift`.
struct spline_options {
    /// The order of the splines, 0 to 5: 0 takes the nearest element, 1 is linear.
    int order = 3;
    /// The border. With `constant` a place beyond the ends has the value `cval`, with `grid_constant` elements there
    /// have it; `wrap` goes round so that first and last element coincide, `grid_wrap` so that they are neighbours.
    border mode = border::constant;
    /// The value beyond the ends.
    double cval = 0;
};

/// The options of `zoom`.
struct zoom_options {
    /// The order of the splines, 0 to 5.
    int order = 3;
    /// The border, as for `map_coordinates`.
    border mode = border::constant;
    /// The value beyond the ends.
    double cval = 0;
    /// Whether an element is an interval, whose ends stay; else the first and the last element stay.
    bool grid_mode = false;
};

/// The options of `affine_transform`.
struct affine_options {
    /// The place that the result's first element has, along all axes or each.
    per_axis<double> offset = 0.0;
    /// The result's shape; by default the operand's.
    std::optional<shape_like> output_shape = {};
    /// The order of the splines, 0 to 5.
    int order = 3;
    /// The border, as for `map_coordinates`.
    border mode = border::constant;
    /// The value beyond the ends.
    double cval = 0;
};

/// The options of `rotate`.
struct rotate_options {
    /// The plane, two axes.
    axes plane = {1, 0};
    /// Whether the result has room for all of the operand; else it has the operand's shape.
    bool reshape = true;
    /// The order of the splines, 0 to 5.
    int order = 3;
    /// The border, as for `map_coordinates`.
    border mode = border::constant;
    /// The value beyond the ends.
    double cval = 0;
};

}  // namespace ndimage

namespace detail {

INGOT_API tree_ref at_coordinates(const char* operation, const image&, const image& coordinates,
                                  const ndimage::spline_options&);
INGOT_API tree_ref shifted(const char* operation, const image&, const ndimage::per_axis<double>& by,
                           const ndimage::spline_options&);
INGOT_API tree_ref zoomed(const char* operation, const image&, const ndimage::per_axis<double>& factor,
                          const ndimage::zoom_options&);
INGOT_API tree_ref transformed(const char* operation, const image&, const ndimage::neighbourhood& matrix,
                               const ndimage::affine_options&);
INGOT_API tree_ref rotated(const char* operation, const image&, double degrees, const ndimage::rotate_options&);

}  // namespace detail

namespace ndimage {

/// e at the places that `coordinates` has along its first axis, one for each axis of e: an expression of the shape of
/// its other axes. Throws shape_error where that axis has another extent, or the order is none of 0 to 5; dtype_error
/// where elements are complex.
///
///     const array<double> x{{0, 1, 2}, {10, 11, 12}}, at{{0.5, 1, 0}, {0, 1.5, 5}};
///     std::cout << ndimage::map_coordinates(x, at, {.order = 1, .cval = -1});
///     // prints: [ 5.  11.5 -1. ]
template <array_expression E, array_expression C>
    requires(detail::kind_of(C::type) != detail::kind::complex)
auto map_coordinates(const E& e, const C& coordinates, const spline_options& how = {}) {
    return detail::image_of<E>::of(detail::at_coordinates("map_coordinates", e, coordinates, how));
}

/// e moved by these numbers of elements. Throws shape_error where there are not as many as axes, or the order is none
/// of 0 to 5; dtype_error where elements are complex.
///
///     std::cout << ndimage::shift(array<double>{1, 2, 4, 8}, 0.5, {.order = 1}) << ' '
///               << ndimage::shift(array<int>{1, 2, 4, 8}, 1, {.order = 0, .mode = ndimage::border::grid_wrap});
///     // prints: [0.  1.5 3.  6. ] [8 1 2 4]
template <array_expression E>
auto shift(const E& e, const per_axis<double>& by, const spline_options& how = {}) {
    return detail::image_of<E>::of(detail::shifted("shift", e, by, how));
}

/// e with this many times as many elements along its axes, rounded. Throws shape_error as `shift`, and where a factor
/// is negative.
///
///     std::cout << ndimage::zoom(array<double>{0, 2, 4}, 2, {.order = 1}) << ' '
///               << ndimage::zoom(array<int>{{1, 2}}, {1, 2}, {.order = 0});
///     // prints: [0.  0.8 1.6 2.4 3.2 4. ] [[1 1 2 2]]
template <array_expression E>
auto zoom(const E& e, const per_axis<double>& factor, const zoom_options& how = {}) {
    return detail::image_of<E>::of(detail::zoomed("zoom", e, factor, how));
}

/// e at the places `matrix` times the result's index, plus the offset. The matrix has n rows of n numbers for n axes,
/// or of n + 1, the last of which is the offset, and then perhaps a last row 0 ... 0 1; a row of n numbers is a
/// diagonal one. Throws shape_error where it has another shape, and as `shift`.
///
///     const array<double> x{{1, 2}, {3, 4}};
///     std::cout << ndimage::affine_transform(x, {{0, 1}, {1, 0}}, {.order = 1});
///     // prints: [[1. 3.]
///     //          [2. 4.]]
template <array_expression E>
auto affine_transform(const E& e, const neighbourhood& matrix, const affine_options& how = {}) {
    return detail::image_of<E>::of(detail::transformed("affine_transform", e, matrix, how));
}

/// e turned by this angle in degrees, in the plane of two axes. Throws shape_error where there are no two such axes,
/// and as `shift`.
///
///     std::cout << ndimage::rotate(array<int>{{1, 2, 3}, {4, 5, 6}}, 90, {.order = 1});
///     // prints: [[3 6]
///     //          [2 5]
///     //          [1 4]]
template <array_expression E>
auto rotate(const E& e, double degrees, const rotate_options& how = {}) {
    return detail::image_of<E>::of(detail::rotated("rotate", e, degrees, how));
}

}  // namespace ndimage
}  // namespace ingot
