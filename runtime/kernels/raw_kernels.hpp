// Programs that users wrote, as the runtime stores them: each text or file once, for ever, with the code that was
// loaded from it for each kind of device.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/kernels/kernel_module.hpp"
#include "runtime/kernels/raw_source.hpp"

namespace ingot::runtime {

/// A program for one architecture. It is immutable.
struct loaded_program {
    std::shared_ptr<const kernel_module> module;
};

inline constexpr std::size_t cached_devices = 16;  // later devices look functions up every time

/// A kernel of a program, loaded for one architecture.
struct loaded_function {
    raw_runner on_host = nullptr;
    void* on_gpu = nullptr;                                     // a CUkernel
    mutable std::atomic<void*> functions[cached_devices] = {};  // the CUfunctions on the devices
    bool is_described = false;
    std::vector<raw_parameter> parameters;  // of a described kernel; else at most their sizes, as numbers
    bool is_counted = false;                // whether the number of parameters is known
};

struct raw_program;

struct raw_function {
    const raw_program* program = nullptr;
    std::string name;
    mutable std::atomic<const loaded_function*> recent[1 + cached_devices] = {};   // for the host, and for each GPU
    mutable std::map<std::string, std::unique_ptr<const loaded_function>> loaded;  // by architecture, under the mutex
};

struct raw_program {
    const char* operation;             // "raw_kernel" or "raw_module"
    std::string text;                  // empty for a file
    std::vector<std::string> options;  // NVRTC's
    std::vector<std::string> kernels;  // names and name expressions by which kernels are found
    std::vector<std::byte> image;
    std::string label;  // for a file, its name

    mutable std::mutex mutex;
    mutable std::map<std::string, loaded_program> loaded;   // by architecture
    mutable std::map<std::string, raw_function> functions;  // by name; addresses are stable

    // Variables over which there are arrays: a launch may read and write them all.
    mutable std::map<std::pair<std::string, int>, buffer_ref> variables;  // by name and GPU, -1 for a host; under mutex
    mutable std::atomic<bool> has_variables{false};
    mutable std::atomic<std::uint64_t> launched_on{0};  // mask of streams, as a buffer's readers
};

/// Called before a launch of one of the program's kernels: orders the stream behind other uses of its variables.
void order_variables(const raw_program&, const stream_state&);

/// A kernel on a device. The first caller compiles and loads it; later calls find it without a lock. Throws
/// compile_error, and error where the program has no such kernel.
const loaded_function& loaded_on(const raw_function&, device_id);

}  // namespace ingot::runtime
