// Morphology of truths: erosions and dilations by a structure, and both in turn.
#pragma once

#include <optional>

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace ndimage {

/// The options of binary erosions and dilations.
///
///     const array<int> x{0, 1, 1, 1, 1, 1, 0};
///     std::cout << ndimage::binary_erosion(x, {.iterations = 2});
///     // prints: [False False False  True False False False]
struct morphology_options {
    /// The places that are looked at, those that are not 0; by default an element and its neighbours along each axis.
    std::optional<neighbourhood> structure = {};
    /// How often it is done; below 1 until nothing changes.
    index_t iterations = 1;
    /// Elements outside of the mask stay.
    std::optional<lazy<bool>> mask = {};
    /// The value beyond the ends.
    bool border_value = false;
    /// By how many places the structure lies off its middle.
    per_axis<index_t> origin = index_t{0};
};

}  // namespace ndimage

namespace detail {

INGOT_API tree_ref eroded(const char* operation, const image&, const ndimage::morphology_options&);
INGOT_API tree_ref dilated(const char* operation, const image&, const ndimage::morphology_options&);

}  // namespace detail

namespace ndimage {

/// Whether all elements at the structure's places around each one are not 0. Repeated until nothing changes, it waits.
/// Throws shape_error where structure, mask or origin do not fit e's shape, or an origin lies outside of the structure.
///
///     const array<bool> x = full<bool>({4, 5}, true);
///     std::cout << ndimage::binary_erosion(x, {.structure = ndimage::neighbourhood{{1, 1, 1}}});
///     // prints: [[False  True  True  True False]
///     //          [False  True  True  True False]
///     //          [False  True  True  True False]
///     //          [False  True  True  True False]]
template <array_expression E>
auto binary_erosion(const E& e, const morphology_options& how = {}) {
    return lazy<bool>::of(detail::eroded("binary_erosion", e, how));
}

/// Whether any element at the places around each one of the structure, turned by half a turn, is not 0. Throws as
/// `binary_erosion`.
///
///     std::cout << ndimage::binary_dilation(array<int>{{0, 0, 0}, {0, 0, 1}, {0, 0, 0}});
///     // prints: [[False False  True]
///     //          [False  True  True]
///     //          [False False  True]]
template <array_expression E>
auto binary_dilation(const E& e, const morphology_options& how = {}) {
    return lazy<bool>::of(detail::dilated("binary_dilation", e, how));
}

/// An erosion, then a dilation. It removes what the structure does not fit into. Throws as `binary_erosion`.
///
///     std::cout << ndimage::binary_opening(array<int>{0, 1, 0, 1, 1, 1, 0});
///     // prints: [False False False  True  True  True False]
template <array_expression E>
auto binary_opening(const E& e, const morphology_options& how = {}) {
    const lazy<bool> x = lazy<bool>::of(detail::eroded("binary_opening", e, how));
    return lazy<bool>::of(detail::dilated("binary_opening", x, how));
}

/// A dilation, then an erosion. It fills what the structure does not fit into. Throws as `binary_erosion`.
///
///     std::cout << ndimage::binary_closing(array<int>{0, 1, 1, 0, 1, 1, 0});
///     // prints: [False  True  True  True  True  True False]
template <array_expression E>
auto binary_closing(const E& e, const morphology_options& how = {}) {
    const lazy<bool> x = lazy<bool>::of(detail::dilated("binary_closing", e, how));
    return lazy<bool>::of(detail::eroded("binary_closing", x, how));
}

}  // namespace ndimage
}  // namespace ingot
