// The table of streams, and the members of stream and event.
#include "runtime/device/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <memory>
#include <string>

#include <ingot/core/error.hpp>
#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/unowned.hpp"
#include "runtime/kernels/error_record.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/per_thread.hpp"

namespace ingot {
namespace runtime {

namespace {

constinit std::array<std::atomic<stream_state*>, max_streams> table{};
constinit std::atomic<stream_index> entries{0};
constinit std::mutex table_mutex;

/// A retired idle entry of the device. The caller holds the table's mutex.
stream_state* find_retired(const backend* device, stream_origin origin, bool non_blocking = false) {
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i) {
        stream_state& s = stream_at(i);
        if (s.backend == device && s.origin == origin && s.non_blocking == non_blocking &&
            s.owners.load(std::memory_order_acquire) == 0 && is_idle(s))
            return &s;
    }
    return nullptr;
}

/// A number that no other thread has or had.
std::uint64_t thread_number() noexcept {
    static constinit std::atomic<std::uint64_t> threads{0};
    static thread_local const std::uint64_t own = ++threads;
    return own;
}

/// A new entry with one owner. The caller holds the table's mutex.
stream_state& add_entry(device_state& device, stream_origin origin, const auto& native) {
    const stream_index index = entries.load(std::memory_order_relaxed);
    if (index == max_streams)
        throw device_error("[stream] " + std::to_string(max_streams) +
                           " streams exist already, which is the most that there can be");
    auto made = std::make_unique<stream_state>();
    made->index = index;
    made->origin = origin;
    made->synchronous = device.backend->synchronous();
    made->own_bit = index < distinct_streams ? std::uint64_t{1} << index : 0;
    made->reader_bit = index < distinct_streams ? made->own_bit : shared_bit;
    made->device = device.id;
    made->backend = device.backend.get();
    made->pool = device.pool.get();
    made->native = native();
    made->marker = device.backend->create_event(false);
    made->owners.store(1, std::memory_order_relaxed);
    table[index].store(made.get(), std::memory_order_release);
    entries.store(static_cast<stream_index>(index + 1), std::memory_order_release);
    lock_across_fork(mutex_rank::natives, made->native_mutex);
    lock_across_fork(mutex_rank::scratch, made->scratch_mutex);
    return *made.release();
}

void clear_errors(stream_state& s) noexcept {
    if (codegen::error_record* const left = s.errors.load(std::memory_order_acquire)) clear(*left);
}

/// Puts another native stream into an entry without owner, behind the work that the entry had.
void take_over(stream_state& s, native_stream native, std::uint64_t id) {
    const std::lock_guard lock(s.native_mutex);
    const bool is_same = s.native == native && s.native_id == id && id != 0;
    if (s.is_abandoned && !is_same && !s.backend->done(s.marker)) s.backend->wait(native, s.marker);
    if (!is_same) clear_errors(s);
    s.native = native;
    s.native_id = id;
    s.is_abandoned = false;
    s.owners.store(1, std::memory_order_relaxed);
}

/// The native stream on which an event is behind this one's present work: its own, or the legacy stream for another
/// thread's default stream. The caller holds its mutex.
native_stream stream_to_record_on(const stream_state& s) {
    const bool of_another_thread = s.origin == stream_origin::per_thread && s.native_id != thread_number();
    return of_another_thread ? s.backend->legacy_stream() : s.native;
}

/// Marks the present work before the native stream may end.
void abandon_native(stream_state& s) noexcept {
    const std::scoped_lock lock(table_mutex, s.native_mutex);
    if (s.owners.load(std::memory_order_acquire) != 0 || s.is_abandoned) return;
    s.is_abandoned = true;
    try {
        s.backend->record(s.marker, stream_to_record_on(s));
    } catch (...) {  // the stream has ended already, or the driver is gone
        try {
            s.backend->record(s.marker, s.backend->legacy_stream());
        } catch (...) {
        }
    }
}

bool may_end(const stream_state& s) noexcept {
    return s.origin == stream_origin::foreign || s.origin == stream_origin::per_thread;
}

void check_has_native(const device_state& device) {
    if (!device.id.is_host()) return;
    throw device_error("[stream] " + to_string(device.id) +
                       " has no streams but Ingot's own, in which work is done when the call returns");
}

}  // namespace

stream_state& stream_at(stream_index i) noexcept { return *table[i].load(std::memory_order_acquire); }
stream_index stream_count() noexcept { return entries.load(std::memory_order_acquire); }

std::mutex& stream_table_mutex() noexcept { return table_mutex; }

stream_state& acquire_stream(device_state& device, bool non_blocking) {
    const std::lock_guard lock(table_mutex);
    if (stream_state* retired = find_retired(device.backend.get(), stream_origin::own, non_blocking)) {
        retired->owners.store(1, std::memory_order_relaxed);
        clear_errors(*retired);
        return *retired;
    }
    stream_state& made = add_entry(device, stream_origin::own, [&] {
        return non_blocking ? device.backend->create_non_blocking_stream() : device.backend->create_stream();
    });
    made.non_blocking = non_blocking;
    return made;
}

stream_state& make_capture_stream(device_state& device, pool& memory) {
    const std::lock_guard lock(table_mutex);
    stream_state& made =
        add_entry(device, stream_origin::own, [&] { return device.backend->create_non_blocking_stream(); });
    made.non_blocking = true;
    made.pool = &memory;
    return made;
}

stream_state* retain_own_stream(native_stream native) {
    const std::lock_guard lock(table_mutex);
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i) {
        stream_state& s = stream_at(i);
        if (s.native != native || s.origin != stream_origin::own || !s.device.is_cuda()) continue;
        s.owners.fetch_add(1, std::memory_order_relaxed);
        return &s;
    }
    return nullptr;
}

stream_state& adopt_stream(device_state& device, native_stream native) {
    check_has_native(device);
    const std::uint64_t id = device.backend->identify(native);
    const std::lock_guard lock(table_mutex);
    stream_state* left = nullptr;
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i) {
        stream_state& s = stream_at(i);
        if (s.backend != device.backend.get() || s.native != native) continue;
        if (s.origin != stream_origin::foreign || s.native_id != id) continue;
        const std::lock_guard of_entry(s.native_mutex);
        if (!s.is_abandoned) {
            s.owners.fetch_add(1, std::memory_order_relaxed);
            return s;
        }
        left = &s;
    }
    if (!left) left = find_retired(device.backend.get(), stream_origin::foreign);
    if (left) {
        take_over(*left, native, id);
        return *left;
    }
    stream_state& made = add_entry(device, stream_origin::foreign, [&] { return native; });
    made.native_id = id;
    return made;
}

stream_state& legacy_stream_of(device_state& device) {
    check_has_native(device);
    const std::lock_guard lock(table_mutex);
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i)
        if (stream_state& s = stream_at(i); s.backend == device.backend.get() && s.origin == stream_origin::legacy) {
            s.owners.fetch_add(1, std::memory_order_relaxed);
            return s;
        }
    return add_entry(device, stream_origin::legacy, [&] { return device.backend->legacy_stream(); });
}

stream_state& thread_stream_of(device_state& device) {
    check_has_native(device);
    const std::uint64_t number = thread_number();
    const native_stream native = device.backend->per_thread_stream();
    const std::lock_guard lock(table_mutex);
    stream_state* left = nullptr;
    for (stream_index i = 0; i < entries.load(std::memory_order_relaxed); ++i) {
        stream_state& s = stream_at(i);
        if (s.backend != device.backend.get() || s.origin != stream_origin::per_thread) continue;
        const std::lock_guard of_entry(s.native_mutex);
        if (s.native_id != number) continue;
        if (!s.is_abandoned) {
            s.owners.fetch_add(1, std::memory_order_relaxed);
            return s;
        }
        left = &s;
    }
    if (!left) left = find_retired(device.backend.get(), stream_origin::per_thread);
    if (left) {
        take_over(*left, native, number);
        return *left;
    }
    stream_state& made = add_entry(device, stream_origin::per_thread, [&] { return native; });
    made.native_id = number;
    return made;
}

void keep_stream(stream_state& s) noexcept { s.owners.fetch_add(1, std::memory_order_relaxed); }
void drop_stream(stream_state& s) noexcept {
    if (s.owners.fetch_sub(1, std::memory_order_acq_rel) == 1 && may_end(s)) abandon_native(s);
}

void check_of_thread(const stream_state& s) {
    if (s.origin == stream_origin::per_thread && s.native_id != thread_number())
        throw device_error("[stream] the default stream of another thread cannot be worked on");
}

void record(native_event e, const stream_state& s) {
    check_not_recorded(s, "recording an event");
    if (s.origin == stream_origin::own) return s.backend->record(e, s.native);
    const std::lock_guard lock(s.native_mutex);
    if (!s.is_abandoned) return s.backend->record(e, stream_to_record_on(s));
    // An event cannot be copied, so another stream waits for the marker.
    const stream_state& other = *state_of(s.device).default_stream;
    s.backend->wait(other.native, s.marker);
    s.backend->record(e, other.native);
}

void mark_present_work(const stream_state& s) {
    check_not_recorded(s, "waiting for the recorded work");
    if (s.origin == stream_origin::own) return s.backend->record(s.marker, s.native);
    const std::lock_guard lock(s.native_mutex);
    if (!s.is_abandoned) s.backend->record(s.marker, stream_to_record_on(s));
}

bool is_idle(const stream_state& s) {
    if (s.capture.load(std::memory_order_relaxed) != nullptr) return false;
    if (s.origin == stream_origin::own) return s.backend->idle(s.native);
    const std::lock_guard lock(s.native_mutex);
    if (s.is_abandoned) return s.backend->done(s.marker);
    // The state of another thread's default stream is unknown.
    return stream_to_record_on(s) == s.native && s.backend->idle(s.native);
}

void wait_on_host(const stream_state& s) {
    if (const graph_capture* const capture = s.capture.load(std::memory_order_relaxed)) [[unlikely]] {
        if (capture == capture_of_thread()) throw_not_recorded("waiting for a stream");
        return;  // the stream has no work
    }
    if (s.origin == stream_origin::own) return s.backend->synchronize(s.native);
    mark_present_work(s);
    s.backend->synchronize(s.marker);
}

void synchronize(stream_state& s) {
    wait_on_host(s);
    throw_reported(s);
}

constinit std::atomic<void (*)()> after_wait{nullptr};

void throw_reported(stream_state& s) {
    if (void (*const check)() = after_wait.load(std::memory_order_relaxed)) check();
    release_finished_unowned();
    s.pool->throw_broken_guards();
    if (codegen::error_record* const errors = s.errors.load(std::memory_order_acquire)) throw_recorded(*errors);
    std::vector<codegen::error_record*> of_graphs;
    {
        const std::lock_guard lock(s.native_mutex);
        if (s.graph_errors.empty()) return;
        of_graphs = s.graph_errors;
    }
    for (codegen::error_record* const errors : of_graphs) throw_recorded(*errors);
}

namespace {

struct host_scratch {
    std::vector<std::uint64_t> words;
};

}  // namespace

void* zeroed_scratch(stream_state& s, std::size_t bytes) {
    const bool is_recorded = s.capture.load(std::memory_order_relaxed) != nullptr;
    // On a synchronous backend several threads may run work of one stream at the same time.
    if (s.synchronous && !is_recorded) {
        std::vector<std::uint64_t>& own = per_thread<host_scratch>::own().words;
        const std::size_t words = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
        if (own.size() < words) own.assign(std::bit_ceil(words), 0);
        return own.data();
    }
    const std::lock_guard lock(s.scratch_mutex);
    if (s.scratch.empty() || s.scratch.back()->bytes < bytes) {
        // The scratch is filled once, not in every launch of a graph. It is not memory of the capture's pool, where it
        // might be a temporary of recorded work.
        stream_state& now = is_recorded ? *state_of(s.device).default_stream : s;
        pool& from = is_recorded ? *state_of(s.device).pool : *s.pool;
        buffer_ref made = from.allocate_permanent(std::bit_ceil(std::max<std::size_t>(bytes, 4096)), now);
        s.backend->fill(made->data, 0, made->bytes, now.native);
        if (is_recorded) wait_on_host(now);
        s.scratch.push_back(std::move(made));
    }
    return s.scratch.back()->data;
}

}  // namespace runtime

stream::stream() : stream(current_device()) {}
stream::stream(ingot::device d) : state_(&runtime::acquire_stream(runtime::state_of(d))) {}
stream::stream(non_blocking_t) : stream(current_device(), non_blocking) {}
stream::stream(detail::device_id d, non_blocking_t) : state_(&runtime::acquire_stream(runtime::state_of(d), true)) {}

stream stream::from_native(void* native) {
    const auto value = reinterpret_cast<std::uintptr_t>(native);
    if (value == 0)
        throw device_error(
            "[stream] a null stream is CUDA's default one; say stream::legacy_default() or "
            "stream::per_thread_default()");
    if (device::cuda_count() == 0) runtime::check_has_native(runtime::state_of(device::host()));
    // CUDA's constants for its default streams.
    if (value == 1) return legacy_default();
    if (value == 2) return per_thread_default();
    const auto s = runtime::native_stream{value};
    if (runtime::stream_state* const own = runtime::retain_own_stream(s)) return stream(adopted_t{}, *own);
    return stream(adopted_t{}, runtime::adopt_stream(runtime::state_of(device::cuda(runtime::gpu_of_stream(s))), s));
}
stream stream::legacy_default() { return legacy_default(current_device()); }
stream stream::legacy_default(ingot::device d) {
    return stream(adopted_t{}, runtime::legacy_stream_of(runtime::state_of(d)));
}
stream stream::per_thread_default() { return per_thread_default(current_device()); }
stream stream::per_thread_default(ingot::device d) {
    return stream(adopted_t{}, runtime::thread_stream_of(runtime::state_of(d)));
}
void* stream::native_handle() const noexcept {
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(state_->native));
}

void stream::synchronize() const { runtime::synchronize(*state_); }
void stream::wait(const event& e) const {
    if (!e.backend_ || e.backend_->synchronous()) return;
    if (state_->synchronous) return e.synchronize();
    runtime::check_of_thread(*state_);
    runtime::check_not_recorded(*state_, "waiting for an event");
    state_->backend->wait(state_->native, runtime::native_event{e.native_});
}
bool stream::done() const {
    if (state_->origin != runtime::stream_origin::per_thread || state_->native_id == runtime::thread_number())
        return runtime::is_idle(*state_);
    event now;  // an event is the only query that another thread may make
    now.record(*this);
    // An idle GPU takes some microseconds to reach the event.
    const auto asked = std::chrono::steady_clock::now();
    while (!now.done())
        if (std::chrono::steady_clock::now() - asked > std::chrono::microseconds(50)) return false;
    return true;
}
ingot::device stream::device() const { return state_->device; }

void synchronize(const source_place& here) {
    const detail::in_statement of_the_user(here);
    runtime::synchronize(*runtime::current().stream);
}

event::~event() {
    if (backend_ && !is_borrowed_) backend_->destroy_event(runtime::native_event{native_});
}

event event::from_native(void* native) {
    const detail::device_id d = current_device();
    runtime::backend& backend = *runtime::state_of(d).backend;
    if (native == nullptr || d.is_host())
        throw device_error("[event] " + (d.is_host() ? to_string(d) + " has no events but Ingot's own"
                                                     : std::string("a null event was given")));
    event e;
    e.backend_ = &backend;
    e.native_ = reinterpret_cast<std::uintptr_t>(native);
    e.is_borrowed_ = true;
    e.done();  // throws where the driver does not know it
    return e;
}

void* event::native_handle() {
    runtime::backend& backend = *runtime::state_of(current_device()).backend;
    if (!backend_ && !backend.synchronous()) make(backend);
    return backend_ && !backend_->synchronous() ? reinterpret_cast<void*>(native_) : nullptr;
}

void event::make(runtime::backend& backend) {
    event fresh;
    fresh.is_blocking_ = is_blocking_;
    fresh.is_timed_ = is_timed_;
    fresh.native_ = static_cast<std::uintptr_t>(backend.create_event(is_timed_, is_blocking_));
    fresh.backend_ = &backend;
    *this = std::move(fresh);
}

void event::record(const stream& s) {
    runtime::stream_state& state = s.state();
    if (backend_ != state.backend) {
        if (is_borrowed_)
            throw device_error("[event] an event of another device cannot be recorded on a stream of " +
                               to_string(state.device));
        make(*state.backend);
    }
    runtime::record(runtime::native_event{native_}, state);
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
        throw device_error("[elapsed] two events that were recorded on one device are wanted");
    if (!from.is_timed_ || !to.is_timed_)
        throw device_error("[elapsed] an event of no_timing; events with a time are wanted");
    from.synchronize();
    to.synchronize();
    return from.backend_->elapsed(runtime::native_event{from.native_}, runtime::native_event{to.native_});
}

}  // namespace ingot
