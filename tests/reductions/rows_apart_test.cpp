// Short rows that are no run of memory: spaced apart, of every other element, across memory, on a middle axis or of two
// axes. What they compute, and that on a GPU few threads do.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include <ingot/ingot.hpp>

using namespace ingot;

namespace {

constexpr index_t many_rows = 301;  // rows: results enough for classes of their own

/// Eighths, which float32 adds exactly, and ties.
array<float> eighths(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<float> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i * 7 % 31) / 8 - 1;
    return asarray<float>(v, shape);
}

/// The results of all rows, one after the other.
struct expected_rows {
    std::vector<float> sums, greatest, softmax, prefixes;
    std::vector<std::int64_t> places;

    expected_rows(const std::vector<float>& of, std::size_t length) {
        for (std::size_t row = 0; row < of.size(); row += length) {
            float sum = 0;
            double exponentials = 0;
            std::size_t best = row;
            for (std::size_t i = row; i < row + length; ++i) {
                sum += of[i];
                prefixes.push_back(sum);
                if (of[i] > of[best]) best = i;
            }
            const auto exponential = [&](std::size_t i) { return std::exp(double{of[i]} - double{of[best]}); };
            for (std::size_t i = row; i < row + length; ++i) exponentials += exponential(i);
            for (std::size_t i = row; i < row + length; ++i)
                softmax.push_back(static_cast<float>(exponential(i) / exponentials));
            sums.push_back(sum);
            greatest.push_back(of[best]);
            places.push_back(static_cast<std::int64_t>(best - row));
        }
    }
};

template <class E>
std::vector<float> rows_of(const E& e, index_t axis) {
    return array<float>(moveaxis(e, axis, -1)).to_host();
}

template <class E>
std::uint64_t threads_of(const E& e) {
    const kernel_explanation k = explain(e).kernels.back();
    return k.grid[0] * k.grid[1] * k.grid[2] * k.block;
}

/// Folds, a row program and a scan of the rows along an axis.
template <class E>
void check_rows(const E& x, index_t axis) {
    const index_t length = x.shape()[static_cast<int>(axis)];
    CAPTURE(length);
    const expected_rows e(rows_of(x, axis), static_cast<std::size_t>(length));
    const auto [sums, greatest, places] = eval(sum(x, axis), max(x, axis), argmax(x, axis));
    CHECK(sums.to_host() == e.sums);
    CHECK(greatest.to_host() == e.greatest);
    CHECK(places.to_host() == e.places);
    CHECK(rows_of(array<float>(cumsum(x, axis)), axis) == e.prefixes);
    const array<float> shares = softmax(x, axis);
    CHECK(std::ranges::equal(rows_of(shares, axis), e.softmax,
                             [](float made, float wanted) { return std::abs(made - wanted) <= 1e-6f; }));
    if (!current_device().is_cuda() || length > 8) return;
    const std::uint64_t all = e.sums.size() + 256;  // the last block may not be full
    CHECK(threads_of(sum(x, axis)) <= 2 * all);
    CHECK(threads_of(softmax(x, axis)) <= 2 * all);
    CHECK(threads_of(cumsum(x, axis)) <= 2 * all);
}

}  // namespace

TEST_CASE("short rows spaced apart, and of every other element") {
    const array<float> x = eighths({many_rows, 64});
    check_rows(x(all, slice(4, 9)), 1);   // from a vector on
    check_rows(x(all, slice(1, 14)), 1);  // from anywhere
    check_rows(x(all, slice(1, 64, 5)), 1);
    check_rows(x(all, slice(2, 26, 5)), 1);
}

TEST_CASE("short rows across memory, beside many and beside few") {
    check_rows(eighths({7, many_rows})(slice(0, 5), all), 0);
    check_rows(transpose(eighths({7, 2 * many_rows}))(all, slice(0, 3)), 1);
    for (const index_t n : {5, 29, 60}) check_rows(eighths({many_rows, n + 1, 3})(all, slice(0, n), all), 1);
}

TEST_CASE("short rows of two axes") {
    const array<float> x = eighths({3, many_rows, 5});
    const array<float> rows = reshape(moveaxis(x, 0, 1), {many_rows, 15});
    const expected_rows e(rows.to_host(), 15);
    const auto [sums, greatest] = eval(sum(x, {0, 2}), max(x, {0, 2}));
    CHECK(sums.to_host() == e.sums);
    CHECK(greatest.to_host() == e.greatest);
    if (current_device().is_cuda()) CHECK(threads_of(sum(x, {0, 2})) <= 4 * (many_rows + 64));
}

TEST_CASE("lengths of one part of a class share kernels") {
    const array<float> x = eighths({many_rows, 64});
    const auto compiled = [&](index_t n) {
        const std::uint64_t before = counters().compiles + counters().disk_cache_hits;
        const array<float> sums = sum(x(all, slice(8, 8 + n)) * 3, 1);
        CHECK(sums.shape()[0] == many_rows);
        return counters().compiles + counters().disk_cache_hits - before;
    };
    (void)compiled(9);
    CHECK(compiled(16) == 0);
    CHECK(compiled(12) == 0);
}

TEST_CASE("prefixes of columns beside few, as another type than the one that is scanned") {
    std::vector<std::int32_t> v(301 * 5 * 3);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i % 23) - 7;
    const array<std::int32_t> x = asarray<std::int32_t>(v, {301, 5, 3});
    std::vector<float> wanted(v.size());
    for (std::size_t i = 0; i < v.size(); ++i)
        wanted[i] = static_cast<float>(v[i]) + (i / 3 % 5 > 0 ? wanted[i - 3] : 0.f);
    CHECK(array<float>(cumsum(astype<float>(x), 1)).to_host() == wanted);
}
