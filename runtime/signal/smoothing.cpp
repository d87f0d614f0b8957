// Medians and polynomials are filters of ndimage. Peaks are found by comparisons and a scan, and chosen on the host.
#include <ingot/signal/smoothing.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <ingot/core/compaction.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/selection.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/ndimage/filters.hpp>

#include "runtime/signal/signals.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

using runtime::numbers_on;
using runtime::part_of_last;
using runtime::signal_as;
using runtime::signal_axis;
using signal::savgol_mode;

tree_ref median_of_signal(const image& e, const ndimage::per_axis<index_t>& size) {
    for (const index_t n : size.given())
        if (n % 2 != 1)
            throw shape_error("[medfilt] " + std::to_string(n) + " elements along an axis; an odd number is wanted");
    return ranked_around("medfilt", e, {0, 50, true}, size, {.mode = ndimage::border::constant});
}

namespace {

ndimage::border border_of(savgol_mode mode) {
    switch (mode) {
        case savgol_mode::mirror:
            return ndimage::border::mirror;
        case savgol_mode::nearest:
            return ndimage::border::nearest;
        case savgol_mode::wrap:
            return ndimage::border::wrap;
        default:
            return ndimage::border::constant;
    }
}

/// Weights of a window's elements for the values at its first or last `count` places, as columns.
std::vector<double> edge_weights(index_t window, index_t order, index_t count, bool at_end,
                                 const signal::savgol_options& how) {
    std::vector<double> columns(static_cast<std::size_t>(window * count));
    for (index_t k = 0; k < count; ++k) {
        const double place = static_cast<double>(at_end ? window - count + k : k);
        const std::vector<double> weights = signal::savgol_coeffs(
            window, order, {.deriv = how.deriv, .delta = how.delta, .pos = place, .reversed = false});
        for (index_t i = 0; i < window; ++i)
            columns[static_cast<std::size_t>(i * count + k)] = weights[static_cast<std::size_t>(i)];
    }
    return columns;
}

/// `count` sums of products with reversed weights, at places where all elements are given. Few are one expression.
template <class T>
lazy<T> inside_of(const lazy<T>& x, const std::vector<double>& weights, index_t count, ingot::device where) {
    constexpr index_t most_taps_along = 33;
    const auto n = static_cast<index_t>(weights.size());
    const std::vector<double> taps(weights.rbegin(), weights.rend());
    if (n > most_taps_along) {
        const lazy<T> windows = sliding_window_view(x, n, -1)(ellipsis, slice(0, count), all);
        return sum(windows * numbers_on<T>(where, taps, {n}), -1);
    }
    // The middle comes first: a kernel shares loads of elements that are near its first operand's.
    const index_t middle = n / 2;
    const auto term = [&](index_t k) {
        return lazy<T>(part_of_last(x, k, k + count) * taps[static_cast<std::size_t>(k)]);
    };
    lazy<T> total = term(middle);
    for (index_t k = 0; k < n; ++k)
        if (k != middle) total = total + term(k);
    return total;
}

}  // namespace

tree_ref polynomially_smoothed(const image& e, index_t window, index_t order, const signal::savgol_options& how) {
    const signal_axis a = runtime::axis_of_signal("savgol_filter", e, how.axis);
    const std::vector<double> weights = signal::savgol_coeffs(window, order, {.deriv = how.deriv, .delta = how.delta});
    if (how.mode == savgol_mode::interp && window > a.extent)
        throw shape_error("[savgol_filter] a window of " + std::to_string(window) + " of " + std::to_string(a.extent) +
                          " elements; mode interp wants a window that is no longer");
    if (how.mode != savgol_mode::interp || window == 1 || e.tree->extents().size() == 0) {
        const image x{runtime::as_type({e.tree, e.type}, signal_dtype(e.type)).tree(), signal_dtype(e.type)};
        return correlated_along("savgol_filter", x, weights, a.axis, {.mode = border_of(how.mode), .cval = how.cval},
                                true);
    }
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        const ingot::device where = runtime::device_of(e);
        const lazy<T> x = moveaxis(lazy<T>(array<T>(signal_as<T>(e))), a.axis, -1);
        const index_t half = window / 2, n = a.extent;
        const with_device there(where);
        array<T> y = empty<T>(shape_like(e.tree->extents().span()));
        const auto write = [&](index_t first, index_t behind, const lazy<T>& values) {
            moveaxis(y, a.axis, -1)(ellipsis, slice(first, behind)) = values;
        };
        // Where taps are even in number, one more lies behind the element than before it.
        const lazy<T> read = part_of_last(x, half - (window - 1) / 2, n);
        if (n > 2 * half) write(half, n - half, inside_of(read, weights, n - 2 * half, where));
        for (const bool at_end : {false, true}) {
            const array<T> columns =
                numbers_on<T>(where, edge_weights(window, order, half, at_end, how), {window, half});
            const lazy<T> given = at_end ? part_of_last(x, n - window, n) : part_of_last(x, 0, window);
            write(at_end ? n - half : 0, at_end ? n : half, matmul(given, columns));
        }
        return lazy<T>(y).tree();
    });
}

// ---- peaks ---------------------------------------------------------------------------------------------------------

namespace {

struct prominence {
    double value;
    index_t left, right;  // the bases
};
prominence prominence_of(const std::vector<double>& x, index_t peak, index_t around) {
    const auto at = [&](index_t i) { return x[static_cast<std::size_t>(i)]; };
    const auto lowest_until_higher = [&](index_t way, index_t end) {
        index_t base = peak;
        for (index_t i = peak; i != end + way && at(i) <= at(peak); i += way)
            if (at(i) < at(base)) base = i;
        return base;
    };
    const auto n = static_cast<index_t>(x.size());
    const index_t left = lowest_until_higher(-1, std::max<index_t>(peak - around, 0));
    const index_t right = lowest_until_higher(1, std::min(peak + around, n - 1));
    return {at(peak) - std::max(at(left), at(right)), left, right};
}

struct width {
    double value, height, left, right;
};
width width_of(const std::vector<double>& x, index_t peak, const prominence& p, double relative) {
    const auto at = [&](index_t i) { return x[static_cast<std::size_t>(i)]; };
    const double height = at(peak) - p.value * relative;
    const auto crossing = [&](index_t way, index_t end) {
        index_t i = peak;
        while (i != end && height < at(i)) i += way;
        const double off = at(i) < height ? (height - at(i)) / (at(i - way) - at(i)) : 0;
        return static_cast<double>(i) - static_cast<double>(way) * off;
    };
    const double left = crossing(-1, p.left), right = crossing(1, p.right);
    return {right - left, height, left, right};
}

/// A peak on the host.
struct peak {
    index_t at, left_edge, right_edge;
    double height, to_left, to_right;
    prominence out{};
    width wide{};
};

/// Removes peaks that lie less than `distance` samples from a higher one that stays.
void keep_far_apart(std::vector<peak>& found, double distance) {
    const auto least = static_cast<index_t>(std::ceil(distance));
    std::vector<std::pair<double, std::size_t>> order;  // by height, then by place
    for (std::size_t j = 0; j < found.size(); ++j) order.emplace_back(found[j].height, j);
    std::ranges::sort(order);
    std::vector<bool> leaves(found.size());
    for (std::size_t k = order.size(); k-- > 0;) {
        const std::size_t j = order[k].second;
        if (leaves[j]) continue;
        for (std::size_t i = j; i-- > 0 && found[j].at - found[i].at < least;) leaves[i] = true;
        for (std::size_t i = j + 1; i < found.size() && found[i].at - found[j].at < least; ++i) leaves[i] = true;
    }
    std::size_t k = 0;
    std::erase_if(found, [&](const peak&) { return bool(leaves[k++]); });
}

/// Flat tops of one or more elements: the first one, the last one, and the one in the middle.
struct tops {
    array<index_t> left, right, at;
};
/// The tops between lower elements. One begins behind a lower element, and the next element that differs is lower.
template <class T>
tops local_maxima(const array<T>& x) {
    const index_t n = x.size();
    if (n < 3) return {};
    const lazy<T> before = x(slice(none, -2)), inside = x(slice(1, -1)), next_one = x(slice(2, none));
    const array<index_t> rising = flatnonzero((before < inside) && (next_one <= inside)) + index_t{1};
    const lazy<T> top = take<unchecked_mode>(x, rising, 0), behind_top = take<unchecked_mode>(x, rising + 1, 0);
    if (rising.size() == 0 || !any(behind_top == top).item()) return {rising, rising, rising};
    const auto place = arange<index_t>(n - 1) + 1;
    const array<index_t> next = cummin(ingot::where(x(slice(1, none)) != x(slice(none, -1)), place, n), reversed);
    const lazy<index_t> behind = take<unchecked_mode>(next, rising, 0);
    const array<bool> falls = (behind < n) && (take<unchecked_mode>(x, minimum(behind, n - 1), 0) < top);
    const array<index_t> left = rising(falls), right = array<index_t>(behind)(falls) - index_t{1};
    return {left, right, floor_divide(left + right, index_t{2})};
}
std::vector<peak> peaks_on_the_host(const array<double>& x, const tops& t) {
    const auto value = [&](index_t off) { return take<unchecked_mode>(x, t.at + off, 0); };
    if (t.at.size() == 0) return {};
    const auto [heights, lefts, rights] = eval(value(0), value(0) - value(-1), value(0) - value(1));
    const auto l = t.left.to_host(), r = t.right.to_host(), m = t.at.to_host();
    const auto h = heights.to_host(), to_left = lefts.to_host(), to_right = rights.to_host();
    std::vector<peak> found;
    found.reserve(l.size());
    for (std::size_t k = 0; k < l.size(); ++k) found.push_back({m[k], l[k], r[k], h[k], to_left[k], to_right[k]});
    return found;
}

}  // namespace

signal::peaks peaks_of(const image& e, const signal::peak_options& how) {
    if (e.tree->extents().rank != 1)
        throw shape_error("[find_peaks] shape " + to_text(e.tree->extents().span()) + "; one axis is wanted");
    if (how.distance && *how.distance < 1)
        throw error("[find_peaks] distance " + runtime::number_text(*how.distance) + "; at least 1 is wanted");
    if (how.wlen && !(*how.wlen > 1))
        throw error("[find_peaks] wlen " + std::to_string(*how.wlen) + "; more than 1 is wanted");
    if (!(how.rel_height >= 0))
        throw error("[find_peaks] rel_height " + runtime::number_text(how.rel_height) + "; at least 0 is wanted");
    const with_device there(runtime::device_of(e));
    const array<double> x = signal_as<double>(e);
    tops maxima = local_maxima(x);
    if (how.height && !how.plateau_size && maxima.at.size() != 0) {  // so that fewer are copied to the host
        const array<bool> kept = how.height->have(lazy<double>(take<unchecked_mode>(x, maxima.at, 0)));
        maxima = {maxima.left(kept), maxima.right(kept), maxima.at(kept)};
    }
    if (!how.height && !how.threshold && !how.distance && !how.prominence && !how.width && !how.plateau_size)
        return {.indices = maxima.at};
    std::vector<peak> found = peaks_on_the_host(x, maxima);
    const auto choose = [&](const auto& wanted) { std::erase_if(found, [&](const peak& p) { return !wanted(p); }); };
    if (how.plateau_size)
        choose(
            [&](const peak& p) { return how.plateau_size->have(static_cast<double>(p.right_edge - p.left_edge + 1)); });
    if (how.height && how.plateau_size) choose([&](const peak& p) { return how.height->have(p.height); });
    if (how.threshold)
        choose([&](const peak& p) {
            return how.threshold->have(std::min(p.to_left, p.to_right), std::max(p.to_left, p.to_right));
        });
    if (how.distance) keep_far_apart(found, *how.distance);
    const bool measured = how.prominence || how.width;
    if (measured && !found.empty()) {
        const std::vector<double> values = x.to_host();
        const index_t around = how.wlen ? static_cast<index_t>(std::ceil(*how.wlen)) / 2 : x.size();
        for (peak& p : found) p.out = prominence_of(values, p.at, around);
        if (how.prominence) choose([&](const peak& p) { return how.prominence->have(p.out.value); });
        if (how.width) {
            for (peak& p : found) p.wide = width_of(values, p.at, p.out, how.rel_height);
            choose([&](const peak& p) { return how.width->have(p.wide.value); });
        }
    }
    const auto numbers = [&](bool wanted, const auto& of) {
        std::vector<std::remove_cvref_t<decltype(of(found[0]))>> values;
        if (wanted)
            for (const peak& p : found) values.push_back(of(p));
        return asarray(values);
    };
    const bool heights = how.height.has_value(), thresholds = how.threshold.has_value();
    const bool widths = how.width.has_value(), plateaus = how.plateau_size.has_value();
    return {.indices = numbers(true, [](const peak& p) { return p.at; }),
            .peak_heights = numbers(heights, [](const peak& p) { return p.height; }),
            .left_thresholds = numbers(thresholds, [](const peak& p) { return p.to_left; }),
            .right_thresholds = numbers(thresholds, [](const peak& p) { return p.to_right; }),
            .prominences = numbers(measured, [](const peak& p) { return p.out.value; }),
            .left_bases = numbers(measured, [](const peak& p) { return p.out.left; }),
            .right_bases = numbers(measured, [](const peak& p) { return p.out.right; }),
            .widths = numbers(widths, [](const peak& p) { return p.wide.value; }),
            .width_heights = numbers(widths, [](const peak& p) { return p.wide.height; }),
            .left_ips = numbers(widths, [](const peak& p) { return p.wide.left; }),
            .right_ips = numbers(widths, [](const peak& p) { return p.wide.right; }),
            .plateau_sizes = numbers(plateaus, [](const peak& p) { return p.right_edge - p.left_edge + 1; }),
            .left_edges = numbers(plateaus, [](const peak& p) { return p.left_edge; }),
            .right_edges = numbers(plateaus, [](const peak& p) { return p.right_edge; })};
}

}  // namespace ingot::detail
