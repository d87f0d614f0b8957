// Evaluates two statements and prints their values and how they were come by, or the error: for tests that
// need a process with an environment of its own.
#include <cstdio>
#include <exception>

#include <ingot/ingot.hpp>

using namespace ingot;

int main() try {
    const array<float> x{1, 6, 3}, y{2, 3, 4};
    const auto r = where(x - 2 > y, x * y, x + y).to_host();
    const float total = sum(x * y).item();
    const counter_values c = counters();
    std::printf("%g %g %g, %g; compiled %d, from disk %d, interpreted %d\n", static_cast<double>(r[0]),
                static_cast<double>(r[1]), static_cast<double>(r[2]), static_cast<double>(total),
                static_cast<int>(c.compiles), static_cast<int>(c.disk_cache_hits),
                static_cast<int>(c.interpreter_runs));
} catch (const compile_error& e) {
    std::printf("compile_error: %s\n", e.what());
} catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
}
