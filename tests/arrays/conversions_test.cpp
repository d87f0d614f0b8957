// Whole arrays are given values of the same kind or a wider one, as NumPy's out= has it; parts convert. What an array
// can be made of without naming its type.
#include <complex>
#include <limits>
#include <type_traits>

#include "expect.hpp"

using namespace ingot;

namespace {

template <class To, class From>
constexpr bool gives =
    std::is_convertible_v<array<From>, array<To>> && std::is_constructible_v<array<To>, array<From>> &&
    std::is_assignable_v<array<To>&, array<From>> && std::is_convertible_v<array<From>, lazy<To>>;
template <class To, class From>
constexpr bool refuses =
    !std::is_convertible_v<array<From>, array<To>> && !std::is_constructible_v<array<To>, array<From>> &&
    !std::is_assignable_v<array<To>&, array<From>> &&
    !std::is_assignable_v<array<To>&, decltype(+std::declval<array<From>>())> &&
    !std::is_convertible_v<array<From>, lazy<To>>;

// NumPy's can_cast(from, to, 'same_kind').
static_assert(gives<double, float> && gives<float, double> && gives<float, int> && gives<float, bool>);
static_assert(gives<float16, double> && gives<bfloat16, float16> && gives<std::complex<float>, double>);
static_assert(gives<int, std::int64_t> && gives<std::int8_t, int> && gives<int, unsigned> && gives<int, bool>);
static_assert(gives<std::uint8_t, std::uint64_t> && gives<std::complex<float>, std::complex<double>>);
static_assert(refuses<int, double> && refuses<int, float16> && refuses<std::int64_t, float> && refuses<bool, int>);
static_assert(refuses<unsigned, int> && refuses<std::uint64_t, std::int8_t> && refuses<bool, double>);
static_assert(refuses<double, std::complex<float>> && refuses<int, std::complex<double>>);

}  // namespace

TEST_CASE("a lesser kind is named, and parts of arrays convert to it as NumPy's setitem does") {
    const array<double> d{1.75, -2.5, 1e20};
    CHECK(holds(array<int>(astype<int>(d)), {3}, {1, -2, std::numeric_limits<int>::max()}));
    array<int> i = zeros<int>(3);
    i = astype<int>(d * 2);
    CHECK(holds(i, {3}, {3, -5, std::numeric_limits<int>::max()}));
    i(0) = 2.5;
    i(slice(1, 3)) = d(slice(0, 2));
    CHECK(holds(i, {3}, {2, 1, -2}));
    assign(i, d / 2);
    CHECK(holds(i(slice(0, 2)), {2}, {0, -1}));
    i(array<int>{2}) = 7.9;
    i(i == 7) = 8.1;
    CHECK(holds(i(2), {}, {8}));
    array<unsigned> u = zeros<unsigned>(2);
    u(all) = array<int>{-1, 3};
    CHECK(holds(u, {2}, {std::numeric_limits<unsigned>::max(), 3}));
}

TEST_CASE("an array is made of values without naming their type") {
    array ints{1, 2, 3};
    array doubles{1, 2.5};
    array matrix{{true, false}, {false, true}};
    array copy{ints};
    static_assert(std::is_same_v<decltype(ints), array<int>> && std::is_same_v<decltype(doubles), array<double>>);
    static_assert(std::is_same_v<decltype(matrix), array<bool>> && std::is_same_v<decltype(copy), array<int>>);
    static_assert(std::is_same_v<decltype(array{1.5f}), array<float>>);
    CHECK(holds(ints, {3}, {1, 2, 3}));
    CHECK(holds(doubles, {2}, {1, 2.5}));
    CHECK(matrix.shape() == shape_like{2, 2});
    CHECK(holds(copy, {3}, {1, 2, 3}));
    CHECK(holds(asarray(ints), {3}, {1, 2, 3}));
    CHECK(asarray(ints).data() == ints.data());
    CHECK(holds(asarray<int>(doubles * 2), {2}, {2, 5}));
}

TEST_CASE("a scalar has the members of an expression") {
    const auto s = scalar(2.5);
    CHECK(s.shape() == shape_like{});
    CHECK(s.item() == 2.5);
    CHECK(s(newaxis).shape() == shape_like{1});
    CHECK(holds(zeros_like(s), {}, {0}));
    CHECK(holds(full_like(s, 7), {}, {7}));
    CHECK(holds(full({2, 2}, s), {2, 2}, {2.5, 2.5, 2.5, 2.5}));
    CHECK(thrown<shape_error>([&] { (void)diag(s); }).starts_with("[diag] "));
}

TEST_CASE("a lazy of nothing has no elements, until it is assigned an expression") {
    lazy<double> e;
    CHECK(holds(e, {0}, {}));
    e = array<double>{1, 2};
    for (int k = 0; k < 2; ++k) e = e * e + 1;
    CHECK(holds(e, {2}, {5, 26}));
}

TEST_CASE("coordinates of a grid are unpacked") {
    auto [y, x] = mgrid(slice(0, 2), slice(0, 3));
    CHECK(holds(10 * y + x, {2, 3}, {0, 1, 2, 10, 11, 12}));
    auto [a, b, c] = mgrid(slice(0, 2), grid_points(0, 1, 2), slice(3, 4));
    CHECK(holds(a + b + c, {2, 2, 1}, {3, 4, 4, 5}));
    const auto both = mgrid(slice(0, 2), slice(0, 3));
    CHECK(both.shape() == shape_like{2, 2, 3});
    CHECK(holds(sum(both, 0), {2, 3}, {0, 1, 2, 1, 2, 3}));
}
