#include <array>
#include <cmath>
#include <cstdint>
#include <list>
#include <span>

#include "expect.hpp"

using namespace ingot;

TEST_CASE("braces make arrays of as many axes as there are levels, of any values that convert") {
    const int n = 3;
    const std::size_t z = 4;
    CHECK(holds(array<float>{1, 2.5, n, z}, {4}, {1, 2.5f, 3, 4}));
    CHECK(holds(array<int>{{1, 2, 3}, {4, 5, 6}}, {2, 3}, {1, 2, 3, 4, 5, 6}));
    CHECK(holds(array<int>{{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}, {{9, 10}, {11, 12}}}, {3, 2, 2},
                {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    CHECK(holds(array<double>{{1}, {2}, {n}}, {3, 1}, {1, 2, 3}));
    CHECK(holds(array<int>{{{1}}, {{2}}}, {2, 1, 1}, {1, 2}));
    CHECK(holds(array<int>{{{{1}, {2}}}}, {1, 1, 2, 1}, {1, 2}));
    CHECK(holds(array<float>{{}, {}}, {2, 0}, {}));
    CHECK(holds(array<bool>{true, false}, {2}, {true, false}));
    CHECK(holds(array<double>({2, 3}), {2}, {2, 3}));
    CHECK(holds(array<float>{}, {0}, {}));
    array<int> x = {1, 2};
    x = {3, 4, 5};
    CHECK(holds(x, {3}, {3, 4, 5}));
}

TEST_CASE("braces of unequal lengths throw") {
    CHECK(thrown<shape_error>([] { array<int>{{1, 2}, {3, 4, 5}}; }) ==
          "[array] braces hold 3 values where others hold 2");
    CHECK_THROWS_AS((array<int>{{{1, 2}, {3, 4}}, {{1, 2}, {3}}}), shape_error);
    CHECK(thrown<shape_error>([] { array<int>{1, {2, 3}}; }) == "[array] a value stands beside braces");
    CHECK(thrown<shape_error>([] { array<int>{{2, 3}, 1}; }) == "[array] a value stands beside braces");
    CHECK_THROWS_AS((array<int>{{}, {1}}), shape_error);
    CHECK_THROWS_AS((array<int>{{{1, 2}, {3, 4}}, {{1, 2}, {3, 4}, {5, 6}}}), shape_error);
}

TEST_CASE("filled arrays") {
    CHECK(holds(zeros<int>({2, 3}), {2, 3}, {0, 0, 0, 0, 0, 0}));
    CHECK(holds(zeros(2), {2}, {0.0, 0.0}));
    CHECK(holds(ones<float>({3}), {3}, {1, 1, 1}));
    CHECK(holds(ones<bool>(2), {2}, {true, true}));
    CHECK(holds(full({2, 2}, 1.5f), {2, 2}, {1.5f, 1.5f, 1.5f, 1.5f}));
    CHECK(holds(full<std::int16_t>(3, -7), {3}, {-7, -7, -7}));
    CHECK(holds(full<float>({}, 2), {}, {2}));
    CHECK(empty<double>({4, 5}).shape() == shape_like{4, 5});
    CHECK(zeros<float>({0, 3}).size() == 0);
    static_assert(std::same_as<decltype(full(3, 2.0f)), array<float>>);
    static_assert(std::same_as<decltype(full<double>(3, 2)), array<double>>);
}

TEST_CASE("a shape may be a number, braces of mixed integers, or a range") {
    const std::vector<int> v{2, 3};
    CHECK(zeros<float>(v).shape() == shape_like{2, 3});
    CHECK(zeros<float>({v.size(), 3, std::int8_t{4}}).shape() == shape_like{2, 3, 4});
    CHECK(zeros<float>(std::array{1, 2}).shape() == shape_like{1, 2});
    CHECK(zeros<float>(zeros<int>({5, 6}).shape()).shape() == shape_like{5, 6});
}

TEST_CASE("bad shapes throw") {
    CHECK(thrown<shape_error>([] { zeros<float>({2, -1}); }) == "[zeros] shape (2, -1) has a negative extent");
    CHECK(thrown<shape_error>([] { full({1l << 40, 1l << 40}, 1); }) ==
          "[full] shape (1099511627776, 1099511627776) has too many elements");
    CHECK_THROWS_AS(zeros<float>(std::vector<int>(65, 1)), shape_error);
    CHECK_THROWS_AS(empty<double>({1l << 50}), out_of_memory);
}

TEST_CASE("an array remains usable beyond the layout's inline rank") {
    const array<float> x = ones<float>(std::vector<int>(64, 1));
    CHECK(x.ndim() == 64);
    CHECK(array<float>(x + 1).item() == 2);
    CHECK(holds(counted({1, 2, 1, 3, 1, 2, 1, 1})(0, 1, 0, all, 0, 1), {3, 1, 1}, {7, 9, 11}));
}

TEST_CASE("the _like forms take shape and type") {
    const array<float> x{{1, 2}, {3, 4}};
    CHECK(holds(zeros_like(x), {2, 2}, {0, 0, 0, 0}));
    CHECK(holds(ones_like<int>(x), {2, 2}, {1, 1, 1, 1}));
    CHECK(holds(full_like(x + 1, 3), {2, 2}, {3, 3, 3, 3}));
    CHECK(empty_like(transpose(x)).shape() == shape_like{2, 2});
    static_assert(std::same_as<decltype(zeros_like(x)), array<float>>);
    static_assert(std::same_as<decltype(full_like(x > 1, true)), array<bool>>);
}

TEST_CASE("asarray copies any range") {
    CHECK(holds(asarray(std::vector{1, 2, 3}), {3}, {1, 2, 3}));
    CHECK(holds(asarray(std::vector<bool>{true, false, true, true}, {2, 2}), {2, 2}, {true, false, true, true}));
    const bool flags[] = {false, true};
    CHECK(holds(asarray(std::span<const bool>(flags)), {2}, {false, true}));
    CHECK(holds(asarray(std::list<double>{1, 2}), {2}, {1, 2}));
    CHECK(holds(asarray<float>(std::vector{1, 2, 3, 4}, {2, 2}), {2, 2}, {1, 2, 3, 4}));
    CHECK(thrown<shape_error>([] { asarray(std::vector{1, 2, 3}, {2, 2}); }) ==
          "[set] 3 values for an array of shape (2, 2)");
}

TEST_CASE("arange computes as NumPy does") {
    CHECK(holds(arange(5), {5}, {0, 1, 2, 3, 4}));
    CHECK(holds(arange(2, 11, 3), {3}, {2, 5, 8}));
    CHECK(holds(arange(5, 0, -2), {3}, {5, 3, 1}));
    CHECK(arange(3, 3).size() == 0);
    CHECK(holds(arange<std::int64_t>(2147483647, 2147483650LL), {3}, {2147483647, 2147483648, 2147483649}));
    static_assert(std::same_as<decltype(arange(3)), array<int>>);
    static_assert(std::same_as<decltype(arange(0, 1, 0.1)), array<double>>);
    // np.arange(0, 1, 0.1) and np.arange(0, 1, 0.1, np.float32)
    CHECK(holds(arange(0, 1, 0.1), {10},
                {0.0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5, 0.6000000000000001, 0.7000000000000001, 0.8, 0.9}));
    CHECK(arange<float>(0, 1, 0.1)(3).item() == 0.1f * 3.0f);
    CHECK(arange(1, 2, 0.1)(7).item() == 1.7000000000000006);  // 1 + 7 * (1.1 - 1)
    CHECK_THROWS_AS(arange(0, 5, 0), shape_error);
}

TEST_CASE("linspace and logspace end where they are told to") {
    CHECK(holds(linspace(0, 1, 5), {5}, {0, 0.25, 0.5, 0.75, 1}));
    CHECK(holds(linspace(0, 1, 4, false), {4}, {0, 0.25, 0.5, 0.75}));
    CHECK(linspace(0.1, 0.7, 4)(3).item() == 0.7);
    CHECK(holds(linspace(3, 9, 1), {1}, {3}));
    CHECK(linspace(0, 1, 0).size() == 0);
    CHECK(holds(linspace<int>(0, 3, 4), {4}, {0, 1, 2, 3}));
    CHECK(holds(linspace(2, 2, 3), {3}, {2, 2, 2}));
    CHECK(linspace(0, 1).size() == 50);
    CHECK_THROWS_AS(linspace(0, 1, -1), shape_error);
    CHECK(logspace(2, 3, 4)(1).item() == 215.44346900318845);  // np.logspace(2, 3, 4)[1]
    CHECK(logspace(-1, 1, 7)(5).item() == std::pow(10.0, linspace(-1, 1, 7)(5).item()));
    CHECK(logspace<int>(0, 2, 3).to_host() == std::vector<int>{1, 10, 100});
    CHECK_THROWS_AS(logspace(0, 1, -1), shape_error);
    const auto powers = logspace(0, 3, 4).to_host();
    for (int k = 0; k < 4; ++k) CHECK(powers[static_cast<std::size_t>(k)] == doctest::Approx(std::pow(10.0, k)));
}

TEST_CASE("matrices with diagonals") {
    CHECK(holds(eye<int>(2), {2, 2}, {1, 0, 0, 1}));
    CHECK(holds(eye<int>(2, 4, 1), {2, 4}, {0, 1, 0, 0, 0, 0, 1, 0}));
    CHECK(holds(eye<int>(3, 2, -1), {3, 2}, {0, 0, 1, 0, 0, 1}));
    CHECK(holds(eye<int>(2, 2, 5), {2, 2}, {0, 0, 0, 0}));
    CHECK(holds(identity<float>(2), {2, 2}, {1, 0, 0, 1}));
    CHECK(holds(diag(array<int>{1, 2}, 1), {3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0}));
    CHECK(holds(diag(array<int>{1, 2}, -1), {3, 3}, {0, 0, 0, 1, 0, 0, 0, 2, 0}));
    CHECK(holds(diag(counted({2, 3}), 1), {2}, {1, 5}));
    CHECK_THROWS_AS(diag(counted({2, 2, 2})), shape_error);
    CHECK(holds(tri<int>(3, 4, 1), {3, 4}, {1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1}));
    CHECK(holds(tri<int>(3), {3, 3}, {1, 0, 0, 1, 1, 0, 1, 1, 1}));
}

TEST_CASE("meshgrid gives coordinates, x along the second axis") {
    const auto [x, y] = meshgrid(array<int>{1, 2, 3}, array<float>{4, 5});
    CHECK(holds(x, {2, 3}, {1, 2, 3, 1, 2, 3}));
    CHECK(holds(y, {2, 3}, {4, 4, 4, 5, 5, 5}));
    const auto [a, b, c] = meshgrid(array<int>{1, 2}, array<int>{3}, array<int>{5, 6});
    CHECK(holds(a, {1, 2, 2}, {1, 1, 2, 2}));
    CHECK(holds(b, {1, 2, 2}, {3, 3, 3, 3}));
    CHECK(holds(c, {1, 2, 2}, {5, 6, 5, 6}));
}

TEST_CASE("attributes") {
    const array<float> x = zeros<float>({2, 3});
    CHECK(x.shape() == shape_like{2, 3});
    CHECK(x.strides() == shape_like{12, 4});
    CHECK(x.ndim() == 2);
    CHECK(x.size() == 6);
    CHECK(x.nbytes() == 24);
    CHECK(x.itemsize() == 4);
    CHECK(x.dtype() == dtype::f4);
    CHECK(x.device() == current_device());
    CHECK((x + 1).shape() == shape_like{2, 3});
    CHECK((x + zeros<float>({4, 1, 1})).shape() == shape_like{4, 2, 3});
    CHECK((x + 1).size() == 6);
    CHECK((x > 1).ndim() == 2);
    CHECK(exp(x).device() == x.device());
    CHECK(x(all, 1).shape() == shape_like{2});
    CHECK(x.T().shape() == shape_like{3, 2});
}

TEST_CASE("values reach the host from any expression") {
    const array<int> x{{1, 2, 3}, {4, 5, 6}};
    CHECK((x + 1).to_host() == std::vector{2, 3, 4, 5, 6, 7});
    CHECK((x > 3).to_host() == std::vector<bool>{false, false, false, true, true, true});
    CHECK(transpose(x).to_host() == std::vector{1, 4, 2, 5, 3, 6});
    std::array<int, 6> ints;
    copy_to(x, ints);
    CHECK(ints == std::array{1, 2, 3, 4, 5, 6});
    std::vector<double> doubles(3);
    copy_to(x(1) * 0.5, std::span(doubles));
    CHECK(doubles == std::vector{2.0, 2.5, 3.0});
    std::vector<bool> flags(6);
    copy_to(x == 4, flags);
    CHECK(flags == std::vector<bool>{false, false, false, true, false, false});
    CHECK(x(1, 2).item() == 6);
    CHECK((x(1, 2) + 0.5).item() == 6.5);
    CHECK(thrown<shape_error>([&] { (void)x.item(); }) == "[item] shape (2, 3) has 6 elements; one is wanted");
    CHECK_THROWS_AS(copy_to(x(0), ints), shape_error);
}

TEST_CASE("set writes values from the host") {
    array<float> x = zeros<float>({2, 2});
    const array<float> before = x;
    x.set(std::vector{1.0f, 2.0f, 3.0f, 4.0f});
    CHECK(holds(x, {2, 2}, {1, 2, 3, 4}));
    CHECK(holds(before, {2, 2}, {0, 0, 0, 0}));
    x.set({5, 6.5, 7, 8});
    CHECK(holds(x, {2, 2}, {5, 6.5f, 7, 8}));
    x.set(std::vector<std::uint8_t>{1, 1, 2, 2});
    CHECK(holds(x, {2, 2}, {1, 1, 2, 2}));
    array<bool> flags = zeros<bool>(3);
    flags.set(std::vector<bool>{true, false, true});
    CHECK(holds(flags, {3}, {true, false, true}));
    CHECK_THROWS_AS(x.set(std::vector{1.0f}), shape_error);
}

TEST_CASE("arrays move to other devices and back") {
    const array<int> x{1, 2, 3};
    const array<int> there = x.to(device::host(1));
    CHECK(there.device() == device::host(1));
    CHECK(holds(there, {3}, {1, 2, 3}));
    CHECK(there.to(x.device()).device() == x.device());
    CHECK_THROWS_AS(x + there, device_error);
    CHECK(holds(there + 1, {3}, {2, 3, 4}));
    CHECK(zeros_like(there).device() == device::host(1));
    with_device guard(device::host(1));
    CHECK(zeros<float>(2).device() == device::host(1));
}
