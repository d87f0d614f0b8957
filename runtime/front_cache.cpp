// See front_cache.hpp: whose cache is whose.
#include "runtime/front_cache.hpp"

#include "runtime/pool.hpp"

namespace ingot::runtime {

constinit thread_local thread_cache* cache_of_thread = nullptr;

namespace {

constinit std::atomic<thread_cache*> first{nullptr};
constinit thread_local bool ending = false;

/// Gives the thread's blocks to their pools when the thread ends.
struct thread_end {
    ~thread_end() {
        thread_cache* cache = std::exchange(cache_of_thread, nullptr);
        ending = true;
        for (front_cache& front : cache->fronts) front.collect([](buffer& b) { b.chunk->pool->release(b); });
        cache->owned.store(false, std::memory_order_release);
    }
};

thread_cache* adopt_or_make() {
    for (thread_cache* c = first.load(std::memory_order_acquire); c; c = c->next) {
        bool owned = false;
        if (c->owned.compare_exchange_strong(owned, true, std::memory_order_acquire)) return c;
    }
    auto* made = new thread_cache;
    made->next = first.load(std::memory_order_relaxed);
    while (!first.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return made;
}

}  // namespace

thread_cache* own_cache() {
    if (cache_of_thread == nullptr && !ending) {
        cache_of_thread = adopt_or_make();
        thread_local thread_end at_end;
        static_cast<void>(at_end);
    }
    return cache_of_thread;
}

thread_cache* first_cache() noexcept { return first.load(std::memory_order_acquire); }

}  // namespace ingot::runtime
