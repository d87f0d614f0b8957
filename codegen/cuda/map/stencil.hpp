// Views of one buffer that lie a few elements apart, as a map on CUDA reads them: who they are, and how far they reach
// along each axis.
#pragma once

#include <optional>
#include <vector>

#include "codegen/cuda/kernel.hpp"

namespace ingot::codegen {

/// A view, and how many steps it lies beyond its family's first one along the axes that the map tells apart.
struct stencil_view {
    const array_argument* in;
    int down = 0, side = 0, along = 0;  // along: the inner axis
};

/// Views that differ along those axes alone; one view alone is a family too. Each is contiguous along the inner axis.
struct view_family {
    std::vector<stencil_view> views;
    std::vector<int> others;  // steps of each from its relatives' first on the axes, those told apart being 0

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

}  // namespace ingot::codegen
