// See unowned.hpp.
#include "runtime/device/unowned.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "runtime/device/ipc.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/pending_work.hpp"
#include "runtime/device/stream.hpp"
#include "runtime/system/per_thread.hpp"

namespace ingot {
namespace runtime {

namespace {

/// A buffer with room for the records that are made when it is dropped.
struct unowned_block : buffer {
    pending_work awaited;
    unowned_block* next = nullptr;
};

constinit std::atomic<unowned_block*> put_aside{nullptr};
constinit std::atomic<bool> process_ends{false};

/// A few spare control blocks of a thread: importing foreign memory then allocates nothing.
struct spare_blocks {
    static constexpr int most = 8;
    unowned_block* first = nullptr;
    int count = 0;

    unowned_block* take() noexcept {
        if (first == nullptr) return nullptr;
        --count;
        return std::exchange(first, first->next);
    }
    bool put(unowned_block* b) noexcept {
        if (count == most) return false;
        ++count;
        b->next = std::exchange(first, b);
        return true;
    }
    void leave() noexcept {
        while (unowned_block* const b = take()) delete b;
    }
};

unowned_block* make_block() {
    unowned_block* const spare = per_thread<spare_blocks>::own().take();
    if (spare == nullptr) return new unowned_block;
    pending_work room = std::move(spare->awaited);  // empty, but keeps its memory
    std::destroy_at(spare);
    auto* const fresh = ::new (spare) unowned_block;  // construct_at would fill it with zeros first
    fresh->awaited = std::move(room);
    return fresh;
}

void end_block(unowned_block* b) noexcept {
    spare_blocks* const spares = per_thread<spare_blocks>::own_if_any();
    if (spares == nullptr || !spares->put(b)) delete b;
}

/// `end` may run any code, and may drop another such buffer.
void finish(unowned_block* b) noexcept {
    b->end(b->end_argument);
    end_block(b);
}

void push(unowned_block* b) noexcept {
    b->next = put_aside.load(std::memory_order_relaxed);
    while (!put_aside.compare_exchange_weak(b->next, b, std::memory_order_release, std::memory_order_relaxed)) continue;
}

/// Whether no stream uses the memory any more; with `waiting`, waits for them.
bool is_out_of_use(unowned_block& b, bool waiting) noexcept try {
    if (waiting) b.awaited.wait();
    return b.awaited.is_over();
} catch (...) {  // the driver is gone, and with it all work
    return true;
}

void end_put_aside(bool waiting) noexcept {
    if (put_aside.load(std::memory_order_relaxed) == nullptr) return;
    unowned_block* b = put_aside.exchange(nullptr, std::memory_order_acquire);
    while (b != nullptr) {
        unowned_block* const next = b->next;
        if (is_out_of_use(*b, waiting))
            finish(b);
        else
            push(b);
        b = next;
    }
}

void end_all() {
    process_ends = true;  // buffers dropped from here on are waited for at once
    end_put_aside(true);
}

/// Notes the present work of the streams that use the memory. Where there is no memory for an event, waits for the
/// stream.
void await_users(unowned_block& b) noexcept try {
    const auto add = [&](const stream_state& s) {
        try {
            b.awaited.add(s);
        } catch (const std::bad_alloc&) {
            wait_on_host(s);
        }
    };
    const stream_index writer = b.writer.load(std::memory_order_relaxed);
    if (writer != no_stream) add(stream_at(writer));
    for_each_reader(b.readers.load(std::memory_order_acquire), [&](const stream_state& r) {
        if (r.index != writer) add(r);
    });
} catch (...) {  // the driver is gone
}

}  // namespace

void release_unowned(buffer& freed) noexcept {
    auto* const b = static_cast<unowned_block*>(&freed);
    release_finished_unowned();
    if (b->end == nullptr) return end_block(b);
    await_users(*b);
    if (is_out_of_use(*b, process_ends)) return finish(b);
    [[maybe_unused]] static const int at_exit = std::atexit(end_all);
    push(b);
}

void release_finished_unowned() noexcept {
    end_put_aside(false);
    release_finished_exports();
}

}  // namespace runtime

detail::buffer_ref detail::unowned_buffer(void* data, std::size_t bytes, detail::device_id device, void (*end)(void*),
                                          void* end_argument) {
    auto* const b = runtime::make_block();
    b->device = device;
    b->unowned = true;
    b->data = data;
    b->bytes = b->capacity = bytes;
    b->end = end;
    b->end_argument = end_argument;
    b->references.store(1, std::memory_order_relaxed);
    return buffer_ref::adopt(b);
}

}  // namespace ingot
