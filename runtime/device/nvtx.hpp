// Ranges on a profiler's time line, named by the user's expressions, by NVTX: the profiler (Nsight Systems, CUPTI)
// names a library of its own in NVTX_INJECTION64_PATH and fills in a table of functions. This is that protocol by hand,
// so that a build needs no header of NVTX's. Without a profiler a range is one load and one comparison.
#pragma once

#include <atomic>
#include <string>

namespace ingot::runtime {

/// What a profiler gave, for a domain named "ingot".
struct profiler {
    void* domain;
    int (*push)(void* domain, const void* attributes);
    int (*pop)(void* domain);
};

/// Null where there is none.
inline constinit std::atomic<const profiler*> the_profiler{nullptr};

/// Opens the one that the environment names, the first time. Before an expression's first run.
void look_for_profiler() noexcept;

/// Until it ends, what the thread does is inside a range of that name.
class profiled_range {
public:
    explicit profiled_range(const std::string& name) noexcept : of_(the_profiler.load(std::memory_order_acquire)) {
        if (of_ != nullptr) [[unlikely]]
            begin(name.c_str());
    }
    /// The same of a name in two parts.
    profiled_range(const char* what, const std::string& name) noexcept
        : of_(the_profiler.load(std::memory_order_acquire)) {
        if (of_ != nullptr) [[unlikely]]
            begin(what, name);
    }
    profiled_range(const profiled_range&) = delete;
    profiled_range& operator=(const profiled_range&) = delete;
    ~profiled_range() {
        if (of_ != nullptr) [[unlikely]]
            of_->pop(of_->domain);
    }

private:
    void begin(const char* name) const noexcept;
    void begin(const char* what, const std::string& name) noexcept;

    const profiler* of_;
};

}  // namespace ingot::runtime
