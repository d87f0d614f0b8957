// Maps keys to loaded kernels: the second cache level, one sharded table in the library. It serves every slot, lazy
// trees, and the same tree in two shared objects. An entry is immutable and never freed.
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

/// A kernel in its launchable form: a host_kernel, or the CUfunctions of a CUkernel in the contexts of the devices.
/// Launching the CUkernel itself would look up its function on every launch.
class loaded_kernel {
public:
    explicit loaded_kernel(void* kernel) : kernel_(kernel) {}
    host_kernel on_host() const noexcept { return reinterpret_cast<host_kernel>(kernel_); }
    /// The CUfunction on a device whose context is current. It sets the attributes for the step's dynamic shared memory
    /// and clusters.
    void* on_gpu(int device, const codegen::launch& step) const;

private:
    static constexpr std::size_t cached_devices = 16;  // later devices look it up every time
    void* kernel_;
    mutable std::atomic<void*> functions_[cached_devices] = {};
};

/// Decides when to try an unavailable compiler again: after pauses that double, from a twentieth of a second, or from
/// four times the duration of the attempt, up to a minute.
class retry_schedule {
public:
    using clock = std::chrono::steady_clock;

    /// Whether the caller should try now. No other thread is told so until the caller reports the outcome, or for a
    /// minute.
    bool claim() noexcept;
    void failed(clock::duration attempt) noexcept;

private:
    std::atomic<clock::rep> next_{0};  // 0: no attempt has failed
    std::atomic<clock::rep> pause_{0};
};

/// A plan with its loaded kernels; or, where no compiler was available on the host, with the graph to interpret. A
/// published executable does not change: once a compiler is available, a successor is made, which runs in its place.
struct executable {
    codegen::key key;
    codegen::graph graph;
    codegen::plan plan;
    std::shared_ptr<const kernel_module> module;
    std::deque<loaded_kernel> kernels;               // one for each launch
    std::vector<const library_function*> functions;  // one for each library call
    bool interpreted = false;
    std::exception_ptr rejected;  // in a successor: the compiler rejected the source
    mutable std::atomic<const executable*> successor{nullptr};
    bool has_large_form = false;  // the key with past_caches set gives other kernels
    mutable std::atomic<const executable*> large_form{nullptr};
    mutable retry_schedule retry;

    /// The executable that runs in its place.
    const executable& latest() const noexcept {
        if (!interpreted) [[likely]]
            return *this;
        const executable* const later = successor.load(std::memory_order_acquire);
        return later != nullptr ? *later : *this;
    }
};

/// The successor of an interpreted executable, made now if it is time to try; the executable itself where there is
/// none. Throws compile_error, every time, where the compiler rejected the source.
const executable& compile_again(const executable&);

/// The executable of a key, from the table, or lowered, planned and compiled outside every lock. Throws compile_error,
/// library_error, or error where the pattern has no kernel.
const executable& executable_for(std::span<const std::uint32_t> key);

/// The executable of the same statement for large results, if it has another form for these. The executable itself
/// where no compiler is available.
const executable& large_form_of(const executable&);

/// Whether the table has the key.
bool is_loaded(std::span<const std::uint32_t> key);

/// Loads the module of a plan's source and finds its kernels, and the library functions that it calls. Throws
/// compile_error, library_error, compiler_unavailable.
void load_steps(executable&);

/// The source that the compiler receives.
source_text source_of(const codegen::key& key, const codegen::plan& plan);

/// Sets a function that is called with every key that is not in the table, before it is compiled; null for none.
/// Returns the previous one. For tests.
using key_observer = void (*)(std::span<const std::uint32_t> key);
key_observer observe_new_keys(key_observer);

}  // namespace ingot::runtime
