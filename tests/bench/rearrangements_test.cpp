// The statements of views, gathers and joins that the benchmark draws: their properties, the count of the bytes that
// they must move, and their check on the current device.
#include <doctest/doctest.h>

#include <set>

#include "bench/rearrangements/build.hpp"
#include "bench/rearrangements/draw.hpp"

namespace {

using namespace bench;

constexpr rearrangement_limits small{6, 10, 12};

rearrangement drawn(std::uint64_t number, rearrangement_limits limits = small) {
    return rearrangement_draw(1, number, limits).next();
}
const rearrangement_pools& pools() {
    static const rearrangement_pools all(std::size_t{1} << 12);
    return all;
}

/// A statement of one operation on an array of float32.
rearrangement of_one(std::vector<index_t> operand, rearrangement_node n) {
    n.from = {0};
    return {.nodes = {{.shape = std::move(operand)}, std::move(n)}};
}

TEST_CASE("a drawn rearrangement has the operations, dtypes and sizes that were asked for") {
    std::multiset<rearranging> seen;
    std::multiset<dtype> types;
    for (std::uint64_t k = 0; k < 300; ++k) {
        const rearrangement s = drawn(k, {20, 27, 28});
        CHECK(text_of(s) == text_of(drawn(k, {20, 27, 28})));
        CHECK(rearrangement::elements(s.result()) > std::uint64_t{1} << 18);
        CHECK(rearrangement::elements(s.result()) < std::uint64_t{1} << 29);
        for (const auto& n : s.nodes) {
            seen.insert(n.what);
            CHECK(rearrangement::elements(n) <= std::uint64_t{1} << 28);
        }
        types.insert(s.type);
    }
    using enum rearranging;
    for (const rearranging what : {leaf, slice, transpose, broadcast, gather, join, roll, map})
        CHECK(seen.count(what) > 20);
    for (const dtype t : {dtype::u1, dtype::i2, dtype::i4, dtype::f2, dtype::f4, dtype::f8}) CHECK(types.count(t) > 10);
}

TEST_CASE("what a rearrangement must move is counted in pieces of 32 bytes") {
    using enum rearranging;
    const index_t n = 1 << 14;
    const auto sliced = [](index_t extent, index_t start, index_t step, index_t count) {
        return of_one({extent}, {.what = slice, .shape = {count}, .slices = {{start, step}}}).bytes_read();
    };
    CHECK(sliced(n, 0, 1, n) == 4 * n);
    CHECK(sliced(n, n - 1, -1, n) == 4 * n);
    CHECK(sliced(2 * n, 0, 2, n) == 8 * n);
    CHECK(sliced(16 * n, 0, 16, n) == 32 * n);
    CHECK(sliced(16 * n, 16 * n - 1, -16, n) == 32 * n);
    CHECK(of_one({1, n}, {.what = broadcast, .shape = {100, n}}).bytes_read() == 4 * n);
    CHECK(of_one({n, 2}, {.what = transpose, .shape = {2, n}, .order = {1, 0}}).bytes_read() == 8 * n);
    // The first column of two.
    CHECK(of_one({n, 2}, {.what = slice, .shape = {n, 1}, .slices = {{0, 1}, {0, 1}}}).bytes_read() == 8 * n);
    // Sorted indices of rows move each row once; rows are of 4 KiB, and few lie on one chip.
    const auto rows = of_one({64, 1024}, {.what = gather, .shape = {n, 1024}, .indices = index_order::sorted});
    CHECK(rows.bytes_read() == 64 * 4096 + 8 * n);
    // A random gather from 64 MiB: each element loads its sector.
    const auto scattered = of_one({1 << 24}, {.what = gather, .shape = {n}});
    CHECK(scattered.bytes_read() == (32 + 8) * n);
    CHECK(scattered.bytes_written() == 4 * n);
    // Each part of a join counts once.
    const rearrangement joined{
        .nodes = {{.shape = {n}}, {.shape = {2 * n}}, {.what = join, .shape = {3 * n}, .from = {0, 1}}}};
    CHECK(joined.bytes_read() == 12 * n);
}

TEST_CASE("drawn rearrangements are what plain copies are, and an element that is wrong is seen") {
    for (std::uint64_t k = 0; k < 12; ++k) {
        const rearrangement s = drawn(k);
        CAPTURE(text_of(s));
        CAPTURE(shape_text(s));
        with_type_of(s, [&]<class T>(T) {
            const rearrangement_trees<T> trees(s, pools());
            ingot::array<T> got = trees.whole(k);
            CHECK_NOTHROW(require_right(s, trees, got, k));
            got = got + static_cast<T>(1.0f);
            CHECK_THROWS(require_right(s, trees, got, k));
        });
    }
}

}  // namespace
