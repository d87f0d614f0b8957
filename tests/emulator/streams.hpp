// Streams that run their work as late as they may: when another thread waits for it, or by chance. The order is always
// one that the streams and events allow, and any such order may occur.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "random_order.hpp"

namespace emulator {

class stream;

/// The recorded steps, in order; each graph has one stream.
struct graph {
    std::vector<std::function<void()>> steps;
    void run() {
        for (auto& step : steps) step();
    }
};

struct event {
    std::uint64_t recorded = 0, passed = 0;  // how often it was put into a stream, and which of these is behind
    stream* on = nullptr;                    // where it was put last
    std::chrono::steady_clock::time_point time;
    bool is_shared = false;  // with other processes, whose streams are not here: it is passed when it is recorded
};

class stream {
public:
    explicit stream(bool blocks) : is_blocking(blocks) {}
    bool is_empty() const { return tasks_.empty(); }

    const bool is_blocking;         // in order with the default stream
    bool is_destroyed = false;      // pending work still runs
    const void* context = nullptr;  // in which it was made
    std::uint64_t number = 0;
    graph* recording = nullptr;  // where its work is recorded

private:
    friend class streams;
    struct task {
        std::function<void()> work = nullptr;
        const event* awaited = nullptr;
        stream* on = nullptr;  // where that was put
        std::uint64_t pass = 0;
    };
    std::deque<task> tasks_;
};

/// All streams of the GPU. It is thread-safe.
class streams {
public:
    explicit streams(std::uint64_t seed) : random_(seed) {}

    stream* make(bool blocks = true) {
        const std::lock_guard lock(mutex_);
        stream* const made = all_.emplace_back(new stream(blocks));
        made->number = all_.size() + 2;  // behind those of the default ones
        return made;
    }
    void add(stream* s, std::function<void()> work) {
        const std::lock_guard lock(mutex_);
        if (s == nullptr) {  // the default stream, which is in order with all others that block
            finish_blocking();
            return work();
        }
        if (s->recording != nullptr) return s->recording->steps.push_back(std::move(work));
        s->tasks_.push_back({.work = std::move(work)});
        run_some();
    }
    void record(event* e, stream* s) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t pass = ++e->recorded;
        e->on = s;
        const auto mark = [e, pass] {
            e->passed = std::max(e->passed, pass);
            e->time = std::chrono::steady_clock::now();
        };
        if (s == nullptr) {
            finish_blocking();
            return mark();
        }
        s->tasks_.push_back({.work = mark});
        run_some();
    }
    void wait(stream* s, event* e) {
        const std::lock_guard lock(mutex_);
        if (s == nullptr) return finish(*e, *e->on, e->recorded);
        s->tasks_.push_back({.work = nullptr, .awaited = e, .on = e->on, .pass = e->recorded});
        run_some();
    }
    /// Each query runs some work.
    bool is_done(stream* s) {
        const std::lock_guard lock(mutex_);
        if (s != nullptr && !s->is_empty()) run_first(*s);
        return s == nullptr || s->is_empty();
    }
    bool is_done(event* e) {
        const std::lock_guard lock(mutex_);
        if (e->passed < e->recorded) run_first(*e->on);
        return e->passed >= e->recorded;
    }
    void finish(stream* s) {
        const std::lock_guard lock(mutex_);
        if (s == nullptr) return finish_all();
        while (!s->is_empty()) run_first(*s);
    }
    void finish(event* e) {
        const std::lock_guard lock(mutex_);
        if (e->on != nullptr) finish(*e, *e->on, e->recorded);
    }
    void finish_blocking() {
        const std::lock_guard lock(mutex_);
        for (stream* s : all_)
            while (s->is_blocking && !s->is_empty()) run_first(*s);
    }
    void finish_all() {
        const std::lock_guard lock(mutex_);
        for (stream* s : all_)
            while (!s->is_empty()) run_first(*s);
    }

private:
    void finish(const event& e, stream& on, std::uint64_t pass) {
        while (e.passed < pass) run_first(on);
    }
    void run_first(stream& s) {
        const stream::task first = std::move(s.tasks_.front());
        s.tasks_.pop_front();
        if (first.awaited != nullptr) return first.pass > 0 ? finish(*first.awaited, *first.on, first.pass) : void();
        first.work();
    }
    void run_some() {
        for (std::uint32_t n = random_.below(4); n > 1; --n) {
            stream& s = *all_[random_.below(static_cast<std::uint32_t>(all_.size()))];
            if (!s.is_empty()) run_first(s);
        }
    }

    std::recursive_mutex mutex_;
    std::vector<stream*> all_;
    random_order random_;
};

}  // namespace emulator
