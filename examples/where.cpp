// One expression, one kernel: where(x - 2 > y, x * y, x + y), fused and operator by operator.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// Microseconds of the best of some runs; on a GPU measured by events on the stream.
template <class F>
double time_of(F run) {
    const benchmark_result r = benchmark(run, {.repeats = 20, .warm_up = 3});
    const auto& times = r.gpu.empty() ? r.cpu : r.gpu;
    return *std::min_element(times.begin(), times.end());
}

template <class F>
std::uint64_t kernels_in(F run) {
    const auto before = counters().kernel_launches;
    run();
    return counters().kernel_launches - before;
}

}  // namespace

int main() {
    const index_t n = current_device().is_cuda() ? index_t{1} << 28 : index_t{1} << 24;
    const array<float> x = random::normal<float>({n});
    const array<float> y = random::uniform<float>({n});
    array<float> r;

    const auto fused = [&] { r = where(x - 2 > y, x * y, x + y); };
    const auto one_by_one = [&] {
        const array<float> a = x - 2;
        const array<bool> c = a > y;
        const array<float> p = x * y;
        const array<float> s = x + y;
        r = where(c, p, s);
    };

    std::printf("where(x - 2 > y, x * y, x + y), %lld elements, on %s (%s)\n\n", static_cast<long long>(n),
                to_string(current_device()).c_str(), current_device().name().c_str());
    const auto report = [&](const char* how, auto run, double bytes_an_element) {
        run();  // compiles
        const std::uint64_t kernels = kernels_in(run);
        const double us = time_of(run);
        std::printf("%-14s %llu kernel%s %10.1f us %8.0f GB/s for %.0f bytes an element\n", how,
                    static_cast<unsigned long long>(kernels), kernels == 1 ? " " : "s", us,
                    bytes_an_element * static_cast<double>(n) / us / 1e3, bytes_an_element);
    };
    report("fused", fused, 12);
    report("op by op", one_by_one, 54);

    fused();
    std::cout << "\nThe generated source:\n\n"
              << source(where(x - 2 > y, x * y, x + y)) << "\nThe result:\n"
              << r << '\n';
}
