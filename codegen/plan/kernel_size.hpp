// How much one kernel holds: where a long graph is parted, so that a compiler digests each part in good time.
#pragma once

#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// For each node whether a kernel ends behind it: the values that later nodes want go through memory there. No kernel
/// holds many more than 1500 operations, and it ends where fewest values cross.
std::vector<bool> ends_of_kernels(const graph& g);

}  // namespace ingot::codegen
