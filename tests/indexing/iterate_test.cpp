// Steps applied over and over: the bits, kernels and memory of the loop that they stand for.
#include <algorithm>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

const slice low(0, -2), middle(1, -1), high(2, none);

array<float> wave(const shape_like& shape) {
    return sin(reshape(arange<float>(zeros<float>(shape).size()), shape) * 0.37F);
}

}  // namespace

TEST_CASE("iterate has the bits of the loop, and a kernel a step") {
    const array<float> start = wave({17, 33});
    const auto step = [](const auto& u) {
        return 0.25F * (u(low, middle) + u(high, middle) + u(middle, low) + u(middle, high));
    };
    for (const index_t n : {0, 1, 2, 7}) {
        array<float> wanted = start;
        for (index_t i = 0; i < n; ++i) {
            const array<float> inner = step(wanted);
            wanted(middle, middle) = inner;
        }
        const auto before = counters();
        const array<float> got = iterate(n, start, step);
        const auto after = counters();
        CHECK(array_equal(got, wanted).item());
        // An array is copied before its inside is written, so that it has the border; from two steps on, the other one
        // too.
        CHECK(after.kernel_launches - before.kernel_launches <=
              static_cast<std::uint64_t>(n + std::min<index_t>(n, 2)));
    }
    CHECK(array_equal(start, wave({17, 33})).item());
}

TEST_CASE("a step may be of the whole shape, use other arrays, and roll") {
    const array<double> start{1, 0, 0, 0, 0, 0}, weight = full<double>({6}, 0.5);
    const array<double> got = iterate(4, start, [&](const auto& u) { return weight * (roll(u, 1) + roll(u, -1)); });
    array<double> wanted = start;
    for (int i = 0; i < 4; ++i) wanted = array<double>(weight * (roll(wanted, 1) + roll(wanted, -1)));
    CHECK(array_equal(got, wanted).item());
    // With other dtypes the loop's statements convert.
    CHECK(array_equal(iterate(2, array<int>{1, 2}, [](const auto& u) { return u * 2.5; }), array<int>{5, 12}).item());
    CHECK(iterate(3, array<float>(zeros<float>({0, 4})), [](const auto& u) { return u + 1; }).shape() ==
          shape_like{0, 4});
    // Three dimensions, over a transposed array.
    const array<float> cube = transpose(wave({5, 6, 7}));
    const auto mean_of_two = [](const auto& u) { return (u(low, all, middle) + u(high, all, middle)) / 2; };
    array<float> by_hand = cube;
    for (int i = 0; i < 3; ++i) {
        const array<float> inner = mean_of_two(by_hand);
        by_hand(middle, all, middle) = inner;
    }
    CHECK(array_equal(iterate(3, cube, mean_of_two), by_hand).item());
}

TEST_CASE("steps that leave no array of the shape are refused, and nothing is changed") {
    const array<float> x{1, 2, 3, 4};
    const auto thrown = [](auto f) -> std::string {
        try {
            f();
        } catch (const shape_error& e) {
            return e.what();
        }
        return "nothing was thrown";
    };
    CHECK(thrown([&] { iterate(2, x, [](const auto& u) { return u(slice(1, none)) + 0; }); }) ==
          "[iterate] a step of an array of shape (4,) gave shape (3,): the same shape is wanted, or one that is as "
          "much smaller at both ends of each axis");
    CHECK(thrown([&] { iterate(1, x, [](const auto& u) { return sum(u); }); }) ==
          "[iterate] a step of an array of shape (4,) gave shape (): the same shape is wanted, or one that is as much "
          "smaller at both ends of each axis");
    CHECK(thrown([&] { iterate(-1, x, [](const auto& u) { return u + 1; }); }) ==
          "[iterate] -1 steps: a count that is not negative is wanted");
    CHECK(x.to_host() == std::vector<float>{1, 2, 3, 4});
}
