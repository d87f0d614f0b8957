// The size of a kernel: where a long graph is split, so that the compiler takes each part in reasonable time.
#pragma once

#include <vector>

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// For each node whether a kernel ends behind it: values that later nodes use become temporaries there. No kernel has
/// many more than 1500 operations; it ends where the fewest values cross.
std::vector<bool> ends_of_kernels(const graph& g);

}  // namespace ingot::codegen
