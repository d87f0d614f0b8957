// Repeated statements: a statement that matches an earlier one must have its key, its numbers and its result.
#include <doctest/doctest.h>

#include <array>
#include <random>
#include <vector>

#include <ingot/ingot.hpp>

#include "runtime/front/classify.hpp"
#include "runtime/front/dispatch_cache.hpp"
#include "runtime/front/overlap.hpp"
#include "tests/nodes/reference.hpp"

using namespace ingot;

namespace {

using leaf = detail::leaf<float>;
leaf as_leaf(const auto& view) { return leaf(detail::as_node(view)); }

array<float> numbers(index_t n) { return (arange<float>(n) % 23.0f - 11.0f).eval(); }
array<float> matrix(index_t rows, index_t columns) { return reshape(numbers(rows * columns), {rows, columns}); }

/// 6 x 6 elements of a vector, from that one on.
leaf square_from(const array<float>& vector, index_t offset) {
    detail::layout where = detail::contiguous_layout(std::array<index_t, 2>{6, 6});
    where.offset = offset;
    return {vector.as_leaf().memory(), where};
}

/// The signatures of statements, and their classifications.
class meetings {
public:
    /// Classifies a statement of an evaluated tree's type, into new memory or into `to`. Where its signature equals an
    /// earlier one's, the classifications must be equal.
    template <class E>
    void meet(const E& e, const leaf* to = nullptr) {
        const reference::gathered g = reference::gather(e);
        ingot::detail::buffer_ref memory = to != nullptr ? to->memory() : ingot::detail::buffer_ref();
        detail::layout where = to != nullptr ? to->where() : detail::layout();
        const ingot::detail::output out{dtype::f4, &memory, &where};
        const runtime::statement s{g.program, g.operands, g.attributes, {&out, 1}, runtime::kinds_of(g.program)};
        const runtime::execution_context place = runtime::context_of(s);
        runtime::call_signature seen;
        if (!seen.take(detail::slot_of<float, E>::cache, s, place)) return;
        const runtime::classified& c = classifier_.classify(s, place.environment);
        bool overlap = false;
        for (const ingot::detail::operand& o : g.operands) {
            if (!memory || o.memory == nullptr || !runtime::share_bytes(*memory, *o.memory)) continue;
            const runtime::strided_view written(*memory, where, dtype::f4), read(*o.memory, *o.where, o.type);
            overlap |= runtime::share_a_byte(written, read) && !runtime::are_same_elements(written, read);
        }
        overlaps += overlap;
        const runtime::dispatch_cache::entry* const known = recent_.find(seen);
        if (known == nullptr) return recent_.insert(seen, overlap ? elsewhere_ : in_place_, c);
        REQUIRE(known->found == (overlap ? &elsewhere_ : &in_place_));
        ++again;
        REQUIRE(known->classes.words == c.words);
        REQUIRE(known->classes.shape == c.shape);
        REQUIRE(known->classes.extents == c.extents);
        REQUIRE(known->classes.strides == c.strides);
        REQUIRE(known->classes.size == c.size);
    }

    std::size_t again = 0, overlaps = 0;

private:
    runtime::classifier classifier_;
    runtime::dispatch_cache recent_;
    runtime::executable in_place_, elsewhere_;
};

}  // namespace

TEST_CASE("statements that look alike are classified alike") {
    const array<float> base = numbers(100), square = matrix(6, 6), other = matrix(6, 6), row = numbers(6),
                       column = matrix(6, 1), wide = matrix(10, 40);
    const std::vector<leaf> views{
        as_leaf(square),
        as_leaf(other),
        as_leaf(transpose(square)),
        as_leaf(flip(square, 0)),
        square_from(base, 0),
        square_from(base, 1),
        square_from(base, 8),
        as_leaf(wide(slice(0, 6), slice(0, 6))),
        as_leaf(wide(slice(0, 6), slice(3, 9))),
        as_leaf(wide(slice(none, none, -1), slice(0, 12, 2))(slice(0, 6))),
        as_leaf(wide(slice(0, 6), slice(0, 36, 6))),
        as_leaf(broadcast_to(row, {6, 6})),
        as_leaf(column),
        as_leaf(row(newaxis, all)),
    };
    const std::vector<axes> over{{0}, {1}, {0, 1}, axes(std::vector<index_t>{})};
    const std::vector<leaf> targets{as_leaf(numbers(6)),
                                    as_leaf(numbers(8)(slice(1, 7))),
                                    as_leaf(row),
                                    as_leaf(flip(numbers(6), 0)),
                                    as_leaf(square(0)),
                                    as_leaf(square(3)),
                                    as_leaf(square(all, 1)),
                                    as_leaf(base(slice(1, 7))),
                                    as_leaf(wide(7, slice(6))(slice(0, 6)))};
    const std::vector<double> exponents{2, 3, 1.5, 4};
    const auto drawn = random::uniform<float>({6, 12});
    std::mt19937 random(7);
    const auto any = [&](const auto& of) -> const auto& { return of[random() % of.size()]; };
    const auto factors = [&] {
        const leaf &p = any(views), &q = random() % 4 == 0 ? p : any(views);
        const auto s = scalar<float>(2), t = random() % 2 == 0 ? s : scalar<float>(static_cast<float>(random() % 3));
        const index_t at = static_cast<index_t>(random() % 4);
        return (power(p, any(exponents)) * s + q * t) * drawn(all, slice(at, at + 6));
    };
    const array<float> total = sum(factors(), any(over)), product = prod(factors(), any(over));
    meetings met;
    for (int k = 0; k < 200000; ++k) {
        const with_math mode(random() % 4 == 0 ? math_mode::strict : math_mode::standard);
        const auto e = sum(factors(), any(over));
        const leaf* const to = e.ndim() == 1 && random() % 3 == 0 ? &any(targets) : nullptr;
        if (random() % 8 != 0)
            met.meet(e, to);
        else
            met.meet(prod(factors(), any(over)));
    }
    CHECK(met.again > 5000);
    CHECK(met.overlaps > 1000);
}

TEST_CASE("sums over views of every kind, again and again, are never taken for each other") {
    const array<float> base = numbers(100), square = matrix(6, 6), other = matrix(6, 6), tall = matrix(8, 6);
    const std::vector<leaf> views{as_leaf(square),      as_leaf(other),       as_leaf(transpose(square)),
                                  square_from(base, 1), square_from(base, 4), as_leaf(tall(slice(1, 7)))};
    const std::vector<axes> over{{0}, {1}, {0, 1}};
    array<float> into = zeros<float>(6);
    std::mt19937 random(8);
    const auto any = [&](const auto& of) -> const auto& { return of[random() % of.size()]; };
    for (int k = 0; k < 1000; ++k) {
        const auto s = static_cast<float>(random() % 40);
        const leaf &p = any(views), &q = random() % 3 == 0 ? p : any(views);
        const auto is_right = [](const array<float>& got, const auto& tree) {
            const std::vector<float> values = got.to_host();
            REQUIRE(std::vector<double>(values.begin(), values.end()) == reference::of(tree).values());
        };
        const auto products = sum((p - s) * q, any(over));
        const bool in_place = products.ndim() == 1 && k % 3 == 0;
        if (in_place) into(all) = products;
        is_right(in_place ? into : products.eval(), products);
        const auto sums = sum(p - s + q, any(over));
        if (k % 4 == 0) is_right(sums, sums);
    }
}

TEST_CASE("statements that write what they read, again and again, are never taken for each other") {
    with_device guard(device::host());
    constexpr index_t size = 48, count = 8, ahead = 3;
    struct piece {
        index_t first, step;
        bool backward;
        slice seen() const {
            const index_t last = first + step * (count - 1);
            if (!backward) return slice(first, last + 1, step);
            return first < step ? slice(last, none, -step) : slice(last, first - step, -step);
        }
        std::size_t at(index_t i) const {
            return static_cast<std::size_t>(first + step * (backward ? count - 1 - i : i));
        }
    };
    // An array of Ingot's, and two over one memory that is not.
    std::vector<float> memory(static_cast<std::size_t>(size));
    std::array<array<float>, 3> arrays{
        zeros<float>(size), asarray<float>(unowned_memory(memory.data(), 4 * size), {size}),
        asarray<float>(unowned_memory(memory.data() + ahead, 4 * (size - ahead)), {size - ahead})};
    std::array<std::vector<float>, 2> wanted;
    std::mt19937 random(9);
    const auto below = [&](index_t n) { return static_cast<index_t>(random() % static_cast<std::uint64_t>(n)); };
    const auto any_piece = [&] {
        const index_t step = 1 + below(3);
        return piece{below(size - ahead - step * (count - 1)), step, below(3) == 0};
    };
    for (int k = 0; k < 4000; ++k) {
        if (k % 10 == 0) {
            wanted[0] = numbers(size).to_host();
            wanted[1] = (numbers(size) * 3).eval().to_host();
            arrays[0].set(wanted[0]);
            arrays[1].set(wanted[1]);
        }
        const std::size_t to = random() % 3, from = random() % 3;
        const piece p = any_piece(), q = below(3) == 0 ? p : any_piece();
        const int kind = static_cast<int>(below(3));
        const auto element = [&](std::size_t a, const piece& of, index_t i) -> float& {
            return wanted[a == 0 ? 0 : 1][of.at(i) + (a == 2 ? std::size_t{ahead} : 0)];
        };
        std::vector<float> values;
        for (index_t i = 0; i < count; ++i)
            values.push_back(kind == 0   ? element(from, q, i)
                             : kind == 1 ? element(to, p, i) + element(from, q, i)
                                         : 5 - element(from, q, i));
        for (index_t i = 0; i < count; ++i) element(to, p, i) = values[static_cast<std::size_t>(i)];
        if (kind == 0)
            arrays[to](p.seen()) = arrays[from](q.seen());
        else if (kind == 1)
            arrays[to](p.seen()) += arrays[from](q.seen());
        else
            arrays[to](p.seen()) = 5 - arrays[from](q.seen());
        REQUIRE(arrays[0].to_host() == wanted[0]);
        REQUIRE(memory == wanted[1]);
    }
}
