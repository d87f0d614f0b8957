// Runs the grid of a kernel: every thread a fiber, blocks in their order but several at a time, warps and lanes in an
// order that a seed decides, so that what CUDA leaves open is seen in many ways.
#pragma once

#include <cstdint>
#include <string>

#include "machine.hpp"
#include "memory.hpp"

namespace emulator {

/// A kernel that a library holds.
struct kernel_entry {
    std::string name;
    const char* source = nullptr;
    const std::size_t* sizes = nullptr;  // how many parameters, and of each its bytes
    void (*run)(void** arguments) = nullptr;
    machine** to_machine = nullptr;  // what it asks, for its time
    char* shared = nullptr;          // the shared memory of the block that runs, static and dynamic
    std::size_t shared_bytes = 0;
    const char* image = nullptr;  // of the library, up to the end of shared memory
};

struct launch_shape {
    index3 grid, threads;
    unsigned int cluster = 1;
};

/// Returns when every thread has ended. What CUDA leaves undefined, and threads that wait for each other for ever, end
/// the process with a message.
void run_grid(const kernel_entry& kernel, const launch_shape& shape, void** arguments, const device_memory& memory,
              std::uint64_t seed);

}  // namespace emulator
