// Formulas: their arithmetic, and the values of the schedules that recur.
#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <vector>

#include "codegen/plan/formula.hpp"

using namespace ingot;
using namespace ingot::codegen;

namespace {

std::uint64_t at(const formula& f, std::initializer_list<detail::index_t> extents) {
    return f.value(std::vector<detail::index_t>(extents), 132);
}

const formula n0 = points_of(1), n1 = points_of(2);

/// The width of the strips of that many columns, and their number.
std::array<std::uint64_t, 2> strips_of(detail::index_t columns, std::uint32_t threads) {
    const formula width = threads == 0 ? balanced(n0, 64).size : busiest_width(n0, 64, threads);
    return {at(width, {columns}), at(ceil_divide(n0, width), {columns})};
}

/// The result of trying all widths.
std::uint64_t busiest_of_all(std::uint64_t parts, std::uint64_t widest, std::uint64_t threads) {
    const std::uint64_t fewest = (parts + widest - 1) / widest;
    std::uint64_t best = (parts + fewest - 1) / fewest, turns = fewest, rows = threads / best;
    for (std::uint64_t strips = fewest + 1; 2 * strips <= 3 * fewest; ++strips) {
        const std::uint64_t strip = (parts + strips - 1) / strips, at_once = threads / strip;
        if (turns * at_once > strips * rows) best = strip, turns = strips, rows = at_once;
    }
    return best;
}

}  // namespace

TEST_CASE("a formula is arithmetic over extents and processors") {
    CHECK(at(formula(), {}) == 1);
    CHECK(at(7, {3}) == 7);
    CHECK(at(n0 * n1 + 2, {3, 5}) == 17);
    CHECK(at(points_of(0b101), {3, 5, 7}) == 21);
    CHECK(at(n0 / 4, {11}) == 2);
    CHECK(at(ceil_divide(n0, 4), {11}) == 3);
    CHECK(at(min(n0, 2 * processors()), {1000}) == 264);
    CHECK(at(max(n0, 8), {3}) == 8);
    CHECK(at(choose(n0 < n1, n0, 10 * n1), {3, 2}) == 20);
    CHECK(at(choose(n0 < n1, n0, 10 * n1), {2, 3}) == 2);
    CHECK(at(floor_power_of_two(n0), {100}) == 64);
}

TEST_CASE("arrays without elements trap in no formula") {
    CHECK(at(10 / n0, {0}) == 0);
    CHECK(at(ceil_divide(n0, n1), {5, 0}) == 0);
    CHECK(at(floor_power_of_two(n0), {0}) == 0);
    CHECK(at(square_root(n0), {0}) == 0);
    CHECK(at(busiest_width(n0, 64, 256), {0}) == 0);
    CHECK(at(balanced(n0, 64).size, {0}) == 0);
    CHECK(at(ceil_divide(n1, points_per_room(1024, n0, 256, 1)), {0, 5}) == 0);
}

TEST_CASE("sizes near the ends of 64 bits are exact") {
    constexpr detail::index_t most = 0x7fffffffffffffff;
    CHECK(at(ceil_divide(n0, 2), {most}) == 1ull << 62);
    CHECK(at(ceil_divide(n0 + n0 + 1, 1ull << 63), {most}) == 2);  // 2^64 - 1
    CHECK(at(square_root(n0), {most}) == 3037000499);
    CHECK(at(square_root(n0 + n0 + 1), {most}) == 0xffffffff);
    for (const detail::index_t root : {1ll, 94906267ll, 3037000499ll}) {
        CHECK(at(square_root(n0), {root * root}) == static_cast<std::uint64_t>(root));
        CHECK(at(square_root(n0), {root * root - 1}) == static_cast<std::uint64_t>(root - 1));
    }
    CHECK(at(n0 * n1, {detail::index_t{1} << 40, detail::index_t{1} << 23}) == 1ull << 63);
}

TEST_CASE("what is known is computed once, when a formula is made") {
    CHECK(formula(6) * 7 == formula(42));
    CHECK(ceil_divide(n0, 1) == n0);
    CHECK(1 * n0 == n0);
    CHECK(n0 + 0 == n0);
    CHECK(n0 * n1 == points_of(3));
    CHECK(points_of(0) == formula());
}

TEST_CASE("a formula of other axes is the same formula") {
    const std::array<int, 2> axes{3, 1};
    CHECK(ceil_divide(n0, n1 + 1).renamed(axes) == ceil_divide(points_of(8), n1 + 1));
    CHECK(ceil_divide(n0, n1 + 1).renamed(axes).axes() == 0b1010);
}

TEST_CASE("a formula prints as one would write it") {
    CHECK(formula().text() == "1");
    CHECK(ceil_divide(points_of(5) * ceil_divide(n1, 4), 256).text() ==
          "ceil_divide(n0 * n2 * ceil_divide(n1, 4), 256)");
    CHECK((n0 / (n1 / 2)).text() == "n0 / (n1 / 2)");
    CHECK((n0 / 2 / n1).text() == "n0 / 2 / n1");
    CHECK(((n0 + 1) * n1).text() == "(n0 + 1) * n1");
    CHECK(min(n0, 2 * processors()).text() == "min(n0, 2 * processors)");
    CHECK(choose(n0 < 4, n0, n1).text() == "n0 < 4 ? n0 : n1");
    CHECK(balanced(n0, 64).size.text() == "ceil_divide(n0, ceil_divide(n0, 64))");
    CHECK(((n0 + 1) * (n0 + 1)).text() == "a * a where a = n0 + 1");
}

TEST_CASE("even pieces are as few as can be") {
    for (detail::index_t n = 1; n < 1000; ++n) {
        const even_pieces p = balanced(n0, 64);
        const std::uint64_t count = at(p.count, {n}), size = at(p.size, {n}), all = static_cast<std::uint64_t>(n);
        CHECK((size <= 64 && size * count >= all && size * (count - 1) < all && 64 * (count - 1) < all));
    }
}

TEST_CASE("the fewer columns there are that blocks share, the fewer are a block's") {
    using pieces = std::array<std::uint64_t, 2>;
    const even_pieces beside = balanced(n0, power_below_root(2 * n0, 8, 64));
    const auto of = [&](detail::index_t vectors) {
        return pieces{at(beside.size, {vectors}), at(beside.count, {vectors})};
    };
    CHECK(of(3) == pieces{3, 1});
    CHECK(of(75) == pieces{8, 10});
    CHECK(of(128) == pieces{16, 8});
    CHECK(of(512) == pieces{32, 16});
    CHECK(of(2048) == pieces{64, 32});
    CHECK(of(100000) == pieces{64, 1563});
    for (detail::index_t vectors = 1; vectors < 4000; ++vectors) {
        const auto [across, blocks] = of(vectors);
        const auto all = static_cast<std::uint64_t>(vectors);
        CHECK((across <= 64 && across * blocks >= all && across * (blocks - 1) < all));
    }
}

TEST_CASE("strips are as few as can be, or some more where fewer threads of a block are then idle") {
    using strips = std::array<std::uint64_t, 2>;
    CHECK(strips_of(64, 256) == strips{64, 1});
    CHECK(strips_of(128, 256) == strips{64, 2});
    CHECK(strips_of(130, 0) == strips{44, 3});
    CHECK(strips_of(130, 256) == strips{33, 4});  // seven rows of 33, not five of 44
    CHECK(strips_of(257, 0) == strips{52, 5});
    CHECK(strips_of(257, 256) == strips{37, 7});
    CHECK(strips_of(1, 256) == strips{1, 1});
    for (detail::index_t columns = 1; columns < 2000; ++columns) {
        const auto [wide, many] = strips_of(columns, 256);
        const auto all = static_cast<std::uint64_t>(columns);
        CHECK((wide <= 64 && wide * many >= all && wide * (many - 1) < all));
    }
}

TEST_CASE("the busiest strips are found without trying all of them") {
    for (const std::uint32_t threads : {64u, 256u, 512u})
        for (const std::uint32_t widest : {31u, 63u, 64u})
            for (detail::index_t parts = 1; parts < 3000; parts += parts < 600 ? 1 : 37)
                CHECK(at(busiest_width(n0, widest, threads), {parts}) ==
                      busiest_of_all(static_cast<std::uint64_t>(parts), widest, threads));
    // There are billions of strips; trying each would take seconds.
    CHECK(at(busiest_width(n0, 64, 256), {detail::index_t{1} << 40}) == 64);
    CHECK(at(busiest_width(n0, 63, 256), {detail::index_t{1} << 40}) == 51);  // five rows for four
}

TEST_CASE("rooms hold as many points as fit, and one at least") {
    const formula points = points_per_room(1024, n0);
    CHECK(at(points, {1}) == 1024);
    CHECK(at(points, {100}) == 10);
    CHECK(at(points, {5000}) == 1);
}

TEST_CASE("threads share the rows of a room, by multiples of them or powers of two, unless more were idle") {
    const formula points = points_per_room(4096, n0, 256, 1);
    CHECK(at(points, {4}) == 1024);
    CHECK(at(points, {15}) == 256);  // of 273
    CHECK(at(points, {20}) == 128);  // of 204: two threads a row, and not one
    CHECK(at(points, {5000}) == 1);
    const formula runs = points_per_room(4096, n0 * n1, 256, n1);  // of n1 rows each
    CHECK(at(runs, {4, 3}) == 256);                                // 768 rows
    CHECK(at(runs, {4, 100}) == 7);                                // of 10, which have 1000 rows
    CHECK(at(runs, {67, 3}) == 20);  // four threads for each of 60 rows, as busy as eight for each of 30
}
