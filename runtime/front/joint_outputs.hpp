// Splits a statement of several trees whose results differ in shape or device into statements that one plan may
// compute.
#pragma once

#include <vector>

#include "runtime/front/statement.hpp"
#include "runtime/trees/lazy.hpp"

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
/// Calls f(statement) for each of these parts; what several parts compute before is evaluated once.
template <class F>
void for_each_by_shape(const joint_outputs& trees, const F& f) {
    const std::vector<joint_trees> parts = split_by_shape(trees);
    std::vector<statement> each;
    for (const joint_trees& part : parts) each.push_back(part.get());
    const shared_pieces computed_once(each);
    for (const statement& part : each) f(part);
}
/// A part for each tree.
std::vector<joint_trees> split_by_output(const joint_outputs&);

}  // namespace ingot::runtime
