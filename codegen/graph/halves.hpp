// float16 and bfloat16 are computed as float32: loads are widened, stored results are rounded.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Leaves nodes of 16-bit floats only where they lie in memory or are passed: operands, library functions and roots.
/// Nodes between them keep float32, except folded and gathered values, which are rounded. `strict`: every node rounds.
void widen_halves(graph& g, bool strict);

}  // namespace ingot::codegen
