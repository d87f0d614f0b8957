// Neighbours by roll and by pad: views of one buffer that wrap around, repeat the edge, or are mirrored there. On a GPU
// one kernel reads each row of the buffer once; the values are those of a formula with an index for each element.
#include <algorithm>
#include <complex>
#include <sstream>
#include <vector>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// 1, 2, 5, 10, ... modulo 23, so that sums of some are exact in every dtype.
template <class T>
array<T> mixed(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>((i * i + 1) % 23));
    return asarray(values, shape);
}

/// The layout of a GPU's threads over the elements of e; "stencil" on a host, which has no such kernels.
template <class E>
std::string layout_of(const E& e) {
    if (current_device().is_host()) return "stencil";
    std::ostringstream text;
    text << explain(e);
    return text.str().find("stencil: ") != std::string::npos ? "stencil" : text.str();
}

template <class T>
bool same(const array<T>& a, const array<T>& b) {
    return a.shape() == b.shape() && a.to_host() == b.to_host();
}

/// The index at which a position beyond the ends of n is read.
index_t round_trip(index_t i, index_t n) { return (i % n + n) % n; }
index_t at_edge(index_t i, index_t n) { return std::min(std::max(i, index_t{0}), n - 1); }
index_t reflected(index_t i, index_t n) {
    while (i < 0 || i >= n) i = n == 1 ? 0 : i < 0 ? -i : 2 * (n - 1) - i;
    return i;
}
index_t mirrored(index_t i, index_t n) {
    while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i;
}

/// Element i of the result is f of the elements that lie `steps` further on, for each that f reads.
template <class T, class F, class Border>
array<T> by_formula(const array<T>& u, F f, Border border) {
    const std::vector<T> values = u.to_host();
    const shape_like shape = u.shape();
    const int rank = shape.count();
    std::vector<T> result(values.size());
    std::vector<index_t> at(static_cast<std::size_t>(rank));
    for (std::size_t i = 0; i < values.size(); ++i) {
        auto rest = static_cast<index_t>(i);
        for (int a = rank; a-- > 0; rest /= shape[a]) at[static_cast<std::size_t>(a)] = rest % shape[a];
        result[i] = f([&](const std::vector<index_t>& steps) {
            index_t place = 0;
            for (int a = 0; a < rank; ++a) {
                const auto k = static_cast<std::size_t>(a);
                place = place * shape[a] + border(at[k] + steps[k], shape[a]);
            }
            return values[static_cast<std::size_t>(place)];
        });
    }
    return asarray(result, shape);
}

/// u shifted so that the element (i, j) further on is here.
auto turned(const auto& u, index_t i, index_t j) { return roll(roll(u, -i, 0), -j, 1); }

const auto life = [](const auto& u) {
    const auto up = roll(u, 1, 0), down = roll(u, -1, 0);
    const auto near = up + down + roll(u, 1, 1) + roll(u, -1, 1) + roll(up, 1, 1) + roll(up, -1, 1) + roll(down, 1, 1) +
                      roll(down, -1, 1);
    return astype<std::uint8_t>(near == 3 || (near == 2 && u == 1));
};

/// A slice of n elements from `from` on.
slice part(index_t from, index_t n) { return slice(from, from + n); }

}  // namespace

TEST_CASE("rolled neighbours in two dimensions go round, at every width") {
    for (const index_t columns : {32, 33, 35, 36, 47, 64, 70, 131, 261})
        for (const index_t rows : {1, 2, 3, 4, 5, 9, 19}) {
            const array<std::uint8_t> u = mixed<std::uint8_t>({rows, columns});
            const auto alive = (u % std::uint8_t{2}).eval();
            const array<std::uint8_t> wanted = by_formula(
                alive,
                [](const auto& at) {
                    int near = -at({0, 0});
                    for (const index_t i : {-1, 0, 1})
                        for (const index_t j : {-1, 0, 1}) near += at({i, j});
                    return static_cast<std::uint8_t>(near == 3 || (near == 2 && at({0, 0}) == 1));
                },
                round_trip);
            INFO(rows << " by " << columns);
            CHECK(same(array<std::uint8_t>(life(alive)), wanted));
            if (rows > 2) CHECK(layout_of(life(alive)) == "stencil");

            const array<float> x = mixed<float>({rows, columns});
            const auto five = roll(x, 1, 0) + roll(x, -1, 0) * 2 + roll(x, 1, 1) * 3 + roll(x, -1, 1) * 5 - x;
            CHECK(same(array<float>(five), by_formula(
                                               x,
                                               [](const auto& at) {
                                                   return at({-1, 0}) + at({1, 0}) * 2 + at({0, -1}) * 3 +
                                                          at({0, 1}) * 5 - at({0, 0});
                                               },
                                               round_trip)));
        }
}

TEST_CASE("shifts of any sign and length, in one roll or in two") {
    for (const index_t rows : {3, 4, 7, 12})
        for (const index_t columns : {33, 48, 75}) {
            const array<double> u = mixed<double>({rows, columns});
            for (const auto& [i, j] :
                 {std::pair<index_t, index_t>{2, 8}, {-2, -8}, {4, -3}, {-5, 9}, {0, 70}, {-9, 1}}) {
                const auto formula = [i = i, j = j](const auto& at) { return at({0, 0}) - at({i, j}) * at({i, 0}); };
                const array<double> wanted = by_formula(u, formula, round_trip);
                INFO(rows << " by " << columns);
                CHECK(same(array<double>(u - turned(u, i, j) * roll(u, -i, 0)), wanted));
                CHECK(same(array<double>(u - roll(u, {-i, -j}, {0, 1}) * roll(u, -i, 0)), wanted));
                CHECK(same(array<double>(u - roll(u, {-j, -i}, {1, 0}) * roll(u, -i, 0)), wanted));
                CHECK(
                    same(array<double>(u - roll(roll(u, -j, 1), {-i}, {0}) * roll(roll(u, 3, 0), -i - 3, 0)), wanted));
            }
        }
}

TEST_CASE("rolled neighbours in one and in three dimensions") {
    for (const index_t n : {1, 2, 3, 4, 5, 7, 8, 16, 33, 1000, 1029}) {
        const array<float> u = mixed<float>({n});
        for (const index_t k : {1, 2, 5, 8}) {
            const auto formula = [k](const auto& at) { return at({-1}) * 2 - at({0}) + at({k}); };
            INFO(n << " by " << k);
            CHECK(same(array<float>(roll(u, 1, 0) * 2 - u + roll(u, -k, 0)), by_formula(u, formula, round_trip)));
            CHECK(same(array<float>(roll(u, 1) * 2 - u + roll(u, -k)), by_formula(u, formula, round_trip)));
        }
    }
    for (const auto& shape :
         {std::array<index_t, 3>{1, 1, 32}, {2, 3, 33}, {5, 4, 34}, {17, 5, 39}, {3, 2, 64}, {4, 33, 35}}) {
        const array<float> u = mixed<float>({shape[0], shape[1], shape[2]});
        const auto seven = roll(u, 1, 0) + roll(u, -1, 0) * 2 + roll(u, 1, 1) * 3 - roll(u, -1, 1) + roll(u, 1, 2) * 5 -
                           roll(u, -1, 2) - u * 6;
        CHECK(same(array<float>(seven), by_formula(
                                            u,
                                            [](const auto& at) {
                                                return at({-1, 0, 0}) + at({1, 0, 0}) * 2 + at({0, -1, 0}) * 3 -
                                                       at({0, 1, 0}) + at({0, 0, -1}) * 5 - at({0, 0, 1}) -
                                                       at({0, 0, 0}) * 6;
                                            },
                                            round_trip)));
        const auto corners = roll(u, {1, 1, 1}, {0, 1, 2}) - roll(u, {-1, 2, -3}, {0, 1, 2}) + roll(u, {2, -1}, {0, 2});
        CHECK(same(
            array<float>(corners),
            by_formula(
                u, [](const auto& at) { return at({-1, -1, -1}) - at({1, -2, 3}) + at({-2, 0, 1}); }, round_trip)));
        // Shifts along one of three axes, beside a plain view.
        const auto middle = roll(u, 1, 1) - roll(u, -1, 1) * u;
        CHECK(same(
            array<float>(middle),
            by_formula(u, [](const auto& at) { return at({0, -1, 0}) - at({0, 1, 0}) * at({0, 0, 0}); }, round_trip)));
    }
}

TEST_CASE("padded neighbours: the edge, a value, the other end, mirrors") {
    const slice low(0, -2), middle(1, -1), high(2, none);
    for (const index_t columns : {32, 33, 36, 70, 131})
        for (const index_t rows : {1, 2, 3, 5, 11, 19}) {
            const array<float> u = mixed<float>({rows, columns});
            const auto five = [&](const auto& p) {
                return p(low, middle) + p(high, middle) * 2 + p(middle, low) * 3 - p(middle, high) + p(middle, middle);
            };
            const auto formula = [](const auto& at) {
                return at({-1, 0}) + at({1, 0}) * 2 + at({0, -1}) * 3 - at({0, 1}) + at({0, 0});
            };
            INFO(rows << " by " << columns);
            const auto edge = pad(u, 1, pad_mode::edge), round = pad(u, 1, pad_mode::wrap);
            CHECK(same(array<float>(five(edge)), by_formula(u, formula, at_edge)));
            CHECK(same(array<float>(five(round)), by_formula(u, formula, round_trip)));
            if (rows > 2) CHECK(layout_of(five(edge)) == "stencil");
            if (rows > 2) CHECK(layout_of(five(round)) == "stencil");
            const array<float> zeros_around = pad(u, 1, 7).eval();
            CHECK(same(array<float>(five(pad(u, 1, 7))), array<float>(five(zeros_around))));
            const auto reflects = pad(u, 1, pad_mode::reflect), mirrors = pad(u, 1, pad_mode::symmetric);
            CHECK(same(array<float>(five(reflects)), by_formula(u, formula, reflected)));
            CHECK(same(array<float>(five(mirrors)), by_formula(u, formula, mirrored)));
            if (rows > 2) CHECK(layout_of(five(reflects)) == "stencil");
            if (rows > 2) CHECK(layout_of(five(mirrors)) == "stencil");
        }
    // Two wide, in one dimension.
    for (const index_t n : {1, 3, 40, 1025}) {
        const array<std::int32_t> u = mixed<std::int32_t>({n});
        const auto p = pad(u, 3, pad_mode::edge);
        CHECK(same(array<std::int32_t>(p(part(0, n)) * 2 + p(part(5, n)) - p(part(3, n))),
                   by_formula(u, [](const auto& at) { return at({-3}) * 2 + at({2}) - at({0}); }, at_edge)));
    }
}

TEST_CASE("mirrors many elements before the ends, of short axes and of long ones") {
    const auto check = [](const auto& u, pad_mode mode, auto border) {
        using T = typename std::remove_cvref_t<decltype(u)>::value_type;
        const index_t n = u.shape()[0], m = u.shape()[1];
        const auto p = pad(u, {{4, 4}, {8, 8}}, mode);
        const auto moved = [&](index_t i, index_t j) { return p(part(4 + i, n), part(8 + j, m)); };
        CHECK(same(array<T>(moved(-4, 8) - moved(4, -8) + moved(3, 5) * moved(0, 0) - moved(-1, -3)),
                   by_formula(
                       u,
                       [](const auto& at) {
                           return static_cast<T>(at({-4, 8}) - at({4, -8}) + at({3, 5}) * at({0, 0}) - at({-1, -3}));
                       },
                       border)));
    };
    for (const index_t rows : {1, 3, 4, 5, 19})
        for (const index_t columns : {33, 64, 131}) {
            CAPTURE(rows);
            CAPTURE(columns);
            check(mixed<float>({rows, columns}), pad_mode::reflect, reflected);
            check(mixed<float>({rows, columns}), pad_mode::symmetric, mirrored);
            check(mixed<std::uint8_t>({rows, columns}), pad_mode::reflect, reflected);
        }
    for (const index_t columns : {1, 2, 3, 7, 8, 9}) {
        CAPTURE(columns);
        check(mixed<float>({5, columns}), pad_mode::reflect, reflected);
        check(mixed<float>({5, columns}), pad_mode::symmetric, mirrored);
    }
    const array<float> u = mixed<float>({5, 9, 39});
    const auto seven = [](const auto& at) {
        return at({-1, 0, 0}) + at({1, 0, 0}) * 2 + at({0, -2, 0}) * 3 - at({0, 2, 0}) + at({0, 0, -1}) * 5 -
               at({0, 0, 1}) - at({0, 0, 0}) * 6;
    };
    const auto p = pad(u, 2, pad_mode::reflect);
    const auto of_pad = seven(
        [&](const std::vector<index_t>& by) { return p(part(2 + by[0], 5), part(2 + by[1], 9), part(2 + by[2], 39)); });
    CHECK(layout_of(of_pad) == "stencil");
    CHECK(same(array<float>(of_pad), by_formula(u, seven, reflected)));
}

TEST_CASE("shifts beside slices, other buffers, other operands and results") {
    constexpr index_t n = 21, m = 53;
    const array<float> u = mixed<float>({n, m}), w = mixed<float>({n + 2, m + 3});
    const array<std::uint8_t> mask = mixed<std::uint8_t>({n, m});
    const array<float> across = mixed<float>({m}), down = mixed<float>({n, 1});
    const auto at = [](const auto& x, index_t i, index_t j) {
        return turned(x, i, j).eval();  // in its own buffer
    };
    const auto agree = [&](const auto& got, const auto& wanted) {
        CHECK(layout_of(got) == "stencil");
        using T = typename std::remove_cvref_t<decltype(got)>::value_type;
        CHECK(same(array<T>(got), array<T>(wanted)));
    };
    const auto moved = [&](index_t i, index_t j) { return w(part(1 + i, n), part(1 + j, m)); };
    const auto moved_copy = [&](index_t i, index_t j) { return asarray(array<float>(moved(i, j)).to_host(), {n, m}); };
    agree(turned(u, 0, 1) - turned(u, 1, 0) + moved(0, 1) * moved(1, -1),
          at(u, 0, 1) - at(u, 1, 0) + moved_copy(0, 1) * moved_copy(1, -1));
    agree(where(turned(mask, 0, 1) < turned(mask, -1, 0), turned(u, 1, 1), turned(u, -2, 3)),
          where(at(mask, 0, 1) < at(mask, -1, 0), at(u, 1, 1), at(u, -2, 3)));
    agree((turned(u, 0, 1) - u) * across + down * u, (at(u, 0, 1) - u) * across + down * u);
    // Views that do not lie along the rows are shifted too.
    agree((turned(u, 0, 1) - u) * roll(across, 1, 0) + roll(down, -1, 0) * u,
          (at(u, 0, 1) - u) * roll(across, 1, 0).eval() + roll(down, -1, 0).eval() * u);
    const array<float> turned_over = mixed<float>({m, n});
    agree(turned(u, 0, 1) - u + roll(transpose(turned_over), 1, 0),
          at(u, 0, 1) - u + roll(transpose(turned_over), 1, 0).eval());
    random::seed(5);
    const auto noise = random::uniform<float>({n, m});
    agree(turned(u, 0, 1) - turned(u, -1, 0) + noise, at(u, 0, 1) - at(u, -1, 0) + noise);
    // A slice of a roll, and a roll of a slice.
    agree(roll(u, 1, 1)(part(0, n - 2), all) + roll(u, -1, 1)(part(2, n - 2), all) * u(part(1, n - 2), all),
          at(u, 0, -1)(part(0, n - 2), all) + at(u, 0, 1)(part(2, n - 2), all) * u(part(1, n - 2), all));
    const auto inner = [&](index_t i, index_t j) { return turned(w(part(1, n), part(2, m)), i, j); };
    agree(inner(0, 1) - inner(1, 0) * inner(0, 0), inner(0, 1).eval() - inner(1, 0).eval() * inner(0, 0).eval());
    // Rolls of an expression.
    agree(roll(u * 2 + down, 1, 0) - roll(u * 2 + down, -1, 1),
          roll((u * 2 + down).eval(), 1, 0).eval() - roll((u * 2 + down).eval(), -1, 1).eval());
    const auto [first, second] = eval(turned(u, 0, 1) - turned(u, 0, -1), turned(u, 1, 0) * turned(u, 0, 1));
    CHECK(same(first, array<float>(at(u, 0, 1) - at(u, 0, -1))));
    CHECK(same(second, array<float>(at(u, 1, 0) * at(u, 0, 1))));
}

TEST_CASE("one axis goes round, and two others are sliced") {
    for (const auto& shape : {std::array<index_t, 3>{1, 1, 32}, {2, 3, 33}, {17, 5, 39}, {4, 33, 35}}) {
        const index_t planes = shape[0], rows = shape[1];
        const array<float> w = mixed<float>({planes + 1, rows + 1, shape[2]});
        const auto at = [&](index_t i, index_t j) { return w(part(i, planes), part(j, rows), all); };
        const auto copied = [&](index_t i, index_t j) {
            return asarray(array<float>(at(i, j)).to_host(), {planes, rows, shape[2]});
        };
        const auto inner = roll(at(0, 1), 1, 2) - roll(at(1, 0), -2, 2) * at(0, 0);
        CHECK(same(array<float>(inner),
                   array<float>(roll(copied(0, 1), 1, 2).eval() - roll(copied(1, 0), -2, 2).eval() * copied(0, 0))));
        const auto outer = roll(at(0, 1), 1, 0) - roll(at(0, 0), -1, 0) * at(0, 1);
        CHECK(same(array<float>(outer),
                   array<float>(roll(copied(0, 1), 1, 0).eval() - roll(copied(0, 0), -1, 0).eval() * copied(0, 1))));
    }
}

TEST_CASE("every dtype goes round, and transposed, reversed and strided buffers do") {
    const auto one_of = [](auto one) {
        using T = decltype(one);
        const array<T> u = mixed<T>({9, 45});
        CHECK(same(
            array<T>(where(turned(u, 0, 1) == turned(u, 1, 0), turned(u, -1, -1), u)),
            by_formula(
                u, [](const auto& at) { return at({0, 1}) == at({1, 0}) ? at({-1, -1}) : at({0, 0}); }, round_trip)));
    };
    one_of(std::int8_t{}), one_of(std::uint16_t{}), one_of(std::int32_t{}), one_of(std::int64_t{}), one_of(float{});
    one_of(double{}), one_of(std::complex<float>{}), one_of(std::complex<double>{});
    const array<float> u = mixed<float>({40, 80});
    const auto check = [](const auto& view) {
        const array<float> plain = asarray(array<float>(view).to_host(), view.shape());
        const auto formula = [](const auto& at) { return at({1, 0}) + at({0, 1}) * 2 - at({-1, -1}); };
        CHECK(same(array<float>(turned(view, 1, 0) + turned(view, 0, 1) * 2 - turned(view, -1, -1)),
                   by_formula(plain, formula, round_trip)));
    };
    check(u(slice(3, 38), slice(5, 78)));
    check(transpose(u));
    check(u(all, slice(none, none, -1)));
    check(u(slice(0, none, 2), all));
    check(u(all, slice(0, none, 2)));
    check(broadcast_to(u(0), {35, 80}));
}

TEST_CASE("bytes and bools are computed two in a word, as they are alone") {
    for (const index_t columns : {32, 45, 64, 131}) {
        std::vector<std::uint8_t> all_bytes(static_cast<std::size_t>(7 * columns));
        for (std::size_t i = 0; i < all_bytes.size(); ++i) all_bytes[i] = static_cast<std::uint8_t>(i * i * 7 + i * 37);
        const array<std::uint8_t> u = asarray(all_bytes, {7, columns});
        const array<bool> b = (u % std::uint8_t{3} == 0).eval();
        const auto agree = [](const auto& got, const auto& wanted) {
            CHECK(layout_of(got) == "stencil");
            using T = typename std::remove_cvref_t<decltype(wanted)>::value_type;
            CHECK(same(array<T>(got), wanted));
        };
        const auto byte = [](int n) { return static_cast<std::uint8_t>(n); };
        const auto grown = [](auto x, auto y) {
            auto s = x + y;
            auto t = s + s + s + s + x;
            auto w = t + t + t + t + t + t + t + y;
            auto v = w + w + w + w + w + w + w;
            return v + v + v + v + v + v + v + v + x;
        };
        agree(
            grown(turned(u, 0, 1), turned(u, -1, 0)),
            by_formula(u, [&](const auto& at) { return byte(grown(int(at({0, 1})), int(at({-1, 0})))); }, round_trip));
        agree(where((turned(u, 0, 1) & u) != turned(u, 1, 2), turned(u, -1, -3) ^ u, turned(u, 0, -1) | u),
              by_formula(
                  u,
                  [&](const auto& at) {
                      return (at({0, 1}) & at({0, 0})) != at({1, 2}) ? byte(at({-1, -3}) ^ at({0, 0}))
                                                                     : byte(at({0, -1}) | at({0, 0}));
                  },
                  round_trip));
        agree(turned(u, 0, 1) == turned(u, 2, 0) + u,
              array<bool>(by_formula(
                              u, [&](const auto& at) { return byte(at({0, 1}) == byte(at({2, 0}) + at({0, 0}))); },
                              round_trip) != std::uint8_t{0}));
        const auto of_bools = [](const auto& x, const auto& y, const auto& z) {
            return ((x && !y) || (y ^ z)) == (x != z);
        };
        agree(of_bools(turned(b, 0, 1), b, turned(b, -1, -1)),
              array<bool>(of_bools(turned(b, 0, 1).eval(), b, turned(b, -1, -1).eval())));
        agree(where(turned(b, 0, 1), turned(u, 1, 0), u) + astype<std::uint8_t>(turned(b, 1, 0)),
              array<std::uint8_t>(where(turned(b, 0, 1).eval(), turned(u, 1, 0).eval(), u) +
                                  astype<std::uint8_t>(turned(b, 1, 0).eval())));
        agree(where(astype<bool>(turned(u, 0, 1)), turned(b, 1, 0), b),
              array<bool>(where(astype<bool>(turned(u, 0, 1).eval()), turned(b, 1, 0).eval(), b)));
        // The result is written into a slice, in place.
        array<std::uint8_t> v = asarray(u.to_host(), u.shape());
        v(part(1, 5), part(1, columns - 2)) = u(part(0, 5), part(0, columns - 2)) + u(part(2, 5), part(2, columns - 2));
        const array<std::uint8_t> one = asarray(array<std::uint8_t>(u(part(0, 5), part(0, columns - 2))).to_host(),
                                                {5, columns - 2}),
                                  other = asarray(array<std::uint8_t>(u(part(2, 5), part(2, columns - 2))).to_host(),
                                                  {5, columns - 2});
        CHECK(same(array<std::uint8_t>(v(part(1, 5), part(1, columns - 2))), array<std::uint8_t>(one + other)));
        CHECK(same(array<std::uint8_t>(v(0)), array<std::uint8_t>(u(0))));
        CHECK(same(array<std::uint8_t>(v(all, columns - 1)), array<std::uint8_t>(u(all, columns - 1))));
    }
}

TEST_CASE("what goes round is read before it is written") {
    array<float> u = mixed<float>({40, 64});
    const array<float> before = asarray(u.to_host(), u.shape());
    u = roll(u, 1, 0) + u * 2 + roll(u, -1, 1);
    CHECK(same(
        u, by_formula(before, [](const auto& at) { return at({-1, 0}) + at({0, 0}) * 2 + at({0, 1}); }, round_trip)));
    array<float> v = asarray(before.to_host(), before.shape());
    v += roll(v, 1, 1) - roll(v, -1, 1);
    CHECK(same(v,
               by_formula(before, [](const auto& at) { return at({0, 0}) + (at({0, -1}) - at({0, 1})); }, round_trip)));
    array<float> w = asarray(before.to_host(), before.shape());
    assign(w, roll(w, 1, 0) + roll(w, -1, 0));
    CHECK(same(w, by_formula(before, [](const auto& at) { return at({-1, 0}) + at({1, 0}); }, round_trip)));
}

TEST_CASE("the same expression with other shifts, extents and borders has its own values") {
    // One slot serves all: a cached call must not serve another.
    const auto step = [](const array<float>& x, index_t i, index_t j) {
        return array<float>(roll(x, i, 0) - roll(x, j, 1) * x);
    };
    for (int turn = 0; turn < 2; ++turn)
        for (const index_t columns : {40, 48})
            for (const index_t i : {1, 2, -1, 11, 0})
                for (const index_t j : {1, -8, 3, 20}) {
                    const array<float> u = mixed<float>({13, columns});
                    const auto formula = [=](const auto& at) { return at({-i, 0}) - at({0, -j}) * at({0, 0}); };
                    CHECK(same(step(u, i, j), by_formula(u, formula, round_trip)));
                }
}

TEST_CASE("rolled neighbours are one kernel, and others' shapes need no new one") {
    const auto step = [](const array<std::uint8_t>& x) { return array<std::uint8_t>(life(x)); };
    const array<std::uint8_t> first = mixed<std::uint8_t>({40, 64}), second = mixed<std::uint8_t>({50, 96});
    (void)step(first);
    const auto before = counters();
    (void)step(second);
    const auto after = counters();
    CHECK(after.kernel_launches - before.kernel_launches == 1);
    CHECK(after.compiles == before.compiles);
}
