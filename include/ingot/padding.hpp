// pad: an expression with more elements before and behind along its axes. It is an expression, a `lazy`, that reads
// what it pads at its own places: what is written around it is one kernel with it.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include <ingot/lazy.hpp>
#include <ingot/places.hpp>
#include <ingot/quantiles.hpp>
#include <ingot/reductions.hpp>

namespace ingot {

/// What pad puts around: a value; the element at the edge; the elements mirrored at the edge element, which is then not
/// repeated, or behind it; those of the other end; numbers on the way from the edge to a value; the greatest or least
/// element along the axis, the mean or the median; with `empty` nothing in particular, as it costs least.
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

/// How many elements before and behind.
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

/// Throws shape_error unless there is an element to begin with.
INGOT_API void check_paddable(extents_ref shape, int axis);
[[noreturn]] INGOT_API void throw_no_order(const char* operation, dtype);

/// Whether all elements along the axis say what it is padded with.
constexpr bool is_of_axis(pad_mode mode) {
    return mode == pad_mode::maximum || mode == pad_mode::minimum || mode == pad_mode::mean || mode == pad_mode::median;
}
/// What the axis is padded with, in the place of all elements along it.
template <class T>
lazy<T> value_along(const lazy<T>& x, int axis, pad_mode mode) {
    const axes over(axis);
    if (mode == pad_mode::mean) {
        auto m = mean(x, over, keepdims);
        if constexpr (kind_of(dtype_of<T>) == kind::integer)
            return astype<T>(rint(std::move(m)));
        else if constexpr (kind_of(dtype_of<T>) == kind::boolean)
            return astype<T>(std::move(m));
        else
            return m;
    }
    if constexpr (complex_number<T>) {
        throw_no_order("pad", dtype_of<T>);
    } else if (mode == pad_mode::median) {
        auto m = median(x, axis, keepdims);
        if constexpr (kind_of(dtype_of<T>) == kind::integer)
            return astype<T>(rint(std::move(m)));
        else
            return lazy<T>(astype<T>(std::move(m)));
    } else if (mode == pad_mode::maximum) {
        return max(x, over, keepdims);
    } else {
        return min(x, over, keepdims);
    }
}

/// One axis of x padded: `index` runs from -before on, `extent` elements along.
template <class T>
class padded_axis {
public:
    padded_axis(const lazy<T>& x, int axis, pad_width w, const lazy<T>& value)
        : x_(x),
          given_(x.shape()),
          axis_(axis),
          width_(w),
          value_(value),
          n_(given_[axis]),
          extent_(w.before + n_ + w.after) {}

    lazy<T> by(pad_mode mode) const {
        const bool of_nothing = mode == pad_mode::constant || mode == pad_mode::empty;
        if (n_ > 0 || !of_nothing) check_paddable(extents_ref::of(given_.values()), axis_);
        switch (mode) {
            case pad_mode::empty:
                if (n_ > 0) return by_rule<place_rule::nearest>();
                [[fallthrough]];
            case pad_mode::constant:
                return n_ == 0 ? lazy<T>(viewed_to_read(value_, view_broadcast, "pad", shape().values()))
                               : inside(value_);
            case pad_mode::edge:
                return by_rule<place_rule::nearest>();
            case pad_mode::wrap:
                return in_cycles();
            case pad_mode::reflect:
                return by_rule<place_rule::reflect>();
            case pad_mode::symmetric:
                return by_rule<place_rule::symmetric>();
            case pad_mode::linear_ramp:
                return ramps();
            default:
                return inside(value_along(x_, axis_, mode).kept());
        }
    }

private:
    shape_like shape() const {
        std::vector<index_t> extents(given_.begin(), given_.end());
        extents[static_cast<std::size_t>(axis_)] = extent_;
        return shape_like(extents);
    }
    /// Numbers along the axis: first, first + step, ...
    auto counted(index_t first, index_t step) const {
        layout where(given_.count() - axis_);
        for (int j = 0; j < where.rank(); ++j) where.shape()[j] = 1, where.strides()[j] = 0;
        where.shape()[0] = extent_;
        where.strides()[0] = step;
        where.offset = first;
        return positions<T>(std::move(where));
    }
    template <place_rule Rule>
    lazy<T> by_rule() const {
        return beyond_ends<Rule>("pad", x_, axis_, -width_.before, extent_);
    }
    lazy<T> inside(const lazy<T>& outside) const { return where(is_inside(), by_rule<place_rule::nearest>(), outside); }
    lazy<T> in_cycles() const {
        const cycle c{axis_, (n_ - width_.before % n_) % n_, extent_};
        return cycled("pad", x_, {&c, 1});
    }
    /// Whether a place is one of x's. What lies before is a large number without a sign.
    auto is_inside() const {
        return astype<std::uint64_t>(counted(-width_.before, 1)) < static_cast<std::uint64_t>(n_);
    }
    /// As linspace has them from the value to the edge, which is not among them.
    lazy<T> ramps() const {
        using C = type_of<promote(dtype_of<T>, dtype::f8)>;
        const auto steps = [](index_t width) { return static_cast<double>(width > 0 ? width : 1); };
        const auto is_before = counted(-width_.before, 1) < index_t{0};
        const auto step = where(is_before, counted(0, 1), counted(extent_ - 1, -1));
        const lazy<C> edge = by_rule<place_rule::nearest>(), from = value_;
        const lazy<C> way = step * ((edge - from) / where(is_before, steps(width_.before), steps(width_.after))) + from;
        if constexpr (kind_of(dtype_of<T>) == kind::integer)
            return astype<T>(where(is_inside(), edge, floor(way)));
        else
            return astype<T>(where(is_inside(), edge, way));
    }

    lazy<T> x_;
    shape_like given_;
    int axis_;
    pad_width width_;
    lazy<T> value_;
    index_t n_, extent_;
};

/// e with elements before and behind along its axes, which are what the mode says: without one a value, 0 where none is
/// given. The widths are a number for all ends, `{before, after}` for all axes, or such a pair for each axis; one axis
/// is padded after the other. Of e's type: a `lazy`. Throws shape_error where there are not as many pairs as axes, one
/// is negative, or an axis without elements is padded with some of them, dtype_error where complex numbers have no
/// greatest, least or middle. Of an axis's median it is computed now.
///
///     array<int> x{1, 2, 3};
///     std::cout << pad(x, 2) << ' ' << pad(x, {1, 2}, 9) << ' ' << pad(x, 2, pad_mode::reflect) << '\n';
///     std::cout << pad(array<double>{{1, 2}, {3, 4}}, {{0, 0}, {1, 2}}, pad_mode::linear_ramp);
///     // prints: [0 0 1 2 3 0 0] [9 1 2 3 9 9] [3 2 1 2 3 2 1]
///     //         [[0. 1. 2. 1. 0.]
///     //          [0. 3. 4. 2. 0.]]
template <array_expression E, weak_scalar S = int>
auto pad(const E& e, const pad_widths& widths, pad_mode mode, S value = 0) {
    using T = typename node_of<E>::value_type;
    lazy<T> x = e;
    const lazy<T> outside = element_leaf<T>("pad", value);
    shape_room room;
    const std::vector<pad_width> all = widths.of_axes(x.extents(room));
    for (std::size_t j = 0; j < all.size(); ++j)
        if (all[j].before > 0 || all[j].after > 0)
            x = padded_axis<T>(is_of_axis(mode) ? x.kept() : x, static_cast<int>(j), all[j], outside).by(mode);
    return x;
}
template <array_expression E, weak_scalar S = int>
auto pad(const E& e, const pad_widths& widths, S value = 0) {
    return pad(e, widths, pad_mode::constant, value);
}

}  // namespace detail

using detail::pad;

}  // namespace ingot
