// Poisson's equation on a square by conjugate gradients, in plain array code: the 5-point Laplacian is a sum of slices,
// every scalar of the method stays on the device as a 0-d array. The variant of Chronopoulos and Gear needs its two
// sums at one place, so an iteration is two kernels: one sums, one updates. The host reads one number every tenth.
// conjugate_gradient [N]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

namespace {

const slice inside(1, -1), before(none, -2), after(2, none);

/// Minus the Laplacian of a function on a grid with a border of zeros, times the square of the grid's spacing.
auto laplacian(const array<double>& u) {
    return 4 * u(inside, inside) - u(before, inside) - u(after, inside) - u(inside, before) - u(inside, after);
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : d.is_cuda() ? 1024 : 256;
    const double h = 1.0 / static_cast<double>(n + 1), pi = 3.141592653589793;

    // -u_xx - u_yy = f, of which a product of sines is the solution, and some noise that has to go.
    const array<double> t = arange<double>(static_cast<double>(n)) * h + h;
    const array<double> solution = sin(pi * t)(all, newaxis) * sin(2 * pi * t);
    array<double> r = zeros<double>({n + 2, n + 2}), next = r;  // the residual, with its border
    array<double> x = 0.1 * random::generator(1).normal<double>({n, n});
    array<double> p = zeros<double>({n, n}), s = p;  // the direction, and the Laplacian of it
    next(inside, inside) = x;
    r(inside, inside) = 5 * pi * pi * h * h * solution - laplacian(next);
    next.fill(0);

    std::printf("%lld x %lld unknowns, float64, on %s, %s\n\n%10s %14s %9s\n", static_cast<long long>(n),
                static_cast<long long>(n), to_string(d).c_str(), d.name().c_str(), "iteration", "residual", "kernels");
    array<double> rr_before = full<double>({}, std::numeric_limits<double>::infinity()), step = full<double>({}, 1.0);
    double first = 0, error = 1;
    auto launched = counters().kernel_launches;
    int iteration = 0;
    for (; iteration < 10'000 && error > 1e-10; ++iteration) {
        const auto Ar = laplacian(r);
        const auto rr = sum(r(inside, inside) * r(inside, inside));
        const auto turn = rr / rr_before;
        const auto [sums, beta, alpha] = eval(rr, turn, rr / (sum(r(inside, inside) * Ar) - turn * rr / step));
        // Written where they are, all from what was there before; a sum that stands twice is computed once.
        assign(std::forward_as_tuple(p, s, x, next(inside, inside)), r(inside, inside) + beta * p, Ar + beta * s,
               x + alpha * (r(inside, inside) + beta * p), r(inside, inside) - alpha * (Ar + beta * s));
        std::swap(r, next);
        rr_before = sums;
        step = alpha;
        if (iteration % 10 != 0) continue;
        const double residual = std::sqrt(sums.item());
        if (iteration == 0) first = residual;
        error = residual / first;
        if (iteration % 200 == 0)
            std::printf("%10d %14.3e %9.1f\n", iteration, error,
                        static_cast<double>(counters().kernel_launches - launched) / (iteration + 1));
    }
    std::printf("\nconverged in %d iterations, kernels an iteration: %.2f\n", iteration,
                static_cast<double>(counters().kernel_launches - launched) / iteration);
    std::printf("largest difference from the solution: %.2e\n", max(abs(x - solution)).item());
}
