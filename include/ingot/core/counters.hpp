// Counters of Ingot's work in this process, over all threads and devices.
#pragma once

#include <cstdint>
#include <ingot/core/export.hpp>

namespace ingot {

/// The counts of `counters` since the start of the process.
struct counter_values {
    std::uint64_t compiles = 0;          ///< sources given to NVRTC or to the host compiler
    std::uint64_t disk_cache_hits = 0;   ///< kernels taken from the disk cache instead
    std::uint64_t kernel_launches = 0;   ///< fused kernels run, on any device
    std::uint64_t library_calls = 0;     ///< calls into NVIDIA's libraries
    std::uint64_t bytes_allocated = 0;   ///< bytes that the pools have handed out since the start
    std::uint64_t bytes_in_use = 0;      ///< bytes that arrays hold now
    std::uint64_t interpreter_runs = 0;  ///< expressions evaluated without a compiler
};

/// A snapshot; exact where no other thread is computing.
///
///     array<double> x{1, 2, 3}, y = x * 2 + 1;
///     const counter_values before = counters();
///     y = sqrt(x) * 2 + 1;
///     std::cout << counters().kernel_launches - before.kernel_launches;
///     // prints: 1
INGOT_API counter_values counters();

}  // namespace ingot
