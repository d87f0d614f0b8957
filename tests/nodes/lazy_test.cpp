#include <doctest/doctest.h>

#include <pthread.h>
#include <algorithm>
#include <deque>
#include <map>

#include <ingot/ingot.hpp>

#include "runtime/trees/lazy.hpp"
#include "tests/nodes/reference.hpp"

using namespace ingot;
using detail::make_word;
using detail::op;
using detail::word;
using detail::word_kind;
using reference::index_tuple;

namespace {

constexpr word leaf_word = make_word(word_kind::leaf, dtype::f8);
constexpr word scalar_word = make_word(word_kind::scalar, dtype::b1);
constexpr word map_word(op o) { return make_word(word_kind::map, dtype::f8, static_cast<word>(o)); }
constexpr word reference_word(word w) { return make_word(word_kind::reference, dtype::f8, w); }

/// Splices and evaluates trees with the tests' own evaluator, piece by piece.
class interpreted : public runtime::materialized_results {
public:
    template <class E>
    explicit interpreted(const E& e) : gathered_(reference::gather(e)) {
        const runtime::statement s{gathered_.program, gathered_.operands, gathered_.attributes, {}};
        for (const runtime::piece& p : runtime::pieces_of(s)) {
            if (p.source)
                runtime::splice(spliced_, *p.source, *this);
            else
                runtime::splice(spliced_, s, *this);
            programs.push_back(spliced_.program);
            if (!p.source) break;
            const std::vector<double> values = evaluated().values();
            auto& m = arrays_.try_emplace(p.source, values.size()).first->second;
            std::ranges::copy(values, m.data());
        }
    }
    const ingot::detail::buffer* find(const detail::tree_node& source) const override {
        return arrays_.at(&source).as({1}).memory().get();
    }
    reference::evaluator evaluated() const {
        return reference::evaluator({spliced_.program, spliced_.operands, spliced_.attributes, gathered_.tree});
    }
    const runtime::spliced& program() const { return spliced_; }

    std::vector<std::vector<word>> programs;  // of the pieces, then of the statement

private:
    reference::gathered gathered_;
    runtime::spliced spliced_;
    mutable std::map<const detail::tree_node*, reference::memory<double>> arrays_;
};

template <class E>
std::vector<word> words(const E& e) {
    return interpreted(e).programs.back();
}

template <class F>
void on_a_small_stack(F f) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    pthread_t thread;
    const auto start = [](void* p) -> void* {
        (*static_cast<F*>(p))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, start, &f) == 0);
    pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("a static tree as a lazy is the same program over the same operands") {
    reference::memory<double> m(24);
    const auto x = m.as({2, 3, 4});
    const auto e = exp(cumsum(x * 2 + m.as({4}), 1)) - sum(x, 1, keepdims);
    const lazy<double> l = e;
    const interpreted i(l);
    const auto direct = reference::gather(e);
    CHECK(i.program().program == direct.program);
    CHECK(i.program().attributes == direct.attributes);
    REQUIRE(i.program().operands.size() == direct.operands.size());
    for (std::size_t k = 0; k < direct.operands.size(); ++k) {
        CHECK(i.program().operands[k].kind == direct.operands[k].kind);
        CHECK(i.program().operands[k].memory == direct.operands[k].memory);
        CHECK(i.program().operands[k].serial == direct.operands[k].serial);
    }
    CHECK(i.evaluated().values() == reference::of(e).values());
    CHECK(reference::gather(l).program == std::vector<word>{make_word(word_kind::lazy, dtype::f8)});
}

TEST_CASE("what is computed with a lazy is a lazy, and converts when it is made one of another type") {
    reference::memory<double> m(6);
    const auto x = m.as({6});
    const lazy<double> l = x;
    auto e = l * x + 1;
    static_assert(std::same_as<decltype(e), lazy<double>>);
    e = e / l;
    CHECK(words(e) == std::vector<word>{leaf_word, leaf_word, map_word(op::multiply), scalar_word, map_word(op::add),
                                        leaf_word, map_word(op::divide)});
    const lazy<float> narrow = e;
    CHECK(words(narrow).back() == make_word(word_kind::map, dtype::f4, static_cast<word>(op::astype)));
    CHECK(l.ndim() == 1);
    CHECK(e.size() == 6);
}

TEST_CASE("a node that is shared is a reference, in its own context alone") {
    reference::memory<double> m(6);
    const auto x = m.as({2, 3});
    const lazy<double> a = x + 1;
    const lazy<double> b = a * a;
    CHECK(words(b) ==
          std::vector<word>{leaf_word, scalar_word, map_word(op::add), reference_word(2), map_word(op::multiply)});
    // Beneath the sum the shared node is computed over other axes: it is written again.
    const auto normalised = a / sum(a);
    CHECK(words(normalised) == std::vector<word>{leaf_word, scalar_word, map_word(op::add), leaf_word, scalar_word,
                                                 map_word(op::add), make_word(word_kind::reduce, dtype::f8, 0),
                                                 map_word(op::divide)});
    const interpreted i(normalised);
    double total = 0;
    for (const double v : i.evaluated().values()) total += v;
    CHECK(total == doctest::Approx(1));
}

TEST_CASE("lazies in a static tree share their nodes with each other") {
    reference::memory<double> m(6);
    const lazy<double> a = m.as({2, 3}) + 1;
    const lazy<double> b = a * 3;
    const auto e = sum(b, 1);
    static_assert(!std::same_as<std::remove_const_t<decltype(e)>, lazy<double>>);
    const auto both = take(b - a, scalar<std::int64_t>(1), 1);
    const interpreted i(both);
    CHECK(std::ranges::count(i.programs.back(), reference_word(2)) == 1);
    CHECK(i.evaluated().values() == std::vector<double>{2 * (10 + 1), 2 * (8 + 1)});
}

TEST_CASE("views of a lazy are views of its leaves") {
    reference::memory<double> m(24);
    const auto x = m.as({4, 6});
    const auto e = cumsum(x + m.as({6}), 1) * 2;
    const lazy<double> l = e;
    const auto whole = reference::of(e);
    const auto part = interpreted(l(slice(1, 3), slice(none, none, -2))).evaluated();
    CHECK(part.shape() == index_tuple{2, 3});
    for (index_t i = 0; i < 2; ++i)
        for (index_t j = 0; j < 3; ++j) CHECK(part.at({i, j}) == whole.at({1 + i, 5 - 2 * j}));
    CHECK(interpreted(reshape(lazy<double>(x * 2), {3, 8})).program().attributes == std::vector<word>{0});
    // A row that is repeated merges and splits with the axes beside it.
    CHECK(interpreted(reshape(lazy<double>(x + m.as({6})), {2, 2, 6})).program().attributes == std::vector<word>{0});
    CHECK(interpreted(reshape(l.T(), {3, 8})).evaluated().values() == reference::of(reshape(e.T(), {3, 8})).values());
    // Shared nodes stay shared in a view.
    const lazy<double> a = x + 1, square = a * a;
    CHECK(words(square(slice(1, 3))) == words(square));
    CHECK(interpreted(sum(square, 0)).evaluated().values() == reference::of(sum((x + 1) * (x + 1), 0)).values());
}

TEST_CASE("hashes are equal where the same is computed from the same") {
    reference::memory<double> m(6), other(6);
    const auto x = m.as({2, 3}), y = other.as({2, 3});
    const auto s = scalar<double>(2);
    const lazy<double> a = x * s, b = x * s, c = y * s, d = x + s, e = x(slice(none), slice(none)) * s;
    CHECK(a.tree()->hash == b.tree()->hash);
    CHECK(a.tree()->hash == e.tree()->hash);
    CHECK_FALSE(a.tree()->hash == c.tree()->hash);
    CHECK_FALSE(a.tree()->hash == d.tree()->hash);
    CHECK_FALSE(a.tree()->hash == lazy<double>(x * scalar<double>(2)).tree()->hash);
    CHECK_FALSE(lazy<double>(x - y).tree()->hash == lazy<double>(y - x).tree()->hash);
    CHECK_FALSE(lazy<double>(sum(x, 0)).tree()->hash == lazy<double>(sum(x, 1)).tree()->hash);
}

TEST_CASE("a long chain is cut at fixed distances from its leaves") {
    reference::memory<double> m(3);
    const auto a = m.as({3});
    const auto chain = [&](int n) {
        lazy<double> x = a;
        for (int k = 0; k < n; ++k) x = x * 0.5 + a;
        return x;
    };
    const interpreted long_one(chain(1600)), longer(chain(2400));
    REQUIRE(long_one.programs.size() > 4);
    REQUIRE(longer.programs.size() > long_one.programs.size());
    for (std::size_t p = 0; p + 1 < long_one.programs.size(); ++p) {
        CHECK(long_one.programs[p].size() <= 4 * runtime::piece_nodes / 3 + 1);  // and references
        CHECK(long_one.programs[p] == longer.programs[p]);
        if (p > 3) CHECK(long_one.programs[p] == long_one.programs[p - 3]);
    }
    double expected[3];
    for (std::size_t j = 0; j < 3; ++j) {
        expected[j] = m.data()[j];
        for (int k = 0; k < 1600; ++k) expected[j] = expected[j] * 0.5 + m.data()[j];
    }
    const auto values = long_one.evaluated().values();
    for (std::size_t j = 0; j < 3; ++j) CHECK(values[j] == expected[j]);
}

TEST_CASE("a chain that squares itself counts shared nodes once") {
    reference::memory<double> m(3);
    const auto a = m.as({3});
    lazy<double> x = a * 0.01;
    for (int k = 0; k < 300; ++k) x = 0.1 * x * (1 - x);
    const interpreted i(x);
    CHECK(i.programs.size() <= 12);  // of 1500 nodes
    for (const auto& p : i.programs) CHECK(p.size() <= 2 * runtime::piece_nodes);
    double expected = m.data()[1] * 0.01;
    for (int k = 0; k < 300; ++k) expected = 0.1 * expected * (1 - expected);
    CHECK(i.evaluated().values()[1] == expected);
}

TEST_CASE("a view of a tree that fills a kernel reads it as an array") {
    reference::memory<double> m(6);
    lazy<double> x = m.as({6});
    for (int k = 0; k < 40; ++k) x = x + x(slice(none, none, -1));
    const interpreted i(x(slice(2, 4)));
    CHECK(i.programs.size() < 50);
    const double pair = m.data()[2] + m.data()[3];
    CHECK(i.evaluated().values() == std::vector<double>{std::ldexp(pair, 39), std::ldexp(pair, 39)});
}

TEST_CASE("trees with large layouts are cut by the room their arguments take") {
    reference::memory<double> m(1);
    std::deque<reference::memory<double>> others;
    lazy<double> x = m.as({1});
    const std::vector<index_t> ones(60, 1);
    for (int k = 0; k < 30; ++k) {
        const auto other = others.emplace_back(1).as({1});
        x = x + detail::leaf<double>(other.memory(), detail::contiguous_layout(ones));
    }
    const interpreted i(x);
    CHECK(i.programs.size() > 4);
    for (const auto& p : i.programs)
        CHECK(std::ranges::count(p, leaf_word) * (8 + 8 * 60) <= runtime::piece_argument_bytes + 3 * 488);
    CHECK(i.evaluated().values() == std::vector<double>{31 * 3.0});
}

TEST_CASE("a million nodes are built, viewed, spliced and released on a small stack") {
    reference::memory<double> m(2);
    const auto a = m.as({2});
    std::size_t pieces = 0;
    on_a_small_stack([&] {
        lazy<double> x = a;
        for (int k = 0; k < 500'000; ++k) x = x + a;
        const lazy<double> last = x(slice(1, 2));
        const auto g = reference::gather(last);
        pieces = runtime::pieces_of({g.program, g.operands, g.attributes, {}}).size();
    });
    CHECK(pieces > 400);
    CHECK(a.memory().use_count() == (1u << 20) + 1);
}

TEST_CASE("results of pieces are read beside reshapes and folds") {
    const array<double> a = reshape(sin(arange<double>(91)), {13, 7});
    const array<index_t> columns = arange<index_t>(20) * 3 % 7;
    const lazy<double> greatest = take_along_axis(a, expand_dims(argmax(a, 1), 1), 1) + a;
    const lazy<double> taken = take(tile(greatest, {1, 2}), columns, 1), x = taken * (mean(taken) + 0.25);
    const array<double> stepped = x, wanted = softmax(stepped, 1);
    const auto results = eval(x, softmax(x, 1));
    CHECK(allclose(std::get<0>(results), stepped, 1e-12, 1e-12).item());
    CHECK(allclose(std::get<1>(results), wanted, 1e-12, 1e-12).item());
}

TEST_CASE("errors are thrown in the statement that has the lazy") {
    reference::memory<double> m(6);
    const lazy<double> l = m.as({2, 3}) + 1;
    CHECK_THROWS_WITH_AS((void)(l + m.as({2})), "[add] shapes (2, 3) and (2,) do not broadcast", shape_error);
    CHECK_THROWS_AS((void)sum(l, 2), shape_error);
    lazy<double> from = l;
    const lazy<double> to = std::move(from);
    CHECK_THROWS_AS((void)(from + 1), error);
    CHECK(to.ndim() == 2);
}
