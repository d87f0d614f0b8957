// See host_workers.hpp.
//
// Jobs are posted on a board of fixed slots. A worker enters a slot (users + 1) before it tests whether the job is
// open, and the caller closes the job before it waits for users to leave. With sequentially consistent operations one
// of the two sees the other, so that no worker touches a job that is over.
#include "runtime/device/host_workers.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "runtime/system/environment.hpp"
#include "runtime/system/fork.hpp"
#include "runtime/system/warning.hpp"

namespace ingot::runtime {

namespace {

constexpr int spins_before_sleep = 2000;  // some 20 to 60 us: longer than the gap between two kernels of a program
constexpr int spins_before_yield = 200;

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

struct alignas(64) job_slot {
    std::atomic<bool> taken{false};       // by a caller
    std::atomic<bool> open{false};        // workers may join
    std::atomic<std::uint32_t> users{0};  // workers that are inside or test `open`
    std::atomic<std::size_t> next{0};     // first block not handed out
    std::atomic<bool> failed{false};
    std::exception_ptr failure;  // by the thread that set `failed`
    std::size_t blocks = 0, grain = 1;
    void (*body)(void*, std::size_t, std::size_t) = nullptr;
    void* argument = nullptr;
};

struct board {
    std::array<job_slot, 16> slots;
    alignas(64) std::atomic<std::uint32_t> posted{0};  // changes with every job
    std::atomic<std::uint32_t> sleepers{0};
    std::atomic<bool> started{false};
    std::mutex start_mutex;
};

board& the_board() {
    alignas(board) static unsigned char storage[sizeof(board)];
    static board& made = []() -> board& {
        board& b = *new (storage) board;
        // A child process has none of the parent's threads and jobs.
        lock_across_fork(
            mutex_rank::workers, [&b] { b.start_mutex.lock(); }, [&b] { b.start_mutex.unlock(); },
            [&b] { new (&b) board; });
        return b;
    }();
    return made;
}

constinit thread_local bool inside = false;  // whether this thread runs a job's body

void take_part(job_slot& p) {
    inside = true;
    for (;;) {
        const std::size_t begin = p.next.fetch_add(p.grain, std::memory_order_relaxed);
        if (begin >= p.blocks) break;
        try {
            p.body(p.argument, begin, std::min(begin + p.grain, p.blocks));
        } catch (...) {
            if (!p.failed.exchange(true)) p.failure = std::current_exception();
        }
    }
    inside = false;
}

/// Takes part in every open job; returns false when there was none.
bool help(board& b) {
    bool helped = false;
    for (job_slot& p : b.slots) {
        if (!p.open.load(std::memory_order_relaxed)) continue;
        p.users.fetch_add(1);
        if (p.open.load() && p.next.load(std::memory_order_relaxed) < p.blocks) {
            take_part(p);
            helped = true;
        }
        p.users.fetch_sub(1);
    }
    return helped;
}

/// On two processors, a worker that sleeps stays on the one it ran on. Linux searches no idle processor among two that
/// share a cache: it would wake the worker on the caller's processor, where it waits until a tick moves it, some 2 ms.
class staying {
public:
    staying() {
        const int here = sched_getcpu();
        if (here < 0 || sched_getaffinity(0, sizeof free_, &free_) != 0 || CPU_COUNT(&free_) != 2) return;
        CPU_ZERO(&fixed_);
        CPU_SET(here, &fixed_);
        stays_ = sched_setaffinity(0, sizeof fixed_, &fixed_) == 0;
    }
    staying(const staying&) = delete;
    staying& operator=(const staying&) = delete;
    ~staying() {
        cpu_set_t now;
        const bool as_left = stays_ && sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &fixed_);
        if (as_left) sched_setaffinity(0, sizeof free_, &free_);  // else other code has changed it
    }

private:
    cpu_set_t free_, fixed_;
    bool stays_ = false;
};

void work(board& b) {
    for (;;) {
        const std::uint32_t seen = b.posted.load();
        if (help(b)) continue;
        int spins = 0;
        while (b.posted.load(std::memory_order_relaxed) == seen && spins < spins_before_sleep) {
            pause_briefly();
            ++spins;
        }
        if (spins < spins_before_sleep) continue;
        const staying here;
        b.sleepers.fetch_add(1);
        b.posted.wait(seen);
        b.sleepers.fetch_sub(1);
    }
}

void start(board& b) {
    const std::lock_guard lock(b.start_mutex);
    if (b.started.load(std::memory_order_relaxed)) return;
    try {
        for (std::size_t i = 1; i < worker_count(); ++i) std::thread([&b] { work(b); }).detach();
    } catch (const std::system_error&) {  // no more threads: fewer do the work, more slowly
    }
    b.started.store(true, std::memory_order_release);
}

job_slot* take_slot(board& b) {
    for (job_slot& p : b.slots)
        if (!p.taken.load(std::memory_order_relaxed) && !p.taken.exchange(true, std::memory_order_acquire)) return &p;
    return nullptr;
}

}  // namespace

std::size_t worker_count() {
    static const std::size_t count = [] {
        std::size_t wanted = 0;
        if (const auto text = environment_text("INGOT_THREADS")) {
            const char* const end = text->data() + text->size();
            const auto [stop, failure] = std::from_chars(text->data(), end, wanted);
            if (failure != std::errc{} || stop != end || wanted == 0) {
                warn_once("INGOT_THREADS=" + *text + " is no number of threads; using all the machine has");
                wanted = 0;
            }
        }
        return std::clamp<std::size_t>(wanted ? wanted : std::thread::hardware_concurrency(), 1, 1024);
    }();
    return count;
}

void run(std::size_t blocks, void (*body)(void* argument, std::size_t begin, std::size_t end), void* argument) {
    if (blocks == 0) return;
    job_slot* p = nullptr;
    board& b = the_board();
    if (blocks > 1 && !inside && worker_count() > 1) {
        if (!b.started.load(std::memory_order_acquire)) start(b);
        p = take_slot(b);
    }
    if (!p) return body(argument, 0, blocks);

    p->blocks = blocks;
    p->grain = std::max<std::size_t>(blocks / (worker_count() * 8), 1);
    p->body = body;
    p->argument = argument;
    p->failed.store(false, std::memory_order_relaxed);
    p->failure = nullptr;
    p->next.store(0, std::memory_order_relaxed);
    p->open.store(true);
    b.posted.fetch_add(1);
    if (b.sleepers.load() != 0) b.posted.notify_all();
    take_part(*p);
    p->open.store(false);
    for (int spins = 0; p->users.load() != 0; ++spins) {
        if (spins < spins_before_yield)
            pause_briefly();
        else
            std::this_thread::yield();
    }
    const std::exception_ptr failure = std::exchange(p->failure, nullptr);
    p->taken.store(false, std::memory_order_release);
    if (failure) std::rethrow_exception(failure);
}

}  // namespace ingot::runtime
