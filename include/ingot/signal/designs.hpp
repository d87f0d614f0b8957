// Windows and the coefficients of filters: small vectors, computed on the host in float64.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/any_expression.hpp>
#include <ingot/core/array.hpp>

namespace ingot {

/// SciPy's processing of signals.
namespace signal {

/// A window by its name in SciPy, by a name and a parameter, or by its samples; those of an array are read on the host,
/// which waits. The names are boxcar, triang, bartlett, hann, hamming, blackman, blackmanharris, nuttall, flattop,
/// bohman, parzen, cosine; with a parameter kaiser (beta), gaussian (the standard deviation), tukey (the tapered part)
/// and general_hamming (alpha). Throws shape_error where the array is no vector.
///
///     std::cout << signal::get_window("hann", 4) << ' ' << round(signal::get_window({"kaiser", 5.0}, 3, false), 4);
///     // prints: [0.  0.5 1.  0.5] [0.0367 1.     0.0367]
class window_spec {
public:
    window_spec(const char* name) : name_(name) {}
    window_spec(std::string name) : name_(std::move(name)) {}
    window_spec(std::string name, double parameter) : name_(std::move(name)), parameter_(parameter) {}
    window_spec(std::vector<double> samples) : samples_(std::move(samples)) {}
    template <detail::real_values E>
    window_spec(const E& samples) : window_spec(of_array(samples)) {}

    // Inner: n samples, of a period or of all n. Throws shape_error where others were given than n, error where no
    // window has that name.
    INGOT_API std::vector<double> of(const char* operation, index_t n, bool periodic) const;
    // Inner: how many samples were given; 0 where a name was.
    index_t given() const noexcept { return static_cast<index_t>(samples_.size()); }

private:
    INGOT_API static std::vector<double> of_array(const detail::any_expression& samples);

    std::string name_;
    std::optional<double> parameter_;
    std::vector<double> samples_;
};

/// n samples of a window; float64. With `fftbins` they are a period, whose next sample would be the first one again;
/// else the window is symmetric. Throws shape_error where n is negative, error where no window has that name, or it
/// lacks its parameter.
///
///     std::cout << signal::get_window("bartlett", 4) << ' ' << signal::get_window("triang", 4, false);
///     // prints: [0.  0.5 1.  0.5] [0.25 0.75 0.75 0.25]
INGOT_API array<double> get_window(const window_spec& window, index_t n, bool fftbins = true);

/// Frequencies: one, or several in braces.
class frequencies {
public:
    frequencies(double one) : values_{one} {}
    frequencies(std::initializer_list<double> several) : values_(several) {}
    frequencies(std::vector<double> several) : values_(std::move(several)) {}

    // Inner
    const std::vector<double>& values() const noexcept { return values_; }

private:
    std::vector<double> values_;
};

/// Numerator and denominator of a transfer function, in powers of 1 / z.
struct transfer_function {
    /// The coefficients of the operand's elements.
    std::vector<double> b;
    /// The coefficients of the result's elements.
    std::vector<double> a;
};
/// Sections in cascade: b0, b1, b2, a0, a1, a2 of each.
using second_order_sections = std::vector<std::array<double, 6>>;

/// A filter as zeros, poles and gain, which is also a transfer function and a cascade of sections.
///
///     const signal::filter_design f = signal::butter(2, 0.5);
///     std::cout << round(asarray(f.ba().a), 4) << ' ' << f.sos().size() << '\n';
///     std::cout << asarray(f.zeros()) << ' ' << round(abs(asarray(f.poles())), 4) << ' ' << round(scalar(f.gain()),
///     4);
///     // prints: [ 1.     -0.      0.1716] 1
///     //         [-1.+0.j -1.+0.j] [0.4142 0.4142] 0.2929
class filter_design {
public:
    filter_design(std::vector<std::complex<double>> zeros, std::vector<std::complex<double>> poles, double gain)
        : zeros_(std::move(zeros)), poles_(std::move(poles)), gain_(gain) {}

    /// The roots of the numerator.
    const std::vector<std::complex<double>>& zeros() const noexcept { return zeros_; }
    /// The roots of the denominator.
    const std::vector<std::complex<double>>& poles() const noexcept { return poles_; }
    /// The factor before the roots' factors.
    double gain() const noexcept { return gain_; }
    /// The coefficients of the transfer function.
    INGOT_API transfer_function ba() const;
    /// Poles in pairs with the nearest zeros, those nearest to the unit circle last, as `zpk2sos` arranges them.
    INGOT_API second_order_sections sos() const;
    operator second_order_sections() const { return sos(); }

private:
    std::vector<std::complex<double>> zeros_, poles_;
    double gain_;
};

/// The frequencies that pass.
enum class band : std::uint8_t { lowpass, highpass, bandpass, bandstop };

/// The options of `butter` and `cheby1`.
struct iir_options {
    /// The frequencies that pass; `bandpass` and `bandstop` want two critical frequencies.
    band btype = band::lowpass;
    /// The sampling rate; without one, frequencies are in units of half of it.
    std::optional<double> fs = {};
};

/// Butterworth's filter of an order, at whose critical frequencies the gain is 1 / sqrt(2): the bilinear transform of
/// the analog filter whose gain is 1 / sqrt(1 + w^(2 order)). Throws error where a frequency does not lie between 0 and
/// half the sampling rate, or there are not as many as the band wants.
///
///     const auto [b, a] = signal::butter(1, 100, {.btype = signal::band::highpass, .fs = 1000}).ba();
///     std::cout << round(asarray(b), 4) << ' ' << round(asarray(a), 4);
///     // prints: [ 0.7548 -0.7548] [ 1.     -0.5095]
INGOT_API filter_design butter(index_t order, const frequencies& critical, const iir_options& how = {});
/// Chebyshev's filter of the first type, whose gain varies by `ripple` decibels in the band that passes. Throws as
/// `butter`, and where the ripple is not positive.
///
///     std::cout << round(asarray(signal::cheby1(1, 3, 0.5).ba().b), 4);
///     // prints: [0.5006 0.5006]
INGOT_API filter_design cheby1(index_t order, double ripple, const frequencies& critical, const iir_options& how = {});

/// The options of `firwin`.
struct firwin_options {
    /// The window by which the ideal response is multiplied.
    window_spec window = "hamming";
    /// Whether frequency 0 passes.
    bool pass_zero = true;
    /// Whether the gain is made 1 at the middle of the first band that passes.
    bool scale = true;
    /// The sampling rate; without one, frequencies are in units of half of it.
    std::optional<double> fs = {};
};

/// The taps of a filter of linear phase, by the window method; bands that pass and bands that do not alternate at the
/// cutoff frequencies. Throws shape_error where there is no tap, error where cutoffs do not increase between 0 and half
/// the sampling rate, or an even number of taps would have to pass the highest frequency.
///
///     std::cout << round(asarray(signal::firwin(5, 0.5)), 4);
///     // prints: [0.     0.2037 0.5926 0.2037 0.    ]
INGOT_API std::vector<double> firwin(index_t numtaps, const frequencies& cutoff, const firwin_options& how = {});

/// The options of `savgol_coeffs`.
struct savgol_coeffs_options {
    /// The order of the derivative.
    index_t deriv = 0;
    /// The distance of the samples.
    double delta = 1;
    /// The place in the window at which the polynomial is evaluated; by default its middle.
    std::optional<double> pos = {};
    /// Whether the coefficients are in the order of a convolution, else of a dot product.
    bool reversed = true;
};

/// The coefficients by which a window's samples give the value of the polynomial fitted to them, or of its derivative.
/// Throws shape_error unless the polynomial's order is less than the window's length and the place lies inside.
///
///     std::cout << round(asarray(signal::savgol_coeffs(5, 2)), 4);
///     // prints: [-0.0857  0.3429  0.4857  0.3429 -0.0857]
INGOT_API std::vector<double> savgol_coeffs(index_t window_length, index_t polyorder,
                                            const savgol_coeffs_options& how = {});

}  // namespace signal
}  // namespace ingot
