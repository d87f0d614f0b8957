// Edges of bins, and sums whose bits do not depend on their order.
#include <ingot/statistics/histograms.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/kernels/library_texts.hpp"

namespace ingot::detail {

namespace {

std::string in_brackets(const char* operation) { return "[" + std::string(operation) + "] "; }

/// Rounds to the dtype's digits.
double rounded(double value, dtype t) {
    switch (t) {
        case dtype::f2:
            return static_cast<float>(float16(static_cast<float>(value)));
        case dtype::bf:
            return static_cast<float>(bfloat16(static_cast<float>(value)));
        case dtype::f4:
            return static_cast<float>(value);
        default:
            return value;
    }
}

}  // namespace

// ---- sums ------------------------------------------------------------------------------------------------------

array<double> exact_sums(const char* operation, const array<index_t>& at, const array<double>& weights, index_t n) {
    const device on = device_of_results(weights.device());
    array<double> sums = zeroed<double>(operation, std::span<const index_t>(&n, 1), on);
    if (n == 0 || weights.size() == 0) return sums;
    const auto finite = isfinite(weights);
    const auto part_of_sum = where(finite, weights, 0.0);
    // The weights of one bin are below 2^(the bin's power - least); power 0 means no weights. A large weight in one bin
    // takes no digits from another. The maximum does not depend on the order.
    constexpr std::int32_t least = 1100;
    array<std::int32_t> powers = zeroed<std::int32_t>(operation, std::span<const index_t>(&n, 1), on);
    {
        leaf<std::int32_t>& target = access::target(powers);
        write_places<scatter_rule::max>(
            operation, target, target.memory().get(),
            source_node<std::int32_t>(operation, where(part_of_sum != 0.0, frexp_exponent(part_of_sum) + least, 0)),
            at.as_leaf(), 0);
    }
    const bool all_finite = all(finite).item();
    // With this many bits, a sum of this many parts below 1 stays below 2^62.
    const int bits = 62 - static_cast<int>(std::bit_width(static_cast<std::uint64_t>(weights.size())));
    const double unit = std::ldexp(1.0, bits);
    const auto sum_of_parts = [&](const auto& part) {
        return astype<double>(scattered_sums<index_t>(operation, n, astype<index_t>(part), at.as_leaf()));
    };
    const auto first = ldexp(part_of_sum, least - take<index_mode::clip>(powers, at, 0)) * unit;
    const auto second = (first - rint(first)) * unit;
    auto high = sum_of_parts(rint(first)), low = sum_of_parts(rint(second));
    if (2 * bits >= 80) {
        sums = ldexp(high + low / unit, powers - (least + bits));
    } else {
        auto lowest = sum_of_parts(rint((second - rint(second)) * unit));
        sums = ldexp(high + (low + lowest / unit) / unit, powers - (least + bits));
    }
    // Sums of infinities and NaN do not depend on the order.
    if (!all_finite) sums += scattered_sums<double>(operation, n, where(finite, 0.0, weights), at.as_leaf());
    return sums;
}

// ---- bincount --------------------------------------------------------------------------------------------------

void check_bincount(std::span<const index_t> x, index_t minlength) {
    check_vector("bincount", x);
    if (minlength < 0)
        throw shape_error("[bincount] a least length of " + std::to_string(minlength) + ", which is negative");
}

index_t length_of_counts(index_t least, index_t greatest, index_t minlength) {
    if (least < 0)
        throw index_error("[bincount] " + std::to_string(least) + ": integers that are not negative are wanted");
    if (greatest == INT64_MAX) throw_too_large(static_cast<std::uint64_t>(greatest) + 1);
    return greatest + 1 > minlength ? greatest + 1 : minlength;
}

// ---- bins ------------------------------------------------------------------------------------------------------

namespace {

/// Bins over a range, or from the least to the greatest of `size` values, widened a little where these are equal.
/// Throws error where there is no bin, or where the range is not finite or ends before it begins.
uniform_bins span_bins(const char* operation, index_t count, const bin_range& range, index_t size, double least,
                       double greatest, dtype of) {
    const auto interval = [&] {
        const double first = range.is_given() ? range.first() : least,
                     last = range.is_given() ? range.last() : greatest;
        return "from " + std::to_string(first) + " to " + std::to_string(last);
    };
    if (count < 1) throw error(in_brackets(operation) + std::to_string(count) + " bins: one or more are wanted");
    uniform_bins b{count, 0, 1, of};
    if (range.is_given())
        b = {count, range.first(), range.last(), dtype::f8};
    else if (size != 0)
        b = {count, least, greatest, of};
    if (b.first > b.last)
        throw error(in_brackets(operation) + "a range " + interval() + ": its end may not be before its begin");
    if (!std::isfinite(b.first) || !std::isfinite(b.last))
        throw error(in_brackets(operation) + (range.is_given() ? "a range " : "values ") + interval() +
                    ": bins need finite limits");
    if (b.first == b.last) {
        b.first = rounded(b.first - 0.5, b.computed);
        b.last = rounded(b.last + 0.5, b.computed);
    }
    return b;
}

}  // namespace

std::vector<double> edges_of(const char* operation, const uniform_bins& b, dtype kept_in) {
    const auto in = [&](double value) { return rounded(value, b.computed); };
    const double width = in(b.last - b.first), count = in(static_cast<double>(b.count)), step = in(width / count);
    std::vector<double> edges;
    check_extents(operation, std::span<const index_t>(&b.count, 1));
    edges.reserve(static_cast<std::size_t>(b.count) + 1);
    for (index_t i = 0; i <= b.count; ++i) {
        const double number = in(static_cast<double>(i));
        const double along = step == 0 ? in(in(number / count) * width) : in(number * step);
        edges.push_back(rounded(i == b.count ? b.last : in(along + b.first), kept_in));
    }
    for (std::size_t i = 1; i < edges.size(); ++i)
        if (edges[i - 1] >= edges[i])
            throw error(in_brackets(operation) + std::to_string(b.count) + " bins from " + std::to_string(b.first) +
                        " to " + std::to_string(b.last) + ": their edges would not all be different");
    return edges;
}

void throw_falling_edges(const char* operation) {
    throw error(in_brackets(operation) + "edges that decrease: each has to be at least the one before");
}

void check_pairs(std::span<const index_t> x, std::span<const index_t> y) {
    if (x.size() != 1 || y.size() != 1 || x[0] != y[0])
        throw shape_error("[histogram2d] shapes " + to_text(x) + " and " + to_text(y) +
                          ": two vectors of one length are wanted");
}

const bin_kernel& bin_text() {
    static const bin_kernel text(runtime::statements_of(runtime::library_text::bin), "bin");
    return text;
}

namespace {

using uniform_bin_kernel =
    elementwise_kernel<"T x, raw T edges, int32 n, T first, T last, T per_width, T rounding", "int32 k">;
/// The bin of a value among uniform bins: the computed one, or a neighbour by the edges, which are read only near an
/// edge. `per_width`: bins per unit of x. `rounding`: see rounding_of_index.
const uniform_bin_kernel& uniform_bin_text() {
    static const uniform_bin_kernel text(runtime::statements_of(runtime::library_text::uniform_bin), "uniform_bin");
    return text;
}

/// The error of a computed bin, in bins, with edges of float32 or float64. With other edges a value always counts as
/// near one.
double rounding_of_index(index_t count, double first, double last, dtype in) {
    if (in != dtype::f4 && in != dtype::f8) return 1;
    // A position is a difference times a quotient, rounded three times; the edges are rounded as numbers of their size.
    const double digits = in == dtype::f8 ? 2.3e-16 : 1.2e-7, bins = static_cast<double>(count);
    return digits * bins * (8 + 4 * std::max(std::fabs(first), std::fabs(last)) / (last - first));
}

}  // namespace

template <class C>
uniform_bins bins_over(const char* operation, index_t count, const bin_range& range, const lazy<C>& e, dtype as) {
    const index_t size = e.size();
    double least = 0, greatest = 0;
    if (!range.is_given() && size != 0 && count > 0) {
        const auto [low, high] = eval(min(e), max(e));
        least = low.item(), greatest = high.item();
    }
    return span_bins(operation, count, range, size, least, greatest, edges_in(as));
}

template <class T>
array<T> edges_on(device where, const char* operation, const std::vector<double>& values) {
    return generated<T>(operation, static_cast<index_t>(values.size()),
                        [&](index_t i) { return static_cast<T>(values[static_cast<std::size_t>(i)]); })
        .to(where);
}

template <class C>
found_bins find_bins(const char* operation, index_t count, const bin_range& range, const lazy<C>& e, dtype as) {
    const uniform_bins b = bins_over(operation, count, range, e, as);
    const dtype in = edges_in(as);
    found_bins found{edges_of(operation, b, in), {}};
    const double first = found.edges.front(), last = found.edges.back();
    const array<C> edges = edges_on<C>(device_of_values(e), operation, found.edges);
    // Where bins cannot be computed, the edges are searched.
    const double most = in == dtype::f2 ? 65504
                        : in == dtype::f8
                            ? std::numeric_limits<double>::max()
                            : as_double(in == dtype::bf ? static_cast<float>(std::numeric_limits<bfloat16>::max())
                                                        : std::numeric_limits<float>::max());
    if (b.count > INT32_MAX || !(last - first <= most))
        found.bins = bin_text()(e, edges);
    else
        found.bins =
            uniform_bin_text()(e, edges, static_cast<std::int32_t>(b.count), static_cast<C>(first),
                               static_cast<C>(last), static_cast<C>(static_cast<double>(b.count) / (last - first)),
                               static_cast<C>(rounding_of_index(b.count, first, last, in)));
    return found;
}

array<index_t> counts_at(const char* operation, index_t n, const lazy<index_t>& at) {
    return scattered_sums<index_t>(operation, n, 1, at);
}

#define INGOT_BINS(C)                                                                                         \
    template INGOT_API uniform_bins bins_over(const char*, index_t, const bin_range&, const lazy<C>&, dtype); \
    template INGOT_API found_bins find_bins(const char*, index_t, const bin_range&, const lazy<C>&, dtype);
INGOT_BINS(float)
INGOT_BINS(double)
#define INGOT_EDGES(T) template INGOT_API array<T> edges_on(device, const char*, const std::vector<double>&);
INGOT_EDGES(float16)
INGOT_EDGES(bfloat16)
INGOT_EDGES(float)
INGOT_EDGES(double)

array<index_t> ascending_order(const array<index_t>& at) { return argsort(at); }

}  // namespace ingot::detail
