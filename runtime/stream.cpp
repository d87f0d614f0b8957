// The table of streams, and what streams and events do for a user.
#include "runtime/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>

#include <ingot/error.hpp>
#include "runtime/device.hpp"
#include "runtime/error_record.hpp"
#include "runtime/ordering.hpp"
#include "runtime/per_thread.hpp"
#include "runtime/unowned.hpp"

namespace ingot {
namespace runtime {

namespace {

constinit std::array<std::atomic<stream_state*>, max_streams> table{};
constinit std::atomic<stream_index> entries{0};
constinit std::mutex table_mutex;

/// A free entry of the device that has nothing left to do. Under the mutex.
stream_state* find_retired(const backend* device) {
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i) {
        stream_state& s = stream_at(i);
        if (s.backend == device && s.owners.load(std::memory_order_acquire) == 0 && s.backend->idle(s.native))
            return &s;
    }
    return nullptr;
}

}  // namespace

stream_state& stream_at(stream_index i) noexcept { return *table[i].load(std::memory_order_acquire); }
stream_index stream_count() noexcept { return entries.load(std::memory_order_acquire); }

std::mutex& stream_table_mutex() noexcept { return table_mutex; }

stream_state& acquire_stream(device_state& device) {
    const std::lock_guard lock(table_mutex);
    if (stream_state* retired = find_retired(device.backend.get())) {
        retired->owners.store(1, std::memory_order_relaxed);
        if (codegen::error_record* const left = retired->errors.load(std::memory_order_acquire)) clear(*left);
        return *retired;
    }
    const stream_index index = entries.load(std::memory_order_relaxed);
    if (index == max_streams)
        throw device_error("[stream] " + std::to_string(max_streams) + " streams are alive, more than can be had");
    auto made = std::make_unique<stream_state>();
    made->index = index;
    made->synchronous = device.backend->synchronous();
    made->own_bit = index < distinct_streams ? std::uint64_t{1} << index : 0;
    made->mark = index < distinct_streams ? made->own_bit : shared_bit;
    made->device = device.id;
    made->backend = device.backend.get();
    made->pool = device.pool.get();
    made->native = device.backend->create_stream();
    made->marker = device.backend->create_event(false);
    made->owners.store(1, std::memory_order_relaxed);
    table[index].store(made.get(), std::memory_order_release);
    entries.store(static_cast<stream_index>(index + 1), std::memory_order_release);
    return *made.release();
}

void keep_stream(stream_state& s) noexcept { s.owners.fetch_add(1, std::memory_order_relaxed); }
void drop_stream(stream_state& s) noexcept { s.owners.fetch_sub(1, std::memory_order_release); }

void synchronize(stream_state& s) {
    s.backend->synchronize(s.native);
    throw_reported(s);
}

void throw_reported(stream_state& s) {
    end_passed_unowned();
    s.pool->throw_broken_guards();
    if (codegen::error_record* const errors = s.errors.load(std::memory_order_acquire)) throw_recorded(*errors);
}

namespace {

struct host_scratch {
    std::vector<std::uint64_t> words;
};

}  // namespace

void* zeroed_scratch(stream_state& s, std::size_t bytes) {
    // A synchronous backend runs the work of several threads on one stream at the same time.
    if (s.synchronous) {
        std::vector<std::uint64_t>& own = per_thread<host_scratch>::own().words;
        const std::size_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
        if (own.size() < words) own.assign(std::bit_ceil(words), 0);
        return own.data();
    }
    const std::lock_guard lock(s.scratch_mutex);
    if (s.scratch.empty() || s.scratch.back()->bytes < bytes) {
        buffer_ref made = s.pool->allocate(std::bit_ceil(std::max<std::size_t>(bytes, 4096)), s);
        s.backend->fill(made->data, 0, made->bytes, s.native);
        s.scratch.push_back(std::move(made));
    }
    return s.scratch.back()->data;
}

}  // namespace runtime

stream::stream() : stream(current_device()) {}
stream::stream(device_id d) : state_(&runtime::acquire_stream(runtime::state_of(d))) {}
void stream::synchronize() const { runtime::synchronize(*state_); }
void stream::wait(const event& e) const {
    if (!e.backend_ || e.backend_->synchronous()) return;
    if (state_->synchronous)
        e.synchronize();
    else
        state_->backend->wait(state_->native, runtime::native_event{e.native_});
}
bool stream::done() const { return state_->backend->idle(state_->native); }
ingot::device stream::device() const { return state_->device; }

void synchronize() { runtime::synchronize(*runtime::current().stream); }

event::~event() {
    if (backend_) backend_->destroy_event(runtime::native_event{native_});
}

void event::record(const stream& s) {
    runtime::stream_state& state = s.state();
    if (backend_ != state.backend) {
        event fresh;
        fresh.native_ = static_cast<std::uintptr_t>(state.backend->create_event(true));
        fresh.backend_ = state.backend;
        *this = std::move(fresh);
    }
    backend_->record(runtime::native_event{native_}, state.native);
    stream_ = &state;
}

void event::record() { record(current_stream()); }

void event::synchronize() const {
    if (!backend_) return;
    backend_->synchronize(runtime::native_event{native_});
    if (stream_) runtime::throw_reported(*stream_);
}

bool event::done() const { return !backend_ || backend_->done(runtime::native_event{native_}); }

float elapsed(const event& from, const event& to) {
    if (!from.backend_ || from.backend_ != to.backend_)
        throw device_error("[elapsed] wanted two events recorded on one device");
    from.synchronize();
    to.synchronize();
    return from.backend_->elapsed(runtime::native_event{from.native_}, runtime::native_event{to.native_});
}

}  // namespace ingot
