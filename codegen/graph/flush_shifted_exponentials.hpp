// Finds exponentials whose sum is at least 1, as one of them is exp(0): sum(exp(x - max(x))) along a row, as in
// logsumexp.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Lets such exponentials be 0 where they are subnormal, if only their sum uses them: the sum does not change.
void flush_shifted_exponentials(const key& k, graph& g);

}  // namespace ingot::codegen
