// Views of one buffer that lie a few elements apart, as a map on CUDA reads them: who they are, and how far they reach
// along each axis.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

/// What a view reads beyond the ends of an axis: nothing, for it lies within its buffer; what is at the other end
/// (roll); the nearest element, or what a mirror shows, at the element at the end or behind it (pad).
enum class border : std::uint8_t { none, wrapped, nearest, reflected, mirrored };

/// How a view goes along an axis of the map's: along which of the key's, that axis or one that a shift binds, how many
/// steps further on, and what is beyond its ends. The axis has as many elements as the map's.
struct view_axis {
    int own;
    int steps = 0;
    border beyond = border::none;
};
view_axis axis_of_view(const kernel_builder& b, const array_argument& in, int axis);
/// An operand's or output's class along an axis of the map's.
stride_class class_along(const kernel_builder& b, const array_argument& at, int axis);
/// Whether an operand moves along one of these axes of the map's.
bool moves_along(const kernel_builder& b, const array_argument& in, std::uint64_t axes);

/// A view, and how many steps it lies beyond its family's first one along the axes that the map tells apart; along
/// those that have borders, beyond the first element there is.
struct stencil_view {
    const array_argument* in;
    int down = 0, side = 0, along = 0;  // along: the inner axis
};

/// Views that differ along those axes alone; one view alone is a family too. Each is contiguous along the inner axis.
struct view_family {
    std::vector<stencil_view> views;
    std::vector<border> borders;  // along each axis; of some views there may be none

    const array_argument& first() const { return *views.front().in; }
};

/// The axes of a map over neighbours. A thread has a few elements of the inner axis, and rolls down another one; of a
/// third it has some places at once.
struct stencil_axes {
    int down = -1, side = -1;
};

/// Nothing where no two views of one buffer are read, or the map reads or writes in ways that rows of neighbours do not
/// serve.
std::optional<stencil_axes> find_stencil(const cuda_kernel& b);
/// All arrays that are contiguous along the inner axis, with neighbours before and behind told by the axes.
std::vector<view_family> families_of(const cuda_kernel& b, const stencil_axes& axes);

/// From the least to the greatest of some numbers.
struct number_range {
    int low = 0, high = 0;
    bool empty = true;
    void add(int n) {
        low = empty ? n : std::min(low, n);
        high = empty ? n : std::max(high, n);
        empty = false;
    }
};

/// Rows of a family that lie on one place of the side axis, one below the other.
struct row_line {
    int side;                 // from the thread's first place there
    number_range down{};      // steps
    int left = 0, right = 0;  // elements before and behind the thread's own
};

/// What a thread has of a family at a time: of each line as many rows as its views span, and those under way.
struct view_window {
    view_family family;
    std::string name;
    bool moves_down = false, moves_aside = false;
    border down_border = border::none, side_border = border::none, border_along = border::none;
    std::vector<row_line> lines{};  // one beside the other; one that no view reads has no rows
    int first_side = 0, last_side = 0;
    number_range down{};
    int left = 0, right = 0;
    int first = 0, width = 0;  // of an array that a row is read into: where the thread's own begin, and all
    std::uint32_t slots = 1;

    bool has_borders() const {
        return down_border != border::none || side_border != border::none || border_along != border::none;
    }
};

struct window_size {
    std::uint32_t each, aside, ahead;  // elements, places on the side axis; rows under way
    bool words = false;                // a row is read into whole words of bytes
};
std::vector<view_window> windows_of(const cuda_kernel& b, const stencil_axes& axes, window_size size);
/// Four-byte registers that they take.
std::uint32_t registers_of(const std::vector<view_window>& windows, window_size size);

}  // namespace ingot::codegen
