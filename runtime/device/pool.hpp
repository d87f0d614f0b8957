// The stream-ordered pool of one device, or of page-locked memory.
//
// A free block stays with its home, the stream that wrote it last: that stream may reuse it at once, because its work
// is in order. Another stream gets it when the home is idle, or, when memory is short, by waiting for the home. A block
// that other streams still read when it is freed is held back until their events have passed.
//
// Blocks up to 1 MiB are cut from chunks of their size class. Larger ones are an allocation each, reused by best fit
// with at most a quarter wasted. Large blocks are never split: a small live piece would keep the whole from the device,
// and a full device needs whole cached blocks back.
//
// Memory comes from the device or a user's allocator. A chunk remembers its allocator and returns to it. After the
// allocator is replaced, the chunk's blocks are not reused, and the chunk goes back as soon as it is wholly free.
//
// Before the mutex stands a front cache for each thread and stream (front_cache.hpp).
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include <ingot/core/memory.hpp>
#include "runtime/device/backend.hpp"
#include "runtime/device/pending_work.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::runtime {

inline constexpr std::size_t block_granule = 512;

/// Debug builds put a band of a known pattern before and behind every buffer and check it on release.
inline constexpr std::size_t default_guard_bytes =
#if INGOT_DEBUG
    block_granule;
#else
    0;
#endif

struct pool_options {
    bool pinned = false;
    bool is_permanent = false;                      // never given back when memory is short: graphs use it
    std::size_t guard_bytes = default_guard_bytes;  // 0, or a multiple of the granule
};

/// Bytes taken from the device, the free bytes among them, and the number of free blocks.
struct pool_usage {
    std::size_t total, free, free_blocks;
    std::size_t used() const noexcept { return total - free; }
};

/// The number of a free block's allocator, and its home.
struct free_home {
    std::uint64_t source = 0;  // 0: the backend
    stream_index stream = no_stream;
    friend auto operator<=>(const free_home&, const free_home&) = default;
};

struct pool_block;
using free_map = std::multimap<std::pair<free_home, std::size_t>, pool_block*>;  // by home and capacity

/// A pool's buffer with room for the pool's records while it is free: releasing a block allocates nothing and cannot
/// fail.
struct pool_block : buffer {
    free_map::node_type node;  // in the map while the block is in it, else here
    pending_work awaited;      // by streams that still read it
    pool_block* next_held = nullptr;
};
static_assert(sizeof(pool_block) == sizeof(buffer));  // its records lie in the buffer's tail padding

/// An allocation and the control blocks of the pieces into which it is cut.
struct chunk {
    runtime::pool* pool;
    allocator source;  // empty: the backend
    void* base;
    std::size_t bytes;
    std::uint32_t pieces;
    std::uint32_t free = 0;      // pieces in the pool; those in use or in a front cache do not count
    bool is_given_back = false;  // set by give_back
    std::unique_ptr<pool_block[]> blocks;
};

class pool {
public:
    pool(device_id device, backend& backend, const pool_options& options = {});

    /// A buffer with one reference, for the stream. Throws out_of_memory.
    buffer_ref allocate(std::size_t bytes, stream_state& stream);
    /// A buffer that a stream keeps for ever; it never comes from a user's allocator.
    buffer_ref allocate_permanent(std::size_t bytes, stream_state& stream);
    /// Takes back a buffer without references.
    void release(buffer&) noexcept;
    /// Files a free block that was in a front cache.
    void return_block(buffer&) noexcept;

    pool_usage usage() const;
    void free_all_blocks();
    /// Sets the allocator of new chunks (empty: the backend), and returns the previous one. All free chunks are given
    /// back.
    allocator set_source(allocator);
    void set_limit(std::size_t bytes);
    std::size_t limit() const;

    /// Throws device_error when a buffer that was released since the last call had been written beyond its ends.
    void throw_broken_guards();

    /// For fork: the child must not inherit a mutex that a thread of the parent had locked.
    std::mutex& mutex() noexcept { return mutex_; }

private:
    /// Blocks that become free once the streams that read them have passed, in order of release.
    class held_blocks {
    public:
        bool empty() const noexcept { return first_ == nullptr; }
        std::size_t size() const noexcept { return size_; }
        void push_back(pool_block& b) noexcept {
            b.next_held = nullptr;
            (first_ ? last_->next_held : first_) = &b;
            last_ = &b;
            ++size_;
        }
        pool_block& pop_front() noexcept {
            --size_;
            return *std::exchange(first_, first_->next_held);
        }

    private:
        pool_block *first_ = nullptr, *last_ = nullptr;
        std::size_t size_ = 0;
    };

    pool_block* allocate_behind_front(std::size_t bytes, const stream_state&);
    pool_block* take_from_home(std::size_t capacity, const stream_state&);
    pool_block* take_from_others(std::size_t capacity, const stream_state&, bool waiting, std::size_t most = 0);
    free_map::iterator find_fitting(free_home, std::size_t least, std::size_t most);
    pool_block* take(free_map::iterator) noexcept;
    pool_block* grow(std::size_t capacity, const stream_state&);
    pool_block* cut(std::size_t bytes, std::size_t capacity, std::uint32_t pieces, const stream_state&);
    void collect_fronts() noexcept;
    void collect_held(bool waiting);
    void put(pool_block&) noexcept;
    void put_back(pool_block&);
    void give_back(bool all = true);
    /// Whether the block comes from an allocator that has been replaced.
    bool is_stale(const buffer& b) const noexcept {
        return b.chunk->source.number() != source_number_.load(std::memory_order_relaxed);
    }
    [[noreturn]] void throw_out_of_memory(std::size_t bytes) const;

    const char* origin(const allocator& of) const noexcept {  // as the memory log prints it
        return of.number() != 0 ? "the allocator of " : options_.pinned ? "pinned memory of " : "";
    }
    void* allocate_raw(std::size_t bytes, const stream_state&);
    void release_raw(const chunk&) noexcept;

    void write_guards(buffer&, const stream_state&);
    void check_guards(const buffer&) noexcept;

    device_id device_;
    backend& backend_;
    pool_options options_;
    std::size_t device_memory_;
    mutable std::mutex mutex_;
    free_map free_;
    held_blocks held_;
    allocator source_;
    std::atomic<std::uint64_t> source_number_{0};  // its number, readable without the mutex
    std::size_t total_ = 0;
    std::size_t free_bytes_ = 0;  // in free_ and held_
    std::size_t limit_ = 0;
    std::atomic<bool> guards_broken_{false};
    std::string broken_;  // under the mutex
};

/// Size of the block that serves a request: at most a quarter larger, and at most 2 MiB larger.
std::size_t block_capacity(std::size_t bytes) noexcept;

}  // namespace ingot::runtime
