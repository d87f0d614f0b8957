#include <ingot/quantiles.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <ingot/error.hpp>

#include "runtime/evaluate.hpp"
#include "runtime/graphs.hpp"
#include "runtime/host_workers.hpp"
#include "runtime/ordering.hpp"

namespace ingot::detail {

namespace {

/// Sorted values along their last axis, and how many of each row are numbers.
template <class T>
struct rows {
    array<T> values;
    array<double> numbers;  // with the last axis

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
    /// The value at these places, of which those outside are the first and the last.
    template <class P>
    array<T> at(const P& place) const {
        const auto inside = astype<index_t>(clip(place, 0.0, maximum(numbers - 1, 0.0)));
        return take_along_axis<index_mode::unchecked>(values, inside, -1)(ellipsis, 0);
    }
    /// NaN where it is to be.
    template <class E>
    array<T> result(const E& e, bool ignored) const {
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        if (ignored) return where(numbers(ellipsis, 0) == 0, nan, e);
        return where(isnan(values(ellipsis, -1)), nan, e);
    }
};

/// Of a shape without its last axis, where that has no element.
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

/// Where the quantile is among the numbers of each row: a place, whose fraction is the part of the way to the next.
array<double> place_of(const array<double>& n, double q, quantile_method m) {
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
            return rint(n * q) - 1;  // of halves the even one, counted from 1
        default: {
            const auto [alpha, beta] = parameters_of(m);
            return n * q + (alpha + q * (1 - alpha - beta)) - 1;
        }
    }
}

/// The elements at places within two of n q, where every method's are, and a NaN at the end.
template <class T>
void select_in_row(T* row, index_t n, std::span<const double> ascending) {
    T* const end = row + n;
    T* const found = std::find_if(row, end, [](T x) { return x != x; });
    if (found != end) return std::swap(*found, end[-1]);  // whatever the rest, the quantiles are NaN
    T* begin = row;
    for (const double q : ascending) {
        const auto about = static_cast<index_t>(static_cast<double>(n) * q);
        T* const first = std::max(begin, row + std::clamp(about - 2, index_t{0}, n - 1));
        T* const last = std::min(row + std::max(about, index_t{0}) + 3, end);
        if (first >= last) continue;
        std::nth_element(begin, first, end);
        std::partial_sort(first, last, end);
        begin = last;
    }
}
template <class T>
void select_in_rows(void* rows, index_t length, index_t count, std::span<const double> ascending) {
    runtime::run_on_workers(static_cast<std::size_t>(count), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            select_in_row(static_cast<T*>(rows) + static_cast<index_t>(i) * length, length, ascending);
    });
}

}  // namespace

bool worth_selecting(std::size_t quantiles, index_t length, device_id device) {
    return !device.is_cuda() && quantiles != 0 && quantiles <= 8 && length >= 1024;
}

void select_quantiles(const buffer_ref& rows, dtype type, index_t length, index_t count, std::span<const double> q) {
    runtime::stream_state& stream = *runtime::context_on(rows->device).stream;
    runtime::order_write(*rows, stream);
    std::vector<double> ascending(q.begin(), q.end());
    std::sort(ascending.begin(), ascending.end());
    const auto select = [to = rows->data, type, length, count, ascending = std::move(ascending)] {
        if (type == dtype::f4)
            select_in_rows<float>(to, length, count, ascending);
        else
            select_in_rows<double>(to, length, count, ascending);
    };
    if (runtime::graph_capture* const capture = stream.capture.load(std::memory_order_relaxed))
        capture->record(select);
    else
        select();
}

double checked_quantile(const char* operation, double q, double whole) {
    if (q >= 0 && q <= whole) return q / whole;
    throw error("[" + std::string(operation) + "] " + std::to_string(q) + " is not between 0 and " +
                std::to_string(static_cast<int>(whole)));
}

template <class T>
array<T> quantile_of_sorted(const array<T>& sorted, double q, quantile_method method, bool ignored) {
    if (sorted.shape().values().back() == 0) return of_nothing(sorted);
    const rows<T> r(sorted, ignored);
    const array<double> place = place_of(r.numbers, q, method);
    const array<T> low = r.at(floor(place)), high = r.at(floor(place) + 1);
    const auto part = astype<T>(place - floor(place))(ellipsis, 0);
    // From the nearer of the two, so that neither end is missed.
    return r.result(where(part >= T(0.5), high - (high - low) * (1 - part), low + (high - low) * part), ignored);
}

template <class T>
array<T> median_of_sorted(const array<T>& sorted, bool ignored) {
    if (sorted.shape().values().back() == 0) return of_nothing(sorted);
    const rows<T> r(sorted, ignored);
    const array<T> low = r.at(floor((r.numbers - 1) / 2)), high = r.at(floor(r.numbers / 2));
    return r.result(where(low == high, low, (low + high) / 2), ignored);
}

template INGOT_API array<float> quantile_of_sorted(const array<float>&, double, quantile_method, bool);
template INGOT_API array<double> quantile_of_sorted(const array<double>&, double, quantile_method, bool);
template INGOT_API array<float> median_of_sorted(const array<float>&, bool);
template INGOT_API array<double> median_of_sorted(const array<double>&, bool);

}  // namespace ingot::detail
