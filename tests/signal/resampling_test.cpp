// Signals at other rates, compared with SciPy: lengths and factors of both parities, axes, dtypes.
#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::draw;
using testing::drawn;
using testing::numpy_cases;
using testing::text_of;

TEST_CASE("another rate by transforms and by phases") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(128);
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 3 : 10); ++k) {
        draw d(600 + k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            const index_t n = d.number(1, 30), axis = d.number(-1, 1);
            const index_t num = d.number(0, 9) == 0 ? 1 : d.number(3, 40);  // of 2 complex ones SciPy leaves out a part
            const array<T> x = drawn<T>(axis == 0 ? shape_like{n, 2} : shape_like{2, n}, d.seed());
            const std::string along = ", axis=" + text_of(axis);
            c.add("signal.resample(a, " + text_of(num) + along + ")", signal::resample(x, num, {.axis = axis}), x);
            // SciPy 1.17 turns a named window of odd length the other way, and computes with it in double precision.
            c.add("signal.resample(a, " + text_of(num) + along +
                      ", window=np.fft.ifftshift(signal.get_window('hamming', " + text_of(n) +
                      ")).astype(a.real.dtype))",
                  signal::resample(x, num, {.axis = axis, .window = "hamming"}), x);
            const index_t up = d.number(1, 5), down = d.number(1, 5);
            const std::string factors = text_of(up) + ", " + text_of(down);
            c.add("signal.resample_poly(a, " + factors + along + ")",
                  signal::resample_poly(x, up, down, {.axis = axis}), x);
            c.add("signal.resample_poly(a, " + factors + along +
                      ", window=np.array([1., 2, 3, -1], a.real.dtype), cval=2)",
                  signal::resample_poly(x, up, down,
                                        {.axis = axis, .window = std::vector<double>{1, 2, 3, -1}, .cval = 2}),
                  x);
        });
    }
    const array<int> k = drawn<int>({30}, 1);
    c.add("signal.resample_poly(a, 3, 2)", signal::resample_poly(k, 3, 2), k);
    const array<double> x = drawn<double>({2, 200}, 2);
    c.add("signal.decimate(a, 4, ftype='fir')", signal::decimate(x, 4, {.ftype = signal::decimation::fir}), x);
    c.add("signal.decimate(a, 3, 10, 'fir', zero_phase=False)",
          signal::decimate(x, 3, {.n = 10, .ftype = signal::decimation::fir, .zero_phase = false}), x);
    c.add("signal.decimate(a, 3, 4, zero_phase=False)", signal::decimate(x, 3, {.n = 4, .zero_phase = false}), x);
    const array<double> no_rows = zeros({0, 40});
    c.add("signal.resample_poly(a, 3, 2, axis=1)", signal::resample_poly(no_rows, 3, 2, {.axis = 1}), no_rows);
    c.add("signal.decimate(a, 2, ftype='fir')", signal::decimate(no_rows, 2, {.ftype = signal::decimation::fir}),
          no_rows);
    c.forgive(1 << 14);  // an order of 8 forth and back
    c.add("signal.decimate(a, 4)", signal::decimate(x, 4), x);
    c.run();
    CHECK_THROWS_AS(signal::resample(x, 0), shape_error);
    CHECK_THROWS_AS(signal::resample(zeros({0}), 3), shape_error);
    CHECK_THROWS_AS(signal::resample_poly(x, 0, 1), shape_error);
    CHECK_THROWS_AS(signal::resample_poly(x, 1, -1), shape_error);
    CHECK_THROWS_AS(signal::resample_poly(x, 1, 2, {.axis = 2}), error);
    CHECK_THROWS_AS(signal::decimate(x, 0), shape_error);
    CHECK(signal::resample_poly(x(all, slice(0, 0)), 3, 2, {.axis = 1}).size() == 0);
}

TEST_CASE("rows longer than a block at another rate") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(128);
    const array<float> x = drawn<float>({3, 3001}, 3);
    const array<std::complex<double>> z = drawn<std::complex<double>>({2, 2500}, 4);
    c.add("signal.resample_poly(a, 3, 2, axis=1, cval=2)", signal::resample_poly(x, 3, 2, {.axis = 1, .cval = 2}), x);
    c.add("signal.resample_poly(a, 1, 4, axis=1)", signal::resample_poly(x, 1, 4, {.axis = 1}), x);
    c.add("signal.resample_poly(a, 7, 5, axis=-1)", signal::resample_poly(z, 7, 5, {.axis = -1}), z);
    c.add("signal.resample_poly(a[:, ::2], 2, 3, axis=1)",
          signal::resample_poly(z(all, slice(none, none, 2)), 2, 3, {.axis = 1}), z);
    c.run();
}

TEST_CASE("NaN and infinity reach no element at another rate that SciPy leaves finite") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(128);
    array<double> x = drawn<double>({3, 900}, 1);
    x(0, 400) = std::nan("");
    x(1, 7) = std::numeric_limits<double>::infinity();
    const auto add = [&](const std::string& call, const array<double>& made) {
        // SciPy multiplies elements by the zeros, too, with which it completes a filter.
        c.add("np.where(np.isfinite(" + call + "), " + call + ", b)", made, x, made);
        CHECK(any(isnan(made)).item());
    };
    add("signal.resample_poly(a, 3, 2, axis=1)", signal::resample_poly(x, 3, 2, {.axis = 1}));
    add("signal.resample_poly(a, 2, 5, axis=1, cval=2)", signal::resample_poly(x, 2, 5, {.axis = 1, .cval = 2}));
    add("signal.resample_poly(a, 1, 2, axis=0)", signal::resample_poly(x, 1, 2, {.axis = 0}));
    add("signal.decimate(a, 4, ftype='fir')", signal::decimate(x, 4, {.ftype = signal::decimation::fir}));
    c.run();
}
