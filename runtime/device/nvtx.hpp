// Ranges on a profiler's time line, named by the user's expressions, through NVTX: the profiler (Nsight Systems, CUPTI)
// names its library in NVTX_INJECTION64_PATH and fills in a table of functions. This file implements that protocol, so
// that a build needs no NVTX header. Without a profiler a range costs one load and one comparison.
#pragma once

#include <atomic>
#include <string>

namespace ingot::runtime {

/// The profiler's functions, for a domain named "ingot".
struct profiler {
    void* domain;
    int (*push)(void* domain, const void* attributes);
    int (*pop)(void* domain);
};

/// Null where there is no profiler.
inline constinit std::atomic<const profiler*> the_profiler{nullptr};

/// On the first call, opens the profiler that the environment names. Called before an expression's first run.
void look_for_profiler() noexcept;

/// A profiler range of that name around the thread's work, until the object ends.
class profiled_range {
public:
    explicit profiled_range(const std::string& name) noexcept
        : profiler_(the_profiler.load(std::memory_order_acquire)) {
        if (profiler_ != nullptr) [[unlikely]]
            begin(name.c_str());
    }
    /// A range with a name in two parts.
    profiled_range(const char* what, const std::string& name) noexcept
        : profiler_(the_profiler.load(std::memory_order_acquire)) {
        if (profiler_ != nullptr) [[unlikely]]
            begin(what, name);
    }
    profiled_range(const profiled_range&) = delete;
    profiled_range& operator=(const profiled_range&) = delete;
    ~profiled_range() {
        if (profiler_ != nullptr) [[unlikely]]
            profiler_->pop(profiler_->domain);
    }

private:
    void begin(const char* name) const noexcept;
    void begin(const char* what, const std::string& name) noexcept;

    const profiler* profiler_;
};

}  // namespace ingot::runtime
