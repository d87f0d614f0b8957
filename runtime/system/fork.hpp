// Mutexes over a fork: the child has no other thread that could unlock a mutex which another thread had locked.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace ingot::runtime {

/// The uses of mutexes, in the order in which a fork locks them: a mutex that is locked while another one is held comes
/// after it. Every mutex that a child might need is here, but for those of GPUs and ranks, which no child can use, and
/// those of one object of a user (a graph, a generator), which may end before a fork.
enum class mutex_rank : std::uint8_t {
    devices,
    streams,
    scratch,   // of a stream
    programs,  // that users wrote
    pools,
    natives,  // native streams
    workers,
    kernels,
    executables,
    tables,    // under which none of those above is locked
    planners,  // of FFTW's plans
    libraries,
    loggers,
    warnings
};

/// From now on every fork locks this mutex, so that the child finds it unlocked and its data consistent. The mutex must
/// never be destroyed. Returns it.
std::mutex& lock_across_fork(mutex_rank, std::mutex&);
/// For another kind of lock, or where the child must do more than unlock it.
void lock_across_fork(mutex_rank, std::function<void()> lock, std::function<void()> unlock,
                      std::function<void()> unlock_in_child);

}  // namespace ingot::runtime
