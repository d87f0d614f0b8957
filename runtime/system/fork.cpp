// See fork.hpp.
#include "runtime/system/fork.hpp"

#include <pthread.h>

#include <atomic>
#include <functional>
#include <utility>

namespace ingot::runtime {

namespace {

struct held_mutex {
    mutex_rank what;
    std::function<void()> lock, unlock, unlock_in_child;
    const held_mutex* next;
};

constinit std::atomic<const held_mutex*> all{nullptr};
constinit thread_local const held_mutex* locked = nullptr;  // the mutexes that existed when the fork began

void lock_all() {
    locked = all.load(std::memory_order_acquire);
    for (int what = 0; what <= static_cast<int>(mutex_rank::warnings); ++what)
        for (const held_mutex* m = locked; m != nullptr; m = m->next)
            if (static_cast<int>(m->what) == what) m->lock();
}

void unlock_all() {
    for (const held_mutex* m = locked; m != nullptr; m = m->next) m->unlock();
}

void unlock_all_in_child() {
    for (const held_mutex* m = locked; m != nullptr; m = m->next) m->unlock_in_child();
}

}  // namespace

void lock_across_fork(mutex_rank what, std::function<void()> lock, std::function<void()> unlock,
                      std::function<void()> unlock_in_child) {
    static const int once = pthread_atfork(lock_all, unlock_all, unlock_all_in_child);
    static_cast<void>(once);
    auto* const m = new held_mutex{what, std::move(lock), std::move(unlock), std::move(unlock_in_child), all.load()};
    while (!all.compare_exchange_weak(m->next, m)) continue;
}

std::mutex& lock_across_fork(mutex_rank what, std::mutex& mutex) {
    const auto unlock = [&mutex] { mutex.unlock(); };
    lock_across_fork(what, [&mutex] { mutex.lock(); }, unlock, unlock);
    return mutex;
}

}  // namespace ingot::runtime
