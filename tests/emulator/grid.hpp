// Runs the grid of a kernel: every thread is a fiber, and as many blocks run at a time as there is room for. A seed
// decides in which order blocks start and warps and lanes run, so that tests meet many of the orders that CUDA allows.
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
    bool dynamic;  // its size comes with the launch
};

/// A kernel that a library holds.
struct kernel_entry {
    std::string name;
    const char* source = nullptr;
    const std::size_t* sizes = nullptr;  // how many parameters, and of each its bytes
    void (*run)(void** arguments) = nullptr;
    machine** to_machine = nullptr;  // set for the time of a launch
    char* shared = nullptr;          // the shared memory of the block that runs, static and dynamic
    std::size_t shared_bytes = 0;
    std::vector<shared_array> arrays;  // the static and dynamic arrays, by address
    std::size_t most_dynamic = 0;      // bytes of shared memory that a launch may ask for; 0: as many as are usual
    const char* image = nullptr;       // of the library, up to the end of shared memory
};

struct launch_shape {
    index3 grid, threads;
    unsigned int cluster = 1;
    std::size_t dynamic_shared = 0, most_shared = 0;  // bytes: asked for, and what a block may have
};

/// The numbers of a running launch, for messages.
struct launch_number {
    std::uint64_t seed = 0, launch = 0;
};

/// Returns when every thread has ended. What CUDA leaves undefined, and threads that wait for each other for ever, end
/// the process with a message.
void run_grid(const kernel_entry& kernel, const launch_shape& shape, void** arguments, const device_memory& memory,
              launch_number number);

}  // namespace emulator
