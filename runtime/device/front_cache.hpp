// The pool's front cache: a thread's own few free blocks of each size class, for the streams on which it works. Taking
// and putting a block needs no lock. Only the owner puts and any thread may take: an atomic exchange decides which one
// gets the block. So the pool can count and collect the blocks without stopping threads.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Classes of 512, 1024, 1536 and 2048 bytes, then four for each octave up to 1 MiB.
inline constexpr std::size_t size_classes = 40;
inline constexpr std::size_t largest_class = std::size_t{1} << 20;
inline constexpr std::uint8_t no_class = 0xff;

constexpr std::size_t size_class_of(std::size_t bytes) noexcept {
    const std::size_t last = bytes == 0 ? 0 : (bytes - 1) / 512;  // number of the last granule
    if (last < 4) return last;
    const auto shift = static_cast<std::size_t>(std::bit_width(last)) - 3;
    return shift * 4 + (last >> shift);
}
constexpr std::size_t class_bytes(std::size_t size_class) noexcept {
    if (size_class < 4) return (size_class + 1) * 512;
    return (size_class % 4 + 5) << (size_class / 4 - 1) << 9;
}
static_assert(size_class_of(largest_class) == size_classes - 1 && class_bytes(size_classes - 1) == largest_class);

/// The cache of one thread for one stream.
class front_cache {
public:
    static constexpr std::size_t depth = 8;

    bool serves(stream_index s) const noexcept { return stream_.load(std::memory_order_relaxed) == s; }
    stream_index stream() const noexcept { return stream_.load(std::memory_order_relaxed); }

    /// For the owner: a block of that class, or null.
    buffer* take(std::size_t size_class) noexcept {
        std::uint8_t& top = top_[size_class];
        while (top > 0)
            if (buffer* b = slots_[size_class][--top].exchange(nullptr, std::memory_order_acquire)) return b;
        return nullptr;
    }
    /// For the owner: false when the class is full.
    bool put(buffer& b) noexcept {
        std::uint8_t& top = top_[b.size_class];
        if (top == depth) return false;
        slots_[b.size_class][top++].store(&b, std::memory_order_release);
        return true;
    }
    /// For the owner, on an empty cache.
    void serve(stream_index s) noexcept { stream_.store(s, std::memory_order_relaxed); }

    /// For any thread: calls f(block) for every block, which then belongs to the caller.
    template <class F>
    void collect(F&& f) noexcept {
        for (auto& slots : slots_)
            for (auto& slot : slots)
                if (slot.load(std::memory_order_relaxed))
                    if (buffer* b = slot.exchange(nullptr, std::memory_order_acquire)) f(*b);
    }
    /// For any thread: calls f(size class) for every block that is in the cache at this moment.
    template <class F>
    void count(F&& f) const {
        for (std::size_t c = 0; c < size_classes; ++c)
            for (const auto& slot : slots_[c])
                if (slot.load(std::memory_order_relaxed)) f(c);
    }

private:
    std::atomic<stream_index> stream_{no_stream};
    std::array<std::uint8_t, size_classes> top_{};
    std::array<std::array<std::atomic<buffer*>, depth>, size_classes> slots_{};
};

/// All front caches of a thread.
struct thread_cache {
    static constexpr std::size_t ways = 4;
    std::array<front_cache, ways> fronts;

    front_cache& front(stream_index s) noexcept { return fronts[s % ways]; }
    /// For any thread: returns all blocks to their pools.
    void collect_blocks() noexcept;
    void leave() noexcept { collect_blocks(); }
};

}  // namespace ingot::runtime
