#include "runtime/system/counters.hpp"

#include <new>

namespace ingot::runtime {

namespace {

constinit counter_block shared;  // for threads whose own block could not be allocated

std::uint64_t total(counter which) {
    const auto index = static_cast<std::size_t>(which);
    std::uint64_t sum = shared.values[index].load(std::memory_order_relaxed);
    per_thread<counter_block>::for_each(
        [&](const counter_block& block) { sum += block.values[index].load(std::memory_order_relaxed); });
    return sum;
}

}  // namespace

void add_first(counter which, std::int64_t amount) noexcept {
    try {
        per_thread<counter_block>::own().add(which, amount);
    } catch (const std::bad_alloc&) {
        shared.values[static_cast<std::size_t>(which)].fetch_add(static_cast<std::uint64_t>(amount),
                                                                 std::memory_order_relaxed);
    }
}

}  // namespace ingot::runtime

namespace ingot {

counter_values counters() {
    using runtime::counter;
    using runtime::total;
    return {
        .compiles = total(counter::compiles),
        .disk_cache_hits = total(counter::disk_cache_hits),
        .kernel_launches = total(counter::kernel_launches),
        .library_calls = total(counter::library_calls),
        .bytes_allocated = total(counter::bytes_allocated),
        .bytes_in_use = total(counter::bytes_in_use),
        .interpreter_runs = total(counter::interpreter_runs),
    };
}

}  // namespace ingot
