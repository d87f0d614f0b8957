// Several trees in one statement whose results differ in shape or device: which of them make a statement of their own.
#pragma once

#include <vector>

#include "runtime/front/classify.hpp"

namespace ingot::runtime {

/// Trees that one plan may compute: on one device, the axes of each result among those of the largest one, in order.
struct joint_trees {
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<detail::word> attributes;
    std::vector<output> outputs;
    std::vector<detail::extents_ref> shapes;  // none where they are one

    statement get() const noexcept { return {program, operands, attributes, outputs, 0, shapes}; }
};

/// The trees in as few parts as there are. Results of size 0 are in parts of their own.
std::vector<joint_trees> split_by_shape(const joint_outputs&);

}  // namespace ingot::runtime
