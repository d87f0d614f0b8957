// Order statistics of the elements around each one: the greatest, the least, the median, any rank. The result is an
// expression of the operand's dtype.
#pragma once

#include <concepts>
#include <optional>

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace ndimage {

/// The options of `grey_erosion` and `grey_dilation`.
struct grey_options {
    /// Numbers that are subtracted before the least is found, added before the greatest; they have the footprint's
    /// shape.
    std::optional<neighbourhood> structure = {};
    /// The border, of all axes or of each.
    per_axis<border> mode = border::reflect;
    /// The value beyond the ends where the border is `constant`.
    double cval = 0;
    /// By how many places the footprint lies off its middle.
    per_axis<index_t> origin = index_t{0};
};

}  // namespace ndimage

namespace detail {

enum class extremum : std::uint8_t { least, greatest };

/// A rank as it is given: a place among the values in order, or a percentage; the median is 50 percent.
struct rank_rule {
    index_t rank;
    double percentile;
    bool is_percentile;
};

/// Where a filter looks: a box of a size, or a footprint.
class window_shape {
public:
    window_shape(const ndimage::per_axis<index_t>& size) : size_(&size) {}
    window_shape(const ndimage::neighbourhood& footprint) : footprint_(&footprint) {}
    const ndimage::per_axis<index_t>* size() const noexcept { return size_; }
    const ndimage::neighbourhood* footprint() const noexcept { return footprint_; }

private:
    const ndimage::per_axis<index_t>* size_ = nullptr;
    const ndimage::neighbourhood* footprint_ = nullptr;
};

INGOT_API tree_ref extremum_along(const char* operation, const image&, extremum, index_t size, index_t axis,
                                  const ndimage::filter_options&);
INGOT_API tree_ref extremum_around(const char* operation, const image&, extremum, const window_shape&,
                                   const ndimage::filter_options&);
INGOT_API tree_ref ranked_around(const char* operation, const image&, const rank_rule&, const window_shape&,
                                 const ndimage::filter_options&);
INGOT_API tree_ref grey(const char* operation, const image&, extremum, const window_shape&,
                        const ndimage::grey_options&);

/// A footprint by its own type, so that `{3, 5}` is a size.
template <class F>
concept footprint_argument = std::same_as<F, ndimage::neighbourhood> || array_expression<F>;

}  // namespace detail

namespace ndimage {

/// The greatest of `size` elements along an axis. Throws shape_error where there is no such axis, the size is not
/// positive, or the origin lies outside of it; dtype_error where elements are complex.
///
///     std::cout << ndimage::maximum_filter1d(array<int>{2, 8, 0, 4, 1, 9, 9, 0}, 3);
///     // prints: [8 8 8 4 9 9 9 9]
template <array_expression E>
auto maximum_filter1d(const E& e, index_t size, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::extremum_along("maximum_filter1d", e, detail::extremum::greatest, size, axis, how));
}

/// The least of `size` elements along an axis. Throws as `maximum_filter1d`.
///
///     std::cout << ndimage::minimum_filter1d(array<int>{2, 8, 0, 4, 1, 9, 9, 0}, 3);
///     // prints: [2 0 0 0 1 1 0 0]
template <array_expression E>
auto minimum_filter1d(const E& e, index_t size, index_t axis = -1, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::extremum_along("minimum_filter1d", e, detail::extremum::least, size, axis, how));
}

/// The greatest element of the box of this size around each one, or of a footprint's places. Throws shape_error where
/// size, footprint, borders or origins do not fit the number of axes, a size is not positive, or an origin lies outside
/// of it; dtype_error where elements are complex.
///
///     const array<int> x{{1, 2, 3}, {4, 9, 6}, {7, 8, 5}};
///     std::cout << ndimage::maximum_filter(x, {1, 3}) << '\n'
///               << ndimage::maximum_filter(x, ndimage::neighbourhood{{1, 0, 0}, {0, 0, 0}, {0, 0, 1}});
///     // prints: [[2 3 3]
///     //          [9 9 9]
///     //          [8 8 8]]
///     //         [[9 6 6]
///     //          [8 5 5]
///     //          [8 5 9]]
template <array_expression E>
auto maximum_filter(const E& e, const per_axis<index_t>& size, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::extremum_around("maximum_filter", e, detail::extremum::greatest, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto maximum_filter(const E& e, const F& footprint, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::extremum_around("maximum_filter", e, detail::extremum::greatest, neighbourhood(footprint), how));
}

/// The least element of the box of this size around each one, or of a footprint's places. Throws as `maximum_filter`.
///
///     const array<int> x{{1, 2, 3}, {4, 9, 6}, {7, 8, 5}};
///     std::cout << ndimage::minimum_filter(x, 2) << '\n' << ndimage::minimum_filter(x, array<bool>{{true, false,
///     true}});
///     // prints: [[1 1 2]
///     //          [1 1 2]
///     //          [4 4 5]]
///     //         [[1 1 2]
///     //          [4 4 6]
///     //          [7 5 5]]
template <array_expression E>
auto minimum_filter(const E& e, const per_axis<index_t>& size, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::extremum_around("minimum_filter", e, detail::extremum::least, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto minimum_filter(const E& e, const F& footprint, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::extremum_around("minimum_filter", e, detail::extremum::least, neighbourhood(footprint), how));
}

/// The element of this rank among those of the box around each one, or of a footprint's places; a negative rank counts
/// from the greatest. Up to 25 places are one expression of a selection network. Throws shape_error as
/// `maximum_filter`, and where there is no such rank; dtype_error where elements are complex.
///
///     std::cout << ndimage::rank_filter(array<int>{2, 8, 0, 4, 1, 9, 9, 0}, -2, 3) << ' '
///               << ndimage::rank_filter(array<int>{2, 8, 0, 4}, 0, ndimage::neighbourhood{1, 0, 1});
///     // prints: [2 2 4 1 4 9 9 0] [2 0 4 0]
template <array_expression E>
auto rank_filter(const E& e, index_t rank, const per_axis<index_t>& size, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::ranked_around("rank_filter", e, {rank, 0, false}, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto rank_filter(const E& e, index_t rank, const F& footprint, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::ranked_around("rank_filter", e, {rank, 0, false}, neighbourhood(footprint), how));
}

/// The median of the box around each element, or of a footprint's places; of an even number of elements the greater of
/// the two in the middle. Throws as `rank_filter`.
///
///     const array<int> x{{1, 2, 3}, {4, 99, 6}, {7, 8, 5}};
///     std::cout << ndimage::median_filter(x, 3) << '\n' << ndimage::median_filter(x, array<int>{{1, 1, 1}});
///     // prints: [[2 3 3]
///     //          [4 5 5]
///     //          [7 7 6]]
///     //         [[1 2 3]
///     //          [4 6 6]
///     //          [7 7 5]]
template <array_expression E>
auto median_filter(const E& e, const per_axis<index_t>& size, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::ranked_around("median_filter", e, {0, 50, true}, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto median_filter(const E& e, const F& footprint, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::ranked_around("median_filter", e, {0, 50, true}, neighbourhood(footprint), how));
}

/// The element at this percentage of the box around each one, or of a footprint's places; a negative percentage counts
/// from 100. No values are interpolated. Throws shape_error as `maximum_filter`, and where the percentage lies outside
/// of -100 to 100; dtype_error where elements are complex.
///
///     std::cout << ndimage::percentile_filter(array<int>{2, 8, 0, 4, 1, 9, 9, 0}, 20, 5);
///     // prints: [2 2 1 1 1 1 0 0]
template <array_expression E>
auto percentile_filter(const E& e, double percentile, const per_axis<index_t>& size, const filter_options& how = {}) {
    return detail::image_of<E>::of(detail::ranked_around("percentile_filter", e, {0, percentile, true}, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto percentile_filter(const E& e, double percentile, const F& footprint, const filter_options& how = {}) {
    return detail::image_of<E>::of(
        detail::ranked_around("percentile_filter", e, {0, percentile, true}, neighbourhood(footprint), how));
}

/// The least element of the box around each one, or of a footprint's places, after a structure is subtracted. Throws as
/// `maximum_filter`, and where the structure has another shape.
///
///     std::cout << ndimage::grey_erosion(array<int>{5, 5, 1, 5, 5}, 3) << ' '
///               << ndimage::grey_erosion(array<int>{5, 5, 1, 5, 5}, 3,
///                                        {.structure = ndimage::neighbourhood{-2, 0, -2}});
///     // prints: [5 1 1 1 5] [5 3 1 3 5]
template <array_expression E>
auto grey_erosion(const E& e, const per_axis<index_t>& size, const grey_options& how = {}) {
    return detail::image_of<E>::of(detail::grey("grey_erosion", e, detail::extremum::least, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto grey_erosion(const E& e, const F& footprint, const grey_options& how = {}) {
    return detail::image_of<E>::of(
        detail::grey("grey_erosion", e, detail::extremum::least, neighbourhood(footprint), how));
}

/// The greatest element of the box around each one, or of the places of a footprint turned by half a turn, after a
/// structure is added. Throws as `grey_erosion`.
///
///     std::cout << ndimage::grey_dilation(array<int>{0, 0, 4, 0, 0}, ndimage::neighbourhood{0, 1, 1});
///     // prints: [0 0 4 4 0]
template <array_expression E>
auto grey_dilation(const E& e, const per_axis<index_t>& size, const grey_options& how = {}) {
    return detail::image_of<E>::of(detail::grey("grey_dilation", e, detail::extremum::greatest, size, how));
}
template <array_expression E, detail::footprint_argument F>
auto grey_dilation(const E& e, const F& footprint, const grey_options& how = {}) {
    return detail::image_of<E>::of(
        detail::grey("grey_dilation", e, detail::extremum::greatest, neighbourhood(footprint), how));
}

}  // namespace ndimage
}  // namespace ingot
