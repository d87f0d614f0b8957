// Sorting of rows of every length and layout, against the standard library; fusion before and behind; invalid input.
#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>
#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// Numbers, many of them equal; some floats are NaN, infinite or a zero of either sign.
template <class T>
std::vector<T> noise(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i) {
        const auto r = static_cast<unsigned>(random());
        if constexpr (std::floating_point<T>) {
            constexpr T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
            const T special[] = {
                nan, inf, -inf, T(0), -T(0), std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()};
            values.push_back(r % 16 < 7 ? special[r % 16] : static_cast<T>(static_cast<int>(r >> 4) % 1000) / 8);
        } else {
            values.push_back(static_cast<T>(r % 3 == 0 ? r >> 28 : r * 2654435761u));
        }
    }
    return values;
}

template <class T>
bool before(T a, T b) {
    return a < b || (b != b && a == a);
}

/// Rows of `length` in `count`, along axis 1, and lying across memory along axis 0.
template <class T>
void check_rows(std::size_t count, std::size_t length) {
    CAPTURE(count);
    CAPTURE(length);
    const std::vector<T> given = noise<T>(count * length, static_cast<unsigned>(length));
    const auto rows = static_cast<index_t>(count), n = static_cast<index_t>(length);
    const array<T> x = asarray(given, {rows, n});
    const array<T> across(transpose(x));
    const std::vector<T> sorted = sort(x).eval().to_host(), columns = sort(transpose(across)).eval().to_host();
    const std::vector<index_t> order = argsort(x).eval().to_host();
    const array<index_t> down = argsort(across, 0);
    const std::vector<index_t> order_down = array<index_t>(transpose(down)).to_host();
    for (std::size_t i = 0; i < count; ++i) {
        const auto from = given.begin() + static_cast<std::ptrdiff_t>(i * length);
        std::vector<index_t> wanted(length);
        std::iota(wanted.begin(), wanted.end(), 0);
        std::ranges::stable_sort(wanted, [&](index_t a, index_t b) { return before(from[a], from[b]); });
        bool as_wanted = true;
        for (std::size_t j = 0; j < length; ++j) {
            const std::size_t at = i * length + j;
            as_wanted = as_wanted && order[at] == wanted[j] && order_down[at] == wanted[j];
            for (const T value : {sorted[at], columns[at]})
                as_wanted = as_wanted && !before(value, from[wanted[j]]) && !before(from[wanted[j]], value);
        }
        CHECK(as_wanted);
        // The result has the same numbers, including zeros of both signs: a sort loses and makes none.
        const auto less_bits = [](T a, T b) { return std::memcmp(&a, &b, sizeof(T)) < 0; };
        std::vector<T> mine(sorted.begin() + static_cast<std::ptrdiff_t>(i * length),
                            sorted.begin() + static_cast<std::ptrdiff_t>((i + 1) * length));
        std::vector<T> theirs(from, from + static_cast<std::ptrdiff_t>(length));
        std::ranges::sort(mine, less_bits);
        std::ranges::sort(theirs, less_bits);
        CHECK(std::memcmp(mine.data(), theirs.data(), length * sizeof(T)) == 0);
    }
}

}  // namespace

TEST_CASE_TEMPLATE("rows of every length are sorted, and equal elements of an argsort stay in order", T, std::int8_t,
                   std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t,
                   float, double) {
    check_rows<T>(5, 1);
    check_rows<T>(9, 3);
    check_rows<T>(3, 1000);
    if (sizeof(T) == 4 || sizeof(T) == 1) {
        check_rows<T>(2, 2048);
        check_rows<T>(3, 2049);
        check_rows<T>(2, 5000);
        check_rows<T>(1, 9001);
    }
}

TEST_CASE("a long row is sorted by several workers, and merged") {
    if (current_device().is_cuda()) return;
    check_rows<double>(1, 200003);
}

TEST_CASE("rows that lie anywhere, of several axes before them") {
    const array<int> x = reshape(asarray(noise<int>(4 * 5 * 6 * 7, 1)), {4, 5, 6, 7});
    const array<int> wanted = sort(x, 1);
    CHECK(array_equal(sort(x(slice(none, none, -1), ellipsis), 1), wanted(slice(none, none, -1), ellipsis)).item());
    CHECK(array_equal(sort(x(all, all, slice(1, none, 2), slice(none, none, 3)), 1),
                      wanted(all, all, slice(1, none, 2), slice(none, none, 3)))
              .item());
    CHECK(array_equal(argsort(moveaxis(x, 1, 0), 0), moveaxis(argsort(x, 1), 1, 0)).item());
    array<int> y = x;
    y(1, ellipsis) = sort(y(1, ellipsis), 0);
    CHECK(array_equal(y(1, ellipsis), wanted(1, ellipsis)).item());
    CHECK(array_equal(y(0, ellipsis), x(0, ellipsis)).item());
}

TEST_CASE("what is before a sort is computed into its rows, what is behind reads them, and a lazy has it") {
    const array<float> x = asarray(noise<float>(600, 3), {3, 200});
    array<float> r;
    const auto calls = counters().library_calls;
    r = sort(x * 2.0f) + 1.0f;
    CHECK(counters().library_calls - calls == 1);
    CHECK(array_equal(where(isnan(r), 0.5f, r), where(isnan(sort(x)), 0.5f, sort(x) * 2.0f + 1.0f)).item());
    const array<int> i = asarray(noise<int>(600, 3), {3, 200});
    const lazy<int> sorted = sort(i);
    CHECK(array_equal(sorted(all, slice(none, none, -1)), sort(i)(all, slice(none, none, -1))).item());
    CHECK(max(i).item() == max(sort(i)(all, -1)).item());
}

TEST_CASE("a sort of what lies in memory stands beside one of what is computed first") {
    const array<float> x = asarray(noise<float>(600, 5), {3, 200}), y(transpose(x));
    const array<float> finite = where(isnan(x), 0.0f, clip(x, -1e6f, 1e6f));
    const array<float> doubled = sort(finite * 2.0f), sorted = sort(finite);
    CHECK(array_equal(sort(finite * 2.0f) + sort(finite), doubled + sorted).item());
    CHECK(array_equal(sort(finite) - sort(finite * 2.0f), sorted - doubled).item());
    CHECK(array_equal(transpose(argsort(y, 0)), argsort(x)).item());
    CHECK(array_equal(argsort(y, 0), transpose(argsort(x))).item());
}

TEST_CASE("bool, halves and complex numbers have NumPy's order") {
    using c = std::complex<float>;
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(array_equal(sort(array<bool>{true, false, true, false}), array<bool>{false, false, true, true}).item());
    CHECK(array_equal(argsort(array<bool>{true, false, true, false}), array<int>{1, 3, 0, 2}).item());
    const array<float16> h = astype<float16>(array<float>{2, -1, nan, 0.5f});
    CHECK(array_equal(astype<float>(sort(h))(slice(0, 3)), array<float>{-1, 0.5f, 2}).item());
    CHECK(isnan(sort(h))(3).item());
    const array<c> z{c(1, 2), c(nan, 0), c(1, -1), c(0, nan), c(0, 3), c(1, nan)};
    CHECK(array_equal(argsort(z), array<int>{4, 2, 0, 3, 5, 1}).item());
    const std::vector<c> sorted = sort(z).eval().to_host();
    CHECK(sorted[0] == c(0, 3));
    CHECK(sorted[1] == c(1, -1));
    CHECK(sorted[2] == c(1, 2));
    CHECK(std::isnan(sorted[3].imag()));
    CHECK(std::isnan(sorted[5].real()));
    // Numbers with a NaN part come last: the imaginary part alone, the real part alone, both.
    const array<c> parts{c(nan, 1), c(1, nan), c(nan, nan), c(2, 0), c(nan, 0), c(0, nan)};
    CHECK(array_equal(argsort(parts), array<int>{3, 5, 1, 4, 0, 2}).item());
    CHECK(sort(parts).to_host()[0] == c(2, 0));
    const array<std::complex<double>> wide = astype<std::complex<double>>(parts);
    CHECK(array_equal(argsort(tile(wide, 500)) % 6, repeat(array<int>{3, 5, 1, 4, 0, 2}, 500)).item());
}

TEST_CASE("nothing is sorted, and the quantiles of nothing are NaN") {
    CHECK(sort(zeros<float>({0})).eval().size() == 0);
    CHECK(argsort(zeros<int>({3, 0})).eval().shape().size() == 2);
    CHECK(unique(zeros<int>({0})).size() == 0);
    CHECK(unique_all(zeros<int>({0})).counts.size() == 0);
    CHECK(isin(array<int>{1, 2}, zeros<int>({0})).to_host() == std::vector<bool>{false, false});
    CHECK(std::isnan(median(zeros<double>({0})).item()));
    CHECK(all(isnan(quantile(zeros<float>({2, 0}), 0.5, 1))).item());
}

TEST_CASE("bad input to sorts, sets and quantiles says what was given") {
    const array<int> x{{3, 1}, {2, 4}};
    CHECK_THROWS_WITH_AS(sort(x, 2), doctest::Contains("sort"), shape_error);
    CHECK_THROWS_AS(argsort(zeros<int>({})), shape_error);
    CHECK_THROWS_WITH_AS(partition(x, 2), doctest::Contains("element 2 is outside an axis of 2"), index_error);
    CHECK_THROWS_WITH_AS(partition(x, {0, -3}), doctest::Contains("element -3 is outside an axis of 2"), index_error);
    CHECK_THROWS_AS(topk(x, 3), index_error);
    CHECK_THROWS_AS(topk(x, -1), index_error);
    // An empty axis has no element to select.
    CHECK_THROWS_WITH_AS(partition(zeros(0), 0), doctest::Contains("element 0 is outside an axis of 0"), index_error);
    CHECK_THROWS_AS(argpartition(zeros({2, 0}), 0), index_error);
    CHECK_THROWS_WITH_AS(topk(zeros(0), 1), doctest::Contains("1 elements are wanted of an axis of 0"), index_error);
    CHECK(std::get<0>(topk(zeros({3, 0}), 0)).shape() == shape_like{3, 0});
    CHECK(partition(zeros({0, 4}), 2).shape() == shape_like{0, 4});
    CHECK_THROWS_AS(topk(x, 1, 5), shape_error);
    CHECK_THROWS_WITH_AS(lexsort(std::tuple{x, x(0)}), doctest::Contains("(2, 2) and (2,): one shape is wanted"),
                         shape_error);
    CHECK_THROWS_WITH_AS(quantile(x, 1.5), doctest::Contains("1.5"), error);
    CHECK_THROWS_WITH_AS(percentile(x, {20, -1}, 0), doctest::Contains("0 and 100"), error);
    CHECK_THROWS_AS(median(x, 2), shape_error);
}
