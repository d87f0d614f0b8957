// Pads: the widths of all axes, and the elements before and behind one axis.
#include <ingot/core/padding.hpp>

#include <algorithm>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/statistics/quantiles.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::detail {

pad_width pad_widths::pair_of(std::initializer_list<any_integer> both) {
    if (both.size() == 1) return {both.begin()->value, both.begin()->value};
    if (both.size() != 2)
        throw shape_error("[pad] " + std::to_string(both.size()) +
                          " widths: one, {before, after}, or such a pair for each axis");
    return {both.begin()[0].value, both.begin()[1].value};
}

std::vector<pad_width> pad_widths::of_axes(extents_ref shape) const {
    const auto rank = static_cast<std::size_t>(shape.rank);
    if (widths_.size() != 1 && widths_.size() != rank)
        throw shape_error("[pad] " + std::to_string(widths_.size()) + " pairs of widths for shape " +
                          to_text(shape.span()));
    std::vector<pad_width> all = widths_.size() == 1 ? std::vector<pad_width>(rank, widths_[0]) : widths_;
    std::vector<index_t> padded(shape.span().begin(), shape.span().end());
    for (std::size_t j = 0; j < rank; ++j) {
        const pad_width w = all[j];
        if (w.before < 0 || w.after < 0)
            throw shape_error("[pad] widths " + std::to_string(w.before) + " and " + std::to_string(w.after) +
                              " on axis " + std::to_string(j) + ": a width is not negative");
        if (__builtin_add_overflow(padded[j], w.before, &padded[j]) ||
            __builtin_add_overflow(padded[j], w.after, &padded[j]))
            throw_too_large(static_cast<std::uint64_t>(w.before > w.after ? w.before : w.after));
    }
    check_extents("pad", padded);
    return all;
}

namespace {

using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;

[[noreturn]] void throw_no_order(dtype type) {
    throw dtype_error("[pad] " + std::string(name(type)) + " has no order, and so no greatest or least element");
}

/// The median along an axis, computed now: in float32 for float32 and halves, else in float64.
any_lazy median_along(const any_lazy& x, int axis) {
    const bool single = x.type() == dtype::f4 || is_half(x.type());
    return single ? any_lazy(median(x.as<float>(), axis, keepdims)) : any_lazy(median(x.as<double>(), axis, keepdims));
}

/// x with one axis padded. In the modes that take a constant, `value` stands outside.
class padded_axis {
public:
    padded_axis(const any_lazy& x, int axis, pad_width w, const any_lazy& value)
        : x_(x), value_(value), axis_(axis), width_(w), n_(x.extents().data[axis]), extent_(w.before + n_ + w.after) {}

    any_lazy by(pad_mode mode) const {
        const bool of_nothing = mode == pad_mode::constant || mode == pad_mode::empty;
        if (n_ == 0 && !of_nothing)
            throw shape_error("[pad] axis " + std::to_string(axis_) + " of shape " + to_text(x_.extents().span()) +
                              " has no elements to pad with; pad_mode::constant wants none");
        switch (mode) {
            case pad_mode::empty:
                if (n_ > 0) return by_rule(place_rule::nearest);
                [[fallthrough]];
            case pad_mode::constant:
                return n_ == 0 ? filled() : inside(value_);
            case pad_mode::edge:
                return by_rule(place_rule::nearest);
            case pad_mode::wrap: {
                // Parts on several ranks are found from places that are not negative.
                const bool is_in_parts = x_.device().kind() == device_kind::distributed;
                if (!is_in_parts && width_.before <= n_ && width_.after <= n_) return by_rule(place_rule::wrap);
                const cycle c{axis_, (n_ - width_.before % n_) % n_, extent_};
                if (c.first + extent_ <= 2 * n_)
                    return beyond_ends(place_rule::wrap, "pad", x_, axis_, c.first, extent_);
                return cycled("pad", x_, {&c, 1});
            }
            case pad_mode::reflect:
                return by_rule(place_rule::reflect);
            case pad_mode::symmetric:
                return by_rule(place_rule::symmetric);
            case pad_mode::linear_ramp:
                return ramps();
            default:
                return inside(value_along(mode).kept());
        }
    }

private:
    /// The constant, in the shape of the padded axis.
    any_lazy filled() const {
        shape_room room;
        const std::span<const index_t> given = x_.extents().span();
        std::copy(given.begin(), given.end(), room);
        room[axis_] = extent_;
        view_room view;
        view_broadcast(view, value_.extents(), "pad", {room, given.size()});
        return value_.viewed(view);
    }
    /// The numbers first, first + step, ... along the axis.
    any_lazy counted(index_t first, index_t step) const {
        layout where(x_.extents().rank - axis_);
        for (int j = 0; j < where.rank(); ++j) where.shape()[j] = 1, where.strides()[j] = 0;
        where.shape()[0] = extent_;
        where.strides()[0] = step;
        where.offset = first;
        return positions<>(std::move(where));
    }
    any_lazy by_rule(place_rule rule) const { return beyond_ends(rule, "pad", x_, axis_, -width_.before, extent_); }
    any_lazy inside(const any_lazy& outside) const {
        return choose(is_inside(), by_rule(place_rule::nearest), outside);
    }
    /// Whether an index is inside x. An index before x wraps to a large unsigned number.
    any_lazy is_inside() const {
        return as_type(counted(-width_.before, 1), dtype::u8) < any_lazy(scalar(static_cast<std::uint64_t>(n_)));
    }
    /// The greatest, least, mean or median of the elements along the axis.
    any_lazy value_along(pad_mode mode) const {
        const axes over(axis_);
        const kind k = kind_of(x_.type());
        if (mode != pad_mode::mean && k == kind::complex) throw_no_order(x_.type());
        if (mode == pad_mode::maximum) return folded(fold::max, "pad", x_, &over, true);
        if (mode == pad_mode::minimum) return folded(fold::min, "pad", x_, &over, true);
        const any_lazy m = mode == pad_mode::mean ? mean_of("pad", x_, over, true) : median_along(x_, axis_);
        return as_type(k == kind::integer ? apply(op::rint, {m}) : m, x_.type());
    }
    /// Ramps from the value to the edge as linspace has them, without the edge, in float64 or complex128.
    any_lazy ramps() const {
        const dtype wide = promote(x_.type(), dtype::f8);
        const auto steps = [](index_t width) { return static_cast<double>(width > 0 ? width : 1); };
        const any_lazy is_before = counted(-width_.before, 1) < 0;
        const any_lazy step = choose(is_before, counted(0, 1), counted(extent_ - 1, -1));
        const any_lazy edge = as_type(by_rule(place_rule::nearest), wide), from = as_type(value_, wide);
        const any_lazy count = choose(is_before, any_lazy(scalar(steps(width_.before))), steps(width_.after));
        const any_lazy way = as_type(step * ((edge - from) / count) + from, wide);
        const bool whole = kind_of(x_.type()) == kind::integer;
        return as_type(choose(is_inside(), edge, whole ? apply(op::floor, {way}) : way), x_.type());
    }

    any_lazy x_, value_;
    int axis_;
    pad_width width_;
    index_t n_, extent_;
};

/// Whether the mode reads all elements along the axis.
constexpr bool is_of_axis(pad_mode mode) {
    return mode == pad_mode::maximum || mode == pad_mode::minimum || mode == pad_mode::mean || mode == pad_mode::median;
}

}  // namespace

tree_ref padded(const tree_ref& given, dtype type, const pad_widths& widths, pad_mode mode, const tree_ref& value) {
    any_lazy x(given, type);
    const std::vector<pad_width> all = widths.of_axes(x.extents());
    for (std::size_t j = 0; j < all.size(); ++j)
        if (all[j].before > 0 || all[j].after > 0)
            x = padded_axis(is_of_axis(mode) ? x.kept() : x, static_cast<int>(j), all[j], {value, type}).by(mode);
    return x.tree();
}

}  // namespace ingot::detail
