// Interpolation compared with SciPy: every order and border, places far beyond the ends, short axes, dtypes.
#include <complex>

#include "tests/arrays/expect.hpp"
#include "tests/ndimage/scipy.hpp"

using namespace ingot;
using testing::argument;
using testing::drawn;
using testing::name_of;
using testing::numpy_cases;

namespace {

using ndimage::border;

/// Places on elements, halfway, and in between, up to two and a half axes beyond the ends.
array<double> places_around(const shape_like& shape, unsigned seed) {
    std::mt19937 random(seed);
    const index_t count = 60;
    std::vector<double> places;
    for (const index_t n : shape)
        for (index_t i = 0; i < count; ++i) {
            const double one = std::uniform_real_distribution<double>(-1.5, 2.5)(random) * static_cast<double>(n);
            places.push_back(i % 3 == 0 ? std::floor(one) : one);
        }
    return asarray(places, {shape.count(), count});
}

/// SciPy's coefficients at the border `reflect` pass through the elements of long axes alone.
shape_like long_enough(const shape_like& shape) {
    return shape.count() == 1 ? shape_like{45} : shape_like{shape[0] + 40, 50};
}

}  // namespace

TEST_CASE("any places, by every order and border") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    const unsigned of = std::getenv("INGOT_TEST_ALL") != nullptr ? 1 : current_device().is_cuda() ? 7 : 2;
    unsigned number = seed;
    for (const border b : {border::reflect, border::constant, border::nearest, border::mirror, border::wrap,
                           border::grid_wrap, border::grid_constant})
        for (int order = 0; order <= 5; ++order)
            for (shape_like shape : {shape_like{8}, {2}, {1, 6}, {5, 7}}) {
                if (number++ % of != 0) continue;
                if (b == border::reflect && order > 1) shape = long_enough(shape);
                // SciPy pads the border `nearest`, and is not exact near the pad's ends.
                const bool near = b == border::nearest && order > 1;
                c.forgive(near ? 1 << 30 : 1 << 12);
                const array<double> x = drawn<double>(shape, ++seed);
                array<double> at = places_around(shape, seed);
                if (near) at = clip(at, -2.0, static_cast<double>(shape[shape.count() - 1]) + 1);
                c.add("ndimage.map_coordinates(a, b, order=" + std::to_string(order) + name_of(b) + ", cval=2.5)",
                      ndimage::map_coordinates(x, at, {.order = order, .mode = b, .cval = 2.5}), x, at);
            }
    c.run();
}

TEST_CASE("shifts, zooms, matrices and turns") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 12);
    const array<double> x = drawn<double>({9, 11}, 1), y = drawn<double>({4, 5, 6}, 2),
                        line = drawn<double>({12}, 3) + 9;
    unsigned number = static_cast<unsigned>(test::drawing_seed() % 7);
    for (const border b : {border::reflect, border::constant, border::nearest, border::mirror, border::wrap,
                           border::grid_wrap, border::grid_constant}) {
        const bool everything = std::getenv("INGOT_TEST_ALL") != nullptr;
        if (!everything && number++ % (current_device().is_cuda() ? 7 : 3) != 0) continue;
        for (const int order : {0, 1, 3}) {
            if (order > 1 && b == border::reflect) continue;
            const std::string how = ", order=" + std::to_string(order) + name_of(b) + ", cval=1.5";
            c.add("ndimage.shift(a, (1.3, -2.7)" + how + ")",
                  ndimage::shift(x, {1.3, -2.7}, {.order = order, .mode = b, .cval = 1.5}), x);
            c.add("ndimage.shift(a, (0, 0.4, 12)" + how + ")",
                  ndimage::shift(y, {0, 0.4, 12}, {.order = order, .mode = b, .cval = 1.5}), y);
            c.add("ndimage.zoom(a, (1.7, 0.6)" + how + ")",
                  ndimage::zoom(x, {1.7, 0.6}, {.order = order, .mode = b, .cval = 1.5}), x);
            c.add("ndimage.affine_transform(a, [[.9, .3], [-.2, 1.1]], (1, -2), (7, 8)" + how + ")",
                  ndimage::affine_transform(
                      x, {{0.9, 0.3}, {-0.2, 1.1}},
                      {.offset = {1, -2}, .output_shape = {{7, 8}}, .order = order, .mode = b, .cval = 1.5}),
                  x);
            c.add("ndimage.rotate(a, 33" + how + ")", ndimage::rotate(x, 33, {.order = order, .mode = b, .cval = 1.5}),
                  x);
        }
    }
    for (const int order : {1, 3}) {
        const std::string how = ", order=" + std::to_string(order);
        c.add("ndimage.zoom(a, 2" + how + ", grid_mode=True, mode='grid-constant')",
              ndimage::zoom(x, 2, {.order = order, .mode = border::grid_constant, .grid_mode = true}), x);
        c.add("ndimage.affine_transform(a, (.7, 1.2), .3" + how + ")",
              ndimage::affine_transform(x, {0.7, 1.2}, {.offset = 0.3, .order = order}), x);
        c.add("ndimage.affine_transform(a, [[1, 0, 1], [.1, 1, 2], [0, 0, 1]]" + how + ")",
              ndimage::affine_transform(x, {{1, 0, 1}, {0.1, 1, 2}, {0, 0, 1}}, {.order = order}), x);
        c.add("ndimage.rotate(a, -120, (2, 0), reshape=False" + how + ")",
              ndimage::rotate(y, -120, {.plane = {2, 0}, .reshape = false, .order = order}), y);
        c.add("ndimage.rotate(a, 270" + how + ")", ndimage::rotate(x, 270, {.order = order}), x);
        c.add("ndimage.zoom(a, 0.1" + how + ")", ndimage::zoom(line, 0.1, {.order = order}), line);
    }
    c.run();
}

TEST_CASE("single places of single values are exact") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(4);
    const array<float> x = drawn<float>({40, 3, 51}, 5);
    array<float> at = astype<float>(places_around(x.shape(), 6));
    at(slice(0, 3), 0) = 1e9f;
    at(slice(0, 3), 1) = -1e9f;
    for (const border b : {border::constant, border::nearest})
        c.add("ndimage.map_coordinates(a, b, order=1" + name_of(b) + ", cval=2.5)",
              ndimage::map_coordinates(x, at, {.order = 1, .mode = b, .cval = 2.5}), x, at);
    const array<float> lines = drawn<float>({7, 31}, 7), turns{{0, 1.5f, 3, 30}, {-1, 30, 30.5f, 12.25f}};
    c.add("ndimage.map_coordinates(a, b, order=1)", ndimage::map_coordinates(lines, turns, {.order = 1}), lines, turns);
    c.run();
}

TEST_CASE("places that many elements share, by every border") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(1 << 12);
    const array<double> x = drawn<double>({20, 1, 23}, 4);
    const array<float> y = astype<float>(x);
    const ndimage::per_axis<double> by = {1.25, 0.5, -26.5}, factors = {1.7, 2, 0.6};
    unsigned number = static_cast<unsigned>(test::drawing_seed() % 7);
    for (const border b : {border::reflect, border::constant, border::nearest, border::mirror, border::wrap,
                           border::grid_wrap, border::grid_constant})
        for (const int order : {0, 1}) {
            const bool everything = std::getenv("INGOT_TEST_ALL") != nullptr;
            if (!everything && number++ % (current_device().is_cuda() ? 7 : 4) != 0) continue;
            const std::string how = ", order=" + std::to_string(order) + name_of(b) + ", cval=1.5";
            c.add("ndimage.shift(a, (1.25, 0.5, -26.5)" + how + ")",
                  ndimage::shift(x, by, {.order = order, .mode = b, .cval = 1.5}), x);
            c.add("ndimage.shift(a, (1.25, 0.5, -26.5)" + how + ")",
                  ndimage::shift(y, by, {.order = order, .mode = b, .cval = 1.5}), y);
            c.add("ndimage.zoom(a, (1.7, 2, 0.6)" + how + ", grid_mode=True)",
                  ndimage::zoom(x, factors, {.order = order, .mode = b, .cval = 1.5, .grid_mode = true}), x);
            c.add("ndimage.affine_transform(a, (1.5, 1, -0.8), (-3, 0, 30)" + how + ")",
                  ndimage::affine_transform(x, {1.5, 1, -0.8},
                                            {.offset = {-3, 0, 30}, .order = order, .mode = b, .cval = 1.5}),
                  x);
        }
    c.run();
}

TEST_CASE("interpolated integers are rounded and saturate") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    const auto add = [&]<class T>(std::type_identity<T>, unsigned seed) {
        const array<T> x = eval(drawn<T>({9, 13}, seed) * T(25));
        c.add("ndimage.shift(a, .25, order=1)", ndimage::shift(x, 0.25, {.order = 1}), x);
        c.add("ndimage.zoom(a, 1.3, mode='mirror')", ndimage::zoom(x, 1.3, {.mode = border::mirror}), x);
    };
    add(std::type_identity<std::uint8_t>{}, 1);
    add(std::type_identity<std::int32_t>{}, 2);
    c.forgive(64);
    add(std::type_identity<float>{}, 3);
    const array<double> empty = zeros({0, 3});
    c.add("np.zeros((0, 3))", ndimage::shift(empty, 1), empty);
    c.run();
}

TEST_CASE("orders, coordinates and matrices that do not fit are said") {
    const array<double> x = zeros({3, 4});
    CHECK_THROWS_WITH_AS(ndimage::shift(x, 1, {.order = 6}), "[shift] order 6; 0 to 5 are possible", shape_error);
    CHECK_THROWS_WITH_AS(
        ndimage::map_coordinates(x, zeros({3, 5})),
        "[map_coordinates] coordinates of shape (3, 5) for an operand of shape (3, 4); along the first "
        "axis one for each axis of the operand is wanted",
        shape_error);
    CHECK_THROWS_AS(ndimage::affine_transform(x, {{1, 2}}), shape_error);
    CHECK_THROWS_WITH_AS(ndimage::affine_transform(x, {{1, 0, 0}, {0, 1, 0}, {5, 6, 7}}),
                         "[affine_transform] the last row of a homogeneous matrix of shape (3, 3) is not 0, ..., 0, 1",
                         shape_error);
    CHECK_THROWS_AS(ndimage::zoom(x, -1), shape_error);
    CHECK_THROWS_AS(ndimage::rotate(x, 10, {.plane = {1, 1}}), shape_error);
    CHECK_THROWS_AS(ndimage::rotate(zeros(3), 10), shape_error);
    CHECK_THROWS_AS(ndimage::shift(zeros<std::complex<double>>(3), 1), dtype_error);
}
