// Random trees through the library: as outputs of one kernel on a device, or interpreted.
#pragma once

#include <vector>

#include <ingot/core/device.hpp>

#include "tree.hpp"

namespace ingot::tests {

/// What the memory of each tree holds after all are evaluated at once in strict arithmetic: its target's buffer, or its
/// result.
std::vector<std::vector<std::byte>> evaluate_together(const std::vector<random_tree>& trees, device_id device);
/// The same of one tree through a slot that keeps what it met, as a statement of a program does, and in new memory.
std::vector<std::byte> evaluate_in(slot& cache, const random_tree& tree, device_id device);
/// The same by the interpreter, whose targets have memory of their own whatever they overlap.
std::vector<std::vector<std::byte>> interpret_together(const std::vector<random_tree>& trees);

}  // namespace ingot::tests
