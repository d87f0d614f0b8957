// One pool of threads for everything that runs on the host. Any number of threads may call at once; the caller takes
// part in its own job. A call from inside a job, and one of a single block, runs on the calling thread, so that a block
// should be worth some microseconds. As many threads as INGOT_THREADS says, else as the machine has.
// Survives fork: the child starts threads of its own when it first needs them. Threads are never joined.
#pragma once

#include <cstddef>

namespace ingot::runtime {

/// Calls body(argument, begin, end) for disjoint ranges that cover the blocks 0 to blocks - 1, and returns when all are
/// done. The first exception that a range throws is thrown again, after the others.
void run(std::size_t blocks, void (*body)(void* argument, std::size_t begin, std::size_t end), void* argument);

/// The same with f(begin, end).
template <class F>
void run_on_workers(std::size_t blocks, F&& f) {
    run(
        blocks, [](void* argument, std::size_t begin, std::size_t end) { (*static_cast<F*>(argument))(begin, end); },
        &f);
}

/// Threads that take part in a job, the caller's included.
std::size_t worker_count();

}  // namespace ingot::runtime
