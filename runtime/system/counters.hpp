// The counters behind ingot::counters(). Each thread adds to a block of its own, so that counting needs no locked
// instruction on the path of a launch; a snapshot sums the blocks.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ingot/core/counters.hpp>

#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

enum class counter : std::uint8_t {
    compiles,
    disk_cache_hits,
    kernel_launches,
    library_calls,
    bytes_allocated,
    bytes_in_use,
    interpreter_runs,
    host_reads,  // of arrays' values
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(counter::host_reads) + 1;

struct alignas(64) counter_block {
    std::array<std::atomic<std::uint64_t>, counter_count> values{};

    /// For the owning thread only.
    void add(counter which, std::int64_t amount) noexcept {
        std::atomic<std::uint64_t>& value = values[static_cast<std::size_t>(which)];
        value.store(value.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(amount),
                    std::memory_order_relaxed);
    }
};

/// Adds for a thread without a block of its own.
void add_first(counter which, std::int64_t amount) noexcept;

/// `amount` may be negative: one thread may release bytes that another thread allocated.
inline void add(counter which, std::int64_t amount = 1) noexcept {
    if (counter_block* const own = per_thread<counter_block>::own_if_any()) [[likely]]
        own->add(which, amount);
    else
        add_first(which, amount);
}

}  // namespace ingot::runtime
