// Searches, interpolation, counts and histograms, against NumPy.
#include <cmath>
#include <limits>

#include "tests/reductions/comparison.hpp"

using namespace ingot;
using ingot::testing::comparison;
using ingot::testing::over;

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), not_a_number = std::numeric_limits<double>::quiet_NaN();

/// Multiples of a tenth from -2 to 4, many of them edges of bins or points; of unsigned integers from 0 on.
template <class T>
array<T> tenths() {
    std::vector<T> values;
    for (int i = 0; i < 240; ++i) {
        const int k = i * 37 % 61;
        if constexpr (std::is_integral_v<T>)
            values.push_back(static_cast<T>(std::is_unsigned_v<T> ? k : k - 20));
        else
            values.push_back(static_cast<T>(static_cast<float>(k - 20) * 0.1f));
    }
    return reshape(asarray<T>(values), {6, 40});
}
array<double> with_special_values() {
    array<double> x = tenths<double>() + 0.0;
    x(0, all) = array<double>(tile(array<double>{not_a_number, inf, -inf, 0, -0.0, 1.5, 1e300, -not_a_number}, 5));
    return x;
}

template <class T>
array<T> table() {
    if constexpr (std::is_same_v<T, bool>)
        return array<bool>{false, false, true};
    else if constexpr (std::is_integral_v<T>)
        return array<T>{1, 2, 2, 2, 20, 40, 40};
    else
        return asarray<T>(std::vector<double>{-1, -0.5, 0, 0, 0.25, 0.5, 1, 1, 1, inf, not_a_number, not_a_number});
}

class cases {
public:
    explicit cases(comparison& c) : to_(c) {}

    /// Adds all results in one statement.
    template <class E, class... R>
    void add_all(const std::array<const char*, sizeof...(R)>& names, const E& of, const R&... results) {
        to_.add_all(names, over(), of, results...);
    }
    template <class E, class R>
    void add(const char* name, const E& of, const R& result) {
        to_.add(name, over(), of, array<typename R::value_type>(result));
    }
    /// Counts, and then the edges.
    template <class E, class... R>
    void add_histogram(const std::string& name, const E& of, const std::tuple<R...>& result) {
        std::size_t i = 0;
        std::apply([&](const auto&... part) { (add((name + '.' + std::to_string(i++)).c_str(), of, part), ...); },
                   result);
    }

    template <class T>
    void search(const array<T>& x) {
        const array<T> t = table<T>();
        add_all({"search_left", "search_right"}, x, searchsorted(t, x), searchsorted(t, x, search_side::right));
    }
    template <class T>
    void digits(const array<T>& x) {
        const array<T> t = table<T>()(slice(1, 7));
        add_all({"digitize", "digitize_right", "digitize_down", "digitize_down_right"}, x, digitize(x, t),
                digitize(x, t, true), digitize(x, flip(t)), digitize(x, flip(t), true));
    }

    void points(const array<double>& x) {
        const array<double> xp{-1, 0, 0.5, 2}, fp{3, -2, 0.125, 8}, far{1, inf, inf, 2};
        add_all({"interp", "interp_outside", "interp_left", "interp_infinite", "interp_one", "interp_period",
                 "interp_complex", "interp_complex_period"},
                x, interp(x, xp, fp), interp(x * 2, xp, fp, {.left = -7, .right = inf}),
                interp(x, xp, fp, {.left = not_a_number}), interp(x, xp, far),
                interp(x, array<int>{1}, array<int>{5}, {.right = 6}),
                interp(x, array<double>{2.5, -1, 0.25}, array<int>{1, 2, 3}, {.period = -1.5}),
                interp(x, xp, complex_of(fp, far),
                       {.left = std::complex<double>(1, 2), .right = std::complex<double>(0, 0)}),
                interp(x, xp, complex_of(fp, -fp), {.period = 3}));
    }

    template <class T>
    void counts(const array<T>& flat) {
        add("bincount", flat, bincount(flat));
        add("bincount_long", flat, bincount(flat, 100));
        add("bincount_weights", flat, bincount(flat, flat * 0.5 - 1, 7));
    }

    template <class T>
    void histograms(const array<T>& x) {
        add_histogram("histogram", x, histogram(x));
        add_histogram("histogram_61", x, histogram(x, 61));
    }
    template <class T>
    void between_edges(const array<T>& x) {
        add_histogram("histogram_edges", x, histogram(x, array<double>{-1, 0, 0.25, 0.5, 0.5, 1.5, 3}));
    }
    template <class T>
    void in_range(const array<T>& x) {
        add("edges_range", x, histogram_bin_edges(x, 7, {-0.7, 1.3}));
        add_histogram("histogram_range", x, histogram(x, 20, {-0.7, 1.3}));
    }
    template <class T>
    void weighted(const array<T>& x) {
        add_histogram("histogram_weights", x, histogram(x, 12, x * x));
        add_histogram("histogram_weights_edges", x, histogram(x, array<int>{0, 1, 2, 3}, x + x, density));
    }

    template <class T>
    void planes(const array<T>& x) {
        const array<T> a = x(0, all), b = x(1, all);
        add_histogram("planes", x, histogram2d(a, b));
        add_histogram("planes_weights", x, histogram2d(a, b, std::pair(3, 4), b * 2, {{-1, 2}, {}}, density));
        add_histogram("planes_edges", x,
                      histogram2d(a, b, std::tuple(array<int>{-1, 0, 1, 1, 3}, array<double>{-1, 0.5, 4})));
        add_histogram("planes_alike", x, histogram2d(a, b, array<float>{-1.0f, 0.5f, 1.25f}, density));
    }

private:
    comparison& to_;
};

}  // namespace

TEST_CASE("searches, points between, counts and histograms are NumPy's") {
    const with_math g(strict);
    comparison all_cases("histograms.py");
    cases c(all_cases);
    const array<double> special = with_special_values(), x = tenths<double>();

    c.search(special);
    c.search(tenths<float>());
    c.search(tenths<int>());
    c.search(tenths<std::uint8_t>());
    c.search(tenths<float16>());
    c.search(array<bool>(x > 0));
    c.add_all({"search_promoted", "search_wide", "search_nothing", "search_sorter"}, x, searchsorted(table<float>(), x),
              searchsorted(array<std::int64_t>{-1, 0, 3}, astype<std::uint64_t>(abs(x))), searchsorted(zeros(0), x),
              searchsorted(array<double>{3, -1, 0.5}, x, search_side::right, array<int>{1, 2, 0}));
    c.add("search_number", x, searchsorted(table<float>(), 0.1));
    c.add("search_view", x, searchsorted(flip(array<double>{3, 1, -1}), transpose(x)(slice(3, none, 2))));

    c.digits(special);
    c.digits(tenths<int>());
    c.add_all({"digitize_nan", "digitize_nan_down", "digitize_nan_down_right"}, special,
              digitize(special, array<double>{0, 1, not_a_number}),
              digitize(special, array<double>{not_a_number, 1, 0}),
              digitize(special, array<double>{not_a_number, 1, 0}, true));
    c.add_histogram("histogram_nan_edges", special, histogram(special, array<double>{0, 1, not_a_number}));
    c.add("digitize_number", x, digitize(0.3, array<int>{0, 1}));

    c.points(special);
    c.points(x);
    c.add("interp_number", x, interp(1, array<int>{0, 3}, array<float>{0, 1}));

    const array<int> whole = abs(ravel(tenths<int>()));
    c.counts(whole);
    c.counts(array<std::uint8_t>(ravel(tenths<std::uint8_t>())));
    c.add("bincount", array<bool>(ravel(x > 0)), bincount(ravel(x > 0)));
    c.add("bincount_long", zeros<int>(0), bincount(zeros<int>(0), 100));
    c.add("bincount", zeros<int>(0), bincount(zeros<int>(0)));

    c.histograms(x);
    c.histograms(tenths<float>());
    c.histograms(tenths<float16>());
    c.histograms(tenths<int>());
    c.histograms(tenths<std::uint8_t>());
    c.between_edges(special);
    c.between_edges(tenths<float>());
    c.between_edges(tenths<int>());
    c.histograms(zeros(0));
    c.between_edges(zeros(0));
    c.histograms(full({3}, 7.5f));
    c.add("histogram.0", array<std::uint8_t>(x > 0), std::get<0>(histogram(x > 0)));  // NumPy warns of bool
    c.in_range(special);
    c.in_range(tenths<float>());
    c.in_range(tenths<int>());
    c.weighted(x);
    c.weighted(tenths<float>());
    c.weighted(tenths<std::int16_t>());
    c.add_histogram("histogram_complex", x, histogram(x, 5, complex_of(x, -x)));
    c.add_histogram("histogram_bool", x, histogram(x, 5, x > 3));
    c.add_histogram("histogram_density", x, histogram(x, 5, {0, 2}, density));
    c.planes(x);
    c.planes(tenths<float>());
    all_cases.run();
}
