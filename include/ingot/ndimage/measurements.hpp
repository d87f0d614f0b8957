// Connected parts of an image, and what is measured of each: all of them are computed at once, and wait.
#pragma once

#include <concepts>
#include <optional>
#include <vector>

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace ndimage {

/// The numbers of the connected parts, and how many there are.
///
///     const auto [labels, count] = ndimage::label(array<int>{{1, 1, 0}, {0, 0, 0}, {1, 0, 1}});
///     std::cout << labels << '\n' << count;
///     // prints: [[1 1 0]
///     //          [0 0 0]
///     //          [2 0 3]]
///     //         3
struct labelled {
    /// For each element the number of its part, in the order of their first elements, or 0.
    array<int> labels;
    /// The number of parts.
    index_t count;
};

/// The options of `binary_fill_holes`.
struct hole_options {
    /// The places through which the outside comes in; by default an element's neighbours along each axis.
    std::optional<neighbourhood> structure = {};
};

}  // namespace ndimage

namespace detail {

INGOT_API ndimage::labelled labels_of(const char* operation, const image&, const ndimage::neighbourhood* structure);
INGOT_API std::vector<std::vector<slice>> boxes_of(const char* operation, const image& labels);
INGOT_API array<double> summed_by_label(const char* operation, const image& x, const image& labels, const image& index,
                                        bool means);
INGOT_API array<double> centers_of_mass(const char* operation, const image& x, const image* labels, const image* index);
INGOT_API tree_ref filled_holes(const char* operation, const image&, const ndimage::hole_options&);

template <class E>
concept measured = array_expression<E> && kind_of(E::type) != kind::complex;
template <class E>
concept label_expression = array_expression<E> && (kind_of(E::type) == kind::integer || E::type == dtype::b1);

}  // namespace detail

namespace ndimage {

/// Numbers the connected parts of what is not 0; elements are connected where the structure, three places along each
/// axis and the same from both sides, has the other one: by default neighbours along an axis. Throws shape_error where
/// the structure is another one.
///
///     const array<int> x{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
///     std::cout << ndimage::label(x).count << ' ' << ndimage::label(x, ones({3, 3})).count;
///     // prints: 3 1
template <array_expression E>
labelled label(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::labels_of("label", e, nullptr);
}
template <array_expression E>
labelled label(const E& e, const neighbourhood& structure, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::labels_of("label", e, &structure);
}

/// For each label from 1 on the slices of the box around its elements, none for a label without elements. Throws
/// out_of_memory where the greatest label is too large.
///
///     const array<int> labels{{0, 1, 1}, {3, 0, 1}};
///     const auto boxes = ndimage::find_objects(labels);
///     std::cout << boxes.size() << ' ' << labels(boxes[0][0], boxes[0][1]) << ' ' << boxes[1].empty();
///     // prints: 3 [[1 1]
///     //          [0 1]] 1
template <detail::label_expression E>
std::vector<std::vector<slice>> find_objects(const E& labels, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::boxes_of("find_objects", labels);
}

/// The sums of the elements of these labels, in float64, in `index`'s shape; 0 of a label without elements. Throws
/// shape_error where there are not as many labels as elements.
///
///     const array<double> x{1, 2, 3, 4};
///     std::cout << ndimage::sum_labels(x, array<int>{1, 0, 1, 2}, array<int>{1, 2, 3});
///     // prints: [4. 4. 0.]
template <detail::measured E, detail::label_expression L, detail::label_expression I>
array<double> sum_labels(const E& e, const L& labels, const I& index,
                         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::summed_by_label("sum_labels", e, labels, index, false);
}

/// The means of the elements of these labels, in float64, in `index`'s shape; NaN of a label without elements. Throws
/// as `sum_labels`.
///
///     const array<double> x{1, 2, 3, 4};
///     std::cout << ndimage::mean(x, array<int>{1, 0, 1, 2}, array<int>{1, 2});
///     // prints: [2. 4.]
template <detail::measured E, detail::label_expression L, detail::label_expression I>
array<double> mean(const E& e, const L& labels, const I& index, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::summed_by_label("mean", e, labels, index, true);
}

/// The mean place of the elements, each weighted by its value: one number for each axis. With labels, of those of each
/// label of `index`, one row for each. Throws as `sum_labels`.
///
///     const array<double> x{{0, 1}, {0, 3}};
///     std::cout << ndimage::center_of_mass(x) << ' '
///               << ndimage::center_of_mass(x, array<int>{{1, 1}, {2, 2}}, array<int>{1, 2});
///     // prints: [0.75 1.  ] [[0. 1.]
///     //          [1. 1.]]
template <detail::measured E>
array<double> center_of_mass(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::centers_of_mass("center_of_mass", e, nullptr, nullptr);
}
template <detail::measured E, detail::label_expression L, detail::label_expression I>
array<double> center_of_mass(const E& e, const L& labels, const I& index,
                             const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::image given = labels, wanted = index;
    return detail::centers_of_mass("center_of_mass", e, &given, &wanted);
}

/// e as truths, with the holes filled: what the outside does not reach through elements that are 0. Throws shape_error
/// where the structure has another number of axes.
///
///     std::cout << ndimage::binary_fill_holes(array<int>{{1, 1, 1}, {1, 0, 1}, {1, 1, 1}, {0, 0, 0}});
///     // prints: [[ True  True  True]
///     //          [ True  True  True]
///     //          [ True  True  True]
///     //          [False False False]]
template <array_expression E>
auto binary_fill_holes(const E& e, const hole_options& how = {}) {
    return lazy<bool>::of(detail::filled_holes("binary_fill_holes", e, how));
}

}  // namespace ndimage
}  // namespace ingot
