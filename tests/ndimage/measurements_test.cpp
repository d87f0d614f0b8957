// Connected parts and their measures compared with SciPy: mazes, spirals, structures, labels without elements.
#include "tests/arrays/expect.hpp"
#include "tests/ndimage/scipy.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

/// A line that winds inward, whose ends are as far apart as can be.
array<bool> spiral(index_t n) {
    std::vector<bool> on(static_cast<std::size_t>(n * n));
    index_t i = 0, j = -1, di = 0, dj = 1, length = n;
    for (int turn = 0; length > 0; ++turn) {
        for (index_t k = 0; k < length; ++k) i += di, j += dj, on[static_cast<std::size_t>(i * n + j)] = true;
        if (turn > 0 && turn % 2 == 0) length -= 2;
        if (turn == 0) length -= 1;
        const index_t old = di;
        di = dj, dj = -old;
    }
    return asarray(on, {n, n});
}

}  // namespace

TEST_CASE("connected parts are numbered in the order of their first elements") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    for (const shape_like& shape : {shape_like{20}, {1}, {17, 23}, {40, 33}, {5, 6, 7}}) {
        const array<bool> x = drawn<bool>(shape, ++seed);
        const array<bool> square = full<bool>(std::vector<int>(shape.size(), 3), true);
        c.add("ndimage.label(a)[0]", ndimage::label(x).labels, x);
        c.add("ndimage.label(a, b)[0]", ndimage::label(x, square).labels, x, square);
        c.add("np.array(ndimage.label(a)[1], 'i8')", scalar(ndimage::label(x).count), x);
    }
    const array<bool> line = spiral(31), diagonal{{true, false, false}, {false, true, false}, {false, false, true}};
    const array<int> i = drawn<int>({12, 13}, 5);
    c.add("ndimage.label(a)[0]", ndimage::label(line).labels, line);
    c.add("ndimage.label(a, b)[0]", ndimage::label(i, diagonal).labels, i, diagonal);
    c.add("np.zeros((0, 3), 'i4')", ndimage::label(zeros({0, 3})).labels);
    c.add("np.array(ndimage.label(np.array(2.5))[0])", ndimage::label(scalar(2.5)).labels);
    // Structures at random, the same from both sides: some join no neighbours along an axis.
    for (const shape_like& shape : {shape_like{70}, {30, 37}, {9, 3, 8}, {4, 5, 3, 6}}) {
        seed += 3;
        const array<bool> x = drawn<bool>(shape, seed) | drawn<bool>(shape, seed + 1);
        const array<bool> half = drawn<bool>(std::vector<int>(shape.size(), 3), seed + 2);
        array<bool> structure = half & flip(half);
        structure = structure | reshape(arange(structure.size()) == structure.size() / 2, structure.shape());
        c.add("ndimage.label(a, b)[0]", ndimage::label(x, structure).labels, x, structure);
        c.add("ndimage.binary_fill_holes(a, b)", ndimage::binary_fill_holes(x, {.structure = structure}), x, structure);
        c.add("ndimage.binary_fill_holes(a)", ndimage::binary_fill_holes(x), x);
    }
    c.run();
}

TEST_CASE("boxes, sums, means and centres of labels") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(4);
    for (const shape_like& shape : {shape_like{9}, {8, 9}, {4, 5, 6}}) {
        const array<int> labels = drawn<int>(shape, 1) * 2;
        const array<double> x = drawn<double>(shape, 2) + 5;
        const array<int> index{3, 2, 8, 12, 0, -2};
        const auto boxes = ndimage::find_objects(labels);
        std::vector<index_t> ends;
        for (const std::vector<slice>& box : boxes)
            for (std::size_t j = 0; j < shape.size(); ++j) {
                ends.push_back(box.empty() ? -1 : box[j].start());
                ends.push_back(box.empty() ? -1 : box[j].stop());
            }
        c.add(
            "np.array([[v for s in o for v in (s.start, s.stop)] if o else [-1] * (2 * a.ndim) for o in "
            "ndimage.find_objects(a)], 'i8')",
            asarray(ends, {static_cast<index_t>(boxes.size()), 2 * shape.count()}), labels);
        c.add("np.array(ndimage.sum_labels(a, b, c))", ndimage::sum_labels(x, labels, index), x, labels, index);
        c.add("np.array(ndimage.mean(a, b, c))", ndimage::mean(x, labels, index), x, labels, index);
        c.add("np.array(ndimage.center_of_mass(a, b, c))", ndimage::center_of_mass(x, labels, index), x, labels, index);
        c.add("np.array(ndimage.center_of_mass(a))", ndimage::center_of_mass(x), x);
    }
    c.run();
}

TEST_CASE("holes are what the outside does not reach") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    for (const shape_like& shape : {shape_like{20}, {17, 23}, {5, 6, 7}}) {
        const array<bool> x = drawn<bool>(shape, 3) | drawn<bool>(shape, 4);
        c.add("ndimage.binary_fill_holes(a)", ndimage::binary_fill_holes(x), x);
        c.add("ndimage.binary_fill_holes(a, np.ones((3,) * a.ndim))",
              ndimage::binary_fill_holes(x, {.structure = full<bool>(std::vector<int>(shape.size(), 3), true)}), x);
    }
    const array<bool> line = spiral(30);
    c.add("ndimage.binary_fill_holes(a)", ndimage::binary_fill_holes(line), line);
    c.run();
}

TEST_CASE("structures and labels that do not fit are said") {
    const array<double> x = zeros({3, 4});
    CHECK_THROWS_WITH_AS(ndimage::label(x, {{1, 1, 0}, {0, 1, 0}, {0, 0, 0}}),
                         "[label] a structure of shape (3, 3); three places along each axis are wanted, the same from "
                         "both sides",
                         shape_error);
    CHECK_THROWS_AS(ndimage::label(x, ones(3)), shape_error);
    CHECK_THROWS_AS(ndimage::find_objects(array<std::int64_t>{std::int64_t{1} << 58}), out_of_memory);
    CHECK_THROWS_WITH_AS(ndimage::sum_labels(x, zeros<int>(3), array<int>{1}),
                         "[sum_labels] labels of shape (3,) for an operand of shape (3, 4); the same is wanted",
                         shape_error);
}
