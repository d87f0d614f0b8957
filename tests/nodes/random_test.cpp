#include <doctest/doctest.h>

#include <ingot/core/functions.hpp>
#include <ingot/core/random.hpp>
#include <ingot/core/reductions.hpp>

#include "tests/nodes/reference.hpp"

using namespace ingot;

TEST_CASE("a random leaf's numbers are those of its counter, however it is viewed") {
    random::generator g(42);
    const auto u = g.uniform<double>({3, 4});
    const auto whole = reference::of(u);  // the tests' evaluator gives the counter as the number
    CHECK(whole.at({2, 1}) == 9);
    // u.T[1:3, ::-1]
    const index_t shape[] = {2, 3}, start[] = {2, 1};
    const detail::axis_view::step steps[] = {{1, 0, -1}, {0, 1, 1}};
    auto seen = u;
    seen.apply({2, 2, shape, start, steps, 2}, 0);
    const auto part = reference::of(seen);
    for (index_t i = 0; i < 2; ++i)
        for (index_t j = 0; j < 3; ++j) CHECK(part.at({i, j}) == whole.at({2 - j, 1 + i}));
}

TEST_CASE("each call has a number of its own, and a seed begins anew") {
    random::generator g(7);
    const auto a = g.uniform<float>(5), b = g.uniform<float>(5);
    CHECK(a.call().number != b.call().number);
    CHECK(reference::gather(a).operands[0].bits[0] == 7);
    CHECK(reference::gather(b).operands[0].bits[1] == b.call().number);
    g.seed(7);
    CHECK(g.normal<float>({2, 2}).call().number == a.call().number);
    const auto sum_of_both = reference::gather(a + b);
    CHECK(sum_of_both.operands[0].bits[1] != sum_of_both.operands[1].bits[1]);
    random::seed(1);
    const auto first = random::uniform<double>({2}).call();
    random::seed(1);
    CHECK(random::uniform<double>({2}).call().number == first.number);
    CHECK(first.seed == 1);
}

TEST_CASE("random words name generator and dtype") {
    using namespace detail;
    random::generator g(7);
    const auto n = g.normal<float>({2, 2});
    CHECK(n.program[0] == make_word(word_kind::generator, dtype::f4, static_cast<word>(generator_kind::normal)));
    CHECK(n.on_device() == current_device());
    CHECK_THROWS_AS((void)g.uniform<float>({2, -1}), shape_error);
}
