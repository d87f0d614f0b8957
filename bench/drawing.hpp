// The random choices by which the benchmarks draw statements and the tests grow random trees. They use no distribution
// of the standard library, so that a seed draws the same with each.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <vector>

namespace bench {

class drawing : public std::mt19937_64 {
public:
    explicit drawing(std::uint64_t seed) : std::mt19937_64(seed) {}

    /// From 0 to n - 1.
    auto below(auto n) { return static_cast<decltype(n)>((*this)() % static_cast<std::uint64_t>(n)); }
    bool chance(int percent) { return below(100) < percent; }
    /// From 0 to 1, without 1.
    double fraction() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }
    /// From low to high; its logarithm is uniform.
    double logarithmic(double low, double high) { return low * std::pow(high / low, fraction()); }

    template <class T>
    T one_of(std::initializer_list<T> choices) {
        return std::data(choices)[below(choices.size())];
    }
    auto& one_of(auto& choices) { return std::data(choices)[below(std::size(choices))]; }

    /// A shape of about 2^log2_all elements, by cuts of that logarithm: each axis has two elements at least. Half of
    /// the extents become adjust(extent).
    std::vector<std::int64_t> shape(double log2_all, int rank, auto adjust) {
        std::vector<double> cuts{0, log2_all};
        for (int j = 1; j < rank; ++j) cuts.push_back(1 + (log2_all - rank) * fraction());
        std::ranges::sort(cuts);
        std::vector<std::int64_t> extents;
        for (std::size_t j = 1; j < cuts.size(); ++j) {
            const auto extent = static_cast<std::int64_t>(std::exp2(std::max(1.0, cuts[j] - cuts[j - 1])));
            extents.push_back(chance(50) ? adjust(extent) : extent);
        }
        return extents;
    }
};

}  // namespace bench
