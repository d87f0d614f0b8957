// How the examples measure: kernels from the counters, microseconds as the best of some runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <ingot/core/counters.hpp>
#include <ingot/kernels/measure.hpp>

struct measured {
    std::uint64_t compiles, kernels;  // compiles of the first run, launches of one
    double microseconds;              // on a GPU between events on the stream, else on the host's clock
};

template <class F>
measured measure(F run) {
    const auto before = ingot::counters();
    run();
    const auto after = ingot::counters();
    const ingot::benchmark_result times = ingot::benchmark(run, {.repeats = 20, .warm_up = 3});
    const std::vector<double>& us = times.gpu.empty() ? times.cpu : times.gpu;
    return {after.compiles - before.compiles, after.kernel_launches - before.kernel_launches,
            *std::min_element(us.begin(), us.end())};
}

/// 1e9 bytes a second.
inline double rate(double bytes, double microseconds) { return bytes / microseconds / 1e3; }
