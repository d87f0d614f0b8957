// Runs the grid of a kernel: every thread a fiber, a few blocks at a time, as many as there is room for. In what order
// blocks begin, and warps and lanes run, a seed decides, so that what CUDA leaves open is seen in many ways.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine.hpp"
#include "memory.hpp"

namespace emulator {

/// Bytes of static arrays that a kernel may declare, and that a block has without asking for more.
constexpr std::size_t usual_shared = std::size_t{48} << 10;

/// An array in shared memory: where, from its beginning.
struct shared_array {
    std::size_t begin, end;
    bool dynamic;  // of as many bytes as the launch says
};

/// A kernel that a library holds.
struct kernel_entry {
    std::string name;
    const char* source = nullptr;
    const std::size_t* sizes = nullptr;  // how many parameters, and of each its bytes
    void (*run)(void** arguments) = nullptr;
    machine** to_machine = nullptr;  // what it asks, for its time
    char* shared = nullptr;          // the shared memory of the block that runs, static and dynamic
    std::size_t shared_bytes = 0;
    std::vector<shared_array> arrays;  // those there, in their order
    std::size_t most_dynamic = 0;      // bytes of shared memory that a launch may ask for; 0: as many as are usual
    const char* image = nullptr;       // of the library, up to the end of shared memory
};

struct launch_shape {
    index3 grid, threads;
    unsigned int cluster = 1;
    std::size_t dynamic_shared = 0, most_shared = 0;  // bytes: asked for, and what a block may have
};

/// What is under way, as a message says it.
struct launch_number {
    std::uint64_t seed = 0, launch = 0;
};

/// Returns when every thread has ended. What CUDA leaves undefined, and threads that wait for each other for ever, end
/// the process with a message.
void run_grid(const kernel_entry& kernel, const launch_shape& shape, void** arguments, const device_memory& memory,
              launch_number number);

}  // namespace emulator
