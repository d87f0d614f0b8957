// Compares a statement's result with its value in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <string>

#include "exact.hpp"

namespace bench {

struct verdict {
    double closest = 0;  // the largest error as a share of what it may be
    double blunt = 0;    // what the error may be on average, as a share of the values
};

/// Judges result k, given whole; throws where an element is further off than it may be.
template <class T>
verdict judge(const exact_results& exact, std::size_t k, std::span<const T> got) {
    double closest = 0, errors = 0, sizes = 0;
    std::size_t wrong = 0, all = 0;
    char first[160] = "";
    exact.for_each(k, [&](std::uint64_t at, double wanted, double error) {
        // Twice, as an error of the errors, and as double is not exact either where the result is double.
        const double value = static_cast<double>(got[at]), off = std::abs(value - wanted), most = 2 * error + 1e-30;
        ++all;
        errors += error;
        sizes += std::abs(wanted);
        if (off <= most) {
            closest = std::max(closest, off / most);
            return;
        }
        if (wrong++ == 0)
            std::snprintf(first, sizeof first, "result %d at %llu: %.9g instead of %.9g, which may be off by %.3g",
                          static_cast<int>(k), static_cast<unsigned long long>(at), value, wanted, most);
    });
    if (wrong != 0)
        throw std::runtime_error(std::to_string(wrong) + " of " + std::to_string(all) + " elements are wrong; " +
                                 first);
    return {closest, sizes > 0 ? errors / sizes : 0};
}

}  // namespace bench
