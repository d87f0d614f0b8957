// Distributes the axes of a transform over calls, and computes its scale.
#pragma once

#include <span>
#include <vector>

#include <ingot/fft/transforms.hpp>

namespace ingot::detail {

/// The axes of each call, in the order of the calls: up to three different ones, in ascending order. The last given
/// axes come first; with `real` the very last one stays behind the others of its call.
std::vector<std::vector<transformed_axis>> calls_of_transform(std::span<const transformed_axis>, bool real);
/// The factor by which all elements are multiplied.
double factor_of_transform(fft::norm how, std::span<const transformed_axis>, bool inverse);
void check_has_axes(const char* operation, std::span<const transformed_axis>);
/// Throws shape_error where there are no points.
void check_points(const char* operation, index_t n);
/// Throws shape_error unless 1 <= type <= 4, and where the type needs more points.
void check_cosine_type(const char* operation, int type, index_t points);

}  // namespace ingot::detail
