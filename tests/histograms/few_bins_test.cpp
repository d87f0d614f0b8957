// Counts at few places, which blocks of a GPU keep in shared memory: against a loop over the values.
#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "tests/arrays/expect.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

std::vector<std::int64_t> drawn(std::size_t n, std::int64_t below) {
    std::mt19937_64 draw(n);
    std::vector<std::int64_t> values(n);
    for (auto& v : values) v = static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(below));
    return values;
}

template <class T>
std::vector<index_t> counted(const std::vector<T>& values, index_t bins) {
    std::vector<index_t> counts(static_cast<std::size_t>(bins));
    for (const T v : values) ++counts[static_cast<std::size_t>(v)];
    return counts;
}

}  // namespace

TEST_CASE("counts at few and at many places are those of a loop, whatever the size") {
    for (const index_t bins : std::initializer_list<index_t>{1, 2, 255, 256, 257, 1024, 4096, 10000, 16384, 16385}) {
        const auto values = drawn(static_cast<std::size_t>(3001 + bins), bins);
        const array<std::int64_t> x = asarray(values);
        array<index_t> counts;
        CHECK(launches([&] { counts = bincount(x, bins); }) <= 3);  // the extremes, and the counts
        CHECK(counts.to_host() == counted(values, bins));
    }
    for (const std::size_t n : std::initializer_list<std::size_t>{1, 2, 7, 31, 255, 2047, 2048, 2049,
                                                                  4100}) {  // no whole vectors, no whole blocks
        const auto values = drawn(n, 200);
        CHECK(bincount(asarray(values), 200).to_host() == counted(values, 200));
    }
    CHECK(bincount(zeros<int>(0), 5).to_host() == std::vector<index_t>(5));
}

TEST_CASE("all values in one bin") {
    const index_t n = current_device().is_host() ? index_t{1} << 20 : index_t{1} << 14;
    const auto counts = bincount(full<int>(n, 7), 300).to_host();
    CHECK(counts[7] == n);
    CHECK(sum(bincount(full<int>(n, 7), 300)).item() == n);
}

TEST_CASE("bins of what is strided, gathered, misaligned or computed") {
    const auto values = drawn(5000, 300);
    const array<std::int64_t> x = asarray(values);
    std::vector<std::int64_t> odd, behind, backwards(values.rbegin(), values.rend()), double_of;
    for (std::size_t i = 1; i < values.size(); i += 3) odd.push_back(values[i]);
    for (std::size_t i = 1; i < values.size(); ++i) behind.push_back(values[i]);
    for (const auto v : values) double_of.push_back(v * 2 + 1);
    CHECK(bincount(x(slice(1, none, 3)), 300).to_host() == counted(odd, 300));
    CHECK(bincount(x(slice(1, none)), 300).to_host() == counted(behind, 300));
    CHECK(bincount(flip(x), 300).to_host() == counted(values, 300));
    CHECK(bincount(take(x, arange<index_t>(4999, -1, -1)), 300).to_host() == counted(backwards, 300));
    CHECK(bincount(x * 2 + 1, 600).to_host() == counted(double_of, 600));
    CHECK(bincount(astype<std::uint8_t>(x % 200), 200).to_host() == bincount(x % 200, 200).to_host());
    CHECK(bincount(astype<std::int32_t>(x), 300).to_host() == counted(values, 300));
    CHECK(bincount(x < 100).to_host() == std::vector<index_t>{sum(x >= 100).item(), sum(x < 100).item()});
}

TEST_CASE("the same statement counts at few places and at many ones") {
    const auto values = drawn(3000, 100);
    const array<std::int64_t> x = asarray(values);
    for (const index_t bins : std::initializer_list<index_t>{20000, 100, 1000, 20000, 5000})
        CHECK(bincount(x, bins).to_host() == counted(values, bins));
}

TEST_CASE("a value other than one is added as often as its place is met") {
    array<std::int32_t> a = full<std::int32_t>(40, 5);
    array<std::uint64_t> b = zeros<std::uint64_t>(40);
    const auto values = drawn(999, 40);
    const array<std::int64_t> at = asarray(values);
    scatter_add(a(at), -3);
    scatter_add(b(at), std::uint64_t{1} << 40);
    const auto times = counted(values, 40);
    const auto low = a.to_host();
    const auto high = b.to_host();
    for (std::size_t i = 0; i < 40; ++i) {
        CHECK(low[i] == 5 - 3 * times[i]);
        CHECK(high[i] == static_cast<std::uint64_t>(times[i]) << 40);
    }
}

TEST_CASE("values on edges of uniform bins, beside them and outside") {
    for (const auto& [first, last, bins] :

         std::vector<std::tuple<double, double, int>>{{0, 1, 256}, {-3, 7, 10}, {1e6, 1e6 + 64, 256}, {-0.1, 0.3, 7}}) {
        const auto edges = histogram_bin_edges(array<float>{0}, bins, {first, last});
        const auto sides = edges.to_host();
        std::vector<float> x{-1e30f, 1e30f, std::numeric_limits<float>::quiet_NaN()};
        for (const float e : sides)
            for (const float v : {std::nextafter(e, -1e9f), e, std::nextafter(e, 1e9f)}) x.push_back(v);
        std::mt19937 draw(1);
        for (int i = 0; i < 2000; ++i)
            x.push_back(static_cast<float>(first + (last - first) * static_cast<double>(draw()) / 4294967296.0));
        std::vector<index_t> wanted(static_cast<std::size_t>(bins));
        for (const float v : x) {
            if (!(v >= sides.front() && v <= sides.back())) continue;
            std::size_t k = 0;
            while (k + 1 < wanted.size() && v >= sides[k + 1]) ++k;
            ++wanted[k];
        }
        CHECK(std::get<0>(histogram(asarray(x), bins, {first, last})).to_host() == wanted);
        const auto squares = std::get<0>(
            histogram2d(asarray(x), asarray(x), bins < 100 ? bins : 9, bin_ranges{{first, last}, {first, last}}));
        double inside = 0;
        for (const float v : x) inside += v >= first && v <= last;
        CHECK(sum(squares).item() == inside);
    }
}

TEST_CASE("values that repeat along an axis count as often as they do") {
    CHECK(bincount(broadcast_to(array<int>{3}, {10})).to_host() == std::vector<index_t>{0, 0, 0, 10});
    CHECK(bincount(repeat(array<int>{3}, 10)).to_host() == std::vector<index_t>{0, 0, 0, 10});
    CHECK(bincount(ravel(broadcast_to(array<int>{1, 2}, {5, 2}))).to_host() == std::vector<index_t>{0, 5, 5});
    const auto same = broadcast_to(array<double>{0.3}, {10});
    CHECK(std::get<0>(histogram(same, 4, {0, 1})).to_host() == std::vector<index_t>{0, 10, 0, 0});
    CHECK(std::get<0>(histogram2d(same, same, 2, {{0, 1}, {0, 1}})).to_host() == std::vector<double>{10, 0, 0, 0});
    const array<double> weighted = bincount(broadcast_to(array<int>{1}, {10}), broadcast_to(array<double>{0.5}, {10}));
    CHECK(weighted.to_host() == std::vector<double>{0, 5});
}
