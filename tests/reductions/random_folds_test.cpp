// Folds and scans of random leaves, whose threads draw whole groups of numbers, against those of arrays of the same
// numbers: for any beginning of the leaf's view, any length of its rows, and beside arrays.
#include <ingot/ingot.hpp>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

template <class T>
void check(const array<T>& got, const array<T>& wanted) {
    CHECK(got.shape() == wanted.shape());
    if constexpr (std::floating_point<T>)
        CHECK(allclose(got, wanted, sizeof(T) == 4 ? 2e-5 : 1e-12, sizeof(T) == 4 ? 1e-5 : 1e-13).item());
    else
        CHECK(eval(all(got == wanted)).item());
}

/// A function of a leaf must equal the function of an array of its numbers.
template <class Leaf, class F>
void check(const Leaf& leaf, const F& f) {
    const array<typename Leaf::value_type> numbers = leaf;
    check(eval(f(leaf)), eval(f(numbers)));
}

template <class Leaf>
void check_folds(const Leaf& leaf, int axis) {
    const array<typename Leaf::value_type> x = leaf;
    const auto folds = [&](const auto& e) { return eval(mean(e, axis), argmax(e, axis), var(e * e - 2, axis)); };
    const auto [mean_of_leaf, place_of_leaf, variance_of_leaf] = folds(leaf);
    const auto [mean_of_array, place_of_array, variance_of_array] = folds(x);
    check(mean_of_leaf, mean_of_array);
    check(place_of_leaf, place_of_array);
    check(variance_of_leaf, variance_of_array);
}

}  // namespace

TEST_CASE_TEMPLATE("rows and columns of random numbers, of every length and beginning", T, float, double) {
    random::generator g(3);
    for (const index_t columns : {4, 37, 260})
        for (const index_t rows : {2, 45}) {
            if (rows == 2 && columns != 37) continue;
            const auto leaf = g.uniform<T>({rows, columns});
            check_folds(leaf, 0);
            check_folds(leaf, 1);
            if (columns > 4) check(leaf(all, slice(3, none)), [](const auto& x) { return sum(x, 1); });
            if (columns > 4) check(leaf(all, slice(1, none, 2)), [](const auto& x) { return sum(x, 0); });
            check(transpose(leaf), [](const auto& x) { return max(x, 0); });
        }
}

TEST_CASE("all random numbers, of many blocks") {
    random::generator g(4);
    for (const index_t n : {5, 4096, 70'001}) {
        check(g.normal<float>({n}), [](const auto& x) { return mean(x); });
        check(g.uniform<float>({n}), [](const auto& x) { return argmin(x); });
        const auto u = g.uniform<float>({n}), v = g.uniform<float>({n});
        const array<float> a = u, b = v;
        CHECK(eval(count_nonzero(u * u + v * v < 1)).item() == eval(count_nonzero(a * a + b * b < 1)).item());
    }
    check(g.uniform<double>({40'000, 3}), [](const auto& x) { return sum(x, 0); });
    check(g.uniform<float>({3, 40'000}), [](const auto& x) { return var(x, 1); });
}

TEST_CASE("random numbers beside arrays that are folded with them") {
    random::generator g(5);
    for (const index_t columns : {4, 7, 64, 1030}) {
        const array<float> weights = 1 + astype<float>(reshape(arange<int>(9 * columns), {9, columns})) / 100;
        const auto noise = g.normal<float>({9, columns});
        check(noise, [&](const auto& x) { return sum(x * weights, 0); });
        check(noise, [&](const auto& x) { return sum(x * weights, 1); });
        check(noise(slice(1, 2)), [&](const auto& x) { return sum(x * weights, 0); });
    }
}

TEST_CASE("scans of random numbers") {
    random::generator g(6);
    for (const index_t columns : {4, 37, 300}) {
        const auto steps = g.normal<float>({20, columns});
        check(steps, [](const auto& x) { return cumsum(x, 0); });
        check(steps, [](const auto& x) { return cumsum(x * x, 1); });
        check(steps(all, slice(1, none)), [](const auto& x) { return cumsum(x, 1); });
    }
}

TEST_CASE("normal numbers have mean 0 and deviation 1") {
    random::generator g(7);
    const array<float> x = g.normal<float>({100'000});
    CHECK(std::abs(eval(mean(x)).item()) < 0.02);
    CHECK(std::abs(eval(var(x)).item() - 1) < 0.02);
    CHECK(eval(max(abs(x))).item() < 7);
}
