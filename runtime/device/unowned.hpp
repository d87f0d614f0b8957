// Foreign memory: its owner is notified when the last reference has gone and the streams that use the memory have
// passed. Until they have, the buffer waits in a list, with their events. The list is checked (1) when another such
// buffer is dropped; (2) when the pool is asked for memory that no front cache has; (3) after a wait for a stream; (4)
// at the end of the process, which waits.
#pragma once

#include <ingot/core/buffer.hpp>

namespace ingot::runtime {

/// Releases a buffer without references that unowned_buffer made.
void release_unowned(buffer&) noexcept;

/// Notifies the owners of waiting memory that is out of use by now.
void release_finished_unowned() noexcept;

}  // namespace ingot::runtime
