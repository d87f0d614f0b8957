// Spectra, their inverse, and filters by transforms, compared with SciPy: windows, overlaps, trends, axes, dtypes.
#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::draw;
using testing::drawn;
using testing::numpy_cases;
using testing::text_of;

namespace {

/// Options of segments, drawn: in C++ and in Python.
struct drawn_segments {
    signal::welch_options how;
    std::string text;
    double fs;
};
drawn_segments segments(draw& d, index_t n, index_t axis) {
    drawn_segments s;
    static const std::pair<signal::window_spec, std::string> windows[] = {
        {"hann", "'hann'"}, {"boxcar", "'boxcar'"}, {{"kaiser", 4.0}, "('kaiser', 4.)"}};
    const auto& [window, window_name] = windows[d.number(0, 2)];
    s.how.window = window;
    const index_t size = d.number(5, n);
    s.how.nperseg = size;
    s.text = ", window=" + window_name + ", nperseg=" + text_of(size);
    if (d.number(0, 1) == 1) {
        s.how.noverlap = d.number(0, size - 1);
        s.text += ", noverlap=" + text_of(*s.how.noverlap);
    }
    if (d.number(0, 1) == 1) {
        s.how.nfft = size + d.number(0, 9);
        s.text += ", nfft=" + text_of(*s.how.nfft);
    }
    static const std::pair<signal::trend, std::string> trends[] = {
        {signal::trend::none, "False"}, {signal::trend::constant, "'constant'"}, {signal::trend::linear, "'linear'"}};
    const auto& [trend, trend_name] = trends[d.number(0, 2)];
    s.how.detrend = trend;
    s.how.return_onesided = d.number(0, 2) > 0;
    s.how.axis = axis;
    s.fs = d.one_of({1.0, 10.0});
    s.text += ", detrend=" + trend_name + ", return_onesided=" + text_of(s.how.return_onesided) +
              ", axis=" + text_of(axis) + ", fs=" + std::to_string(s.fs);
    return s;
}

}  // namespace

TEST_CASE("averaged powers and cross powers: windows, overlaps, trends, axes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(256);
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 2 : 6); ++k) {
        draw d(200 + k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            const index_t n = d.number(9, 60), axis = d.number(-1, 1);
            const array<T> x = drawn<T>(axis == 0 ? shape_like{n, 3} : shape_like{3, n}, d.seed());
            drawn_segments s = segments(d, n, axis);
            s.how.scaling = d.one_of({signal::scaling::density, signal::scaling::spectrum});
            s.how.average = d.one_of({signal::averaging::mean, signal::averaging::median});
            s.text += s.how.scaling == signal::scaling::density ? ", scaling='density'" : ", scaling='spectrum'";
            s.text += s.how.average == signal::averaging::mean ? ", average='mean'" : ", average='median'";
            const auto made = signal::welch(x, s.fs, s.how);
            c.add("signal.welch(a" + s.text + ")[0]", made.f, x);
            c.add("signal.welch(a" + s.text + ")[1]", made.p, x);
            const array<T> y = drawn<T>(axis == 0 ? shape_like{n - 3, 3} : shape_like{1, n - 3}, d.seed());
            // SciPy 1.17 broadcasts no axes of signals of unequal lengths.
            const std::string all_of_y = axis == 0 ? "b" : "np.broadcast_to(b, (3, b.shape[1]))";
            c.add("signal.csd(a, " + all_of_y + s.text + ")[1]", signal::csd(x, y, s.fs, s.how).p, x, y);
        });
    }
    const array<double> x = drawn<double>({2, 300}, 1);
    c.add("signal.welch(a)[1]", signal::welch(x).p, x);
    c.add("signal.welch(a, window=np.array([1., 2, 3, 1]))[1]",
          signal::welch(x, 1, {.window = std::vector<double>{1, 2, 3, 1}}).p, x);
    const array<int> samples{1, 2, 3, 1};
    c.add("signal.welch(a, window=b)[1]", signal::welch(x, 1, {.window = samples}).p, x, samples);
    for (const index_t points : {300, 320, 100, 99}) {
        const std::string call = "signal.periodogram(a, 4., 'hann', " + text_of(points) + ", axis=-1)";
        const auto made = signal::periodogram(x, 4, {.window = "hann", .nfft = points});
        c.add(call + "[0]", made.f, x);
        c.add(call + "[1]", made.p, x);
    }
    c.run();
}

TEST_CASE("spectra over time and signals from them") {
    if (!testing::has_scipy()) return;
    using signal::extension;
    numpy_cases c;
    c.forgive(256);
    static const std::pair<extension, std::string> extensions[] = {{extension::zeros, "'zeros'"},
                                                                   {extension::odd, "'odd'"},
                                                                   {extension::even, "'even'"},
                                                                   {extension::constant, "'constant'"},
                                                                   {extension::none, "None"}};
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 2 : 6); ++k) {
        draw d(300 + k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            const index_t n = d.number(20, 70), axis = d.number(-1, 1);
            const array<T> x = drawn<T>(axis == 0 ? shape_like{n, 2} : shape_like{2, n}, d.seed());
            const drawn_segments s = segments(d, n, axis);
            const auto& o = s.how;
            const auto powers = signal::spectrogram(x, s.fs,
                                                    {.window = o.window,
                                                     .nperseg = o.nperseg,
                                                     .noverlap = o.noverlap,
                                                     .nfft = o.nfft,
                                                     .detrend = o.detrend,
                                                     .return_onesided = o.return_onesided,
                                                     .axis = axis});
            for (const int i : {0, 1, 2}) {
                const std::string call = "signal.spectrogram(a" + s.text + ")[" + text_of(index_t{i}) + "]";
                if (i == 0) c.add(call, powers.f, x);
                if (i == 1) c.add(call, powers.t, x);
                if (i == 2) c.add(call, powers.s, x);
            }
            const auto& [boundary, name] = extensions[d.number(0, 4)];
            const bool padded = d.number(0, 1) == 1;
            const std::string text = "signal.stft(a" + s.text + ", boundary=" + name + ", padded=" + text_of(padded);
            const auto made = signal::stft(x, s.fs,
                                           {.window = o.window,
                                            .nperseg = *o.nperseg,
                                            .noverlap = o.noverlap,
                                            .nfft = o.nfft,
                                            .detrend = o.detrend,
                                            .return_onesided = o.return_onesided,
                                            .boundary = boundary,
                                            .padded = padded,
                                            .axis = axis});
            c.add(text + ")[1]", made.t, x);
            c.add(text + ")[2]", made.s, x);
        });
    }
    c.forgive(2048);  // divided by small sums of windows
    for (const auto& [size, overlap] : {std::pair<index_t, index_t>{8, 4}, {8, 6}, {9, 3}, {10, 7}, {6, 0}}) {
        const array<std::complex<double>> z = drawn<std::complex<double>>({2, 6, 7}, static_cast<unsigned>(size));
        const std::string options = ", nperseg=" + text_of(size) + ", noverlap=" + text_of(overlap) + ", nfft=10";
        const signal::istft_options how{.window = "hamming", .nperseg = size, .noverlap = overlap, .nfft = 10};
        const auto made = signal::istft(z, 2, how);
        c.add("signal.istft(a, 2, 'hamming'" + options + ")[1]", made.x, z);
        signal::istft_options other = how;
        other.time_axis = 0, other.freq_axis = 1, other.boundary = false, other.scaling = signal::scaling::density;
        c.add(
            "signal.istft(a, 2, 'hamming'" + options + ", time_axis=0, freq_axis=1, boundary=False, scaling='psd')[1]",
            signal::istft(z, 2, other).x, z);
    }
    c.run();
}

TEST_CASE("analytic signals and signals without a trend") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    for (const index_t n : {3, 7, 16}) {
        const array<double> x = drawn<double>({3, n}, static_cast<unsigned>(n));
        const array<float> y = drawn<float>({n, 2}, static_cast<unsigned>(n));
        c.add("signal.hilbert(a)", signal::hilbert(x), x);
        c.add("signal.hilbert(a, axis=0).astype('c8')", signal::hilbert(y, {}, 0), y);
        c.add("signal.hilbert(a, 6)", signal::hilbert(x, 6), x);
        c.add("signal.detrend(a, type='constant')", signal::detrend(x, -1, signal::trend::constant), x);
        c.add("signal.detrend(a, 0)", signal::detrend(y, 0), y);
        c.add("signal.detrend(a)", signal::detrend(x), x);
    }
    for (const index_t n : {1, 2}) {  // a line goes through two points
        const array<double> x = drawn<double>({3, n}, 2);
        c.add("signal.hilbert(a)", signal::hilbert(x), x);
        c.add("np.zeros(a.shape)", round(signal::detrend(x), 12), x);
    }
    const array<std::complex<double>> z = drawn<std::complex<double>>({20, 3}, 5);
    c.add("signal.detrend(a, 0, bp=[5, 12])", signal::detrend(z, 0, signal::trend::linear, {12, 5}), z);
    c.run();
}

TEST_CASE("spectra of signals without elements have SciPy's shapes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    const array<float> some = drawn<float>({9, 3}, 1), none_of_axis = zeros<float>({0, 3}),
                       no_rows = zeros<float>({3, 0});
    for (const array<float>& x : {none_of_axis, no_rows}) {
        c.add("signal.welch(a, axis=0)[1].astype('f4')", signal::welch(x, 1, {.axis = 0}).p, x);
        c.add("signal.periodogram(a, axis=0)[1].astype('f4')", signal::periodogram(x, 1, {.axis = 0}).p, x);
        if (x.shape()[0] != 0)  // else SciPy 1.17 throws
            c.add("signal.spectrogram(a, axis=0)[2].astype('f4')", signal::spectrogram(x, 1, {.axis = 0}).s, x);
        c.add("signal.stft(a, axis=0)[2].astype('c8')", signal::stft(x, 1, {.axis = 0}).s, x);
        c.add("signal.csd(a, a, axis=0)[1].astype('c8')", signal::csd(x, x, 1, {.axis = 0}).p, x);
    }
    c.add("signal.csd(a, b, axis=0)[1].astype('c8')", signal::csd(some, none_of_axis, 1, {.axis = 0}).p, some,
          none_of_axis);
    c.run();
}

TEST_CASE("wrong segments, breaks and axes are named") {
    const array<double> x = zeros({4, 20});
    CHECK_THROWS_AS(signal::welch(x, 1, {.nperseg = 4, .noverlap = 4}), shape_error);
    CHECK_THROWS_AS(signal::welch(x, 1, {.nperseg = 0}), shape_error);
    CHECK_THROWS_AS(signal::welch(x, 1, {.nperseg = 8, .nfft = 4}), shape_error);
    CHECK_THROWS_AS(signal::welch(x, 1, {.window = std::vector<double>(30)}), shape_error);
    CHECK_THROWS_AS(signal::welch(x, 1, {.window = "none"}), error);
    CHECK_THROWS_AS(signal::welch(x, 1, {.axis = 2}), error);
    CHECK_THROWS_AS(signal::istft(x(0)), shape_error);
    CHECK_THROWS_AS(signal::istft(x, 1, {.time_axis = 1, .freq_axis = -1}), shape_error);
    CHECK_THROWS_AS(signal::detrend(x, -1, signal::trend::linear, {21}), shape_error);
    CHECK_THROWS_WITH_AS(signal::hilbert(zeros({0})), "[hilbert] a transform of 0 points; at least 1 is wanted",
                         shape_error);
    CHECK_THROWS_WITH_AS(signal::istft(zeros({5, 0})),
                         "[istft] shape (5, 0); at least one frequency and one segment are wanted", shape_error);
    CHECK_THROWS_WITH_AS(signal::csd(x, zeros({3, 9})), "[csd] shapes (4, 20) and (3, 20) do not broadcast",
                         shape_error);
    CHECK_THROWS_WITH_AS(signal::welch(x, 1, {.window = x}),
                         "[signal] samples of a window of shape (4, 20); a vector is wanted", shape_error);
}
