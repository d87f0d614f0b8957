// benchmark: times many calls of one function by the CPU's clock and by two events on each GPU.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <string>

#include <ingot/core/device.hpp>
#include <ingot/core/error.hpp>
#include <ingot/kernels/measure.hpp>

#include "runtime/system/number_text.hpp"

namespace ingot {

namespace {

void print_times(std::ostream& out, const std::string& where, const std::vector<double>& times) {
    double sum = 0, squares = 0;
    for (double t : times) sum += t;
    const double mean = sum / static_cast<double>(times.size());
    for (double t : times) squares += (t - mean) * (t - mean);
    const auto [low, high] = std::minmax_element(times.begin(), times.end());
    char text[160];
    std::snprintf(text, sizeof text, ":%9.3f us", mean);
    out << "    " << where << text;
    if (times.size() < 2) return;
    std::snprintf(text, sizeof text, "   +/-%6.3f (min:%9.3f / max:%9.3f) us",
                  std::sqrt(squares / static_cast<double>(times.size())), *low, *high);
    out << text;
}

/// A device's stream, and the events before and after a call.
struct watched {
    ingot::device device;
    stream on;
    event before{}, after{};
};

/// Lists each device once, with its stream: the thread's current stream where it belongs to the device.
std::vector<watched> watch(std::vector<device> devices) {
    if (devices.empty()) devices.push_back(current_device());
    std::vector<watched> all;
    for (const device d : devices) {
        if (std::ranges::find(all, d, &watched::device) != all.end()) continue;
        if (d == current_device()) {
            all.push_back({d, current_stream()});
        } else {
            const with_device other(d);
            all.push_back({d, current_stream()});
        }
    }
    return all;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const benchmark_result& r) {
    constexpr std::size_t name_width = 20;
    out << r.name << std::string(name_width - std::min(name_width, r.name.size()), ' ') << ':';
    if (!r.cpu.empty()) print_times(out, "CPU", r.cpu);
    for (const device_times& d : r.devices) {
        out << ' ';
        print_times(out, "GPU-" + std::to_string(d.device.index()), d.us);
    }
    return out << '\n';
}

benchmark_result detail::benchmark(void (*call)(void*), const void* fn, const benchmark_options& options) {
    using clock = std::chrono::steady_clock;
    if (options.repeats < 1 || options.warm_up < 0)
        throw dtype_error("[benchmark] " + std::to_string(options.repeats) + " repeats after " +
                          std::to_string(options.warm_up) + " calls; at least 1 after 0 are wanted");
    if (!(options.max_duration > 0))
        throw dtype_error("[benchmark] max_duration " + runtime::number_text(options.max_duration) +
                          "; seconds above 0 are wanted");
    std::vector<watched> devices = watch(options.devices);
    benchmark_result r;
    r.name = options.name;
    for (int i = 0; i < options.warm_up; ++i) call(const_cast<void*>(fn));
    for (const watched& d : devices) d.on.synchronize();
    std::erase_if(devices, [](const watched& d) { return d.device.is_host(); });  // done when the call returns
    for (const watched& d : devices) r.devices.push_back({d.device, {}});
    const auto began = clock::now();
    for (int i = 0; i < options.repeats; ++i) {
        for (watched& d : devices) d.before.record(d.on);
        const auto start = clock::now();
        call(const_cast<void*>(fn));
        const auto end = clock::now();
        for (watched& d : devices) d.after.record(d.on);
        for (std::size_t k = 0; k < devices.size(); ++k) {
            devices[k].after.synchronize();
            r.devices[k].us.push_back(1e3 * static_cast<double>(elapsed(devices[k].before, devices[k].after)));
        }
        r.cpu.push_back(std::chrono::duration<double, std::micro>(end - start).count());
        if (std::chrono::duration<double>(clock::now() - began).count() >= options.max_duration) break;
    }
    if (!r.devices.empty()) r.gpu = r.devices.front().us;
    return r;
}

}  // namespace ingot
