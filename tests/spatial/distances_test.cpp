// Distances compared with SciPy's: every metric, dtypes, few and many columns, rows of zeros.
#include <ingot/spatial.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/drawn.hpp"
#include "tests/has_scipy.hpp"
#include "tests/joins/numpy_cases.hpp"

using namespace ingot;
using spatial::metric;
using testing::drawn;
using testing::numpy_cases;

namespace {

struct metric_case {
    metric which;
    const char* name;
    double p = 2;
};
const metric_case metrics[] = {{metric::euclidean, "euclidean"},
                               {metric::sqeuclidean, "sqeuclidean"},
                               {metric::cityblock, "cityblock"},
                               {metric::chebyshev, "chebyshev"},
                               {metric::minkowski, "minkowski', p='3", 3},
                               {metric::minkowski, "minkowski', p='0.5", 0.5},
                               {metric::cosine, "cosine"},
                               {metric::correlation, "correlation"},
                               {metric::hamming, "hamming"},
                               {metric::canberra, "canberra"},
                               {metric::braycurtis, "braycurtis"},
                               {metric::jensenshannon, "jensenshannon"},
                               {metric::jaccard, "jaccard"}};

/// The metric as SciPy's arguments.
std::string arguments_of(const metric_case& m) {
    std::string text = std::string(", '") + m.name + "'";
    if (const auto at = text.find("p='"); at != std::string::npos) text = text.substr(0, at + 2) + std::to_string(m.p);
    return text + ")";
}

}  // namespace

TEST_CASE("cdist and pdist are SciPy's, for every metric") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    unsigned seed = static_cast<unsigned>(test::drawing_seed() % 1000);
    for (const metric_case& m : metrics) {
        ++seed;
        const index_t columns = 1 + static_cast<index_t>(seed % 11);
        const bool shares = m.which == metric::jensenshannon;  // of numbers that are not negative
        const auto numbers = [&](index_t rows) {
            const array<double> x = drawn<double>({rows, columns}, ++seed);
            return shares ? array<double>(abs(x)) : x;
        };
        const array<double> a = numbers(7), b = numbers(5);
        c.forgive(64);
        c.add("distance.cdist(a, b" + arguments_of(m), spatial::cdist(a, b, m.which, {.p = m.p}), a, b);
        c.add("distance.pdist(a" + arguments_of(m), spatial::pdist(a, m.which, {.p = m.p}), a);
        const auto halved = [](const array<double>& x) { return array<float>(astype<float>(x) / 2); };
        const array<float> f = halved(a), g = halved(b);
        // 1 minus a number near to 1, and shares that are rounded before they are subtracted.
        c.forgive(m.which == metric::cosine || m.which == metric::correlation || shares ? 1 << 12 : 64);
        c.add("distance.cdist(a, b" + arguments_of(m) + ".astype('f4')", spatial::cdist(f, g, m.which, {.p = m.p}), f,
              g);
    }
    c.run();
}

TEST_CASE("integers, infinite exponents, one row and no row") {
    if (!testing::has_scipy()) return;
    numpy_cases c;
    c.forgive(16);
    const array<int> a = drawn<int>({6, 3}, 1);
    const array<double> b = drawn<double>({4, 3}, 2);
    c.add("distance.cdist(a, b)", spatial::cdist(a, b), a, b);
    c.add("distance.pdist(a, 'hamming')", spatial::pdist(a, metric::hamming), a);
    c.add("distance_matrix(a, b, np.inf)", spatial::distance_matrix(a, b, std::numeric_limits<double>::infinity()), a,
          b);
    c.add("distance_matrix(a, b, 1)", spatial::distance_matrix(a, b, 1), a, b);
    c.add("distance_matrix(a, b)", spatial::distance_matrix(a, b), a, b);
    const array<double> one = drawn<double>({1, 3}, 3), no_rows = zeros({0, 3});
    c.add("distance.pdist(a)", spatial::pdist(one), one);
    c.add("distance.cdist(a, b)", spatial::cdist(no_rows, one), no_rows, one);
    c.add("np.zeros(0)", spatial::pdist(no_rows));
    for (const index_t n : {2, 3, 57}) {
        const array<double> x = drawn<double>({n, 2}, 4), d = spatial::pdist(x);
        c.add("distance.pdist(a)", d, x);
        c.add("distance.squareform(a)", spatial::squareform(d), d);
        c.add("a", spatial::squareform(spatial::squareform(d)), d);
    }
    // Squares that overflow or vanish, rows without a direction, rows that are nearly alike.
    const array<float> large{{1e20f, 2e20f}, {3e-30f, 1e-30f}}, other{{2e20f, 1e20f}, {0, 0}};
    c.add("distance.cdist(a, b, 'cosine').astype('f4')", spatial::cdist(large, other, metric::cosine), large, other);
    const array<double> no_columns = zeros({2, 0});
    c.add("np.full((2, 2), np.nan)", spatial::cdist(no_columns, no_columns, metric::correlation));
    const array<float> shares = 1 + drawn<float>({20, 9}, 5) * 0.01f,
                       near = shares * (1 + drawn<float>({20, 9}, 6) * 1e-4f);
    c.add("distance.cdist(a, b, 'jensenshannon').astype('f4')", spatial::cdist(shares, near, metric::jensenshannon),
          shares, near);
    c.add("distance.pdist(a, 'jensenshannon').astype('f4')", spatial::pdist(shares, metric::jensenshannon), shares);
    const array<int> three{1, 2, 3}, none_at_all = zeros<int>(0);
    c.add("distance.squareform(a)", spatial::squareform(three), three);
    c.add("distance.squareform(a)", spatial::squareform(none_at_all), none_at_all);
    c.run();
}

TEST_CASE("pairs of many rows have their places") {
    // The place of a pair is found by a root, which is rounded.
    const index_t n = 3001;
    const array<double> x = reshape(arange<double>(n), {n, 1}), d = spatial::pdist(x);
    const auto [first, second] = triu_indices(n, 1);
    CHECK(array_equal(d, astype<double>(second - first)).item());
}

TEST_CASE("distances are one kernel, and so is what is computed of them") {
    const array<double> a = drawn<double>({40, 3}, 1), b = drawn<double>({30, 3}, 2);
    array<double> result;
    const auto kernels = [&](const auto& e) {
        const auto before = counters().kernel_launches;
        result = e;
        return counters().kernel_launches - before;
    };
    CHECK(kernels(exp(-spatial::cdist(a, b))) == 1);
    CHECK(kernels(spatial::pdist(a, metric::cityblock) + 1) == 2);  // the matrix, and its upper triangle
    CHECK(kernels(spatial::cdist(a, b, metric::canberra)) == 1);
    CHECK(kernels(min(spatial::cdist(a, b), 1)) == 1);
    CHECK(kernels(sum(exp(-spatial::cdist(a, b)), 1)) == 1);
    CHECK(kernels(spatial::cdist(drawn<double>({40, 20}, 1), drawn<double>({30, 20}, 2))) == 1);
    // Where many rows read few columns, these are copied apart.
    const array<double> many = drawn<double>({300, 3}, 3);
    CHECK(kernels(exp(-spatial::cdist(many, b))) == 2);
    CHECK(allclose(result(slice(0, 40)), exp(-spatial::cdist(many(slice(0, 40)), b)), 1e-14, 1e-14).item());
    CHECK(allclose(spatial::cdist(many, many)(slice(0, 40)), spatial::cdist(many(slice(0, 40)), many), 1e-14, 1e-14)
              .item());
}

TEST_CASE("matrices and exponents that do not fit are said") {
    const array<double> x = zeros({3, 2});
    CHECK_THROWS_WITH_AS(spatial::cdist(x, zeros({3, 4})),
                         "[cdist] points of shapes (3, 2) and (3, 4); as many columns of both are wanted", shape_error);
    CHECK_THROWS_WITH_AS(spatial::pdist(zeros(3)), "[pdist] points of shape (3,); a matrix is wanted, a row for each",
                         shape_error);
    CHECK_THROWS_AS(spatial::cdist(x, x, metric::minkowski, {.p = 0}), error);
    CHECK_THROWS_WITH_AS(spatial::squareform(zeros(4)),
                         "[squareform] shape (4,); a vector of n (n - 1) / 2 elements is wanted", shape_error);
    CHECK_THROWS_AS(spatial::squareform(x), shape_error);
    CHECK_THROWS_AS(spatial::squareform(array<double>{{0, 1}, {2, 0}}), error);
    CHECK_THROWS_AS(spatial::squareform(array<double>{{1, 1}, {1, 0}}), error);
    CHECK(holds(spatial::squareform(array<double>{{0, 1}, {2, 0}}, false), {1}, {1}));
}
