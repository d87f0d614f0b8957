// Elements copied from one view to another of their shape and dtype, by a kernel: the statement `to = from` without a
// tree that is written anywhere. What has to be computed elsewhere than where it goes ends so.
#pragma once

#include <ingot/core/door.hpp>

namespace ingot::runtime {

/// Copies every element, on the current stream. An empty `to` is allocated, in C order, and its layout set. The views
/// share no byte. Throws what an evaluation throws.
void copy_view(dtype type, const buffer& from, const detail::layout& from_where, buffer_ref& to,
               detail::layout& to_where);

/// The slot of these statements, one of each dtype: a slot remembers but a few classes.
slot& slot_of_copies(dtype type);

}  // namespace ingot::runtime
