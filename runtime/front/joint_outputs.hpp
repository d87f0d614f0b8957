// Splits a statement of several trees whose results differ in shape or device into statements that one plan may
// compute.
#pragma once

#include <vector>

#include "runtime/front/statement.hpp"

namespace ingot::runtime {

/// Trees that one plan may compute: they are on one device, and the axes of each result are among those of the largest,
/// in order.
struct joint_trees {
    std::vector<detail::word> program;
    std::vector<operand> operands;
    std::vector<detail::word> attributes;
    std::vector<output> outputs;
    std::vector<detail::extents_ref> shapes;  // empty where all shapes are equal

    statement get() const noexcept { return {program, operands, attributes, outputs, 0, shapes}; }
};

/// Splits the trees into as few parts as possible. Results of size 0 are in parts of their own.
std::vector<joint_trees> split_by_shape(const joint_outputs&);
/// A part for each tree.
std::vector<joint_trees> split_by_output(const joint_outputs&);

}  // namespace ingot::runtime
