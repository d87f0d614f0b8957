// Counts the kernels of these tests: by keys that are new to the table, and by launches.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <vector>

#include <ingot/ingot.hpp>

#include "runtime/kernels/executable.hpp"

// The thread sanitizer ends children of a fork that start threads. The address sanitizer does not free its allocator's
// locks in a child, and a thread of the parent may hold one.
#if !defined(__has_feature)
#define __has_feature(sanitizer) 0
#endif
#if defined(__SANITIZE_THREAD__)
inline constexpr bool thread_sanitizer = true;
#else
inline constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool address_sanitizer = true;
#else
inline constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#endif

/// The keys that are new while it lives. One at a time.
class new_key_watch {
public:
    new_key_watch() {
        seen().clear();
        before() = ingot::runtime::observe_new_keys(see);
    }
    new_key_watch(const new_key_watch&) = delete;
    ~new_key_watch() { ingot::runtime::observe_new_keys(before()); }

    std::size_t count() const { return seen().size(); }

private:
    static void see(std::span<const std::uint32_t> key) {
        static std::mutex mutex;
        {
            const std::lock_guard guard(mutex);
            seen().emplace(key.begin(), key.end());
        }
        if (before()) before()(key);
    }
    static std::set<std::vector<std::uint32_t>>& seen() {
        static std::set<std::vector<std::uint32_t>> keys;
        return keys;
    }
    static ingot::runtime::key_observer& before() {
        static ingot::runtime::key_observer observer;
        return observer;
    }
};

/// The number of new kernels that `f` makes.
template <class F>
std::size_t new_kernels(F&& f) {
    const new_key_watch watch;
    f();
    return watch.count();
}

/// The number of kernels that `f` runs.
template <class F>
std::uint64_t launches(F&& f) {
    const std::uint64_t before = ingot::counters().kernel_launches;
    f();
    return ingot::counters().kernel_launches - before;
}
