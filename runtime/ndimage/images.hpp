// Filters of images share these: their arguments for each axis, an expression with elements beyond its ends, and the
// taps, its elements some steps away.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/ndimage/neighbourhoods.hpp>

#include "runtime/functions/any_lazy.hpp"

namespace ingot::runtime {

/// One value for each of `rank` axes. Throws shape_error where there are more or fewer.
template <class T>
std::vector<T> for_axes(const char* operation, const char* what, const ndimage::per_axis<T>& given, int rank) {
    const std::vector<T>& values = given.given();
    if (values.size() == 1) return std::vector<T>(static_cast<std::size_t>(rank), values[0]);
    if (values.size() != static_cast<std::size_t>(rank))
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(values.size()) + " values of " + what +
                          " for " + std::to_string(rank) + " axes; one is wanted, or one for each");
    return values;
}
/// The value for one axis of a function that takes that axis alone.
template <class T>
T for_one_axis(const char* operation, const char* what, const ndimage::per_axis<T>& given) {
    return for_axes(operation, what, given, 1)[0];
}

/// The elements of a filter along one axis: `before` an element, itself, and `after` it.
struct reach {
    index_t before = 0, after = 0;
};
/// The reach of `size` places with this origin. Throws shape_error where there are none, or the origin lies outside.
reach reach_of(const char* operation, index_t size, index_t origin);
/// The reach of the same places reversed.
constexpr reach reversed(reach r) { return {r.after, r.before}; }

/// x with elements beyond the ends of one axis.
any_lazy bordered(const any_lazy& x, int axis, reach, ndimage::border, double cval);
/// x with elements beyond the ends of all axes.
any_lazy bordered(const any_lazy& x, std::span<const reach>, std::span<const ndimage::border>, double cval);
/// The device of x, on which arrays beside it are made.
inline ingot::device device_of(const any_lazy& x) {
    return x.device() == detail::no_device ? current_device() : x.device();
}
/// Whether one expression has room for that many reads of an operand with borders on so many axes.
constexpr bool fits_one_expression(std::size_t reads, std::size_t axes) { return reads * axes <= 40; }
/// x with its borders, of which so many elements are read at once: a temporary on the host, whose loops have no vectors
/// where they compute an index, and where one expression has no room for the reads.
any_lazy bordered_for(std::size_t reads, const any_lazy& x, std::span<const reach>, std::span<const ndimage::border>,
                      double cval);
/// `extent` elements along the axis, from `first` on.
any_lazy part_of(const any_lazy& x, int axis, index_t first, index_t extent);
/// The part of that shape which begins at `first`.
any_lazy part_of(const any_lazy& x, std::span<const index_t> first, std::span<const index_t> shape);
/// All windows of `size` elements along the axis, as a last axis.
any_lazy windows_along(const any_lazy& x, int axis, index_t size);
/// All windows of that shape, whose axes are the last ones.
any_lazy windows_around(const any_lazy& x, std::span<const index_t> shape);

/// The expression that a filter reads at many places: an array, or a temporary.
inline any_lazy read_often(const detail::image& x) { return any_lazy(x.tree, x.type).kept(); }
/// float32 for float32 and halves, float64 for other real numbers; complex numbers stay.
dtype weighted_dtype(dtype);
/// A weighted sum as elements of the dtype: integers are truncated and wrap.
any_lazy stored_as(const any_lazy& sum, dtype);

/// The places of a footprint or a structure that are not 0.
struct places {
    std::vector<index_t> shape;
    std::vector<std::vector<index_t>> at;  // in C order
    std::vector<double> values;            // the number at each of them
};
places places_of(const ndimage::neighbourhood&);
/// All places of a box.
places places_of_box(std::span<const index_t> shape);
/// Reversed along all axes, in C order.
ndimage::neighbourhood reversed(const ndimage::neighbourhood&);
/// Whether a structure has three places along each axis, and is the same from both sides.
bool is_symmetric(const ndimage::neighbourhood&);
/// An element and its neighbours along each axis.
ndimage::neighbourhood cross(int rank);
/// Throws shape_error unless the neighbourhood has as many axes as x, none of them empty.
void check_axes(const char* operation, const char* what, const ndimage::neighbourhood&, const any_lazy& x);

}  // namespace ingot::runtime
