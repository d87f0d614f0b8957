// Folds and maps of scans along their rows against NumPy 2, and that they are one kernel.
#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::comparison;
using testing::over;

namespace {

/// Small integers; floats about 1 or -1, some of them NaN.
template <class T>
array<T> values(const shape_like& shape, unsigned seed, double nans = 0) {
    std::mt19937 random(seed);
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> v(static_cast<std::size_t>(n));
    for (T& x : v) {
        const int spread = static_cast<int>(random() % 9) - 4;
        if constexpr (std::is_floating_point_v<T>)
            x = static_cast<int>(random() % 1000) < static_cast<int>(nans * 1000)
                    ? std::numeric_limits<T>::quiet_NaN()
                    : static_cast<T>((spread < 0 ? -1 : 1) + spread / 4096.0);
        else
            x = static_cast<T>(spread);
    }
    return asarray<T>(v, shape);
}

const auto drawdown = [](const auto& x, int axis) { return min(x / cummax(x, axis) - 1, axis); };
const auto widest = [](const auto& x, int axis) { return max(cummax(x, axis) - cummin(x, axis), axis); };
const auto share = [](const auto& x, int axis) { return cumsum(x, axis) / sum(x, axis, keepdims); };
const auto greatest = [](const auto& x, int axis) { return max(cumsum(x, axis), axis); };
const auto place_of_greatest = [](const auto& x, int axis) { return argmax(cumsum(x, axis), axis); };
const auto growth = [](const auto& x, int axis) {
    using T = typename std::remove_cvref_t<decltype(x)>::value_type;
    return mean(exp(cumsum(x / static_cast<T>(x.shape()[axis]), axis)), axis);
};
const auto less_mean = [](const auto& x, int axis) { return x - mean(cumsum(x, axis), axis, keepdims); };
const auto distribution = [](const auto& x, int axis) { return cumsum(softmax(x, axis), axis); };
const auto centred = [](const auto& x, int axis) { return sum(abs(cumsum(x - mean(x, axis, keepdims), axis)), axis); };
const auto above_least = [](const auto& x, int axis) {
    return max(cumsum(x, axis) - cummin(cumsum(x, axis), axis), axis);
};
const auto twice = [](const auto& x, int axis) { return cumsum(cumsum(x, axis), axis); };

/// Checks that one kernel computes the result, and that it is NumPy's.
template <class T, class F>
void one_kernel(comparison& c, const char* operation, const array<T>& x, F f, int axis = 1) {
    array<typename decltype(f(x, axis))::value_type> made;
    INFO(std::string(operation) << " of " << std::string(name(array<T>::type)) << ", rows of " << x.shape()[axis]);
    CHECK(launches([&] { made = f(x, axis); }) == 1);
    c.add(operation, axes(axis), x, made);
}

}  // namespace

TEST_CASE("folds and maps of scans along their rows are NumPy's, and one kernel") {
    comparison c("scans.py");
    for (const index_t n : {2, 3, 17, 33, 100, 257, 515, 1025, 2520, 4096, 5000}) {
        const array<float> x = values<float>({7, n}, static_cast<unsigned>(n));
        one_kernel(c, "drawdown", x, drawdown);
        one_kernel(c, "distribution", x, distribution);
        one_kernel(c, "above_least", x, above_least);
        const array<double> y = values<double>({5, n}, static_cast<unsigned>(n), n > 50 ? 0.001 : 0);
        one_kernel(c, "drawdown", y, drawdown);
        one_kernel(c, "centred", y, centred);
        const array<std::int32_t> z = values<std::int32_t>({9, n}, static_cast<unsigned>(n));
        one_kernel(c, "place_of_greatest", z, place_of_greatest);
    }
    for (const index_t n : {31, 700, 3001}) {
        const array<float> x = abs(values<float>({3, n}, 1));
        one_kernel(c, "normed", x, share);
        one_kernel(c, "greatest_prefix", x, greatest);
        one_kernel(c, "mean_growth", x, growth);
        one_kernel(c, "less_mean_prefix", x, less_mean);
        one_kernel(c, "widest", x, widest);
        one_kernel(c, "prefixes_of_prefixes", x, twice);
        const array<std::int8_t> bytes = values<std::int8_t>({4, n}, 2);
        one_kernel(c, "widest", bytes, widest);
        one_kernel(c, "greatest_prefix", bytes, greatest);
        one_kernel(c, "prefixes_of_prefixes", values<std::int64_t>({4, n}, 3), twice);
    }
    c.run();
}

TEST_CASE("folds of scans of rows that begin anywhere, lie apart, or lie across memory, are NumPy's") {
    comparison c("scans.py");
    for (const index_t n : {6, 70, 601, 1203, 2519, 4001}) {
        const array<float> all_of_it = values<float>({5, n + 3}, 4);
        const array<float> odd = all_of_it(all, slice(1, n + 1)),
                           apart = values<float>({5, 2 * n}, 5)(all, slice(none, none, 2));
        one_kernel(c, "above_least", odd, above_least);
        one_kernel(c, "drawdown", std::as_const(all_of_it)(all, slice(1, n + 1)).eval(), drawdown);
        one_kernel(c, "normed", abs(apart).eval(), share);
        c.add("drawdown", axes(1), odd, eval(drawdown(std::as_const(all_of_it)(all, slice(1, n + 1)), 1)));
    }
    for (const index_t n : {2, 9, 30}) {
        one_kernel(c, "drawdown", values<float>({n, 700}, 6), drawdown, 0);
        one_kernel(c, "above_least", values<float>({n, 33}, 7), above_least, 0);
        one_kernel(c, "widest", values<std::int16_t>({n, 700}, 8), widest, 0);
        one_kernel(c, "above_least", values<float>({3, n, 40}, 9), above_least, 1);
    }
    for (const index_t n : {300, 3000})
        c.add("drawdown", axes(0), values<float>({n, 70}, 6), eval(drawdown(values<float>({n, 70}, 6), 0)));
    c.run();
}

TEST_CASE("rows that no kernel holds are scanned and folded apart") {
    comparison c("scans.py");
    for (const shape_like& shape : {shape_like{2, 70'000}, {1, 300'000}}) {
        const array<float> x = values<float>(shape, 1);
        c.add("drawdown", axes(1), x, eval(drawdown(x, 1)));
        c.add("distribution", axes(1), x, eval(distribution(x, 1)));
        c.add("above_least", axes(1), values<std::int32_t>(shape, 2),
              eval(above_least(values<std::int32_t>(shape, 2), 1)));
    }
    c.run();
}

TEST_CASE("scans and folds of a row in one statement are one kernel") {
    for (const index_t n : {50, 600, 3000}) {
        const array<std::int32_t> x = values<std::int32_t>({6, n}, 1);
        const array<std::int64_t> prefixes = cumsum(x, 1);
        const array<std::int32_t> greatest_of_rows = max(x, 1);
        CHECK(launches([&] {
                  const auto [c, m] = eval(cumsum(x, 1), max(x, 1));
                  CHECK(array_equal(c, prefixes).item());
                  CHECK(array_equal(m, greatest_of_rows).item());
              }) >= 1);
        CHECK(launches([&] { (void)eval(cumsum(x, 1), max(x, 1)); }) == 1);
        CHECK(launches([&] { (void)eval(cumsum(x, 1), max(cumsum(x, 1), 1)); }) == 1);
        CHECK(launches([&] { (void)eval(cummax(x, 1) - cummin(x, 1), x - min(cumsum(x, 1), 1, keepdims)); }) == 1);
        CHECK(explain(max(cumsum(x, 1), 1)).pattern == "row program");
    }
    const array<float> y = values<float>({7000}, 2);
    CHECK(launches([&] { (void)eval(max(cumsum(y)) - min(cumsum(y))); }) == 1);
    comparison c("scans.py");
    c.add("span_of_prefixes", {}, y, eval(max(cumsum(y)) - min(cumsum(y))));
    c.run();
}

TEST_CASE("random leaves are scanned and folded as arrays are") {
    const auto check = []<class T>(const auto& leaf, const array<T>& x, double tolerance) {
        CHECK(launches([&] { (void)eval(mean(exp(cumsum(leaf - T(0.5), 1)), 1)); }) == 1);
        CHECK(
            allclose(mean(exp(cumsum(leaf - T(0.5), 1)), 1), mean(exp(cumsum(x - T(0.5), 1)), 1), tolerance, 0).item());
        CHECK(array_equal(argmax(cummin(leaf, 1), 1), argmax(cummin(x, 1), 1)).item());
        CHECK(allclose(softmax(leaf, 1), softmax(x, 1), tolerance, 0).item());
    };
    for (const index_t n : {20, 251, 252, 3000}) {  // whole groups of numbers, or not
        const auto u = random::uniform<double>({40, n});
        check(u, array<double>(u), 1e-12);
        const auto v = random::uniform<float>({41, n});
        check(v, array<float>(v), 1e-4);
    }
}

TEST_CASE("the bits of a fold of a scan are the same every time") {
    const array<float> x = values<float>({50, 3000}, 4);
    const std::vector<float> first = eval(growth(x, 1)).to_host();
    for (int k = 0; k < 5; ++k) REQUIRE(eval(growth(x, 1)).to_host() == first);
}

TEST_CASE("in strict arithmetic prefixes that round are the scan's own kernel's") {
    const with_math math(strict);
    for (const index_t n : {100, 3000}) {
        const array<float> x = random::uniform<float>({20, n});
        const array<float> greatest_so_far = cummax(x, 1);
        CHECK(array_equal(min(x - cummax(x, 1), 1), min(x - greatest_so_far, 1)).item());
        CHECK(launches([&] { (void)eval(max(cumsum(x, 1), 1)); }) == 2);
        CHECK(launches([&] { (void)eval(min(x - cummax(x, 1), 1)); }) == 1);
    }
}
