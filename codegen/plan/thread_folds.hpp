// Folds that the thread which wants their value makes by a loop of its own, over what caches and registers hold, where
// a kernel of their own would write a temporary only for it to be read again: the distance of a point to a centre
// within the search for the nearest centre, a force from the squares of three components, the mean of a random path.
#pragma once

#include "codegen/graph/graph.hpp"

namespace ingot::codegen {

/// Makes such reductions thread_folds, and scans along what they fold thread_scans. They are those of which the key
/// says that no array beneath them is read but again, and which fold over a short axis, or over what is folded or
/// scanned itself. Returns whether there are any. Not for strict, where no bit depends on where a tree is cut.
bool use_thread_folds(const key& k, graph& g);

/// The loops that walk the axes of all thread_folds.
std::uint64_t thread_loops(const key& k, const graph& g);

/// The axes of the outputs that are short in the key's class.
std::uint64_t short_axes(const key& k);

}  // namespace ingot::codegen
