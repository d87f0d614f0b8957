// Other rates by Fourier transforms, or by the phases of a filter: the taps that meet elements and not the zeros
// between them. An element of the result is a sum over a window of the signal, whose step is the factor down; `up`
// elements have one window, with taps of their own.
#include <ingot/signal/resampling.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/fft/transforms.hpp>
#include <ingot/kernels/user_kernels.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/signal/recurrences.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/signal/phases.hpp"
#include "runtime/signal/signals.hpp"
#include "runtime/signal/taps.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::detail {

using runtime::numbers_on;
using runtime::part_of_last;
using runtime::part_of_signal;
using runtime::rate_filter;
using runtime::signal_as;
using runtime::signal_axis;

namespace {

void check_samples(const char* operation, const char* what, index_t n) {
    if (n < 1)
        throw shape_error("[" + std::string(operation) + "] " + what + " " + std::to_string(n) +
                          "; at least 1 is wanted");
}

/// A window's samples as a transform has its frequencies, 0 first; for the half of a real signal's spectrum the means
/// of both signs.
std::vector<double> spectral_weights(const std::optional<signal::window_spec>& window, index_t n, bool halved) {
    std::vector<double> w(static_cast<std::size_t>(n), 1.0);
    if (window) {
        w = window->of("resample", n, true);
        if (window->given() == 0) std::rotate(w.begin(), w.begin() + n / 2, w.end());
    }
    if (!halved) return w;
    const std::vector<double> whole = w;
    for (std::size_t k = 1; k < w.size(); ++k) w[k] = 0.5 * (whole[k] + whole[w.size() - k]);
    w.resize(static_cast<std::size_t>(n / 2 + 1));
    return w;
}

}  // namespace

tree_ref resampled(const image& e, index_t num, const signal::resample_options& how) {
    const signal_axis a = runtime::axis_of_signal("resample", e, how.axis);
    const index_t given = a.extent, common = std::min(num, given);
    check_samples("resample", "a signal of length", given);
    check_samples("resample", "num", num);
    const bool halved = kind_of(e.type) != kind::complex, has_middle = common % 2 == 0 && num != given;
    const index_t upper = common / 2 + 1;  // frequencies from 0 on
    std::vector<double> weights = spectral_weights(how.window, given, halved);
    for (double& w : weights) w *= static_cast<double>(num) / static_cast<double>(given);
    const ingot::device where = runtime::device_of(e);
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        using R = part_of_signal<T>;
        using C = std::complex<R>;
        const lazy<T> x = rows_of(signal_as<T>(e), a);
        if constexpr (std::is_same_v<T, R>) {
            weights.resize(static_cast<std::size_t>(upper));
            if (has_middle) weights.back() *= num < given ? 2 : 0.5;
            const lazy<C> spectrum = part_of_last(lazy<C>(fft::rfft(x)), 0, upper);
            return from_rows(lazy<R>(fft::irfft(lazy<C>(spectrum * numbers_on<R>(where, weights, {upper})), num)), a)
                .tree();
        } else {
            const lazy<C> spectrum = lazy<C>(fft::fft(x) * numbers_on<R>(where, weights, {given})).kept();
            const index_t rest = common - upper, missing = num - common;  // negative frequencies, new ones
            const auto zeros_of = [&](index_t n) { return lazy<C>(broadcast_to(scalar(C(0)), {a.rows, n})); };
            const lazy<C> positive = part_of_last(spectrum, 0, upper - (has_middle ? 1 : 0));
            const lazy<C> negative = part_of_last(spectrum, given - rest, given);
            lazy_parts<C> parts{positive};
            if (has_middle) {
                const lazy<C> middle = part_of_last(spectrum, upper - 1, upper);
                if (num < given) {
                    parts.push_back(middle + part_of_last(spectrum, given - upper + 1, given - upper + 2));
                } else {
                    parts.push_back(middle * R(0.5));
                    if (missing > 1) parts.push_back(zeros_of(missing - 1));
                    parts.push_back(middle * R(0.5));
                }
            } else if (missing > 0) {
                parts.push_back(zeros_of(missing));
            }
            if (rest > 0) parts.push_back(negative);
            return from_rows(lazy<C>(fft::ifft(joined("resample", parts, 1))), a).tree();
        }
    });
}

namespace {

constexpr index_t floor_of(index_t a, index_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

/// About 32 results in a row of a product, or as many as taps up to 256, so that a row's window is at most twice its
/// step; and a number that divides all results where there is one: the product is then the result.
index_t periods_of_row(const rate_filter& f, index_t count) {
    const index_t up = f.up, usual = std::max<index_t>({1, 32 / up, std::min<index_t>(f.size() / (up * f.down), 256)});
    for (index_t periods = 3 * usual / 2; periods > usual / 2; --periods)
        if (count % (periods * up) == 0) return periods;
    return usual;
}

using tap_sum_kernel = elementwise_kernel<"T y, int64 first, int64 place, raw T x, raw T taps, int64 up", "T z">;
/// The sum over the taps that meet elements, where y is not finite. `first`: of the row; `place`: of the result between
/// elements.
const tap_sum_kernel& sum_where_not_finite() {
    static const tap_sum_kernel text(R"(
z = y;
if (!(y - y == T(0))) {
    z = T(0);
    for (int64 tap = place % up; tap < taps.size(); tap += up) z = z + x[first + (place - tap) / up] * taps[tap];
})",
                                     "taps");
    return text;
}

/// The results by one kernel, of rows as they lie.
template <class T>
lazy<T> summed_by_phases(const lazy<T>& x, const rate_filter& f, index_t count, double beyond) {
    const leaf<T> elements = contiguous_values_as<T>(x);
    runtime::stream_state& stream = *runtime::context_on(elements.on_device()).stream;
    const shape_like shape = {x.shape()[0], count};
    leaf<T> results = new_leaf<T>("resample", shape.values(), stream.device);
    runtime::order_read(*elements.memory(), stream);
    runtime::order_write(*results.memory(), stream);
    runtime::sum_phases_on_gpu(f,
                               {dtype_of<T>, static_cast<const T*>(elements.memory()->data) + elements.where().offset,
                                results.memory()->data, shape[0], x.shape()[1], count, beyond},
                               stream);
    runtime::add(runtime::counter::kernel_launches);
    return lazy<T>(array<T>(adopted{}, std::move(results)));
}

/// `count` elements of rows at the other rate. Result p of a period is the sum over k of tap(p * down + middle - k *
/// up) times element k; the next period is `down` elements behind.
template <class T>
lazy<T> at_other_rate(const lazy<T>& x, const rate_filter& f, index_t count, double beyond, ingot::device where) {
    if (where.is_cuda() && runtime::can_sum_phases(f, dtype_of<T>, x.shape()[0], count))
        return summed_by_phases(x, f, count, beyond);
    // About 32 elements of the result are one row of a product of matrices: the window's elements that meet no tap cost
    // less than sums that are no library's.
    const index_t periods = periods_of_row(f, count), outputs = periods * f.up, step = periods * f.down;
    const index_t n = x.shape()[1], groups = (count + outputs - 1) / outputs;
    const index_t first = -floor_of(f.size() - 1 - f.middle, f.up);
    const index_t last = floor_of((outputs - 1) * f.down + f.middle, f.up), window = last - first + 1;
    const index_t before = -first, behind = std::max<index_t>((groups - 1) * step + last + 1 - n, 0);
    const lazy<T> whole = before + behind == 0 ? x : lazy<T>(pad(x, {{0, 0}, {before, behind}}, beyond));
    std::vector<double> columns(static_cast<std::size_t>(window * outputs));
    for (index_t k = 0; k < window; ++k)
        for (index_t p = 0; p < outputs; ++p)
            columns[static_cast<std::size_t>(k * outputs + p)] = f.tap(p * f.down + f.middle - (first + k) * f.up);
    const lazy<T> all_windows = sliding_window_view(whole, window, -1);
    const lazy<T> windows = all_windows(all, slice(0, (groups - 1) * step + 1, step));
    const array<T> made = matmul(windows, numbers_on<T>(where, columns, {window, outputs}));
    const index_t rows = x.shape()[0];
    const lazy<T> y = part_of_last(lazy<T>(reshape(made, {rows, groups * outputs})), 0, count);
    // NaN and infinity of a window reach all results of its product. A graph that is recorded cannot ask for them.
    if (runtime::capture_of_thread() != nullptr || !any(!isfinite(made(ellipsis, 0))).item()) return y;
    const index_t width = whole.shape()[1];
    const array<T> elements(reshape(whole, {rows * width}));
    return lazy<T>(array<T>(sum_where_not_finite()(y, position_along(rows, 1) * width + before,
                                                   position_along(count, 0) * f.down + f.middle, elements,
                                                   numbers_on<T>(where, f.taps, {f.size()}), f.up)));
}

/// Rows of e along the axis at the other rate.
tree_ref signal_at_other_rate(const image& e, const signal_axis& a, const rate_filter& f, double beyond) {
    const index_t count = (a.extent * f.up + f.down - 1) / f.down;
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        const lazy<T> x = signal_as<T>(e);
        if (e.tree->extents().size() == 0) {
            const std::span<const index_t> given = e.tree->extents().span();
            std::vector<index_t> shape(given.begin(), given.end());
            shape[static_cast<std::size_t>(a.axis)] = count;
            const with_device there(runtime::device_of(e));
            return lazy<T>(zeros<T>(shape_like(shape))).tree();
        }
        return from_rows(at_other_rate(rows_of(lazy<T>(x.kept()), a), f, count, beyond, runtime::device_of(e)), a)
            .tree();
    });
}

}  // namespace

tree_ref convolved_by_products(const image& e, const signal_axis& a, const std::vector<double>& taps) {
    return signal_at_other_rate(e, a, {taps, 1, 1, 0}, 0);
}

tree_ref resampled_by_phases(const char* operation, const image& e, index_t up, index_t down,
                             const signal::resample_poly_options& how) {
    const signal_axis a = runtime::axis_of_signal(operation, e, how.axis);
    check_samples(operation, "up", up);
    check_samples(operation, "down", down);
    const index_t common = std::gcd(up, down), greater = std::max(up, down) / common;
    rate_filter f{{}, up / common, down / common, 0};
    if (how.window.given() > 0) {
        f.taps = how.window.of(operation, how.window.given(), false);
    } else {
        if (greater > 1)
            f.taps = signal::firwin(20 * greater + 1, 1 / static_cast<double>(greater), {.window = how.window});
    }
    for (double& tap : f.taps) tap *= static_cast<double>(f.up);
    f.middle = (f.size() - 1) / 2;
    if (greater == 1) return runtime::as_type({e.tree, e.type}, signal_dtype(e.type)).tree();
    return signal_at_other_rate(e, a, f, how.cval);
}

tree_ref decimated(const image& e, index_t q, const signal::decimate_options& how) {
    const signal_axis a = runtime::axis_of_signal("decimate", e, how.axis);
    check_samples("decimate", "q", q);
    if (how.n && *how.n < 0) throw shape_error("[decimate] order " + std::to_string(*how.n) + "; at least 0 is wanted");
    if (how.ftype == signal::decimation::iir) {
        const signal::second_order_sections f = signal::cheby1(how.n.value_or(8), 0.05, 0.8 / static_cast<double>(q));
        const tree_ref filtered =
            how.zero_phase ? forth_and_back("decimate", e, f, a.axis, {}) : by_sections("decimate", e, f, a.axis);
        view_room view;
        view_sliced(view, filtered->extents(), "decimate", a.axis, as_index_item(slice(none, none, q)));
        return view_tree(filtered, view, 0);
    }
    const std::vector<double> taps = signal::firwin(how.n.value_or(20 * q) + 1, 1 / static_cast<double>(q));
    if (how.zero_phase) return resampled_by_phases("decimate", e, 1, q, {.axis = a.axis, .window = taps});
    return signal_at_other_rate(e, a, {taps, 1, q, 0}, 0);
}

}  // namespace ingot::detail
