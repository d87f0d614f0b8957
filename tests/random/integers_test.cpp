// Random integers bit for bit: the high parts of words times the range, on every target and however they are seen.
#include <limits>

#include <ingot/core/philox.hpp>

#include "tests/arrays/expect.hpp"
#include "tests/cache/fixture.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// Element i's word of this seed and call: of 32 bits for types of 8 and 16 bits; of 64 for those of 32, a word for
/// each half, the lower one from 2^62 elements further on; of 64 as `bits` has them for those of 64.
template <class T>
std::uint64_t word_of(std::uint64_t seed, std::uint64_t call, std::uint64_t i) {
    namespace philox = detail::philox;
    if constexpr (sizeof(T) == 8) return philox::word_of<T>(philox::words(seed, call, i / 2), i % 2);
    const std::uint64_t word = philox::words(seed, call, i / 4)[i % 4];
    return sizeof(T) < 4 ? word : word << 32 | philox::words(seed, call, i / 4 + (std::uint64_t{1} << 60))[i % 4];
}

/// The high part of its product by a range, 0 being 2^64.
template <class T>
std::uint64_t scaled(std::uint64_t seed, std::uint64_t call, std::uint64_t i, std::uint64_t range) {
    __extension__ using wide = unsigned __int128;
    const wide full = range == 0 ? wide{1} << 64 : wide{range};
    return static_cast<std::uint64_t>((word_of<T>(seed, call, i) * full) >> (sizeof(T) < 4 ? 32 : 64));
}

template <class T>
std::vector<T> integers_of(std::uint64_t seed, std::uint64_t call, T low, std::uint64_t range, index_t n) {
    std::vector<T> numbers;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n); ++i)
        numbers.push_back(static_cast<T>(static_cast<std::uint64_t>(low) + scaled<T>(seed, call, i, range)));
    return numbers;
}

template <class T>
void check_integers(const array<T>& given, std::uint64_t seed, std::uint64_t call, T low, std::uint64_t range) {
    INFO(name(detail::dtype_of<T>) << ", call " << call);
    CHECK(given.to_host() == integers_of<T>(seed, call, low, range, given.size()));
}

}  // namespace

TEST_CASE("integers of 32 bits are the known answers of words of 64") {
    // Values from Philox4x32-10 in Python. Without the lower half of its word, the fourth number of the second list
    // would be one less.
    random::generator g(0);
    const auto below_1000 = random::integers<int>(0, 1000, 8, g);
    const auto wide = random::integers<std::uint32_t>(0, 3'000'000'000u, 8, g);
    const auto [a, b] = eval(below_1000, wide);
    CHECK(a.to_host() == std::vector<int>{399, 880, 735, 605, 972, 362, 693, 37});
    CHECK(b.to_host() == std::vector<std::uint32_t>{1550037481, 2818974256, 176960049, 1546529878, 2372907868,
                                                    2552100764, 1481270550, 1281992778});
}

TEST_CASE("integers are the high parts of words times the range, on every target") {
    constexpr std::uint64_t seed = 77;
    constexpr index_t n = 1003;
    random::generator g(seed);
    using limits = std::numeric_limits<std::int64_t>;
    // One after the other, because the order of arguments is unspecified.
    const auto i1 = random::integers<std::int8_t>(-128, 128, n, g);
    const auto u1 = random::integers<std::uint8_t>(3, 10, n, true, g);
    const auto i2 = random::integers<std::int16_t>(-500, 1000, n, g);
    const auto u2 = random::integers<std::uint16_t>(0, 65535, n, true, g);
    const auto [a, b, c, d] = eval(i1, u1, i2, u2);
    check_integers<std::int8_t>(a, seed, 0, -128, 256);
    check_integers<std::uint8_t>(b, seed, 1, 3, 8);
    check_integers<std::int16_t>(c, seed, 2, -500, 1500);
    check_integers<std::uint16_t>(d, seed, 3, 0, 65536);
    const auto i4 = random::integers<int>(-7, 9, n, g);
    const auto u4 = random::integers<std::uint32_t>(0, 4294967295u, n, true, g);
    const auto i8 = random::integers<std::int64_t>(limits::min(), limits::max(), n, true, g);
    const auto u8 = random::integers<std::uint64_t>(5, 0xfedcba9876543210u, n, g);
    const auto [e, f, h, k] = eval(i4, u4, i8, u8);
    check_integers<int>(e, seed, 4, -7, 16);
    check_integers<std::uint32_t>(f, seed, 5, 0, 1ull << 32);
    check_integers<std::int64_t>(h, seed, 6, limits::min(), 0);
    check_integers<std::uint64_t>(k, seed, 7, 5, 0xfedcba9876543210u - 5);
    // A range that is not a constant gives the same numbers.
    g.seed(seed);
    const array<int> low{-7, 100}, high{9, 1000};
    const array<std::int64_t> low8{limits::min(), 0}, high8{limits::max(), 1};
    const auto narrow = random::integers<int>(low, high, {n, 2}, g);
    const auto wide = random::integers<std::int64_t>(low8, high8, {n, 2}, true, g);
    const auto [p, q] = eval(narrow, wide);
    for (index_t i = 0; i < 2 * n; i += 501) {
        const auto at = static_cast<std::uint64_t>(i);
        CHECK(p(i / 2, i % 2).item() ==
              (i % 2 ? 100 : -7) + static_cast<int>(scaled<int>(seed, 0, at, i % 2 ? 900 : 16)));
        CHECK(q(i / 2, i % 2).item() ==
              static_cast<std::int64_t>((i % 2 ? 0 : 1ull << 63) + scaled<std::int64_t>(seed, 1, at, i % 2 ? 2 : 0)));
    }
}

TEST_CASE("integers do not depend on how they are seen, nor on what is around them") {
    constexpr std::uint64_t seed = 123;
    constexpr index_t rows = 37, width = 203;
    constexpr std::uint32_t range = 3'000'000'019u;  // most words need their lower halves
    const std::vector<std::uint32_t> all_of_them = integers_of<std::uint32_t>(seed, 0, 7, range, rows * width);
    const auto at = [&](index_t r, index_t c) { return all_of_them[static_cast<std::size_t>(r * width + c)]; };
    random::generator g(seed);
    const auto drawn = random::integers<std::uint32_t>(7, range + 7u, {rows, width}, g);
    const lazy<std::uint32_t> kept = drawn;
    const array<int> which{5, 0, 36, 5};
    const auto [turned, backwards, some, of_kept, gathered, doubled] = eval(
        transpose(drawn), drawn(slice(none, none, -1), slice(none, none, -3)), drawn(slice(3, 30, 4), slice(1, 200)),
        transpose(kept)(slice(2, none, 5)), take(drawn, which, 0), astype<double>(drawn) * 2);
    std::size_t wrong = 0;
    const auto expect = [&](const auto& x, const auto& number) {
        const auto values = x.to_host();
        for (index_t i = 0; i < x.size(); ++i)
            wrong += values[static_cast<std::size_t>(i)] != number(i / x.shape()[1], i % x.shape()[1]);
    };
    expect(turned, [&](index_t i, index_t j) { return at(j, i); });
    expect(backwards, [&](index_t i, index_t j) { return at(rows - 1 - i, width - 1 - 3 * j); });
    expect(some, [&](index_t i, index_t j) { return at(3 + 4 * i, 1 + j); });
    expect(of_kept, [&](index_t i, index_t j) { return at(j, 2 + 5 * i); });
    expect(gathered,
           [&](index_t i, index_t j) { return at(std::vector<index_t>{5, 0, 36, 5}[static_cast<std::size_t>(i)], j); });
    expect(doubled, [&](index_t i, index_t j) { return 2.0 * at(i, j); });
    CHECK(wrong == 0);
}

TEST_CASE("integers in folds and scans, by rows and by columns") {
    constexpr std::uint64_t seed = 124;
    constexpr index_t rows = 33, width = 130;
    const std::vector<int> all_of_them = integers_of<int>(seed, 0, -5, 2'000'000'000u, rows * width);
    random::generator g(seed);
    const auto drawn = random::integers<int>(-5, 1'999'999'995, {rows, width}, g);
    const auto [by_rows, by_columns, along, down] =
        eval(sum(drawn, 1), sum(drawn, 0), cumsum(drawn, 1), cumsum(drawn, 0));
    const auto a = along.to_host(), d = down.to_host(), r = by_rows.to_host(), c = by_columns.to_host();
    std::vector<std::int64_t> below(width);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        std::int64_t before = 0;
        for (std::size_t j = 0; j < width; ++j) {
            const std::size_t k = i * width + j;
            before += all_of_them[k];
            below[j] += all_of_them[k];
            wrong += static_cast<std::size_t>(a[k] != before) + static_cast<std::size_t>(d[k] != below[j]);
        }
        wrong += static_cast<std::size_t>(r[i] != before);
    }
    CHECK(wrong == 0);
    CHECK(c == below);
}

TEST_CASE("integers of one call and two ranges are two leaves") {
    random::generator g(9), again(9);
    const auto few = random::integers<int>(0, 10, 100, g), many = random::integers<int>(0, 1000, 100, again);
    const auto [a, b] = eval(few, many);
    check_integers<int>(a, 9, 0, 0, 10);
    check_integers<int>(b, 9, 0, 0, 1000);
    const lazy<int> kept = few * 1, other = many * 1;
    CHECK(array_equal(kept + other, a + b).item());
    // Another range compiles no other kernel.
    const new_key_watch keys;
    random::generator third(9);
    check_integers<int>(eval(random::integers<int>(0, 10, 100, third)), 9, 0, 0, 10);
    const auto before = keys.count();
    check_integers<int>(eval(random::integers<int>(5, 99, 100, third)), 9, 1, 5, 94);
    CHECK(keys.count() == before);
}

TEST_CASE("the interpreter has the same integers") {
    const with_device host(device::host());
    const test::environment_variable no_compiler("INGOT_CXX", "/there/is/no/compiler");
    random::generator g(31);
    const auto before = counters().interpreter_runs;
    const auto few = random::integers<int>(-5, 7, {6, 11}, g);
    const auto many = random::integers<std::uint32_t>(3, 4'000'000'003u, {6, 11}, g);
    const auto [a, b] = eval(transpose(few), transpose(many));
    CHECK(counters().interpreter_runs == before + 1);
    CHECK(transpose(a).to_host() == integers_of<int>(31, 0, -5, 12, 66));
    CHECK(transpose(b).to_host() == integers_of<std::uint32_t>(31, 1, 3, 4'000'000'000u, 66));
}

TEST_CASE("ranges of arrays that are empty give the same integers on every target") {
    // Modulo 2^32: 2^32 - 5 of them from 9 on, and all 2^32 from 7 on.
    random::generator g(17);
    const array<int> low{9, 7}, high{4, 7};
    const array<int> drawn = random::integers<int>(low, high, {50, 2}, g);
    std::vector<int> wanted;
    for (std::uint64_t i = 0; i < 100; ++i)
        wanted.push_back(i % 2 == 0 ? static_cast<int>(9 + scaled<int>(17, 0, i, 4294967291u))
                                    : static_cast<int>(7 + scaled<int>(17, 0, i, 1ull << 32)));
    CHECK(drawn.to_host() == wanted);
}
