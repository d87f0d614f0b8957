// One expression, one kernel: where(x - 2 > y, x * y, x + y), fused and operator by operator.
// where [ELEMENTS]
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : index_t{1} << (d.is_cuda() ? 28 : 24);
    const array<float> x = random::normal<float>({n});
    const array<float> y = random::uniform<float>({n});
    array<float> r, same;

    const auto fused = [&] { r = where(x - 2 > y, x * y, x + y); };
    const auto one_by_one = [&] {
        const array<float> shifted = x - 2;
        const array<bool> larger = shifted > y;
        const array<float> product = x * y;
        const array<float> total = x + y;
        same = where(larger, product, total);
    };

    std::printf("where(x - 2 > y, x * y, x + y), %lld float32 elements\non %s, %s\n\n", static_cast<long long>(n),
                to_string(d).c_str(), d.name().c_str());
    std::printf("%-12s %8s %14s %12s %12s\n", "", "kernels", "bytes/element", "us", "GB/s");
    const auto report = [&](const char* how, double bytes, auto run) {
        const measured m = measure(run);
        std::printf("%-12s %8llu %14.0f %12.1f %12.1f\n", how, static_cast<unsigned long long>(m.kernels), bytes,
                    m.microseconds, rate(bytes * static_cast<double>(n), m.microseconds));
        return m.microseconds;
    };
    const double fused_us = report("fused", 12, fused);
    const double apart_us = report("op by op", 54, one_by_one);
    std::printf("\nFused is %.1f times as fast; the results differ in %lld elements.\n", apart_us / fused_us,
                static_cast<long long>(sum(r != same).item()));

    std::cout << "\nr = " << r << "\n\nThe kernel, as it was generated:\n\n" << source(where(x - 2 > y, x * y, x + y));
}
