// Random trees of views, gathers, masks, joins, pads, rolls and writes through view<T>, of integers, against plain
// loops over coordinates. A tree is a function of its seed: INGOT_TEST_SEED replays it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <ingot/ingot.hpp>

#include "bench/drawing.hpp"

using namespace ingot;

namespace {

using index_list = std::vector<index_t>;

/// A value of two axes computed by loops, the same value as a tree, and its description.
struct pair_of_values {
    index_t rows, columns;
    std::vector<std::int64_t> wanted;
    lazy<std::int64_t> tree;
    std::string text;

    std::int64_t at(index_t i, index_t j) const { return wanted[static_cast<std::size_t>(i * columns + j)]; }
};
using source_of = std::function<std::int64_t(index_t, index_t)>;

pair_of_values made(index_t rows, index_t columns, const source_of& element, lazy<std::int64_t> tree,
                    std::string text) {
    pair_of_values v{rows, columns, {}, std::move(tree), std::move(text)};
    for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j) v.wanted.push_back(element(i, j));
    return v;
}

class grower {
public:
    explicit grower(unsigned seed) : random_(seed) {}

    index_t below(index_t n) { return random_.below(n); }
    index_list indices(index_t count, index_t extent) {
        index_list all;
        for (index_t k = 0; k < count; ++k) all.push_back(below(extent) - (below(2) == 0 ? extent : 0));
        return all;
    }

    /// Indices along an axis: several elements, one element, no axes of their own, or one index repeated.
    struct drawn_indices {
        index_list places;
        lazy<index_t> tree;
        bool keeps_axis = true;
    };
    drawn_indices draw_indices(index_t extent) {
        const index_t form = below(4), one = below(extent);
        if (form == 0) return {{one}, array<index_t>{one - extent}};
        if (form == 1) return {{one}, full<index_t>({}, one), false};
        if (form == 2) {
            const index_t count = 1 + below(9);
            const index_list places(static_cast<std::size_t>(count), one);
            return {places, broadcast_to(array<index_t>{one}, {count})};
        }
        index_list places = indices(1 + below(9), extent);
        const array<index_t> tree = asarray<index_t>(places);
        for (index_t& place : places) place = (place + extent) % extent;
        return {places, tree};
    }

    pair_of_values leaf() {
        const index_t rows = 1 + below(7), columns = 1 + below(40);
        if (below(4) == 0)  // without a buffer
            return made(
                rows, columns, [](index_t i, index_t j) { return 3 * i - j; },
                ingot::indices({rows, columns})(0) * 3 - ingot::indices({rows, columns})(1), "positions");
        std::vector<std::int64_t> values;
        for (index_t k = 0; k < rows * columns; ++k) values.push_back(below(100) - 50);
        const array<std::int64_t> x = asarray<std::int64_t>(values, {rows, columns});
        return {rows, columns, values, x, "leaf"};
    }
    pair_of_values grow(int depth) {
        if (depth == 0) return leaf();
        const pair_of_values a = grow(depth - 1);
        const index_t n = a.rows, m = a.columns;
        const auto name = [&](const char* step) { return a.text + ' ' + step; };
        switch (below(14)) {
            case 0: {  // a slice, backwards now and then
                const index_t first = below(n), step = 1 + below(2);
                const index_t rows = (n - first + step - 1) / step;
                return made(
                    rows, m, [&](index_t i, index_t j) { return a.at(first + i * step, m - 1 - j); },
                    a.tree(slice(first, none, step), slice(none, none, -1)), name("slice"));
            }
            case 1:
                return made(
                    m, n, [&](index_t i, index_t j) { return a.at(j, i); }, transpose(a.tree), name("transpose"));
            case 2: {
                const index_t by = below(9) - 4;
                return made(
                    n, m, [&](index_t i, index_t j) { return a.at(i, ((j - by) % m + m) % m); }, roll(a.tree, by, 1),
                    name("roll"));
            }
            case 3: {
                const index_t before = below(3), after = below(3);
                const auto near = [&](index_t i) { return std::min(std::max<index_t>(i - before, 0), n - 1); };
                return made(
                    n + before + after, m, [&](index_t i, index_t j) { return a.at(near(i), j); },
                    pad(a.tree, {{before, after}, {0, 0}}, pad_mode::edge), name("pad"));
            }
            case 4: {
                const drawn_indices chosen = draw_indices(m);
                const auto taken = take(a.tree, chosen.tree, 1);
                return made(
                    n, static_cast<index_t>(chosen.places.size()),
                    [&](index_t i, index_t j) { return a.at(i, chosen.places[static_cast<std::size_t>(j)]); },
                    chosen.keeps_axis ? lazy<std::int64_t>(taken) : lazy<std::int64_t>(expand_dims(taken, 1)),
                    name("take"));
            }
            case 5: {
                const index_list chosen = indices(n * m, m);
                const auto place = [&](index_t i, index_t j) {
                    return (chosen[static_cast<std::size_t>(i * m + j)] + m) % m;
                };
                return made(
                    n, m, [&](index_t i, index_t j) { return a.at(i, place(i, j)); },
                    take_along_axis(a.tree, asarray<index_t>(chosen, {n, m}), 1), name("take_along_axis"));
            }
            case 6:
                return made(
                    2 * n, m, [&](index_t i, index_t j) { return i < n ? a.at(i, j) : 3 * a.at(i - n, m - 1 - j); },
                    concatenate(std::tuple{a.tree, flip(a.tree, 1) * 3}, 0), name("concatenate"));
            case 7:
                return made(
                    n, 2 * m, [&](index_t i, index_t j) { return a.at(i, j % m); }, tile(a.tree, {1, 2}), name("tile"));
            case 8: {  // the rows for which a mask is true, of which there is one
                std::vector<bool> chosen;
                index_list kept;
                for (index_t i = 0; i < n; ++i) chosen.push_back(i == 0 || below(2) == 0);
                for (index_t i = 0; i < n; ++i)
                    if (chosen[static_cast<std::size_t>(i)]) kept.push_back(i);
                const array<std::int64_t> rows = a.tree.eval()(asarray(chosen));
                return made(
                    static_cast<index_t>(kept.size()), m,
                    [&](index_t i, index_t j) { return a.at(kept[static_cast<std::size_t>(i)], j); }, rows,
                    name("mask"));
            }
            case 9: {  // written where a mask is true
                array<std::int64_t> x = a.tree;
                x(x > 7) *= 2;
                return made(
                    n, m, [&](index_t i, index_t j) { return a.at(i, j) > 7 ? a.at(i, j) * 2 : a.at(i, j); }, x,
                    name("mask="));
            }
            case 10: {  // a part written through a view, from another part of the same array
                array<std::int64_t> x = a.tree;
                const lazy<std::int64_t> then = x;
                view<std::int64_t> part = x(all, slice(0, m / 2 + 1));
                part = flip(x, 1)(all, slice(0, m / 2 + 1)) - part;
                part(0) += 5;
                return made(
                    n, m,
                    [&](index_t i, index_t j) {
                        const std::int64_t old = a.at(i, j);
                        return old + (j > m / 2 ? old : a.at(i, m - 1 - j) - old + (i == 0 ? 5 : 0));
                    },
                    x + then, name("view="));
            }
            case 11: {  // scattered sums, several for one element
                const drawn_indices chosen = draw_indices(m), rows = draw_indices(n);
                const bool of_rows = rows.places.size() == chosen.places.size() && rows.keeps_axis == chosen.keeps_axis;
                array<std::int64_t> x = a.tree;
                if (of_rows)
                    scatter_add(x(rows.tree, chosen.tree), 2);
                else
                    scatter_add(x(all, chosen.tree), 2);
                return made(
                    n, m,
                    [&](index_t i, index_t j) {
                        std::int64_t v = a.at(i, j);
                        for (std::size_t k = 0; k < chosen.places.size(); ++k)
                            if (chosen.places[k] == j && (!of_rows || rows.places[k] == i)) v += 2;
                        return v;
                    },
                    x, name("scatter_add"));
            }
            case 12: {  // by turns, from the one that an index names
                const drawn_indices turn = draw_indices(2);
                const index_t which = turn.places[0];
                const lazy<index_t> index = turn.keeps_axis ? lazy<index_t>(turn.tree(slice(0, 1))) : turn.tree;
                return made(
                    n, m, [&](index_t i, index_t j) { return which == 0 ? a.at(i, j) : -a.at(i, j); },
                    choose(index, std::tuple{a.tree, -a.tree}), name("choose"));
            }
            default: {  // with the sums of its rows
                return made(
                    n, m,
                    [&](index_t i, index_t j) {
                        std::int64_t total = 0;
                        for (index_t k = 0; k < m; ++k) total += a.at(i, k);
                        return a.at(i, j) - total;
                    },
                    a.tree - sum(a.tree, 1, keepdims), name("sum"));
            }
        }
    }

private:
    bench::drawing random_;
};

/// The fault of a seed's tree; empty where there is none.
std::string fault_of(unsigned seed, int depth) {
    const pair_of_values v = grower(seed).grow(depth);
    const std::string which = "seed " + std::to_string(seed) + ", depth " + std::to_string(depth) + ": " + v.text;
    const array<std::int64_t> got = v.tree;
    if (got.shape() != shape_like{v.rows, v.columns}) return which + ": shape " + detail::to_text(got.shape().values());
    return got.to_host() == v.wanted ? "" : which + ": other elements";
}

}  // namespace

TEST_CASE("random trees of views, gathers, masks, joins and writes have the elements that loops give") {
    const char* const seed = std::getenv("INGOT_TEST_SEED");
    const unsigned first = seed != nullptr ? static_cast<unsigned>(std::atoi(seed)) : 1;
    const unsigned trees = std::getenv("INGOT_TEST_ALL") != nullptr ? 1000 : 40;
    for (unsigned k = 0; k < trees; ++k) {
        std::string fault = fault_of(first + k, 5);
        for (int depth = 4; depth > 0 && !fault.empty(); --depth)  // the least that fails
            if (const std::string smaller = fault_of(first + k, depth); !smaller.empty()) fault = smaller;
        CHECK(fault == "");
    }
}
