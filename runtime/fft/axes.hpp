// Which axes are transformed by which calls, and by what they are scaled.
#pragma once

#include <span>
#include <vector>

#include <ingot/fft/transforms.hpp>

namespace ingot::detail {

/// What is transformed by one call after another: up to three different axes each, in ascending order. The last given
/// are first; with `real` the very last stays behind the others of its call.
std::vector<std::vector<transformed_axis>> calls_of_transform(std::span<const transformed_axis>, bool real);
/// What all elements are multiplied by.
double factor_of_transform(fft::norm how, std::span<const transformed_axis>, bool inverse);
void check_has_axes(const char* operation, std::span<const transformed_axis>);
/// Throws shape_error where there are no points.
void check_points(const char* operation, index_t n);
/// Throws shape_error unless 1 <= type <= 4, and for what has too few points.
void check_cosine_type(const char* operation, int type, index_t points);

}  // namespace ingot::detail
