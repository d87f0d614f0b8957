// The counters behind ingot::counters(). Each thread adds to a block of its own, so that counting needs no locked
// instruction on the path of a launch; a snapshot sums the blocks. Blocks are never freed, only handed to later
// threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <ingot/counters.hpp>

namespace ingot::runtime {

enum class counter : std::uint8_t {
    compiles,
    disk_cache_hits,
    kernel_launches,
    library_calls,
    bytes_allocated,
    bytes_in_use,
    interpreter_runs,
};
inline constexpr std::size_t counter_count = static_cast<std::size_t>(counter::interpreter_runs) + 1;

struct alignas(64) counter_block {
    std::array<std::atomic<std::uint64_t>, counter_count> values{};
    std::atomic<bool> taken{true};
    counter_block* next = nullptr;
};

/// This thread's block, once it has counted anything; from the thread's end on, the one that ending threads share.
extern thread_local constinit counter_block* my_counters;
extern constinit counter_block late_counters;
counter_block& attach_counters();

/// `amount` may be negative: what one thread takes another may give back.
inline void add(counter which, std::int64_t amount = 1) {
    counter_block& block = my_counters != nullptr ? *my_counters : attach_counters();
    std::atomic<std::uint64_t>& value = block.values[static_cast<std::size_t>(which)];
    const auto more = static_cast<std::uint64_t>(amount);
    if (&block == &late_counters) [[unlikely]]
        value.fetch_add(more, std::memory_order_relaxed);
    else
        value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace ingot::runtime
