// Reductions of what another reduction of the same row gave, made one pass: sums of (x - c)^2 and of exp(x - c) where c
// comes of the row itself (variance; softmax and logsumexp, whose c is the maximum). No row need be read twice for
// them, for both are known about any c once they are known about one:
//   sum (x - c)^2  = sum (x - m)^2 + n (m - c)^2        m: the mean, n elements
//   sum exp(x - c) = exp(r - c) * sum exp(x - r)        r: the greatest element so far
// Nothing but the shape of the expression is asked for: c is whatever was written.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// The graph with each such sum as a fold of its own and, where its c is known, a node that takes the sum about it.
graph with_online_reductions(const key& k, const graph& g);

}  // namespace ingot::codegen
