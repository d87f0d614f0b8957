// Windows and coefficients of filters, compared with SciPy.
#include <algorithm>

#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::numpy_cases;

namespace {

/// Roots times the imaginary unit, in order, so that pairs of conjugates lie far apart.
array<std::complex<double>> in_order(std::vector<std::complex<double>> roots) {
    for (auto& r : roots) r *= std::complex<double>(0, 1);
    std::ranges::sort(roots, [](const auto& a, const auto& b) {
        return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
    });
    return asarray(roots);
}

}  // namespace

TEST_CASE("windows of every name and length, symmetric and periodic") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(32);
    const std::pair<signal::window_spec, std::string> windows[] = {
        {"boxcar", "'boxcar'"},
        {"triang", "'triang'"},
        {"bartlett", "'bartlett'"},
        {"hann", "'hann'"},
        {"hamming", "'hamming'"},
        {"blackman", "'blackman'"},
        {"blackmanharris", "'blackmanharris'"},
        {"nuttall", "'nuttall'"},
        {"flattop", "'flattop'"},
        {"bohman", "'bohman'"},
        {"parzen", "'parzen'"},
        {"cosine", "'cosine'"},
        {{"kaiser", 5.5}, "('kaiser', 5.5)"},
        {{"kaiser", -2.0}, "('kaiser', -2.0)"},
        {{"gaussian", 2.5}, "('gaussian', 2.5)"},
        {{"tukey", 0.3}, "('tukey', .3)"},
        {{"tukey", 0}, "('tukey', 0)"},
        {{"tukey", 1}, "('tukey', 1)"},
        {{"general_hamming", 0.7}, "('general_hamming', .7)"}};
    for (const auto& [window, name] : windows)
        for (const index_t n : {1, 2, 7, 12, 33}) {
            const std::string call = "signal.get_window(" + name + ", " + std::to_string(n);
            c.add(call + ")", signal::get_window(window, n));
            c.add(call + ", False)", signal::get_window(window, n, false));
        }
    c.run();
    CHECK(signal::get_window("hann", 0).size() == 0);
    CHECK_THROWS_AS(signal::get_window("han", 3), error);
    CHECK_THROWS_AS(signal::get_window("kaiser", 3), error);
    CHECK_THROWS_AS(signal::get_window({"hann", 1.0}, 3), error);
    CHECK_THROWS_AS(signal::get_window("hann", -1), shape_error);
    CHECK_THROWS_AS(signal::get_window(std::vector<double>{1, 2}, 3), shape_error);
}

TEST_CASE("Butterworth's and Chebyshev's filters of all bands and orders") {
    if (!testing::has_scipy()) return;
    using signal::band;
    numpy_cases c;
    c.forgive(1 << 14);  // the product of ten factors whose sum cancels
    const std::pair<band, std::string> bands[] = {{band::lowpass, "30, 'lowpass'"},
                                                  {band::highpass, "30, 'highpass'"},
                                                  {band::bandpass, "[30, 40], 'bandpass'"},
                                                  {band::bandstop, "[30, 40], 'bandstop'"}};
    for (const auto& [which, name] : bands)
        for (index_t order = 0; order < 6; ++order) {
            const bool two = which == band::bandpass || which == band::bandstop;
            const signal::frequencies at = two ? signal::frequencies{30, 40} : signal::frequencies(30.0);
            const auto add = [&](const signal::filter_design& f, const std::string& call) {
                c.add("np.sort_complex(1j * " + call + "'zpk', fs=100)[0])", in_order(f.zeros()));
                c.add("np.sort_complex(1j * " + call + "'zpk', fs=100)[1])", in_order(f.poles()));
                c.add("np.float64(" + call + "'zpk', fs=100)[2])", lazy<double>(scalar(f.gain())));
                c.add(call + "'ba', fs=100)[0]", asarray(f.ba().b));
                c.add(call + "'ba', fs=100)[1]", asarray(f.ba().a));
                std::vector<double> sos;
                for (const auto& s : f.sos()) sos.insert(sos.end(), s.begin(), s.end());
                c.add(call + "'sos', fs=100).ravel()", asarray(sos));
            };
            const std::string n = std::to_string(order);
            add(signal::butter(order, at, {.btype = which, .fs = 100}),
                "signal.butter(" + n + ", " + name + ", False, ");
            add(signal::cheby1(order, 2, at, {.btype = which, .fs = 100}),
                "signal.cheby1(" + n + ", 2, " + name + ", False, ");
        }
    c.run();
    CHECK_THROWS_AS(signal::butter(2, 1.0), error);
    CHECK_THROWS_AS(signal::butter(2, {0.1, 0.2}), error);
    CHECK_THROWS_AS(signal::butter(2, {0.2, 0.1}, {.btype = band::bandpass}), error);
    CHECK_THROWS_AS(signal::butter(-1, 0.5), error);
    CHECK_THROWS_AS(signal::cheby1(2, 0, 0.5), error);
}

TEST_CASE("taps by the window method and those of polynomials") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(256);
    c.add("signal.firwin(21, .3)", asarray(signal::firwin(21, 0.3)));
    c.add("signal.firwin(20, .3, window=('kaiser', 5.))",
          asarray(signal::firwin(20, 0.3, {.window = {"kaiser", 5.0}})));
    c.add("signal.firwin(21, [10, 20], pass_zero=False, fs=100)",
          asarray(signal::firwin(21, {10, 20}, {.pass_zero = false, .fs = 100})));
    c.add("signal.firwin(21, [.2, .5], scale=False)", asarray(signal::firwin(21, {0.2, 0.5}, {.scale = false})));
    c.add("signal.firwin(15, .4, pass_zero=False)", asarray(signal::firwin(15, 0.4, {.pass_zero = false})));
    c.add("signal.savgol_coeffs(11, 3)", asarray(signal::savgol_coeffs(11, 3)));
    c.add("signal.savgol_coeffs(10, 4, deriv=2, delta=.5)",
          asarray(signal::savgol_coeffs(10, 4, {.deriv = 2, .delta = 0.5})));
    c.add("signal.savgol_coeffs(7, 2, deriv=1, pos=6, use='dot')",
          asarray(signal::savgol_coeffs(7, 2, {.deriv = 1, .pos = 6, .reversed = false})));
    c.add("signal.savgol_coeffs(31, 4, deriv=3)", asarray(signal::savgol_coeffs(31, 4, {.deriv = 3})));
    c.add("signal.savgol_coeffs(3, 1, deriv=2)", asarray(signal::savgol_coeffs(3, 1, {.deriv = 2})));
    c.run();
    CHECK_THROWS_AS(signal::firwin(0, 0.5), shape_error);
    CHECK_THROWS_AS(signal::firwin(3, 1.5), error);
    CHECK_THROWS_AS(signal::firwin(4, 0.5, {.pass_zero = false}), error);
    CHECK_THROWS_AS(signal::savgol_coeffs(3, 3), shape_error);
}
