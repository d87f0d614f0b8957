// Options by Monte Carlo: a European call and an Asian one of the geometric mean, both with a closed form to compare
// with. No random number is stored: they are drawn in the kernels that fold the payoffs. option_pricing [PATHS]
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

constexpr double spot = 100, strike = 105, rate = 0.03, volatility = 0.2, years = 1;

double normal_below(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// A call on what is log-normal at the end, with this mean and deviation of its logarithm.
double closed_form(double mean, double deviation) {
    const double d = (mean - std::log(strike)) / deviation;
    return std::exp(-rate * years) *
           (std::exp(mean + deviation * deviation / 2) * normal_below(d + deviation) - strike * normal_below(d));
}

template <class E>
void report(const char* name, const E& last_price, double exact) {
    const double n = static_cast<double>(last_price.size());
    const auto payoff = std::exp(-rate * years) * maximum(last_price - strike, 0.0);
    eval(mean(payoff), stddev(payoff));  // compiles
    const auto launched = counters().kernel_launches;
    const auto start = std::chrono::steady_clock::now();
    const auto [price, deviation] = eval(mean(payoff), stddev(payoff));
    const double off = price.item() - exact, error = deviation.item() / std::sqrt(n);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    std::printf("%-16s %9.4f, exactly %9.4f: off by %5.2f standard errors of %.4f; kernels: %llu, %.2f ms\n", name,
                price.item(), exact, off / error, error,
                static_cast<unsigned long long>(counters().kernel_launches - launched), time.count());
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): an error ends the program with its text
int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : d.is_cuda() ? 1 << 24 : 1 << 20, dates = 12;
    random::generator g(7);
    std::printf("%lld paths, float64, on %s, %s\n", static_cast<long long>(n), to_string(d).c_str(), d.name().c_str());

    const double drift = rate - volatility * volatility / 2, log_spot = std::log(spot);
    const auto end = spot * exp(drift * years + volatility * std::sqrt(years) * g.normal<double>({n}));
    report("European call", end, closed_form(log_spot + drift * years, volatility * std::sqrt(years)));

    // The logarithm of the geometric mean of the prices at the dates is normal (Kemna and Vorst, Journal of Banking and
    // Finance 14, 1990).
    const double step = years / static_cast<double>(dates), m = static_cast<double>(dates);
    const auto path = cumsum(drift * step + volatility * std::sqrt(step) * g.normal<double>({n, dates}), 1);
    report("Asian call", exp(log_spot + mean(path, 1)),
           closed_form(log_spot + drift * step * (m + 1) / 2,
                       volatility * std::sqrt(step * (m + 1) * (2 * m + 1) / (6 * m))));
}
