// The threads of a block of a user's CUDA kernel on a host, where they wait for each other: each has a stack of its
// own, and the worker that runs the block goes from one to the next where one waits or ends.
#pragma once

namespace ingot::runtime {

/// Calls body(argument, i) for each thread of a block, from 0. Throws error where some wait for what the others never
/// come to.
void run_block_threads(unsigned threads, void (*body)(void* argument, unsigned i), void* argument);

/// From within such a body: until all threads that have not ended are here, of the block or of the warp of 32.
void wait_for_block(bool warp);

}  // namespace ingot::runtime
