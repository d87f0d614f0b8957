// Memory that this process has exported to others by handles; it is kept while they use it.
//
// Each exported array has a page of shared memory, a file of /dev/shm. A process that opens the array enters itself
// there, and erases the entry when it has released the array. The memory stays while the page has an entry of a living
// process.
#pragma once

namespace ingot::runtime {

/// Releases exports that neither an array here nor another process uses any more. Called where memory is needed.
void release_finished_exports() noexcept;

}  // namespace ingot::runtime
