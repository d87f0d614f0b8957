// Signals in the library: an operand in the numbers in which it is computed, and its rows along an axis.
#pragma once

#include <complex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>
#include <ingot/signal/operands.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::runtime {

/// Calls f(type_identity<T>) with the type in which signals of a dtype are computed.
template <class F>
auto with_signal_type(dtype given, const F& f) {
    switch (detail::signal_dtype(given)) {
        case dtype::f4:
            return f(std::type_identity<float>{});
        case dtype::c8:
            return f(std::type_identity<std::complex<float>>{});
        case dtype::c16:
            return f(std::type_identity<std::complex<double>>{});
        default:
            return f(std::type_identity<double>{});
    }
}
template <class T>
lazy<T> signal_as(const detail::image& e) {
    return any_lazy(e.tree, e.type).as<T>();
}
/// The parts of T's numbers.
template <class T>
using part_of_signal =
    detail::type_of<detail::kind_of(detail::dtype_of<T>) == detail::kind::complex ? detail::part_of(detail::dtype_of<T>)
                                                                                  : detail::dtype_of<T>>;

/// The device of e, on which arrays beside it are made.
inline ingot::device device_of(const detail::image& e) {
    return e.tree->device == detail::no_device ? current_device() : ingot::device(e.tree->device);
}

/// An axis of a signal, and the shape around it.
struct signal_axis {
    int axis;
    std::vector<index_t> others;  // the extents of the other axes
    index_t rows = 1, extent = 0;
};
inline signal_axis axis_of_signal(const char* operation, const detail::image& e, index_t axis) {
    const std::span<const index_t> shape = e.tree->extents().span();
    signal_axis a{detail::checked_axis(operation, axis, static_cast<int>(shape.size())), {}, 1, 0};
    for (std::size_t j = 0; j < shape.size(); ++j) {
        if (static_cast<int>(j) == a.axis) continue;
        a.others.push_back(shape[j]);
        a.rows *= shape[j];
    }
    a.extent = shape[static_cast<std::size_t>(a.axis)];
    return a;
}
/// e as a matrix whose rows lie along the axis.
template <class T>
lazy<T> rows_of(const lazy<T>& e, const signal_axis& a) {
    return reshape(moveaxis(e, a.axis, -1), {a.rows, e.shape()[a.axis]});
}
/// The shape of rows of this extent, along the last axis.
inline shape_like shape_of_rows(const signal_axis& a, index_t extent) {
    std::vector<index_t> shape = a.others;
    shape.push_back(extent);
    return shape_like(shape);
}
/// Rows where they came from.
template <class T>
lazy<T> from_rows(const lazy<T>& rows, const signal_axis& a) {
    return moveaxis(reshape(rows, shape_of_rows(a, rows.shape()[1])), -1, a.axis);
}
/// A part of the last axis.
template <class T>
lazy<T> part_of_last(const lazy<T>& e, index_t first, index_t behind) {
    return e(ellipsis, slice(first, behind));
}

/// Numbers as an array of T where signals are.
template <class T>
array<T> numbers_on(ingot::device where, const std::vector<double>& values, const shape_like& shape) {
    const with_device there(where);
    std::vector<T> converted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) converted[i] = T(static_cast<part_of_signal<T>>(values[i]));
    return asarray(converted, shape);
}

/// Rows continued by `edge` elements beyond both ends.
template <class T>
lazy<T> extended(const lazy<T>& x, index_t edge, signal::extension how) {
    if (how == signal::extension::none || edge == 0) return x;
    if (how == signal::extension::zeros) return pad(x, {{0, 0}, {edge, edge}});
    const index_t n = x.shape()[1];
    const lazy<T> first = part_of_last(x, 0, 1), last = part_of_last(x, n - 1, n);
    const auto joined_with = [&](const lazy<T>& before, const lazy<T>& behind) {
        return detail::joined("signal", detail::lazy_parts<T>{before, x, behind}, 1);
    };
    if (how == signal::extension::constant)
        return joined_with(broadcast_to(first, {x.shape()[0], edge}), broadcast_to(last, {x.shape()[0], edge}));
    const lazy<T> before = flip(part_of_last(x, 1, edge + 1), 1),
                  behind = flip(part_of_last(x, n - edge - 1, n - 1), 1);
    return how == signal::extension::even ? joined_with(before, behind)
                                          : joined_with(first * 2 - before, last * 2 - behind);
}

/// x without its trend along the last axis.
template <class T>
lazy<T> without_trend(const lazy<T>& x, signal::trend which, ingot::device where) {
    if (which == signal::trend::none) return x;
    const lazy<T> level = x - mean(x, -1, keepdims);
    const index_t n = x.shape()[x.ndim() - 1];
    if (which == signal::trend::constant || n < 2) return level;
    // The slope is found by places counted from the middle, which are orthogonal to the mean.
    std::vector<double> places(static_cast<std::size_t>(n));
    double squares = 0;
    for (std::size_t k = 0; k < places.size(); ++k) {
        places[k] = static_cast<double>(k) - static_cast<double>(n - 1) / 2;
        squares += places[k] * places[k];
    }
    const array<part_of_signal<T>> t = numbers_on<part_of_signal<T>>(where, places, {n});
    return level - t * (sum(x * t, -1, keepdims) / squares);
}

}  // namespace ingot::runtime
