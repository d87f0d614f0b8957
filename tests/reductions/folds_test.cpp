// Every fold, and functions composed of folds, against NumPy 2: dtypes, shapes, axes, strides, lengths 0 and 1, NaN.
// The folds of one operand are outputs of one kernel, so that kernels stay few.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "tests/drawn.hpp"
#include "tests/reductions/comparison.hpp"

using namespace ingot;
using testing::comparison;
using testing::over;

namespace {

/// Values that repeat, so that extremes tie; of floats about 1, so that products stay finite; `nans` of them NaN.
template <class T>
array<T> values(const shape_like& shape, unsigned seed, double nans = 0) {
    std::mt19937 random(seed);
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) {
        const int spread = static_cast<int>(random() % 9) - 4;
        if constexpr (std::is_same_v<T, bool>)
            v[i] = random() % 3 == 0;
        else if constexpr (std::is_floating_point_v<T>)
            v[i] = static_cast<int>(random() % 1000) < static_cast<int>(nans * 1000)
                       ? std::numeric_limits<T>::quiet_NaN()
                       : static_cast<T>((spread < 0 ? -1 : 1) + spread / 4096.0);
        else if (random() % 20 == 0)
            v[i] = random() % 2 ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
        else
            v[i] = static_cast<T>(spread);
    }
    return asarray<T>(v, shape);
}

// An overload set cannot be handed on.
#define OF(function) called(how, [&](const auto&... a) { return function(x, a...); })

/// The folds of one operand in one kernel.
template <class E>
void fold_all(comparison& c, const E& x, const over& how) {
    c.add_all<E>({"sum", "prod", "any", "all", "count_nonzero", "max", "min", "argmax", "argmin"}, how, x, OF(sum),
                 OF(prod), OF(any), OF(all), OF(count_nonzero), OF(max), OF(min), OF(argmax), OF(argmin));
}
/// Folds over several axes, for which NumPy has no positions.
template <class E>
void fold_axes(comparison& c, const E& x, const over& how) {
    c.add_all<E>({"sum", "prod", "any", "all", "count_nonzero", "max", "min"}, how, x, OF(sum), OF(prod), OF(any),
                 OF(all), OF(count_nonzero), OF(max), OF(min));
}
template <class E>
void made_of_folds(comparison& c, const E& x, const over& how) {
    c.add_all<E>({"mean", "norm", "logsumexp", "var", "std", "ptp"}, how, x, OF(mean), OF(norm), OF(logsumexp), OF(var),
                 OF(stddev), OF(ptp));
}
template <class E>
void made_without_nan(comparison& c, const E& x, const over& how) {
    c.add_all<E>({"nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanvar", "nanstd"}, how, x, OF(nansum),
                 OF(nanprod), OF(nanmax), OF(nanmin), OF(nanmean), OF(nanvar), OF(nanstddev));
}

template <class T>
void fold_dtype(comparison& c, unsigned seed) {
    fold_all(c, values<T>({5, 3000}, seed), axes(-1));     // rows of a warp, or of strips
    fold_all(c, values<T>({700, 40}, seed + 1), axes(0));  // columns
    fold_all(c, values<T>({300'001}, seed + 2), {});       // shared by blocks
}

}  // namespace

TEST_CASE("every fold of every dtype is NumPy's") {
    comparison c;
    fold_dtype<bool>(c, 1);
    fold_dtype<std::int8_t>(c, 2);
    fold_dtype<std::uint8_t>(c, 3);
    fold_dtype<std::int16_t>(c, 4);
    fold_dtype<std::uint16_t>(c, 5);
    fold_dtype<std::int32_t>(c, 6);
    fold_dtype<std::uint32_t>(c, 7);
    fold_dtype<std::int64_t>(c, 8);
    fold_dtype<std::uint64_t>(c, 9);
    fold_dtype<float>(c, 10);
    fold_dtype<double>(c, 11);
    c.run();
}

TEST_CASE("short rows, axes, strides and views of every kind") {
    comparison c;
    fold_all(c, values<bool>({37, 11}, 12), axes(1));
    fold_all(c, values<std::int8_t>({37, 11}, 13), axes(1));
    fold_all(c, values<std::uint16_t>({37, 11}, 14), axes(1));
    fold_all(c, values<float>({37, 11}, 15), axes(1));
    const array<float> x = values<float>({6, 7, 8, 9}, 20);
    fold_all(c, x, axes(1));
    fold_axes(c, x, axes{0, 2});
    fold_axes(c, x, axes{-1, 1});
    fold_axes(c, x, axes{1, 2, 3, 0});
    fold_all(c, x(all, slice(none, none, 2), all, slice(8, 1, -3)), axes(3));
    fold_all(c, transpose(x), axes(0));
    fold_all(c, transpose(x), {});
    fold_all(c, broadcast_to(values<float>({1, 50}, 21), {20, 50}), axes(0));
    fold_all(c, values<float>({40'000, 3}, 22), axes(0));  // few long columns
    fold_all(c, values<float>({3, 40'000}, 23), axes(1));  // few long rows
    fold_all(c, values<float>({2000, 33}, 24), axes(1));   // many rows, odd
    c.run();
}

TEST_CASE("few rows of hundreds of thousands, each of which several blocks share") {
    comparison c;
    const over how = axes(1);
    const array<float> x = values<float>({5, 262'145}, 30), more = values<float>({20, 262'149}, 31);
    fold_all(c, x, how);
    fold_all(c, x(all, slice(2, none)), how);
    made_of_folds(c, x, how);
    made_of_folds(c, values<double>({3, 300'001}, 32), how);
    fold_all(c, values<std::int16_t>({3, 300'001}, 33), how);
    c.add_all<array<float>>({"sum", "max"}, how, more, sum(more, 1), max(more, 1));
    c.add_all<array<float>>({"mean", "var"}, how, more, mean(more, 1), var(more, 1));
    c.run();
    // A number of the row's own, before and after.
    const array<float> of_row = values<float>({20, 1}, 34);
    const auto sums = eval(sum(more * of_row, 1) - ravel(of_row)).to_host(), plain = eval(sum(more, 1)).to_host();
    const auto factors = of_row.to_host();
    for (std::size_t i = 0; i < sums.size(); ++i)
        CHECK(sums[i] == doctest::Approx(plain[i] * factors[i] - factors[i]).epsilon(1e-4));
}

TEST_CASE("of so many elements that the last of them are dealt to whoever comes first") {
    constexpr std::size_t n = (std::size_t{1} << 27) + 37;
    std::vector<std::int8_t> v(n);
    std::int64_t total = 0, threes = 0;
    for (std::size_t i = 0; i < n; ++i) {
        v[i] = static_cast<std::int8_t>(i * 7 % 90 % 64);
        total += v[i];
        threes += v[i] == 3;
    }
    for (const std::size_t at :
         test::drawn<std::size_t>({0, n - 1, n - (std::size_t{1} << 21), n - (std::size_t{1} << 25)})) {
        const std::int64_t was = std::exchange(v[at], std::int8_t{-100});
        const array<std::int8_t> x = asarray(v);
        for (int turn = 0; turn < 3; ++turn) {  // each leaves the scratch as it was
            CHECK(min(x).item() == -100);
            CHECK(argmin(x).item() == static_cast<std::int64_t>(at));
            CHECK(sum(x).item() == total - was - 100);
            CHECK(count_nonzero(x == 3).item() == threes - (was == 3));
            CHECK(any(x < -99).item());
            CHECK(max(x(slice(1, static_cast<index_t>(n)))).item() == 63);
        }
        v[at] = static_cast<std::int8_t>(was);
    }
}

TEST_CASE("bytes that are so much work that a lane has one vector at a time, of lengths that end anywhere") {
    for (const std::size_t n : {(std::size_t{1} << 20) + 13, (std::size_t{1} << 21) + 4099, std::size_t{700'001}}) {
        std::vector<std::int8_t> v(n);
        std::int64_t wanted = 0;
        double nearest = 1;
        for (std::size_t i = 0; i < n; ++i) {
            v[i] = static_cast<std::int8_t>(i * i % 251);
            const double f = v[i] / 64.0;
            const double value = std::sin(3 * std::exp(std::cos(f))) + std::cos(2 * std::exp(std::sin(f)));
            wanted += value > 0.25;
            nearest = std::min(nearest, std::abs(value - 0.25));
        }
        REQUIRE(nearest > 1e-4);  // however the functions are rounded
        const auto f = astype<float>(asarray(v)) / 64.0f;
        CHECK(count_nonzero(sin(3.0f * exp(cos(f))) + cos(2.0f * exp(sin(f))) > 0.25f).item() == wanted);
    }
}

TEST_CASE("narrow columns of every width, alone and on middle axes") {
    comparison c;
    const auto fold_columns = [&](const auto& x, index_t axis) {
        const over how = axes(axis);
        c.add_all<std::decay_t<decltype(x)>>({"sum", "max", "count_nonzero"}, how, x, OF(sum), OF(max),
                                             OF(count_nonzero));
        c.add_all<std::decay_t<decltype(x)>>({"mean", "var"}, how, x, OF(mean), OF(var));
    };
    for (const index_t width : test::drawn<index_t>({2, 3, 5, 8, 31, 33, 61, 64, 100, 129, 255, 256, 257})) {
        const auto seed = static_cast<unsigned>(width);
        fold_columns(values<float>({70'001 / width + 600, width}, 40 + seed), 0);
        fold_columns(values<float>({3, 1111, width}, 41 + seed), 1);
        fold_columns(values<double>({37, 130 + width % 7, width}, 42 + seed), 1);
    }
    for (const index_t length : test::drawn<index_t>({20'001, 66'001})) {
        fold_columns(values<float>({2, length, 37}, 43), 1);
        fold_columns(values<double>({2, length, 33}, 44), 1);
    }
    for (const auto& [length, width] : test::drawn<std::array<index_t, 2>>({{4500, 130}, {9001, 250}, {17'000, 65}})) {
        const array<float> x = values<float>({3, length, width}, 46);
        fold_columns(x, 1);
        c.add("logsumexp", axes(1), x, eval(logsumexp(x, 1)));
        fold_columns(values<double>({2, length, width - 1}, 47), 1);
    }
    fold_columns(values<float>({300, 1100, 9}, 45), 1);  // more places than blocks at once
    fold_columns(values<float>({70, 4100, 33}, 48), 1);
    c.run();
}

TEST_CASE("wide columns whose rows begin anywhere, on middle axes of all lengths") {
    comparison c;
    for (const auto& [outer, length, width] : test::drawn<std::array<index_t, 3>>({{5, 2, 300},
                                                                                   {7, 3, 257},
                                                                                   {3, 8, 260},
                                                                                   {2, 16, 1001},
                                                                                   {3, 40, 999},
                                                                                   {2, 65, 512},
                                                                                   {3, 100, 257},
                                                                                   {2, 129, 1030},
                                                                                   {3, 513, 259},
                                                                                   {2, 1025, 402},
                                                                                   {1, 1100, 301}})) {
        const auto seed = static_cast<unsigned>(100 * length + width);
        fold_all(c, values<float>({outer, length, width}, seed), axes(1));
        fold_all(c, values<double>({outer, length, width}, seed + 1), axes(1));
        made_of_folds(c, values<float>({outer, length, width}, seed + 2), axes(1));
    }
    c.run();
    // A NaN at the last position affects only its own column.
    array<float> x = values<float>({2, 600, 301}, 77);
    x(-1, -1, -1) = std::numeric_limits<float>::quiet_NaN();
    CHECK(eval(count_nonzero(isnan(max(x, 1)))).item() == 1);
    CHECK(eval(count_nonzero(isnan(sum(x, 1)))).item() == 1);
}

TEST_CASE("wide columns whose rows begin anywhere, of lengths that end in any tile of any block") {
    for (const index_t width : {257, 298, 1031})
        for (index_t n = 1030; n < 1400; n += 37) {
            const array<float> x = reshape(mod(arange<float>(2 * n * width), 7.f), {2, n, width});
            const std::vector<float> got = sum(x, 1).eval().to_host(), every = x.to_host();
            std::vector<float> wanted(got.size());
            for (std::size_t i = 0; i < every.size(); ++i) {
                const std::size_t wide = static_cast<std::size_t>(width), plane = every.size() / 2;
                wanted[i / plane * wide + i % wide] += every[i];
            }
            CHECK(got == wanted);
        }
}

TEST_CASE("short columns on middle axes") {
    comparison c;
    for (const auto& [outer, length, width] : {std::array<index_t, 3>{5003, 2, 2},
                                               {3001, 2, 5},
                                               {777, 3, 31},
                                               {500, 18, 2},
                                               {301, 32, 17},
                                               {201, 33, 3},
                                               {13, 128, 31},
                                               {2, 128, 30},
                                               {61, 180, 3},
                                               {17, 508, 6},
                                               {9, 700, 5},
                                               {3, 100, 2}}) {
        const auto seed = static_cast<unsigned>(100 * length + width);
        fold_all(c, values<float>({outer, length, width}, seed), axes(1));
        fold_all(c, values<double>({outer, length, width}, seed + 1), axes(1));
        fold_all(c, values<std::int8_t>({outer, length, width}, seed + 2), axes(1));
        made_of_folds(c, values<float>({outer, length, width}, seed + 3), axes(1));
    }
    c.run();
}

TEST_CASE("lengths 1 and 0") {
    comparison c;
    fold_all(c, values<float>({5, 1}, 30), axes(1));
    fold_all(c, values<std::int16_t>({1}, 31), {});
    fold_all(c, values<double>({}, 32), {});
    const array<float> nothing = zeros<float>({0, 4});
    const auto of_nothing = [&](const auto& x, const over& how) {
        c.add_all({"sum", "prod", "any", "all", "count_nonzero", "mean", "nansum"}, how, x, OF(sum), OF(prod), OF(any),
                  OF(all), OF(count_nonzero), OF(mean), OF(nansum));
    };
    for (const over& how : {over(axes(0)), over(axes(1)), over()}) of_nothing(nothing, how);
    c.add("max", axes(1), nothing, eval(max(nothing, 1)));
    c.run();
}

TEST_CASE("the first NaN wins among places, every NaN among extremes") {
    comparison c;
    fold_all(c, values<float>({60, 40}, 40, 0.02), axes(1));
    fold_all(c, values<double>({700, 40}, 41, 0.001), axes(0));
    fold_all(c, values<float>({300'001}, 42, 0.001), {});
    const double inf = std::numeric_limits<double>::infinity();
    fold_all(c, array<double>{{-inf, -inf}, {inf, -inf}, {inf, inf}}, axes(1));
    c.run();
}

TEST_CASE("what is made of folds is NumPy's") {
    comparison c;
    over kept(axes{0, 2});
    kept.keep = true;
    made_of_folds(c, values<float>({30, 40}, 50), axes(1));
    made_of_folds(c, values<double>({30, 40}, 51), axes(0));
    made_of_folds(c, values<std::int16_t>({30, 40}, 52), {});
    made_of_folds(c, values<float>({6, 5, 4}, 53), kept);
    made_without_nan(c, values<float>({20, 30}, 54, 0.3), axes(1));
    made_without_nan(c, full<float>({20, 30}, std::numeric_limits<float>::quiet_NaN()), axes(1));
    made_without_nan(c, values<double>({6, 5, 4}, 55, 0.3), kept);
    made_without_nan(c, values<std::int32_t>({30, 40}, 56), {});

    over sample = axes(1);
    sample.delta = 1;
    const array<double> x = values<double>({9, 8}, 57), one = values<double>({3, 1}, 58);
    c.add("var", sample, x, eval(var(x, 1, ddof(1))));
    c.add("std", sample, x, eval(stddev(x, 1, ddof(1))));
    c.add("var", sample, one, eval(var(one, 1, ddof(1))));
    const array<double> holes = values<double>({9, 8}, 59, 0.6);
    c.add("nanvar", sample, holes, eval(nanvar(holes, 1, ddof(1))));
    c.add("nanstd", sample, one, eval(nanstddev(one, 1, ddof(1))));
    sample.keep = true;
    c.add("var", sample, x, eval(var(x, 1, ddof(1), keepdims)));
    c.run();
}

TEST_CASE("a large mean costs the variance no digits") {
    const array<float> x = 10'000 + random::normal<float>({1 << 18});
    const array<double> wide = x;
    CHECK(var(x).item() == doctest::Approx(var(wide).item()).epsilon(1e-5));
}

TEST_CASE("extremes of nothing throw when they are written") {
    const array<float> x = zeros<float>({0, 4});
    CHECK_THROWS_WITH_AS((void)max(x), "[max] of no elements has no result: an axis of extent 0 is reduced",
                         shape_error);
    CHECK_THROWS_AS((void)min(x, 0), shape_error);
    CHECK_THROWS_AS((void)argmax(x), shape_error);
    CHECK_THROWS_AS((void)argmin(x, 0, keepdims), shape_error);
    CHECK_THROWS_AS((void)ptp(x, 0), shape_error);
    CHECK_THROWS_AS((void)nanmax(x, 0), shape_error);
    CHECK_THROWS_WITH_AS((void)nanargmin(x, 0),
                         "[nanargmin] of no elements has no result: an axis of extent 0 is reduced", shape_error);
    CHECK_THROWS_AS((void)max(zeros<float>({0, 0}), 0), shape_error);
    CHECK(max(x, 1).eval().size() == 0);
    CHECK_THROWS_WITH_AS((void)mean(x, 2), "[mean] axis 2 is out of range for rank 2", shape_error);
    CHECK_THROWS_AS((void)var(x, {1, 1}), shape_error);
}

TEST_CASE("of two vectors: the sum of products in the dtype they promote to") {
    const array<int> i{1, 2, 3}, j{4, 5, 6};
    const array<std::int8_t> k{100, 100, 3};
    static_assert(std::is_same_v<decltype(dot(i, j))::value_type, int>);
    CHECK(dot(i, j).item() == 32);
    CHECK(inner(i, j + 1).item() == 38);
    CHECK(vdot(k, k).item() == static_cast<std::int8_t>(20'009));
    CHECK(dot(i, array<double>{1, 0.5, 0.25}).item() == 2.75);
    CHECK(dot(array<bool>{true, false}, array<bool>{true, true}).item());
    CHECK_THROWS_WITH_AS((void)dot(i, array<int>{1, 2}),
                         "[dot] shapes (3,) and (2,): two vectors of one length are wanted", shape_error);
    CHECK(trace(array<int>{{1, 2, 3}, {4, 5, 6}}).item() == 6);
    CHECK(trace(array<int>{{1, 2, 3}, {4, 5, 6}}, 1).item() == 8);
}

TEST_CASE("errors name the operation that was written, and what was given") {
    const array<double> x{{1, 2, 3}, {4, 5, 6}}, v{1, 2, 3, 4, 5};
    CHECK_THROWS_WITH_AS((void)average(x, 2), "[average] axis 2 is out of range for rank 2", shape_error);
    CHECK_THROWS_WITH_AS((void)average(x, 0, v),
                         "[average] a vector of shape (5,) along axis 0 of shape (2, 3): one of its length is wanted",
                         shape_error);
    CHECK_THROWS_WITH_AS((void)average(x, v), "[average] shapes (2, 3) and (5,) do not broadcast", shape_error);
    CHECK_THROWS_WITH_AS((void)allclose(x, v), "[allclose] shapes (2, 3) and (5,) do not broadcast", shape_error);
    CHECK_THROWS_WITH_AS((void)trace(v), "[trace] shape (5,): two axes at least are wanted", shape_error);
    CHECK_THROWS_WITH_AS((void)trace(x, 0, 0, 2), "[trace] axis 2 is out of range for rank 2", shape_error);
    CHECK_THROWS_WITH_AS((void)gradient(x, 1.0, 2), "[gradient] axis 2 is out of range for rank 2", shape_error);
    CHECK_THROWS_WITH_AS((void)trapezoid(x, v),
                         "[trapezoid] a vector of shape (5,) along axis 1 of shape (2, 3): one of its length is wanted",
                         shape_error);
    CHECK_THROWS_WITH_AS((void)trapezoid(x, array<double>(reshape(arange<double>(8), {2, 4}))),
                         "[trapezoid] shapes (2, 3) and (2, 4) do not broadcast", shape_error);
}

TEST_CASE("averages, and questions about whole arrays") {
    const array<double> x{{1, 2, 3}, {4, 5, 6}}, same = x + 0, near = x * (1 + 1e-7);
    CHECK(average(x).item() == 3.5);
    CHECK(average(x, 0, array<double>{1, 3}).to_host() == std::vector<double>{3.25, 4.25, 5.25});
    CHECK(average(x, 1, array<double>{1, 1, 2}).to_host() == std::vector<double>{2.25, 5.25});
    CHECK(average(x, x).item() == doctest::Approx(91.0 / 21));
    CHECK(average(x, x, keepdims).shape() == shape_like{1, 1});
    const array<float> single{1, 2, 3}, weights{16777216, 1, 1};  // their sum is not representable in float
    const array<std::int8_t> ones{1, 1, 1};
    static_assert(std::is_same_v<decltype(average(single, ones))::value_type, float>);
    CHECK(average(single, ones).item() == 2);
    const double exact = (16777216.0 + 2 + 3) / 16777218.0;
    CHECK(average(array<double>{1, 2, 3}, weights).item() == exact);
    CHECK(average(array<int>{1, 2, 3}, weights).item() == exact);
    CHECK(array_equal(x, same).item());
    CHECK_FALSE(array_equal(x, near).item());
    CHECK_FALSE(array_equal(x, x(0)).item());
    CHECK(allclose(x, near).item());
    CHECK_FALSE(allclose(x, near, 1e-9, 0).item());
    const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(allclose(array<double>{inf, 1}, array<double>{inf, 1}).item());
    CHECK_FALSE(allclose(array<double>{inf, 1}, array<double>{-inf, 1}).item());
    CHECK_FALSE(allclose(array<double>{nan}, array<double>{nan}).item());
    CHECK(all(x > 0, 1, keepdims).shape() == shape_like{2, 1});
    CHECK(x(all, 1).to_host() == std::vector<double>{2, 5});
}

TEST_CASE("columns beside a map of another array, of which blocks hold a part in shared memory") {
    // Both arrays are read by the first phase, and lie in shared memory at once.
    for (const index_t width : {12, 16}) {
        const array<double> x = values<double>({2720, width}, 41), y = values<double>({2720, width}, 42);
        const auto [total, twice] = eval(sum(x, 0), y * 2.0);
        const std::vector<double> of_x = x.to_host(), of_y = y.to_host(), sums = total.to_host(), map = twice.to_host();
        const auto columns = static_cast<std::size_t>(width);
        for (std::size_t c = 0; c < columns; ++c) {
            double wanted = 0, size = 0;
            for (std::size_t i = c; i < of_x.size(); i += columns) wanted += of_x[i], size += std::abs(of_x[i]);
            CHECK(std::abs(sums[c] - wanted) <= 1e-14 * size);
        }
        for (std::size_t i = 0; i < map.size(); ++i) REQUIRE(map[i] == 2 * of_y[i]);
    }
}
