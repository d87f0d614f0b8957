// Memory that this process has given to others by handles, and keeps while they use it.
//
// Beside each array that is given stands a page of shared memory, a file of /dev/shm, in which whoever opens the array
// writes its process, and erases it when it has let go. The array's memory stays while anybody stands there who lives.
#pragma once

namespace ingot::runtime {

/// Lets go of what neither an array here nor another process uses any more. Called where memory is wanted.
void end_passed_exports() noexcept;

}  // namespace ingot::runtime
