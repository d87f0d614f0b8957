// Mutexes over a fork: the child of a fork has no other thread that would unlock what another thread had locked.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace ingot::runtime {

/// What a mutex is for, in the order in which a fork locks them: one that is locked while another is held stands behind
/// it.
enum class mutex_of : std::uint8_t {
    devices,
    streams,
    pools,
    workers,
    kernels,
    executables,
    texts,
    libraries,
    loggers,
    warnings
};

/// Makes every fork from now on wait for a mutex that is never destroyed, so that the child finds it unlocked, and what
/// it guards whole. Returns it.
std::mutex& hold_over_fork(mutex_of, std::mutex&);
/// The same of another kind of lock, or where the child does more than unlock it.
void hold_over_fork(mutex_of, std::function<void()> lock, std::function<void()> unlock,
                    std::function<void()> unlock_in_child);

}  // namespace ingot::runtime
