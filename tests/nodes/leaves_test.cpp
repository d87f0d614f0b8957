// Trees as lists of leaves: sharing, moving and releasing of leaves, and the operand that has a node's shape.
#include <doctest/doctest.h>

#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <ingot/core/functions.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

#include "tests/nodes/reference.hpp"

using namespace ingot;
using reference::index_tuple;

namespace {

template <class N>
index_tuple shape_of(const N& node) {
    detail::shape_room room;
    const auto s = node.extents(room).span();
    return {s.begin(), s.end()};
}

}  // namespace

TEST_CASE("a tree holds one reference for each of its leaves and gives all of them back") {
    std::vector<reference::memory<double>> memories;
    std::vector<detail::leaf<double>> x;
    for (std::size_t i = 0; i < 40; ++i) memories.emplace_back(4);
    for (auto& m : memories) x.push_back(m.as({4}));
    std::vector<std::uint32_t> before;
    for (const auto& leaf : x) before.push_back(leaf.memory().use_count());
    for (std::size_t i = 0; i + 3 < x.size(); ++i) {
        const auto tree = (x[i] * x[i + 1] + x[i]) * (x[i + 2] - x[i + 3] * x[i]) + 2.0;
        const std::uint32_t held = x[i].memory().use_count() - before[i];
        CHECK(held == 3);
        CHECK(tree.count(x[i].memory().get()) == 3);
        CHECK(tree.count(x[i + 3].memory().get()) == 1);
        auto copy = tree;
        CHECK(x[i].memory().use_count() - before[i] == 6);
        const auto moved = std::move(copy);
        CHECK(x[i].memory().use_count() - before[i] == 6);
        CHECK(moved.count(x[i].memory().get()) == 3);
        CHECK(reference::of(moved).values() == reference::of(tree).values());
    }
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(x[i].memory().use_count() == before[i]);
}

TEST_CASE("a tree that was moved from says so") {
    reference::memory<double> m(4);
    const auto x = m.as({4});
    auto tree = x + x * 2.0;
    const auto taken = std::move(tree) * x;
    CHECK(taken.count(x.memory().get()) == 3);
    CHECK_THROWS_WITH_AS(reference::gather(tree), "this expression was moved from and has no value", error);
    CHECK_THROWS_WITH_AS(reference::gather(tree + x), "this expression was moved from and has no value", error);
}

TEST_CASE("a shape that no leaf has is that of the whole tree, below views and other nodes too") {
    reference::memory<double> m(4), n(3), k(2);
    const auto column = m.as({4, 1}), row = n.as({3}), deep = k.as({2, 1, 1});
    const auto table = column + row;
    CHECK(shape_of(table) == index_tuple{4, 3});
    CHECK(shape_of(2.0 * table) == index_tuple{4, 3});
    CHECK(shape_of(table * deep) == index_tuple{2, 4, 3});
    CHECK(shape_of(sum(table, 0) + exp(table)) == index_tuple{4, 3});
    CHECK(shape_of(transpose(table)(0)) == index_tuple{4});
    CHECK(reference::of(transpose(table)).values().size() == 12);
    CHECK_THROWS_WITH_AS(table + m.as({4}), "[add] shapes (4, 3) and (4,) do not broadcast", shape_error);
    CHECK_THROWS_WITH_AS(sum(table, 1) + row, "[add] shapes (4,) and (3,) do not broadcast", shape_error);
}

TEST_CASE("leaves of every rank are copied and moved whole") {
    reference::memory<double> m(256), n(2);
    for (std::size_t rank = 0; rank <= 8; ++rank) {
        detail::layout where(static_cast<int>(rank));
        for (int j = 0; j < where.rank(); ++j) {
            where.shape()[j] = 2;
            where.strides()[j] = index_t{1} << j;
        }
        const detail::leaf<double> x(m.as({256}).memory(), where);
        const auto tree = n.as({2})(0) + (x * 3.0 - x * x);
        const auto copy = tree;
        const auto g = reference::gather(copy * 1.0);
        CHECK(reference::of(copy).values() == reference::of(tree).values());
        REQUIRE(g.operands[1].where->rank() == static_cast<int>(rank));
        for (int j = 0; j < where.rank(); ++j) {
            CHECK(g.operands[1].where->shape()[j] == 2);
            CHECK(g.operands[3].where->strides()[j] == index_t{1} << j);
        }
    }
}

TEST_CASE("a node over reductions and leaves keeps their order and its references") {
    reference::memory<double> m(12);
    const auto x = m.as({3, 4});
    const std::uint32_t before = x.memory().use_count();
    {
        const auto centred = (x * 2.0 - sum(x, 1, keepdims) / 4.0) / (1.0 + sum(x * x, 1, keepdims)) - x;
        CHECK(x.memory().use_count() - before == 5);
        const auto copy = centred;
        CHECK(x.memory().use_count() - before == 10);
        CHECK(centred.count(x.memory().get()) == 5);
        CHECK(shape_of(copy) == index_tuple{3, 4});
        CHECK(reference::of(copy).values() == reference::of(centred).values());
        const double* v = m.data();
        const double row = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
        CHECK(reference::of(centred).values()[1] ==
              doctest::Approx((v[1] * 2 - (v[0] + v[1] + v[2] + v[3]) / 4) / (1 + row) - v[1]));
        CHECK(reference::of(reshape(centred, {-1})).values() == reference::of(centred).values());
    }
    CHECK(x.memory().use_count() == before);
}

TEST_CASE("what a thread has taken ahead for its trees goes back when they are dropped elsewhere") {
    reference::memory<double> m(4);
    const auto x = m.as({4});
    const std::uint32_t before = x.memory().use_count();
    {
        using tree = decltype(x * x + x);
        std::optional<tree> built;
        std::thread([&] { built.emplace(x * x + x); }).join();
        CHECK(x.memory().use_count() - before == 3);
    }
    CHECK(x.memory().use_count() == before);
}
