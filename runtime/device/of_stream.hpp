// An object for each stream: a library's handle, or its plans, which belong to one stream.
#pragma once

#include <array>
#include <atomic>
#include <memory>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// The stream's T, which its first user makes. It is never destroyed, as the stream's entry is not: a later stream
/// takes over both. Finding it takes no lock, so that a fork has none to hold.
template <class T>
T& of_stream(const stream_state& stream) {
    static constinit std::array<std::atomic<T*>, max_streams> all{};
    std::atomic<T*>& own = all[stream.index];
    T* known = own.load(std::memory_order_acquire);
    if (known != nullptr) [[likely]]
        return *known;
    auto made = std::make_unique<T>();
    return own.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel) ? *made.release() : *known;
}

}  // namespace ingot::runtime
