// Arguments of all filters of images: the borders beyond the ends, values for each axis, and numbers around an
// element.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/any_expression.hpp>
#include <ingot/core/array.hpp>

namespace ingot {
namespace detail {

using image = any_expression;
template <class E>
using image_of = lazy<typename std::remove_cvref_t<E>::value_type>;

/// Numbers that a function reads on the host: a list, a vector, or an expression with one axis, whose values are read
/// now. Throws shape_error where it has another number of axes.
class number_row {
public:
    number_row(std::initializer_list<double> all) : values_(all) {}
    number_row(std::vector<double> all) : values_(std::move(all)) {}
    template <array_expression E>
        requires(kind_of(E::type) != kind::complex)
    number_row(const E& e) : number_row(image(e)) {}

    const std::vector<double>& values() const noexcept { return values_; }

private:
    INGOT_API explicit number_row(const image&);

    std::vector<double> values_;
};

}  // namespace detail

namespace ndimage {

/// The elements beyond the ends of an axis, as SciPy names them: `reflect` mirrors behind the edge element, `mirror` at
/// the edge element, which is not repeated; `nearest` repeats it; `wrap` goes on at the other end; `constant` has the
/// value `cval`. The other two differ from `wrap` and `constant` between elements alone: see `map_coordinates`.
enum class border : std::uint8_t { reflect, constant, nearest, mirror, wrap, grid_wrap, grid_constant };

/// A value for all axes, or one for each in braces.
///
///     const array<double> x{{0, 0, 0}, {0, 9, 0}, {0, 0, 0}};
///     std::cout << ndimage::uniform_filter(x, {1, 3}, {.mode = {ndimage::border::wrap, ndimage::border::nearest}});
///     // prints: [[0. 0. 0.]
///     //          [3. 3. 3.]
///     //          [0. 0. 0.]]
template <class T>
class per_axis {
public:
    per_axis(T all) : values_{all} {}
    per_axis(std::initializer_list<T> each) : values_(each) {}
    per_axis(std::vector<T> each) : values_(std::move(each)) {}

    // Inner: one value, or as many as were given.
    const std::vector<T>& given() const noexcept { return values_; }

private:
    std::vector<T> values_;
};

/// Numbers on the host at the places around an element, up to three levels of braces or an expression, whose values are
/// read now: the weights of a correlation, or a footprint, which has the places of numbers that are not 0.
///
///     const ndimage::neighbourhood cross{{0, 1, 0}, {1, 1, 1}, {0, 1, 0}};
///     std::cout << ndimage::maximum_filter(array<int>{{7, 0, 0}, {0, 0, 0}, {0, 0, 5}}, cross);
///     // prints: [[7 7 0]
///     //          [7 0 5]
///     //          [0 5 5]]
class neighbourhood {
public:
    neighbourhood(std::initializer_list<double> row) : values_(row), shape_{static_cast<index_t>(row.size())} {}
    INGOT_API neighbourhood(std::initializer_list<std::initializer_list<double>> rows);
    INGOT_API neighbourhood(std::initializer_list<std::initializer_list<std::initializer_list<double>>> planes);
    neighbourhood(std::vector<double> row) : values_(std::move(row)), shape_{static_cast<index_t>(values_.size())} {}
    template <array_expression E>
        requires(detail::kind_of(E::type) != detail::kind::complex)
    neighbourhood(const E& e) : neighbourhood(detail::image(e)) {}

    // Inner: in C order.
    const std::vector<double>& values() const noexcept { return values_; }
    // Inner
    const std::vector<index_t>& shape() const noexcept { return shape_; }
    // Inner
    neighbourhood(std::vector<double> values, std::vector<index_t> shape)
        : values_(std::move(values)), shape_(std::move(shape)) {}

private:
    INGOT_API explicit neighbourhood(const detail::image&);

    std::vector<double> values_;
    std::vector<index_t> shape_;
};

/// The options of filters.
///
///     const ndimage::filter_options nines{.mode = ndimage::border::constant, .cval = 9};
///     std::cout << ndimage::correlate1d(array<int>{1, 2, 3}, {1, 1}, -1, nines);
///     // prints: [10  3  5]
struct filter_options {
    /// The border, of all axes or of each.
    per_axis<border> mode = border::reflect;
    /// The value beyond the ends where the border is `constant`.
    double cval = 0;
    /// By how many places the filter lies off its middle, towards lower indices where it is positive.
    per_axis<index_t> origin = index_t{0};
};

}  // namespace ndimage

}  // namespace ingot
