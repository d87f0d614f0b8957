// benchmark: one function, many calls, the CPU's clock and two events.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ostream>

#include <ingot/device.hpp>
#include <ingot/measure.hpp>

namespace ingot {

namespace {

void print_times(std::ostream& out, const char* where, const std::vector<double>& times) {
    double sum = 0, squares = 0;
    for (double t : times) sum += t;
    const double mean = sum / static_cast<double>(times.size());
    for (double t : times) squares += (t - mean) * (t - mean);
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    char text[160];
    std::snprintf(text, sizeof text, "  %s: %9.3f us  +/- %6.3f (min: %9.3f / max: %9.3f) us", where, mean,
                  std::sqrt(squares / static_cast<double>(times.size())), *low, *high);
    out << text;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const benchmark_result& r) {
    out << r.name << " :";
    if (!r.cpu.empty()) print_times(out, "CPU", r.cpu);
    if (!r.gpu.empty()) print_times(out, "GPU", r.gpu);
    return out << '\n';
}

benchmark_result detail::benchmark(void (*call)(void*), const void* fn, const benchmark_options& options) {
    using clock = std::chrono::steady_clock;
    benchmark_result r;
    r.name = options.name;
    for (int i = 0; i < options.warm_up; ++i) call(const_cast<void*>(fn));
    synchronize();
    const bool on_gpu = current_device().is_cuda();
    for (int i = 0; i < options.repeats; ++i) {
        event before, after;
        if (on_gpu) before.record();
        const auto start = clock::now();
        call(const_cast<void*>(fn));
        const auto end = clock::now();
        if (on_gpu) {
            after.record();
            after.synchronize();
            r.gpu.push_back(1e3 * static_cast<double>(elapsed(before, after)));
        }
        r.cpu.push_back(std::chrono::duration<double, std::micro>(end - start).count());
    }
    return r;
}

}  // namespace ingot
