// Window functions for samples, computed value by value as in NumPy.
#include <ingot/fft/window_functions.hpp>

#include <cmath>
#include <numbers>

#include <ingot/core/creation.hpp>

namespace ingot {

namespace {

/// f of 1 - n, 3 - n, ..., n - 1 (twice the distance from the middle) and of n - 1. A window of one sample is 1.
template <class F>
array<double> window(const char* operation, index_t n, const F& f) {
    if (n < 1) return zeros(0);
    if (n == 1) return ones(1);
    const auto last = static_cast<double>(n - 1);
    return detail::generated<double>(operation, n,
                                     [&](index_t i) { return f(static_cast<double>(1 - n + 2 * i), last); });
}

/// The modified Bessel function of order 0.
double bessel_i0(double x) { return std::cyl_bessel_i(0.0, x); }

}  // namespace

array<double> hanning(index_t n) {
    return window("hanning", n,
                  [](double k, double last) { return 0.5 + 0.5 * std::cos(std::numbers::pi * k / last); });
}

array<double> hamming(index_t n) {
    return window("hamming", n,
                  [](double k, double last) { return 0.54 + 0.46 * std::cos(std::numbers::pi * k / last); });
}

array<double> bartlett(index_t n) {
    return window("bartlett", n, [](double k, double last) { return k <= 0 ? 1 + k / last : 1 - k / last; });
}

array<double> blackman(index_t n) {
    return window("blackman", n, [](double k, double last) {
        return 0.42 + 0.5 * std::cos(std::numbers::pi * k / last) + 0.08 * std::cos(2.0 * std::numbers::pi * k / last);
    });
}

array<double> kaiser(index_t n, double beta) {
    return window("kaiser", n, [beta](double k, double last) {
        const double t = k / last;
        return bessel_i0(beta * std::sqrt(1 - t * t)) / bessel_i0(beta);
    });
}

}  // namespace ingot
