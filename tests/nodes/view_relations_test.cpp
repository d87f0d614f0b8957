// Optional parts of a key: relations between views of one buffer, and operands that are indices.
#include <doctest/doctest.h>

#include <vector>

#include <ingot/ingot.hpp>

#include "codegen/graph/key.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/dispatch_cache.hpp"
#include "runtime/trees/lazy.hpp"
#include "tests/nodes/reference.hpp"

using namespace ingot;

namespace {

using steps = std::vector<std::int8_t>;
using relations = std::vector<codegen::view_relation>;
using leaf = detail::leaf<float>;

leaf as_leaf(const auto& view) { return leaf(detail::as_node(view)); }

constexpr runtime::optional_key_parts with_relations{.relations = true}, with_indices{.indices = true};

/// A tree as a statement into new memory.
template <class E>
struct stated {
    explicit stated(const E& e) : given(reference::gather(e)) {}
    runtime::statement statement() const { return {given.program, given.operands, given.attributes, {&out, 1}}; }

    reference::gathered given;
    ingot::detail::buffer_ref memory;
    detail::layout where;
    ingot::detail::output out{E::type, &memory, &where};
};

constexpr runtime::environment_class environment(runtime::optional_key_parts w) {
    return {detail::target::host, 0, detail::math_mode::standard, w};
}

template <class E>
codegen::key key_of(const E& e, runtime::optional_key_parts w) {
    const stated<E> s(e);
    const runtime::flat_statement flat(s.statement());  // a roll is a tree of its own
    const runtime::statement own = runtime::is_flat(s.statement()) ? s.statement() : flat.get();
    runtime::classifier c;
    std::vector<std::uint32_t> words;
    runtime::classifier::full_key(c.classify(own, environment(w)), own.program, words);
    return codegen::decode(words);
}

const array<float>& grid() {
    static const array<float> u = reshape(arange<float>(70 * 70), {70, 70}).eval();
    return u;
}
/// A view of 32 x 34 elements, displaced from the middle by these rows and columns.
leaf moved(index_t rows, index_t columns) {
    return as_leaf(grid()(slice(10 + rows, 42 + rows), slice(10 + columns, 44 + columns)));
}

}  // namespace

TEST_CASE("a stencil's key says how far from its first operand each lies") {
    const auto e = moved(0, 0) + moved(-1, 0) + moved(1, 0) + moved(0, -1) + moved(0, 1) + moved(4, -8);
    const codegen::key k = key_of(e, with_relations);
    CHECK(k.relations == relations{{1, 0, steps{-1, 0}},
                                   {2, 0, steps{1, 0}},
                                   {3, 0, steps{0, -1}},
                                   {4, 0, steps{0, 1}},
                                   {5, 0, steps{4, -8}}});
    CHECK(codegen::describe(k).ends_with(" relations 1=0+[-1 0], 2=0+[1 0], 3=0+[0 -1], 4=0+[0 1], 5=0+[4 -8]"));
    CHECK(codegen::decode(codegen::encode(k)).relations == k.relations);
}

TEST_CASE("a key that is not asked has no relations") {
    const auto near = moved(0, 0) + moved(0, 1), far = moved(0, 0) + moved(7, 1);
    CHECK(key_of(near, {}).relations.empty());
    CHECK(codegen::encode(key_of(near, {})) == codegen::encode(key_of(far, {})));
    CHECK(codegen::encode(key_of(near, {})) != codegen::encode(key_of(near, with_relations)));
    CHECK(codegen::encode(key_of(far, {})) == codegen::encode(key_of(far, with_relations)));
}

TEST_CASE("views far apart, of other strides, or of other buffers are not related") {
    const array<float> other = (grid() + 1.0f).eval();
    CHECK(key_of(moved(0, 0) + moved(0, 9), with_relations).relations.empty());
    CHECK(key_of(moved(0, 0) + moved(5, 0), with_relations).relations.empty());
    CHECK(key_of(moved(0, 0) + as_leaf(other(slice(10, 42), slice(11, 45))), with_relations).relations.empty());
    CHECK(key_of(moved(0, 0) + as_leaf(grid()(slice(0, 64, 2), slice(11, 45))), with_relations).relations.empty());
    CHECK(key_of(as_leaf(grid()(slice(0, 20), slice(0, 40, 2))) + as_leaf(grid()(slice(0, 20), slice(1, 41, 2))),
                 with_relations)
              .relations.empty());
}

TEST_CASE("views with short rows are not related, and walked as one run") {
    const array<float> narrow = reshape(arange<float>(50 * 31), {50, 31}).eval();
    const auto down = as_leaf(narrow(slice(1, 50))) + as_leaf(narrow(slice(0, 49)));
    CHECK(key_of(down, with_relations).relations.empty());
    CHECK(key_of(down, with_relations).axes.size() == 1);
    const array<float> blocks = reshape(arange<float>(50 * 32), {50, 8, 4}).eval();
    CHECK(key_of(as_leaf(blocks(slice(1, 50))) + as_leaf(blocks(slice(0, 49))), with_relations).relations ==
          relations{{1, 0, steps{-1, 0}}});
}

TEST_CASE("rolls of one buffer say how far they are shifted, and along which axes they are read") {
    const array<float>& u = grid();
    const codegen::key k = key_of(roll(u, 1, 0) + roll(u, -2, 1), with_relations);
    CHECK(k.relations == relations{{1, 1, steps{-1, 0, 1, 0}}, {3, 3, steps{0, 2, 0, 2}}, {2, 0, steps{0, 0, 0, 0}}});
    CHECK(codegen::decode(codegen::encode(k)).relations == k.relations);
    CHECK(key_of(roll(u, 1, 0) + roll(u, -2, 1), {}).relations.empty());
    // A roll by nearly the whole extent is a few steps the other way; a roll of both axes has two picks.
    CHECK(key_of(roll(u, 69, 0) + u, with_relations).relations.front() == codegen::view_relation{1, 1, steps{1, 0, 1}});
    CHECK(key_of(roll(u, {1, -3}, {0, 1}) + u, with_relations).relations ==
          relations{{1, 1, steps{-1, 0, 1, 0}}, {2, 2, steps{0, 3, 0, 2}}, {3, 0, steps{0, 0, 0, 0}}});
}

TEST_CASE("a roll by far, of another buffer, or beside other binders has no relation") {
    const array<float>& u = grid();
    const array<float> other = (u + 1.0f).eval();
    const auto unrelated = [](const auto& e) { CHECK(key_of(e, with_relations).relations.empty()); };
    unrelated(roll(u, 9, 1) + u);
    unrelated(roll(u, 5, 0) + u);
    unrelated(roll(u, 1, 0) * 2.0f);
    unrelated(roll(u, 1, 0) + other);
    unrelated(roll(roll(u, 1, 0), 1, 0) + u);
    unrelated(roll(u, 1, 0) + flip(u, 0));
    unrelated(roll(u, 1, 0) + transpose(u));
    unrelated(roll(u, 1, 0) + u + sum(u, 0));
    unrelated(roll(u, 1, 0) + u + take(u, arange<index_t>(70), 0));
}

TEST_CASE("the same view twice is no relation, and what is far from one base may be near another") {
    const auto e = moved(0, 0) + moved(0, 20) + moved(0, 0) + moved(0, 21) + moved(0, 20);
    CHECK(key_of(e, with_relations).relations == relations{{3, 1, steps{0, 1}}});
}

TEST_CASE("steps go with an axis' direction, reversed and transposed") {
    const auto backwards = [](index_t from) { return as_leaf(grid()(all, slice(34 + from, from, -1))); };
    CHECK(key_of(backwards(10) + backwards(11), with_relations).relations == relations{{1, 0, steps{0, -1}}});
    CHECK(key_of(as_leaf(transpose(moved(0, 0))) + as_leaf(transpose(moved(2, -3))), with_relations).relations ==
          relations{{1, 0, steps{-3, 2}}});
}

TEST_CASE("contiguous views that lie apart leave the fast path where relations are asked for") {
    const array<float>& x = grid();
    const auto rows = as_leaf(x(slice(1, 40))) + as_leaf(x(slice(0, 39)));
    CHECK(key_of(rows, {}).axes.size() == 1);
    const codegen::key k = key_of(rows, with_relations);
    CHECK(k.axes.size() == 2);
    CHECK(k.relations == relations{{1, 0, steps{-1, 0}}});

    const array<float> v = arange<float>(100).eval();
    const auto line = as_leaf(v(slice(0, 99))) + as_leaf(v(slice(1, 100)));
    CHECK(key_of(line, with_relations).relations == relations{{1, 0, steps{1}}});
    const stated s(line);
    runtime::classifier c;
    const std::vector<std::uint32_t> words = c.classify(s.statement(), environment({})).words;
    CHECK(c.contiguous().confirm(s.statement(), environment({}), words));
    CHECK(!c.contiguous().confirm(s.statement(), environment(with_relations), words));
    const stated same(as_leaf(v) + as_leaf(v));
    CHECK(c.classify(same.statement(), environment(with_relations)).is_contiguous);
}

TEST_CASE("a call signature holds how far apart views are, where relations are asked for") {
    const auto near = moved(0, 0) + moved(0, 4), far = moved(0, 0) + moved(0, 8);
    const array<float> met = near;  // the slot knows its program
    const stated one(near), two(far);
    const auto signature = [&](const auto& s, runtime::optional_key_parts w) {
        runtime::execution_context place = runtime::context_of(s.statement());
        place.environment.optional_parts = w;
        runtime::call_signature seen;
        REQUIRE(seen.take(detail::slot_of<float, std::remove_cvref_t<decltype(near)>>::cache, s.statement(), place));
        return seen;
    };
    CHECK(signature(one, {}) == signature(two, {}));
    CHECK(!(signature(one, with_relations) == signature(two, with_relations)));
    CHECK(signature(one, with_relations) == signature(one, with_relations));
    CHECK(!(signature(one, with_relations) == signature(one, {})));
}

TEST_CASE("an array that a gather reads as its index is known as such, where that is asked for") {
    const array<float> x = arange<float>(10).eval();
    const array<std::int64_t> i{3, 1, 2};
    using detail::index_use;
    const auto use = [](const auto& e, runtime::optional_key_parts w) { return key_of(e, w).operands[1].head.index; };
    CHECK(use(take(x, i, 0), {}) == index_use::none);
    CHECK(use(take(x, i, 0), with_indices) == index_use::check);
    CHECK(use(take<index_mode::wrap>(x, i, 0), with_indices) == index_use::wrap);
    CHECK(use(take<index_mode::clip>(x, i, 0), with_indices) == index_use::clip);
    CHECK(use(take(x, i + 1, 0), with_indices) == index_use::none);
    CHECK(codegen::describe(key_of(take(x, i, 0), with_indices)).find("int64[10] vector index") != std::string::npos);
}
