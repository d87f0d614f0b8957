// Copies the part of an array outside a view, for an array that gets new memory in which the view alone is written.
#pragma once

#include <ingot/core/buffer.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// Copies the elements of an array in C order that are outside `part`, a view of it, from one buffer to another. A
/// whole copy and a write would move the view's elements twice. So if the array is large and the view is a box of
/// adjacent elements, only the complement is copied, in at most two pieces an axis; otherwise everything is.
void copy_complement(dtype type, buffer& from, buffer_ref& to, const detail::layout& whole, const detail::layout& part);

}  // namespace ingot::runtime
