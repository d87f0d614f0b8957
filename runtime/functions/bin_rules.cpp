// The widths of bins by statistical rules.
#include <ingot/statistics/bin_rules.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/system/number_text.hpp"

namespace ingot::detail {

double bin_width(bin_rule rule, const sample_measures& m) {
    const double n = static_cast<double>(m.size);
    const double by_sturges = m.extent / (std::log2(n) + 1);
    switch (rule) {
        case bin_rule::sqrt:
            return m.extent / std::sqrt(n);
        case bin_rule::sturges:
            return by_sturges;
        case bin_rule::rice:
            return m.extent / (2 * std::pow(n, 1.0 / 3));
        case bin_rule::scott:
            return std::pow(24 * std::sqrt(std::numbers::pi) / n, 1.0 / 3) * m.deviation;
        case bin_rule::doane: {
            if (n <= 2 || !(m.deviation > 0)) return 0;
            const double of_skewness = std::sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
            return m.extent / (1 + std::log2(n) + std::log2(1 + std::fabs(m.skewness) / of_skewness));
        }
        case bin_rule::fd:
            return 2 * m.between_quartiles * std::pow(n, -1.0 / 3);
        default: {
            // If values hardly differ, the quartiles are close together, so the number of values bounds the number of
            // bins.
            const double by_quartiles = std::max(bin_width(bin_rule::fd, m), bin_width(bin_rule::sqrt, m) / 2);
            return std::min(by_quartiles, by_sturges);
        }
    }
}

index_t bins_of_width(const char* operation, double extent, double width) {
    const double count = std::ceil(extent / width);
    if (!(count < 0x1p53))
        throw error("[" + std::string(operation) + "] bins of width " + runtime::number_text(width) + " over " +
                    std::to_string(extent) + ": too many to count");
    return count < 1 ? 1 : static_cast<index_t>(count);
}

}  // namespace ingot::detail
