// The statements that the benchmark draws: their properties, their check, and agreement of the computation in double
// with the library on the current device.
#include <doctest/doctest.h>

#include <cmath>

#include "bench/statements/build.hpp"
#include "bench/statements/draw.hpp"
#include "bench/statements/exact.hpp"
#include "bench/statements/judge.hpp"

namespace {

using namespace bench;

constexpr statement_limits small{6, 10};

statement drawn(std::uint64_t number, statement_limits limits = small) {
    return statement_draw(1, number, limits).next();
}

template <class T>
std::vector<T> values(std::size_t n, double range) {
    std::vector<T> v(n);
    for (std::size_t i = 0; i < n; ++i)
        v[i] = static_cast<T>(range * (static_cast<double>(mixed(i + 1) >> 11) * 0x1p-52 - 1));
    return v;
}
const statement_pools& pools() {
    static const statement_pools all(values<float>(4096, pool_range), values<double>(4096, pool_range),
                                     values<std::int32_t>(4096, integer_range));
    return all;
}

template <class T>
std::vector<std::vector<T>> evaluated(const statement& s) {
    std::vector<std::vector<T>> results;
    for (const ingot::array<T>& result : statement_trees<T>(s, pools(), 0).evaluate())
        results.push_back(ravel(result).to_host());
    return results;
}

TEST_CASE("a statement is drawn again by its seed and number") {
    for (std::uint64_t k = 0; k < 50; ++k) {
        CHECK(text_of(drawn(k)) == text_of(drawn(k)));
        CHECK(shape_text(drawn(k)) == shape_text(drawn(k)));
    }
}

TEST_CASE("a drawn statement has the operations, folds and sizes that were asked for") {
    int one = 0, three = 0, random = 0, joint = 0, repeated = 0;
    for (std::uint64_t k = 0; k < 500; ++k) {
        const statement s = drawn(k, {20, 27});
        double elements = 1;
        for (const auto n : s.extents) elements *= static_cast<double>(n);
        CHECK(elements > 0x1p18);
        CHECK(elements < 0x1p29);
        CHECK(s.operators() >= 2);
        CHECK(s.operators() <= most_operators);
        CHECK(s.passes() >= 1);
        CHECK(s.passes() <= most_passes);
        for (const statement_node& n : s.nodes) {
            CHECK(std::isfinite(n.low));
            CHECK(std::isfinite(n.high));
            CHECK(n.low <= n.high);
            random += n.what == action::uniform || n.what == action::normal;
        }
        one += s.passes() == 1;
        three += s.passes() == 3;
        joint += s.results.size() == 2;
        repeated += text_of(s).find(" = ") != std::string::npos;
    }
    for (const int seen : {one, three, random, joint, repeated}) CHECK(seen > 50);
}

/// x - mean(x, 1) of rows of some length.
statement centred(index_t rows, index_t length) {
    return {.extents = {rows, length},
            .nodes = {{.axes = 3, .exact = true},
                      {.what = action::fold, .axes = 1, .from = {0, -1, -1}, .fold = folding::mean, .along = 2},
                      {.what = action::map, .axes = 3, .from = {0, 1, -1}, .row = op::subtract}},
            .results = {2}};
}

TEST_CASE("an array is read again after a fold over more than a chip holds") {
    const statement held = centred(1 << 10, 1 << 10), beyond = centred(4, 1 << 20);
    CHECK(held.bytes_read() == 4 << 20);
    CHECK(held.bytes_read_again() == held.bytes_read());
    CHECK(beyond.bytes_read_again() == 2 * beyond.bytes_read());
    CHECK(beyond.bytes_written() == 16 << 20);
    CHECK(text_of(beyond) == "subtract(x0, mean(x0, 1))");
}

TEST_CASE("the values of a drawn statement lie where its nodes say") {
    for (std::uint64_t k = 0; k < 100; ++k) {
        const statement s = drawn(k);
        const exact_results exact(s, pools().values());
        for (std::size_t r = 0; r < s.results.size(); ++r) {
            const statement_node& n = s.nodes[static_cast<std::size_t>(s.results[r])];
            const double slack = 1e-9 * (1 + std::abs(n.low) + std::abs(n.high));
            exact.for_each(r, [&](std::uint64_t, double value, double error) {
                REQUIRE(value >= n.low - slack);
                REQUIRE(value <= n.high + slack);
                REQUIRE(error >= 0);
            });
        }
    }
}

TEST_CASE("drawn statements are evaluated to what they are in double") {
    for (std::uint64_t k = 0; k < 8; ++k) {
        const statement s = drawn(k);
        CAPTURE(text_of(s));
        CAPTURE(shape_text(s));
        with_type_of(s, [&]<class T>(T) {
            const exact_results exact(s, pools().values());
            const auto results = evaluated<T>(s);
            for (std::size_t r = 0; r < results.size(); ++r) CHECK_NOTHROW(judge<T>(exact, r, results[r]));
        });
    }
}

TEST_CASE("an element that is wrong is seen") {
    for (std::uint64_t k = 0; k < 8; ++k) {
        const statement s = drawn(k);
        CAPTURE(text_of(s));
        with_type_of(s, [&]<class T>(T) {
            const exact_results exact(s, pools().values());
            auto result = evaluated<T>(s)[0];
            T& wrong = result[result.size() / 2];
            wrong = static_cast<T>(wrong + (wrong < 0 ? -1 : 1));
            CHECK_THROWS(judge<T>(exact, 0, result));
        });
    }
}

}  // namespace
