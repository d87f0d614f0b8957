// pad adds elements before and behind along an expression's axes. The result is a `lazy` and fuses with the expression
// around it.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/lazy.hpp>

namespace ingot {

/// The values that pad adds: a constant; the edge element; elements mirrored at the edge element, which is not
/// repeated, or behind it; those of the other end; a ramp from the edge to a value; the greatest or least element along
/// the axis, the mean or the median; with `empty` unspecified values, which cost least.
enum class pad_mode : std::uint8_t {
    constant,
    edge,
    reflect,
    symmetric,
    wrap,
    linear_ramp,
    maximum,
    minimum,
    mean,
    median,
    empty,
};

namespace detail {

/// The numbers of elements to add before and behind.
struct pad_width {
    index_t before, after;
    template <integer_argument A, integer_argument B>
    pad_width(A a, B b) : before(as_extent(a)), after(as_extent(b)) {}
};

/// The widths of a pad: a number for all ends, `{before, after}` for all axes, or a pair of these for each axis.
class pad_widths {
public:
    template <integer_argument I>
    pad_widths(I width) : widths_{{width, width}} {}
    pad_widths(std::initializer_list<any_integer> both) : widths_{pair_of(both)} {}
    pad_widths(std::initializer_list<pad_width> each) : widths_(each) {}
    pad_widths(std::vector<pad_width> each) : widths_(std::move(each)) {}

    // Inner: one for each axis. Throws shape_error where there are not as many, or one is negative.
    INGOT_API std::vector<pad_width> of_axes(extents_ref shape) const;

private:
    INGOT_API static pad_width pair_of(std::initializer_list<any_integer>);
    std::vector<pad_width> widths_;
};

/// Pads one axis after the other; `value` is a number of x's dtype.
INGOT_API tree_ref padded(const tree_ref& x, dtype, const pad_widths&, pad_mode, const tree_ref& value);

/// e with elements added before and behind along its axes, by the mode; without a mode they are `value`, by default 0.
/// The widths are a number for all ends, `{before, after}` for all axes, or such a pair for each axis; one axis is
/// padded after the other. The result is a `lazy` of e's type; the median mode evaluates now. Throws shape_error where
/// there are not as many pairs as axes, one is negative, or an axis without elements is padded with some of them,
/// dtype_error where complex numbers have no greatest, least or middle.
///
///     array<int> x{1, 2, 3};
///     std::cout << pad(x, 2) << ' ' << pad(x, {1, 2}, 9) << ' ' << pad(x, 2, pad_mode::reflect) << '\n';
///     std::cout << pad(array<double>{{1, 2}, {3, 4}}, {{0, 0}, {1, 2}}, pad_mode::linear_ramp);
///     // prints: [0 0 1 2 3 0 0] [9 1 2 3 9 9] [3 2 1 2 3 2 1]
///     //         [[0. 1. 2. 1. 0.]
///     //          [0. 3. 4. 2. 0.]]
template <array_expression E, weak_scalar S = int>
auto pad(const E& e, const pad_widths& widths, pad_mode mode, S value = 0) {
    using T = typename E::value_type;
    return lazy<T>::of(
        padded(lazy<T>(e).tree(), dtype_of<T>, widths, mode, lazy<T>(element_leaf<T>("pad", value)).tree()));
}
template <array_expression E, weak_scalar S = int>
auto pad(const E& e, const pad_widths& widths, S value = 0) {
    return pad(e, widths, pad_mode::constant, value);
}

}  // namespace detail

using detail::pad;

}  // namespace ingot
