// European options by Black and Scholes, call and put at once: two results, one kernel.
// black_scholes [OPTIONS]
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include <ingot/ingot.hpp>

#include "measured.hpp"

using namespace ingot;

namespace {

/// Prices of calls and puts on a spot S, with strike K and time T in years, at an interest rate and a volatility.
auto black_scholes(const array<float>& S, const array<float>& K, const array<float>& T, float r, float sigma) {
    const auto deviation = sigma * sqrt(T);
    const auto d1 = (log(S / K) + (r + sigma * sigma / 2) * T) / deviation;
    const auto d2 = d1 - deviation;
    const auto present = K * exp(-r * T);
    return eval(S * ndtr(d1) - present * ndtr(d2), present * ndtr(-d2) - S * ndtr(-d1));
}

}  // namespace

int main(int argc, char** argv) {
    const device d = current_device();
    const index_t n = argc > 1 ? std::atoll(argv[1]) : index_t{1} << (d.is_cuda() ? 26 : 22);
    const float r = 0.02f, sigma = 0.3f;
    const array<float> S = 10 + 90 * random::uniform<float>({n});
    const array<float> K = 10 + 90 * random::uniform<float>({n});
    const array<float> T = 0.1 + 2 * random::uniform<float>({n});

    const measured m = measure([&] { black_scholes(S, K, T, r, sigma); });
    const auto [call, put] = black_scholes(S, K, T, r, sigma);

    std::printf("%lld options, call and put, on %s, %s\n\n", static_cast<long long>(n), to_string(d).c_str(),
                d.name().c_str());
    std::cout << "spot   " << S << "\nstrike " << K << "\nyears  " << T << "\ncall   " << call << "\nput    " << put
              << "\n\n";

    // A call less a put is the stock less the strike's present value, whatever happens.
    const auto residual = abs(call - put - (S - K * exp(-r * T)));
    std::printf("Put-call parity holds to %.1e of the spot on average.\n",
                sum(astype<double>(residual / S)).item() / static_cast<double>(n));

    const double bytes = 5.0 * sizeof(float) * static_cast<double>(n);  // three read, two written
    std::printf("%llu kernel, %.1f us, %.1f GB/s, %.2f billion prices a second\n",
                static_cast<unsigned long long>(m.kernels), m.microseconds, rate(bytes, m.microseconds),
                2 * static_cast<double>(n) / m.microseconds / 1e3);
}
