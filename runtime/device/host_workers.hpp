// One pool of threads for all work on the host. Any number of threads may call at once; the caller takes part in its
// own job. A call from inside a job, or for a single block, runs on the calling thread; so a block should take some
// microseconds. There are INGOT_THREADS threads, by default as many as the machine has. The pool survives fork: the
// child starts its own threads when it first needs them. Threads are never joined.
#pragma once

#include <cstddef>

namespace ingot::runtime {

/// Calls body(argument, begin, end) for disjoint ranges that cover the blocks 0 to blocks - 1, and returns when all are
/// done. If ranges throw, rethrows the first exception after the others have ended.
void run(std::size_t blocks, void (*body)(void* argument, std::size_t begin, std::size_t end), void* argument);

/// Calls f(begin, end) in this way.
template <class F>
void run_on_workers(std::size_t blocks, F&& f) {
    run(
        blocks, [](void* argument, std::size_t begin, std::size_t end) { (*static_cast<F*>(argument))(begin, end); },
        &f);
}

/// The number of threads that take part in a job, including the caller.
std::size_t worker_count();

}  // namespace ingot::runtime
