// CUB's radix sort on a GPU against the standard library: every dtype and many lengths; rows of every layout, more than
// a grid has; portions and offsets of 64 bits, which only rows of billions have otherwise.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/sorting/radix_sort.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/sorting/order.hpp"
#include "tests/untested.hpp"

using namespace ingot;
using ingot::testing::before;

namespace {

/// Whether there is something to test; an emulated GPU runs no cubin.
bool sorts_by_radix() {
    if (!current_device().is_cuda() || device::cuda().name() == "emulated") {
        test::untested("CUB's kernels want a GPU");
        return false;
    }
    if (runtime::radix_images().empty()) {
        test::untested("CUB's kernels were not built in");
        return false;
    }
    REQUIRE(runtime::has_radix_sort(current_device()));
    return true;
}

/// Sets the limits of the sort, which stand as they were at its end.
class with_limits {
public:
    with_limits(index_t portion, index_t narrow_length) : before_(runtime::limits_of_radix_sort()) {
        runtime::limits_of_radix_sort() = {portion, narrow_length};
    }
    with_limits(const with_limits&) = delete;
    ~with_limits() { runtime::limits_of_radix_sort() = before_; }

private:
    runtime::radix_limits before_;
};

/// Random bits, many of them equal: NaN of both signs, infinities, zeros of both signs, subnormal numbers.
template <class T>
std::vector<T> random_values(std::size_t n, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<T> values(n);
    for (T& value : values) {
        std::uint64_t bits = random();
        if constexpr (std::same_as<T, bool>) {
            value = (bits & 1) != 0;
        } else {
            const auto top = 8 * sizeof(T) - 1;
            if (bits % 8 == 0) bits = bits >> 63 << top;               // zeros, and least integers
            if (bits % 8 == 1) bits = (bits >> 40 & 15) << (top - 7);  // few others
            if constexpr (!std::integral<T>)
                if (bits % 8 == 2) bits = (std::uint64_t{0xffff} << (top - 15)) | bits >> 63 << top;  // NaN
            std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
        }
    }
    return values;
}
template <>
std::vector<bool> random_values(std::size_t n, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<bool> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = (random() & 1) != 0;
    return values;
}

/// The sum of the bits of values and of their squares: other values have others.
template <class V>
std::pair<std::uint64_t, std::uint64_t> sums_of_bits(const V& values) {
    std::pair<std::uint64_t, std::uint64_t> sums;
    for (const auto value : values) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, static_cast<const void*>(&value), sizeof value);
        sums.first += bits, sums.second += bits * bits;
    }
    return sums;
}

/// Checks one row, and the values' original indices. A result in order, with equal values ordered by index, is that of
/// a stable sort.
template <class T, class V>
void check_order(const V& given, const V& sorted, const std::vector<index_t>& order) {
    const std::size_t n = given.size();
    REQUIRE(sorted.size() == n);
    REQUIRE(order.size() == n);
    std::vector<bool> seen(n);
    std::size_t wrong = 0;
    for (std::size_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(order[j]);
        if (at >= n || seen[at]) {
            ++wrong;
            continue;
        }
        seen[at] = true;
        const T value = given[at], mine = sorted[j];
        if (before<T>(mine, value) || before<T>(value, mine)) ++wrong;
        if (j == 0) continue;
        const auto last = static_cast<std::size_t>(order[j - 1]);
        const T earlier = given[last < n ? last : 0];
        if (before<T>(value, earlier) || (!before<T>(earlier, value) && last > at)) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(sums_of_bits(sorted) == sums_of_bits(given));
}

template <class T>
void check_length(std::size_t n) {
    CAPTURE(n);
    const auto given = random_values<T>(n, static_cast<unsigned>(n));
    const array<T> x = asarray(given);
    const auto sorted = sort(x).eval().to_host();
    const std::vector<index_t> order = argsort(x).eval().to_host();
    check_order<T>(given, sorted, order);
    if (n > 100'000) return;
    std::vector<index_t> wanted(n);
    std::iota(wanted.begin(), wanted.end(), 0);
    std::ranges::stable_sort(wanted, [&](index_t a, index_t b) {
        return before<T>(given[static_cast<std::size_t>(a)], given[static_cast<std::size_t>(b)]);
    });
    CHECK(order == wanted);
}

template <class T>
void check_rows(index_t rows, index_t length) {
    CAPTURE(rows);
    CAPTURE(length);
    const array<T> x =
        asarray(random_values<T>(static_cast<std::size_t>(rows * length), static_cast<unsigned>(rows)), {rows, length});
    const array<T> sorted = sort(x);
    const array<index_t> order = argsort(x);
    for (const index_t row : {index_t{0}, rows / 2, rows - 1})
        check_order<T>(x(row).eval().to_host(), sorted(row).eval().to_host(), order(row).eval().to_host());
    if constexpr (std::integral<T>) {
        const array<T> taken = take_along_axis(x, order, -1);
        CHECK(array_equal(taken, sorted).item());
        CHECK(all(sorted(all, slice(1, none)) >= sorted(all, slice(none, -1))).item());
    }
}

/// f of a value of each type.
template <class... T, class F>
void for_each_type(F f) {
    (f(T()), ...);
}

}  // namespace

TEST_CASE("CUB sorts every dtype and length, NaN last and equal elements of an argsort in order") {
    if (!sorts_by_radix()) return;
    for_each_type<bool, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                  std::int64_t, std::uint64_t, float16, bfloat16, float, double>([](auto value) {
        using T = decltype(value);
        const std::string type(name(ingot::detail::dtype_of<T>));
        CAPTURE(type);
        for (const std::size_t n : {0u, 1u, 2u, 1000u, 2049u, 8192u, 8193u, (1u << 16) + 1, 5'000'000u})
            check_length<T>(n);
    });
}

TEST_CASE("CUB sorts rows, more than a grid has too") {
    if (!sorts_by_radix()) return;
    for_each_type<std::uint8_t, std::int16_t, float, double>([](auto value) {
        using T = decltype(value);
        const std::string type(name(ingot::detail::dtype_of<T>));
        CAPTURE(type);
        check_rows<T>(3, 9001);
        check_rows<T>(7, 100'003);
        check_rows<T>(1000, 5000);
        check_rows<T>(300, 10'000);
        if (sizeof(T) == 1) check_rows<T>(70'000, 8200);
    });
}

TEST_CASE("CUB sorts rows that lie anywhere, and in their own place") {
    if (!sorts_by_radix()) return;
    const array<float> x = asarray(random_values<float>(10 * 9000, 1), {10, 9000});
    const array<int> i = asarray(random_values<int>(10 * 9000, 2), {10, 9000});
    const array<int> wanted = sort(i);
    CHECK(array_equal(sort(i(slice(none, none, 3), slice(7, none))),
                      sort(array<int>(i(slice(none, none, 3), slice(7, none)) + 0)))
              .item());
    CHECK(array_equal(sort(transpose(i), 0), transpose(wanted)).item());
    array<int> room = zeros<int>({10, 10'000});
    room(all, slice(500, 9500)) = sort(i);
    CHECK(array_equal(room(all, slice(500, 9500)), wanted).item());
    CHECK(sum(room(all, slice(0, 500))).item() == 0);
    CHECK(sum(room(all, slice(9500, 10'000))).item() == 0);
    array<int> own = i;
    own = sort(own);
    CHECK(array_equal(own, wanted).item());
    array<std::uint8_t> bytes = astype<std::uint8_t>(i);
    const array<std::uint8_t> sorted_bytes = sort(bytes);
    bytes = sort(bytes);
    CHECK(array_equal(bytes, sorted_bytes).item());
    CHECK(array_equal(transpose(argsort(array<float>(transpose(x)), 0)), argsort(x)).item());
}

TEST_CASE("rows of several portions, and with offsets of 64 bits") {
    if (!sorts_by_radix()) return;
    for (const index_t narrow : {index_t{1} << 31, index_t{0}}) {
        const with_limits limits(30'000, narrow);
        for_each_type<std::uint8_t, std::uint16_t, float, std::int64_t>([](auto value) {
            using T = decltype(value);
            const std::string type(name(ingot::detail::dtype_of<T>));
            CAPTURE(type);
            check_length<T>(9000);
            check_length<T>(200'000);
            check_rows<T>(5, 100'001);
        });
    }
}
