// Evaluates two statements with a bundle of kernels, and prints their values and the number of compiles: for a test
// that needs a process without a compiler.
#include <cstdio>
#include <exception>

#include <ingot/ingot.hpp>

using namespace ingot;

int main(int, char** argv) try {
    const with_cache_bundle kernels(argv[1]);
    const array<float> x{1, 6, 3}, y{2, 3, 4};
    const float largest = max(x * y).item(), total = sum(x - y).item();
    const raw_kernel twice("extern \"C\" __global__ void twice(float* x) { x[threadIdx.x] *= 2; }", "twice");
    array<float> z = x;
    twice(1, 3, inout(z));
    const auto doubled = z.to_host();
    const counter_values c = counters();
    std::printf("%g %g %g; compiled %d, from disk %d, interpreted %d\n", static_cast<double>(largest),
                static_cast<double>(total), static_cast<double>(doubled[1]), static_cast<int>(c.compiles),
                static_cast<int>(c.disk_cache_hits), static_cast<int>(c.interpreter_runs));
} catch (const std::exception& e) {
    std::printf("error: %s\n", e.what());
}
