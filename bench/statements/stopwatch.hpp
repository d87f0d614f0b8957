// Measures device time for work that the CPU submits more slowly than the device runs it: a kernel keeps the device
// waiting until all work is submitted, and events around the work time it. Also measures the device's limits:
// instructions a microsecond, and the time of the smallest kernel.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include <ingot/ingot.hpp>

#include "../gpu.hpp"
#include "../report.hpp"

namespace bench {

class stopwatch {
public:
    explicit stopwatch(report& out) {
        if (!ingot::current_device().is_cuda()) return;
        wait_ = std::make_unique<hand_kernel>("operations.cu", "wait");
        const hand_kernel empty("empty.cu", "empty", {"-DARGUMENT_BYTES=8"});
        smallest_kernel_ = time([&](std::uint64_t) { empty(1, 32, std::uint64_t{0}); }, 32);
        out.add({.section = "roof", .name = "an empty kernel", .unit = "us", .time = smallest_kernel_});

        const hand_kernel operations("operations.cu", "operations");
        ingot::array<float> to = ingot::empty<float>(1);
        const unsigned blocks = 132 * 8 * 4, length = 4096;
        const double chain =
            time([&, z = to.mutable_data()](std::uint64_t) { operations(blocks, 256, z, 0.5f, length); }, 1);
        operations_ = 256.0 * 8 * blocks * length / chain;
        out.add({.section = "roof",
                 .name = "multiply-adds",
                 .unit = "us",
                 .time = chain,
                 .note = std::to_string(operations_ * 1e-6) + " million million a second"});
    }

    /// Microseconds of the smallest kernel; 0 on the host.
    double smallest_kernel() const { return smallest_kernel_; }
    /// The least time in microseconds for that many operations.
    double time_of(std::uint64_t operations) const {
        return operations_ == 0 ? 0 : static_cast<double>(operations) / operations_;
    }

    /// The median of seven rounds of `repeats` calls, in microseconds a call; the argument counts calls.
    template <class F>
    double time(F call, int repeats) const {
        using clock = std::chrono::steady_clock;
        std::uint64_t turn = 0;
        call(turn++);
        ingot::synchronize();
        const auto start = clock::now();
        call(turn++);
        const double giving = std::chrono::duration<double, std::micro>(clock::now() - start).count();
        ingot::synchronize();
        std::vector<double> times;
        ingot::event from, to;
        for (int round = 0; round < timed; ++round) {
            // The processor's own time varies: half as much again and some to spare.
            if (wait_)
                (*wait_)(1, 1, static_cast<unsigned long long>(1e3 * std::min(1.5 * giving * repeats + 20, 2e4)));
            from.record();
            for (int repeat = 0; repeat < repeats; ++repeat) call(turn++);
            to.record();
            times.push_back(1e3 * static_cast<double>(elapsed(from, to)) / repeats);
        }
        return median(std::move(times));
    }

private:
    static constexpr int timed = 7;
    std::unique_ptr<hand_kernel> wait_;
    double smallest_kernel_ = 0, operations_ = 0;
};

}  // namespace bench
