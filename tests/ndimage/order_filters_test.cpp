// Order statistics and morphology compared with SciPy: every border, footprints, origins, sizes beyond the axis,
// dtypes.
#include <complex>

#include "tests/arrays/expect.hpp"
#include "tests/ndimage/scipy.hpp"

using namespace ingot;
using testing::argument;
using testing::borders;
using testing::drawn;
using testing::name_of;
using testing::numpy_cases;

namespace {

/// A footprint of extents 2, 3, 3: a part of its places, and the first one.
array<bool> footprint(int rank, unsigned seed) {
    std::vector<index_t> extents(static_cast<std::size_t>(rank), 3);
    extents[0] = 2;
    std::vector<bool> places = drawn<bool>(extents, seed).to_host();
    places[0] = true;
    return asarray(places, extents);
}

}  // namespace

TEST_CASE("extrema and ranks in boxes and footprints: every border and number of axes") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    unsigned seed = 1;
    testing::for_borders_and_shapes({{9}, {2}, {7, 5}, {40, 35}, {3, 4, 5}}, [&](ndimage::border b,
                                                                                 const shape_like& shape) {
        const array<float> x = drawn<float>(shape, seed++);
        const array<bool> f = footprint(shape.count(), seed);
        const std::string mode = name_of(b) + ", cval=1.5";
        const ndimage::filter_options o{.mode = b, .cval = 1.5}, off{.mode = b, .cval = 1.5, .origin = -1};
        c.add("ndimage.maximum_filter1d(a, 4, 0" + mode + ", origin=-1)", ndimage::maximum_filter1d(x, 4, 0, off), x);
        c.add("ndimage.minimum_filter1d(a, 5" + mode + ")", ndimage::minimum_filter1d(x, 5, -1, o), x);
        c.add("ndimage.maximum_filter(a, 3" + mode + ")", ndimage::maximum_filter(x, 3, o), x);
        c.add("ndimage.minimum_filter(a, 4" + mode + ", origin=-1)", ndimage::minimum_filter(x, 4, off), x);
        c.add("ndimage.median_filter(a, 3" + mode + ")", ndimage::median_filter(x, 3, o), x);
        c.add("ndimage.grey_dilation(a, 4" + mode + ", origin=-1)",
              ndimage::grey_dilation(x, 4, {.mode = b, .cval = 1.5, .origin = -1}), x);
        c.add("ndimage.maximum_filter(a, footprint=b" + mode + ", origin=-1)", ndimage::maximum_filter(x, f, off), x,
              f);
        c.add("ndimage.rank_filter(a, 0, footprint=b" + mode + ")", ndimage::rank_filter(x, 0, f, o), x, f);
        c.add("ndimage.percentile_filter(a, -30, footprint=b" + mode + ")", ndimage::percentile_filter(x, -30, f, o), x,
              f);
    });
    c.run();
}

TEST_CASE("medians of many values, sorted; extrema of long windows, folded") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    const array<float> x = drawn<float>({12, 15}, 1), y = drawn<float>({50}, 2);
    const array<bool> f = drawn<bool>({7, 8}, 3), wide = drawn<bool>({13, 14}, 4);
    c.add("ndimage.median_filter(a, 5)", ndimage::median_filter(x, 5), x);
    c.add("ndimage.median_filter(a, (7, 6), mode='wrap')",
          ndimage::median_filter(x, {7, 6}, {.mode = ndimage::border::wrap}), x);
    c.add("ndimage.median_filter(a, footprint=b)", ndimage::median_filter(x, f), x, f);
    c.add("ndimage.rank_filter(a, -3, footprint=b)", ndimage::rank_filter(x, -3, f), x, f);
    c.add("ndimage.rank_filter(a, -1, 3)", ndimage::rank_filter(x, -1, 3), x);
    c.add("ndimage.percentile_filter(a, 100, 4)", ndimage::percentile_filter(x, 100, 4), x);
    c.add("ndimage.maximum_filter(a, footprint=b)", ndimage::maximum_filter(x, wide), x, wide);
    c.add("ndimage.minimum_filter1d(a, 33)", ndimage::minimum_filter1d(y, 33), y);
    c.add("ndimage.maximum_filter(a, (17, 5), mode='nearest')",
          ndimage::maximum_filter(x, {17, 5}, {.mode = ndimage::border::nearest}), x);
    c.run();
}

TEST_CASE("erosions and dilations of grey images, flat and with a structure") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    for (const ndimage::border b : borders) {
        const array<double> x = drawn<double>({8, 9}, 1), s = drawn<double>({3, 2}, 2);
        const array<bool> f{{true, false}, {true, true}, {false, true}};
        const std::string how = name_of(b) + ", cval=1, origin=(0, -1)";
        const ndimage::grey_options flat{.mode = b, .cval = 1, .origin = {0, -1}};
        ndimage::grey_options high = flat;
        high.structure = s;
        c.add("ndimage.grey_erosion(a, footprint=b" + how + ")", ndimage::grey_erosion(x, f, flat), x, f);
        c.add("ndimage.grey_dilation(a, footprint=b" + how + ")", ndimage::grey_dilation(x, f, flat), x, f);
        c.add("ndimage.grey_erosion(a, footprint=b, structure=c" + how + ")", ndimage::grey_erosion(x, f, high), x, f,
              s);
        c.add("ndimage.grey_dilation(a, (3, 2), structure=b" + how + ")", ndimage::grey_dilation(x, {3, 2}, high), x,
              s);
    }
    c.run();
}

TEST_CASE("extrema and medians of every kind of dtype") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    const auto add = [&]<class T>(std::type_identity<T>, unsigned seed) {
        const array<T> x = drawn<T>({9, 13}, seed);
        c.add("ndimage.maximum_filter(a, 3, mode='constant', cval=1)",
              ndimage::maximum_filter(x, 3, {.mode = ndimage::border::constant, .cval = 1}), x);
        c.add("ndimage.median_filter(a, 3)", ndimage::median_filter(x, 3), x);
    };
    add(std::type_identity<bool>{}, 1);
    add(std::type_identity<std::uint8_t>{}, 2);
    add(std::type_identity<std::int16_t>{}, 3);
    add(std::type_identity<std::int64_t>{}, 4);
    add(std::type_identity<double>{}, 5);
    const array<int> empty = zeros<int>({3, 0});
    c.add("ndimage.median_filter(a, 3)", ndimage::median_filter(empty, 3), empty);
    c.run();
}

TEST_CASE("binary morphology: structures, origins, masks, repetitions") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    unsigned seed = 20;
    for (const shape_like& shape : {shape_like{9}, {2}, {7, 5}, {40, 35}, {3, 4, 5}}) {
        const array<bool> x = drawn<bool>(shape, seed) | drawn<bool>(shape, seed + 1), m = drawn<bool>(shape, seed + 2),
                          s = footprint(shape.count(), seed + 3);
        seed += 4;
        c.add("ndimage.binary_erosion(a)", ndimage::binary_erosion(x), x);
        c.add("ndimage.binary_dilation(a, iterations=2)", ndimage::binary_dilation(x, {.iterations = 2}), x);
        c.add("ndimage.binary_erosion(a, b, border_value=1, origin=-1)",
              ndimage::binary_erosion(x, {.structure = s, .border_value = true, .origin = -1}), x, s);
        c.add("ndimage.binary_dilation(a, b, origin=-1)", ndimage::binary_dilation(x, {.structure = s, .origin = -1}),
              x, s);
        c.add("ndimage.binary_opening(a)", ndimage::binary_opening(x), x);
        c.add("ndimage.binary_closing(a, b)", ndimage::binary_closing(x, {.structure = s}), x, s);
        c.add("ndimage.binary_dilation(a, iterations=-1, mask=b)",
              ndimage::binary_dilation(x, {.iterations = -1, .mask = m}), x, m);
        c.add("ndimage.binary_erosion(a, iterations=3, mask=b, border_value=1)",
              ndimage::binary_erosion(x, {.iterations = 3, .mask = m, .border_value = true}), x, m);
        // Until nothing changes: a part of the mask at once where the structure is the same from both sides.
        c.add("ndimage.binary_erosion(a, iterations=-1, mask=b)",
              ndimage::binary_erosion(x, {.iterations = -1, .mask = m}), x, m);
        c.add("ndimage.binary_erosion(a, iterations=-1, border_value=1)",
              ndimage::binary_erosion(x, {.iterations = -1, .border_value = true}), x);
        c.add("ndimage.binary_dilation(a, b, iterations=-1, mask=c)",
              ndimage::binary_dilation(x, {.structure = s, .iterations = -1, .mask = m}), x, s, m);
        array<bool> both = s | flip(s);
        both = both | reshape(arange(both.size()) == both.size() / 2, both.shape());
        c.add("ndimage.binary_dilation(a, b, iterations=-1, mask=c, border_value=1)",
              ndimage::binary_dilation(x & m, {.structure = both, .iterations = -1, .mask = m, .border_value = true}),
              array<bool>(x & m), both, m);
        c.add("ndimage.binary_propagation(a, b, c)",
              ndimage::binary_dilation(x, {.structure = both, .iterations = 0, .mask = m}), x, both, m);
    }
    const array<double> grey = drawn<double>({6, 7}, 3);
    c.add("ndimage.binary_dilation(a)", ndimage::binary_dilation(grey), grey);
    c.run();
}

TEST_CASE("footprints, ranks and structures that do not fit are said") {
    const array<double> x = zeros({3, 4});
    CHECK_THROWS_WITH_AS(ndimage::maximum_filter(x, array<bool>{true}),
                         "[maximum_filter] footprint of shape (1,) for an operand of shape (3, 4); as many axes are "
                         "wanted, none of them empty",
                         shape_error);
    CHECK_THROWS_WITH_AS(ndimage::maximum_filter(x, zeros({3, 3})),
                         "[maximum_filter] a footprint without a place; a number that is not 0 is wanted", shape_error);
    CHECK_THROWS_WITH_AS(ndimage::rank_filter(x, 9, 3), "[rank_filter] rank 9 of 9 places; -9 to 8 are possible",
                         shape_error);
    CHECK_THROWS_AS(ndimage::percentile_filter(x, 101, 3), shape_error);
    CHECK_THROWS_WITH_AS(ndimage::median_filter(zeros<std::complex<float>>(3), 3),
                         "[median_filter] complex64 has no order, and so no greatest or least element", dtype_error);
    CHECK_THROWS_AS(ndimage::grey_erosion(x, 3, {.structure = ndimage::neighbourhood{{1, 2}}}), shape_error);
    CHECK_THROWS_AS(ndimage::binary_erosion(x, {.structure = ndimage::neighbourhood{1, 1}}), shape_error);
    CHECK_THROWS_WITH_AS(ndimage::binary_erosion(x, {.mask = full<bool>(3, true)}),
                         "[binary_erosion] a mask of shape (3,) for an operand of shape (3, 4); the same is wanted",
                         shape_error);
}
