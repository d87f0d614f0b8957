// The host's workers: every block once, from any thread, nested, after an exception and after fork.
#include <doctest/doctest.h>

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <ingot/ingot.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/host_workers.hpp"
#include "tests/untested.hpp"

namespace {

using namespace ingot;
using namespace ingot::runtime;

// The thread sanitizer ends children of a fork that start threads.
#if defined(__SANITIZE_THREAD__)
constexpr bool thread_sanitizer = true;
#elif defined(__has_feature)
constexpr bool thread_sanitizer = __has_feature(thread_sanitizer);
#else
constexpr bool thread_sanitizer = false;
#endif

/// Adds 1 to every element of a range of blocks; whether each became `expected`.
bool each_once(std::size_t blocks) {
    std::vector<std::atomic<int>> visits(blocks);
    run_on_workers(blocks, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++visits[i];
    });
    for (const std::atomic<int>& v : visits)
        if (v != 1) return false;
    return true;
}

/// Runs f in a child process that must end well within ten seconds.
template <class F>
bool well_in_child(F f) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(f() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("every block is worked on once") {
    for (const std::size_t blocks : {0u, 1u, 2u, 3u, 17u, 1000u, 100'000u}) CHECK(each_once(blocks));
}

TEST_CASE("any number of threads use the workers at once") {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 24; ++t)
        threads.emplace_back([&] {
            for (std::size_t i = 0; i < 200; ++i)
                if (!each_once(1 + i % 70)) ++failures;
        });
    for (std::thread& t : threads) t.join();
    CHECK(failures == 0);
}

TEST_CASE("a job inside a job runs where it is") {
    std::atomic<std::size_t> inner{0};
    std::atomic<int> elsewhere{0};
    run_on_workers(50, [&](std::size_t begin, std::size_t end) {
        const auto here = std::this_thread::get_id();
        for (std::size_t i = begin; i < end; ++i)
            run_on_workers(10, [&](std::size_t b, std::size_t e) {
                inner += e - b;
                if (std::this_thread::get_id() != here) ++elsewhere;
            });
    });
    CHECK(inner == 500);
    CHECK(elsewhere == 0);
}

TEST_CASE("an exception reaches the caller, and the workers go on") {
    for (int i = 0; i < 20; ++i) {
        CHECK_THROWS_WITH_AS(run_on_workers(100,
                                            [](std::size_t begin, std::size_t) {
                                                if (begin >= 40) throw std::runtime_error("block");
                                            }),
                             "block", std::runtime_error);
        CHECK(each_once(100));
    }
}

TEST_CASE("a worker that has slept may run wherever its caller may") {
    REQUIRE(each_once(1000));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // they sleep
    cpu_set_t wanted;
    REQUIRE(sched_getaffinity(0, sizeof wanted, &wanted) == 0);
    std::mutex mutex;
    std::set<std::thread::id> seen;
    int confined = 0;
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    run_on_workers(64, [&](std::size_t, std::size_t) {
        cpu_set_t own;
        const bool free = sched_getaffinity(0, sizeof own, &own) == 0 && CPU_EQUAL(&own, &wanted);
        const std::size_t expected = worker_count() > 1 ? 2 : 1;
        for (bool wait = true; wait; std::this_thread::yield()) {
            const std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
            wait = seen.size() < expected && std::chrono::steady_clock::now() < late;
        }
        const std::lock_guard lock(mutex);
        confined += !free;
    });
    CHECK(seen.size() > (worker_count() > 1 ? 1 : 0));
    CHECK(confined == 0);
}

TEST_CASE("a forked child has workers and memory of its own") {
    if (thread_sanitizer) return ingot::test::untested("not under the thread sanitizer");
    REQUIRE(each_once(1000));
    std::atomic<bool> stop{false};
    std::thread busy([&] {  // inside pool and workers at the moment of the fork, often enough
        const device_id host = device::host(40);
        while (!stop) {
            each_once(64);
            allocate_buffer(std::size_t{3} << 20, host, *state_of(host).default_stream);
        }
    });
    int well = 0;
    for (int i = 0; i < 20; ++i)
        well += well_in_child([] {
            const device_id host = device::host(40);
            const buffer_ref b = allocate_buffer(std::size_t{5} << 20, host, *state_of(host).default_stream);
            return each_once(1000) && b->bytes == std::size_t{5} << 20 && stream(host).done();
        });
    stop = true;
    busy.join();
    CHECK(well == 20);
    CHECK(each_once(1000));
}

TEST_CASE("a forked child computes, calls libraries and launches graphs while a thread of its parent does") {
    if (thread_sanitizer) return ingot::test::untested("not under the thread sanitizer");
    const auto is_right = [] {
        const with_device there(device::host(42));
        array<float> x = arange<float>(64), y;
        const graph g = capture([&] { y = sort(-x) + 1.0f; });
        g.launch();
        const array<index_t> at{63, 0};
        return y(0).item() == -62 && sum(take(y, at, 0)).item() == -61 && std::get<0>(topk(x, 3))(0).item() == 63;
    };
    REQUIRE(is_right());  // compiles
    std::atomic<bool> stop{false};
    std::thread busy([&] {
        while (!stop) is_right();
    });
    int well = 0;
    for (int i = 0; i < 20; ++i) well += well_in_child(is_right);
    stop = true;
    busy.join();
    CHECK(well == 20);
}
