// Devices, streams, events, and what is current in a thread.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <type_traits>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/core/memory.hpp>

#include "runtime/device/device.hpp"
#include "runtime/device/of_stream.hpp"

namespace {

using namespace ingot;
using namespace ingot::runtime;

template <class Guard>
constexpr bool is_guard = !std::is_default_constructible_v<Guard> && !std::is_copy_constructible_v<Guard> &&
                          !std::is_move_constructible_v<Guard> && !std::is_move_assignable_v<Guard>;
static_assert(is_guard<with_device> && is_guard<with_stream> && is_guard<with_math>);

device_id default_device_with(const char* variable) {
    setenv("INGOT_DEVICE", variable, 1);
    struct unset {
        ~unset() { unsetenv("INGOT_DEVICE"); }
    } at_end;
    return default_device();
}

}  // namespace

TEST_CASE("a device prints and parses by kind and number") {
    std::ostringstream text;
    text << device::host() << ' ' << device::cuda(3);
    CHECK(text.str() == "host:0 cuda:3");
    CHECK(device::parse("host") == device::host(0));
    CHECK(device::parse("host:1") == device::host(1));
    CHECK(device::parse("cuda:12") == device::cuda(12));
    for (const char* bad : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "host:64", "Host"})
        CHECK_THROWS_AS(device::parse(bad), device_error);
    CHECK_FALSE(device::host().name().empty());
}

TEST_CASE("INGOT_DEVICE names the device that threads begin with") {
    CHECK(default_device_with("host:1") == device::host(1));
    CHECK(default_device_with("cuda:2") == device::cuda(2));
    CHECK(default_device_with("") == (device::cuda_count() > 0 ? device::cuda() : device::host()));
    CHECK_THROWS_AS(default_device_with("toaster"), device_error);
}

TEST_CASE("a device that is not there is an error that says so") {
    const device_id before = current_device();
    CHECK_THROWS_AS([[maybe_unused]] const with_device nowhere(device::cuda(63)), device_error);
    CHECK_THROWS_AS(allocate_buffer(8, device::host(200), *state_of(device::host()).default_stream), device_error);
    CHECK(current_device() == before);
}

TEST_CASE("guards make current and put back what was") {
    const with_device base(device::host(30));
    const stream before = current_stream();
    {
        const with_device other(device::host(31));
        CHECK(current_device() == device::host(31));
        CHECK(current_stream() == stream(*state_of(device::host(31)).default_stream));
        const stream mine(device::host(30));
        {
            const with_stream here(mine);
            CHECK(current_device() == device::host(30));
            CHECK(current_stream() == mine);
            const with_math strictly(strict);
            CHECK(current().math == math_mode::strict);
            CHECK(current_stream() == mine);
        }
        CHECK(current().math == math_mode::standard);
        CHECK(current_device() == device::host(31));
    }
    CHECK(current_stream() == before);
    std::thread([] { CHECK(current_device() == default_device()); }).join();
}

TEST_CASE("a stream kept by its guard survives its name") {
    const with_device base(device::host(32));
    auto named = std::make_unique<stream>();
    const stream_state& state = named->state();
    const with_stream here(*named);
    named.reset();
    const stream another;
    CHECK(&another.state() != &state);
    CHECK(&current_stream().state() == &state);
}

TEST_CASE("streams are new while others live, and are used again when they end") {
    const device_id host = device::host(33);
    std::set<const stream_state*> seen;
    {
        std::vector<stream> alive;
        for (int i = 0; i < 10; ++i) {
            alive.emplace_back(host);
            CHECK(seen.insert(&alive.back().state()).second);
            CHECK(alive.back().device() == host);
        }
    }
    const stream_index count = stream_count();
    for (int i = 0; i < 100; ++i) CHECK(seen.contains(&stream(host).state()));
    CHECK(stream_count() == count);
}

TEST_CASE("threads that make and end streams get different ones") {
    const device_id host = device::host(34);
    std::atomic<int> shared{0};
    std::vector<std::atomic<int>> users(max_streams);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 2000; ++i) {
                const stream s(host);
                std::atomic<int>& here = users[s.state().index];
                if (here.fetch_add(1) != 0) ++shared;
                here.fetch_sub(1);
            }
        });
    for (std::thread& t : threads) t.join();
    CHECK(shared == 0);
}

TEST_CASE("a stream has one object of a type, which all threads find") {
    struct counted {
        std::atomic<int> users{0};
    };
    const device_id host = device::host(36);
    const stream first(host), second(host);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) threads.emplace_back([&] { ++of_stream<counted>(first.state()).users; });
    for (std::thread& t : threads) t.join();
    CHECK(of_stream<counted>(first.state()).users == 8);
    CHECK(of_stream<counted>(second.state()).users == 0);
}

TEST_CASE("events measure the time between two points") {
    const with_device base(device::host(35));
    event from, to;
    CHECK(from.done());
    from.record();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    to.record();
    to.synchronize();
    current_stream().wait(to);
    CHECK(to.done());
    CHECK(elapsed(from, to) >= 5.0f);
    CHECK(elapsed(from, to) < 5000.0f);
    event moved = std::move(to);
    CHECK(elapsed(from, moved) >= 5.0f);
    CHECK_THROWS_AS(elapsed(from, event{}), device_error);
    synchronize();
    device::host(35).synchronize();
}
