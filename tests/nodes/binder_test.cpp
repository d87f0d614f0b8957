#include <algorithm>

#include <doctest/doctest.h>

#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/scans.hpp>

#include "tests/nodes/reference.hpp"

using namespace ingot;
using detail::fold;
using detail::make_word;
using detail::word;
using detail::word_kind;
using reference::index_tuple;

namespace {

/// A copy of a node, seen through a view: `picked[j]` names the old axis of new axis j, each from `start` by `step`.
template <class N>
N seen(N node, std::vector<index_t> shape, std::vector<index_t> start, std::vector<detail::axis_view::step> steps) {
    detail::axis_view v;
    v.old_rank = static_cast<int>(start.size());
    v.new_rank = static_cast<int>(shape.size());
    v.new_shape = shape.data();
    v.start = start.data();
    v.steps = steps.data();
    v.step_count = static_cast<int>(steps.size());
    node.apply(v, 0);
    return node;
}

template <class N>
index_tuple shape_of(const N& node) {
    detail::shape_room room;
    const auto s = node.extents(room).span();
    return {s.begin(), s.end()};
}

constexpr word leaf_word = make_word(word_kind::leaf, dtype::f8);
template <class N>
std::vector<word> words(const N&) {
    return {N::program.begin(), N::program.end()};
}

}  // namespace

TEST_CASE("a sum of trailing axes leaves its operand as it is") {
    reference::memory<double> m(24);
    const auto x = m.as({2, 3, 4});
    const auto s = sum(x, {-1, 1});
    CHECK(words(s) == std::vector<word>{leaf_word, make_word(word_kind::reduce, dtype::f8, 0)});
    CHECK(shape_of(s) == index_tuple{2});
    const auto g = reference::gather(s);
    CHECK(g.attributes == std::vector<word>{2});
    CHECK(detail::same_shape(*g.operands[0].where, x.where()));
    CHECK(reference::gather(sum(x)).attributes == std::vector<word>{3});
    CHECK(reference::gather(sum(x, {})).attributes == std::vector<word>{0});
    CHECK(reference::of(sum(x, {})).values() == reference::of(x).values());
}

TEST_CASE("sums over any axes, kept or not, are the sums of hand-made loops") {
    reference::memory<double> m(24);
    const auto x = m.as({2, 3, 4});
    const auto row = m.as({4});
    const auto e = x * row;
    const auto every = reference::of(e);
    std::vector<double> expected(8), kept;
    reference::evaluator::for_each(
        {2, 3, 4}, [&](const index_tuple& i) { expected[static_cast<std::size_t>(i[0] * 4 + i[2])] += every.at(i); });
    const auto s = sum(e, 1), k = sum(e, 1, keepdims);
    CHECK(shape_of(s) == index_tuple{2, 4});
    CHECK(shape_of(k) == index_tuple{2, 1, 4});
    CHECK(reference::of(s).values() == expected);
    CHECK(reference::of(k).values() == expected);
    CHECK(reference::of(sum(e)).values()[0] == doctest::Approx(reference::of(sum(sum(e, 0), {0, 1})).values()[0]));
    CHECK(shape_of(sum(e, keepdims)) == index_tuple{1, 1, 1});
    CHECK(reference::of(sum(e - sum(e, {0, 2}, keepdims) / 8, {0, 2})).values()[1] == doctest::Approx(0));
}

TEST_CASE("dtypes of folds") {
    using detail::fold_dtype;
    using detail::fold_rule;
    CHECK(fold_dtype(fold_rule::sums, dtype::b1) == dtype::i8);
    CHECK(fold_dtype(fold_rule::sums, dtype::i2) == dtype::i8);
    CHECK(fold_dtype(fold_rule::sums, dtype::u1) == dtype::u8);
    CHECK(fold_dtype(fold_rule::sums, dtype::f4) == dtype::f4);
    CHECK(fold_dtype(fold_rule::own, dtype::u1) == dtype::u1);
    CHECK(fold_dtype(fold_rule::counts, dtype::f4) == dtype::i8);
    CHECK(decltype(argmax(std::declval<detail::leaf<float>>()))::type == dtype::i8);
}

TEST_CASE("axes that are not there or twice there throw in the statement") {
    reference::memory<double> m(24);
    const auto x = m.as({2, 3, 4});
    CHECK_THROWS_WITH_AS((void)sum(x, 3), "[sum] axis 3 is out of range for rank 3", shape_error);
    CHECK_THROWS_WITH_AS((void)sum(x, {1, -2}), "[sum] axis -2 is given twice", shape_error);
    CHECK_THROWS_AS((void)cumsum(x, -4), shape_error);
    CHECK_THROWS_AS((void)reshape(x, {5, -1}), shape_error);
    CHECK_THROWS_AS((void)reshape(x, {-1, -1}), shape_error);
    CHECK_THROWS_AS((void)reshape(x, {2, 13}), shape_error);
    CHECK_THROWS_WITH_AS((void)reshape(x, {-2, 12}), "[reshape] shape (2, 3, 4) as (-2, 12): an extent is negative",
                         shape_error);
}

TEST_CASE("a view of a sum is the sum of a view") {
    reference::memory<double> m(24);
    const auto e = m.as({2, 3, 4}) + m.as({4});
    const auto whole = reference::of(sum(e, 1));
    // [::-1, 1:4:2] transposed.
    const auto part = reference::of(seen(sum(e, 1), {2, 2}, {1, 1}, {{1, 0, -1}, {0, 1, 2}}));
    CHECK(part.shape() == index_tuple{2, 2});
    for (index_t a = 0; a < 2; ++a)
        for (index_t b = 0; b < 2; ++b) CHECK(part.at({a, b}) == whole.at({1 - b, 1 + 2 * a}));
}

TEST_CASE("a flipped scan changes only its pick and the axes that are not scanned") {
    reference::memory<double> m(12);
    const auto x = m.as({3, 4});
    const auto c = cumsum(x, 1);
    CHECK(words(c) == std::vector<word>{leaf_word, make_word(word_kind::scan, dtype::f8, 0)});
    const auto whole = reference::of(c);
    CHECK(whole.at({1, 0}) == reference::of(x).at({1, 0}));
    CHECK(whole.at({2, 3}) == doctest::Approx(reference::of(sum(x, 1)).at({2})));
    const auto flipped = seen(c, {3, 4}, {0, 3}, {{0, 0, 1}, {1, 1, -1}});
    for (index_t i = 0; i < 3; ++i)
        for (index_t j = 0; j < 4; ++j) CHECK(reference::of(flipped).at({i, j}) == whole.at({i, 3 - j}));
    const auto before = reference::gather(c), after = reference::gather(flipped);
    CHECK(std::ranges::equal(before.operands[0].where->extents(), after.operands[0].where->extents()));
    CHECK(before.operands[0].where->offset == after.operands[0].where->offset);
    CHECK(after.operands[1].where->offset == 3);
    CHECK(after.operands[1].where->strides()[1] == -1);
    // The diagonal of a scan: one new axis on two old ones.
    const auto diagonal = reference::of(seen(c, {3}, {0, 0}, {{0, 0, 1}, {0, 1, 1}}));
    for (index_t i = 0; i < 3; ++i) CHECK(diagonal.at({i}) == whole.at({i, i}));
    CHECK(reference::of(cumsum(x)).values().back() == reference::of(sum(x)).values()[0]);
}

TEST_CASE("take reads its source at the index tree, on any axis, and is viewed") {
    reference::memory<double> m(24);
    reference::memory<std::int64_t> k(6);
    for (std::size_t i = 0; i < 6; ++i) k.data()[i] = static_cast<std::int64_t>((i * 2 + 1) % 3);
    const auto x = m.as({2, 3, 4});
    const auto i = k.as({2, 3});
    const auto t = take(x * 2, i, 1);
    CHECK(shape_of(t) == index_tuple{2, 2, 3, 4});
    const auto every = reference::of(t), source = reference::of(x);
    reference::evaluator::for_each({2, 2, 3, 4}, [&](const index_tuple& j) {
        CHECK(every.at(j) == 2 * source.at({j[0], k.data()[j[1] * 3 + j[2]], j[3]}));
    });
    // t[1, :, ::-1, 2]
    const auto part = reference::of(seen(t, {2, 3}, {1, 0, 2, 2}, {{0, 1, 1}, {1, 2, -1}}));
    for (index_t a = 0; a < 2; ++a)
        for (index_t b = 0; b < 3; ++b) CHECK(part.at({a, b}) == every.at({1, a, 2 - b, 2}));
    CHECK(reference::of(take(x, i)).at({1, 2}) == source.at({0, 0, k.data()[5]}));
    CHECK(reference::of(take(sum(x, 2), i, 1)).at({1, 0, 1}) == reference::of(sum(x, 2)).at({1, k.data()[1]}));
}

TEST_CASE("reshape merges axes where every layout allows it") {
    reference::memory<double> m(24);
    const auto x = m.as({2, 3, 4});
    const auto e = reshape(x + x, {4, -1});
    CHECK(shape_of(e) == index_tuple{4, 6});
    CHECK(reference::gather(e).attributes == std::vector<word>{0});
    CHECK(reference::of(e).values() == reference::of(x + x).values());
    // For a column broadcast over the last two axes, those two merge.
    const auto column = seen(m.as({2}), {2, 3, 4}, {0}, {{0, 0, 1}});
    CHECK(reference::gather(reshape(column, {2, 12})).attributes == std::vector<word>{0});
    CHECK(reference::gather(reshape(column, {2, 2, 2, 3, 1})).attributes == std::vector<word>{0});
    CHECK(reference::gather(reshape(column, {24})).attributes == std::vector<word>{3});
    CHECK(reference::of(reshape(column, {24})).values() == reference::of(column).values());
    CHECK(reference::of(reshape(sum(x, 1), {4, 2})).values() == reference::of(sum(x, 1)).values());
    CHECK(reference::gather(reshape(sum(x, 2), {3, 2})).attributes == std::vector<word>{1, 0});
    CHECK(shape_of(reshape(m.as({0, 3}), {2, 0, 5})) == index_tuple{2, 0, 5});
    CHECK(shape_of(reshape(m.as({1}), {})).empty());
}

TEST_CASE("a reshape that does not merge reads at the digits of its place, and is viewed") {
    reference::memory<double> m(24);
    const auto transposed = seen(m.as({4, 6}), {6, 4}, {0, 0}, {{1, 0, 1}, {0, 1, 1}});
    const auto e = transposed + m.as({4});
    const auto r = reshape(e, {3, 8});
    const auto g = reference::gather(r);
    CHECK(g.attributes == std::vector<word>{2});
    const auto every = reference::of(r), flat = reference::of(e);
    CHECK(every.values() == flat.values());
    // r[::2, ::-1]
    const auto part = reference::of(seen(r, {2, 8}, {0, 7}, {{0, 0, 2}, {1, 1, -1}}));
    for (index_t a = 0; a < 2; ++a)
        for (index_t b = 0; b < 8; ++b) CHECK(part.at({a, b}) == every.at({2 * a, 7 - b}));
    // Reshaped again, only the place changes.
    CHECK(reference::gather(reshape(r, {2, 12})).attributes == std::vector<word>{2, 0});
    CHECK(reference::of(reshape(r, {2, 12})).values() == flat.values());
    CHECK(reference::of(sum(r, 0)).at({1}) == every.at({0, 1}) + every.at({1, 1}) + every.at({2, 1}));
}

TEST_CASE("strides merge as one axis cut in pieces, and never otherwise") {
    const auto cut = [](index_tuple shape, index_tuple strides, index_tuple wanted, int bound) {
        detail::layout l(static_cast<int>(shape.size()));
        std::ranges::copy(shape, l.shape());
        std::ranges::copy(strides, l.strides());
        return detail::try_reshape(l, wanted, bound) ? std::vector<index_t>(l.strides(), l.strides() + l.rank())
                                                     : std::vector<index_t>{};
    };
    CHECK(cut({6, 4}, {8, 2}, {24}, 0) == std::vector<index_t>{2});
    CHECK(cut({6, 4}, {9, 2}, {24}, 0).empty());
    CHECK(cut({6, 4}, {9, 2}, {2, 3, 2, 2}, 0) == std::vector<index_t>{27, 9, 4, 2});
    CHECK(cut({6, 4}, {-4, -1}, {8, 3}, 0) == std::vector<index_t>{-3, -1});
    CHECK(cut({6, 1, 4}, {4, 77, 1}, {1, 24, 1}, 0) == std::vector<index_t>{0, 1, 0});
    CHECK(cut({2, 3, 5}, {3, 1, 100}, {6}, 1) == std::vector<index_t>{1, 100});
    CHECK(cut({2, 3}, {3, 1}, {7}, 0).empty());
    CHECK(cut({}, {}, {1, 1}, 0) == std::vector<index_t>{0, 0});
}
