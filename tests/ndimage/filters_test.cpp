// Correlations and the filters made of them, compared with SciPy: every border, origins, sizes beyond the axis, dtypes.
#include <array>
#include <complex>
#include <sstream>

#include "tests/arrays/expect.hpp"
#include "tests/ndimage/scipy.hpp"

using namespace ingot;
using testing::argument;
using testing::borders;
using testing::drawn;
using testing::name_of;
using testing::numpy_cases;

namespace {

using integers = std::vector<index_t>;

}  // namespace

TEST_CASE("weights along an axis and around each element: every border, origins, axes shorter than the weights") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(8);
    unsigned seed = 1;
    unsigned long number = test::drawing_seed() % 3;
    testing::for_borders_and_shapes({{9}, {1}, {2}, {7, 5}, {1, 3}, {40, 35}, {3, 4, 5}}, [&](ndimage::border b,
                                                                                              const shape_like& shape) {
        const array<double> x = drawn<double>(shape, seed++);
        const std::string mode = name_of(b) + ", cval=2.5";
        for (const std::vector<double>& w : {std::vector<double>{1, 2.5, 1}, {0.5, -1, 0, 1, 4}, {-1, 0, 1}, {2, 3}}) {
            const auto n = static_cast<index_t>(w.size());
            const index_t origin = std::array{index_t{0}, -(n / 2), (n - 1) / 2}[number++ % 3];
            const std::string how = mode + argument("origin", integers{origin});
            const ndimage::filter_options o{.mode = b, .cval = 2.5, .origin = origin};
            c.add("ndimage.correlate1d(a, b, 0" + how + ")", ndimage::correlate1d(x, w, 0, o), x, asarray(w));
            c.add("ndimage.convolve1d(a, b" + how + ")", ndimage::convolve1d(x, w, -1, o), x, asarray(w));
        }
        // A weight is no less than SciPy's least.
        integers extents(x.shape().size(), 3), origins(x.shape().size(), 0);
        extents[0] = 2, origins[0] = -1;
        const array<double> w = drawn<double>(extents, seed) + 0.25;
        const std::string how = mode + argument("origin", origins);
        const ndimage::filter_options o{.mode = b, .cval = 2.5, .origin = origins};
        c.add("ndimage.correlate(a, b" + how + ")", ndimage::correlate(x, w, o), x, w);
        c.add("ndimage.convolve(a, b" + how + ")", ndimage::convolve(x, w, o), x, w);
    });
    c.run();
}

TEST_CASE("means, Gaussians and derivatives: every border and number of axes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(64);  // derivatives of short axes that go round cancel
    unsigned seed = 100;
    testing::for_borders_and_shapes(
        {{9}, {1}, {2}, {7, 5}, {1, 3}, {40, 35}, {3, 4, 5}}, [&](ndimage::border b, const shape_like& shape) {
            const array<double> x = drawn<double>(shape, seed++);
            const std::string mode = name_of(b) + ", cval=1.5";
            const ndimage::filter_options o{.mode = b, .cval = 1.5};
            c.add("ndimage.uniform_filter(a" + mode + ")", ndimage::uniform_filter(x, 3, o), x);
            c.add("ndimage.uniform_filter(a, 4" + mode + ", origin=-1)",
                  ndimage::uniform_filter(x, 4, {.mode = b, .cval = 1.5, .origin = -1}), x);
            c.add("ndimage.uniform_filter1d(a, 6, 0" + mode + ")", ndimage::uniform_filter1d(x, 6, 0, o), x);
            c.add("ndimage.gaussian_filter(a, .7" + mode + ")",
                  ndimage::gaussian_filter(x, 0.7, {.mode = b, .cval = 1.5}), x);
            c.add("ndimage.gaussian_filter1d(a, 1.5, 0, 1" + mode + ", truncate=3)",
                  ndimage::gaussian_filter1d(x, 1.5, 0, {.order = 1, .mode = b, .cval = 1.5, .truncate = 3}), x);
            c.add("ndimage.sobel(a, 0" + mode + ")", ndimage::sobel(x, 0, o), x);
            c.add("ndimage.prewitt(a, -1" + mode + ")", ndimage::prewitt(x, -1, o), x);
            c.add("ndimage.laplace(a" + mode + ")", ndimage::laplace(x, o), x);
            c.add("ndimage.gaussian_laplace(a, .5" + mode + ")",
                  ndimage::gaussian_laplace(x, 0.5, {.mode = b, .cval = 1.5}), x);
        });
    const array<double> x = drawn<double>({20, 17}, 5);
    c.add(
        "ndimage.gaussian_filter(a, (0, 2), order=(1, 3), mode=('wrap', 'mirror'), radius=(1, 5))",
        ndimage::gaussian_filter(
            x, {0, 2}, {.order = {1, 3}, .mode = {ndimage::border::wrap, ndimage::border::mirror}, .radius = {{1, 5}}}),
        x);
    c.add("ndimage.gaussian_filter(a, (.5, .8), order=(0, 2))",
          ndimage::gaussian_filter(x, {0.5, 0.8}, {.order = {0, 2}}), x);
    c.add("ndimage.uniform_filter(a, (1, 5), origin=(0, 2), mode=('wrap', 'nearest'))",
          ndimage::uniform_filter(x, {1, 5},
                                  {.mode = {ndimage::border::wrap, ndimage::border::nearest}, .origin = {0, 2}}),
          x);
    c.run();
}

TEST_CASE("many weights are a fold of windows, or a stencil over a padded array") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(16);
    const array<double> x = drawn<double>({30, 41}, 1), y = drawn<double>({150}, 2);
    const array<double> w = drawn<double>({9, 9}, 3) + 0.5, v = drawn<double>({10, 11}, 4) + 0.5;
    c.add("ndimage.correlate(a, b)", ndimage::correlate(x, w), x, w);
    c.add("ndimage.convolve(a, b, mode='wrap')", ndimage::convolve(x, v, {.mode = ndimage::border::wrap}), x, v);
    c.add("ndimage.gaussian_filter(a, 6, mode='mirror')",
          ndimage::gaussian_filter(x, 6, {.mode = ndimage::border::mirror}), x);
    c.add("ndimage.gaussian_filter1d(a, 20)", ndimage::gaussian_filter1d(y, 20), y);
    c.add("ndimage.uniform_filter1d(a, 101, mode='nearest')",
          ndimage::uniform_filter1d(y, 101, 0, {.mode = ndimage::border::nearest}), y);
    const array<double> far = drawn<double>({5}, 6);
    for (const ndimage::border b : borders)
        c.add("ndimage.uniform_filter1d(a, 23" + name_of(b) + ")", ndimage::uniform_filter1d(far, 23, 0, {.mode = b}),
              far);
    c.run();
}

TEST_CASE("other dtypes: integers are truncated between axes and wrap, complex numbers have two parts") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(8);
    const auto add = [&]<class T>(std::type_identity<T>, unsigned seed) {
        const array<T> x = eval(drawn<T>({9, 13}, seed) * T(3));
        const array<double> w{{0, 1, 0}, {1.5, -4, 1}, {0, 2, 0}};
        c.add("ndimage.uniform_filter(a)", ndimage::uniform_filter(x), x);
        c.add("ndimage.uniform_filter(a, 5)", ndimage::uniform_filter(x, 5), x);
        c.add("ndimage.sobel(a)", ndimage::sobel(x), x);
        c.add("ndimage.laplace(a, mode='constant')", ndimage::laplace(x, {.mode = ndimage::border::constant}), x);
        c.add("ndimage.correlate(a, b)", ndimage::correlate(x, w), x, w);
    };
    add(std::type_identity<std::uint8_t>{}, 1);
    add(std::type_identity<std::int16_t>{}, 2);
    add(std::type_identity<std::int64_t>{}, 3);
    add(std::type_identity<float>{}, 4);
    add(std::type_identity<std::complex<double>>{}, 5);
    const array<float> x = drawn<float>({9, 13}, 7);
    c.add("ndimage.gaussian_filter(a.T * 2 + 1, 1)", ndimage::gaussian_filter(x.T() * 2 + 1, 1), x);
    const array<double> empty = zeros({0, 3});
    c.add("ndimage.gaussian_filter(a, 1)", ndimage::gaussian_filter(empty, 1), empty);
    c.run();
}

TEST_CASE("small filters are one kernel on a GPU, and on the host one behind the borders") {
    const auto kernels = [](const auto& e, int on_host = 2) {
        std::ostringstream text;
        text << explain(e);
        const std::string wanted = ", " + std::to_string(current_device().is_cuda() ? 1 : on_host) + " kernel";
        return text.str().find(wanted) != std::string::npos;
    };
    const array<float> x = zeros<float>({20, 30});
    CHECK(kernels(ndimage::sobel(x)));
    CHECK(kernels(ndimage::laplace(x), 3));  // the borders of one axis at a time
    CHECK(kernels(ndimage::uniform_filter(x, 3)));
    CHECK(kernels(ndimage::correlate(x, {{0, 1, 0}, {1, 1, 1}, {0, 1, 0}}, {.mode = ndimage::border::constant})));
    CHECK(kernels(ndimage::maximum_filter(x, 3)));
    CHECK(kernels(ndimage::median_filter(x, 3)));
}

TEST_CASE("weights, axes, origins and sizes that do not fit are said") {
    const array<double> x = zeros({3, 4});
    CHECK(array_equal(ndimage::correlate1d(x, array<int>{1, 2, 1}), ndimage::correlate1d(x, {1, 2, 1})).item());
    CHECK_THROWS_WITH_AS(ndimage::correlate1d(x, {1, 2, 1}, 2), doctest::Contains("[correlate1d]"), shape_error);
    CHECK_THROWS_WITH_AS(ndimage::correlate1d(x, {1, 2, 1}, 0, {.origin = 2}),
                         "[correlate1d] origin 2 of 3 places; -1 to 1 are inside", shape_error);
    CHECK_THROWS_WITH_AS(ndimage::correlate1d(x, {}), "[correlate1d] 0 places along an axis; at least 1 is wanted",
                         shape_error);
    CHECK_THROWS_WITH_AS(
        ndimage::correlate(x, {1, 2, 1}),
        "[correlate] weights of shape (3,) for an operand of shape (3, 4); as many axes are wanted, none of them empty",
        shape_error);
    CHECK_THROWS_WITH_AS(ndimage::correlate(x, {{1, 2}, {1}}), "[neighbourhood] rows of several lengths; one is wanted",
                         shape_error);
    CHECK_THROWS_WITH_AS(ndimage::gaussian_filter(x, {1, 2, 3}),
                         "[gaussian_filter] 3 values of sigma for 2 axes; one is wanted, or one for each", shape_error);
    CHECK_THROWS_WITH_AS(ndimage::gaussian_filter(x, -0.5),
                         "[gaussian_filter] deviation -0.5; a positive one is wanted", shape_error);
    CHECK_THROWS_WITH_AS(ndimage::gaussian_filter(x, 1, {.order = -1}),
                         "[gaussian_filter] order -1; at least 0 is wanted", shape_error);
    CHECK_THROWS_WITH_AS(
        ndimage::gaussian_filter(x, 1e9),
        "[gaussian_filter] deviation 1e+09 and truncate 4 give a radius of 4e+09; 0 to 10^9 are possible", shape_error);
    CHECK_THROWS_WITH_AS(ndimage::uniform_filter(x, 0), "[uniform_filter] 0 places along an axis; at least 1 is wanted",
                         shape_error);
}

TEST_CASE("an operand of another device than the current one is filtered there") {
    const array<double> x = drawn<double>({12, 14}, 1);
    const array<double> there = x.to(device::host(0));
    const array<bool> wide = full<bool>({9, 10}, true);
    const auto same = [](const auto& here, const auto& e) {
        const auto result = eval(e);
        CHECK(result.device() == device::host(0));
        CHECK(allclose(here.to(device::host(0)), result).item());
    };
    same(eval(ndimage::gaussian_filter(x, 12)), ndimage::gaussian_filter(there, 12));
    same(eval(ndimage::median_filter(x, wide)), ndimage::median_filter(there, wide));
    same(eval(ndimage::zoom(x, 1.5)), ndimage::zoom(there, 1.5));
    same(ndimage::label(x).labels, ndimage::label(there).labels);
    same(ndimage::center_of_mass(x), ndimage::center_of_mass(there));
    same(eval(ndimage::binary_fill_holes(x)), ndimage::binary_fill_holes(there));
    same(eval(ndimage::shift(x(slice(0, 0)), 1)), ndimage::shift(there(slice(0, 0)), 1));
}
