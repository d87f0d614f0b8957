// Searches and histograms: the number of their kernels, sums in any order, and refused operands.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/arrays/expect.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Whether two lists have the same bits, NaN apart.
bool same_values(const array<double>& a, const array<double>& b) {
    return array_equal(where(isnan(a), 0.5, a), where(isnan(b), 0.5, b)).item() &&
           array_equal(isnan(a), isnan(b)).item();
}

/// Whether an error names the operands.
bool names(const std::string& text, std::initializer_list<const char*> words) {
    for (const char* word : words)
        if (text.find(word) == text.npos) return false;
    return true;
}

}  // namespace

TEST_CASE("places of an interpolation may be in any order, and lie among other points than the last ones did") {
    for (const index_t n : {1000, 6, 3, 40}) {
        const array<double> k = arange<double>(static_cast<double>(n)), xp = k * (1 + k / 100), fp = sin(k);
        const double end = xp(-1).item();
        for (const double step : {0.37, 0.01}) {
            const array<double> sorted = arange<double>(-2, std::min(end + 2, 4000 * step), step);
            const array<double> apart = sorted(slice(none, none, 7));
            for (const array<double>& x : {sorted, array<double>(sorted(slice(none, none, -1))), apart,
                                           array<double>(fmod(sorted * 1001, end))}) {
                const array<index_t> j = clip(searchsorted(xp, x, search_side::right) - 1, 0, n - 2);
                const array<double> from = take(xp, j), low = take(fp, j);
                const array<double> slope = (take(fp, j + 1) - low) / (take(xp, j + 1) - from);
                const array<double> wanted = low + slope * (clip(x, 0, end) - from);
                CHECK(allclose(interp(x, xp, fp), wanted, 1e-12, 1e-12).item());
            }
        }
    }
}

TEST_CASE("a search and an interpolation are one kernel with what is around them") {
    const array<double> x = arange<double>(100), t{3, 30, 60};
    array<double> r;
    CHECK(launches([&] { r = searchsorted(t, x * 2 + 1) * 2.0 - 1; }) == 1);
    CHECK(r.to_host()[30] == 5);  // 61 is behind all
    CHECK(launches([&] { r = sqrt(interp(x / 2, t, t)) + x; }) == 1);
    CHECK(r.to_host()[81] == std::sqrt(40.5) + 81);
    const auto d = digitize(x + 1, t);
    CHECK(launches([&] { r = d + 0.5; }) == 1);
    CHECK(r.to_host()[29] == 2.5);
}

TEST_CASE("whole arrays of texts are operands of trees that live at run time") {
    const array<double> t{3, 30, 60};
    lazy<double> x = arange<double>(100);
    for (int i = 0; i < 3; ++i) x = x + 1;
    const lazy<index_t> found = searchsorted(t, x), again = searchsorted(t, x) + searchsorted(t, arange<double>(100));
    array<index_t> r;
    CHECK(launches([&] { r = found + 1; }) == 1);
    CHECK(r.to_host()[0] == 1);
    CHECK(r.to_host()[1] == 2);
    CHECK(holds(found(slice(26, 29)), {3}, {1, 1, 2}));
    CHECK(array_equal(again, found + searchsorted(t, arange<double>(100))).item());
    array<double> own = t;  // the text reads the old values
    const lazy<index_t> before = searchsorted(own, x);
    own(all) = 0;
    CHECK(array_equal(before, found).item());
    CHECK(holds(pad(found, 1)(slice(none, 3)), {3}, {0, 0, 1}));
    const index_t total = sum(found).item();
    CHECK(sum(tile(searchsorted(t, x), 2)).item() == 2 * total);
    CHECK(sum(tile(searchsorted(t, arange<double>(100) + 3), 2)).item() == 2 * total);
    // Only few of the sums are read.
    const auto rows = searchsorted(t, reshape(arange<double>(20000), {400, 50}) / 200);
    const array<index_t> sums = cumsum(rows, 1), shown = cumsum(rows, 1)(all, slice(-2, none));
    CHECK(array_equal(shown, sums(all, slice(-2, none))).item());
}

TEST_CASE("counting is one kernel with what is counted, beside what finds its length") {
    const array<int> x = arange<int>(1000) % 7;
    array<index_t> counts;
    CHECK(launches([&] { counts = bincount(x * 2 + 1); }) == 2);
    CHECK(holds(counts(slice(none, 4)), {4}, {0, 143, 0, 143}));
    const array<double> y = arange<double>(1000) / 100;
    CHECK(launches([&] { counts = std::get<0>(histogram(y * 2, 4, {0, 20})); }) == 1);
    CHECK(holds(counts, {4}, {250, 250, 250, 250}));
    CHECK(launches([&] { counts = std::get<0>(histogram(y * 2, 4)); }) == 2);
    const lazy<double> z = y;
    CHECK(array_equal(counts, std::get<0>(histogram(z * 2, 4))).item());
    CHECK(sum(std::get<0>(histogram2d(y, z, 3))).item() == 1000);
}

TEST_CASE("sums of weights in any order have the same bits, and are right beside the greatest") {
    const index_t n = 4000;
    std::vector<double> values;
    std::vector<index_t> places;
    std::vector<long double> wanted(5), sizes(5);
    for (int i = 0; i < n; ++i) {
        const double w = std::ldexp(1 + i * 0.3e-4, i % 90 - 60) * (i % 3 == 0 ? -1 : 1);
        const int place = i % 11 - 1;
        values.push_back(w);
        places.push_back(place < 5 ? place : -1);
        if (place < 0 || place >= 5) continue;
        wanted[static_cast<std::size_t>(place)] += w;
        sizes[static_cast<std::size_t>(place)] += std::fabs(w);
    }
    array<double> w = asarray(values);
    array<index_t> at = asarray(places);
    const array<double> sums = detail::exact_sums("test", at, w, 5);
    for (std::size_t k = 0; k < 5; ++k) CHECK(std::fabs(sums.to_host()[k] - wanted[k]) <= std::ldexp(sizes[k], -52));
    CHECK(array_equal(sums, detail::exact_sums("test", flip(at), flip(w), 5)).item());
    CHECK(array_equal(sums, detail::exact_sums("test", roll(at, 1234), roll(w, 1234), 5)).item());
    CHECK(all(abs(sums - bincount(at + 1, w)(slice(1, none))) <= abs(sums) * 1e-12).item());

    const array<index_t> few{0, 0, 1, 2, 2, 3, 4};
    const array<double> special{inf, 1, not_a_number, inf, -inf, 1e-310, 4};
    const array<double> s = detail::exact_sums("test", few, special, 6);
    CHECK(same_values(s, array<double>{inf, not_a_number, not_a_number, 1e-310, 4, 0}));
    const array<double> small = detail::exact_sums("test", array<index_t>{0, 0}, array<double>{5e-324, 1e-323}, 1);
    CHECK(holds(small, {1}, {1.5e-323}));
    const array<double> large =
        detail::exact_sums("test", array<index_t>{0, 0, 0}, array<double>{1e308, 1e308, -1e308}, 1);
    CHECK(holds(large, {1}, {1e308}));
    CHECK(holds(detail::exact_sums("test", zeros<index_t>(0), zeros(0), 2), {2}, {0, 0}));
    CHECK(holds(detail::exact_sums("test", zeros<index_t>(2), zeros(2), 1), {1}, {0}));
}

TEST_CASE("what does not fit is refused with what was given") {
    const array<double> x{1, 2, 3}, m = ones({2, 2});
    CHECK(names(thrown<shape_error>([&] { (void)searchsorted(m, x); }), {"[searchsorted]", "(2, 2)"}));
    CHECK(names(thrown<shape_error>([&] { (void)searchsorted(x, x, search_side::left, array<int>{0, 1}); }),
                {"sorter", "(2,)", "(3,)"}));
    CHECK_THROWS_AS((void)searchsorted(x, x, search_side::left, array<int>{0, 1, 3}).to_host(), index_error);
    CHECK(names(thrown<error>([&] { (void)digitize(x, array<int>{1, 3, 2}); }), {"[digitize]", "rise and fall"}));
    CHECK(names(thrown<shape_error>([&] { (void)digitize(x, m); }), {"[digitize]", "(2, 2)"}));
    CHECK(names(thrown<shape_error>([&] { (void)interp(x, x, array<int>{1, 2}); }), {"[interp]", "(3,)", "(2,)"}));
    CHECK(names(thrown<shape_error>([&] { (void)interp(x, zeros(0), zeros(0)); }), {"[interp]", "(0,)"}));
    CHECK(names(thrown<error>([&] { (void)interp(x, x, x, {.period = 0}); }), {"[interp]", "period"}));

    CHECK(names(thrown<index_error>([&] { (void)bincount(array<int>{3, -2, 1}); }), {"[bincount]", "-2"}));
    CHECK(names(thrown<shape_error>([&] { (void)bincount(ones<int>({2, 2})); }), {"[bincount]", "(2, 2)"}));
    CHECK(names(thrown<shape_error>([&] { (void)bincount(array<int>{1}, -1); }), {"[bincount]", "-1"}));
    CHECK(names(thrown<shape_error>([&] { (void)bincount(array<int>{1}, x); }), {"weights", "(3,)", "(1,)"}));
    static_assert(!std::is_invocable_v<decltype([](const auto& e) -> decltype(bincount(e)) { return bincount(e); }),
                                       array<std::uint64_t>>);
    static_assert(!std::is_invocable_v<decltype([](const auto& e) -> decltype(bincount(e)) { return bincount(e); }),
                                       array<float>>);

    CHECK(names(thrown<error>([&] { (void)histogram(x, 0); }), {"[histogram]", "0 bins"}));
    CHECK(names(thrown<error>([&] { (void)histogram(x, 3, {2, 1}); }), {"[histogram]", "from 2.0", "to 1.0"}));
    CHECK(names(thrown<error>([&] { (void)histogram(x, 3, {0, inf}); }), {"[histogram]", "inf"}));
    CHECK(names(thrown<error>([&] { (void)histogram(array<double>{1, not_a_number}); }), {"[histogram]", "nan"}));
    CHECK(names(thrown<error>([&] { (void)histogram(array<double>{1e17}); }), {"10 bins", "different"}));
    CHECK(names(thrown<error>([&] { (void)histogram(x, array<int>{1, 3, 2}); }), {"[histogram]", "decrease"}));
    CHECK(names(thrown<shape_error>([&] { (void)histogram(x, m); }), {"[histogram]", "(2, 2)"}));
    CHECK(names(thrown<shape_error>([&] { (void)histogram(x, 3, array<int>{1}); }), {"weights", "(1,)", "(3,)"}));
    CHECK(names(thrown<error>([&] { (void)histogram_bin_edges(x, -1); }), {"[histogram_bin_edges]", "-1 bins"}));
    CHECK(names(thrown<shape_error>([&] { (void)histogram2d(x, array<int>{1}); }), {"[histogram2d]", "(3,)", "(1,)"}));
    CHECK(names(thrown<error>([&] { (void)histogram2d(x, x, std::pair(2, array<int>{1, 0})); }),
                {"[histogram2d]", "decrease"}));
    CHECK(names(thrown<shape_error>([&] { (void)histogram2d(x, x, 2, array<int>{1}); }), {"weights", "(1,)"}));
}

TEST_CASE("edges without a bin between them count nothing") {
    const array<double> x{1, 2};
    const auto [counts, edges] = histogram(x, array<float>{1});
    CHECK(holds(counts, {0}, {}));
    CHECK(holds(edges, {1}, {1}));
    CHECK(holds(std::get<0>(histogram(x, zeros(0), density)), {0}, {}));
    CHECK(std::get<0>(histogram2d(x, x, std::pair(2, array<int>{1}))).shape() == shape_like{2, 0});
}

TEST_CASE("interp at many places is what it is at few of them") {
    const index_t n = index_t{1} << 18;
    const array<double> even = linspace(0.0, 1.0, 33), values = cos(even * 9.0);
    array<double> x = linspace(-0.1, 1.1, n);
    x(slice(0, n, 1000)) = even(3).item();
    x(slice(5, n, 1000)) = not_a_number;
    const auto check = [&](const array<double>& at, const array<double>& of) {
        array<double> few = zeros<double>({n});
        for (const slice half : {slice(0, n / 2), slice(n / 2, n)}) few(half) = interp(x(half), at, of);
        const array<double> many = interp(x, at, of);
        CHECK(array_equal(isnan(many), isnan(few)).item());
        CHECK(all(isnan(few) || many == few || abs(many - few) <= 1e-14).item());
    };
    check(even, values);
    check(astype<double>(astype<float>(even)), values);
    check(square(even), values);
    check(even(slice(none, none, -1)), values);
    check(concatenate({lazy<double>(even(slice(0, 32))), lazy<double>(array<double>{inf})}, 0), values);
    check(even, where(even == even(7).item(), inf, values));
    check(even, where(even > 0.5, not_a_number, values));
}

TEST_CASE("cells of several variables are those of two variables, and of each point") {
    const array<double> x = sin(arange<double>(200)), y = cos(arange<double>(200) * 1.7) * 3, w = abs(x) + 1;
    const array<double> points = stack({x, y}, 1);
    const auto alike = [](const auto& of_several, const auto& of_two) {
        const auto& [counts, edges] = of_several;
        const auto& [expected, xedges, yedges] = of_two;
        return edges.size() == 2 && array_equal(counts, expected).item() && array_equal(edges[0], xedges).item() &&
               array_equal(edges[1], yedges).item();
    };
    CHECK(alike(histogramdd(points, 5), histogram2d(x, y, 5)));
    CHECK(alike(histogramdd(points, {3, array<int>{-2, 0, 1, 3}}),
                histogram2d(x, y, std::pair(3, array<int>{-2, 0, 1, 3}))));
    CHECK(alike(histogramdd(points, {3, 4}, {.ranges = {{-1, 0.5}, {}}}),
                histogram2d(x, y, std::pair(3, 4), {{-1, 0.5}, {}})));
    CHECK(allclose(std::get<0>(histogramdd(points, {3, 4}, {.weights = w, .density = true})),
                   std::get<0>(histogram2d(x, y, std::pair(3, 4), w, density)), 1e-14, 0)
              .item());
    // Three variables, point by point.
    const array<double> three = stack(std::tuple{x, y, x * y}, 1);
    const auto [counts, edges] = histogramdd(three, {2, 3, array<double>{-1, 0, 0.5}});
    REQUIRE(counts.shape() == shape_like{2, 3, 2});
    std::vector<double> expected(12);
    const std::vector<double> values = three.to_host();
    for (std::size_t p = 0; p < 200; ++p) {
        std::size_t cell = 0;
        bool is_in = true;
        for (std::size_t k = 0; k < 3; ++k) {
            const std::vector<double> e = edges[k].to_host();
            const double v = values[3 * p + k];
            is_in = is_in && v >= e.front() && v <= e.back();
            std::size_t bin = 0;
            while (bin + 2 < e.size() && v >= e[bin + 1]) ++bin;
            cell = cell * (e.size() - 1) + bin;
        }
        if (is_in) ++expected[cell];
    }
    CHECK(counts.to_host() == expected);
    CHECK(std::get<0>(histogramdd(zeros({0, 2}), {2, 3})).shape() == shape_like{2, 3});
    CHECK_THROWS_AS((void)histogramdd(x), shape_error);
    CHECK_THROWS_AS((void)histogramdd(points, {2, 3, 4}), shape_error);
    CHECK_THROWS_AS((void)histogramdd(points, 2, {.ranges = {{0, 1}}}), shape_error);
    CHECK_THROWS_AS((void)histogramdd(points, 2, {.weights = ones(3)}), shape_error);
}
