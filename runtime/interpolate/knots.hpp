// Increasing points of one variable: how they are read, and in which of their intervals a place lies.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>
#include <ingot/interpolate/points.hpp>
#include <ingot/kernels/user_kernels.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::runtime {

using detail::any_expression;
using detail::knots;

/// The numbers of a vector of at least `least` elements. Throws shape_error where it is none.
std::vector<double> points_on_host(const char* operation, const any_expression& x, std::size_t least);
/// Knots on a device.
knots knots_at(std::vector<double> increasing, ingot::device where);
/// The device of an expression, on which arrays beside it are made.
inline ingot::device device_of(const any_expression& e) {
    return e.tree->device == detail::no_device ? current_device() : ingot::device(e.tree->device);
}

/// A function of a place `v` in interval `k` by the knots `a` and values `c` of `columns` columns, one of which is
/// `column`. It is a text: gathers would each search the interval.
using piece_kernel = elementwise_kernel<"double v, int64 k, int64 column, raw double a, raw T c, int64 columns", "T y">;

/// The interval i of a place: knot i is the last one that does not lie behind it, from 0 to two below the number of
/// knots.
lazy<index_t> interval_of(const knots&, const lazy<double>& x);
/// The knots at these indices.
inline lazy<double> knots_at(const knots& k, const lazy<index_t>& at) { return elements_at(k.values, at).as<double>(); }
/// e with so many axes of extent 1 behind its own.
template <class T>
lazy<T> with_axes_behind(const lazy<T>& e, int count) {
    std::vector<index_t> added;
    for (int j = 0; j < count; ++j) added.push_back(-1 - j);
    return count == 0 ? e : lazy<T>(expand_dims(e, axes(added)));
}
/// The columns of values: an index of each in C order, in the shape that they have.
struct column_numbers {
    explicit column_numbers(std::span<const index_t> columns) {
        detail::layout counter(static_cast<int>(columns.size()));
        for (int j = counter.rank(); j-- > 0;) {
            counter.shape()[j] = columns[static_cast<std::size_t>(j)], counter.strides()[j] = count;
            count *= columns[static_cast<std::size_t>(j)];
        }
        number = lazy<index_t>(detail::positions(std::move(counter)));
    }
    index_t count = 1;
    lazy<index_t> number;
};

/// The text at places for all columns of the values, whose axes stand behind those of the places. `c` has the columns
/// as its last axes, of this shape.
template <class T>
lazy<T> pieces_at(const piece_kernel& text, const knots& k, const lazy<double>& x, const array<T>& c,
                  std::span<const index_t> columns) {
    const int rank = static_cast<int>(columns.size());
    const column_numbers numbers(columns);
    const index_t count = numbers.count;
    lazy<index_t> interval = interval_of(k, x);
    if (k.step == 0 && count >= 4) interval = interval.kept();  // it is not searched for each column
    return lazy<T>(text(with_axes_behind(x, rank), with_axes_behind(interval, rank), numbers.number, k.values,
                        array<T>(reshape(c, {c.size()})), count));
}
/// Values with the axis of the points first. Throws shape_error where there is no such axis, or it has not `count`
/// elements.
template <class T>
lazy<T> with_axis_first(const char* operation, const any_expression& values, index_t axis, std::size_t count) {
    const any_lazy all(values.tree, values.type);
    const int at = detail::checked_axis(operation, axis, all.shape().count());
    if (all.shape()[at] != static_cast<index_t>(count))
        throw shape_error("[" + std::string(operation) + "] values of shape " + detail::to_text(all.extents().span()) +
                          " for " + std::to_string(count) + " points; as many are wanted along axis " +
                          std::to_string(at));
    return lazy<T>(moveaxis(all.as<T>(), at, 0));
}
/// A result whose first axes are those of the places, with them at the place of the axis that they replace.
template <class T>
lazy<T> with_places_at(const lazy<T>& result, int axis, int place_axes) {
    std::vector<index_t> order;
    for (int j = 0; j < axis; ++j) order.push_back(place_axes + j);
    for (int j = 0; j < place_axes; ++j) order.push_back(j);
    for (int j = place_axes + axis; j < result.ndim(); ++j) order.push_back(j);
    return axis == 0 || place_axes == 0 ? result : lazy<T>(permute_dims(result, axes(order)));
}

}  // namespace ingot::runtime
