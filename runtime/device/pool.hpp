// The stream-ordered pool of one device, or of page-locked memory.
//
// A free block stays with the stream that wrote it last, its home: that stream may have it again at once, for its work
// is in order. Another stream gets it when the home has nothing left to do, or by waiting for it when memory is short.
// A block that other streams still read when it is freed is held back until events of theirs have passed.
//
// Blocks up to 1 MiB are cut from chunks of their size class; larger ones are an allocation each, reused by best fit
// with at most a quarter wasted. Large blocks are never split: a small live piece would keep the whole from the device,
// and what a full device needs, giving everything cached back, works at once with whole blocks.
//
// Beneath it is the device's own memory or a user's allocator. A chunk keeps the one that made it and goes back to
// that; while another is in its place, its blocks serve nobody and go back as soon as the chunk is free as a whole.
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

/// Debug builds put a band of a known pattern before and behind every buffer and look at it on release.
inline constexpr std::size_t default_guard_bytes =
#if INGOT_DEBUG
    block_granule;
#else
    0;
#endif

struct pool_options {
    bool pinned = false;
    bool stays = false;                             // nothing is given back for want of memory: it is in graphs
    std::size_t guard_bytes = default_guard_bytes;  // 0, or a multiple of the granule
};

/// Bytes taken from the device, those of them kept for reuse, and in how many blocks.
struct pool_usage {
    std::size_t total, free, free_blocks;
    std::size_t used() const noexcept { return total - free; }
};

/// The allocator that a free block is of, by its number, and its home.
struct free_home {
    std::uint64_t source = 0;  // 0: the backend
    stream_index stream = no_stream;
    friend auto operator<=>(const free_home&, const free_home&) = default;
};

struct pool_block;
using free_map = std::multimap<std::pair<free_home, std::size_t>, pool_block*>;  // by home and capacity

/// A buffer of a pool, with room for what the pool notes of it while it is free: a block that comes back allocates
/// nothing, so that it cannot be lost.
struct pool_block : buffer {
    free_map::node_type node;  // in the map while the block is in it, else here
    pending_work awaited;      // of streams that still read it
    pool_block* next_held = nullptr;
};
static_assert(sizeof(pool_block) == sizeof(buffer));  // it lies where the buffer ends before its alignment does

/// An allocation of the backend and the control blocks of the pieces it was cut into.
struct chunk {
    runtime::pool* pool;
    allocator source;  // empty: the backend
    void* base;
    std::size_t bytes;
    std::uint32_t pieces;
    std::uint32_t free = 0;      // pieces in the pool, not in use nor in a front cache
    bool is_given_back = false;  // give_back's
    std::unique_ptr<pool_block[]> blocks;
};

class pool {
public:
    pool(device_id device, backend& backend, const pool_options& options = {});

    /// A buffer with one reference, for use on the stream. Throws out_of_memory.
    buffer_ref allocate(std::size_t bytes, stream_state& stream);
    /// The same for what a stream keeps for ever: never a user's allocator's.
    buffer_ref allocate_lasting(std::size_t bytes, stream_state& stream);
    /// Takes back a buffer without references.
    void release(buffer&) noexcept;
    /// Files a block that is free already and was in a front cache.
    void return_block(buffer&) noexcept;

    pool_usage usage() const;
    void free_all_blocks();
    /// What new chunks come from; the backend where it is empty. Returns what it was. All that is free is given back.
    allocator set_source(allocator);
    void set_limit(std::size_t bytes);
    std::size_t limit() const;

    /// Throws device_error when a buffer released since the last call had been written beyond its ends.
    void throw_broken_guards();

    /// For fork: the child must not inherit the mutex locked by a thread that it does not have.
    std::mutex& mutex() noexcept { return mutex_; }

private:
    /// Blocks that are free once the streams that read them have passed, in the order in which they came.
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
    /// Whether another allocator is in the place of that of the block.
    bool is_stale(const buffer& b) const noexcept {
        return b.chunk->source.number() != source_now_.load(std::memory_order_relaxed);
    }
    [[noreturn]] void throw_out_of_memory(std::size_t bytes) const;

    const char* origin(const allocator& of) const noexcept {  // as records have it
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
    std::atomic<std::uint64_t> source_now_{0};  // its number, without the mutex
    std::size_t total_ = 0;
    std::size_t free_bytes_ = 0;  // in free_ and held_
    std::size_t limit_ = 0;
    std::atomic<bool> guards_broken_{false};
    std::string broken_;  // under the mutex
};

/// Size of the block that serves so many bytes: at most a quarter more, and at most 2 MiB more.
std::size_t block_capacity(std::size_t bytes) noexcept;

}  // namespace ingot::runtime
