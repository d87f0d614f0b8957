// The heat equation on the unit square, by explicit steps over slices: each step is one kernel. The lowest mode decays
// by the same factor in every step, which the result is compared with.
// heat [N] [STEPS]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 256;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 500;
    const double pi = 3.141592653589793, h = 1.0 / static_cast<double>(n - 1), share = 0.2;  // of h^2: a time step
    const array<double> mode = sin(pi * linspace(0, 1, n));
    array<double> u = mode(all, newaxis) * mode, v = zeros_like(u);
    const array<double> start = u;

    const auto before = counters().kernel_launches;
    const slice inner(1, -1), low(0, -2), high(2, none);
    for (int step = 0; step < steps; ++step) {
        v(inner, inner) = u(inner, inner) + share * (u(low, inner) + u(high, inner) + u(inner, low) + u(inner, high) -
                                                     4 * u(inner, inner));
        std::swap(u, v);
    }
    const auto launched = counters().kernel_launches - before;

    const double factor = 1 - 8 * share * std::pow(std::sin(pi * h / 2), 2);
    const double off = max(abs(u - start * std::pow(factor, steps))).item();
    std::printf("%lld by %lld points, %d steps, %llu kernels\n", static_cast<long long>(n), static_cast<long long>(n),
                steps, static_cast<unsigned long long>(launched));
    std::printf("hottest: %.6f, off what it should be: %.1e\n", max(u).item(), off);
}
