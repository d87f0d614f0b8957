// Spectra of segments: a window view of the signal, weighed in the operand of one batched transform, whose reader makes
// the powers and their average.
#include <ingot/signal/spectra.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>

#include <ingot/core/complex_parts.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/fft/transforms.hpp>
#include <ingot/statistics/quantiles.hpp>

#include "runtime/signal/signals.hpp"

namespace ingot::detail {

using runtime::extended;
using runtime::numbers_on;
using runtime::part_of_last;
using runtime::part_of_signal;
using runtime::shape_of_rows;
using runtime::signal_as;
using runtime::signal_axis;
using signal::scaling;

namespace {

template <class T>
using complex_for = std::complex<part_of_signal<T>>;

/// Segments with their window, and the transform of each.
struct segmentation {
    index_t size, step, points;
    std::vector<double> window;
    index_t count(index_t n) const { return (n - size) / step + 1; }
};

[[noreturn]] void refuse(const char* operation, const std::string& why) {
    throw shape_error("[" + std::string(operation) + "] " + why);
}
/// Throws shape_error unless segments have elements, overlap in part, and are no longer than the transform.
void check_segments(const char* operation, index_t size, index_t overlap, index_t points) {
    const std::string length = std::to_string(size);
    if (size < 1) refuse(operation, "segments of " + length + " elements; at least 1 is wanted");
    if (overlap < 0 || overlap >= size)
        refuse(operation, "an overlap of " + std::to_string(overlap) + " elements of segments of " + length +
                              "; 0 to " + std::to_string(size - 1) + " are possible");
    if (points < size)
        refuse(operation, "a transform of " + std::to_string(points) + " points of segments of " + length +
                              "; at least as many are wanted");
}
segmentation segments_of(const char* operation, index_t n, const segment_options& how) {
    const index_t given = how.window.given();
    index_t size = how.nperseg.value_or(given > 0 ? given : 256);
    if (given == 0) size = std::min(size, n);
    const index_t overlap = how.noverlap.value_or(size / how.overlap_divisor), points = how.nfft.value_or(size);
    if (size > n)
        refuse(operation, "segments of " + std::to_string(size) + " elements of a signal of " + std::to_string(n) +
                              "; they cannot be longer than the signal");
    check_segments(operation, size, overlap, points);
    return {size, size - overlap, points, how.window.of(operation, size, true)};
}

double scale_of(const std::vector<double>& window, double fs, scaling which) {
    double total = 0, squares = 0;
    for (const double w : window) total += w, squares += w * w;
    return which == scaling::density ? 1 / (fs * squares) : 1 / (total * total);
}

/// Transforms of all segments of rows: (rows, segments, frequencies).
template <class T>
lazy<complex_for<T>> transforms_of(const lazy<T>& x, const segmentation& s, const segment_options& how,
                                   ingot::device where) {
    using R = part_of_signal<T>;
    const lazy<T> whole = sliding_window_view(x, s.size, -1);
    const lazy<T> segments = whole(all, slice(none, none, s.step));
    const lazy<T> weighed =
        runtime::without_trend(segments, how.detrend, where) * numbers_on<R>(where, s.window, {s.size});
    if constexpr (std::is_same_v<T, R>)
        if (how.onesided) return fft::rfft(weighed, s.points);
    return fft::fft(weighed, s.points);
}

bool is_halved(dtype type, const segment_options& how) { return how.onesided && kind_of(type) != kind::complex; }
array<double> frequencies_for(index_t points, double fs, bool halved, ingot::device where) {
    const with_device there(where);
    return halved ? fft::rfftfreq(points, 1 / fs) : fft::fftfreq(points, 1 / fs);
}
/// The factors of powers: the scale, twice it where a frequency stands for both signs.
std::vector<double> power_factors(index_t points, double scale, bool halved) {
    const index_t n = halved ? points / 2 + 1 : points;
    std::vector<double> factors(static_cast<std::size_t>(n), scale);
    if (halved)
        for (index_t k = 1; k < n - (points % 2 == 0 ? 1 : 0); ++k) factors[static_cast<std::size_t>(k)] *= 2;
    return factors;
}

template <class R>
lazy<R> squares_of(const lazy<std::complex<R>>& x) {
    return real(x) * real(x) + imag(x) * imag(x);
}

/// How much the median of n powers lies below their mean.
double bias_of_median(index_t n) {
    double bias = 1;
    for (index_t k = 1; k <= (n - 1) / 2; ++k)
        bias += 1 / static_cast<double>(2 * k + 1) - 1 / static_cast<double>(2 * k);
    return bias;
}
/// The average over segments, along the middle axis.
template <class P>
lazy<P> averaged_over_segments(const lazy<P>& powers, signal::averaging how) {
    const index_t n = powers.shape()[1];
    if (n == 1) return powers(all, 0);
    if (how == signal::averaging::mean) return mean(powers, 1);
    const lazy<P> kept = powers.kept();
    const double bias = bias_of_median(n);
    if constexpr (kind_of(dtype_of<P>) == kind::complex)
        return complex_of(median(real(kept), 1) / bias, median(imag(kept), 1) / bias);
    else
        return median(kept, 1) / bias;
}

/// Rows of x, which are read often, by the options: continued, and with zeros that complete the last segment.
template <class T>
lazy<T> prepared_rows(const char* operation, const lazy<T>& rows, const segmentation& s, const segment_options& how) {
    const index_t n = rows.shape()[1], edge = s.size / 2;
    const bool mirrors = how.boundary == signal::extension::odd || how.boundary == signal::extension::even;
    if (mirrors && edge >= n)
        refuse(operation, "a signal of " + std::to_string(n) + " elements, continued by " + std::to_string(edge) +
                              " mirrored ones; a longer signal is wanted");
    lazy<T> x = extended(rows, edge, how.boundary);
    const index_t length = x.shape()[1];
    const index_t rest = how.padded ? (((s.size - length) % s.step + s.step) % s.step) % s.size : 0;
    if (rest > 0) x = pad(x, {{0, 0}, {0, rest}});
    return x;
}

/// The spectra of a signal without elements have its shape, and no frequencies, as SciPy's.
template <class P>
spectrum_parts nothing_of(const signal_axis& a, ingot::device where) {
    const with_device there(where);
    return {array<double>(), array<double>(), from_rows(lazy<P>(zeros<P>({a.rows, a.extent})), a).tree()};
}
bool is_empty(const image& e) { return e.tree->extents().size() == 0; }

/// The rows of e, evaluated: segments read an element several times.
template <class T>
lazy<T> kept_rows(const image& e, const signal_axis& a) {
    return rows_of(lazy<T>(signal_as<T>(e).kept()), a);
}

template <class T>
lazy<T> zeros_behind(const lazy<T>& rows, index_t n) {
    const index_t given = rows.shape()[1];
    return given == n ? rows : lazy<T>(pad(rows, {{0, 0}, {0, n - given}}));
}

}  // namespace

spectrum_parts averaged_spectrum(const char* operation, const image& x, const image* y, double fs,
                                 const segment_options& how) {
    const signal_axis a = runtime::axis_of_signal(operation, x, how.axis);
    const ingot::device where = runtime::device_of(x);
    if (y == nullptr) {
        if (is_empty(x))
            return runtime::with_signal_type(
                x.type, [&]<class T>(std::type_identity<T>) { return nothing_of<part_of_signal<T>>(a, where); });
        const segmentation s = segments_of(operation, a.extent, how);
        const bool halved = is_halved(x.type, how);
        const std::vector<double> factors = power_factors(s.points, scale_of(s.window, fs, how.scaling), halved);
        tree_ref made = runtime::with_signal_type(x.type, [&]<class T>(std::type_identity<T>) {
            using R = part_of_signal<T>;
            const lazy<R> powers = squares_of<R>(transforms_of(kept_rows<T>(x, a), s, how, where));
            const lazy<R> scaled = averaged_over_segments(powers, how.average) *
                                   numbers_on<R>(where, factors, {static_cast<index_t>(factors.size())});
            return from_rows(scaled, a).tree();
        });
        return {frequencies_for(s.points, fs, halved, where), array<double>(), std::move(made)};
    }
    const signal_axis b = runtime::axis_of_signal(operation, *y, how.axis);
    if (!may_meet(x.tree->device, y->tree->device)) throw_two_devices(operation, x.tree->device, y->tree->device);
    const index_t n = std::max(a.extent, b.extent);
    const std::array<shape_like, 2> shapes{shape_of_rows(a, n), shape_of_rows(b, n)};
    const shape_like shape = broadcast_shape_of(operation, shapes);
    signal_axis made_axis{how.axis < 0 ? static_cast<int>(how.axis) : a.axis, {shape.begin(), shape.end() - 1}, 1, n};
    for (const index_t extent : made_axis.others) made_axis.rows *= extent;
    const dtype both = promote(signal_dtype(x.type), signal_dtype(y->type));
    if (is_empty(x) || is_empty(*y)) {
        made_axis.extent = std::min(a.extent, b.extent);
        return runtime::with_signal_type(
            both, [&]<class T>(std::type_identity<T>) { return nothing_of<complex_for<T>>(made_axis, where); });
    }
    const segmentation s = segments_of(operation, n, how);
    const bool halved = is_halved(both, how);
    const std::vector<double> factors = power_factors(s.points, scale_of(s.window, fs, how.scaling), halved);
    tree_ref made = runtime::with_signal_type(both, [&]<class T>(std::type_identity<T>) {
        using R = part_of_signal<T>;
        using C = std::complex<R>;
        const auto spectra_of = [&](const image& e, const signal_axis& axis) {
            const lazy<C> rows = transforms_of(zeros_behind(kept_rows<T>(e, axis), n), s, how, where);
            std::vector<index_t> shape = axis.others;
            shape.insert(shape.end(), {rows.shape()[1], rows.shape()[2]});
            return lazy<C>(reshape(rows, shape_like(shape)));
        };
        const lazy<C> products = conj(spectra_of(x, a)) * spectra_of(*y, b);
        // As rows, that the average has one axis.
        const shape_like whole = products.shape();
        const lazy<C> averages = averaged_over_segments(
            lazy<C>(reshape(products, {made_axis.rows, whole[whole.count() - 2], whole[whole.count() - 1]})),
            how.average);
        const lazy<C> scaled = averages * numbers_on<R>(where, factors, {static_cast<index_t>(factors.size())});
        return from_rows(scaled, made_axis).tree();
    });
    return {frequencies_for(s.points, fs, halved, where), array<double>(), std::move(made)};
}

spectrum_parts periodogram_of(const image& e, double fs, const signal::periodogram_options& how) {
    const signal_axis a = runtime::axis_of_signal("periodogram", e, how.axis);
    const index_t points = how.nfft.value_or(a.extent), used = std::min(points, a.extent);
    const segment_options o{how.window,          used,        index_t{0}, points, how.detrend,
                            how.return_onesided, how.scaling, how.axis};
    if (used == a.extent) return averaged_spectrum("periodogram", e, nullptr, fs, o);
    view_room view;
    view_sliced(view, e.tree->extents(), "periodogram", a.axis, as_index_item(slice(0, std::max<index_t>(used, 0))));
    return averaged_spectrum("periodogram", image(view_tree(e.tree, view, 0), e.type), nullptr, fs, o);
}

spectrum_parts segment_spectra(const char* operation, const image& e, double fs, const segment_options& how,
                               bool powers) {
    const signal_axis a = runtime::axis_of_signal(operation, e, how.axis);
    const ingot::device where = runtime::device_of(e);
    if (is_empty(e))
        return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
            return powers ? nothing_of<part_of_signal<T>>(a, where) : nothing_of<complex_for<T>>(a, where);
        });
    segmentation s = segments_of(operation, a.extent, how);
    const bool halved = is_halved(e.type, how);
    const double scale = scale_of(s.window, fs, how.scaling);
    if (!powers)
        for (double& w : s.window) w *= std::sqrt(scale);
    index_t length = 0;
    tree_ref made = runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        using R = part_of_signal<T>;
        const lazy<T> rows = prepared_rows(operation, kept_rows<T>(e, a), s, how);
        length = rows.shape()[1];
        const lazy<complex_for<T>> spectra = transforms_of(rows, s, how, where);
        const auto as_tree = [&]<class P>(const lazy<P>& values) {
            std::vector<index_t> shape = a.others;
            shape.insert(shape.end(), {values.shape()[1], values.shape()[2]});
            return lazy<P>(moveaxis(reshape(values, shape_like(shape)), -1, a.axis)).tree();
        };
        if (!powers) return as_tree(spectra);
        const std::vector<double> factors = power_factors(s.points, scale, halved);
        return as_tree(
            lazy<R>(squares_of<R>(spectra) * numbers_on<R>(where, factors, {static_cast<index_t>(factors.size())})));
    });
    std::vector<double> times;
    const double before = how.boundary == signal::extension::none ? 0 : static_cast<double>(s.size) / 2;
    for (index_t k = 0; k < s.count(length); ++k)
        times.push_back((static_cast<double>(k * s.step) + static_cast<double>(s.size) / 2 - before) / fs);
    return {frequencies_for(s.points, fs, halved, where),
            numbers_on<double>(where, times, {static_cast<index_t>(times.size())}), std::move(made)};
}

namespace {

/// The sum of segments that begin `step` elements apart, in pieces of `step` elements: (rows, segments, size) becomes
/// (rows, pieces, step). Segments are cut into pieces too; a sum's are on a diagonal.
template <class T>
lazy<T> overlapped(const lazy<T>& segments, index_t step) {
    const index_t rows = segments.shape()[0], count = segments.shape()[1], size = segments.shape()[2];
    const index_t pieces = (size + step - 1) / step, beyond = pieces - 1;
    if (pieces == 1) return pad(segments, {{0, 0}, {0, 0}, {0, step - size}});
    const lazy<T> whole = pad(segments, {{0, 0}, {beyond, beyond}, {0, pieces * step - size}});
    const lazy<T> cut = reshape(array<T>(whole), {rows, count + 2 * beyond, pieces, step});
    // Windows of segments as a last axis, the latest first, beside their pieces.
    const lazy<T> windows = flip(lazy<T>(sliding_window_view(cut, pieces, 1)), -1);
    return sum(diagonal(windows, 0, 2, 4), -1);
}

/// The sums of squared windows over which `count` segments are added, in pieces of `step` elements, of which those in
/// the middle are equal. Where a sum is 0, it is 1.
template <class R>
lazy<R> sums_of_squares(const std::vector<double>& window, index_t count, index_t step, ingot::device where) {
    const auto size = static_cast<index_t>(window.size());
    const index_t pieces = (size + step - 1) / step, equal = std::max<index_t>(count - pieces, 0);
    const index_t different = count + pieces - 1 - equal;
    std::vector<double> sums(static_cast<std::size_t>(different * step));
    for (index_t segment = 0; segment < different - pieces + 1; ++segment)
        for (index_t k = 0; k < size; ++k) {
            const double w = window[static_cast<std::size_t>(k)];
            sums[static_cast<std::size_t>(segment * step + k)] += w * w;
        }
    for (double& total : sums) total = total > 1e-10 ? total : 1;
    const array<R> each = numbers_on<R>(where, sums, {different, step});
    if (equal == 0) return each;
    const auto place = position_along(count + pieces - 1, 0);
    return take<unchecked_mode>(each, minimum(place, maximum(place - equal, pieces - 1)), 0);
}

}  // namespace

spectrum_parts signal_of_segments(const image& e, double fs, const signal::istft_options& how) {
    const int rank = e.tree->extents().rank;
    if (rank < 2)
        throw shape_error("[istft] shape " + to_text(e.tree->extents().span()) + "; at least two axes are wanted");
    const int time = checked_axis("istft", how.time_axis, rank), frequency = checked_axis("istft", how.freq_axis, rank);
    if (time == frequency) throw shape_error("[istft] one axis of both times and frequencies; two are wanted");
    const std::span<const index_t> given = e.tree->extents().span();
    const index_t bins = given[static_cast<std::size_t>(frequency)], count = given[static_cast<std::size_t>(time)];
    if (bins < 1 || count < 1)
        throw shape_error("[istft] shape " + to_text(given) + "; at least one frequency and one segment are wanted");
    const index_t even = 2 * (bins - 1),
                  size = how.nperseg.value_or(how.window.given() > 0 ? how.window.given() : even);
    const index_t points = how.nfft.value_or(size == even + 1 ? size : even);
    const index_t overlap = how.noverlap.value_or(size / 2), step = size - overlap;
    check_segments("istft", size, overlap, points);
    const std::vector<double> window = how.window.of("istft", size, true);
    const ingot::device where = runtime::device_of(e);
    std::vector<index_t> others;
    for (int j = 0; j < rank; ++j)
        if (j != time && j != frequency) others.push_back(given[static_cast<std::size_t>(j)]);
    const index_t rows = std::accumulate(others.begin(), others.end(), index_t{1}, std::multiplies<>());
    const index_t edge = how.boundary ? size / 2 : 0, length = size + (count - 1) * step - 2 * edge;
    tree_ref made = runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        using R = part_of_signal<T>;
        using C = std::complex<R>;
        const lazy<C> spectra =
            reshape(lazy<C>(moveaxis(signal_as<C>(e), {time, frequency}, {-2, -1})), {rows, count, bins});
        const array<R> weights = numbers_on<R>(where, window, {size});
        const double scale = std::sqrt(1 / scale_of(window, fs, how.scaling));
        const lazy<R> segments = part_of_last(lazy<R>(fft::irfft(spectra, points)), 0, size) * weights * scale;
        const array<R> pieces = overlapped<R>(segments, step) / sums_of_squares<R>(window, count, step, where);
        const lazy<R> signals = reshape(pieces, {rows, pieces.shape()[1] * step});
        std::vector<index_t> shape = others;
        shape.push_back(length);
        const lazy<R> x = reshape(part_of_last(signals, edge, edge + length), shape_like(shape));
        return lazy<R>(moveaxis(x, -1, time - (frequency < time ? 1 : 0))).tree();
    });
    const with_device there(where);
    return {array<double>(), array<double>(arange<double>(length) / fs), std::move(made)};
}

tree_ref analytic_signal(const image& e, std::optional<index_t> n, index_t axis) {
    const signal_axis a = runtime::axis_of_signal("hilbert", e, axis);
    const index_t points = n.value_or(a.extent), half = points / 2 + 1;
    if (points < 1)
        throw shape_error("[hilbert] a transform of " + std::to_string(points) + " points; at least 1 is wanted");
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        using R = part_of_signal<T>;
        using C = std::complex<R>;
        if constexpr (!std::is_same_v<T, R>) {
            return signal_as<T>(e).tree();
        } else {
            const lazy<C> spectrum = fft::rfft(rows_of(signal_as<T>(e), a), points);
            std::vector<double> factors(static_cast<std::size_t>(half), 2.0);
            factors[0] = 1;
            if (points % 2 == 0) factors[static_cast<std::size_t>(half) - 1] = 1;
            const lazy<C> upper = spectrum * numbers_on<R>(runtime::device_of(e), factors, {half});
            return from_rows(lazy<C>(fft::ifft(upper, points)), a).tree();
        }
    });
}

tree_ref detrended(const image& e, index_t axis, signal::trend which, const std::vector<index_t>& breaks) {
    const signal_axis a = runtime::axis_of_signal("detrend", e, axis);
    std::vector<index_t> ends{0, a.extent};
    if (which == signal::trend::linear)
        for (const index_t b : breaks) {
            if (b < 0 || b > a.extent)
                throw shape_error("[detrend] a break at " + std::to_string(b) + " of an axis of " +
                                  std::to_string(a.extent) + " elements; one inside is wanted");
            ends.push_back(b);
        }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return runtime::with_signal_type(e.type, [&]<class T>(std::type_identity<T>) {
        if (is_empty(e)) return signal_as<T>(e).tree();
        const lazy<T> x = rows_of(lazy<T>(signal_as<T>(e).kept()), a);
        lazy_parts<T> parts;
        for (std::size_t k = 0; k + 1 < ends.size(); ++k)
            parts.push_back(
                runtime::without_trend(part_of_last(x, ends[k], ends[k + 1]), which, runtime::device_of(e)));
        return from_rows(parts.size() == 1 ? parts[0] : joined("detrend", parts, 1), a).tree();
    });
}

}  // namespace ingot::detail
