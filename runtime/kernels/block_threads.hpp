// The threads of a block of a user's CUDA kernel on a host, where they wait for each other. Each has its own stack, and
// the worker that runs the block switches to another thread where one waits or ends.
#pragma once

namespace ingot::runtime {

/// Calls body(argument, i) for each thread of a block, from 0. Throws error where threads wait at a barrier that the
/// others never reach.
void run_block_threads(unsigned threads, void (*body)(void* argument, unsigned i), void* argument);

/// Called in such a body: waits until all threads of the block, or of the warp of 32, that have not ended are here.
void wait_for_block(bool warp);

}  // namespace ingot::runtime
