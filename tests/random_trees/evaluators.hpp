// Random trees through the library: as outputs of one kernel on a device, or interpreted.
#pragma once

#include <vector>

#include <ingot/core/device.hpp>

#include "tree.hpp"

namespace ingot::tests {

/// The memory of each tree (its target's buffer, or its result) after all are evaluated at once in strict arithmetic.
std::vector<std::vector<std::byte>> evaluate_together(const std::vector<random_tree>& trees,
                                                      ingot::detail::device_id device);
/// Evaluates one tree into new memory, through a slot that keeps its classes, as a statement of a program does.
std::vector<std::byte> evaluate_in(ingot::detail::slot& cache, const random_tree& tree,
                                   ingot::detail::device_id device);
/// Interprets the trees; targets have their own memory, whatever they overlap.
std::vector<std::vector<std::byte>> interpret_together(const std::vector<random_tree>& trees);

}  // namespace ingot::tests
