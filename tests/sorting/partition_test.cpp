// Partitions of rows of every dtype, length and layout, against a sort by the standard library; argsorts of 64-bit keys
// that differ only in their low bits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/sorting/order.hpp"

using namespace ingot;
using ingot::testing::before;

namespace {

enum class kind_of_row { drawn, ties, equal, ascending, descending };

template <class T>
std::vector<T> row_of(kind_of_row kind, std::size_t n) {
    std::mt19937_64 random(n);
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t r = kind == kind_of_row::equal ? 5 : kind == kind_of_row::ties ? random() % 4 : random();
        if constexpr (std::is_integral_v<T>) {
            values.push_back(static_cast<T>(r));
        } else {
            constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
            const float special[] = {nan, -nan, inf, -inf, 0.0f, -0.0f};
            values.push_back(static_cast<T>(r % 32 < 6 ? special[r % 32] : static_cast<float>(r % 1001) / 8 - 50));
        }
    }
    if (kind == kind_of_row::ascending) std::ranges::sort(values, before<T>);
    if (kind == kind_of_row::descending) std::ranges::sort(values, [](T a, T b) { return before(b, a); });
    return values;
}

template <class T>
bool same_bits(std::vector<T> a, std::vector<T> b) {
    const auto less = [](const T& x, const T& y) { return std::memcmp(&x, &y, sizeof(T)) < 0; };
    std::ranges::sort(a, less), std::ranges::sort(b, less);
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
bool is_partitioned(const std::vector<T>& got, const std::vector<T>& given, const std::vector<index_t>& kths) {
    std::vector<T> sorted = given;
    std::ranges::sort(sorted, before<T>);
    if (!same_bits(got, given)) return false;
    for (index_t kth : kths) {
        const auto at = static_cast<std::size_t>(kth < 0 ? kth + static_cast<index_t>(given.size()) : kth);
        if (before(got[at], sorted[at]) || before(sorted[at], got[at])) return false;
        for (std::size_t i = 0; i < got.size(); ++i)
            if (i < at ? before(got[at], got[i]) : before(got[i], got[at])) return false;
    }
    return true;
}

}  // namespace

TEST_CASE_TEMPLATE("a partition has the elements at the positions of a sort, smaller ones before and others behind", T,
                   std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t,
                   std::uint64_t, float16, bfloat16, float, double) {
    for (const std::size_t n : {1u, 2u, 33u, 511u, 513u, 5000u})
        for (const kind_of_row kind : {kind_of_row::drawn, kind_of_row::ties, kind_of_row::equal,
                                       kind_of_row::ascending, kind_of_row::descending}) {
            CAPTURE(n);
            CAPTURE(static_cast<int>(kind));
            const std::vector<T> given = row_of<T>(kind, n);
            const array<T> x = asarray(given);
            const auto last = static_cast<index_t>(n) - 1;
            for (const index_t kth : {index_t{0}, last / 2, last, index_t{-1}})
                CHECK(is_partitioned(partition(x, kth).to_host(), given, {kth}));
            CHECK(is_partitioned(partition(x, {last, last / 3, last / 3, 0}).to_host(), given, {0, last / 3, last}));
            CHECK(x.to_host().size() == n);
            CHECK(same_bits(x.to_host(), given));
        }
}

TEST_CASE("rows are partitioned along any axis, in any layout, and of expressions") {
    const array<int> x = asarray(row_of<int>(kind_of_row::drawn, 40 * 1200), {40, 1200});
    const array<int> sorted = sort(x), down = sort(x, 0);
    CHECK(array_equal(partition(x, 600)(all, 600), sorted(all, 600)).item());
    CHECK(array_equal(partition(x, 7, 0)(7), down(7)).item());
    const array<int> back = partition(x(slice(none, none, -2), slice(none, none, -1)), {3, -4});
    const array<int> wanted = sort(x(slice(none, none, -2), ellipsis));
    CHECK(array_equal(back(all, 3), wanted(all, 3)).item());
    CHECK(array_equal(back(all, -4), wanted(all, -4)).item());
    CHECK(array_equal(partition(transpose(x), 20)(all, 20), transpose(down)(all, 20)).item());
    CHECK(array_equal(partition(x / 2, 600)(all, 600), sort(x / 2)(all, 600)).item());
    CHECK(array_equal(sort(partition(broadcast_to(x(0), {3, 1200}), 5)), broadcast_to(sorted(0), {3, 1200})).item());
    CHECK(array_equal(partition(array<bool>{true, false, true, false}, 1)(slice(0, 2)), zeros<bool>({2})).item());
    using c = std::complex<double>;
    const array<c> z{c(2, 1), c(0, 5), c(2, -1), c(1, 0)};
    CHECK(partition(z, 2)(2).item() == c(2, -1));
    CHECK(partition(zeros<int>({0, 4}), 2).shape() == shape_like{0, 4});
    CHECK(holds(partition(array<int>{3, 1, 2}, std::vector<int>{}), {3}, {1, 2, 3}));
}

TEST_CASE_TEMPLATE("few and many short rows are sorted and partitioned, and NaN keep their bits", T, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
                   float16, bfloat16, float, double) {
    for (const std::size_t n : {1u, 2u, 3u, 8u, 50u, 127u, 128u, 129u, 192u, 193u})
        for (const std::size_t rows : {1u, 2u, 31u, 67u}) {
            CAPTURE(n);
            CAPTURE(rows);
            std::vector<T> given;
            for (std::size_t i = 0; i < rows; ++i) {
                const std::vector<T> row = row_of<T>(static_cast<kind_of_row>(i % 5), n);
                given.insert(given.end(), row.begin(), row.end());
            }
            const auto length = static_cast<index_t>(n), kth = length / 2;
            const array<T> x = asarray(given, {static_cast<index_t>(rows), length});
            const std::vector<T> sorted = sort(x).to_host(), parted = partition(x, kth).to_host();
            for (std::size_t i = 0; i < rows; ++i) {
                const auto row = [&](const std::vector<T>& elements) {
                    const auto first = elements.begin() + static_cast<std::ptrdiff_t>(i * n);
                    return std::vector<T>(first, first + static_cast<std::ptrdiff_t>(n));
                };
                CHECK(std::ranges::is_sorted(row(sorted), before<T>));
                CHECK(same_bits(row(sorted), row(given)));
                CHECK(is_partitioned(row(parted), row(given), {kth}));
            }
        }
}

TEST_CASE("keys of 64 bits that differ only in low bits keep the order of a stable sort") {
    const auto check = [](const auto& given) {
        using T = std::remove_cvref_t<decltype(given[0])>;
        std::vector<index_t> wanted(given.size());
        std::iota(wanted.begin(), wanted.end(), 0);
        std::ranges::stable_sort(wanted, [&](index_t a, index_t b) {
            return before(given[static_cast<std::size_t>(a)], given[static_cast<std::size_t>(b)]);
        });
        CHECK(argsort(array<T>(asarray(given))).to_host() == wanted);
        const auto n = static_cast<index_t>(given.size());
        const array<index_t> rows = argsort(broadcast_to(array<T>(asarray(given)), {3, n}));
        CHECK(rows(2).to_host() == wanted);
    };
    std::mt19937_64 random(3);
    for (const std::size_t n : {1u, 2u, 3000u}) {
        std::vector<std::int64_t> near(n), wide(n);
        std::vector<std::uint64_t> high(n);
        std::vector<double> reals(n);
        for (std::size_t i = 0; i < n; ++i) {
            near[i] = static_cast<std::int64_t>(random() % 700) - 300;
            wide[i] = static_cast<std::int64_t>(random());
            high[i] = ~std::uint64_t{0} - random() % 700;
            reals[i] = std::nextafter(1.0, 2.0) + static_cast<double>(random() % 700) * 0x1p-52;
        }
        near[0] = std::numeric_limits<std::int64_t>::min(), near[n - 1] = std::numeric_limits<std::int64_t>::max();
        high[0] = 0;
        reals[0] = -std::numeric_limits<double>::infinity(), reals[n - 1] = std::nan("");
        if (n > 9) reals[5] = 0.0, reals[7] = -0.0, reals[9] = 0.0, near[8] = near[0];
        check(near), check(wide), check(high), check(reals);
    }
}
