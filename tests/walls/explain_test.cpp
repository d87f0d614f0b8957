// explain() against counts made by hand: kernels, bytes read and written, operations.
#include <array>
#include <bit>

#include "count.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

struct cost {
    std::size_t kernels;
    std::uint64_t read, written, flops;
    friend bool operator==(const cost&, const cost&) = default;
};

cost total(const explanation& e) { return {e.kernels.size(), e.bytes_read(), e.bytes_written(), e.flops()}; }

/// The explanation, after a check against a run: the same number of kernels, and no memory besides the result's.
template <class E>
cost cost_of(const E& e) {
    const cost c = total(explain(e));
    CHECK(launches([&] { (void)eval(e); }) == c.kernels);
    return c;
}

constexpr index_t n = 1000;

/// A tree that grows by two nodes with each step, larger than one kernel can be.
lazy<float> chain(const lazy<float>& x, int steps) {
    lazy<float> t = x;
    for (int i = 0; i < steps; ++i) t = t * 0.5f + x;
    return t;
}

}  // namespace

namespace doctest {
template <>
struct StringMaker<cost> {
    static String convert(const cost& c) {
        return ("{" + std::to_string(c.kernels) + ", " + std::to_string(c.read) + ", " + std::to_string(c.written) +
                ", " + std::to_string(c.flops) + "}")
            .c_str();
    }
};
}  // namespace doctest

TEST_CASE("maps: every distinct element read once, every result written once") {
    const array<float> x = counted<float>(n), y = ones<float>(n);
    CHECK(cost_of(where(x - 2 > y, x * y, x + y)) == cost{1, 8 * n, 4 * n, 5 * n});
    CHECK(cost_of(x * x + x) == cost{1, 4 * n, 4 * n, 2 * n});
    CHECK(cost_of(exp(x) + 1) == cost{1, 4 * n, 4 * n, 9 * n});
    CHECK(cost_of((x + y) * (x + y)) == cost{1, 8 * n, 4 * n, 2 * n});  // the sum is one node
    CHECK(cost_of(x > y) == cost{1, 8 * n, n, n});
    CHECK(cost_of(astype<double>(x)) == cost{1, 4 * n, 8 * n, 0});
    CHECK(cost_of(power(x, 2)) == cost{1, 4 * n, 4 * n, n});
}

TEST_CASE("views: the elements that are seen, and no others, and what several see once") {
    const array<float> x = counted<float>(n);
    const array<double> m = ones<double>({40, 50});
    CHECK(cost_of(x(slice(0, none, 2)) + 1) == cost{1, 4 * n / 2, 4 * n / 2, n / 2});
    CHECK(cost_of(x(slice(1)) - x(slice(0, -1))) == cost{1, 4 * n, 4 * (n - 1), n - 1});
    CHECK(cost_of(x(slice(0, 10)) - x(slice(n - 10, none))) == cost{1, 8 * 10, 4 * 10, 10});
    CHECK(cost_of(m + m.T()(slice(0, 1))(0, slice(0, 40))(all, newaxis)) == cost{1, 8 * 2000, 8 * 2000, 2000});
    CHECK(cost_of(m(3) + 1) == cost{1, 8 * 50, 8 * 50, 50});
    CHECK(cost_of(x(5) * 2) == cost{1, 4, 4, 1});
}

TEST_CASE("broadcast operands are read once") {
    const array<float> m = ones<float>({40, 50}), row = ones<float>(50), column = ones<float>({40, 1});
    CHECK(cost_of(m + row) == cost{1, 4 * (2000 + 50), 4 * 2000, 2000});
    CHECK(cost_of(m + column) == cost{1, 4 * (2000 + 40), 4 * 2000, 2000});
    CHECK(cost_of(m * row - column) == cost{1, 4 * (2000 + 90), 4 * 2000, 2 * 2000});
    CHECK(cost_of(row + column) == cost{1, 4 * 90, 4 * 2000, 2000});
    CHECK(cost_of(broadcast_to(row, {40, 50}) * 3) == cost{1, 4 * 50, 4 * 2000, 2000});
}

TEST_CASE("leaves without memory are not read") {
    const array<float> x = counted<float>(n);
    CHECK(explain(random::uniform<float>(n)).bytes_read() == 0);
    CHECK(explain(x + random::uniform<float>(n)).bytes_read() == 4 * n);
    CHECK(explain(x * 2 + scalar<float>(3)).bytes_read() == 4 * n);
}

TEST_CASE("sums: operands read once, one result for each row; temporaries count where there are any") {
    const array<float> m = ones<float>({300, 64}), v = ones<float>(64);
    const cost rows = cost_of(sum(m, 1));
    CHECK(rows == cost{1, 4 * 300 * 64, 4 * 300, 300 * 64});
    CHECK(cost_of(sum(m * v, 1)) == cost{1, 4 * (300 * 64 + 64), 4 * 300, 2 * 300 * 64});
    CHECK(cost_of(sqrt(sum(m * m, 1))) == cost{1, 4 * 300 * 64, 4 * 300, 2 * 300 * 64 + 300});
    const array<float> x = counted<float>(n);
    CHECK(cost_of(sum(x)) == cost{1, 4 * n, 4, n});
    CHECK(sum(x).item() == n * (n - 1) / 2);
}

TEST_CASE("several outputs read what they share once") {
    const array<float> x = counted<float>(n), y = ones<float>(n);
    const auto a = x * y;
    const auto b = x * y + 1;
    CHECK(total(explain(a, b)) == cost{1, 8 * n, 8 * n, 2 * n});
}

TEST_CASE("what is evaluated in several pieces is explained as all of them") {
    const array<float> x = counted<float>(n);
    CHECK(cost_of(chain(x, 5000)).kernels > 10);
    const array<float> m = ones<float>({40, 50});
    const lazy<float> centred = chain(m, 100) - mean(chain(m, 100), 1, keepdims);
    CHECK(cost_of(sum(centred * centred, 0)).kernels == 3);
    CHECK(cost_of(sum(reshape(m.T() + 1, {20, 100}), 1)).kernels == 2);  // its operand has another layout
}

TEST_CASE("equal pieces have one plan, which source and key show once") {
    const array<float> x = counted<float>(n);
    const std::string once = source(chain(x, 500)), twice = source(chain(x, 1000));
    CHECK(twice.size() < 2 * once.size());
}

TEST_CASE("looking runs nothing, compiles nothing and allocates no array") {
    const array<float> x = counted<float>(n), m = ones<float>({40, 50});
    const lazy<float> deep = chain(x, 1000), wide = chain(m, 100);
    const auto look = [](const auto&... e) {
        using numbers = std::array<std::uint64_t, sizeof(counter_values) / 8>;
        const auto before = std::bit_cast<numbers>(counters());
        CHECK_FALSE(explain(e...).kernels.empty());
        CHECK_FALSE(source(e...).empty());
        CHECK_FALSE(to_dot(e...).empty());
        CHECK(std::bit_cast<numbers>(counters()) == before);
    };
    look(deep);
    look(deep, deep * 2, sum(deep));
    look(wide - mean(wide, 1, keepdims), sum(wide), deep);
    look(sum(reshape(m.T() + 1, {20, 100}), 1));
    look(sum(wide * wide, 0) + chain(sum(wide, 0), 100));
}

TEST_CASE("an expression of size 0 is no kernel") {
    const array<float> x = zeros<float>({0, 5});
    CHECK(total(explain(x + 1)) == cost{0, 0, 0, 0});
    CHECK(launches([&] { CHECK((x + 1).eval().size() == 0); }) == 0);
    CHECK(launches([&] { CHECK(holds(sum(x, 0), {5}, {0, 0, 0, 0, 0})); }) == 1);
}

TEST_CASE("an explanation says what runs, and whether it is there") {
    const array<float> x = counted<float>(n);
    const auto e = x * 17 + x / 19 - 23;
    const explanation before = explain(e);
    CHECK_FALSE(before.in_memory);
    (void)eval(e);
    const explanation after = explain(e);
    CHECK(after.in_memory);
    CHECK(after.key == before.key);
    CHECK(after.pattern == "map");
    std::ostringstream text;
    text << after;
    CHECK(text.str().find("1 kernel, loaded") != std::string::npos);
    CHECK(text.str().find("reads 4000 bytes, writes 4000") != std::string::npos);
    CHECK(source(e).find(after.kernels[0].name) != std::string::npos);
}
