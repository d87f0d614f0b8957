// Memory that is not Ingot's: its owner hears of its end when the last reference has gone and the streams that use the
// memory have passed. Where they have not, the buffer is put aside, with events of theirs. It is looked at again when
// another such buffer is dropped, when the pool is asked for memory that no front cache has, after a wait for a
// stream, and at the end of the process, which waits.
#pragma once

#include <ingot/core/buffer.hpp>

namespace ingot::runtime {

/// Of a buffer that unowned_buffer made, without references.
void release_unowned(buffer&) noexcept;

/// Tells the owners of the memory that was put aside and is out of use by now.
void end_passed_unowned() noexcept;

}  // namespace ingot::runtime
