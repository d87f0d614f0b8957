// Exponentials whose sum is 1 at least, for one of them is exp(0): sum(exp(x - max(x))) along a row, as logsumexp has
// it.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Lets such exponentials be 0 where they are subnormal, if nothing but their sum wants them: it stays the same.
void flush_shifted_exponentials(const key& k, graph& g);

}  // namespace ingot::codegen
