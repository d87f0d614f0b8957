// Programs that users wrote, as the runtime keeps them: each text or file once, for good, with what was loaded of it
// for each kind of device.
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

/// A program for one architecture. Immutable.
struct loaded_program {
    std::shared_ptr<const kernel_module> module;
};

inline constexpr std::size_t remembered_devices = 16;  // later ones look up every time

/// A kernel of a program as loaded for one architecture.
struct loaded_function {
    raw_runner on_host = nullptr;
    void* on_gpu = nullptr;                                         // a CUkernel
    mutable std::atomic<void*> functions[remembered_devices] = {};  // the CUfunctions that it has on the devices
    bool is_described = false;
    std::vector<raw_parameter> parameters;  // of a described one; of another at most the sizes, as numbers
    bool is_counted = false;                // whether their number is known
};

struct raw_program;

struct raw_function {
    const raw_program* of = nullptr;
    std::string name;
    mutable std::atomic<const loaded_function*> recent[1 + remembered_devices] = {};  // of a host, and of each GPU
    mutable std::map<std::string, std::unique_ptr<const loaded_function>> loaded;  // by architecture, under the mutex
};

struct raw_program {
    const char* operation;             // "raw_kernel" or "raw_module"
    std::string text;                  // empty of a file
    std::vector<std::string> options;  // NVRTC's
    std::vector<std::string> kernels;  // that can be found by name, and the name expressions
    std::vector<std::byte> image;
    std::string label;  // of a file: its name

    mutable std::mutex mutex;
    mutable std::map<std::string, loaded_program> loaded;   // by architecture
    mutable std::map<std::string, raw_function> functions;  // by name; they stay where they are

    // Variables that arrays are over: a launch may read and write them all.
    mutable std::map<std::pair<std::string, int>, buffer_ref> variables;  // by name and GPU, -1 for a host; under mutex
    mutable std::atomic<bool> has_variables{false};
    mutable std::atomic<std::uint64_t> launched_on{0};  // streams, as a buffer's readers
};

/// Before a launch of one of its kernels: puts the stream behind what is done with the program's variables.
void order_variables(const raw_program&, const stream_state&);

/// A kernel on a device: compiled and loaded by whoever comes first, later found without a lock. Throws compile_error,
/// and error where the program has no such kernel.
const loaded_function& loaded_on(const raw_function&, device_id);

}  // namespace ingot::runtime
