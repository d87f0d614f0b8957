// float16 and bfloat16 are computed in as float32: what is read is widened, what is kept is rounded.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Leaves nodes of 16-bit floats only where they lie in memory or are passed: operands, library functions and roots.
/// Nodes between keep float32, but for what is folded or gathered, which is rounded. `strict`: every node rounds.
void widen_halves(graph& g, bool strict);

}  // namespace ingot::codegen
