// Masks beside other indices: the indices of their true elements, in the place of their axes.
#include <doctest/doctest.h>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

array<int> counted(const std::vector<index_t>& shape) {
    index_t size = 1;
    for (const index_t n : shape) size *= n;
    return array<int>(reshape(arange<int>(static_cast<int>(size)), shape));
}

}  // namespace

TEST_CASE("a mask beside other indices has its axis's extent, or an error names the axis") {
    array<int> m = counted({3, 4});
    const array<bool> two{true, true}, five{true, true, true, true, true};
    const array<int> i{2, 0, 1};
    const std::string at_1 =
        "[index] a mask of shape (2,) whose axis 0 selects along axis 1 of shape (3, 4); it has to have that axis's "
        "extent";
    CHECK(thrown<shape_error>([&] { (void)m(all, two); }) == at_1);
    CHECK(thrown<shape_error>([&] { m(all, two) = 1; }) == at_1);
    CHECK(thrown<shape_error>([&] { (void)m(1, two); }) == at_1);
    CHECK(thrown<shape_error>([&] { (void)m(i, two); }) == at_1);
    CHECK_THROWS_AS((void)m(two, i), shape_error);
    CHECK_THROWS_AS((void)m(i, five), shape_error);
    CHECK_THROWS_AS((void)m(ellipsis, five), shape_error);
    CHECK_THROWS_AS((void)(m + 1)(all, five), shape_error);
    CHECK_THROWS_AS((void)lazy<int>(m)(five, all), shape_error);
    CHECK_THROWS_AS((void)m(all, zeros<bool>({3, 4})), index_error);
    CHECK_THROWS_AS((void)m(zeros<bool>({3}), zeros<bool>({4}), all), index_error);
    CHECK(holds(m, {3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST_CASE("masks of several axes stand beside other indices") {
    array<int> c = counted({2, 3, 4});
    const array<bool> fives(c(0) % 5 == 0);
    CHECK(holds(c(all, fives), {2, 3}, {0, 5, 10, 12, 17, 22}));
    CHECK(holds(c(1, fives), {3}, {12, 17, 22}));
    CHECK(holds(c(ellipsis, fives), {2, 3}, {0, 5, 10, 12, 17, 22}));
    CHECK(holds(c(array<int>{0, 1, 0}, fives), {3}, {0, 17, 10}));
    CHECK(holds(c(c(all, all, 0) % 8 == 0, array<int>{1, 2, 3}), {3}, {1, 10, 19}));
    CHECK(holds((c * 2)(all, fives), {2, 3}, {0, 10, 20, 24, 34, 44}));
    c(all, fives) = -1;
    CHECK(sum(c == -1).item() == 6);
    c(1, fives) = array<int>{7, 8, 9};
    CHECK(holds(c(1, fives), {3}, {7, 8, 9}));
    CHECK(holds(c(0, fives), {3}, {-1, -1, -1}));
    scatter_add(c(all, fives), 1);
    CHECK(holds(c(all, fives), {2, 3}, {0, 0, 0, 8, 9, 10}));
    c.T()(fives.T(), all) = 5;
    CHECK(sum(c == 5).item() == 6);
}

TEST_CASE("masks of no axes and bools are new axes of extent 1 or 0") {
    array<int> m = counted({3, 4});
    const array<bool> yes = full<bool>({}, true), no = full<bool>({}, false);
    CHECK(m(yes).shape() == shape_like{1, 3, 4});
    CHECK(m(no).shape() == shape_like{0, 3, 4});
    CHECK(m(all, true).shape() == shape_like{3, 1, 4});
    CHECK(m(true, 1).shape() == shape_like{1, 4});
    CHECK(m(false, all, all).shape() == shape_like{0, 3, 4});
    CHECK(m(all, true, 1).shape() == shape_like{3, 1});
    CHECK(holds(m(all, true, array<int>{2, 0}), {3, 2}, {2, 0, 6, 4, 10, 8}));
    m(no) = 9;
    CHECK(sum(m).item() == 66);
    m(yes) = 9;
    CHECK(sum(m).item() == 108);
    array<double> number = full<double>({}, 3.0);
    CHECK(holds(number(number > 0), {1}, {3}));
    number(number > 0) = 4;
    CHECK(number.item() == 4);
    number(number > 5) = 7;
    CHECK(number.item() == 4);
}

TEST_CASE("masks of extent 0 select nothing") {
    CHECK(zeros({0, 3})(zeros<bool>({0, 3})).shape() == shape_like{0});
    CHECK(zeros({0, 3})(zeros<bool>({0})).shape() == shape_like{0, 3});
    CHECK(zeros({2, 0})(all, zeros<bool>({0})).shape() == shape_like{2, 0});
    CHECK(zeros({2, 0, 3})(1, zeros<bool>({0, 3})).shape() == shape_like{0});
}
