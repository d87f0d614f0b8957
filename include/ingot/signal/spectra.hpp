// Spectra of signals: of windowed segments, averaged or over time, and the transforms by which signals are filtered.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <ingot/signal/designs.hpp>
#include <ingot/signal/operands.hpp>

namespace ingot {
namespace signal {

/// Power per frequency unit, or of a frequency's component.
enum class scaling : std::uint8_t { density, spectrum };
/// The average of the segments' spectra; medians are corrected for their bias.
enum class averaging : std::uint8_t { mean, median };

/// The options of `welch` and `csd`.
struct welch_options {
    /// The window of a segment.
    window_spec window = "hann";
    /// The elements of a segment; by default as many as the window has, or 256 where the window is given by name, or
    /// the whole signal where it is shorter.
    std::optional<index_t> nperseg = {};
    /// The elements that two segments share; by default half of a segment, rounded down.
    std::optional<index_t> noverlap = {};
    /// The points of the transform, a segment followed by zeros; by default as many as a segment has.
    std::optional<index_t> nfft = {};
    /// The trend that is subtracted from each segment.
    trend detrend = trend::constant;
    /// Whether real signals have frequencies from 0 on alone, with the power of both signs; complex ones have all.
    bool return_onesided = true;
    /// The scale of powers.
    signal::scaling scaling = signal::scaling::density;
    /// The axis of time, which becomes that of frequencies.
    index_t axis = -1;
    /// The average over segments.
    averaging average = averaging::mean;
};

/// The options of `periodogram`.
struct periodogram_options {
    /// The window of the signal.
    window_spec window = "boxcar";
    /// The points of the transform, to which the signal is cropped or zero-padded; by default its elements.
    std::optional<index_t> nfft = {};
    /// The trend that is subtracted.
    trend detrend = trend::constant;
    /// As in `welch_options`.
    bool return_onesided = true;
    /// The scale of powers.
    signal::scaling scaling = signal::scaling::density;
    /// The axis of time, which becomes that of frequencies.
    index_t axis = -1;
};

/// The options of `spectrogram`.
struct spectrogram_options {
    /// The window of a segment.
    window_spec window = {"tukey", 0.25};
    /// The elements of a segment; by default as many as the window has, or 256 where the window is given by name, or
    /// the whole signal where it is shorter.
    std::optional<index_t> nperseg = {};
    /// The elements that two segments share; by default an eighth of a segment, rounded down.
    std::optional<index_t> noverlap = {};
    /// The points of the transform; by default as many as a segment has.
    std::optional<index_t> nfft = {};
    /// The trend that is subtracted from each segment.
    trend detrend = trend::constant;
    /// As in `welch_options`.
    bool return_onesided = true;
    /// The scale of powers.
    signal::scaling scaling = signal::scaling::density;
    /// The axis of time, which becomes that of frequencies; times are a new last axis.
    index_t axis = -1;
};

/// The options of `stft`.
struct stft_options {
    /// The window of a segment.
    window_spec window = "hann";
    /// A segment's elements, at most the signal's; a window given by its samples has as many.
    index_t nperseg = 256;
    /// The elements that two segments share; by default half of a segment, rounded down.
    std::optional<index_t> noverlap = {};
    /// The points of the transform; by default as many as a segment has.
    std::optional<index_t> nfft = {};
    /// The trend that is subtracted from each segment.
    trend detrend = trend::none;
    /// Whether real signals have frequencies from 0 on alone.
    bool return_onesided = true;
    /// How the signal is continued by half a segment beyond both ends.
    extension boundary = extension::zeros;
    /// Whether zeros complete the last segment, which is else left out.
    bool padded = true;
    /// The axis of time, which becomes that of frequencies; times are a new last axis.
    index_t axis = -1;
    /// The scale, so that squared magnitudes are powers.
    signal::scaling scaling = signal::scaling::spectrum;
};

/// The options of `istft`.
struct istft_options {
    /// The window by which the transform was made.
    window_spec window = "hann";
    /// A segment's elements; by default as many as the transform has points.
    std::optional<index_t> nperseg = {};
    /// The elements that two segments share; by default half of a segment, rounded down.
    std::optional<index_t> noverlap = {};
    /// The points of the transform; by default those of an even number to which the frequencies belong.
    std::optional<index_t> nfft = {};
    /// Whether half a segment is removed from both ends, by which the transform had continued the signal.
    bool boundary = true;
    /// The axis of segments.
    index_t time_axis = -1;
    /// The axis of frequencies.
    index_t freq_axis = -2;
    /// The scale that the transform had.
    signal::scaling scaling = signal::scaling::spectrum;
};

/// Frequencies and the powers or amplitudes at them.
template <class T>
struct spectrum {
    array<double> f;
    lazy<T> p;
};
/// Frequencies, the times of segments' middles, and spectra over time.
template <class T>
struct spectrum_over_time {
    array<double> f;
    array<double> t;
    lazy<T> s;
};
/// Times and the signal at them.
template <class T>
struct timed_signal {
    array<double> t;
    lazy<T> x;
};

}  // namespace signal

namespace detail {

/// Options as all functions of segments have them.
struct segment_options {
    const signal::window_spec& window;
    std::optional<index_t> nperseg, noverlap, nfft;
    signal::trend detrend;
    bool onesided;
    signal::scaling scaling;
    index_t axis;
    signal::averaging average = signal::averaging::mean;
    signal::extension boundary = signal::extension::none;
    bool padded = false;
    index_t overlap_divisor = 2;  // the default overlap is a segment divided by it
};
struct spectrum_parts {
    array<double> f, t;
    tree_ref values;
};
INGOT_API spectrum_parts averaged_spectrum(const char* operation, const image& x, const image* y, double fs,
                                           const segment_options&);
/// Powers of all segments, or their transforms.
INGOT_API spectrum_parts segment_spectra(const char* operation, const image&, double fs, const segment_options&,
                                         bool powers);
INGOT_API spectrum_parts periodogram_of(const image&, double fs, const signal::periodogram_options&);
INGOT_API spectrum_parts signal_of_segments(const image&, double fs, const signal::istft_options&);
INGOT_API tree_ref analytic_signal(const image&, std::optional<index_t> n, index_t axis);
INGOT_API tree_ref detrended(const image&, index_t axis, signal::trend, const std::vector<index_t>& breaks);

template <class R>
signal::spectrum<typename R::value_type> as_spectrum(spectrum_parts p) {
    return {std::move(p.f), R::of(std::move(p.values))};
}
template <class R>
signal::spectrum_over_time<typename R::value_type> as_spectrum_over_time(spectrum_parts p) {
    return {std::move(p.f), std::move(p.t), R::of(std::move(p.values))};
}
inline segment_options options_of(const signal::welch_options& o) {
    return {o.window, o.nperseg, o.noverlap, o.nfft, o.detrend, o.return_onesided, o.scaling, o.axis, o.average};
}

}  // namespace detail

namespace signal {

/// The power at each frequency by Welch's method (1967): the average over overlapping, windowed segments of a signal
/// sampled at `fs`, in its unit squared per hertz. Returns frequencies and powers, `[f, p]`; powers are an expression.
/// A signal without elements has powers of its shape at no frequencies. Throws shape_error where there is no such axis,
/// a segment has no element or shares all with the next one, or the transform has fewer points than a segment; error
/// where no window has that name.
///
///     const array<double> t = arange<double>(1024) / 1024, x = sin(2 * 3.141592653589793 * 128 * t);
///     const auto [f, p] = signal::welch(x, 1024, {.nperseg = 128});
///     std::cout << f(argmax(p).item()) << ' ' << round(sum(p).item() * f(1).item(), 4);
///     // prints: 128.0 0.5
template <array_expression E>
auto welch(const E& e, double fs = 1, const welch_options& how = {}) {
    return detail::as_spectrum<detail::real_signal_of<E>>(
        detail::averaged_spectrum("welch", e, nullptr, fs, detail::options_of(how)));
}

/// The cross spectrum of two signals by Welch's method: the average of products of y's transforms with the conjugates
/// of x's. The shorter signal is followed by zeros; other axes are broadcast. Throws as `welch`.
///
///     const array<double> x{1, 2, 0, 1, 3, 1, 2, 2}, y{0, 1, 2, 0, 1, 3, 1, 2};
///     std::cout << round(signal::csd(x, y, 1, {.nperseg = 4}).p, 3);
///     // prints: [-0.278+0.j    -0.944-1.833j -0.889+0.j   ]
template <array_expression E, array_expression Y>
auto csd(const E& e, const Y& y, double fs = 1, const welch_options& how = {}) {
    const detail::image other = y;
    return detail::as_spectrum<detail::complex_signal_of<E, Y>>(
        detail::averaged_spectrum("csd", e, &other, fs, detail::options_of(how)));
}

/// The power at each frequency of the whole signal, `[f, p]`. Throws as `welch`.
///
///     std::cout << round(signal::periodogram(array<double>{0, 1, 0, -1, 0, 1, 0, -1}).p, 3);
///     // prints: [0. 0. 4. 0. 0.]
template <array_expression E>
auto periodogram(const E& e, double fs = 1, const periodogram_options& how = {}) {
    return detail::as_spectrum<detail::real_signal_of<E>>(detail::periodogram_of(e, fs, how));
}

/// Powers at each frequency over time: frequencies, times and powers, `[f, t, s]`. Throws as `welch`.
///
///     const auto [f, t, s] = signal::spectrogram(ones({100}), 10, {.nperseg = 20, .detrend = signal::trend::none});
///     std::cout << t << ' ' << s.shape();
///     // prints: [1.  2.8 4.6 6.4 8.2] (11, 5)
template <array_expression E>
auto spectrogram(const E& e, double fs = 1, const spectrogram_options& how = {}) {
    return detail::as_spectrum_over_time<detail::real_signal_of<E>>(
        detail::segment_spectra("spectrogram", e, fs,
                                {how.window, how.nperseg, how.noverlap, how.nfft, how.detrend, how.return_onesided,
                                 how.scaling, how.axis, averaging::mean, extension::none, false, 8},
                                true));
}

/// The transforms of overlapping, windowed segments: frequencies, times and amplitudes, `[f, t, s]`. Throws as `welch`.
///
///     const array<double> x{1, 2, 3, 4, 5, 6, 7, 8};
///     const auto [f, t, s] = signal::stft(x, 1, {.nperseg = 4});
///     std::cout << s.shape() << ' ' << round(real(s(0)), 3);
///     // prints: (3, 5) [1. 3. 5. 7. 2.]
template <array_expression E>
auto stft(const E& e, double fs = 1, const stft_options& how = {}) {
    return detail::as_spectrum_over_time<detail::complex_signal_of<E>>(
        detail::segment_spectra("stft", e, fs,
                                {how.window, how.nperseg, how.noverlap, how.nfft, how.detrend, how.return_onesided,
                                 how.scaling, how.axis, averaging::mean, how.boundary, how.padded},
                                false));
}

/// The real signal of a transform by `stft` that has frequencies from 0 on alone: times and the signal, `[t, x]`,
/// computed now.
/// Throws shape_error where there are fewer than two axes or both are one, a segment has no element or shares all with
/// the next one, or the transform has fewer points than a segment.
///
///     const array<double> x{1, 2, 3, 4, 5, 6, 7, 8};
///     std::cout << signal::istft(signal::stft(x, 1, {.nperseg = 4}).s).x;
///     // prints: [1. 2. 3. 4. 5. 6. 7. 8.]
template <array_expression E>
auto istft(const E& e, double fs = 1, const istft_options& how = {}) {
    detail::spectrum_parts p = detail::signal_of_segments(e, fs, how);
    using R = detail::real_signal_of<E>;
    return timed_signal<typename R::value_type>{std::move(p.t), R::of(std::move(p.values))};
}

/// A signal with the imaginary part by which it has no negative frequencies, by a transform of n points, to which the
/// axis is cropped or zero-padded. Throws shape_error where there is no such axis, or there are no points.
///
///     std::cout << signal::hilbert(array<double>{1, 0, -1, 0});
///     // prints: [ 1.+0.j  0.+1.j -1.+0.j  0.-1.j]
template <array_expression E>
    requires(detail::kind_of(std::remove_cvref_t<E>::type) != detail::kind::complex)
auto hilbert(const E& e, std::optional<index_t> n = {}, index_t axis = -1) {
    return detail::complex_signal_of<E>::of(detail::analytic_signal(e, n, axis));
}

/// The signal without its mean, or without the line fitted to it by least squares, of each part between breaks. Throws
/// shape_error where there is no such axis, or a break lies outside of it.
///
///     const array<double> x{0, 1, 2, 3, 9, 7, 5, 3};
///     std::cout << signal::detrend(x, -1, signal::trend::constant) << ' ';
///     std::cout << round(abs(signal::detrend(x, -1, signal::trend::linear, {4})), 6);
///     // prints: [-3.75 -2.75 -1.75 -0.75  5.25  3.25  1.25 -0.75] [0. 0. 0. 0. 0. 0. 0. 0.]
template <array_expression E>
auto detrend(const E& e, index_t axis = -1, trend type = trend::linear, const std::vector<index_t>& bp = {}) {
    return detail::signal_of<E>::of(detail::detrended(e, axis, type, bp));
}

}  // namespace signal
}  // namespace ingot
