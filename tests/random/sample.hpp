// The deviation of samples from their distribution: their moments, and the Kolmogorov-Smirnov distance at a thousand
// points.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ingot/ingot.hpp>

namespace ingot::testing {

/// 10^6 draws, 10^7 where INGOT_TEST_ALL is set; what INGOT_TEST_DRAWS says.
inline index_t draws() {
    if (const char* const given = std::getenv("INGOT_TEST_DRAWS")) return std::atoll(given);
    return std::getenv("INGOT_TEST_ALL") != nullptr ? 10'000'000 : 1'000'000;
}

/// A distribution: its function between two points, a grid of which is looked at, its mean and its variance; NaN where
/// there is none that a sample would show.
struct distribution {
    double low, high;
    std::function<double(double)> below;
    double mean, variance;
    int steps = 1000;
};

/// A distribution of integers: its function is compared at each of them.
inline distribution of_integers(int low, int high, std::function<double(double)> below, double mean, double variance) {
    return {static_cast<double>(low), static_cast<double>(high), std::move(below), mean, variance, high - low};
}

/// The largest difference of distribution functions.
template <class T>
double distance(const std::vector<T>& sample, const distribution& of) {
    const double step = (of.high - of.low) / of.steps;
    std::vector<index_t> counts(static_cast<std::size_t>(of.steps) + 2);
    for (const T x : sample) {
        const double at = std::ceil((static_cast<double>(x) - of.low) / step);
        ++counts[static_cast<std::size_t>(std::clamp(at, 0.0, of.steps + 1.0))];
    }
    double most = 0, below = 0;
    for (int j = 0; j <= of.steps; ++j) {
        below += static_cast<double>(counts[static_cast<std::size_t>(j)]);
        most = std::max(most, std::abs(below / static_cast<double>(sample.size()) - of.below(of.low + j * step)));
    }
    return most;
}

/// One sample in a thousand exceeds this distance; one moment in a million exceeds this number of deviations.
inline double most_distance(std::size_t n) { return 1.95 / std::sqrt(static_cast<double>(n)); }
inline constexpr double deviations = 5;

template <class E>
void check_sample(const std::string& name, const E& drawn, const distribution& of) {
    INFO(name);
    const auto sample = drawn.to_host();
    const auto n = static_cast<double>(sample.size());
    bool finite = true;
    double mean = 0, second = 0, fourth = 0;
    for (const auto x : sample)
        mean += static_cast<double>(x) / n, finite = finite && std::isfinite(static_cast<double>(x));
    CHECK(finite);
    for (const auto x : sample) {
        const double square = (static_cast<double>(x) - mean) * (static_cast<double>(x) - mean);
        second += square / n;
        fourth += square * square / n;
    }
    if (!std::isnan(of.mean)) CHECK(std::abs(mean - of.mean) <= deviations * std::sqrt(of.variance / n));
    if (!std::isnan(of.variance))
        CHECK(std::abs(second - of.variance) <= deviations * std::sqrt((fourth - second * second) / n));
    CHECK(distance(sample, of) < most_distance(sample.size()));
}

// ---- distribution functions that <cmath> has not -----------------------------------------------------------------

inline double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// The gamma distribution of scale 1: the incomplete gamma function, by its series.
inline double gamma_below(double k, double x) {
    if (x <= 0) return 0;
    double term = 1 / k, sum = term;
    for (double i = k + 1; term > sum * 1e-17; ++i) sum += term *= x / i;
    return std::min(1.0, sum * std::exp(k * std::log(x) - x - std::lgamma(k)));
}

/// The beta distribution. The substitution x = sin(t)^2 makes it smooth enough for Simpson's rule where a and b are
/// halves of whole numbers.
inline double beta_below(double a, double b, double x) {
    const int steps = 200;
    const double to = std::asin(std::sqrt(std::clamp(x, 0.0, 1.0))), step = to / steps;
    const auto density = [&](double t) {
        return 2 * std::pow(std::sin(t), 2 * a - 1) * std::pow(std::cos(t), 2 * b - 1);
    };
    double sum = density(0) + density(to);
    for (int j = 1; j < steps; ++j) sum += (j % 2 ? 4 : 2) * density(j * step);
    return sum * step / 3 * std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b));
}

/// The sums of probabilities of low, low + 1, .. high.
template <class F>
auto summed(int low, int high, F log_probability) {
    std::vector<double> sums;
    double sum = 0;
    for (int k = low; k <= high; ++k) sums.push_back(sum += std::exp(log_probability(k)));
    return [sums, low](double x) { return sums[static_cast<std::size_t>(std::lround(x) - low)]; };
}
inline auto poisson_of(double lam, int low, int high) {
    const auto log_p = [lam](double k) { return k * std::log(lam) - lam - std::lgamma(k + 1); };
    return of_integers(low, high, summed(low, high, log_p), lam, lam);
}
inline auto binomial_of(double n, double p, int low, int high) {
    const auto log_p = [n, p](double k) {
        return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(p) +
               (n - k) * std::log(1 - p);
    };
    return of_integers(low, high, summed(low, high, log_p), n * p, n * p * (1 - p));
}

}  // namespace ingot::testing
