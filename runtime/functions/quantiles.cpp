#include <ingot/statistics/quantiles.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/error.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/sorting/sampled_filter.hpp"
#include "runtime/sorting/sort_rows.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

namespace {

/// Values sorted along their last axis, and the number of each row's values that are not NaN.
template <class T>
struct rows {
    array<T> values;
    array<double> numbers;  // keeps the last axis

    rows(const array<T>& sorted, bool ignored) : values(sorted) {
        if (ignored) {
            numbers = sum(astype<double>(!isnan(values)), -1, keepdims);
            return;
        }
        const shape_like all = values.shape();
        std::vector<index_t> shape(all.values().begin(), all.values().end());
        const auto length = static_cast<double>(std::exchange(shape.back(), 1));
        numbers = full<double>(shape, length).to(values.device());
    }
    /// The values at these positions, clipped to the row.
    template <class P>
    array<T> at(const P& position) const {
        const auto inside = astype<index_t>(clip(position, 0.0, maximum(numbers - 1, 0.0)));
        return take_along_axis<unchecked_mode>(values, inside, -1)(ellipsis, 0);
    }
    /// The result, with NaN in rows that have a NaN; if NaN are ignored, in rows of NaN only.
    template <class E>
    array<T> result(const E& e, bool ignored) const {
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        if (ignored) return where(numbers(ellipsis, 0) == 0, nan, e);
        return where(isnan(values(ellipsis, -1)), nan, e);
    }
};

/// The result where the last axis has no elements.
template <class T>
array<T> of_nothing(const array<T>& sorted) {
    const shape_like all = sorted.shape();
    const std::vector<index_t> shape(all.values().begin(), all.values().end() - 1);
    return full(shape, std::numeric_limits<T>::quiet_NaN());
}

struct parameters {
    double alpha, beta;
};
parameters parameters_of(quantile_method m) {
    switch (m) {
        case quantile_method::interpolated_inverted_cdf:
            return {0, 1};
        case quantile_method::hazen:
            return {0.5, 0.5};
        case quantile_method::weibull:
            return {0, 0};
        case quantile_method::median_unbiased:
            return {1.0 / 3, 1.0 / 3};
        case quantile_method::normal_unbiased:
            return {3.0 / 8, 3.0 / 8};
        default:
            return {1, 1};
    }
}

/// The quantile's position among the numbers of each row; the fraction interpolates to the next one.
array<double> position_of(const array<double>& n, double q, quantile_method m) {
    const with_math exactly(strict);  // without contraction, which would miss NumPy's whole numbers
    switch (m) {
        case quantile_method::linear:
            return (n - 1) * q;
        case quantile_method::lower:
            return floor((n - 1) * q);
        case quantile_method::higher:
            return ceil((n - 1) * q);
        case quantile_method::nearest:
            return rint((n - 1) * q);
        case quantile_method::midpoint:
            return 0.5 * (floor((n - 1) * q) + ceil((n - 1) * q));
        case quantile_method::inverted_cdf:
            return ceil(n * q - 1);
        case quantile_method::averaged_inverted_cdf:
            return where(n * q - 1 == floor(n * q - 1), n * q - 0.5, ceil(n * q - 1));
        case quantile_method::closest_observation:
            return rint(n * q) - 1;  // halves round to even, counted from 1
        default: {
            const auto [alpha, beta] = parameters_of(m);
            return n * q + (alpha + q * (1 - alpha - beta)) - 1;
        }
    }
}

/// Whether a method's positions are whole, so that its quantile is an element.
bool picks_an_element(quantile_method m) {
    using enum quantile_method;
    return m == lower || m == higher || m == nearest || m == inverted_cdf || m == closest_observation;
}
/// Whether the quantile is an element or the mean of two.
bool is_mean_of_two(quantile_method m) {
    return m == quantile_method::midpoint || m == quantile_method::averaged_inverted_cdf;
}

/// The positions within two of n q, which include every method's: the first one, and the one behind the last.
struct position_range {
    index_t from, to;
};
position_range positions_about(index_t n, double q) {
    const auto about = static_cast<index_t>(static_cast<double>(n) * q);
    return {std::clamp(about - 2, index_t{0}, n - 1), std::min(about + 3, n)};
}

/// Whether selecting the elements at these quantiles of `count` rows is less work than sorting the rows.
bool worth_selecting(std::size_t quantiles, index_t length, index_t count, device_id device) {
    constexpr std::size_t most = 8;
    if (quantiles == 0 || quantiles > most) return false;
    if (!device.is_cuda()) return device.is_host();
    return count * static_cast<index_t>(quantiles) <= static_cast<index_t>(most) &&
           length >= runtime::limits_of_selection().least_length_of_quantiles;
}

/// The positions of the two middle elements, or about all quantiles.
std::vector<index_t> positions_of(const quantile_question& asked, index_t n, std::span<const double> q) {
    if (asked.median) return {(n - 1) / 2, n / 2};
    std::vector<index_t> all;
    for (const double each : q)
        for (auto [at, to] = positions_about(n, each); at < to; ++at) all.push_back(at);
    return all;
}

/// On a GPU, sorts rows as far as the quantiles need it, into other rows, which get only the elements around the
/// quantiles and whether the last is NaN. Waits. Returns false, and sets nothing, where its sample decides too little
/// or the stream is being captured.
#ifdef INGOT_HAS_CUDA_HEADERS

bool select_quantiles_on_gpu(const buffer_ref& from, const layout& where, const buffer_ref& to, dtype type,
                             std::span<const double> q) {
    using namespace runtime;
    stream_state& stream = *context_on(from->device).stream;
    if (stream.capture.load(std::memory_order_relaxed) != nullptr) return false;
    const index_t length = where.shape()[where.rank() - 1], count = where.size() / length, room = length / 8;
    const auto each = size_of(type);
    const auto rows = static_cast<std::size_t>(count), all = rows * q.size();
    const auto of_rows = [](std::size_t elements, std::size_t bytes) { return (elements * bytes + 255) / 256 * 256; };
    const std::size_t counts_bytes = of_rows(all, sizeof(filter_counts)),
                      aside_bytes = of_rows(rows * static_cast<std::size_t>(room), each);
    stream.backend->bind_thread();
    order_read(*from, stream);
    order_write(*to, stream);
    const buffer_ref scratch =
        allocate_buffer(counts_bytes + q.size() * aside_bytes + filter_scratch(count, type), stream.device, stream);
    order_write(*scratch, stream);
    std::byte* const begin = static_cast<std::byte*>(scratch->data);
    std::byte* const aside = begin + counts_bytes;
    const std::byte* const given =
        static_cast<const std::byte*>(from->data) + where.offset * static_cast<index_t>(each);
    stream.backend->fill(begin, 0, counts_bytes, stream.native);
    for (std::size_t i = 0; i < q.size(); ++i)
        set_quantile_aside({given, count, length, type, aside + i * aside_bytes, room, nullptr,
                            reinterpret_cast<filter_counts*>(begin) + i * rows, aside + q.size() * aside_bytes},
                           q[i], stream);
    std::vector<filter_counts> counts(all);
    copy_to_host(*scratch, 0, all * sizeof(filter_counts), counts.data(), stream);
    for (std::size_t i = 0; i < all; ++i) {
        const filter_counts& c = counts[i];
        const position_range wanted = positions_about(length, q[i / rows]);
        if (c.nans == 0 &&
            (c.aside > static_cast<std::uint64_t>(room) || c.below > static_cast<std::uint64_t>(wanted.from) ||
             c.below + c.aside < static_cast<std::uint64_t>(wanted.to)))
            return false;
    }
    const auto at = [&](std::size_t row, index_t position) {
        return static_cast<std::byte*>(to->data) +
               (static_cast<index_t>(row) * length + position) * static_cast<index_t>(each);
    };
    // A value with all bits set is a NaN.
    for (std::size_t row = 0; row < rows; ++row)
        stream.backend->fill(at(row, length - 1), counts[row].nans != 0 ? 0xff : 0, each, stream.native);
    for (std::size_t i = 0; i < all; ++i) {
        const std::size_t row = i % rows;
        if (counts[i].nans != 0) continue;
        std::byte* const between = aside + i / rows * aside_bytes + row * static_cast<std::size_t>(room) * each;
        sort_on_gpu({{between, between, 1, static_cast<index_t>(counts[i].aside), room, room}, type, false}, stream);
        const position_range wanted = positions_about(length, q[i / rows]);
        const auto first = static_cast<std::size_t>(wanted.from) - counts[i].below;
        stream.backend->copy(at(row, wanted.from), between + first * each,
                             static_cast<std::size_t>(wanted.to - wanted.from) * each, copy_direction::within,
                             stream.native);
    }
    return true;
}

#else

bool select_quantiles_on_gpu(const buffer_ref&, const layout&, const buffer_ref&, dtype, std::span<const double>) {
    return false;
}

#endif

double checked_quantile(const char* operation, double q, double whole) {
    if (q >= 0 && q <= whole) return q / whole;
    throw error("[" + std::string(operation) + "] " + runtime::number_text(q) + " is not between 0 and " +
                std::to_string(static_cast<int>(whole)));
}

/// The quantile along the last axis of sorted values. A row with a NaN gives NaN; if NaN is `ignored`, only a row of
/// NaN alone does. A row without elements gives NaN.
template <class T>
array<T> quantile_of_sorted(const array<T>& sorted, double q, quantile_method method, bool ignored) {
    if (sorted.shape().values().back() == 0) return of_nothing(sorted);
    const rows<T> r(sorted, ignored);
    const array<double> position = position_of(r.numbers, q, method);
    if (picks_an_element(method)) return r.result(r.at(position), ignored);
    const array<double> low = astype<double>(r.at(floor(position))), high = astype<double>(r.at(floor(position) + 1));
    const auto part = (position - floor(position))(ellipsis, 0);
    // Interpolates from the nearer of the two, so that both ends are exact.
    const auto between = where(part >= 0.5, high - (high - low) * (1 - part), low + (high - low) * part);
    return r.result(astype<T>(where(part == 0 && is_mean_of_two(method), low, between)), ignored);
}

/// The median along the last axis of sorted values: with two middle elements their mean.
template <class T>
array<T> median_of_sorted(const array<T>& sorted, bool ignored) {
    if (sorted.shape().values().back() == 0) return of_nothing(sorted);
    const rows<T> r(sorted, ignored);
    const array<T> low = r.at(floor((r.numbers - 1) / 2)), high = r.at(floor(r.numbers / 2));
    return r.result(where(low == high, low, (low + high) / 2), ignored);
}

/// Rows that are sorted as far as the quantiles q need it; without any, completely.
template <class T>
array<T> ordered_rows(const quantile_question& asked, const lazy<T>& e, index_t axis, std::span<const double> q) {
    const char* const operation = asked.operation;
    checked_axis(operation, axis, e.ndim());
    const lazy<T> rows = moveaxis(e, axis, -1);
    const shape_like shape = rows.shape();
    const index_t length = shape.values().back(), size = rows.size();
    const device_id device = device_of(rows);
    if (!worth_selecting(q.size(), length, length == 0 ? 0 : size / length, device)) return sort(rows, -1);
    array<T> made(adopted{}, new_leaf<T>(operation, shape.values(), device));
    if (size == 0) return made;
    const array<T> given = in_c_order(operation, array<T>(rows));
    if (device.is_host())
        partition_rows(given.as_leaf().memory(), given.as_leaf().where(), dtype_of<T>, positions_of(asked, length, q),
                       made.as_leaf().memory());
    else if (!select_quantiles_on_gpu(given.as_leaf().memory(), given.as_leaf().where(), made.as_leaf().memory(),
                                      dtype_of<T>, q))
        return sort(given, -1);
    return made;
}

}  // namespace

template <class T>
array<T> answer(const quantile_question& asked, const lazy<T>& e, quantile_axis axis) {
    std::vector<double> parts;
    for (const double q : asked.q) parts.push_back(checked_quantile(asked.operation, q, asked.whole));
    constexpr double middle[] = {0.5};
    const std::span<const double> needed = asked.ignored  ? std::span<const double>()
                                           : asked.median ? std::span<const double>(middle)
                                                          : parts;
    // All axes of a vector are its only one.
    const bool is_flattened = axis.all && e.ndim() != 1;
    const array<T> sorted =
        is_flattened ? ordered_rows<T>(asked, ravel(e), 0, needed) : ordered_rows<T>(asked, e, axis.axis, needed);
    if (asked.median) return median_of_sorted(sorted, asked.ignored);
    if (!asked.stacked) return quantile_of_sorted(sorted, parts[0], asked.method, asked.ignored);
    const shape_like all = sorted.shape();
    std::vector<index_t> shape(all.values().begin(), all.values().end());
    shape.pop_back();
    shape.insert(shape.begin(), static_cast<index_t>(parts.size()));
    array<T> result{zeros<T>(shape)};
    for (std::size_t i = 0; i < parts.size(); ++i)
        result(static_cast<index_t>(i)) = quantile_of_sorted(sorted, parts[i], asked.method, asked.ignored);
    return result;
}

template INGOT_API array<float> answer(const quantile_question&, const lazy<float>&, quantile_axis);
template INGOT_API array<double> answer(const quantile_question&, const lazy<double>&, quantile_axis);

}  // namespace ingot::detail
