// What a view leaves out of its array, for an array that gets new memory in which only the view is written anew.
#pragma once

#include <ingot/core/buffer.hpp>
#include <ingot/core/dtype.hpp>
#include <ingot/core/layout.hpp>

namespace ingot::runtime {

/// Copies the elements of an array in C order that `part`, a view of it, has not, from one buffer to another. The two
/// kernels of a copy and a write would move the view's elements twice; so of a large array only what is left out is
/// copied, by two pieces an axis at most, where the view is a box of neighbours. Else all is.
void copy_complement(dtype type, buffer& from, buffer_ref& to, const detail::layout& whole, const detail::layout& part);

}  // namespace ingot::runtime
