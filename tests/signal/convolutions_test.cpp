// Convolutions compared with SciPy: modes, axes, boundaries, which operand is the longer one, dtypes.
#include "tests/arrays/expect.hpp"
#include "tests/signal/scipy.hpp"

using namespace ingot;
using testing::draw;
using testing::drawn;
using testing::numpy_cases;

namespace {

constexpr std::pair<convolve_mode, const char*> modes[] = {
    {convolve_mode::full, "'full'"}, {convolve_mode::same, "'same'"}, {convolve_mode::valid, "'valid'"}};

shape_like shape_up_to(draw& d, std::initializer_list<index_t> most) {
    std::vector<index_t> shape;
    for (const index_t n : most) shape.push_back(d.number(1, n));
    return shape_like(shape);
}

}  // namespace

TEST_CASE("convolutions by transforms, whole and in blocks: modes, axes, dtypes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 3 : 8); ++k) {
        draw d(400 + k);
        testing::for_a_type(d, [&]<class T>(std::type_identity<T>) {
            const auto& [mode, name] = modes[d.number(0, 2)];
            const std::string in = std::string(", ") + name;
            // Lengths of which some are cut in blocks.
            array<T> x = drawn<T>({d.number(1, 400)}, d.seed()), v = drawn<T>({d.number(1, 9)}, d.seed());
            if (d.number(0, 1) == 1) std::swap(x, v);
            c.add("signal.fftconvolve(a, b" + in + ")", signal::fftconvolve(x, v, mode), x, v);
            c.add("signal.oaconvolve(a, b" + in + ")", signal::oaconvolve(x, v, mode), x, v);
            const array<T> m = drawn<T>(shape_like{d.number(4, 200), 3, d.number(4, 150)}, d.seed());
            const array<T> w = drawn<T>({d.number(1, 4), 1, d.number(1, 4)}, d.seed());
            c.add("signal.fftconvolve(a, b" + in + ", axes=(0, 2))", signal::fftconvolve(m, w, mode, {0, 2}), m, w);
            c.add("signal.oaconvolve(a, b" + in + ", axes=(0, 2))", signal::oaconvolve(m, w, mode, {-1, 0}), m, w);
        });
    }
    const array<double> x = drawn<double>({5, 30}, 1), v = drawn<double>({7, 4}, 2);
    const array<float> y = drawn<float>({5, 30}, 1);
    const array<int> k = drawn<int>({5, 30}, 1);
    c.add("signal.oaconvolve(a, b)", signal::oaconvolve(x, v), x, v);
    c.add("signal.fftconvolve(a, b, axes=1)", signal::fftconvolve(x, eval(v(slice(0, 1))), convolve_mode::full, 1), x,
          eval(v(slice(0, 1))));
    c.add("signal.fftconvolve(a, b)", signal::fftconvolve(k, v), k, v);
    c.add("signal.fftconvolve(a.astype(float), b)", signal::fftconvolve(y, v), y, v);
    c.run();
    CHECK_THROWS_AS(signal::fftconvolve(x, x(0)), shape_error);
    CHECK_THROWS_AS(signal::fftconvolve(x, v, convolve_mode::valid), shape_error);
    CHECK_THROWS_AS(signal::fftconvolve(x, v, convolve_mode::full, 1), shape_error);
    CHECK_THROWS_AS(signal::fftconvolve(x, v, convolve_mode::full, {1, 1}), error);
    CHECK_THROWS_AS(signal::oaconvolve(x, zeros({0, 2})), shape_error);
}

TEST_CASE("convolutions and correlations of images: modes, boundaries, dtypes, many taps") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(16);
    static const std::pair<signal::boundary, std::string> boundaries[] = {
        {signal::boundary::fill, "'fill'"}, {signal::boundary::wrap, "'wrap'"}, {signal::boundary::symm, "'symm'"}};
    const auto add = [&]<class T>(std::type_identity<T>, draw& d) {
        const array<T> x = drawn<T>(shape_up_to(d, {9, 12}), d.seed());
        const array<T> w = drawn<T>(shape_up_to(d, {4, 7}), d.seed());
        const auto& [edges, edges_name] = boundaries[d.number(0, 2)];
        const auto& [mode, mode_name] = modes[d.number(0, 2)];
        const bool fits = (x.shape()[0] >= w.shape()[0] && x.shape()[1] >= w.shape()[1]) ||
                          (x.shape()[0] <= w.shape()[0] && x.shape()[1] <= w.shape()[1]);
        if (mode == convolve_mode::valid && !fits) return;
        const std::string how = std::string("(a, b, ") + mode_name + ", " + edges_name + ", 3)";
        const signal::convolve2d_options o{.mode = mode, .boundary = edges, .fillvalue = 3};
        c.add("signal.convolve2d" + how, signal::convolve2d(x, w, o), x, w);
        c.add("signal.correlate2d" + how, signal::correlate2d(x, w, o), x, w);
    };
    for (unsigned long k = 0; k < (current_device().is_cuda() ? 4 : 12); ++k) {
        draw d(500 + k);
        switch (d.number(0, 4)) {
            case 0:
                add(std::type_identity<std::complex<float>>{}, d);
                break;
            case 1:
                add(std::type_identity<std::int32_t>{}, d);
                break;
            case 2:
                add(std::type_identity<float>{}, d);
                break;
            default:
                add(std::type_identity<double>{}, d);
        }
    }
    c.run();
    const array<double> x = zeros({3, 4});
    CHECK_THROWS_AS(signal::convolve2d(x, x(0)), shape_error);
    CHECK_THROWS_AS(signal::convolve2d(x, zeros({0, 3})), shape_error);
    CHECK_THROWS_AS(signal::correlate2d(x, zeros({2, 5}), {.mode = convolve_mode::valid}), shape_error);
}
