// The example conjugate_gradient as one launch: a loop on the device, which ends where the residual says so and of
// which the host reads nothing. What is repeated writes every array where it is; two iterations a turn, for the
// residual and its successor change places. Beside it the same functions run one by one, which reads a number every
// turn. conjugate_gradient_graph [N]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

const slice inside(1, -1), before(none, -2), after(2, none);

/// Minus the Laplacian of a function on a grid with a border of zeros, times the square of the grid's spacing.
auto laplacian(const array<double>& u) {
    return 4 * u(inside, inside) - u(before, inside) - u(after, inside) - u(inside, before) - u(inside, after);
}

/// Conjugate gradients in the variant of Chronopoulos and Gear, on Poisson's equation.
struct solver {
    index_t n;
    double h = 1.0 / static_cast<double>(n + 1);
    array<double> r = zeros<double>({n + 2, n + 2}), next = zeros<double>({n + 2, n + 2});
    array<double> x = zeros<double>({n, n}), p = zeros<double>({n, n}), s = zeros<double>({n, n});
    struct scalars {
        array<double> rr = empty({}), alpha = empty({});  // the residual's square, the step
    } odd{}, even{};
    array<double> beta = empty({}), enough = empty({}), iterations = empty({});

    /// From the right-hand side and a first guess.
    void start(const array<double>& b, const array<double>& guess) {
        assign(x, guess);
        p.fill(0);
        s.fill(0);
        next(inside, inside) = x;
        r(inside, inside) = h * h * b - laplacian(next);
        next.fill(0);
        even.rr.fill(std::numeric_limits<double>::infinity());
        even.alpha.fill(1);
        iterations.fill(0);
        assign(enough, 1e-20 * sum(r * r));
    }
    void iterate(const array<double>& from, const scalars& last, array<double>& to, scalars& now) {
        const auto Ar = laplacian(from);
        const auto rr = sum(from(inside, inside) * from(inside, inside));
        assign(std::forward_as_tuple(now.rr, beta, now.alpha), rr, rr / last.rr,
               rr / (sum(from(inside, inside) * Ar) - rr / last.rr * rr / last.alpha));
        assign(std::forward_as_tuple(p, s, x, to(inside, inside)), from(inside, inside) + beta * p, Ar + beta * s,
               x + now.alpha * (from(inside, inside) + beta * p), from(inside, inside) - now.alpha * (Ar + beta * s));
    }
    void solve(const array<double>& b, const array<double>& guess) {
        start(b, guess);
        loop_while([&] { return even.rr > enough; },
                   [&] {
                       iterate(r, even, next, odd);
                       iterate(next, odd, r, even);
                       iterations += 2;
                   });
    }
};

template <class F>
double milliseconds(F run) {
    synchronize();
    const auto start = std::chrono::steady_clock::now();
    run();
    synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : d.is_cuda() ? 1024 : 256;
    const double h = 1.0 / static_cast<double>(n + 1), pi = 3.141592653589793;
    const array<double> t = arange<double>(static_cast<double>(n)) * h + h;
    const array<double> solution = sin(pi * t)(all, newaxis) * sin(2 * pi * t), b = 5 * pi * pi * solution;
    const array<double> guess = 0.1 * random::generator(1).normal<double>({n, n});

    solver poisson{n};
    const graph whole = capture([&] { poisson.solve(b, guess); });
    std::printf("%lld x %lld unknowns, float64, on %s, %s; %zu kernels are recorded\n\n", static_cast<long long>(n),
                static_cast<long long>(n), to_string(d).c_str(), d.name().c_str(), whole.size());
    const auto report = [&](const char* how, auto run) {
        run();  // compiles
        const auto launched = counters().kernel_launches;
        const double time = milliseconds(run);
        const auto launches = counters().kernel_launches - launched;
        std::printf("%-12s %6.0f iterations, %8llu launches, %10.2f ms, largest difference %.2e\n", how,
                    poisson.iterations.item(), static_cast<unsigned long long>(launches), time,
                    max(abs(poisson.x - solution)).item());
    };
    report("one launch", [&] { whole.launch(); });
    report("with reads", [&] { poisson.solve(b, guess); });
}
