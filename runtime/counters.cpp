#include "runtime/counters.hpp"

namespace ingot::runtime {

thread_local constinit counter_block* my_counters = nullptr;
constinit counter_block late_counters;

namespace {

constinit std::atomic<counter_block*> all_blocks{&late_counters};

/// Offers the block to later threads when its thread ends. Destructors that run after it still count.
struct block_return {
    counter_block* block;
    ~block_return() {
        my_counters = &late_counters;
        block->taken.store(false, std::memory_order_release);
    }
};

counter_block& acquire_block() {
    for (counter_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
        if (!block->taken.exchange(true, std::memory_order_acq_rel)) return *block;
    }
    auto* const block = new counter_block;
    block->next = all_blocks.load(std::memory_order_relaxed);
    while (!all_blocks.compare_exchange_weak(block->next, block, std::memory_order_release)) {
    }
    return *block;
}

std::uint64_t total(counter which) {
    std::uint64_t sum = 0;
    for (counter_block* block = all_blocks.load(std::memory_order_acquire); block != nullptr; block = block->next) {
        sum += block->values[static_cast<std::size_t>(which)].load(std::memory_order_relaxed);
    }
    return sum;
}

}  // namespace

counter_block& attach_counters() {
    counter_block& block = acquire_block();
    my_counters = &block;
    thread_local const block_return at_thread_end{&block};
    return block;
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
