// See pool.hpp.
#include "runtime/device/pool.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include <ingot/core/error.hpp>
#include "runtime/device/device.hpp"
#include "runtime/device/front_cache.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/unowned.hpp"
#include "runtime/system/counters.hpp"
#include "runtime/system/log.hpp"
#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

namespace {

constexpr std::size_t largest_step = std::size_t{2} << 20;
constexpr std::size_t smallest_chunk = std::size_t{64} << 10;
constexpr std::size_t class_chunk = std::size_t{2} << 20;

/// Enough pieces to make a call of the device worth while, but only a small part of its memory.
std::uint32_t pieces_of_chunk(std::size_t capacity, std::size_t whole_memory) {
    if (capacity > largest_class) return 1;
    const std::size_t bytes = std::min(std::clamp(capacity * 16, smallest_chunk, class_chunk), whole_memory / 64);
    return static_cast<std::uint32_t>(std::max<std::size_t>(bytes / capacity, 1));
}

/// The largest block that may serve a request of this size.
std::size_t largest_fit(std::size_t capacity) { return capacity + capacity / 4; }

constexpr unsigned char guard_byte = 0xa5;

std::string in_bytes(std::size_t n) { return std::to_string(n) + " bytes"; }

}  // namespace

std::size_t block_capacity(std::size_t bytes) noexcept {
    if (bytes > 4 * largest_step) return (bytes + largest_step - 1) / largest_step * largest_step;
    return class_bytes(size_class_of(bytes));
}

pool::pool(device_id device, backend& backend, const pool_options& options)
    : device_(device), backend_(backend), options_(options), device_memory_(backend.memory().total) {}

buffer_ref pool::allocate(std::size_t bytes, stream_state& stream) {
    buffer* b = nullptr;
    const std::size_t size_class = size_class_of(bytes);
    if (size_class < size_classes && stream.pool == this && options_.guard_bytes == 0) {
        front_cache& front = per_thread<thread_cache>::own().front(stream.index);
        if (!front.serves(stream.index)) [[unlikely]] {
            front.collect([](buffer& other) { other.chunk->pool->return_block(other); });
            front.serve(stream.index);
        }
        b = front.take(size_class);
        while (b && is_stale(*b)) [[unlikely]] {
            return_block(*b);
            b = front.take(size_class);
        }
    }
    if (!b) b = allocate_behind_front(bytes, stream);
    b->bytes = bytes;
    add(counter::bytes_allocated, static_cast<std::int64_t>(bytes));
    add(counter::bytes_in_use, static_cast<std::int64_t>(bytes));
    b->externally_visible = false;
    b->references.store(1, std::memory_order_relaxed);
    return buffer_ref::adopt(b);
}

buffer_ref pool::allocate_permanent(std::size_t bytes, stream_state& stream) {
    if (source_number_.load(std::memory_order_relaxed) == 0)
        if (buffer_ref made = allocate(bytes, stream); made->chunk->source.number() == 0) return made;
    const memory_log deferred_log;
    void* data = backend_.allocate(bytes);
    if (!data) {
        free_all_blocks();
        data = backend_.allocate(bytes);
    }
    if (!data) throw_out_of_memory(bytes);
    memory_log::add(log_kind::allocation, bytes, "", device_);
    buffer_ref made = unowned_buffer(data, bytes, device_);
    made->writer.store(stream.index, std::memory_order_relaxed);
    return made;
}

void pool::release(buffer& b) noexcept {
    add(counter::bytes_in_use, -static_cast<std::int64_t>(b.bytes));
    thread_cache* const cache = per_thread<thread_cache>::own_if_any();
    if (b.size_class < size_classes && b.readers.load(std::memory_order_relaxed) == 0 && cache) {
        const stream_index home = b.writer.load(std::memory_order_relaxed);
        front_cache& front = cache->front(home);
        if (front.serves(home) && stream_at(home).pool == this && options_.guard_bytes == 0 && !is_stale(b) &&
            front.put(b))
            return;
    }
    if (options_.guard_bytes) check_guards(b);
    return_block(b);
}

pool_block* pool::allocate_behind_front(std::size_t bytes, const stream_state& s) {
    if (bytes > SIZE_MAX / 2) throw_out_of_memory(bytes);
    const std::size_t capacity = block_capacity(bytes + 2 * options_.guard_bytes);
    release_finished_unowned();
    const memory_log deferred_log;
    std::unique_lock lock(mutex_);
    if (!held_.empty()) collect_held(false);
    pool_block* b = take_from_home(capacity, s);
    if (!b) b = take_from_others(capacity, s, false);
    if (!b) b = grow(capacity, s);
    if (!b) {
        lock.unlock();
        collect_fronts();
        lock.lock();
        collect_held(true);
        b = take_from_home(capacity, s);
    }
    if (!b) b = take_from_others(capacity, s, true);
    if (!b && options_.is_permanent) {  // the cached memory is in the device's own pool
        lock.unlock();
        state_of(device_).pool->free_all_blocks();
        lock.lock();
        b = grow(capacity, s);
    } else if (!b) {
        give_back();
        b = grow(capacity, s);
    }
    if (!b) b = take_from_others(capacity, s, true, SIZE_MAX);  // only pieces of chunks are left: any size will do
    if (!b) {
        lock.unlock();
        throw_out_of_memory(bytes);
    }
    lock.unlock();
    b->writer.store(s.index, std::memory_order_relaxed);
    b->bytes = bytes;
    if (options_.guard_bytes) try {
            write_guards(*b, s);
        } catch (...) {
            return_block(*b);
            throw;
        }
    return b;
}

free_map::iterator pool::find_fitting(free_home home, std::size_t least, std::size_t most) {
    const auto found = free_.lower_bound({home, least});
    const bool fits = found != free_.end() && found->first <= std::pair{home, most};
    return fits ? found : free_.end();
}

pool_block* pool::take(free_map::iterator at) noexcept {
    pool_block* const b = at->second;
    b->node = free_.extract(at);
    --b->chunk->free;
    free_bytes_ -= b->capacity;
    return b;
}

pool_block* pool::take_from_home(std::size_t capacity, const stream_state& s) {
    const auto found = find_fitting({source_.number(), s.index}, capacity, largest_fit(capacity));
    return found == free_.end() ? nullptr : take(found);
}

/// Takes a block from an idle stream; with `waiting`, from any stream, after its present work.
pool_block* pool::take_from_others(std::size_t capacity, const stream_state& s, bool waiting, std::size_t most) {
    const std::uint64_t source = source_.number();
    for (auto at = free_.lower_bound({free_home{source, 0}, 0}); at != free_.end() && at->first.first.source == source;
         at = free_.upper_bound({at->first.first, SIZE_MAX})) {
        const auto found = find_fitting(at->first.first, capacity, std::max(most, largest_fit(capacity)));
        if (found == free_.end()) continue;
        const stream_state& home = stream_at(at->first.first.stream);
        if (waiting)
            wait_for_stream(s, home);
        else if (!home.synchronous && !is_idle(home))
            continue;
        return take(found);
    }
    return nullptr;
}

pool_block* pool::grow(std::size_t capacity, const stream_state& s) {
    const std::uint32_t pieces = pieces_of_chunk(capacity, limit_ ? limit_ : device_memory_);
    for (const std::uint32_t n : {pieces, std::uint32_t{1}})
        if (pool_block* b = cut(capacity * n, capacity, n, s)) return b;
    return nullptr;
}

/// A new chunk; null when there is no memory for it. The first piece goes to the caller, the others are free.
pool_block* pool::cut(std::size_t bytes, std::size_t capacity, std::uint32_t pieces, const stream_state& s) {
    if (limit_ != 0 && (bytes > limit_ || total_ > limit_ - bytes)) return nullptr;
    auto made = std::make_unique<chunk>();
    made->blocks = std::make_unique<pool_block[]>(pieces);
    for (std::uint32_t i = 0; i < pieces; ++i) {
        free_map alone;
        made->blocks[i].node = alone.extract(alone.emplace(free_map::key_type{}, &made->blocks[i]));
    }
    void* const base = allocate_raw(bytes, s);
    if (!base) return nullptr;
    memory_log::add(log_kind::allocation, bytes, origin(source_), device_);
    chunk& c = *made.release();  // owned by its pieces: give_back deletes it with the last
    c.pool = this;
    c.source = source_;
    c.base = base;
    c.bytes = bytes;
    c.pieces = pieces;
    total_ += bytes;
    const std::size_t size_class = size_class_of(capacity);
    for (std::uint32_t i = 0; i < pieces; ++i) {
        pool_block& b = c.blocks[i];
        b.device = device_;
        b.pinned = options_.pinned;
        b.data = static_cast<char*>(base) + i * capacity + options_.guard_bytes;
        b.capacity = capacity;
        b.size_class = size_class < size_classes ? static_cast<std::uint8_t>(size_class) : no_class;
        b.chunk = &c;
        b.writer.store(s.index, std::memory_order_relaxed);
        if (i > 0) put(b);
    }
    return &c.blocks[0];
}

void pool::put(pool_block& b) noexcept {
    ++b.chunk->free;
    free_bytes_ += b.capacity;
    const std::pair key{free_home{b.chunk->source.number(), b.writer.load(std::memory_order_relaxed)}, b.capacity};
    b.node.key() = key;
    free_.insert(free_.lower_bound(key), std::move(b.node));  // before its equals: the latest is taken first
}

namespace {

/// Notes the present work of the streams that read the block, except its home, which is in order. If that fails,
/// readers stay marked in the block, to be noted later.
void await_readers(pool_block& b) {
    for_each_reader(b.readers.load(std::memory_order_acquire), [&](const stream_state& r) {
        if (r.index != b.writer.load(std::memory_order_relaxed)) b.awaited.add(r);
    });
    b.readers.store(0, std::memory_order_relaxed);
}

/// Whether all streams that read a held block have passed; with `waiting`, waits until they have.
bool have_readers_finished(pool_block& b, bool waiting) {
    try {
        if (b.readers.load(std::memory_order_relaxed) != 0) await_readers(b);
    } catch (const std::bad_alloc&) {  // the host's memory is full: waiting needs none
        if (!waiting) return false;
        for_each_reader(b.readers.load(std::memory_order_relaxed), [](const stream_state& r) { wait_on_host(r); });
        b.readers.store(0, std::memory_order_relaxed);
    }
    if (waiting) b.awaited.wait();
    return b.awaited.is_over();
}

}  // namespace

/// Files a block under its home, at once or when the other streams that read it have passed this point.
void pool::return_block(buffer& freed) noexcept {
    auto& b = static_cast<pool_block&>(freed);
    if (b.readers.load(std::memory_order_relaxed) != 0) try {
            await_readers(b);
        } catch (...) {  // out of host memory, or the driver is gone: tried again when blocks are needed
        }
    const memory_log deferred_log;
    const std::lock_guard lock(mutex_);
    if (b.readers.load(std::memory_order_relaxed) == 0 && b.awaited.empty()) try {
            return put_back(b);
        } catch (...) {  // the block is filed, and the driver is gone
            return;
        }
    held_.push_back(b);
    free_bytes_ += b.capacity;
}

/// Checks a few held blocks, so that an allocation costs the same however many there are; with `waiting`, all.
void pool::collect_held(bool waiting) {
    for (std::size_t n = waiting ? held_.size() : std::min<std::size_t>(held_.size(), 8); n > 0; --n) {
        pool_block& b = held_.pop_front();
        bool passed = false;
        try {
            passed = have_readers_finished(b, waiting);
        } catch (...) {
            held_.push_back(b);
            throw;
        }
        if (!passed) {
            held_.push_back(b);
            continue;
        }
        free_bytes_ -= b.capacity;
        put_back(b);
    }
}

/// Files a block. A chunk of a replaced allocator is given back with its last block.
void pool::put_back(pool_block& b) {
    put(b);
    if (is_stale(b) && b.chunk->free == b.chunk->pieces) give_back(false);
}

/// Called without the mutex, because a front cache may pass to a stream of another pool at any time.
void pool::collect_fronts() noexcept {
    per_thread<thread_cache>::for_each([](thread_cache& of_a_thread) { of_a_thread.collect_blocks(); });
}

/// Gives back every chunk that is wholly free, after the work of the streams that used it. Without `all`, only chunks
/// of replaced allocators.
void pool::give_back(bool all) {
    stream_index waited_for = no_stream;
    for (const auto& [key, b] : free_) {  // in the order of their homes
        b->chunk->is_given_back = b->chunk->free == b->chunk->pieces && (all || is_stale(*b));
        if (!b->chunk->is_given_back || key.first.stream == waited_for) continue;
        wait_on_host(stream_at(waited_for = key.first.stream));
    }
    for (auto at = free_.begin(); at != free_.end();) {
        chunk& c = *at->second->chunk;
        if (!c.is_given_back) {
            ++at;
            continue;
        }
        free_bytes_ -= at->second->capacity;
        at = free_.erase(at);
        if (--c.free != 0) continue;
        release_raw(c);
        total_ -= c.bytes;
        delete &c;
    }
}

void pool::free_all_blocks() {
    collect_fronts();
    const memory_log deferred_log;
    const std::lock_guard lock(mutex_);
    collect_held(true);
    give_back();
}

allocator pool::set_source(allocator next) {
    const memory_log deferred_log;
    collect_fronts();
    {
        const std::lock_guard lock(mutex_);
        collect_held(true);
        give_back();
        source_number_.store(next.number(), std::memory_order_relaxed);
        std::swap(source_, next);
    }
    collect_fronts();  // blocks that threads have put there meanwhile
    return next;
}

pool_usage pool::usage() const {
    const std::lock_guard lock(mutex_);
    pool_usage u{total_, free_bytes_, free_.size() + held_.size()};
    per_thread<thread_cache>::for_each([&](const thread_cache& cache) {
        for (const front_cache& front : cache.fronts) {
            if (front.stream() == no_stream || stream_at(front.stream()).pool != this) continue;
            front.count([&](std::size_t size_class) {
                u.free += class_bytes(size_class);
                ++u.free_blocks;
            });
        }
    });
    u.free = std::min(u.free, u.total);  // blocks may move while they are counted
    return u;
}

void pool::set_limit(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    limit_ = bytes;
}

std::size_t pool::limit() const {
    const std::lock_guard lock(mutex_);
    return limit_;
}

void pool::throw_out_of_memory(std::size_t bytes) const {
    const pool_usage u = usage();
    const memory_info device = backend_.memory();
    throw out_of_memory("[allocate] out of memory on " + (options_.pinned ? "pinned host" : to_string(device_)) + ": " +
                        in_bytes(bytes) + " wanted, " + in_bytes(u.used()) + " in use, " + in_bytes(u.free) +
                        " cached in pieces" + (limit() ? ", the pool's limit is " + in_bytes(limit()) : "") +
                        ", the device has " + in_bytes(device.free) + " free of " + in_bytes(device.total));
}

namespace {

void* handle_of(native_stream s) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(s)); }

}  // namespace

void* pool::allocate_raw(std::size_t bytes, const stream_state& s) {
    if (source_.number() == 0) return options_.pinned ? backend_.allocate_pinned(bytes) : backend_.allocate(bytes);
    void* data = nullptr;
    try {
        data = source_.allocate(bytes, allocator::alignment, handle_of(s.native));
    } catch (const std::bad_alloc&) {  // as null: the pool gives back chunks and tries again
    }
    if (reinterpret_cast<std::uintptr_t>(data) % allocator::alignment == 0) return data;
    source_.deallocate(data, bytes, allocator::alignment, handle_of(s.native));
    throw device_error("[allocate] the allocator of " + to_string(device_) + " gave memory that is not aligned to " +
                       in_bytes(allocator::alignment));
}

/// No stream uses the chunk any more. The allocator gets the default stream, which certainly exists.
void pool::release_raw(const chunk& c) noexcept {
    memory_log::add(log_kind::deallocation, c.bytes, origin(c.source), device_);
    if (c.source.number() != 0)
        return c.source.deallocate(c.base, c.bytes, allocator::alignment,
                                   handle_of(state_of(device_).default_stream->native));
    options_.pinned ? backend_.release_pinned(c.base, c.bytes) : backend_.release(c.base, c.bytes);
}

// ---- Guard bands: the granule before a buffer, and the one behind its last requested byte.

void pool::write_guards(buffer& b, const stream_state& s) {
    const auto fill = [&](void* at) {
        if (options_.pinned || backend_.host_accessible())
            std::memset(at, guard_byte, options_.guard_bytes);
        else
            backend_.fill(at, guard_byte, options_.guard_bytes, s.native);
    };
    char* const data = static_cast<char*>(b.data);
    fill(data - options_.guard_bytes);
    fill(data + b.bytes);
}

void pool::check_guards(const buffer& b) noexcept try {
    const stream_state& home = stream_at(b.writer.load(std::memory_order_relaxed));
    if (home.capture.load(std::memory_order_relaxed) != nullptr) return;
    wait_on_host(home);
    const native_stream stream = options_.pinned ? home.native : state_of(device_).default_stream->native;
    std::vector<unsigned char> seen(options_.guard_bytes);
    const auto whole = [&](const char* at) {
        if (options_.pinned || backend_.host_accessible()) {
            std::memcpy(seen.data(), at, seen.size());
        } else {
            backend_.copy(seen.data(), at, seen.size(), copy_direction::to_host, stream);
            backend_.synchronize(stream);
        }
        return std::all_of(seen.begin(), seen.end(), [](unsigned char c) { return c == guard_byte; });
    };
    const char* const data = static_cast<const char*>(b.data);
    const bool before = whole(data - options_.guard_bytes), behind = whole(data + b.bytes);
    if (before && behind) return;
    const std::lock_guard lock(mutex_);
    broken_ = "[release] a kernel wrote " + std::string(before ? "beyond the end" : "before the beginning") +
              " of a buffer of " + in_bytes(b.bytes) + " on " + to_string(device_);
    guards_broken_.store(true, std::memory_order_release);
} catch (...) {  // the driver is gone: nothing can be checked
}

void pool::throw_broken_guards() {
    if (!guards_broken_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    if (guards_broken_.exchange(false)) throw device_error(broken_);
}

}  // namespace ingot::runtime
