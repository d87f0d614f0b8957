// Copies elements from one view to another of the same shape and dtype by a kernel: the statement `to = from`. Results
// that are computed in temporary memory are copied to their place by it.
#pragma once

#include <ingot/core/door.hpp>

namespace ingot::runtime {

/// Copies every element, on the current stream. An empty `to` is allocated in C order, and its layout is set. The views
/// must share no byte. Throws the errors of an evaluation.
void copy_view(dtype type, const buffer& from, const detail::layout& from_where, buffer_ref& to,
               detail::layout& to_where);

/// The slot of these statements, one for each dtype, because a slot holds only a few classes.
slot& slot_of_copies(dtype type);

}  // namespace ingot::runtime
