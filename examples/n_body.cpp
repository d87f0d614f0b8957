// Bodies that attract each other, by broadcasting: of all pairs one number is stored, and their differences along the
// three axes never are, for the sums over them are two kernels. Leapfrog steps keep the energy, which the result is
// compared with. n_body [N] [STEPS]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

constexpr double softening = 0.05;

/// From each body (rows) to each (columns), along three axes: shape (n, n, 3).
auto between(const array<double>& x) { return x(newaxis) - x(all, newaxis); }
auto distance(const array<double>& x) { return sqrt(sum(between(x) * between(x), 2) + softening * softening); }

array<double> acceleration(const array<double>& x, const array<double>& mass) {
    const auto pull = mass / power(distance(x), 3);
    return sum(between(x) * pull(all, all, newaxis), 1);
}
double energy(const array<double>& x, const array<double>& v, const array<double>& mass) {
    const auto moving = sum(mass * sum(v * v, 1)) / 2;
    const auto pairs = triu(outer(mass, mass) / distance(x), 1);
    return (moving - sum(pairs)).item();
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 512;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 200;
    const double dt = 1e-3;
    random::seed(1);
    array<double> x = random::normal<double>({n, 3}), v = random::normal<double>({n, 3}) * 0.3;
    const array<double> mass = (0.5 + random::uniform<double>({n})) / static_cast<double>(n);
    v -= sum(mass(all, newaxis) * v, 0) / sum(mass);  // the whole is at rest

    const double before = energy(x, v, mass);
    array<double> a = acceleration(x, mass);
    const auto started = counters().kernel_launches;
    for (int step = 0; step < steps; ++step) {
        v += a * (dt / 2);
        x += v * dt;
        a = acceleration(x, mass);
        v += a * (dt / 2);
    }
    const auto launched = counters().kernel_launches - started;
    const double after = energy(x, v, mass);
    const double drift = sqrt(sum(power(sum(mass(all, newaxis) * v, 0), 2))).item();
    std::printf("%lld bodies, %d steps, %.1f kernels a step\n", static_cast<long long>(n), steps,
                static_cast<double>(launched) / steps);
    std::printf("energy: %.9f before, %.9f after, changed by %.1e\n", before, after, std::fabs(after / before - 1));
    std::printf("momentum: %.1e\n", drift);
}
