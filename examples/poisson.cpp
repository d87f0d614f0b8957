// Poisson's equation on a torus, solved twice: at once, by Fourier transforms, in which the Laplacian is a division;
// and by conjugate gradients, whose Laplacian is a sum of rolls. Both solve the same equations, so that they agree.
// poisson [N]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// Minus the Laplacian on a grid of spacing 1 that goes on at the other side.
auto laplacian(const array<double>& u) {
    return 4 * u - roll(u, 1, 0) - roll(u, -1, 0) - roll(u, 1, 1) - roll(u, -1, 1);
}

array<double> solve_by_fft(const array<double>& f) {
    const index_t n = f.shape()[0];
    const double turn = 2 * std::numbers::pi;
    const auto down = fft::fftfreq(n)(all, newaxis);
    const array<double> across = fft::rfftfreq(n);
    const auto eigenvalues = 4 - 2 * cos(turn * down) - 2 * cos(turn * across);
    // The mean, whose eigenvalue is 0, is free: it is set to 0.
    return fft::irfft2(where(eigenvalues > 0, fft::rfft2(f) / eigenvalues, 0.0), f.shape().values());
}

array<double> solve_by_gradients(const array<double>& f, double tolerance, int& iterations) {
    array<double> x = zeros_like(f), r = f, p = f, rr = sum(r * r);
    const double wanted = tolerance * tolerance * rr.item();
    for (iterations = 0; iterations % 10 != 0 || rr.item() > wanted; ++iterations) {
        const array<double> Ap = laplacian(p), alpha = rr / sum(p * Ap);
        assign(std::forward_as_tuple(x, r), x + alpha * p, r - alpha * Ap);
        const array<double> next = sum(r * r);
        p = r + next / rr * p;
        rr = next;
    }
    return x;
}

/// Runs f twice, for the first run compiles, and prints what the second took.
template <class F>
void report(const char* name, F f) {
    f();
    synchronize();
    const counter_values before = counters();
    const auto start = std::chrono::steady_clock::now();
    f();
    synchronize();
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    const counter_values after = counters();
    std::printf("%-20s %8.2f ms, %llu kernels, %llu library calls\n", name, took.count(),
                static_cast<unsigned long long>(after.kernel_launches - before.kernel_launches),
                static_cast<unsigned long long>(after.library_calls - before.library_calls));
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 256;

    // A round charge and two of the other sign, all of them together neutral.
    const array<double> t = linspace(0, 1, n);
    const auto blob = [&](double y, double x) {
        const auto down = (t - y)(all, newaxis), across = t - x;
        return exp(-(down * down + across * across) / 0.002);
    };
    array<double> charge = 2 * blob(0.5, 0.5) - blob(0.25, 0.3) - blob(0.7, 0.8);
    charge = charge - mean(charge);

    array<double> u, v;
    int iterations = 0;
    std::printf("%lld x %lld points on %s\n", static_cast<long long>(n), static_cast<long long>(n),
                current_device().is_host() ? "the host" : "a GPU");
    report("Fourier transforms", [&] { u = solve_by_fft(charge); });
    report("conjugate gradients", [&] { v = solve_by_gradients(charge, 1e-10, iterations); });
    std::printf("iterations of the latter: %d\n", iterations);
    std::printf("residual of the former: %.1e\n", max(abs(charge - laplacian(u))).item());
    std::printf("potential from %.3f to %.3f, largest difference: %.1e\n", min(u).item(), max(u).item(),
                max(abs(u - (v - mean(v)))).item());
}
