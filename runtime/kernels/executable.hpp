// Keys to loaded kernels: the second cache level, one sharded table in the library. It serves every slot, lazy trees,
// and the same tree in two shared objects. What it hands out is immutable and never freed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "codegen/graph/graph.hpp"
#include "codegen/graph/key.hpp"
#include "codegen/plan/plan.hpp"
#include "runtime/front/library_functions.hpp"
#include "runtime/kernels/kernel_module.hpp"

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

/// When to try a compiler again that could not be had: after pauses that double, from a twentieth of a second, or from
/// four times what the attempt took, up to a minute.
class retry_schedule {
public:
    using clock = std::chrono::steady_clock;

    /// Whether the caller is to try now. Until it says how that went, or for a minute, no other thread is.
    bool claim() noexcept;
    void failed(clock::duration attempt) noexcept;

private:
    std::atomic<clock::rep> next_{0};  // 0: none has failed
    std::atomic<clock::rep> pause_{0};
};

/// A plan with its kernels loaded, or, where no compiler could be had on the host, with the graph to be interpreted.
/// What is published stays as it is: a compiler that can be had later makes a successor, which runs in its place.
struct executable {
    codegen::key key;
    codegen::graph graph;
    codegen::plan plan;
    std::shared_ptr<const kernel_module> module;
    std::deque<loaded_kernel> kernels;               // one for each launch
    std::vector<const library_function*> functions;  // and for each library call
    bool interpreted = false;
    std::exception_ptr rejected;  // a successor's, where the compiler was to be had and rejected the source
    mutable std::atomic<const executable*> successor{nullptr};
    mutable retry_schedule retry;

    /// What runs in its place.
    const executable& latest() const noexcept {
        if (!interpreted) [[likely]]
            return *this;
        const executable* const later = successor.load(std::memory_order_acquire);
        return later != nullptr ? *later : *this;
    }
};

/// The successor of an interpreted one, which is made now where it is time to try; itself where there is none. Throws
/// compile_error, every time, where the compiler rejected the source.
const executable& compile_again(const executable&);

/// The executable of a key: from the table, or lowered, planned and compiled outside every lock. Throws compile_error,
/// library_error, or error where the pattern has no kernel.
const executable& executable_for(std::span<const std::uint32_t> key);

/// Whether the table has it.
bool is_loaded(std::span<const std::uint32_t> key);

/// Finds the kernels of a plan in the module of its source, and the functions that it calls. Throws compile_error,
/// library_error, compiler_unavailable.
void load_steps(executable&);

/// The source as it is given to the compiler.
source_text source_of(const codegen::key& key, const codegen::plan& plan);

/// Called with every key that was not in the table, before it is compiled. For tests; null for none. Returns the one
/// before.
using key_observer = void (*)(std::span<const std::uint32_t> key);
key_observer observe_new_keys(key_observer);

}  // namespace ingot::runtime
