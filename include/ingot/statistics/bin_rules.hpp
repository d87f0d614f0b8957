// Rules that choose the number of a histogram's bins from its values: NumPy's of these names. A rule gives a width; as
// many bins of at most that width as needed span the values.
#pragma once

#include <cmath>
#include <cstdint>

#include <ingot/statistics/histograms.hpp>
#include <ingot/statistics/quantiles.hpp>

namespace ingot {

/// The rules for the number of bins of n values. `sqrt`: sqrt(n) bins. `sturges`: 1 + log2(n). `rice`: 2 n^(1/3).
/// `doane`: Sturges' with a term for skewness. `scott`: bins of width 3.5 deviations / n^(1/3). `fd` (Freedman and
/// Diaconis): twice the distance of the quartiles / n^(1/3). `stone`: minimises an estimate of the squared error, by
/// trying. `automatic`: the more bins of `sturges` and `fd`, of the latter at most 2 sqrt(n) (NumPy 2.3's).
enum class bin_rule : std::uint8_t { automatic, fd, doane, scott, stone, rice, sturges, sqrt };

namespace detail {

/// The measures of the values that rules use.
struct sample_measures {
    index_t size = 0;
    double extent = 0;  // from the least to the greatest
    double deviation = 0, skewness = 0, between_quartiles = 0;
};
/// The width of bins by a rule other than `stone`; 0 where the rule gives none.
INGOT_API double bin_width(bin_rule, const sample_measures&);
/// The number of bins of at most this width. Throws error where they are too many to count.
INGOT_API index_t bins_of_width(const char* operation, double extent, double width);

/// The width by Stone's rule, which tries all numbers of bins up to the root of the number of values.
template <class T>
double stone_width(const array<T>& x, double extent, const bin_range& range) {
    const double n = static_cast<double>(x.size());
    if (n <= 1 || extent == 0) return 0;
    const index_t root = static_cast<index_t>(std::sqrt(n)), most = root > 100 ? root : 100;
    double best = 0, least = 0;
    for (index_t bins = 1; bins <= most; ++bins) {
        const double width = extent / static_cast<double>(bins);
        const auto share = astype<double>(std::get<0>(histogram(x, bins, range))) / n;
        const double loss = (2 - (n + 1) * sum(share * share).item()) / width;
        if (bins == 1 || loss < least) least = loss, best = width;
    }
    return best;
}

/// The number of bins for the values of a vector, which has elements, from `first` to `last`.
template <bool Whole, class T>
index_t bins_by(const char* operation, bin_rule rule, const array<T>& x, double first, double last) {
    sample_measures m;
    const auto values = astype<double>(x);
    const auto [least, greatest] = eval(min(values), max(values));
    m.size = x.size();
    m.extent = greatest.item() - least.item();
    if (rule == bin_rule::fd || rule == bin_rule::automatic) {
        const std::vector<T> quartiles = quantile(x, {0.25, 0.75}).to_host();
        m.between_quartiles = static_cast<double>(quartiles[1] - quartiles[0]);
    } else if (rule == bin_rule::scott || rule == bin_rule::doane) {
        m.deviation = stddev(values).item();
        if (m.deviation > 0) {
            const auto off = (values - mean(values)) / m.deviation;
            m.skewness = mean(off * off * off).item();
        }
    }
    double width = rule == bin_rule::stone ? stone_width(x, m.extent, {first, last}) : bin_width(rule, m);
    if (Whole && width > 0 && width < 1) width = 1;
    return width > 0 ? bins_of_width(operation, last - first, width) : 1;
}

template <class E>
index_t bins_by(const char* operation, const E& e, bin_rule rule, const bin_range& range) {
    using T = quantile_of<typename E::value_type>;
    constexpr dtype t = E::type;
    const uniform_bins whole = bins_over<t>(operation, 1, range, e);
    array<T> x{astype<T>(ravel(e))};
    if (range.is_given()) x = array<T>(x(x >= whole.first && x <= whole.last));
    if (x.size() == 0) return 1;
    return bins_by<kind_of(t) != kind::floating>(operation, rule, x, whole.first, whole.last);
}

/// The edges of the number of bins that a rule gives. Throws as `histogram_bin_edges` with a number of bins.
///
///     array<double> x{1, 2, 2, 3, 3, 3, 4, 9};
///     std::cout << histogram_bin_edges(x, bin_rule::sturges) << ' ' << histogram_bin_edges(x, bin_rule::sqrt, {0, 6});
///     // prints: [1. 3. 5. 7. 9.] [0. 1. 2. 3. 4. 5. 6.]
template <real_array E>
auto histogram_bin_edges(const E& e, bin_rule rule, bin_range range = {},
                         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    constexpr const char* operation = "histogram_bin_edges";
    return histogram_bin_edges(e, bins_by(operation, e, rule, range), range);
}

/// A histogram with the number of bins that a rule gives; it takes no weights. Throws as `histogram` with a number of
/// bins.
///
///     const auto [counts, edges] = histogram(array<double>{1, 2, 2, 3, 3, 3, 4, 9}, bin_rule::automatic);
///     std::cout << counts << ' ' << edges.size();
///     // prints: [3 3 1 0 0 1] 7
template <real_array E>
auto histogram(const E& e, bin_rule rule, bin_range range = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return histogram(e, bins_by("histogram", e, rule, range), range);
}
template <real_array E>
auto histogram(const E& e, bin_rule rule, density_t, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return histogram(e, bins_by("histogram", e, rule, {}), density);
}
template <real_array E>
auto histogram(const E& e, bin_rule rule, bin_range range, density_t,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return histogram(e, bins_by("histogram", e, rule, range), range, density);
}

}  // namespace detail

using detail::histogram;
using detail::histogram_bin_edges;

}  // namespace ingot
