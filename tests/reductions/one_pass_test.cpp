// Sums about a value that their own row gives: variance, softmax, logsumexp of rows that no kernel holds. They are as
// accurate, and as infinite, as when the row is read twice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <ingot/ingot.hpp>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(),
                not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr std::size_t very_long = (std::size_t{1} << 19) + 5;

std::vector<float> noise(std::size_t n, float mean) {
    std::vector<float> values(n);
    std::uint32_t state = 1;
    for (float& v : values) {
        state = state * 1664525u + 1013904223u;
        v = mean + static_cast<float>(state >> 8) * 0x1p-24f * 4 - 2;
    }
    return values;
}

double exact_variance(const std::vector<float>& values) {
    double mean = 0, squares = 0;
    for (const float v : values) mean += v;
    mean /= static_cast<double>(values.size());
    for (const float v : values) squares += (v - mean) * (v - mean);
    return squares / static_cast<double>(values.size());
}

/// Zeros, but for one element.
array<float> zeros_but(float value, std::size_t at) {
    std::vector<float> values(very_long);
    values[at] = value;
    return asarray(values);
}

}  // namespace

TEST_CASE("a large mean costs a variance no digits") {
    for (const float mean : {0.0f, 1e4f, -1e6f}) {
        const std::vector<float> values = noise(very_long, mean);
        const array<float> x = asarray(values);
        const double wanted = exact_variance(values);
        CHECK(std::abs(var(x).item() - wanted) <= 1e-5 * wanted);
        const array<float> columns = reshape(x(slice(0, 3 << 17)), {-1, 3});
        const std::vector<float> got = var(columns, 0).eval().to_host();
        for (std::size_t c = 0; c < 3; ++c) {
            std::vector<float> column;
            for (std::size_t i = c; i < std::size_t{3} << 17; i += 3) column.push_back(values[i]);
            CHECK(std::abs(got[c] - exact_variance(column)) <= 1e-5 * exact_variance(column));
        }
    }
}

TEST_CASE("an element far off costs a variance its own digits alone") {
    std::vector<float> values = noise(very_long, 0);
    values[0] = 1e6f;
    const double wanted = exact_variance(values);
    CHECK(std::abs(var(asarray(values)).item() - wanted) <= 1e-5 * wanted);
}

TEST_CASE("an infinite or undefined element makes a variance undefined, wherever it is") {
    for (const float value : {infinity, -infinity, not_a_number})
        for (const std::size_t at : {std::size_t{0}, std::size_t{70001}, very_long - 1}) {
            const array<float> x = zeros_but(value, at);
            CHECK(std::isnan(var(x).item()));
            CHECK(std::isnan(stddev(x).item()));
        }
}

TEST_CASE_TEMPLATE("a variance whose squares overflow is infinite, wherever the large elements are", T, float, double) {
    const T large = sizeof(T) == 4 ? T(1e25) : T(1e200), overflown = std::numeric_limits<T>::infinity();
    for (const std::size_t n : {2u, 6u, 40u, 1000u, 5000u, 70000u})
        for (const std::size_t at : {std::size_t{0}, n / 2, n - 1}) {
            std::vector<T> values(2 * n, T(0));
            values[at] = large;
            const array<T> rows = reshape(asarray(values), {2, -1});
            CHECK(var(rows(0)).item() == overflown);
            CHECK(stddev(rows(0)).item() == overflown);
            CHECK(var(rows, 1).eval().to_host() == std::vector<T>{overflown, 0});
            CHECK(var(array<T>(transpose(rows)), 0).eval().to_host() == std::vector<T>{overflown, 0});
            const std::vector<T> standard = array<T>((rows - mean(rows)) / stddev(rows)).to_host();
            CHECK(std::ranges::all_of(standard, [](T v) { return v == 0; }));
        }
}

TEST_CASE("infinite elements of a softmax and of a logsumexp, wherever they are") {
    for (const std::size_t at : {std::size_t{0}, std::size_t{70001}, very_long - 1}) {
        const array<float> below = zeros_but(-infinity, at), above = zeros_but(infinity, at),
                           undefined = zeros_but(not_a_number, at);
        const float log_rest = std::log(static_cast<float>(very_long - 1));
        CHECK(std::abs(logsumexp(below).item() - log_rest) < 1e-5f);
        CHECK(logsumexp(above).item() == infinity);
        CHECK(std::isnan(logsumexp(undefined).item()));
        const std::vector<float> shares = softmax(below).eval().to_host();
        CHECK(shares[at] == 0);
        CHECK(std::abs(shares[5] * static_cast<float>(very_long - 1) - 1) < 1e-5f);
        CHECK(std::isnan(softmax(above).eval().to_host()[7]));
        CHECK(std::isnan(softmax(undefined).eval().to_host()[7]));
    }
    const array<float> nothing = full<float>({very_long}, -infinity);
    CHECK(logsumexp(nothing).item() == -infinity);
    CHECK(std::isnan(softmax(nothing).eval().to_host()[3]));
}

TEST_CASE("exponentials that vanish beside their sum are none the less summed") {
    for (const float far : {0.0f, -80.0f, -90.0f, -104.0f, -1e30f, -infinity}) {
        const array<float> x = asarray(std::vector<float>{3, 3 + far, 3 + far, 3 + far, 3 + far}, {1, 5});
        const array<float> rows = broadcast_to(x, {700, 5}) + 0;
        const double wanted = 3 + std::log(1 + 4 * std::exp(static_cast<double>(far)));
        for (const float got : logsumexp(rows, 1).eval().to_host()) CHECK(got == doctest::Approx(wanted).epsilon(1e-6));
    }
}

using extents = std::pair<index_t, index_t>;  // of rows of columns: how long, how many

template <class T>
void expect_infinite_columns(index_t n, index_t width) {
    constexpr T infinite = std::numeric_limits<T>::infinity(), undefined = std::numeric_limits<T>::quiet_NaN();
    array<T> x = zeros<T>({n, width});
    x(3, 1) = infinite;
    x(n - 1, 2) = n % 2 == 0 ? undefined : -undefined;
    x(n / 2, 3) = -infinite;
    x(all, 4) = -infinite;
    x(slice(7, 40), 5) = infinite;
    x(20, 5) = undefined;
    const auto [greatest, total] = eval(max(x, 0), sum(exp(x - max(x, 0)), 0));
    const std::vector<T> most = greatest.to_host(), sums = total.to_host(), shares = eval(softmax(x, 0)).to_host();
    CHECK((most[0] == 0 && most[1] == infinite && std::isnan(most[2]) && most[3] == 0 && most[4] == -infinite &&
           std::isnan(most[5])));
    CHECK((sums[0] == static_cast<T>(n) && std::isnan(sums[1]) && std::isnan(sums[2]) &&
           sums[3] == static_cast<T>(n - 1) && std::isnan(sums[4]) && std::isnan(sums[5])));
    const auto share = [&](index_t row, index_t column) {
        return shares[static_cast<std::size_t>(row * width + column)];
    };
    for (const index_t row : {index_t{0}, n / 2, n - 1}) {
        CHECK(std::abs(share(row, 0) * static_cast<T>(n) - 1) < 1e-5);
        CHECK((std::isnan(share(row, 1)) && std::isnan(share(row, 2)) && std::isnan(share(row, 4))));
        CHECK((row == n / 2 ? share(row, 3) == 0 : std::abs(share(row, 3) * static_cast<T>(n - 1) - 1) < 1e-5));
    }
}

TEST_CASE("infinite elements of a column, which its maximum tells too") {
    for (const auto& [n, width] : {extents{70'001, 6}, extents{9001, 65}, extents{5000, 301}}) {
        expect_infinite_columns<float>(n, width);
        expect_infinite_columns<double>(n, width);
    }
}

/// Elements that rise above all earlier ones, and then fall far below them.
template <class T>
void expect_sums_of_what_rises(index_t n, index_t width) {
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<T>(i < values.size() / 2 ? static_cast<double>(i) / 8
                                                         : -900 + 0.25 * static_cast<double>(i % 1000));
    const double top = std::ranges::max(values);
    double wanted = 0;
    for (const T v : values) wanted += std::exp(static_cast<double>(v) - top);
    const array<T> x = broadcast_to(asarray(values, {n, 1}), {n, width}) + T(0);
    const auto [greatest, total] = eval(max(x, 0), sum(exp(x - max(x, 0)), 0));
    for (const T got : greatest.to_host()) CHECK(got == top);
    const double bound = 8 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (const T got : total.to_host()) CHECK(std::abs(static_cast<double>(got) / wanted - 1) <= bound);
}

TEST_CASE("exponentials of columns that rise all the way") {
    for (const auto& [n, width] : {extents{70'001, 1}, extents{70'001, 5}, extents{9001, 64}, extents{9001, 65},
                                   extents{6007, 130}, extents{5000, 301}}) {
        expect_sums_of_what_rises<float>(n, width);
        expect_sums_of_what_rises<double>(n, width);
    }
}

TEST_CASE("softmax of a few rows that nobody holds, beginning anywhere") {
    for (const index_t n : {300'001, 524'288}) {
        const std::vector<float> values = noise(static_cast<std::size_t>(3 * n), 11);
        const std::vector<float> shares = eval(softmax(asarray(values, {3, n}), 1)).to_host();
        for (index_t row = 0; row < 3; ++row) {
            const auto from = static_cast<std::ptrdiff_t>(row * n);
            double total = 0, all_shares = 0;
            for (index_t k = 0; k < n; ++k) {
                total += std::exp(static_cast<double>(values[static_cast<std::size_t>(from + k)]));
                all_shares += static_cast<double>(shares[static_cast<std::size_t>(from + k)]);
            }
            CHECK(all_shares == doctest::Approx(1).epsilon(1e-6));
            for (const index_t k : {index_t{0}, n / 3, n - 1}) {
                const auto at = static_cast<std::size_t>(from + k);
                CHECK(shares[at] == doctest::Approx(std::exp(static_cast<double>(values[at])) / total).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("sums about any value, not the mean or the maximum alone") {
    const std::vector<float> values = noise(very_long, 3);
    const array<float> x = asarray(values);
    double total = 0, squares = 0, exponentials = 0;
    for (const float v : values) total += v;
    const double c = total / 1e6;
    for (const float v : values) {
        squares += (v - c) * (v - c);
        exponentials += std::exp(v - c);
    }
    CHECK(std::abs(sum(square(x - sum(x) / 1e6)).item() / squares - 1) < 1e-5);
    CHECK(std::abs(sum(exp(x - sum(x) / 1e6)).item() / exponentials - 1) < 1e-5);
}

TEST_CASE("everything about what everything gives is two kernels, and a number one") {
    const auto kernels = [](const auto& e) { return explain(e).kernels.size(); };
    const array<float> x = asarray(noise(very_long, 3));
    CHECK(kernels((x - mean(x)) / stddev(x)) == 2);
    CHECK(kernels(softmax(x)) == 2);
    CHECK(kernels(x / norm(x)) == 2);
    CHECK(kernels(var(x)) == 1);
    CHECK(kernels(logsumexp(x)) == 1);
    const array<float> columns = reshape(x(slice(0, 5 << 16)), {-1, 5}), rows = reshape(x(slice(0, 1 << 19)), {2, -1});
    CHECK(kernels(var(columns, 0)) == 1);
    CHECK(kernels(logsumexp(columns, 0)) == 1);
    CHECK(kernels(softmax(columns, 0)) <= 2);
    CHECK(kernels(softmax(rows, 1)) <= 2);
}

TEST_CASE("about a value that says nothing of infinities, these come out of the sum") {
    for (const std::size_t at : {std::size_t{0}, std::size_t{70001}, very_long - 1}) {
        const array<float> above = zeros_but(infinity, at), below = zeros_but(-infinity, at);
        CHECK(sum(square(above - min(above))).item() == infinity);
        CHECK(sum(square(below - max(below))).item() == infinity);
        CHECK(std::isnan(sum(square(above - max(above))).item()));
        CHECK(std::isnan(sum(exp(below - min(below))).item()));
        CHECK(std::isnan(sum(exp(below - mean(below))).item()));
    }
}
