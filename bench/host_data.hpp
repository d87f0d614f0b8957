// Inputs made on the host, different for every seed, and results compared there element by element. A stale buffer
// never passes: no two measurements use the same seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mixed.hpp"

namespace bench {

template <class T>
std::vector<T> uniform(std::size_t n, std::uint64_t seed, double low, double high) {
    std::vector<T> values(n);
#pragma omp parallel for
    for (std::size_t i = 0; i < n; ++i) {
        const double u = static_cast<double>(mixed(i + (seed << 40)) >> 11) * 0x1p-53;
        values[i] = static_cast<T>(low + (high - low) * u);
    }
    return values;
}

/// Throws unless error(i) is at most `bound` for every i; NaN never is. Returns the largest error.
template <class Error>
double require(const std::string& what, std::size_t n, double bound, Error error) {
    double worst = 0;
    std::size_t wrong = 0;
#pragma omp parallel for reduction(max : worst) reduction(+ : wrong)
    for (std::size_t i = 0; i < n; ++i) {
        const double e = error(i);
        if (e <= bound)
            worst = worst < e ? e : worst;
        else
            ++wrong;
    }
    if (wrong != 0)
        throw std::runtime_error(what + ": " + std::to_string(wrong) + " of " + std::to_string(n) +
                                 " elements are wrong");
    return worst;
}

}  // namespace bench
