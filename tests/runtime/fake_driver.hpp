// A GPU driver for tests: devices of kind `other` whose streams run their work in a random interleaving, and whose
// kernels declare their reads and writes. It detects (1) a kernel that reads a value other than the one that the
// program's order requires; (2) memory that is released while work that uses it waits to run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

#include "runtime/device/backend.hpp"
#include "runtime/device/stream.hpp"

namespace ingot::tests {

/// Bytes of a buffer that stand for its value: the first word and the last.
struct words {
    char* data;
    std::size_t bytes;

    std::uint64_t first() const { return load(data); }
    std::uint64_t last() const { return load(data + bytes - sizeof(std::uint64_t)); }
    bool hold(std::uint64_t value) const { return first() == value && last() == value; }
    void set(std::uint64_t value) const {
        std::memcpy(data, &value, sizeof value);
        std::memcpy(data + bytes - sizeof value, &value, sizeof value);
    }

private:
    static std::uint64_t load(const char* at) {
        std::uint64_t value;
        std::memcpy(&value, at, sizeof value);
        return value;
    }
};

class fake_driver;

/// Reads words, each of which must hold the value given, then writes.
struct fake_kernel {
    fake_driver* driver;
    std::vector<std::pair<words, std::uint64_t>> reads;
    std::vector<std::pair<words, std::uint64_t>> writes;
};

class fake_driver {
public:
    explicit fake_driver(unsigned seed) : random_(seed) {}

    bool ignore_waits = false;  // to see that the tests would notice
    bool fail_records = false;  // like a driver that has broken down

    void seed(unsigned s) { random_.seed(s); }
    std::vector<std::string> take_violations() {
        const std::lock_guard lock(mutex_);
        return std::exchange(violations_, {});
    }
    void violation(const std::string& what) { violations_.push_back(what); }

    std::uintptr_t create_stream() {
        const std::lock_guard lock(mutex_);
        const std::size_t queue = free_queue();
        if (free_handles_.empty()) {
            queues_.push_back(queue);
            return queues_.size() - 1;
        }
        const std::uintptr_t reused = free_handles_.back();
        free_handles_.pop_back();
        queues_[reused] = queue;
        return reused;
    }
    /// Pending work still runs. Another stream soon gets the handle.
    void destroy_stream(std::uintptr_t stream) {
        const std::lock_guard lock(mutex_);
        ended_.push_back(std::exchange(queues_[stream], none));
        free_handles_.push_back(stream);
    }
    std::uintptr_t create_event() {
        const std::lock_guard lock(mutex_);
        events_.emplace_back();
        return events_.size() - 1;
    }
    void enqueue(std::uintptr_t stream, std::function<void()> work, std::vector<words> touched = {}) {
        const std::lock_guard lock(mutex_);
        queue_of(stream).push_back({std::move(work), std::move(touched), none, 0});
        run_some();
    }
    void record(std::uintptr_t event, std::uintptr_t stream) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t version = events_[event].recorded + 1;
        queue_of(stream).push_back({[this, event, version] { events_[event].passed = version; }, {}, none, 0});
        events_[event].recorded = version;
        run_some();
    }
    void wait(std::uintptr_t stream, std::uintptr_t event) {
        const std::lock_guard lock(mutex_);
        if (!ignore_waits) queue_of(stream).push_back({[] {}, {}, event, events_[event].recorded});
        run_some();
    }
    bool done(std::uintptr_t event) {
        const std::lock_guard lock(mutex_);
        run_some();
        return events_[event].passed == events_[event].recorded;
    }
    bool idle(std::uintptr_t stream) {
        const std::lock_guard lock(mutex_);
        run_some();
        return queue_of(stream).empty();
    }
    void synchronize_event(std::uintptr_t event) {
        const std::lock_guard lock(mutex_);
        while (events_[event].passed != events_[event].recorded) step();
    }
    void synchronize_stream(std::uintptr_t stream) {
        const std::lock_guard lock(mutex_);
        while (!queue_of(stream).empty()) step();
    }
    void released(const void* data, std::size_t bytes) {
        const std::lock_guard lock(mutex_);
        const char* const begin = static_cast<const char*>(data);
        for (const auto& stream : streams_)
            for (const work_item& item : stream)
                for (const words& w : item.touched)
                    if (w.data < begin + bytes && begin < w.data + w.bytes)
                        violation("memory was given back that waiting work touches");
    }

private:
    static constexpr std::uintptr_t none = ~std::uintptr_t{0};
    struct work_item {
        std::function<void()> run;
        std::vector<words> touched;
        std::uintptr_t after;  // an event, or none
        std::uint64_t version;
    };
    struct event_state {
        std::uint64_t recorded = 0, passed = 0;
    };

    std::deque<work_item>& queue_of(std::uintptr_t stream) {
        if (queues_[stream] == none) {
            violation("a stream was used after its end");
            queues_[stream] = 0;
        }
        return streams_[queues_[stream]];
    }
    /// The queue of a destroyed stream whose work has run, or a new one. Each step looks at every queue.
    std::size_t free_queue() {
        const auto drained =
            std::ranges::find_if(ended_, [this](std::size_t queue) { return streams_[queue].empty(); });
        if (drained == ended_.end()) {
            streams_.emplace_back();
            return streams_.size() - 1;
        }
        const std::size_t queue = *drained;
        *drained = ended_.back();
        ended_.pop_back();
        return queue;
    }
    bool can_go_on(const std::deque<work_item>& stream) const {
        if (stream.empty()) return false;
        const work_item& head = stream.front();
        return head.after == none || events_[head.after].passed >= head.version;
    }
    /// Runs the next work of a randomly chosen stream that can proceed. It allocates nothing: a call that fails for
    /// lack of memory must not have queued work.
    void step() {
        const auto ready = std::ranges::count_if(streams_, [this](const auto& s) { return can_go_on(s); });
        if (ready == 0) throw std::logic_error("the fake driver's streams wait for each other");
        auto left = random_() % static_cast<std::size_t>(ready);
        auto& chosen = *std::ranges::find_if(streams_, [&](const auto& s) { return can_go_on(s) && left-- == 0; });
        const work_item item = std::move(chosen.front());
        chosen.pop_front();
        item.run();
    }
    /// Time passes: often nothing happens meanwhile, at times much.
    void run_some() {
        const auto waiting = [&] {
            return std::any_of(streams_.begin(), streams_.end(), [](const auto& s) { return !s.empty(); });
        };
        for (auto n = random_() % 4 == 0 ? random_() % 6 : 0; n > 0 && waiting(); --n) step();
    }

    std::mutex mutex_;
    std::mt19937 random_;
    std::deque<std::deque<work_item>> streams_;
    std::vector<std::uintptr_t> queues_;  // index in `streams_` by handle; none: destroyed
    std::vector<std::uintptr_t> free_handles_;
    std::vector<std::size_t> ended_;  // indices in `streams_` of queues whose streams are destroyed
    std::deque<event_state> events_;
    std::vector<std::string> violations_;
};

/// One device of the driver, with that much memory.
class fake_backend final : public runtime::backend {
    using native_stream = runtime::native_stream;
    using native_event = runtime::native_event;

public:
    fake_backend(fake_driver& driver, std::size_t memory) : driver_(driver), memory_{memory, memory} {}
    ~fake_backend() override {
        for (void* p : quarantine_) std::free(p);
    }

    std::string name() const override { return "fake"; }
    runtime::memory_info memory() const override {
        const std::lock_guard lock(mutex_);
        return memory_;
    }
    void* allocate(std::size_t bytes) override {
        const std::lock_guard lock(mutex_);
        if (bytes > memory_.free) return nullptr;
        quarantine_.reserve(quarantine_.size() + ++live_);
        memory_.free -= bytes;
        return std::aligned_alloc(512, bytes);
    }
    /// The memory is kept, and spoilt, so that late work reads nonsense rather than crashes.
    void release(void* data, std::size_t bytes) noexcept override {
        driver_.released(data, bytes);
        std::memset(data, 0xdd, bytes);
        const std::lock_guard lock(mutex_);
        --live_;
        memory_.free += bytes;
        quarantine_.push_back(data);  // in the room that `allocate` made
    }
    void* allocate_pinned(std::size_t bytes) override { return allocate(bytes); }
    void release_pinned(void* data, std::size_t bytes) noexcept override { release(data, bytes); }

    native_stream create_stream() override { return native_stream{driver_.create_stream()}; }
    bool idle(native_stream s) override { return driver_.idle(number(s)); }
    void synchronize(native_stream s) override { driver_.synchronize_stream(number(s)); }
    native_event create_event(bool, bool) override { return native_event{driver_.create_event()}; }
    void destroy_event(native_event) noexcept override {}
    void record(native_event e, native_stream s) override {
        if (driver_.fail_records) throw device_error("[record] the fake driver fails");
        driver_.record(number(e), number(s));
    }
    void wait(native_stream s, native_event e) override { driver_.wait(number(s), number(e)); }
    bool done(native_event e) override { return driver_.done(number(e)); }
    void synchronize(native_event e) override { driver_.synchronize_event(number(e)); }
    float elapsed(native_event, native_event) override { return 0; }

    void copy(void* to, const void* from, std::size_t bytes, runtime::copy_direction, native_stream s) override {
        const words target{static_cast<char*>(to), bytes}, source{static_cast<char*>(const_cast<void*>(from)), bytes};
        driver_.enqueue(number(s), [=] { std::memcpy(to, from, bytes); }, {target, source});
    }
    void fill(void* to, unsigned char value, std::size_t bytes, native_stream s) override {
        driver_.enqueue(number(s), [=] { std::memset(to, value, bytes); }, {words{static_cast<char*>(to), bytes}});
    }
    /// Every launch in the tests is a fake kernel.
    void launch(native_stream s, const runtime::launch_record& r) override {
        std::vector<words> touched;
        const auto* const k = static_cast<const fake_kernel*>(r.argument);
        for (const auto& [w, value] : k->reads) touched.push_back(w);
        for (const auto& [w, value] : k->writes) touched.push_back(w);
        driver_.enqueue(number(s), [r] { r.body(r.argument); }, std::move(touched));
    }

private:
    template <class E>
    static std::uintptr_t number(E e) {
        return static_cast<std::uintptr_t>(e);
    }

    fake_driver& driver_;
    mutable std::mutex mutex_;
    runtime::memory_info memory_;
    std::vector<void*> quarantine_;
    std::size_t live_ = 0;
};

/// Launches the kernel, after ordering nothing: that is the caller's.
inline void launch(runtime::stream_state& s, fake_kernel kernel) {
    const auto run = [](void* argument) {
        const std::unique_ptr<fake_kernel> k(static_cast<fake_kernel*>(argument));
        for (const auto& [w, value] : k->reads)
            if (!w.hold(value)) k->driver->violation("a kernel read a value that is not the program's");
        for (const auto& [w, value] : k->writes) w.set(value);
    };
    s.backend->launch(s.native, {run, new fake_kernel(std::move(kernel))});
}

}  // namespace ingot::tests
