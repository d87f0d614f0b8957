// See splines.hpp. The coefficients of orders above 1 are a correlation: the recurrence's response to one element falls
// below the precision after a few dozen of them.
#include "runtime/ndimage/splines.hpp"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <ingot/core/functions.hpp>
#include <ingot/ndimage/filters.hpp>

namespace ingot::runtime {

using detail::kind;
using ndimage::border;

namespace {

numbers clipped(const numbers& x, double low, double high) { return minimum(maximum(x, low), high); }
/// x without its multiples of the period that `turns` counts, truncated.
numbers without_periods(const numbers& x, const numbers& turns, double period) { return x - period * trunc(turns); }

/// The place inside an axis of n elements at which SciPy reads a place beyond its ends; -1 with the constant border.
numbers mapped(const numbers& x, index_t extent, border mode) {
    const auto n = static_cast<double>(extent);
    const double last = n - 1;
    if (mode == border::constant) return where(x >= 0 && x <= last, x, -1.0);
    if (mode == border::grid_constant) return x;
    if (mode == border::nearest || extent <= 1) return clipped(x, 0, last);
    switch (mode) {
        case border::mirror: {
            const double period = 2 * last;
            const numbers below = without_periods(-x, -x / period, period);  // how far below 0
            const numbers above = without_periods(x, x / period, period);
            return where(x < 0, where(below >= last, period - below, below),
                         where(x > last, where(above >= n, period - above, above), x));
        }
        case border::reflect: {
            const double period = 2 * n;
            const numbers below = without_periods(-x, -x / period, period);
            const numbers above = without_periods(x, x / period, period);
            return where(x < 0, where(below > n, period - below, below - 1),
                         where(x > last, where(above >= n, period - above - 1, above), x));
        }
        case border::wrap:
            return where(x < 0, x + last * (trunc(-x / last) + 1),
                         where(x > last, without_periods(x, x / last, last), x));
        default:
            return where(x < 0, x + n * (trunc((-1 - x) / n) + 1), where(x > last, without_periods(x, x / n, n), x));
    }
}

/// The border at which coefficients and the elements beside a place are found: a constant has none of its own.
border border_of_splines(border mode) {
    return mode == border::constant || mode == border::wrap ? border::mirror : mode;
}

/// The weights of the order + 1 elements around a place that lies `x` behind the one in the middle.
std::vector<numbers> spline_weights(const numbers& x, int order) {
    if (order == 1) return {1 - x, x};
    std::vector<numbers> w;
    const numbers z = 1 - x;
    const auto rest = [&] {
        numbers sum = w[0];
        for (std::size_t k = 1; k < w.size(); ++k) sum = sum + w[k];
        return numbers(1 - sum);
    };
    if (order == 2) {
        const numbers y = 0.5 - x;
        w = {0.5 * y * y, 0.75 - x * x};
    } else if (order == 3) {
        const auto middle = [](const numbers& y) { return numbers((y * y * (y - 2) * 3 + 4) / 6); };
        w = {z * z * z / 6, middle(x), middle(z)};
    } else if (order == 4) {
        const auto outer = [](const numbers& y) {
            return numbers(y * (y * (y * (5 - y) / 6 - 1.25) + 5.0 / 24) + 55.0 / 96);
        };
        const numbers t = x * x, y = 0.5 - x;
        w = {y * y * y * y / 24, outer(1 + x), t * (t * 0.25 - 0.625) + 115.0 / 192, outer(z)};
    } else {
        const auto inner = [](const numbers& y) { return numbers(y * y * (y * y * (0.25 - y / 12) - 0.5) + 0.55); };
        const auto outer = [](const numbers& y) {
            return numbers(y * (y * (y * (y * (y / 24 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425);
        };
        w = {z * z * z * z * z / 120, outer(x + 1), inner(x), inner(z), outer(z + 1)};
    }
    w.push_back(rest());
    return w;
}

/// The poles of the recurrence of an order.
std::vector<double> poles_of(int order) {
    if (order == 2) return {std::sqrt(8.0) - 3};
    if (order == 3) return {std::sqrt(3.0) - 2};
    if (order == 4)
        return {std::sqrt(664.0 - std::sqrt(438976.0)) + std::sqrt(304.0) - 19,
                std::sqrt(664.0 + std::sqrt(438976.0)) - std::sqrt(304.0) - 19};
    return {std::sqrt(67.5 - std::sqrt(4436.25)) + std::sqrt(26.25) - 6.5,
            std::sqrt(67.5 + std::sqrt(4436.25)) - std::sqrt(26.25) - 6.5};
}

/// The response of the recurrence to one element, up to 2^-bits.
std::vector<double> response_of(int order, int bits) {
    std::vector<double> all{1};
    for (const double z : poles_of(order)) {
        const auto radius = static_cast<std::size_t>(std::ceil(-bits * std::numbers::ln2 / std::log(-z)));
        std::vector<double> one(2 * radius + 1), product(all.size() + 2 * radius);
        const double gain = (1 - z) * (1 - 1 / z) * -z / (1 - z * z);
        for (std::size_t k = 0; k < one.size(); ++k)
            one[k] = gain * std::pow(z, static_cast<double>(k > radius ? k - radius : radius - k));
        for (std::size_t i = 0; i < all.size(); ++i)
            for (std::size_t k = 0; k < one.size(); ++k) product[i + k] += all[i] * one[k];
        all = std::move(product);
    }
    return all;
}

}  // namespace

axis_reads reads_of(const numbers& place, index_t extent, int order, border mode, index_t padded) {
    axis_reads r;
    const numbers x = mapped(padded == 0 ? place : numbers(place + static_cast<double>(padded)), extent, mode);
    const double last = static_cast<double>(extent - 1);
    if (mode == border::constant) r.inside = lazy<bool>(x >= 0);
    const numbers middle = order % 2 == 1 ? numbers(floor(x)) : numbers(floor(x + 0.5));
    if (order > 0) r.weights = spline_weights(x - middle, order);
    const border beside = border_of_splines(mode);
    const bool stays_inside = order <= 1 && beside != border::grid_wrap && mode != border::mirror;
    for (int k = 0; k <= order; ++k) {
        const numbers at = middle + (k - order / 2);
        if (mode == border::grid_constant) r.elements.push_back(lazy<bool>(at >= 0 && at <= last));
        const numbers within = stays_inside || mode == border::grid_constant ? at : mapped(at, extent, beside);
        r.at.push_back(lazy<index_t>(astype<index_t>(clipped(within, 0, last))));
    }
    return r;
}

coefficients coefficients_of(const char* operation, const image& e, const spline& how, const std::vector<bool>& used) {
    if (how.order < 0 || how.order > 5)
        throw shape_error("[" + std::string(operation) + "] order " + std::to_string(how.order) +
                          "; 0 to 5 are possible");
    if (detail::kind_of(e.type) == kind::complex)
        throw dtype_error("[" + std::string(operation) + "] " + std::string(name(e.type)) +
                          "; real and imaginary parts are interpolated by themselves");
    const any_lazy given = runtime::read_often(e);
    coefficients c{as_type(given, runtime::weighted_dtype(e.type))};
    if (how.order <= 1 || given.extents().size() == 0) return c;
    const std::size_t rank = used.size();
    if (how.mode == border::nearest || how.mode == border::grid_constant) {
        constexpr index_t around = 12;  // SciPy's
        c.padded = around;
        std::vector<reach> reaches(rank);
        for (std::size_t j = 0; j < rank; ++j)
            if (used[j]) reaches[j] = {around, around};
        c.values = bordered(c.values, reaches, std::vector<border>(rank, how.mode), how.cval).kept();
    }
    border at_ends = border_of_splines(how.mode);
    if (at_ends == border::nearest) at_ends = border::reflect;
    if (at_ends == border::grid_constant) at_ends = border::mirror;
    const std::vector<double> response = response_of(how.order, c.values.type() == dtype::f4 ? 26 : 56);
    for (std::size_t j = 0; j < rank; ++j)
        if (used[j] && c.values.extents().data[j] > 1)
            c.values = any_lazy(detail::correlated_along(operation, {c.values.tree(), c.values.type()}, response,
                                                         static_cast<index_t>(j), {.mode = at_ends}, false),
                                c.values.type())
                           .kept();
    return c;
}

}  // namespace ingot::runtime
