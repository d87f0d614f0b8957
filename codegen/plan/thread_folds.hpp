// Folds that a thread computes in a loop of its own, from caches and registers, where it needs their value and a kernel
// of their own would only write a temporary to be read again: the distance of a point to a centre in the search for the
// nearest centre, a force from the squares of three components, the mean of a random path.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Turns such reductions into thread_folds, and scans along their folded axes into thread_scans. Conditions: (1) the
/// key says that arrays below them are only read again; (2) they fold over a short axis, or over a value that is folded
/// or scanned itself. Returns whether there are any. Not for strict, where no bit depends on where a tree is cut.
bool use_thread_folds(const key& k, graph& g);

/// The loops that walk the axes of all thread_folds.
std::uint64_t thread_loops(const key& k, const graph& g);

/// The axes of the outputs that are short in the key's class.
std::uint64_t short_axes(const key& k);

}  // namespace ingot::codegen
