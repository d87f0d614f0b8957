// Exponentials whose sum is 1 at least, for one of them is exp(0): sum(exp(x - max(x))) along a row, as logsumexp has
// it.
#pragma once

#include "codegen/graph.hpp"

namespace ingot::codegen {

/// Lets such exponentials be 0 where they are subnormal, if nothing but their sum wants them: it stays the same.
void flush_exponentials_beside_one(const key& k, graph& g);

}  // namespace ingot::codegen
