#include <algorithm>
#include <random>

#include "expect.hpp"

using namespace ingot;

TEST_CASE("integers, slices, newaxis and ellipsis") {
    const array<int> x = counted({2, 3, 4});
    CHECK(x(1, 2, 3).item() == 23);
    CHECK(x(-1, -2, -3).item() == 17);
    CHECK(holds(x(1, 2), {4}, {20, 21, 22, 23}));
    CHECK(holds(x(0, all, 1), {3}, {1, 5, 9}));
    CHECK(holds(x(1, slice(1, -1), slice(none, none, 2)), {1, 2}, {16, 18}));
    CHECK(holds(x(ellipsis, 0), {2, 3}, {0, 4, 8, 12, 16, 20}));
    CHECK(holds(x(1, ellipsis, 0), {3}, {12, 16, 20}));
    CHECK(holds(x(1, ellipsis, 0, 0), {}, {12}));
    CHECK(holds(x(1, 0, newaxis, slice(2)), {1, 2}, {14, 15}));
    CHECK(x(newaxis, ellipsis, newaxis).shape() == shape_like{1, 2, 3, 4, 1});
    CHECK(x().shape() == x.shape());
}

TEST_CASE("slices clamp and step as NumPy's do") {
    const array<int> x = counted({6});
    CHECK(holds(x(slice(2)), {4}, {2, 3, 4, 5}));
    CHECK(holds(x(slice(-2)), {2}, {4, 5}));
    CHECK(holds(x(slice(none, 2)), {2}, {0, 1}));
    CHECK(holds(x(slice(1, 100)), {5}, {1, 2, 3, 4, 5}));
    CHECK(holds(x(slice(-100, 2)), {2}, {0, 1}));
    CHECK(holds(x(slice(4, 2)), {0}, {}));
    CHECK(holds(x(slice(9)), {0}, {}));
    CHECK(holds(x(slice(none, none, -1)), {6}, {5, 4, 3, 2, 1, 0}));
    CHECK(holds(x(slice(4, 0, -2)), {2}, {4, 2}));
    CHECK(holds(x(slice(none, -7, -2)), {3}, {5, 3, 1}));
    CHECK(holds(x(slice(100, none, -3)), {2}, {5, 2}));
    CHECK(holds(x(slice(0, none, 1000)), {1}, {0}));
    CHECK(holds(x(slice(none, none, std::numeric_limits<index_t>::min() + 1)), {1}, {5}));
}

TEST_CASE("bad indices throw and say which") {
    const array<int> x = counted({2, 3});
    CHECK(thrown<index_error>([&] { (void)x(2); }) == "[index] 2 is out of range for axis 0 of extent 2");
    CHECK(thrown<index_error>([&] { (void)x(0, -4); }) == "[index] -4 is out of range for axis 1 of extent 3");
    CHECK(thrown<index_error>([&] { (void)x(0, 0, 0); }) == "[index] 3 indices for an array of 2 axes");
    CHECK(thrown<index_error>([&] { (void)x(ellipsis, ellipsis); }) == "[index] more than one ellipsis");
    CHECK(thrown<index_error>([&] { (void)x(slice(0, 1, 0)); }) == "[index] slice step 0 on axis 0");
    CHECK_THROWS_AS((void)zeros<int>({0})(0), index_error);
    CHECK_THROWS_AS((void)(x + 1)(5), index_error);
}

TEST_CASE("a slice of a sum is the sum of slices") {
    const array<float> x{{1, 2, 3}, {4, 5, 6}};
    const array<float> row{10, 20, 30};
    const array<float> column = array<float>{100, 200}(all, newaxis);
    const auto e = x + row * 2 + column;
    CHECK(holds(e, {2, 3}, {121, 142, 163, 224, 245, 266}));
    CHECK(holds(e(1), {3}, {224, 245, 266}));
    CHECK(holds(e(all, 2), {2}, {163, 266}));
    CHECK(holds(e(slice(none, none, -1), slice(1)), {2, 2}, {245, 266, 142, 163}));
    CHECK(holds((e > 150)(1, newaxis), {1, 3}, {true, true, true}));
    CHECK(holds(where(x > 2, x, 0 - x)(0)(slice(1)), {2}, {-2, 3}));
    CHECK(holds(e(all, all, newaxis), {2, 3, 1}, {121, 142, 163, 224, 245, 266}));
    CHECK(holds((row + 1)(newaxis)*column, {2, 3}, {1100, 2100, 3100, 2200, 4200, 6200}));
}

TEST_CASE("views of views compose") {
    const array<int> x = counted({4, 5});
    CHECK(holds(x(slice(1))(slice(1))(all, slice(1, -1))(0), {3}, {11, 12, 13}));
    CHECK(holds(transpose(x)(slice(none, none, 2))(1), {4}, {2, 7, 12, 17}));
    CHECK(holds(flip(x(2)), {5}, {14, 13, 12, 11, 10}));
}

TEST_CASE("random slices agree with Python's rule, element for element") {
    std::mt19937 random(7);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
    for (int round = 0; round < 300; ++round) {
        const int n = draw(0, 7), m = draw(1, 5);
        const array<int> x = counted({n, m});
        const int step = draw(0, 1) ? draw(1, 3) : -draw(1, 3), start = draw(-9, 9), stop = draw(-9, 9);
        std::vector<int> rows;
        const auto end = [&](int e) { return std::clamp(e < 0 ? e + n : e, step > 0 ? 0 : -1, step > 0 ? n : n - 1); };
        for (int i = end(start); step > 0 ? i < end(stop) : i > end(stop); i += step) rows.push_back(i);
        const int column = draw(-m, m - 1);
        std::vector<int> expected;
        for (int i : rows) expected.push_back(i * m + (column + m) % m);
        CAPTURE(n);
        CAPTURE(start);
        CAPTURE(stop);
        CAPTURE(step);
        CHECK(holds(x(slice(start, stop, step), column), {rows.size()}, expected));
        CHECK(holds((x + x)(slice(start, stop, step), column) - x(slice(start, stop, step), column), {rows.size()},
                    expected));
    }
}
