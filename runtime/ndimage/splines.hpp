// B-splines of images: the elements and weights for places along an axis, and the coefficients of an operand.
#pragma once

#include <optional>
#include <vector>

#include <ingot/core/lazy.hpp>

#include "runtime/ndimage/images.hpp"

namespace ingot::runtime {

using detail::image;
using detail::index_t;
using numbers = lazy<double>;

/// The places at which one axis is read: the elements around each, their weights, and where they are inside.
struct axis_reads {
    std::vector<lazy<index_t>> at;
    std::vector<numbers> weights;      // none where the order is 0
    std::vector<lazy<bool>> elements;  // whether an element is inside; with the border grid_constant
    std::optional<lazy<bool>> inside;  // whether the place is; with the border constant
};

/// The reads at places along an axis of that extent, which has `padded` elements before its first one.
axis_reads reads_of(const numbers& place, index_t extent, int order, ndimage::border mode, index_t padded);

/// How a function interpolates: the order of its splines, the border, and the value of a constant border.
struct spline {
    int order;
    ndimage::border mode;
    double cval;
};

/// An operand as coefficients of splines in float32 or float64.
struct coefficients {
    any_lazy values;
    index_t padded = 0;  // elements before the first one
};

/// `used` are the axes that are interpolated. Throws shape_error for an order that is not 0 to 5, dtype_error for
/// complex numbers.
coefficients coefficients_of(const char* operation, const image& e, const spline& how, const std::vector<bool>& used);

}  // namespace ingot::runtime
