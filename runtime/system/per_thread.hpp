// An object for each thread. It is made on the thread's first use, and passed on to a later thread when its thread has
// ended. No object is ever destroyed, so that destructors of the user's static and thread_local objects can use theirs,
// however late they run. Access costs the load of a pointer and a comparison with null.
#pragma once

#include <atomic>

#include "runtime/system/thread_exit.hpp"

namespace ingot::runtime {

/// If T has a function `leave() noexcept`, it is called when a thread has ended, before the object is passed on.
template <class T>
class per_thread {
public:
    /// The calling thread's object.
    static T& own() {
        if (T* const known = own_) [[likely]]
            return *known;
        return enter();
    }
    /// Null before the thread's first call of `own`.
    static T* own_if_any() noexcept { return own_; }
    /// Calls f(object) for the objects of all threads, and for those without a thread at present.
    template <class F>
    static void for_each(F&& f) {
        for (node* r = all_.load(std::memory_order_acquire); r != nullptr; r = r->next) f(r->value);
    }

private:
    struct node {
        T value{};
        thread_exit_hook at_exit{nullptr};
        std::atomic<bool> owned{true};
        node* next = nullptr;
    };

    [[gnu::noinline]] static T& enter() {
        node& r = adopt_or_make();
        own_node_ = &r;
        own_ = &r.value;
        r.at_exit.run = leave;
        at_thread_exit(r.at_exit);
        return r.value;
    }
    static node& adopt_or_make() {
        for (node* r = all_.load(std::memory_order_acquire); r != nullptr; r = r->next) {
            bool owned = false;
            if (r->owned.compare_exchange_strong(owned, true, std::memory_order_acquire)) return *r;
        }
        auto* const made = new node;
        made->next = all_.load(std::memory_order_relaxed);
        while (!all_.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed))
            continue;
        return *made;
    }
    static void leave(thread_exit_hook&) noexcept {
        node& r = *own_node_;
        own_ = nullptr;
        if constexpr (requires(T& value) { value.leave(); }) r.value.leave();
        r.owned.store(false, std::memory_order_release);
    }

    static inline constinit thread_local T* own_ = nullptr;
    static inline constinit thread_local node* own_node_ = nullptr;  // the node of own_
    static inline constinit std::atomic<node*> all_{nullptr};
};

}  // namespace ingot::runtime
