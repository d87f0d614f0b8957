// Extreme numbers from outside: values that do not fit their dtype; sizes, strides and offsets up to the limits of 64
// bits; sizes beyond any memory. Each gives a typed error that names the numbers, or NumPy's result.
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <sstream>

#include "expect.hpp"

using namespace ingot;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                       least = std::numeric_limits<std::int64_t>::min();
constexpr std::uint64_t all_bits = std::numeric_limits<std::uint64_t>::max();

}  // namespace

TEST_CASE("braces convert as full does") {
    CHECK(thrown<dtype_error>([] { array<std::uint8_t>{300}; }) == "[array] scalar 300 does not fit uint8");
    CHECK(thrown<dtype_error>([] { array<std::uint8_t>{1, -1}; }) == "[array] scalar -1 does not fit uint8");
    CHECK(thrown<dtype_error>([] { array<std::int8_t>{{1, 2}, {3, 128}}; }) == "[array] scalar 128 does not fit int8");
    CHECK(thrown<dtype_error>([] { array<int>{{{1, 1}, {2, 2}}, {{3, 3}, {4, 1ll << 31}}}; }) ==
          "[array] scalar 2147483648 does not fit int32");
    CHECK(thrown<dtype_error>([] { array<std::int64_t>{all_bits}; }) ==
          "[array] scalar 18446744073709551615 does not fit int64");
    CHECK_THROWS_AS((array<std::uint64_t>{-1}), dtype_error);
    array<std::uint8_t> x{0, 255};
    CHECK_THROWS_AS(x.set({1, 256}), dtype_error);
    CHECK(holds(x, {2}, {0, 255}));
    CHECK(holds(array<std::uint8_t>{-2.5, 300.0, 7.9, std::nan("")}, {4}, {0, 255, 7, 0}));
    CHECK(holds(array<int>{1e30, -1e30f}, {2}, {2147483647, -2147483647 - 1}));
    CHECK(holds(array<bool>{2, 0, 0.5}, {3}, {true, false, true}));
    CHECK(holds(array<float>{1 << 24, -3, true}, {3}, {16777216, -3, 1}));
}

TEST_CASE("a range of the host keeps its type, and as another one converts as astype does") {
    static_assert(std::same_as<decltype(asarray(std::vector<std::uint8_t>{1})), array<std::uint8_t>>);
    CHECK(holds(asarray(std::vector{300, -1}), {2}, {300, -1}));
    CHECK(holds(asarray<std::uint8_t>(std::vector{300, -1}), {2}, {44, 255}));
    CHECK(holds(asarray<int>(std::vector{1e30, -1e30, std::nan(""), -2.5}), {4}, {2147483647, -2147483647 - 1, 0, -2}));
    CHECK(holds(arange<std::uint8_t>(250, 255), {5}, {250, 251, 252, 253, 254}));
    CHECK_THROWS_AS(arange<std::uint8_t>(-1, 3), dtype_error);
    CHECK(holds(linspace<int>(0, 1e10, 2), {2}, {0, 2147483647}));
}

TEST_CASE("strides over foreign memory are checked without overflow") {
    float memory[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const unowned_memory m(memory, sizeof memory, device::host());
    CHECK(thrown<shape_error>([&] { (void)asarray<float>(m, {5}, {1ll << 62}); }) ==
          "[asarray] shape (5,) with strides (4611686018427387904,) of float32 reaches beyond the 64 bytes given");
    CHECK_THROWS_AS((void)asarray<float>(m, {5}, {least}), shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, {3}, {-(1ll << 62)}), shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, {3, 3}, {1ll << 62, -(1ll << 62)}), shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, {1ll << 40, 1ll << 18}, {1ll << 60, 1ll << 60}), shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, {1ll << 58}), shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, shape_like(std::vector<std::int64_t>(57, 2)),
                                         shape_like(std::vector<std::int64_t>(57, 1ll << 62))),
                    shape_error);
    CHECK_THROWS_AS((void)asarray<float>(m, {17}), shape_error);
    CHECK(asarray<float>(m, {4, 4}, {4, 16}).to_host()[1] == 4);
    CHECK(asarray<float>(m, {1}, {1ll << 62}).to_host() == std::vector{0.0f});
    CHECK((asarray<float>(m, {0, 5}, {1ll << 62, 1ll << 62}) + 1).to_host().empty());
}

TEST_CASE("slices and indices reach to the ends of 64 bits, and unsigned ones are no negative ones") {
    const array<int> x = arange(5);
    CHECK(x(slice(least, most)).size() == 5);
    CHECK(x(slice(0, least)).size() == 0);
    CHECK(x(slice(most)).size() == 0);
    CHECK(holds(x(slice(most, least, -1)), {5}, {4, 3, 2, 1, 0}));
    CHECK(x(slice(least, none, -1)).size() == 0);
    CHECK(holds(x(slice(1, most, most)), {1}, {1}));
    CHECK(holds(x(slice(none, none, least)), {1}, {4}));
    CHECK(holds(x(slice(1, all_bits)), {4}, {1, 2, 3, 4}));
    CHECK_THROWS_AS((void)x(all_bits), index_error);
    CHECK_THROWS_AS((void)x(least), index_error);
    CHECK_THROWS_AS((void)x(most), index_error);
    CHECK(thrown<shape_error>([] { (void)zeros<float>(all_bits); }) ==
          "18446744073709551615 is too large for an extent or an axis");
    CHECK_THROWS_AS((void)reshape(x, {all_bits}), shape_error);
    CHECK_THROWS_AS((void)sum(x, all_bits), shape_error);
    CHECK_THROWS_AS((void)sum(x, least), shape_error);
}

TEST_CASE("diagonals at any offset") {
    const array<int> x = ones<int>({2, 3}), line{1, 2};
    for (const std::int64_t offset : {most, least, least + 1}) {
        CHECK(diagonal(x, offset).size() == 0);
        CHECK(holds(eye<int>(2, 2, offset), {2, 2}, {0, 0, 0, 0}));
        CHECK_THROWS_AS((void)diag(line, offset), shape_error);
        const int below = offset > 0;
        CHECK(holds(tri<int>(2, 2, offset), {2, 2}, {below, below, below, below}));
    }
    CHECK(thrown<shape_error>([&] { (void)diag(line, most); }).find("9223372036854775807") != std::string::npos);
    CHECK_THROWS_AS((void)tri(most, most, most), shape_error);
    CHECK_THROWS_AS((void)tri(-1, 1), shape_error);
}

TEST_CASE("arange counts integers exactly") {
    CHECK(holds(arange(most - 2, most), {2}, {most - 2, most - 1}));
    CHECK(holds(arange(least, least + 3, 2), {2}, {least, least + 2}));
    CHECK(holds(arange(most, least, least), {2}, {most, std::int64_t{-1}}));
    CHECK(holds(arange(all_bits - 1, all_bits), {1}, {all_bits - 1}));
    CHECK(holds(arange<std::int64_t>((1ll << 53) + 1, (1ll << 53) + 3), {2}, {(1ll << 53) + 1, (1ll << 53) + 2}));
    CHECK(arange(most, least).size() == 0);
    CHECK(thrown<shape_error>([] { (void)arange(least, most); }).find("[arange] ") == 0);
    CHECK_THROWS_AS((void)arange(0, 5, 0), shape_error);
    CHECK_THROWS_AS((void)arange(0.0, 1e300), shape_error);
    CHECK_THROWS_AS((void)arange(0.0, std::numeric_limits<double>::infinity()), shape_error);
}

TEST_CASE("views with more elements than 64 bits count are refused") {
    const array<float> one{1};
    const auto far = broadcast_to(one, {1ll << 32});
    CHECK_THROWS_AS((void)meshgrid(far, far), shape_error);
    CHECK_THROWS_AS((void)take(far(newaxis, all), broadcast_to(array<int>{0}, {1ll << 32}), 0), shape_error);
    CHECK_THROWS_AS((void)reshape(zeros<float>({0, 4}), {0, most, most}), shape_error);
    CHECK_THROWS_AS((void)random::uniform<float>({most, 2}), shape_error);
}

TEST_CASE("what no memory holds is said with its size, whichever function is asked for it") {
    const std::int64_t n = std::int64_t{1} << 62, m = std::int64_t{1} << 57;  // beyond any size, and beyond any memory
    CHECK(thrown<shape_error>([&] { (void)linspace(0, 1, n); }) ==
          "[linspace] shape (4611686018427387904,) has too many elements");
    CHECK(thrown<shape_error>([&] { (void)arange(n); }) ==
          "[arange] shape (4611686018427387904,) has too many elements");
    CHECK(thrown<shape_error>([&] { (void)zeros(n); }) == "[zeros] shape (4611686018427387904,) has too many elements");
    CHECK_THROWS_AS((void)arange(0.0, 0x1p62), shape_error);
    CHECK_THROWS_AS((void)logspace(0, 1, n), shape_error);
    CHECK_THROWS_AS((void)eye(n), shape_error);
    CHECK(thrown<out_of_memory>([&] { (void)linspace(0, 1, m); }).find(std::to_string(m)) != std::string::npos);
    CHECK_THROWS_AS((void)arange(m), out_of_memory);
    CHECK_THROWS_AS((void)arange(0.0, 0x1p57), out_of_memory);
    CHECK_THROWS_AS((void)zeros(m), out_of_memory);
    CHECK_THROWS_AS((void)ones<bool>(m), out_of_memory);
    CHECK_THROWS_AS((void)full(m, 1), out_of_memory);
    CHECK_THROWS_AS((void)empty({m, 2}), out_of_memory);
    CHECK_THROWS_AS((void)eye(std::int64_t{1} << 28), out_of_memory);
    CHECK_THROWS_AS((void)tri(m, 1), out_of_memory);
    CHECK_THROWS_AS((void)diag(array<int>{1}, std::int64_t{1} << 28), out_of_memory);

    const auto far = broadcast_to(array<float>{1}, {m});
    CHECK_THROWS_AS((void)far.to_host(), out_of_memory);
    CHECK_THROWS_AS((void)(far > 0).to_host(), out_of_memory);
    CHECK_THROWS_AS((void)eval(far + 1), out_of_memory);
    CHECK_THROWS_AS((void)eval(random::uniform<float>(m)), out_of_memory);
    CHECK_THROWS_AS((void)zeros_like(far), out_of_memory);
    CHECK_THROWS_AS((void)meshgrid(far, array<int>{1}), out_of_memory);
    CHECK_THROWS_AS((void)eval(cumsum(far)), out_of_memory);
    CHECK_THROWS_AS((void)reshape(far, {2, -1}).eval(), out_of_memory);
    std::ostringstream out;
    CHECK_THROWS_AS(out << far + 1, out_of_memory);
    out << far;
    CHECK(out.str() == "[1. 1. 1. ... 1. 1. 1.]");

    std::vector<float> few(3);
    CHECK_THROWS_AS(copy_to(far, few), shape_error);
    CHECK_THROWS_AS((void)(far + 1).item(), shape_error);
    array<float> x = zeros<float>(3);
    CHECK_THROWS_AS(x.set(std::span<const float>(few.data(), static_cast<std::size_t>(n))), shape_error);
    CHECK_THROWS_AS((void)asarray(std::span<const float>(few.data(), static_cast<std::size_t>(m))), out_of_memory);
    CHECK_THROWS_AS(x = far + 1, out_of_memory);
    CHECK(holds(x, {3}, {0, 0, 0}));
}

TEST_CASE("an array takes its dtype from an expression") {
    const array<float> x{1, 2}, y{3, 4};
    array r = x + y;
    static_assert(std::same_as<decltype(r), array<float>>);
    CHECK(holds(r, {2}, {4, 6}));
    array above = x > 1;
    array same = x;
    array kept{x};
    array average = mean(x);
    array wide = x + scalar<double>(1);
    array part = r(slice(1));
    array moved = std::move(r);
    array noise = random::uniform<double>(2);
    static_assert(std::same_as<decltype(above), array<bool>> && std::same_as<decltype(same), array<float>> &&
                  std::same_as<decltype(kept), array<float>> && std::same_as<decltype(average), array<float>> &&
                  std::same_as<decltype(wide), array<double>> && std::same_as<decltype(part), array<float>> &&
                  std::same_as<decltype(moved), array<float>> && std::same_as<decltype(noise), array<double>>);
    static_assert(std::same_as<decltype(array(lazy<float>(x))), array<float>>);
    CHECK(holds(part, {1}, {6}));
    CHECK(holds(array(x * 2), {2}, {2, 4}));
}
