// Correlations with weights, and the filters that are some. The result is an expression of the operand's dtype,
// computed in float32 for float32 and halves and otherwise in float64; integers are truncated, as SciPy's are, and
// wrap.
#pragma once

#include <optional>
#include <vector>

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace ndimage {

/// The options of `gaussian_filter` and of those made of it.
struct gaussian_options {
    /// The order of the derivative, of all axes or of each; 0 is the Gaussian itself.
    per_axis<index_t> order = index_t{0};
    /// The border, of all axes or of each.
    per_axis<border> mode = border::reflect;
    /// The value beyond the ends where the border is `constant`.
    double cval = 0;
    /// The number of standard deviations at which the weights end.
    double truncate = 4;
    /// The number of weights on each side, of all axes or of each; by default `truncate` says it.
    std::optional<per_axis<index_t>> radius = {};
};

}  // namespace ndimage

namespace detail {

INGOT_API tree_ref correlated_along(const char* operation, const image&, const std::vector<double>& weights,
                                    index_t axis, const ndimage::filter_options&, bool reversed);
INGOT_API tree_ref correlated_around(const char* operation, const image&, const ndimage::neighbourhood& weights,
                                     const ndimage::filter_options&, bool reversed);
INGOT_API tree_ref blurred(const char* operation, const image&, const ndimage::per_axis<double>& sigma,
                           const index_t* axis, const ndimage::gaussian_options&);
INGOT_API tree_ref averaged(const char* operation, const image&, const ndimage::per_axis<index_t>& size,
                            const index_t* axis, const ndimage::filter_options&);
/// The difference along the axis, and these three weights along the others.
INGOT_API tree_ref sloped(const char* operation, const image&, index_t axis, double outer, double middle,
                          const ndimage::filter_options&);
INGOT_API tree_ref curved(const char* operation, const image&, const ndimage::filter_options&);
INGOT_API tree_ref blurred_curvature(const char* operation, const image&, const ndimage::per_axis<double>& sigma,
                                     const ndimage::gaussian_options&);

}  // namespace detail

namespace ndimage {

/// The sums of products of `weights`, a list, a vector or an array, with the elements around each one along an axis.
/// Throws shape_error where there is no such axis, no weight, or the origin lies outside of them.
///
///     const array<double> x{2, 8, 0, 4, 1, 9, 9, 0};
///     std::cout << ndimage::correlate1d(x, {1, 3});
///     // prints: [ 8. 26.  8. 12.  7. 28. 36.  9.]
template <array_expression E>
auto correlate1d(const E& e, const detail::number_row& weights, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::correlated_along("correlate1d", e, weights.values(), axis, how, false));
}

/// `correlate1d` with the weights reversed. Throws as it does.
///
///     std::cout << ndimage::convolve1d(array<double>{2, 8, 0, 4, 1, 9, 9, 0}, {1, 3});
///     // prints: [14. 24.  4. 13. 12. 36. 27.  0.]
template <array_expression E>
auto convolve1d(const E& e, const detail::number_row& weights, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::correlated_along("convolve1d", e, weights.values(), axis, how, true));
}

/// The sums of products of `weights` with the elements around each one, along all axes. Up to 81 weights are scalars of
/// one expression, without those that are 0. Throws shape_error where the weights have another number of axes or none
/// of an extent, or an origin lies outside of them.
///
///     const array<int> x{{1, 2, 3}, {4, 5, 6}};
///     std::cout << ndimage::correlate(x, {{0, 1, 0}, {1, 0, 2}, {0, 1, 0}}, {.mode = ndimage::border::nearest});
///     // prints: [[10 14 17]
///     //          [19 23 26]]
template <array_expression E>
auto correlate(const E& e, const neighbourhood& weights, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::correlated_around("correlate", e, weights, how, false));
}

/// `correlate` with the weights reversed along all axes. Throws as it does.
///
///     const array<int> x{{1, 2, 3}, {4, 5, 6}};
///     std::cout << ndimage::convolve(x, {{0, 0, 0}, {0, 0, 1}, {0, 0, 0}}, {.mode = ndimage::border::constant});
///     // prints: [[0 1 2]
///     //          [0 4 5]]
template <array_expression E>
auto convolve(const E& e, const neighbourhood& weights, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::correlated_around("convolve", e, weights, how, true));
}

/// The Gaussian of this standard deviation, or a derivative of it, along an axis. Throws shape_error where there is no
/// such axis, an order is negative or a radius is.
///
///     std::cout << round(ndimage::gaussian_filter1d(array<double>{1, 2, 3, 4, 5}, 1), 3);
///     // prints: [1.427 2.068 3.    3.932 4.573]
template <array_expression E>
auto gaussian_filter1d(const E& e, double sigma, index_t axis = -1, const gaussian_options& how = {}) {
    return detail::image_of<E>::of(detail::blurred("gaussian_filter1d", e, sigma, &axis, how));
}

/// The Gaussian of these standard deviations, or a derivative of it, along all axes, one after the other; an axis whose
/// deviation is 0 stays. Throws shape_error where there are not as many deviations, orders or radii as axes, or one is
/// negative.
///
///     array<double> x = zeros({3, 5});
///     x(1, 2) = 1;
///     std::cout << round(ndimage::gaussian_filter(x, {0.5, 1}, {.truncate = 2}), 2);
///     // prints: [[0.01 0.03 0.04 0.03 0.01]
///     //          [0.04 0.19 0.32 0.19 0.04]
///     //          [0.01 0.03 0.04 0.03 0.01]]
template <array_expression E>
auto gaussian_filter(const E& e, const per_axis<double>& sigma, const gaussian_options& how = {}) {
    return detail::image_of<E>::of(detail::blurred("gaussian_filter", e, sigma, nullptr, how));
}

/// The mean of `size` elements along an axis. Throws shape_error where there is no such axis, the size is not positive,
/// or the origin lies outside of it.
///
///     std::cout << ndimage::uniform_filter1d(array<int>{2, 8, 0, 4, 1, 9, 9, 0}, 3);
///     // prints: [4 3 4 1 4 6 6 3]
template <array_expression E>
auto uniform_filter1d(const E& e, index_t size, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::averaged("uniform_filter1d", e, size, &axis, how));
}

/// The means of boxes of this size, one axis after the other. Throws shape_error where there are not as many sizes as
/// axes, one is not positive, or an origin lies outside of it.
///
///     std::cout << ndimage::uniform_filter(array<double>{{9, 0, 0}, {0, 0, 0}, {0, 0, 18}}, 3);
///     // prints: [[4. 2. 0.]
///     //          [2. 3. 4.]
///     //          [0. 4. 8.]]
template <array_expression E>
auto uniform_filter(const E& e, const per_axis<index_t>& size = index_t{3}, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::averaged("uniform_filter", e, size, nullptr, how));
}

/// Sobel's derivative along an axis: differences along it, weights 1, 2, 1 along the others. Throws shape_error where
/// there is no such axis.
///
///     std::cout << ndimage::sobel(array<int>{{1, 1, 5, 5}, {1, 1, 5, 5}, {1, 1, 5, 5}});
///     // prints: [[ 0 16 16  0]
///     //          [ 0 16 16  0]
///     //          [ 0 16 16  0]]
template <array_expression E>
auto sobel(const E& e, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::sloped("sobel", e, axis, 1, 2, how));
}

/// Prewitt's derivative along an axis: differences along it, weights 1, 1, 1 along the others. Throws shape_error where
/// there is no such axis.
///
///     std::cout << ndimage::prewitt(array<int>{{1, 1, 5, 5}, {1, 1, 5, 5}, {1, 1, 5, 5}}, 1);
///     // prints: [[ 0 12 12  0]
///     //          [ 0 12 12  0]
///     //          [ 0 12 12  0]]
template <array_expression E>
auto prewitt(const E& e, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::sloped("prewitt", e, axis, 1, 1, how));
}

/// The sum of second differences along all axes. Throws shape_error where a border is given for another number of axes.
///
///     std::cout << ndimage::laplace(array<int>{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}});
///     // prints: [[ 0  1  0]
///     //          [ 1 -4  1]
///     //          [ 0  1  0]]
template <array_expression E>
auto laplace(const E& e, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::curved("laplace", e, how));
}

/// The sum of the Gaussian's second derivatives along all axes. Throws shape_error as `gaussian_filter`.
///
///     array<double> x = zeros({1, 5});
///     x(0, 2) = 1;
///     std::cout << round(ndimage::gaussian_laplace(x, 1), 2);
///     // prints: [[ 0.2  0.  -0.4  0.   0.2]]
template <array_expression E>
auto gaussian_laplace(const E& e, const per_axis<double>& sigma, const gaussian_options& how = {}) {
    return detail::image_of<E>::of(detail::blurred_curvature("gaussian_laplace", e, sigma, how));
}

}  // namespace ndimage
}  // namespace ingot
