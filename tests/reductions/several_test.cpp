// Several results of different shapes in one statement: their values, the number of kernels, and the bytes that these
// read.
#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

template <class T>
array<T> sevenths(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    return reshape(astype<T>(arange<double>(static_cast<double>(n)) * 5 % 7), shape);
}

}  // namespace

TEST_CASE("a map beside the sum of everything") {
    for (const index_t n : {1, 5, 300, 5000, 100'003}) {
        const array<int> x = sevenths<int>({n});
        const auto [y, total] = eval(x + 1, sum(x));
        CHECK(array_equal(y, x + 1).item());
        CHECK(total.ndim() == 0);
        CHECK(total.item() == sum(x).item());
        CHECK(launches([&] { (void)eval(x + 1, sum(x)); }) == 1);
    }
}

TEST_CASE("a map and a reduction of what it reads are one kernel, which reads it once") {
    const array<float> x = sevenths<float>({300, 400});
    constexpr std::uint64_t bytes = 4 * 300 * 400;
    const auto is_one_kernel = [&](std::uint64_t results, const auto&... e) {
        const explanation told = explain(e...);
        CHECK(told.kernels.size() == 1);
        CHECK(told.bytes_read() == bytes);
        CHECK(told.bytes_written() == bytes + 4 * results);
        CHECK(launches([&] { (void)eval(e...); }) == 1);
    };
    is_one_kernel(1, x + 1, sum(x));
    is_one_kernel(1, sum(x * x), sqrt(x));
    is_one_kernel(300, x + 1, max(x + 1, 1));
    is_one_kernel(400, x + 1, min(x, 0, keepdims));
    is_one_kernel(2, x * 2, sum(x), max(x));
    is_one_kernel(600, sum(x, 1), x * 2, sqrt(sum(x * x, 1)));
    CHECK(explain(x * 2, sum(x, 1), sum(x, 0)).kernels.size() == 2);
}

TEST_CASE("every dtype, alignment and length of a map and its sums") {
    const auto pairs = [](const auto& x) {
        const auto whole = sum(x), rows = sum(x, 1), columns = sum(x, 0);
        const auto map = x + x;
        const auto same = [&](const auto& pair, const auto& folded) {
            CHECK(array_equal(std::get<0>(pair), eval(map)).item());
            CHECK(array_equal(std::get<1>(pair), eval(folded)).item());
        };
        same(eval(map, whole), whole);
        same(eval(map, rows), rows);
        same(eval(map, columns), columns);
    };
    for (const shape_like& shape : {shape_like{1, 1}, {3, 5000}, {700, 7}, {2, 70'001}, {4099, 64}, {64, 20}}) {
        pairs(sevenths<std::int8_t>(shape));
        pairs(sevenths<int>(shape));
        pairs(sevenths<float>(shape));
        pairs(sevenths<double>(shape));
    }
    const array<float> wide = sevenths<float>({65, 131});
    pairs(wide(all, slice(1)));
    pairs(wide(slice(none, none, 2), slice(3, -3)));
    pairs(transpose(wide));
    pairs(flip(wide, 1));
}

TEST_CASE("rows, columns, middle axes and corners of a matrix beside a map of it") {
    const array<int> x = sevenths<int>({40, 30}), square = sevenths<int>({33, 33}), block = sevenths<int>({6, 7, 8});
    const auto both = [](const auto& map, const auto& folded) {
        const auto [y, z] = eval(map, folded);
        CHECK(array_equal(y, eval(map)).item());
        CHECK(z.shape() == folded.shape());
        CHECK(array_equal(z, eval(folded)).item());
        const auto [back, front] = eval(folded, map);
        CHECK(array_equal(back, z).item());
        CHECK(array_equal(front, y).item());
    };
    for (const axes& over : {axes(0), axes(1)}) {
        both(x * 2, sum(x, over));
        both(x * 2, sum(x, over, keepdims));
        both(square + transpose(square), max(square, over));
        both(transpose(square), argmax(square, over));
        both(x(all, slice(none, none, -1)), sum(x, over));
    }
    for (const axes& over : {axes(0), axes(1), axes(2), axes{0, 1}, axes{1, 2}, axes{0, 2}, axes{0, 1, 2}})
        both(block - 3, sum(block, over));
    both(x + 1, x(7));
    both(block + 1, sum(x(slice(0, 6), slice(0, 8)), {0, 1}));
}

TEST_CASE("results of which none holds the others' axes are computed all the same") {
    const array<int> x = sevenths<int>({4, 3}), y = sevenths<int>({5});
    const auto [a, b, c, d] = eval(sum(x, 0), y + 1, sum(x, 1), x * 2);
    CHECK(array_equal(a, sum(x, 0)).item());
    CHECK(array_equal(b, y + 1).item());
    CHECK(array_equal(c, sum(x, 1)).item());
    CHECK(array_equal(d, x * 2).item());
}

TEST_CASE("a map beside sums of what it reads, one of which folds over a part of its axes, in any order") {
    const array<double> x = sevenths<double>({3, 4}), w = sevenths<double>({4}), z = sevenths<double>({3});
    const auto both = [](const auto& map, const auto& a, const auto& b) {
        const auto [y, first, second] = eval(map, a, b);
        CHECK(array_equal(y, eval(map)).item());
        CHECK(first.item() == eval(a).item());
        CHECK(second.item() == eval(b).item());
        const auto [joined, same] = eval(a + b, map);
        CHECK(joined.item() == first.item() + second.item());
        CHECK(array_equal(same, y).item());
    };
    both(x * w, sum(w), sum(x * w));
    both(x * w, sum(x * w), sum(w));
    both(x * z(all, newaxis), max(z), sum(x * z(all, newaxis)));
    both(x - w, sum(w * w), max(abs(x - w)));
    both(w * 2, sum(z), sum(w * 2));
}

TEST_CASE("a value whose reductions others make, beside what is made of it along more axes") {
    const array<double> x = sevenths<double>({31, 289, 5});
    const auto size = norm(x, {0, 2}, keepdims);
    const auto unit = (size - mean(size, 1, keepdims)) / (stddev(size, 1, keepdims) + 1);
    const array<double> alone = unit;
    for (int round = 0; round < 5; ++round) {
        const auto [wide, rows, again] = eval(unit * x, unit, unit * x);
        CHECK(allclose(rows, alone).item());
        CHECK(allclose(wide, alone * x).item());
        CHECK(array_equal(wide, again).item());
    }
    CHECK(explain(unit * x, unit).bytes_written() < 8 * (31 * 289 * 5 + 3 * 289));
}

TEST_CASE("results along more axes than the rows that they come from, and along some of a row's axes") {
    const array<double> x = sevenths<double>({3, 100}), y = sevenths<double>({3, 1});
    const auto unit = x / (norm(x, 1, keepdims) + 1);
    const auto wave = sin(unit);
    const auto shares = unit / sum(unit, {0, 1}, keepdims);
    const auto [wide, shared] = eval(broadcast_to(wave, {4, 3, 100}), shares);
    CHECK(allclose(wide, eval(wave)).item());
    CHECK(allclose(shared, eval(shares)).item());

    const auto less = maximum(y, sum(x * y, {0, 1}, keepdims) / 100);
    const auto spread = x - max(less - y, {0, 1}, keepdims);
    const auto [whole, part] = eval(spread, less);
    const array<double> less_alone = maximum(y, eval(sum(x * y)) / 100);
    CHECK(allclose(part, less_alone).item());
    CHECK(allclose(whole, x - eval(max(less_alone - y))).item());
}

TEST_CASE("results of size 0 and 1 beside others") {
    const array<int> nothing = zeros<int>({0}), thin = zeros<int>({3, 0}), one = array<int>{5};
    const auto [y, total] = eval(nothing + 1, sum(nothing));
    CHECK(y.size() == 0);
    CHECK(total.item() == 0);
    const auto [wide, rows, cols] = eval(thin + 1, sum(thin, 1), sum(thin, 0));
    CHECK(wide.shape() == shape_like{3, 0});
    CHECK(holds(rows, {3}, {0, 0, 0}));
    CHECK(cols.shape() == shape_like{0});
    const auto [z, of_one] = eval(one + 1, sum(one));
    CHECK(holds(z, {1}, {6}));
    CHECK(of_one.item() == 5);
}

TEST_CASE("means and deviations beside what they are of, and beside what they standardise") {
    const array<double> x = sevenths<double>({50, 60});
    const auto [mu, sd, z] = eval(mean(x), stddev(x), x * 2);
    CHECK(mu.item() == doctest::Approx(mean(x).item()));
    CHECK(sd.item() == doctest::Approx(stddev(x).item()));
    CHECK(array_equal(z, x * 2).item());
    const auto [centre, scaled] = eval(mean(x, 1), (x - mean(x, 1, keepdims)) / stddev(x, 1, keepdims));
    CHECK(allclose(centre, mean(x, 1)).item());
    CHECK(allclose(scaled, eval((x - mean(x, 1, keepdims)) / stddev(x, 1, keepdims))).item());
}

TEST_CASE("run-time trees of several shapes, with parts in common") {
    const array<int> x = sevenths<int>({20, 30});
    const lazy<int> a = lazy<int>(x) * 2 + 1;
    const auto [y, rows, total] = eval(a, sum(a, 1), sum(a));
    CHECK(array_equal(y, x * 2 + 1).item());
    CHECK(array_equal(rows, sum(x * 2 + 1, 1)).item());
    CHECK(total.item() == sum(x * 2 + 1).item());
}

TEST_CASE("sums of vectors of different lengths share a kernel, and none is counted twice") {
    const array<int> longer = sevenths<int>({200'003}), shorter = sevenths<int>({33});
    const auto both = [&] { return eval(sum(longer) + sum(shorter)).item(); };
    CHECK(both() == sum(longer).item() + sum(shorter).item());
    const array<int> wide = sevenths<int>({70'001, 3}), narrow = sevenths<int>({40, 3});
    CHECK(array_equal(sum(wide, 0) + sum(narrow, 0), eval(sum(wide, 0)) + eval(sum(narrow, 0))).item());
}
