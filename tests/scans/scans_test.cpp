// Scans against NumPy 2: dtypes, lengths, axes, strides, NaN, and the trees and views around them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/reductions/comparison.hpp"
#include "tests/untested.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::comparison;
using testing::over;

namespace {

/// Small integers, true one time in three; floats about 1 or -1 and some of them NaN.
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
        else
            v[i] = static_cast<T>(random() % 20 == 0 ? static_cast<int>(random()) : spread);
    }
    return asarray<T>(v, shape);
}

template <class E>
void folds(comparison& c, const E& x, int axis) {
    c.add_all<E>({"cumsum", "cumprod", "cummax", "cummin"}, axes(axis), x, cumsum(x, axis), cumprod(x, axis),
                 cummax(x, axis), cummin(x, axis));
}
template <class E>
void folds_of_floats(comparison& c, const E& x, int axis) {
    folds(c, x, axis);
    c.add_all<E>({"nancumsum", "nancumprod", "logcumsumexp"}, axes(axis), x, nancumsum(x, axis), nancumprod(x, axis),
                 logcumsumexp(x, axis));
}
template <class T>
void fold_dtype(comparison& c, unsigned seed) {
    folds(c, values<T>({5, 1025}, seed), -1);
    folds(c, values<T>({70, 40}, seed + 1), 0);
    for (const index_t side : {5, 16, 64}) folds(c, values<T>({700, side}, seed + 2), 0);
}

}  // namespace

TEST_CASE("every scan of every dtype is NumPy's") {
    comparison c("scans.py");
    fold_dtype<bool>(c, 1);
    fold_dtype<std::int8_t>(c, 2);
    fold_dtype<std::uint8_t>(c, 3);
    fold_dtype<std::int16_t>(c, 4);
    fold_dtype<std::uint16_t>(c, 5);
    fold_dtype<std::int32_t>(c, 6);
    fold_dtype<std::uint32_t>(c, 7);
    fold_dtype<std::int64_t>(c, 8);
    fold_dtype<std::uint64_t>(c, 9);
    c.run();
}

TEST_CASE("scans of floats of every length are NumPy's, NaN and all") {
    comparison c("scans.py");
    for (const index_t n : {0, 1, 2, 31, 33, 1025, 40'000, 1'000'003}) {
        const array<float> x = values<float>(n, static_cast<unsigned>(n));
        folds_of_floats(c, x, 0);
        folds_of_floats(c, values<double>(n, 5, n > 2 ? 0.001 : 0), 0);
        c.add("cumsum", {}, x, eval(cumsum(x)));
    }
    folds_of_floats(c, values<double>({300, 257}, 6, 0.001), 0);
    folds_of_floats(c, values<float>({2, 3, 50}, 7), 1);
    folds_of_floats(c, values<float>({40, 3}, 8), 0);
    folds_of_floats(c, values<float>({3, 70'000}, 9), 1);
    folds_of_floats(c, values<float>({265, 2500}, 10), 1);  // rows in pairs, and one alone
    folds_of_floats(c, values<float>({266, 4096}, 11), 1);
    c.run();
}

TEST_CASE("scans of long columns of every width are NumPy's") {
    comparison c("scans.py");
    for (const shape_like& shape : {shape_like{600, 1}, {9000, 3}, {5000, 4}, {3000, 40}, {513, 130}, {70'000, 2}}) {
        folds(c, values<float>(shape, 1), 0);
        folds(c, values<double>(shape, 2), 0);
        folds(c, values<std::int8_t>(shape, 3), 0);
    }
    folds_of_floats(c, values<float>({2, 700, 33}, 4), 1);
    folds_of_floats(c, values<float>({3, 2100, 8}, 5), 1);
    for (const shape_like& shape : {shape_like{3, 5000, 4}, {2, 3000, 36}}) {
        const array<double> x = values<double>(shape, 6);
        c.add("cumsum", axes(1), x, eval(cumsum(x, 1)));
        const array<double>& fixed = x;
        c.add("cumsum", axes(0), fixed(0, all, slice(1, none)), eval(cumsum(fixed(0, all, slice(1, none)), 0)));
        c.add("row_for_all_rows", axes(1), x, eval(cumsum(x * x, 1) * fixed(all, slice(0, 1)) + fixed(0, 0)));
    }
    c.run();
}

TEST_CASE("scans of columns that a block has whole are NumPy's") {
    comparison c("scans.py");
    for (const index_t n : {2, 8, 17, 33, 64, 130, 300, 512})
        for (const index_t side : {2, 3, 4, 16, 31}) folds(c, values<float>({19, n, side}, 1), 1);
    for (const index_t n : {600, 1024, 3000, 8192}) folds(c, values<float>({3, n, n > 2000 ? 3 : 7}, 2), 1);
    for (const index_t n : {33, 100, 512}) {
        for (const index_t side : {32, 33, 130}) folds_of_floats(c, values<double>({2, n, side}, 3), 1);
        folds(c, values<std::int8_t>({9, n, 5}, 4), 1);
        folds_of_floats(c, values<double>({5, n, 6}, 5, 0.001), 1);
        const array<float> x = values<float>({7, n, 12}, 6);
        for (const index_t side : {5, 8, 12}) {
            const array<float> part = x(slice(1, none), slice(none, none, 2), slice(0, side));
            c.add("cumsum", axes(1), part, eval(cumsum(part, 1)));
            c.add("between", axes(1), part, eval(cumsum(part * part, 1) * 2 + part));
        }
        const array<float> swapped = transpose(x, axes({1, 0, 2}));
        c.add("cumsum", axes(0), swapped, eval(cumsum(swapped, 0)));
        c.add("row_for_all_rows", axes(1), x,
              eval(cumsum(x * x, 1) * std::as_const(x)(all, slice(0, 1)) + std::as_const(x)(0, 0)));
    }
    c.run();
    if (!current_device().is_cuda()) return ingot::test::untested_part("a GPU's schedules, for there is none here");
    for (const shape_like& shape : {shape_like{50, 100, 3}, {5, 1000, 8}, {4, 300, 100}})
        CHECK(explain(cumsum(values<float>(shape, 1), 1)).kernels[0].pattern == "column scan");
}

TEST_CASE("many tiles of columns: every prefix is there, run after run") {
    const array<std::int32_t> x = values<std::int32_t>({200'000, 33}, 7);
    const array<std::int32_t> y = values<std::int32_t>({1'100'000, 4}, 8);
    const auto differences_are = [](const auto& of) {
        const auto sums = eval(cumsum(of, 0));
        return array_equal(diff(sums, 1, 0), of(slice(1, none)) * std::int64_t{1}).item() &&
               array_equal(sums(0), of(0)).item();
    };
    const array<float> f = values<float>({300'000, 16}, 9);
    const std::vector<float> first = cumsum(f * f, 0).eval().to_host();
    for (int k = 0; k < 5; ++k) {
        REQUIRE(differences_are(x));
        REQUIRE(differences_are(y));
        REQUIRE(cumsum(f * f, 0).eval().to_host() == first);
    }
    CHECK(differences_are(values<std::int32_t>({263'000, 32}, 10)));
    const array<float> few = values<float>({263'000, 36}, 11);
    const array<float> once = cumsum(few, 0), again = cumsum(few, 0);
    CHECK(array_equal(once, again).item());
}

TEST_CASE("logcumsumexp keeps infinities, and large numbers do not overflow") {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    comparison c("scans.py");
    const array<double> x{-infinity, -infinity, 1e300, 1e300, infinity, -infinity};
    const array<double> y{-1000.0, -1000.5, 2.0, 800.0, std::numeric_limits<double>::quiet_NaN(), 1.0};
    const array<int> z{1, 2, 3};
    c.add("logcumsumexp", axes(0), x, eval(logcumsumexp(x, 0)));
    c.add("logcumsumexp", axes(0), y, eval(logcumsumexp(y, 0)));
    c.add("logcumsumexp", axes(0), z, eval(logcumsumexp(z, 0)));
    c.run();
}

TEST_CASE("a sum of negative zeros is one, however far it goes") {
    const auto all_negative = [](const auto& sums) {
        const auto values_of_sums = sums.to_host();
        return std::ranges::all_of(values_of_sums, [](auto v) { return v == 0 && std::signbit(v); });
    };
    for (const shape_like& shape : {shape_like{1, 2}, {3, 37}, {2, 700}, {5, 5000}, {2, 70'000}, {3000, 40}}) {
        const array<float> x = -zeros<float>(shape);
        const array<double> y = -zeros<double>(shape);
        for (const int axis : {0, 1}) {
            CHECK(all_negative(array<float>(cumsum(x, axis))));
            CHECK(all_negative(array<double>(cumsum(y, axis))));
        }
    }
    const array<float> x{-0.0f, 0.0f, -0.0f};
    const std::vector<float> sums = array<float>(cumsum(x)).to_host();
    CHECK(std::signbit(sums[0]));
    CHECK_FALSE(std::signbit(sums[1]));
    CHECK_FALSE(std::signbit(sums[2]));
}

TEST_CASE("of nothing, scans and folds of scans read nothing") {
    const auto is_zero = [](const auto& e) {
        CHECK(e.item() == 0);
        CHECK(explain(e).bytes_read() == 0);
    };
    const array<double> no_rows = zeros<double>({0, 5000}), no_columns = zeros<double>({5000, 0});
    is_zero(sum(ravel(sum(cumsum(no_rows, 0), 1))));
    is_zero(sum(cumsum(sum(cumsum(no_rows, 0), 1))));
    is_zero(sum(cumsum(max(cumsum(no_rows, 0), 1))));
    is_zero(sum(cumsum(sum(cumsum(no_columns, 1), 0))));
    is_zero(sum(reshape(cumsum(no_rows, 1), {0, 7})));
}

TEST_CASE("scans of strided arrays are NumPy's") {
    comparison c("scans.py");
    const array<float> m = values<float>({60, 90}, 1);
    const array<float>& fixed = m;
    for (const int axis : {0, 1}) {
        folds(c, transpose(fixed), axis);
        folds(c, fixed(all, slice(none, none, -2)), axis);
        folds(c, fixed(slice(3, 50, 7)), axis);
        folds(c, broadcast_to(fixed(slice(0, 1)), {20, 90}), axis);
    }
    c.add("cumsum", {}, transpose(fixed), eval(cumsum(transpose(fixed))));
    c.run();
}

TEST_CASE("scans of aligned rows that end anywhere are NumPy's") {
    comparison c("scans.py");
    for (const index_t n : {6, 33, 131, 1002, 3001, 4095, 9001, 20'003}) {
        const array<float> x = values<float>({3, (n + 4) / 4 * 4}, 1);
        const array<double> y = values<double>({2, (n + 2) / 2 * 2}, 2);
        folds(c, x(all, slice(0, n)), 1);
        folds(c, y(all, slice(0, n)), 1);
    }
    c.run();
}

TEST_CASE("views of scans, scans of views, and trees around them are NumPy's") {
    comparison c("scans.py");
    for (const shape_like& shape : {shape_like{50, 50}, {40, 300}, {300, 20}, {3, 40'000}}) {
        const array<double> x = values<double>(shape, 3);
        for (const int axis : {0, 1}) {
            const over along = axes(axis);
            c.add("flipped", along, x, eval(flip(cumsum(x, axis))));
            c.add("from_the_right", along, x, eval(flip(cumsum(flip(x, axis), axis), axis)));
            c.add("last", along, x, eval(moveaxis(cumsum(x, axis), axis, 0)(-1)));
            c.add("every_second", along, x, eval(cumsum(x, axis)(ellipsis, slice(1, none, 2))));
            c.add("transposed", along, x, eval(transpose(cumsum(x, axis))));
            c.add("between", along, x, eval(cumsum(x * x, axis) * 2 + x));
            c.add("twice", along, x, eval(cumsum(cumsum(x, axis), 0)));
            c.add("summed", along, x, eval(sum(cumsum(x, axis), axis)));
            c.add("normed", along, x, eval(cumsum(x, axis) / sum(x, axis, keepdims)));
            c.add("smoothed", along, x,
                  eval(cumsum(x, axis)(ellipsis, slice(3)) - cumsum(x, axis)(ellipsis, slice(0, -3))));
        }
        c.add("both_ways", {}, x, eval(cumsum(x, 0) + cumsum(x, 1)));
        c.add("of_a_sum", {}, x, eval(cumsum(sum(x, 1), 0)));
        c.add("row_for_all", {}, x, eval(cumsum(std::as_const(x)(0), 0) + x));
        c.add("reshaped", {}, x, eval(reshape(cumsum(x), shape) + 1));
        c.add("of_transposed", {}, x, eval(cumsum(transpose(x))));
    }
    c.run();
}

TEST_CASE("scans read elsewhere and broadcast along what moves beside them") {
    const array<double> x = values<double>({31, 7}, 5), y = values<double>({31}, 6), scanned = cumsum(y, 0);
    const auto column = [](const auto& e) { return expand_dims(e, axes(1)); };
    CHECK(array_equal(minimum(-column(flip(cumsum(y, 0))), x), minimum(-column(flip(scanned)), x)).item());
    CHECK(array_equal(-column(flip(cumsum(y, 0))) * x - column(flip(cummax(y, 0))),
                      -column(flip(scanned)) * x - column(flip(eval(cummax(y, 0)))))
              .item());
}

TEST_CASE("differences and what is made of them are NumPy's") {
    comparison c("scans.py");
    const auto differ = [&]<class T>(const array<T>& x) {
        for (const int axis : {0, 1}) {
            c.add("diff", axes(axis), x, eval(diff(x, 1, axis)));
            if constexpr (!std::is_same_v<T, bool>) c.add("trapezoid", axes(axis), x, eval(trapezoid(x, 0.5, axis)));
            if constexpr (!std::is_same_v<T, bool>) c.add("gradient", axes(axis), x, eval(gradient(x, 0.5, axis)));
        }
        c.add("diff3", axes(1), x, eval(diff(x, 3)));
        c.add("diff", axes(-1), x, eval(diff(x)));
        if constexpr (!std::is_same_v<T, bool>) c.add("ediff1d", {}, x, eval(ediff1d(x)));
    };
    differ(values<bool>({6, 40}, 1));
    differ(values<std::uint8_t>({6, 40}, 2));
    differ(values<std::int32_t>({6, 40}, 3));
    differ(values<float>({50, 41}, 4));
    differ(values<double>({2, 900}, 5));
    c.run();
}

TEST_CASE("a trapezoid's samples may lie anywhere") {
    const array<double> y{{1, 2, 4}, {3, 3, 9}};
    CHECK(trapezoid(y, array<double>{0, 1, 3}).eval().to_host() == std::vector<double>{7.5, 15});
    CHECK(trapezoid(y, array<double>{0, 2}, 0).eval().to_host() == std::vector<double>{4, 5, 13});
    CHECK(trapezoid(y, y, 1).eval().to_host() == std::vector<double>{7.5, 36});
    CHECK(launches([&] { (void)eval(trapezoid(y) + sum(diff(y, 1, 1) * 2, 1)); }) == 1);
    CHECK_THROWS_AS((void)diff(y, -1), shape_error);
    CHECK_THROWS_AS((void)diff(y, 1, 2), shape_error);
}

TEST_CASE("a gradient is an expression: of trees, in trees, seen in every way, beside folds") {
    comparison c("scans.py");
    const auto derive = [&]<class T>(const array<T>& x) {
        for (const int axis : {0, 1}) {
            const auto g = [axis](const auto& e) { return gradient(e, 0.5, axis); };
            c.add("gradient", axes(axis), x, eval(g(x)));
            c.add("gradient_between", axes(axis), x, eval(g(x * x) * T(2) + x));
            c.add("gradient_twice", axes(axis), x, eval(gradient(g(x), 0.5, 0)));
            c.add("gradient_flipped", axes(axis), x, eval(flip(g(flip(x, 0)))(ellipsis, slice(1, none, 2))));
            c.add("gradient_transposed", axes(axis), x, eval(transpose(g(transpose(x)))));
            c.add("gradient_ravelled", axes(axis), x, eval(ravel(g(x))));
            c.add("gradient_of_scan", axes(axis), x, eval(g(cumsum(x, 1)) + x));
            c.add("scan_of_gradient", axes(axis), x, eval(cumsum(g(x), 0)));
            c.add("sum_of_gradient", axes(axis), x, eval(sum(square(g(x)), 1)));
            c.add("gradient_of_normed", axes(axis), x, eval(g(x / (sum(x * x, 1, keepdims) + T(1)))));
            c.add("gradient_normed", axes(axis), x, eval(g(x) / (max(abs(g(x))) + T(1))));
            c.add("gradient_reshaped_summed", axes(axis), x, eval(sum(reshape(g(transpose(x)), x.shape()), 0)));
        }
        c.add("gradient_of_ravelled", axes(0), x, eval(gradient(ravel(transpose(x)), 0.5)));
        const lazy<T> later = x * x;
        c.add("gradient_between", axes(1), x, eval(gradient(later, 0.5, -1) * T(2) + x));
    };
    derive(values<float>({50, 41}, 4));
    derive(values<float>({2, 9000}, 6));
    derive(values<double>({1100, 2}, 5));
    derive(values<double>({130, 260}, 7));
    c.run();
    const array<double> y{{1, 2, 4}, {3, 3, 9}};
    CHECK(gradient(y, 0.5, 0).eval().to_host() == std::vector<double>{4, 2, 10, 4, 2, 10});
    CHECK(launches([&] { (void)eval(gradient(y * y, 1.0, 0) * 2 + 1); }) == 1);
    CHECK(launches([&] { (void)eval(gradient(gradient(y, 1.0, 0), 1.0, 1)); }) == 1);
    CHECK(explain(gradient(y, 1.0, 0)).bytes_read() == 6 * sizeof(double));
    // Numbers that are generated where they are read equal the leaf's, at any index.
    const auto u = random::uniform<double>({30, 50});
    const array<double> drawn = u;
    CHECK(array_equal(ravel(transpose(u)) + 1, ravel(transpose(drawn)) + 1).item());
    CHECK(array_equal(exp(ravel(transpose(u))), exp(ravel(transpose(drawn)))).item());
    CHECK(array_equal(exp(gradient(u, 1.0, 0)), exp(gradient(drawn, 1.0, 0))).item());
    array<double> in_place = y;
    in_place = gradient(in_place, 0.5, 0);
    CHECK(in_place.to_host() == std::vector<double>{4, 2, 10, 4, 2, 10});
    CHECK_THROWS_WITH_AS((void)gradient(array<double>{1}),
                         "[gradient] axis 0 of shape (1,) has fewer than two elements", shape_error);
    CHECK_THROWS_WITH_AS((void)gradient(y), "[gradient] of shape (2, 3): say along which axis", shape_error);
}

TEST_CASE("a scan with trees before and after is one kernel") {
    for (const shape_like& shape : {shape_like{1000}, {2'000'000}, {30, 400}}) {
        const array<float> x = values<float>(shape, 1);
        CHECK(launches([&] { (void)eval(cumsum(x * x, -1) + 1); }) == 1);
        CHECK(launches([&] { (void)eval(cumsum(x, -1) + x, cummax(x, -1) * 2); }) == 1);
        CHECK(launches([&] { (void)eval(cumsum(x * x, 0) + 1); }) == 1);
        CHECK(explain(cumsum(x * x, -1) + 1).pattern == "scan");
    }
}

TEST_CASE("scans that one reduction folds are one kernel, and equal ones are one scan") {
    for (const shape_like& shape : {shape_like{40'000}, {3000, 5}, {60, 60}, {7, 60, 60}}) {
        const array<std::int32_t> x = values<std::int32_t>(shape, 1) % 8, y = values<std::int32_t>(shape, 2) % 8;
        for (const int axis : {0, -1}) {
            const auto sx = [&] { return cumsum(x, axis); };
            const auto sy = [&] { return cumsum(y, axis); };
            const array<std::int64_t> made = sx(), other = sy();
            CHECK(sum(sx() * sy()).item() == sum(made * other).item());
            CHECK(array_equal(max(sx() - sy(), 0), eval(max(made - other, 0))).item());
            CHECK(
                array_equal(max(sx() + cummax(y, axis) - sy(), -1), eval(max(made + eval(cummax(y, axis)) - other, -1)))
                    .item());
            CHECK(launches([&] { (void)eval(sum(sx() * sy())); }) == 2);
            CHECK(launches([&] { (void)eval(max(sx() - sy(), axis)); }) <= 2);
            CHECK(array_equal(sx(), sx()).item());
            CHECK(explain(array_equal(sx(), sx())).kernels.size() == 2);
        }
        CHECK(array_equal(sum(cumsum(x, 0) * cumsum(y, -1)), sum(eval(cumsum(x, 0)) * eval(cumsum(y, -1)))).item());
    }
}

TEST_CASE("a scan in place reads what it writes") {
    array<double> x = values<double>({30, 50}, 2);
    const std::vector<double> want = cumsum(x, 1).eval().to_host();
    x(ellipsis) = cumsum(x, 1);
    CHECK(x.to_host() == want);
}

TEST_CASE("a scan of one key, device and size gives one bit pattern") {
    const array<float> x = values<float>(3'000'000, 4);
    const std::vector<float> first = cumsum(x * x).eval().to_host();
    for (int k = 0; k < 20; ++k) REQUIRE(cumsum(x * x).eval().to_host() == first);
}

TEST_CASE("a view of a scan stores what it shows, not all prefixes") {
    const auto check = [](const auto& scan, const auto& view, std::int64_t bytes = 12'000) {
        using T = typename std::remove_cvref_t<decltype(scan)>::value_type;
        const array<T> wanted = view(eval(scan));
        const array<T> shown = view(scan);
        const auto before = counters().bytes_allocated;
        const array<T> again = view(scan);
        CHECK(counters().bytes_allocated - before < bytes);
        CHECK(allclose(shown, wanted, 1e-5, 1e-5).item());
        CHECK(array_equal(shown, again).item());
    };
    const array<float> x = values<float>({30'000}, 3);
    const array<int> whole = astype<int>(x * 100);
    const auto each = [&](const auto& view) {
        check(cumsum(x), view);
        check(cumsum(whole * 2 + 1), view);
        check(cummax(x), view);
    };
    each([](const auto& c) { return c(slice(-3, none)); });
    each([](const auto& c) { return c(29'999); });
    each([](const auto& c) { return c(slice(100, 200, 7)); });
    each([](const auto& c) { return c(slice(20'000, 19'000, -300)); });
    each([](const auto& c) { return flip(c(slice(0, 5)))(newaxis, all); });
    each([](const auto& c) { return 2 * c(slice(9'000, 9'050)) - c(slice(50))(slice(0, 50)); });
    check(logcumsumexp(x), [](const auto& c) { return c(slice(7, 40)); });
    check(cumprod(whole), [](const auto& c) { return c(slice(12'000, 12'010)); });
    check(lazy<float>(cumsum(x)), [](const auto& c) { return c(slice(-9, -2)); });

    const array<double> m = values<double>({300, 70}, 5);
    check(cumsum(m, 0), [](const auto& c) { return c(slice(-2, none)); });
    check(cumsum(m, 0), [](const auto& c) { return c(-1); });
    check(cumsum(m, 1), [](const auto& c) { return c(slice(3, 20), slice(-2, none)); });
    check(cumsum(m), [](const auto& c) { return c(slice(500, 600)); });
    check(cumsum(cumsum(m, 1), 0), [](const auto& c) { return c(slice(-2, none), slice(-3, none)); }, 20'000);
    check(cumsum(transpose(m)), [](const auto& c) { return c(slice(500, 600)); }, m.nbytes() + 12'000);  // in place
    check(cumsum(m - mean(m, 0), 0), [](const auto& c) { return c(10); });

    array<float> y = x;
    const array<float> last = eval(cumsum(x))(slice(-3, none));
    y(slice(0, 3)) = cumsum(y)(slice(-3, none));
    CHECK(allclose(y(slice(0, 3)), last).item());
}

TEST_CASE("a scan's diagonal where what is folded differs along it") {
    const array<double> x{1, 2, 3, 4}, y{10, 20, 40, 80};
    const auto crossed = x(all, newaxis) + y;
    const array<double> kept = cumsum(crossed, 0), along = cumsum(crossed, 1);
    CHECK(array_equal(diagonal(cumsum(crossed, 0)), diagonal(kept)).item());
    CHECK(array_equal(diagonal(cumsum(crossed, 1)), diagonal(along)).item());
    CHECK(array_equal(diagonal(cumsum(broadcast_to(y, {4, 4}), 0)), array<double>{10, 40, 120, 320}).item());
    CHECK(trace(cumsum(crossed, 0)).item() == trace(kept).item());
}

TEST_CASE("in strict arithmetic what is shown of a scan has the whole scan's bits") {
    const with_math math(strict);
    const array<float> u = random::uniform<float>({20001});
    const array<float> whole = cumsum(u);
    CHECK(array_equal(cumsum(u)(slice(-3, none)), whole(slice(-3, none))).item());
    CHECK(array_equal(cumsum(u)(20000), whole(20000)).item());
}
