// Computes a reduction that uses another reduction of the same row in one pass: sums of (x - c)^2 and of exp(x - c)
// where c is computed from the row (variance; softmax and logsumexp, whose c is the maximum). No row is read twice for
// them, for a sum about one c gives the sum about any:
//   sum (x - c)^2  = sum (x - m)^2 + n (m - c)^2        m: the mean, n elements
//   sum exp(x - c) = exp(r - c) * sum exp(x - r)        r: the greatest element so far
// Only the shape of the expression is required: c is whatever was written.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// The graph with each such sum as a fold of its own and, where its c is computed, a node that takes the sum about c.
graph with_online_reductions(const key& k, const graph& g);

}  // namespace ingot::codegen
