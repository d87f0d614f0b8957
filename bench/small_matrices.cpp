// Batches of small matrices on the host: the time of one call of each solver, and of one matrix in it, beside that of a
// batch of one. Prints a line for each.
//   INGOT_DEVICE=host small_matrices
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include <ingot/ingot.hpp>

namespace {

using namespace ingot;

/// The least of some calls, in microseconds.
double least_time(const std::function<void()>& call) {
    double least = 1e12;
    for (int turn = 0; turn < 7; ++turn) {
        const auto begun = std::chrono::steady_clock::now();
        call();
        least = std::min(least,
                         std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count());
    }
    return least;
}

void measure(index_t count, index_t n) {
    random::generator g(1);
    const array<double> a = g.normal<double>({count, n, n}) + 4 * eye(n), b = g.normal<double>({count, n, 1}),
                        definite = matmul(a, mT(a));
    const auto print = [&](const char* name, const std::function<void()>& call) {
        const double time = least_time(call);
        std::printf("%-10s %6ld of %3ld x %-3ld  %10.1f us  %8.3f us each\n", name, static_cast<long>(count),
                    static_cast<long>(n), static_cast<long>(n), time, time / static_cast<double>(count));
    };
    print("inv", [&] { (void)linalg::inv(a); });
    print("solve", [&] { (void)linalg::solve(a, b); });
    print("cholesky", [&] { (void)linalg::cholesky(definite); });
    print("eigh", [&] { (void)linalg::eigh(definite); });
    print("svdvals", [&] { (void)linalg::svdvals(a); });
}

}  // namespace

int main() {
    for (const index_t n : {2, 8, 30, 100})
        for (const index_t count : {1, 200, 5000})
            if (count * n * n <= 5'000'000) measure(count, n);
}
