// The greatest and the least of long axes, which are selected, against a stable sort by the standard library; the
// different elements of more than a tile.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "runtime/device/device.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/sorting/sampled_filter.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/sorting/order.hpp"

using namespace ingot;
using ingot::testing::before;

namespace {

/// Many values are equal. Some floats are NaN of either sign, zeros of both signs, or infinite.
template <class T>
std::vector<T> values_of(std::size_t n, unsigned seed, unsigned different) {
    std::mt19937 random(seed);
    std::vector<T> values(n);
    for (T& value : values) {
        const auto r = static_cast<unsigned>(random()) % different;
        if constexpr (std::integral<T>) {
            value = static_cast<T>(r * 2654435761u);
        } else {
            constexpr float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
            const float special[] = {nan, -nan, inf, -inf, 0.0f, -0.0f};
            const unsigned kind = static_cast<unsigned>(random()) % 1000;
            value = static_cast<T>(kind < 6 ? special[kind] : (static_cast<float>(r) - 500.0f) / 64);
        }
    }
    return values;
}

template <class T>
void check(const std::vector<T>& given, std::size_t count, std::size_t length, index_t k, bool largest) {
    const std::string type(name(ingot::detail::dtype_of<T>));
    CAPTURE(type);
    CAPTURE(length);
    CAPTURE(k);
    CAPTURE(largest);
    const array<T> x = asarray(given, {count, length});
    const auto [values, places] = topk(x, k, 1, largest);
    const std::vector<T> got = values.to_host();
    const std::vector<index_t> at = places.to_host();
    REQUIRE(at.size() == count * static_cast<std::size_t>(k));
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const T* const row = given.data() + i * length;
        std::vector<index_t> wanted(length);
        std::iota(wanted.begin(), wanted.end(), 0);
        std::ranges::stable_sort(
            wanted, [&](index_t a, index_t b) { return largest ? before(row[b], row[a]) : before(row[a], row[b]); });
        for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
            const std::size_t here = i * static_cast<std::size_t>(k) + j;
            const T value = row[wanted[j]];
            wrong += at[here] != wanted[j] || before(got[here], value) || before(value, got[here]);
        }
    }
    CHECK(wrong == 0);
}

template <class T>
void check_all(unsigned different) {
    for (const bool largest : {true, false}) {
        check(values_of<T>(3 * 3000, 1, different), 3, 3000, 7, largest);
        check(values_of<T>(9011, 2, different), 1, 9011, 100, largest);
    }
    check(values_of<T>(4100, 3, different), 1, 4100, 1, true);
    check(values_of<T>(4104, 4, different), 1, 4104, 513, false);
}

}  // namespace

TEST_CASE("the greatest and the least of long rows are selected, of equal ones the first") {
    check_all<float>(100'000);
    check_all<float>(3);
    check_all<double>(1000);
    check_all<std::int32_t>(1u << 31);
    check_all<std::uint64_t>(5000);
    check_all<std::int8_t>(256);
    check_all<std::uint16_t>(700);
    check_all<bfloat16>(900);
}

TEST_CASE("of a long axis of equal elements the first are selected, and any axis can be it") {
    const array<int> same = full<int>({9000}, 4);
    CHECK(array_equal(std::get<1>(topk(same, 50)), arange<index_t>(50)).item());
    const auto given = values_of<int>(5 * 2500, 9, 1000);
    const array<int> x = asarray(given, {5, 2500});
    const auto [values, places] = topk(x, 9);
    const auto [down, rows] = topk(transpose(x), 9, 0);
    CHECK(array_equal(transpose(down), values).item());
    CHECK(array_equal(transpose(rows), places).item());
    const auto [nothing, nowhere] = topk(x, 0, 1, false);
    CHECK(nothing.shape() == shape_like{5, 0});
    CHECK(nowhere.shape() == shape_like{5, 0});
    const auto [halved, same_places] = topk(astype<double>(x) / 2, 9);
    CHECK(array_equal(halved, astype<double>(values) / 2).item());
    CHECK(array_equal(same_places, places).item());
}

namespace {

/// Rows of this length are long enough for a sample while this stands.
class sampled_from {
public:
    explicit sampled_from(index_t length) : before_(runtime::limits_of_selection()) {
        runtime::limits_of_selection().least_length = length;
    }
    sampled_from(const sampled_from&) = delete;
    ~sampled_from() { runtime::limits_of_selection() = before_; }

private:
    runtime::selection_limits before_;
};

template <class T>
void check_sampled(unsigned different) {
    constexpr std::size_t length = 40'003;
    std::vector<T> given = values_of<T>(2 * length, 21, different);
    check(given, 2, length, 100, true);
    given.resize(length);
    check(given, 1, length, 1024, false);
    std::ranges::sort(given, before<T>);
    check(given, 1, length, 33, true);
    check(given, 1, length, 33, false);
}

}  // namespace

TEST_CASE("few of very long rows are selected among what a sample leaves") {
    const sampled_from guard(1 << 15);
    check_sampled<float>(1'000'000);
    check_sampled<float>(9);
    check_sampled<double>(100'000);
    check_sampled<std::int8_t>(256);
    check_sampled<bfloat16>(900);
}

#ifdef INGOT_HAS_CUDA_HEADERS

TEST_CASE("a sample leaves few elements, and says how many are below these") {
    if (!current_device().is_cuda()) return;  // the host takes no sample
    constexpr index_t length = 70'001, room = length / 8;
    const std::vector<float> given = values_of<float>(length, 31, 1'000'000);
    const array<float> x = asarray(given);
    runtime::stream_state& stream = *runtime::current().stream;
    const auto filtered = [&](bool places, const auto& set_aside) {
        array<std::uint64_t> counts = zeros<std::uint64_t>(3);
        array<float> aside = zeros<float>(room);
        array<index_t> at = zeros<index_t>(room);
        const ingot::detail::buffer_ref scratch =
            ingot::detail::allocate_buffer(runtime::filter_scratch(1, dtype::f4), current_device(), stream);
        auto* const to = reinterpret_cast<long long*>(at.mutable_data());
        set_aside(runtime::filtered_rows{reinterpret_cast<const std::byte*>(x.data()), 1, length, dtype::f4,
                                         aside.mutable_data(), room, places ? to : nullptr,
                                         reinterpret_cast<runtime::filter_counts*>(counts.mutable_data()),
                                         static_cast<std::byte*>(scratch->data)});
        return std::tuple{counts.to_host(), aside.to_host(), at.to_host()};
    };
    std::vector<float> sorted = given;
    std::ranges::sort(sorted, before<float>);
    const auto numbers = [](float v) { return !std::isnan(v); };
    const auto nans = static_cast<std::uint64_t>(length - std::ranges::count_if(given, numbers));
    {
        const auto [counts, aside, at] =
            filtered(false, [&](const auto& rows) { runtime::set_quantile_aside(rows, 0.25, stream); });
        REQUIRE(counts[0] <= static_cast<std::uint64_t>(room));
        CHECK(counts[0] > 0);
        CHECK(counts[1] < length / 4);
        CHECK(counts[1] + counts[0] > length / 4);
        CHECK(counts[2] == nans);
        std::vector<float> got(aside.begin(), aside.begin() + static_cast<std::ptrdiff_t>(counts[0]));
        std::ranges::sort(got);
        CHECK(std::ranges::equal(got, std::span(sorted).subspan(counts[1], counts[0])));
    }
    const auto [counts, aside, at] =
        filtered(true, [&](const auto& rows) { runtime::set_greatest_aside(rows, true, 400, stream); });
    REQUIRE(counts[0] <= static_cast<std::uint64_t>(room));
    CHECK(counts[0] >= 400);
    std::vector<float> got;
    for (std::uint64_t i = 0; i < counts[0]; ++i) got.push_back(given.at(static_cast<std::size_t>(at[i])));
    std::ranges::sort(got, before<float>);
    const std::span<const float> greatest = std::span(sorted).last(counts[0]);
    CHECK(std::ranges::equal(got, greatest, [](float a, float b) { return a == b || (a != a && b != b); }));
}

#endif

namespace {

/// A value for each group of equal ones: NaN is one group, and so are both zeros.
template <class T>
void check_distinct(std::vector<T> given) {
    const std::string type(name(ingot::detail::dtype_of<T>));
    CAPTURE(type);
    CAPTURE(given.size());
    const std::vector<T> got = unique(asarray(given)).to_host();
    std::ranges::sort(given, before<T>);
    const auto same = [](T a, T b) { return !before(a, b) && !before(b, a); };
    given.erase(std::unique(given.begin(), given.end(), same), given.end());
    REQUIRE(got.size() == given.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) wrong += !same(got[i], given[i]);
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("the different elements of several tiles") {
    for (const std::size_t n : {1u, 8192u, 8193u}) {
        check_distinct(values_of<float>(n, 1, 5000));
        check_distinct(values_of<std::int8_t>(n, 2, 256));
    }
    check_distinct(values_of<std::uint64_t>(9000, 3, 1u << 31));
    check_distinct(values_of<double>(17'000, 4, 7));
    check_distinct(values_of<bfloat16>(9000, 5, 900));
}
