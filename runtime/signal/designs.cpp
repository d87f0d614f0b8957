// Windows by a table of their formulas; filters by SciPy's way from a prototype's poles to a digital filter.
#include <ingot/signal/designs.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <ingot/core/creation.hpp>
#include <ingot/core/error.hpp>

#include "runtime/functions/any_lazy.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::signal {

using complex = std::complex<double>;
using std::numbers::pi;

namespace {

// ---- windows -------------------------------------------------------------------------------------------------------

/// Sample n of m, of a window with a parameter p.
using window_formula = double (*)(double n, double m, double p);

double cosines(double n, double m, std::initializer_list<double> weights) {
    const double angle = -pi + 2 * pi * n / (m - 1);
    double total = 0, k = 0;
    for (const double weight : weights) total += weight * std::cos(k++ * angle);
    return total;
}
/// The distance from the middle.
double off_middle(double n, double m) { return std::abs(n - (m - 1) / 2); }
double triangle(double n, double m, double) {
    const double at = std::min(n, m - 1 - n) + 1;
    return std::fmod(m, 2) == 0 ? (2 * at - 1) / m : 2 * at / (m + 1);
}
double bohman(double n, double m, double) {
    if (n == 0 || n == m - 1) return 0;
    const double x = std::abs(-1 + 2 * n / (m - 1));
    return (1 - x) * std::cos(pi * x) + std::sin(pi * x) / pi;
}
double parzen(double n, double m, double) {
    const double off = off_middle(n, m), x = off / (m / 2);
    return off <= (m - 1) / 4 ? 1 - 6 * x * x + 6 * x * x * x : 2 * std::pow(1 - x, 3);
}
double tukey(double n, double m, double p) {
    if (p <= 0) return 1;
    if (p >= 1) return cosines(n, m, {0.5, 0.5});
    const double at = std::min(n, m - 1 - n);
    return at > std::floor(p * (m - 1) / 2) ? 1 : 0.5 * (1 + std::cos(pi * (-1 + 2 * at / p / (m - 1))));
}
double kaiser(double n, double m, double p) {
    const double t = 2 * off_middle(n, m) / (m - 1);
    return std::cyl_bessel_i(0.0, std::abs(p) * std::sqrt(1 - t * t)) / std::cyl_bessel_i(0.0, std::abs(p));
}

struct window_row {
    const char* name;
    bool has_parameter;
    window_formula formula;
};
constexpr window_row window_rows[] = {
    {"boxcar", false, [](double, double, double) { return 1.0; }},
    {"triang", false, triangle},
    {"bartlett", false, [](double n, double m, double) { return 2 * std::min(n, m - 1 - n) / (m - 1); }},
    {"hann", false, [](double n, double m, double) { return cosines(n, m, {0.5, 0.5}); }},
    {"hamming", false, [](double n, double m, double) { return cosines(n, m, {0.54, 0.46}); }},
    {"blackman", false, [](double n, double m, double) { return cosines(n, m, {0.42, 0.50, 0.08}); }},
    {"blackmanharris", false,
     [](double n, double m, double) { return cosines(n, m, {0.35875, 0.48829, 0.14128, 0.01168}); }},
    {"nuttall", false,
     [](double n, double m, double) { return cosines(n, m, {0.3635819, 0.4891775, 0.1365995, 0.0106411}); }},
    {"flattop", false,
     [](double n, double m, double) {
         return cosines(n, m, {0.21557895, 0.41663158, 0.277263158, 0.083578947, 0.006947368});
     }},
    {"bohman", false, bohman},
    {"parzen", false, parzen},
    {"cosine", false, [](double n, double m, double) { return std::sin(pi / m * (n + 0.5)); }},
    {"kaiser", true, kaiser},
    {"gaussian", true,
     [](double n, double m, double p) {
         const double off = off_middle(n, m);
         return std::exp(-off * off / (2 * p * p));
     }},
    {"tukey", true, tukey},
    {"general_hamming", true, [](double n, double m, double p) { return cosines(n, m, {p, 1 - p}); }},
};

[[noreturn]] void throw_bad(const char* operation, const std::string& what) {
    throw error("[" + std::string(operation) + "] " + what);
}

}  // namespace

std::vector<double> window_spec::of_array(const detail::any_expression& samples) {
    const detail::extents_ref shape = samples.tree->extents();
    if (shape.rank != 1)
        throw shape_error("[signal] samples of a window of shape " + detail::to_text(shape.span()) +
                          "; a vector is wanted");
    return runtime::any_lazy(samples.tree, samples.type).as<double>().to_host();
}

std::vector<double> window_spec::of(const char* operation, index_t n, bool periodic) const {
    if (n < 0)
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(n) +
                          " samples of a window; at least 0 are wanted");
    if (name_.empty()) {
        if (given() != n)
            throw shape_error("[" + std::string(operation) + "] a window of " + std::to_string(given()) + " samples; " +
                              std::to_string(n) + " are wanted");
        return samples_;
    }
    const auto row = std::ranges::find_if(window_rows, [&](const window_row& r) { return name_ == r.name; });
    if (row == std::end(window_rows)) {
        std::string known;
        for (const window_row& r : window_rows) known += std::string(known.empty() ? "" : " ") + r.name;
        throw_bad(operation, "no window is named '" + name_ + "'; there are " + known);
    }
    if (row->has_parameter != parameter_.has_value())
        throw_bad(operation, "the window '" + name_ + "' " +
                                 (parameter_ ? "has no parameter" : "wants a parameter beside its name"));
    std::vector<double> samples(static_cast<std::size_t>(n), 1.0);
    if (n == 1) return samples;
    const auto all = static_cast<double>(periodic ? n + 1 : n);
    for (std::size_t k = 0; k < samples.size(); ++k)
        samples[k] = row->formula(static_cast<double>(k), all, parameter_.value_or(0));
    return samples;
}

array<double> get_window(const window_spec& window, index_t n, bool fftbins) {
    const std::vector<double> samples = window.of("get_window", n, fftbins);
    return asarray(samples);
}

// ---- filters of poles and zeros ------------------------------------------------------------------------------------

namespace {

/// The coefficients of the polynomial with these roots, the highest power first.
std::vector<double> polynomial_of(const std::vector<complex>& roots) {
    std::vector<complex> p{1};
    for (const complex& r : roots) {
        p.push_back(0);
        for (std::size_t k = p.size() - 1; k > 0; --k) p[k] -= r * p[k - 1];
    }
    std::vector<double> real_parts;
    for (const complex& c : p) real_parts.push_back(c.real());
    return real_parts;
}

bool is_real(const complex& z) { return z.imag() == 0; }

/// One of each pair of conjugates by real part and then by imaginary part; real numbers behind them in order.
std::vector<complex> without_conjugates(std::vector<complex> all) {
    constexpr double near = 100 * std::numeric_limits<double>::epsilon();
    std::vector<complex> upper, real_ones;
    for (const complex& z : all)
        if (std::abs(z.imag()) <= near * std::abs(z))
            real_ones.emplace_back(z.real());
        else if (z.imag() > 0)
            upper.push_back(z);
    const auto by_real = [](const complex& a, const complex& b) { return a.real() < b.real(); };
    std::ranges::sort(upper, [](const complex& a, const complex& b) {
        return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    });
    std::ranges::stable_sort(real_ones, by_real);
    // Roots whose real parts differ by rounding alone are ordered by their imaginary parts.
    for (std::size_t first = 0; first < upper.size();) {
        std::size_t behind = first + 1;
        while (behind < upper.size() &&
               upper[behind].real() - upper[behind - 1].real() <= near * std::abs(upper[behind - 1]))
            ++behind;
        std::sort(upper.begin() + static_cast<std::ptrdiff_t>(first),
                  upper.begin() + static_cast<std::ptrdiff_t>(behind),
                  [](const complex& a, const complex& b) { return a.imag() < b.imag(); });
        first = behind;
    }
    upper.insert(upper.end(), real_ones.begin(), real_ones.end());
    return upper;
}

complex taken(std::vector<complex>& from, std::size_t i) {
    const complex z = from[i];
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(i));
    return z;
}
enum class root : std::uint8_t { any, real_one, complex_one };
/// The place of the first root of that kind with the least distance.
template <class F>
std::size_t least_of(const std::vector<complex>& all, root kind, const F& distance) {
    std::size_t best = all.size();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if ((kind == root::real_one && !is_real(all[i])) || (kind == root::complex_one && is_real(all[i]))) continue;
        if (best == all.size() || distance(all[i]) < distance(all[best])) best = i;
    }
    return best;
}
complex take_nearest(std::vector<complex>& zeros, const complex& to, root kind) {
    return taken(zeros, least_of(zeros, kind, [&](const complex& z) { return std::abs(z - to); }));
}
/// How far a pole lies off the unit circle.
double off_circle(const complex& p) { return std::abs(1 - std::abs(p)); }

/// Zeros, poles and gain of a filter on the way from its prototype.
struct roots_and_gain {
    std::vector<complex> zeros, poles;
    double gain;
};

/// A band's edges as they are before the bilinear transform, at a sampling rate of 2.
std::vector<double> warped_edges(const char* operation, const frequencies& critical, const iir_options& how) {
    const bool two = how.btype == band::bandpass || how.btype == band::bandstop;
    const std::vector<double>& given = critical.values();
    if (given.size() != (two ? 2 : 1))
        throw_bad(operation,
                  std::to_string(given.size()) + " critical frequencies; the band wants " + (two ? "two" : "one"));
    std::vector<double> edges;
    for (const double f : given) {
        const double relative = how.fs ? f / (*how.fs / 2) : f;
        if (!(relative > 0 && relative < 1) || (edges.size() == 1 && f <= given[0]))
            throw_bad(operation, "critical frequency " + runtime::number_text(f) +
                                     "; frequencies are wanted that increase between 0 and " +
                                     (how.fs ? runtime::number_text(*how.fs / 2) : "1"));
        edges.push_back(4 * std::tan(pi * relative / 2));
    }
    return edges;
}

/// The product of what the roots lie below a number.
complex product_of(const std::vector<complex>& roots, double from) {
    complex product = 1;
    for (const complex& z : roots) product *= from - z;
    return product;
}

/// The low-pass prototype of poles alone at the band's edges.
roots_and_gain in_band(std::vector<complex> poles, double gain, band which, const std::vector<double>& edges) {
    roots_and_gain f{{}, {}, gain};
    const auto degree = static_cast<double>(poles.size());
    const bool inverted = which == band::highpass || which == band::bandstop;
    if (inverted) f.gain *= 1 / product_of(poles, 0).real();
    if (edges.size() == 1) {
        const double edge = edges[0];
        for (const complex& p : poles) f.poles.push_back(inverted ? edge / p : edge * p);
        if (inverted)
            f.zeros.assign(poles.size(), 0);
        else
            f.gain *= std::pow(edge, degree);
        return f;
    }
    const double width = edges[1] - edges[0], middle = std::sqrt(edges[0] * edges[1]);
    for (const double sign : {1.0, -1.0})
        for (const complex& p : poles) {
            const complex half = inverted ? width / 2 / p : p * (width / 2);
            f.poles.push_back(half + sign * std::sqrt(half * half - middle * middle));
        }
    if (inverted) {
        f.zeros.assign(poles.size(), complex(0, middle));
        f.zeros.insert(f.zeros.end(), poles.size(), complex(0, -middle));
    } else {
        f.zeros.assign(poles.size(), 0);
        f.gain *= std::pow(width, degree);
    }
    return f;
}

filter_design digital(roots_and_gain f) {
    constexpr double twice_rate = 4;
    f.gain *= (product_of(f.zeros, twice_rate) / product_of(f.poles, twice_rate)).real();
    for (std::vector<complex>* all : {&f.zeros, &f.poles})
        for (complex& z : *all) z = (twice_rate + z) / (twice_rate - z);
    f.zeros.resize(f.poles.size(), -1);
    return {std::move(f.zeros), std::move(f.poles), f.gain};
}

void check_order(const char* operation, index_t order) {
    if (order < 0) throw_bad(operation, "order " + std::to_string(order) + "; at least 0 is wanted");
}
/// The angles of a prototype's poles, by which they are off the negative real axis.
std::vector<double> angles_of_poles(index_t order) {
    std::vector<double> angles;
    for (index_t m = 1 - order; m < order; m += 2)
        angles.push_back(pi * static_cast<double>(m) / static_cast<double>(2 * order));
    return angles;
}

}  // namespace

transfer_function filter_design::ba() const {
    transfer_function f{polynomial_of(zeros_), polynomial_of(poles_)};
    for (double& b : f.b) b *= gain_;
    return f;
}

second_order_sections filter_design::sos() const {
    if (zeros_.empty() && poles_.empty()) return {{gain_, 0, 0, 1, 0, 0}};
    std::vector<complex> z = zeros_, p = poles_;
    const std::size_t even = (std::max(z.size(), p.size()) + 1) / 2 * 2;
    z.resize(even), p.resize(even);
    z = without_conjugates(z), p = without_conjugates(p);
    second_order_sections all(even / 2);
    const auto count_real = [](const std::vector<complex>& of) { return std::ranges::count_if(of, is_real); };
    for (std::size_t s = all.size(); s-- > 0;) {
        const complex p1 = taken(p, least_of(p, root::any, off_circle));
        complex p2 = std::conj(p1), z1, z2 = 0;
        if (is_real(p1) && count_real(p) == 0) {
            p2 = 0;
            z1 = take_nearest(z, p1, root::real_one);
        } else if (p.size() + 1 == z.size() && !is_real(p1) && count_real(p) == 1 && count_real(z) == 1) {
            z1 = take_nearest(z, p1, root::complex_one);
            z2 = std::conj(z1);
        } else {
            if (is_real(p1)) p2 = taken(p, least_of(p, root::real_one, off_circle));
            z1 = take_nearest(z, p1, root::any);
            z2 = is_real(z1) ? take_nearest(z, p1, root::real_one) : std::conj(z1);
        }
        const std::vector<double> b = polynomial_of({z1, z2}), a = polynomial_of({p1, p2});
        std::ranges::copy(b, all[s].begin());
        std::ranges::copy(a, all[s].begin() + 3);
    }
    for (std::size_t k = 0; k < 3; ++k) all[0][k] *= gain_;
    return all;
}

filter_design butter(index_t order, const frequencies& critical, const iir_options& how) {
    check_order("butter", order);
    std::vector<complex> poles;
    for (const double angle : angles_of_poles(order)) poles.push_back(-std::exp(complex(0, angle)));
    return digital(in_band(std::move(poles), 1, how.btype, warped_edges("butter", critical, how)));
}

filter_design cheby1(index_t order, double ripple, const frequencies& critical, const iir_options& how) {
    check_order("cheby1", order);
    if (!(ripple > 0))
        throw_bad("cheby1", "a ripple of " + runtime::number_text(ripple) + "; a positive one is wanted");
    const double epsilon = std::sqrt(std::pow(10, 0.1 * ripple) - 1);
    std::vector<complex> poles;
    for (const double angle : angles_of_poles(order))
        poles.push_back(-std::sinh(complex(std::asinh(1 / epsilon) / static_cast<double>(order), angle)));
    double gain = order == 0 ? std::pow(10, -ripple / 20) : product_of(poles, 0).real();
    if (order > 0 && order % 2 == 0) gain /= std::sqrt(1 + epsilon * epsilon);
    return digital(in_band(std::move(poles), gain, how.btype, warped_edges("cheby1", critical, how)));
}

// ---- filters of taps -----------------------------------------------------------------------------------------------

std::vector<double> firwin(index_t numtaps, const frequencies& cutoff, const firwin_options& how) {
    if (numtaps < 1) throw shape_error("[firwin] " + std::to_string(numtaps) + " taps; at least 1 is wanted");
    std::vector<double> edges;
    if (how.pass_zero) edges.push_back(0);
    for (const double f : cutoff.values()) {
        const double relative = f / (how.fs.value_or(2) / 2);
        if (!(relative > 0 && relative < 1) || (!edges.empty() && relative <= edges.back()))
            throw_bad("firwin", "cutoff " + runtime::number_text(f) +
                                    "; frequencies are wanted that increase between 0 and " +
                                    runtime::number_text(how.fs.value_or(2) / 2));
        edges.push_back(relative);
    }
    if (cutoff.values().empty()) throw_bad("firwin", "no cutoff frequency; at least one is wanted");
    if (edges.size() % 2 == 1) {
        if (numtaps % 2 == 0)
            throw_bad("firwin",
                      std::to_string(numtaps) + " taps cannot pass half the sampling rate; an odd number is wanted");
        edges.push_back(1);
    }
    const auto sinc = [](double x) { return x == 0 ? 1 : std::sin(pi * x) / (pi * x); };
    std::vector<double> taps = how.window.of("firwin", numtaps, false);
    const double middle = edges[0] == 0 ? 0 : edges[1] == 1 ? 1 : 0.5 * (edges[0] + edges[1]);
    double total = 0;
    for (std::size_t k = 0; k < taps.size(); ++k) {
        const double at = static_cast<double>(k) - 0.5 * static_cast<double>(numtaps - 1);
        double ideal = 0;
        for (std::size_t j = 0; j < edges.size(); j += 2)
            ideal += edges[j + 1] * sinc(edges[j + 1] * at) - edges[j] * sinc(edges[j] * at);
        taps[k] *= ideal;
        total += taps[k] * std::cos(pi * at * middle);
    }
    if (how.scale)
        for (double& tap : taps) tap /= total;
    return taps;
}

std::vector<double> savgol_coeffs(index_t window_length, index_t polyorder, const savgol_coeffs_options& how) {
    const auto n = static_cast<std::size_t>(std::max<index_t>(window_length, 0));
    const double pos = how.pos.value_or(static_cast<double>(window_length - 1) / 2);
    if (polyorder < 0 || polyorder >= window_length)
        throw shape_error("[savgol_coeffs] a polynomial of order " + std::to_string(polyorder) + " for a window of " +
                          std::to_string(window_length) + "; an order from 0 to below the window's length is wanted");
    if (how.deriv < 0)
        throw shape_error("[savgol_coeffs] derivative " + std::to_string(how.deriv) + "; at least 0 is wanted");
    if (!(pos >= 0 && pos < static_cast<double>(window_length)))
        throw shape_error("[savgol_coeffs] place " + runtime::number_text(pos) + " in a window of " +
                          std::to_string(window_length) + "; one from 0 to below its length is wanted");
    std::vector<double> weights(n);
    if (how.deriv > polyorder) return weights;
    // Polynomials that are orthonormal on the window's places, by Gram and Schmidt twice: sums of their products with
    // the derivative at the place are the least-squares solution.
    using real_number = long double;
    const real_number scale = std::max<real_number>(1, static_cast<real_number>(window_length - 1) / 2);
    const real_number center = static_cast<real_number>(window_length - 1) / 2;
    const std::size_t terms = static_cast<std::size_t>(polyorder) + 1;
    // Beside its values a polynomial has its derivatives at the place: Leibniz's rule gives the next one's.
    std::vector<std::vector<real_number>> values, derivatives;
    const auto derived = static_cast<std::size_t>(how.deriv);
    for (std::size_t j = 0; j < terms; ++j) {
        std::vector<real_number> v(n, 1), d(derived + 1, 0);
        d[0] = 1;
        if (j > 0) {
            const real_number at = (static_cast<real_number>(pos) - center) / scale;
            for (std::size_t k = 0; k < n; ++k)
                v[k] = values[j - 1][k] * ((static_cast<real_number>(k) - center) / scale);
            for (std::size_t k = 0; k <= derived; ++k)
                d[k] =
                    derivatives[j - 1][k] * at + (k > 0 ? static_cast<real_number>(k) * derivatives[j - 1][k - 1] : 0);
        }
        const auto subtract = [&](std::size_t i, real_number factor) {
            for (std::size_t k = 0; k < n; ++k) v[k] -= factor * values[i][k];
            for (std::size_t k = 0; k <= derived; ++k) d[k] -= factor * derivatives[i][k];
        };
        for (int again = 0; again < 2; ++again)
            for (std::size_t i = 0; i < j; ++i)
                subtract(i, std::inner_product(v.begin(), v.end(), values[i].begin(), real_number{0}));
        const real_number length = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), real_number{0}));
        for (real_number& x : v) x /= length;
        for (real_number& x : d) x /= length;
        values.push_back(std::move(v)), derivatives.push_back(std::move(d));
    }
    const real_number unit = std::pow(scale * static_cast<real_number>(how.delta), static_cast<real_number>(how.deriv));
    for (std::size_t k = 0; k < n; ++k) {
        real_number weight = 0;
        for (std::size_t j = 0; j < terms; ++j) weight += values[j][k] * derivatives[j][derived];
        weights[how.reversed ? n - 1 - k : k] = static_cast<double>(weight / unit);
    }
    return weights;
}

}  // namespace ingot::signal
