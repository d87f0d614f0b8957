// Heat in a square plate whose rim is kept at zero, on all GPUs of this machine, or on four ranks of the host; on as
// many as mpirun, srun or torchrun start, where one of them does. Each rank has some rows of the plate, and a row of
// each neighbour beside them, which Ingot exchanges before a step reads it. The statements are those of one GPU.
// heat_on_all [N] [STEPS]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

void heat(dist::session& s, index_t n, int steps) {
    const dist::mesh ranks(s);
    const auto rows = dist::split(ranks, dist::ghost(1));
    const float r = 0.2F, turn = std::numbers::pi_v<float> / static_cast<float>(n - 1);
    const slice in(1, -1), low(0, -2), high(2, none);

    // The slowest mode, which decays by a known factor in each step.
    const auto wave = sin(arange<float>(n) * turn);
    array<float> u = dist::redistribute(wave(all, newaxis) * wave, rows), next = u;
    const float before = norm(u).item();
    const auto step = [&] {
        next(in, in) = u(in, in) + r * (u(low, in) + u(high, in) + u(in, low) + u(in, high) - 4 * u(in, in));
        std::swap(u, next);
    };
    step();  // compiles
    s.barrier();
    const auto start = std::chrono::steady_clock::now();
    for (int k = 1; k < steps; ++k) step();
    s.barrier();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    const double factor = 1 - 8 * r * std::pow(std::sin(turn / 2), 2);
    const double found = norm(u).item() / before, wanted = std::pow(factor, steps);
    const array<float> middle = dist::gather(u(n / 2, slice(0, none, n / 4)));
    if (s.rank() != 0) return;
    std::printf("%d ranks on %s, %lld^2 cells, %d steps: %.1f us a step, %.1f GB/s\n", s.size(),
                to_string(s.device()).c_str(), static_cast<long long>(n), steps, 1e6 * seconds / (steps - 1),
                8e-9 * static_cast<double>(n) * static_cast<double>(n) * (steps - 1) / seconds);
    std::printf("left of the heat: %.6f, by the formula %.6f\n", found, wanted);
    std::printf("a row's middle: %.4f\n", middle(2).item());
    std::printf("rank 0 sent %llu messages\n", static_cast<unsigned long long>(dist::counters(s).messages));
}

}  // namespace

int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoi(argv[1]) : 1024;
    const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
    dist::run([&](dist::session& s) { heat(s, n, steps); });
}
