// benchmark: how often it calls, on which devices it measures, and how the times print.
#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <thread>

#include "tests/arrays/expect.hpp"

using namespace ingot;

TEST_CASE("benchmark calls so often, and times every call but those that warm up") {
    int calls = 0;
    const benchmark_result r = benchmark([&] { ++calls; }, {.repeats = 7, .warm_up = 2, .name = "count"});
    CHECK(calls == 9);
    CHECK(r.cpu.size() == 7);
    CHECK(r.name == "count");
    CHECK(r.gpu.size() == (current_device().is_host() ? 0u : 7u));
}

TEST_CASE("benchmark begins no call after its duration") {
    int calls = 0;
    const auto slow = [&] {
        ++calls;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    };
    const benchmark_result r = benchmark(slow, {.repeats = 100000, .warm_up = 0, .max_duration = 0.02});
    CHECK(r.cpu.size() == static_cast<std::size_t>(calls));
    CHECK(calls >= 1);
    CHECK(calls <= 10);
    for (const double us : r.cpu) CHECK(us >= 2000);
}

TEST_CASE("benchmark measures on each GPU that is named, once, and waits for all devices") {
    std::vector<device> devices{device::host(), device::host(1), device::host()};
    for (int k = 0; k < device::cuda_count(); ++k) devices.insert(devices.end(), 2, device::cuda(k));
    array<double> x = ones<double>({100});
    const benchmark_result r = benchmark([&] { x += 1; }, {.repeats = 3, .warm_up = 1, .devices = devices});
    CHECK(r.devices.size() == static_cast<std::size_t>(device::cuda_count()));
    for (const device_times& d : r.devices) {
        CHECK(d.device.is_cuda());
        CHECK(d.us.size() == 3);
    }
    CHECK(r.gpu.size() == (r.devices.empty() ? 0u : 3u));
    CHECK(x(0).item() == 5);
    CHECK(r.cpu.size() == 3);
}

TEST_CASE("times print as CuPy's do") {
    std::ostringstream out;
    out << benchmark_result{"one", {1, 2, 3}, {4, 4}, {{device::cuda(), {4, 4}}}}
        << benchmark_result{"two", {2}, {1, 3}, {{device::cuda(), {1, 3}}, {device::cuda(1), {5}}}};
    CHECK(out.str() ==
          "one                 :    CPU:    2.000 us   +/- 0.816 (min:    1.000 / max:    3.000) us"
          "     GPU-0:    4.000 us   +/- 0.000 (min:    4.000 / max:    4.000) us\n"
          "two                 :    CPU:    2.000 us"
          "     GPU-0:    2.000 us   +/- 1.000 (min:    1.000 / max:    3.000) us"
          "     GPU-1:    5.000 us\n");
}

TEST_CASE("benchmark says what it was given and what it wants") {
    CHECK(thrown<dtype_error>([] { benchmark([] {}, {.repeats = 0}); }) ==
          "[benchmark] 0 repeats after 10 calls; at least 1 after 0 are wanted");
    CHECK(thrown<dtype_error>([] { benchmark([] {}, {.warm_up = -1}); }) ==
          "[benchmark] 100 repeats after -1 calls; at least 1 after 0 are wanted");
    CHECK(thrown<dtype_error>([] { benchmark([] {}, {.max_duration = 0}); }) ==
          "[benchmark] max_duration 0; seconds above 0 are wanted");
    CHECK_THROWS_AS(benchmark([] {}, {.devices = {device::cuda(99)}}), device_error);
    struct own {};
    CHECK_THROWS_AS(benchmark([] { throw own(); }), own);
}
