// Views of one buffer a few elements apart, as a map on CUDA reads them: which they are, and how far they reach along
// each axis.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

/// The element that a view reads beyond the ends of an axis: none, as it lies within its buffer; the one at the other
/// end (roll); the nearest; or its mirror image about the element at the end, or about the end (pad).
enum class border : std::uint8_t { none, wrapped, nearest, reflected, mirrored };

/// How a view moves along an axis of the map: `own`, the axis of the key on which it moves (that one, or one that a
/// shift binds), the steps of its shift, and the elements beyond the ends. The axis has the map's extent.
struct view_axis {
    int own;
    int steps = 0;
    border beyond = border::none;
};
view_axis axis_of_view(const kernel_builder& b, const array_argument& in, int axis);
/// An operand's or output's stride class along an axis of the map.
stride_class class_along(const kernel_builder& b, const array_argument& at, int axis);
/// Whether an operand moves along one of these axes of the map.
bool moves_along(const kernel_builder& b, const array_argument& in, std::uint64_t axes);

/// A view, and by how many steps it lies beyond its family's first view along the axes on which the map distinguishes
/// views; along an axis with a border, beyond the first element.
struct stencil_view {
    const array_argument* in;
    int down = 0, side = 0, along = 0;  // along: the inner axis
};

/// Views that differ along those axes only; a single view is a family too. Each is contiguous along the inner axis.
struct view_family {
    std::vector<stencil_view> views;
    std::vector<border> borders;  // along each axis; some views may have none

    const array_argument& first() const { return *views.front().in; }
};

/// The axes of a map over neighbours. A thread has a few elements of the inner axis, rolls down a second axis, and has
/// several places of a third at once.
struct stencil_axes {
    int down = -1, side = -1;
};

/// Empty where no two views of one buffer are read, or where rows of neighbours do not serve the map's reads or writes.
std::optional<stencil_axes> find_stencil(const cuda_kernel& b);

/// The range of some numbers.
struct number_range {
    int low = 0, high = 0;
    bool empty = true;
    void add(int n) {
        low = empty ? n : std::min(low, n);
        high = empty ? n : std::max(high, n);
        empty = false;
    }
};

/// Rows of a family at one place of the side axis, one below the other.
struct row_line {
    int side;                 // from the thread's first place there
    number_range down{};      // steps
    int left = 0, right = 0;  // elements before and behind the thread's own
};

/// The rows of a family that a thread holds: for each line as many as its views span, and those in flight.
struct view_window {
    view_family family;
    std::string name;
    bool moves_down = false, moves_aside = false;
    border down_border = border::none, side_border = border::none, border_along = border::none;
    std::vector<row_line> lines{};  // side by side; a line that no view reads has no rows
    int first_side = 0, last_side = 0;
    number_range down{};
    int left = 0, right = 0;
    int first = 0, width = 0;  // of the array for a row: where the thread's own elements begin, and its length
    std::uint32_t slots = 1;
    std::optional<dtype> held{};  // the dtype to which the map casts all elements: rows hold them cast

    bool has_borders() const {
        return down_border != border::none || side_border != border::none || border_along != border::none;
    }
};

struct window_size {
    std::uint32_t each, aside, ahead;  // elements, places on the side axis, rows in flight
    bool pairs = false;                // of bytes, two of which are computed at once: a row is read into whole words
};
std::vector<view_window> windows_of(const cuda_kernel& b, const stencil_axes& axes, window_size size);
/// The four-byte registers that the windows take.
std::uint32_t registers_of(const std::vector<view_window>& windows, window_size size);

}  // namespace ingot::codegen
