// Signals at another rate.
#pragma once

#include <cstdint>
#include <optional>

#include <ingot/signal/designs.hpp>
#include <ingot/signal/operands.hpp>

namespace ingot {
namespace signal {

/// The options of `resample`.
struct resample_options {
    /// The axis of the signal.
    index_t axis = 0;
    /// A window by which frequencies are multiplied, the middle one of which is 0; without one all stay as they are.
    std::optional<window_spec> window = {};
};

/// The options of `resample_poly`.
struct resample_poly_options {
    /// The axis of the signal.
    index_t axis = 0;
    /// The window of the filter's design; or, where samples are given, the filter's taps.
    window_spec window = {"kaiser", 5.0};
    /// The value beyond the ends.
    double cval = 0;
};

/// The filter of `decimate`: Chebyshev's of order 8, or taps by the window method.
enum class decimation : std::uint8_t { iir, fir };

/// The options of `decimate`.
struct decimate_options {
    /// The order of the filter; by default 8, or 20 times the factor for taps.
    std::optional<index_t> n = {};
    /// The filter.
    decimation ftype = decimation::iir;
    /// The axis of the signal.
    index_t axis = -1;
    /// Whether no frequency is delayed: the filter goes forth and back, or its taps lie around each element.
    bool zero_phase = true;
};

}  // namespace signal

namespace detail {

INGOT_API tree_ref resampled(const image&, index_t num, const signal::resample_options&);
INGOT_API tree_ref resampled_by_phases(const char* operation, const image&, index_t up, index_t down,
                                       const signal::resample_poly_options&);
INGOT_API tree_ref decimated(const image&, index_t q, const signal::decimate_options&);

}  // namespace detail

namespace signal {

/// The signal as `num` samples of the same time, by its Fourier transform, to which higher frequencies are added as
/// zeros or from which they are removed; it is taken as periodic. Throws shape_error where there is no such axis, or
/// one of both has no samples.
///
///     std::cout << round(signal::resample(array<double>{1, 2, 4, 3}, 8), 3);
///     // prints: [1.    1.086 2.    3.207 4.    3.914 3.    1.793]
template <array_expression E>
auto resample(const E& e, index_t num, const resample_options& how = {}) {
    return detail::signal_of<E>::of(detail::resampled(e, num, how));
}

/// The signal at up / down of its rate, by a filter of linear phase between both steps; only the elements that stay are
/// computed, now. By default it has 20 times as many taps as the greater factor. Waits for whether a result is NaN or
/// infinite, unless a graph is recorded: then others beside it are NaN, too. Throws shape_error where there is no such
/// axis or a factor is not positive, error where no window has that name.
///
///     std::cout << round(signal::resample_poly(array<double>{1, 1, 2, 2, 1, 1}, 3, 2), 3);
///     // prints: [1.001 1.023 1.168 2.001 2.308 1.548 1.001 1.08  0.722]
template <array_expression E>
auto resample_poly(const E& e, index_t up, index_t down, const resample_poly_options& how = {}) {
    return detail::signal_of<E>::of(detail::resampled_by_phases("resample_poly", e, up, down, how));
}

/// Every q-th element behind a low-pass filter. Throws as `resample_poly` and `filtfilt`.
///
///     std::cout << round(signal::decimate(ones({64}), 16), 3);
///     // prints: [0.989 0.989 0.989 0.989]
template <array_expression E>
auto decimate(const E& e, index_t q, const decimate_options& how = {}) {
    return detail::signal_of<E>::of(detail::decimated(e, q, how));
}

}  // namespace signal
}  // namespace ingot
