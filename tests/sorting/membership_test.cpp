// isin, which compares, looks up or searches by the number and the range of the test's elements, against a search of
// them all.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

template <class T>
std::vector<T> drawn(std::size_t n, std::uint64_t range, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> values;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint64_t r = range == 0 ? random() : random() % range;
        if constexpr (std::is_integral_v<T>) {
            values.push_back(static_cast<T>(r));
        } else {
            const float special[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                                     0.0f, -0.0f};
            values.push_back(static_cast<T>(i % 50 < 4 ? special[i % 50] : static_cast<float>(r % 2000) / 4 - 100));
        }
    }
    return values;
}

template <class T>
std::size_t wrong_of(const array<T>& x, const std::vector<T>& test) {
    const std::vector<T> values = x.to_host();
    std::vector<double> sorted;
    for (const T t : test)
        if (t == t) sorted.push_back(static_cast<double>(t));
    std::ranges::sort(sorted);
    const std::vector<bool> got = isin(x, array<T>(asarray(test))).to_host();
    REQUIRE(got.size() == values.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const bool is_number = values[i] == values[i];
        wrong += got[i] != (is_number && std::ranges::binary_search(sorted, static_cast<double>(values[i])));
    }
    return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("isin of few and many elements, in narrow and wide ranges", T, std::int8_t, std::uint8_t,
                   std::int16_t, std::uint16_t, std::int32_t, std::uint32_t, float16, float, double) {
    for (const std::uint64_t range : {0u, 90u})
        for (const std::size_t n : {1u, 3u, 32u, 33u, 900u, 9000u}) {
            CAPTURE(n);
            CAPTURE(range);
            const array<T> x = asarray(drawn<T>(1500, range, 1), {30, 50});
            CHECK(wrong_of(x, drawn<T>(n, range, 2)) == 0);
            CHECK(wrong_of(array<T>(transpose(x)(slice(none, none, -1), slice(1, none, 2))), drawn<T>(n, range, 3)) ==
                  0);
        }
}

TEST_CASE("isin at the ends of 64-bit integers, of nothing, of one element, and of several dtypes") {
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(), most = -(least + 1);
    std::vector<std::int64_t> low(40), ends{least, most, 0};
    for (std::size_t i = 0; i < low.size(); ++i) low[i] = least + static_cast<std::int64_t>(3 * i);
    const array<std::int64_t> x{least, least + 3, least + 4, -1, 0, most};
    CHECK(isin(x, array<std::int64_t>(asarray(low))).to_host() ==
          std::vector<bool>{true, true, false, false, false, false});
    ends.resize(50, 7);
    CHECK(isin(x, array<std::int64_t>(asarray(ends))).to_host() ==
          std::vector<bool>{true, false, false, false, true, true});
    CHECK(isin(zeros<int>({0, 3}), array<int>{1}).shape() == shape_like{0, 3});
    CHECK_FALSE(isin(full<int>({}, 3), zeros<int>({0})).item());
    CHECK(isin(full<int>({}, 3), arange<int>(100)).item());
    CHECK(isin(array<int>{-1, 2}, arange<std::uint8_t>(100)).to_host() == std::vector<bool>{false, true});
    CHECK(isin(array<bool>{true, false}, full<bool>({40}, true)).to_host() == std::vector<bool>{true, false});
    CHECK(isin(array<double>{0.5, 2}, arange<int>(100)).to_host() == std::vector<bool>{false, true});
}

TEST_CASE("isin computes where its arrays are, whatever device is current") {
    const array<int> x = arange<int>(100).to(device::host()), even = array<int>(arange<int>(50) * 2).to(device::host());
    const array<int> far = array<int>(arange<int>(10000) * 100003).to(device::host());
    CHECK(sum(isin(x, even)).item() == 50);
    CHECK(sum(isin(x, far)).item() == 1);
    CHECK(isin(x, even).device().is_host());
    CHECK(isin(zeros<int>({0}).to(device::host()), even).device().is_host());
}
