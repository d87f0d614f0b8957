// Gaussian-process regression: a smooth function from noisy samples. The covariances are maps, their factor and the
// solution are library calls, and what comes out is compared with the function.
// gaussian_process [SAMPLES]
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

/// exp(-(a - b)^2 / (2 l^2)) for each pair.
auto covariance(const array<double>& a, const array<double>& b, double length) {
    return exp(square(a(all, newaxis) - b) * (-0.5 / (length * length)));
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const index_t n = argc > 1 ? std::atoll(argv[1]) : 400;
    const double length = 0.7, noise = 0.1;
    random::generator g(11);
    const array<double> x = 10.0 * g.uniform<double>({n});
    const array<double> y = sin(x) + 0.3 * x + noise * g.normal<double>({n});
    const array<double> t = linspace(0.5, 9.5, 200), wanted = sin(t) + 0.3 * t;

    const array<double> mean = full({1}, ingot::mean(y).item());
    const array<double> known = covariance(x, x, length) + noise * noise * eye(n);
    const array<double> factor = linalg::cholesky(known);
    const array<double> weights = linalg::solve(known, y - mean);
    const array<double> between = covariance(t, x, length);
    const array<double> predicted = matmul(between, weights) + mean;
    const array<double> reduced = linalg::solve(factor, array<double>(transpose(between)));
    const array<double> deviation = sqrt(maximum(1.0 - sum(square(reduced), 0), 0.0));

    std::printf("%lld samples of noise %.1f; log likelihood %.1f\n", static_cast<long long>(n), noise,
                (-0.5 * sum((y - mean) * weights) - sum(log(diagonal(factor))) -
                 0.5 * static_cast<double>(n) * std::log(2 * 3.141592653589793))
                    .eval()
                    .item());
    std::printf("off by %.3f on average, at most %.3f; its own guess %.3f\n",
                sqrt(ingot::mean(square(predicted - wanted))).eval().item(), max(abs(predicted - wanted)).item(),
                ingot::mean(deviation).item());
}
