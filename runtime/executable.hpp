// Keys to loaded kernels: the second cache level, one sharded table in the library. It serves every slot, lazy trees,
// and the same tree in two shared objects. What it hands out is immutable and never freed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "codegen/graph.hpp"
#include "codegen/key.hpp"
#include "codegen/plan.hpp"
#include "runtime/kernel_module.hpp"

namespace ingot::runtime {

using host_kernel = void (*)(const void* arguments, unsigned long long begin, unsigned long long end);

/// A kernel as it is launched: a host_kernel, or the CUfunctions that a CUkernel has in the contexts of the devices.
/// Launching the CUkernel itself would look its function up on every launch.
class loaded_kernel {
public:
    explicit loaded_kernel(void* kernel) : kernel_(kernel) {}
    host_kernel on_host() const noexcept { return reinterpret_cast<host_kernel>(kernel_); }
    /// The CUfunction on a device whose context is current; the step's dynamic shared memory and its clusters are
    /// allowed for.
    void* on_gpu(int device, const codegen::launch& step) const;

private:
    static constexpr std::size_t remembered = 16;  // devices; later ones look up every time
    void* kernel_;
    mutable std::atomic<void*> functions_[remembered] = {};
};

/// A plan with its kernels loaded, or, where no compiler could be had on the host, with the graph to be interpreted.
struct executable {
    codegen::key key;
    codegen::graph graph;
    codegen::plan plan;
    std::shared_ptr<const kernel_module> module;
    std::deque<loaded_kernel> kernels;  // one for each step
    bool interpreted = false;
};

/// The executable of a key: from the table, or lowered, planned and compiled outside every lock. Throws compile_error,
/// library_error, or error where the pattern has no kernel.
const executable& executable_for(std::span<const std::uint32_t> key);

/// Whether the table has it.
bool is_loaded(std::span<const std::uint32_t> key);

/// The source as it is given to the compiler.
source_text source_of(const codegen::key& key, const codegen::plan& plan);

/// Called with every key that was not in the table, before it is compiled. For tests; null for none. Returns the one
/// before.
using key_observer = void (*)(std::span<const std::uint32_t> key);
key_observer observe_new_keys(key_observer);

}  // namespace ingot::runtime
