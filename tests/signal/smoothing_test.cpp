// Medians, fitted polynomials and peaks, compared with SciPy.
#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::draw;
using testing::drawn;
using testing::numpy_cases;
using testing::text_of;

TEST_CASE("medians with zeros beyond the ends") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    const array<double> x = drawn<double>({6, 9}, 1);
    const array<float> y = drawn<float>({30}, 2);
    const array<std::int16_t> k = drawn<std::int16_t>({7, 4}, 3);
    c.add("signal.medfilt(a)", signal::medfilt(x), x);
    c.add("signal.medfilt(a, [1, 5])", signal::medfilt(x, {1, 5}), x);
    c.add("signal.medfilt(a, 9)", signal::medfilt(y, 9), y);
    c.add("signal.medfilt(a, 3)", signal::medfilt(k, 3), k);
    c.run();
    CHECK_THROWS_AS(signal::medfilt(x, 4), shape_error);
    CHECK_THROWS_AS(signal::medfilt(x, {3, 3, 3}), shape_error);
}

TEST_CASE("fitted polynomials: windows, orders, derivatives, modes, axes") {
    if (!testing::has_scipy()) return;
    using signal::savgol_mode;
    numpy_cases c;
    c.forgive(1024);  // SciPy's polynomials at the ends are sums of powers, which cancel
    static const std::pair<savgol_mode, std::string> modes[] = {{savgol_mode::interp, "'interp'"},
                                                                {savgol_mode::mirror, "'mirror'"},
                                                                {savgol_mode::constant, "'constant'"},
                                                                {savgol_mode::nearest, "'nearest'"},
                                                                {savgol_mode::wrap, "'wrap'"}};
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 3 : 8); ++k) {
        draw d(700 + k);
        const index_t n = d.number(5, 30), axis = d.number(-1, 1), window = d.number(2, n), order = d.number(0, 3);
        if (order >= window) continue;
        const auto& [mode, name] = modes[d.number(0, 1) == 0 ? 0 : d.number(1, 4)];
        const signal::savgol_options o{.deriv = d.number(0, 2), .delta = 0.5, .axis = axis, .mode = mode, .cval = 1.5};
        const std::string call = "signal.savgol_filter(a, " + text_of(window) + ", " + text_of(order) + ", " +
                                 text_of(o.deriv) + ", .5, " + text_of(axis) + ", " + name + ", 1.5)";
        const shape_like shape = axis == 0 ? shape_like{n, 3} : shape_like{3, n};
        const array<double> x = drawn<double>(shape, d.seed());
        const array<float> y = drawn<float>(shape, d.seed());
        c.add(call, signal::savgol_filter(x, window, order, o), x);
        c.add("signal.savgol_filter(a.astype(float)" + call.substr(call.find(',')) + ".astype('f4')",
              signal::savgol_filter(y, window, order, o), y);
    }
    const array<int> k = drawn<int>({12}, 3);
    c.add("signal.savgol_filter(a, 5, 2)", signal::savgol_filter(k, 5, 2), k);
    const array<double> as_long = drawn<double>({34, 2}, 4);
    c.add("signal.savgol_filter(a, 34, 3, axis=0)", signal::savgol_filter(as_long, 34, 3, {.axis = 0}), as_long);
    c.run();
    CHECK_THROWS_AS(signal::savgol_filter(k, 5, 5), shape_error);
    CHECK_THROWS_AS(signal::savgol_filter(k, 13, 2), shape_error);
    CHECK_THROWS_AS(signal::savgol_filter(k, 5, 2, {.axis = 1}), error);
}

TEST_CASE("peaks by every property") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(4);
    for (unsigned long k = 0; k < 12; ++k) {
        draw d(800 + k);
        array<double> x = drawn<double>({d.one_of<index_t>({0, 1, 2, 3, 40, 200})}, d.seed());
        signal::peak_options o;
        std::string options;
        const auto with = [&](const char* name, std::optional<signal::limits>& limit, bool bounded) {
            if (d.number(0, 2) > 0) return;
            const index_t least = d.number(0, 2);
            limit = bounded ? signal::limits(static_cast<double>(least), static_cast<double>(least + 3))
                            : signal::limits(static_cast<double>(least));
            options += std::string(", ") + name + "=" +
                       (bounded ? "(" + text_of(least) + ", " + text_of(least + 3) + ")" : text_of(least));
        };
        with("height", o.height, false);
        with("threshold", o.threshold, true);
        with("prominence", o.prominence, d.number(0, 1) == 1);
        with("width", o.width, false);
        with("plateau_size", o.plateau_size, true);
        if (d.number(0, 1) == 1) {
            x += arange<double>(x.size()) / 1024;  // of equally high ones SciPy keeps any
            o.distance = 4.5;
            options += ", distance=4.5";
        }
        if (d.number(0, 1) == 1) {
            o.wlen = 8;
            options += ", wlen=8";
        }
        const signal::peaks found = signal::find_peaks(x, o);
        const std::string call = "signal.find_peaks(a" + options + ")";
        c.add(call + "[0]", found.indices, x);
        const auto add = [&](bool wanted, const char* name, const auto& values) {
            if (wanted) c.add(call + "[1]['" + name + "']", values, x);
        };
        const bool prominences = o.prominence || o.width;
        add(o.height.has_value(), "peak_heights", found.peak_heights);
        add(o.threshold.has_value(), "left_thresholds", found.left_thresholds);
        add(o.threshold.has_value(), "right_thresholds", found.right_thresholds);
        add(prominences, "prominences", found.prominences);
        add(prominences, "left_bases", found.left_bases);
        add(prominences, "right_bases", found.right_bases);
        add(o.width.has_value(), "widths", found.widths);
        add(o.width.has_value(), "width_heights", found.width_heights);
        add(o.width.has_value(), "left_ips", found.left_ips);
        add(o.width.has_value(), "right_ips", found.right_ips);
        add(o.plateau_size.has_value(), "plateau_sizes", found.plateau_sizes);
        add(o.plateau_size.has_value(), "left_edges", found.left_edges);
        add(o.plateau_size.has_value(), "right_edges", found.right_edges);
    }
    c.run();
    const array<double> x = zeros({3, 4});
    CHECK_THROWS_AS(signal::find_peaks(x), shape_error);
    CHECK_THROWS_AS(signal::find_peaks(x(0), {.distance = 0}), error);
    CHECK_THROWS_AS(signal::find_peaks(x(0), {.wlen = 1}), error);
    CHECK_THROWS_AS(signal::find_peaks(x(0), {.width = 0, .rel_height = -1}), error);
}
