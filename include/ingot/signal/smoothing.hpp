// Smoothing by medians and by fitted polynomials, and the peaks of a signal.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <ingot/ndimage/order_filters.hpp>
#include <ingot/signal/designs.hpp>
#include <ingot/signal/operands.hpp>

namespace ingot {
namespace signal {

/// The elements of `savgol_filter` near the ends: values of the polynomial fitted to the last window, or the signal is
/// continued by a border of ndimage.
enum class savgol_mode : std::uint8_t { interp, mirror, constant, nearest, wrap };

/// The options of `savgol_filter`.
struct savgol_options {
    /// The order of the derivative.
    index_t deriv = 0;
    /// The distance of the samples.
    double delta = 1;
    /// The axis of the signal.
    index_t axis = -1;
    /// The elements near the ends.
    savgol_mode mode = savgol_mode::interp;
    /// The value beyond the ends where the mode is `constant`.
    double cval = 0;
};

/// Limits of a quantity: the least, or the least and the greatest, both inside.
class limits {
public:
    limits(double least) : least_(least) {}
    limits(double least, double most) : least_(least), most_(most) {}

    // Inner
    template <class V>
    auto have(const V& value) const {
        return least_ <= value && value <= most_;
    }
    bool have(double least, double most) const { return least_ <= least && most <= most_; }

private:
    double least_, most_ = std::numeric_limits<double>::infinity();
};

/// The options of `find_peaks`: the peaks that are wanted.
struct peak_options {
    /// The signal at a peak.
    std::optional<limits> height = {};
    /// The distance in height to both neighbours.
    std::optional<limits> threshold = {};
    /// The least number of samples between two peaks; lower ones are left out first.
    std::optional<double> distance = {};
    /// How far a peak stands out of its surroundings.
    std::optional<limits> prominence = {};
    /// The width in samples at a part of the prominence.
    std::optional<limits> width = {};
    /// The samples around a peak in which its prominence is found; by default all.
    std::optional<double> wlen = {};
    /// The part of the prominence below the peak at which widths are measured.
    double rel_height = 0.5;
    /// The number of samples of a flat top.
    std::optional<limits> plateau_size = {};
};

/// Peaks, and what `find_peaks` was asked for: heights; distances to both neighbours; prominences with the places at
/// both sides from which they are measured; widths with their heights and ends; flat tops with their ends.
struct peaks {
    array<index_t> indices = {};
    array<double> peak_heights = {};
    array<double> left_thresholds = {}, right_thresholds = {};
    array<double> prominences = {};
    array<index_t> left_bases = {}, right_bases = {};
    array<double> widths = {}, width_heights = {}, left_ips = {}, right_ips = {};
    array<index_t> plateau_sizes = {}, left_edges = {}, right_edges = {};
};

}  // namespace signal

namespace detail {

INGOT_API tree_ref median_of_signal(const image&, const ndimage::per_axis<index_t>& size);
INGOT_API tree_ref polynomially_smoothed(const image&, index_t window, index_t order, const signal::savgol_options&);
INGOT_API signal::peaks peaks_of(const image&, const signal::peak_options&);

}  // namespace detail

namespace signal {

/// The median of the box around each element, with zeros beyond the ends; an expression of e's dtype. Sizes are odd,
/// one for all axes or one for each. Throws shape_error where a size is even or not positive, dtype_error where
/// elements are complex.
///
///     std::cout << signal::medfilt(array<double>{2, 8, 0, 4, 1, 9, 9, 0});
///     // prints: [2. 2. 4. 1. 4. 9. 9. 0.]
template <array_expression E>
auto medfilt(const E& e, const ndimage::per_axis<index_t>& kernel_size = index_t{3}) {
    return detail::image_of<E>::of(detail::median_of_signal(e, kernel_size));
}

/// The polynomial fitted to the window around each element, there, or its derivative; along an axis
/// (Savitzky and Golay, 1964). e's shape and dtype, integers in float64; mode `interp` computes now. Throws shape_error
/// where there is no such axis, the window is not longer than the order, or the axis is shorter than the window with
/// mode `interp`.
///
///     std::cout << signal::savgol_filter(array<double>{0, 1, 4, 9, 16, 25, 36}, 5, 2, {.deriv = 1});
///     // prints: [ 0.  2.  4.  6.  8. 10. 12.]
template <array_expression E>
    requires(detail::kind_of(std::remove_cvref_t<E>::type) != detail::kind::complex)
auto savgol_filter(const E& e, index_t window_length, index_t polyorder, const savgol_options& how = {}) {
    return detail::signal_of<E>::of(detail::polynomially_smoothed(e, window_length, polyorder, how));
}

/// The elements of a vector that are greater than both neighbours; of a flat top the one in the middle. Waits for them,
/// and chooses the wanted ones on the host, to which the signal is copied where prominences or widths are wanted.
/// Throws shape_error unless e has one axis, error where distance, wlen or rel_height are too small.
///
///     const array<double> x{0, 2, 1, 3, 0, 5, 5, 5, 1};
///     std::cout << signal::find_peaks(x).indices << ' ' << signal::find_peaks(x, {.height = 3}).peak_heights << ' '
///               << signal::find_peaks(x, {.prominence = signal::limits(0)}).prominences;
///     // prints: [1 3 6] [3. 5.] [1. 3. 4.]
template <array_expression E>
    requires(detail::kind_of(std::remove_cvref_t<E>::type) != detail::kind::complex)
peaks find_peaks(const E& e, const peak_options& how = {}) {
    return detail::peaks_of(e, how);
}

}  // namespace signal
}  // namespace ingot
