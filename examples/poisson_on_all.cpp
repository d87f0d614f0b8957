// Poisson's equation in a square with zeros on its rim, by conjugate gradients, on all GPUs of this machine or four
// ranks of the host. The ranks form a grid, and each has a block of the square. Sums over all blocks are equal on every
// rank, so that all ranks end after the same iteration.
// poisson_on_all [N]
#include <cstdio>
#include <cstdlib>

#include <ingot/distributed.hpp>
#include <ingot/ingot.hpp>

using namespace ingot;
namespace dist = ingot::distributed;

namespace {

void solve(dist::session& s, index_t n) {
    const int across = s.size() % 2 == 0 ? 2 : 1;
    const dist::mesh grid(s, {"y", "x"}, {s.size() / across, across});
    const auto blocks = dist::split(grid, {"y", "x"}, dist::ghost(1));
    const slice in(1, -1), low(0, -2), high(2, none);

    // The right side has the solution `wanted`.
    array<double> wanted = dist::zeros({n, n}, blocks);
    wanted(in, in) = random::normal<double>({n - 2, n - 2});
    const auto laplacian = [&](array<double>& to, const array<double>& u) {
        to(in, in) = 4 * u(in, in) - u(low, in) - u(high, in) - u(in, low) - u(in, high);
    };
    array<double> b = dist::zeros({n, n}, blocks), q = b, x = b;
    laplacian(b, wanted);

    array<double> r = b, d = b;
    double rr = sum(r * r).item();
    const double enough = 1e-20 * rr;
    int iterations = 0;
    for (; rr > enough && iterations < 10 * n; ++iterations) {
        laplacian(q, d);
        const double alpha = rr / sum(d * q).item();
        x += alpha * d;
        r -= alpha * q;
        const double next = sum(r * r).item();
        d = r + next / rr * d;
        rr = next;
    }
    const double off = (norm(x - wanted) / norm(wanted)).item();
    if (s.rank() == 0)
        std::printf("%d ranks on %s, %lld^2 points: %d iterations, off by %.1e\n", s.size(),
                    to_string(s.device()).c_str(), static_cast<long long>(n), iterations, off);
}

}  // namespace

int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoi(argv[1]) : 256;
    dist::run([&](dist::session& s) { solve(s, n); });
}
