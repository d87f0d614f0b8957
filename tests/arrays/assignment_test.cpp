#include <cstdint>
#include <limits>

#include "expect.hpp"

using namespace ingot;

TEST_CASE("selections are written by expressions, scalars and each other") {
    array<int> x = zeros<int>({3, 4});
    x(1) = array<int>{1, 2, 3, 4};
    x(all, 0) = 9;
    x(2, slice(1, 3)) = x(1, slice(2)) * 10;
    CHECK(holds(x, {3, 4}, {9, 0, 0, 0, 9, 2, 3, 4, 9, 30, 40, 0}));
    array<int> y = ones<int>({4});
    x(0) = y(all);
    x(slice(1), slice(2)) = y(slice(2));
    CHECK(holds(x, {3, 4}, {1, 1, 1, 1, 9, 2, 1, 1, 9, 30, 1, 1}));
    x(1, 1) += 5;
    x(0) -= x(1);
    x(2) *= 2;
    CHECK(holds(x, {3, 4}, {-8, -6, 0, 0, 9, 7, 1, 1, 18, 60, 2, 2}));
    array<double> z = full<double>({}, 1);
    z() = 4;
    CHECK(z.item() == 4);
}

TEST_CASE("selections compose") {
    array<int> x = zeros<int>({2, 4});
    x(1)(slice(2)) = array<int>{1, 2};
    CHECK(holds(x, {2, 4}, {0, 0, 0, 0, 0, 0, 1, 2}));
    transpose(x) = array<int>{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    CHECK(holds(x, {2, 4}, {1, 3, 5, 7, 2, 4, 6, 8}));
    diagonal(x) = 0;
    flip(x(0))(slice(0, 2)) += array<int>{10, 20};
    CHECK(holds(x, {2, 4}, {0, 3, 25, 17, 2, 0, 6, 8}));
    transpose(x)(3)(1) = -1;
    swapaxes(x, 0, 1)(2) = 5;
    squeeze(expand_dims(x, 0))(0, 1) = 6;
    CHECK(holds(x, {2, 4}, {0, 6, 5, 17, 2, 0, 5, -1}));
}

TEST_CASE("overlapping sides give NumPy's answer") {
    const auto u = [] { return counted({6}); };
    array<int> x = u();
    x(slice(1)) = x(slice(0, -1));
    CHECK(holds(x, {6}, {0, 0, 1, 2, 3, 4}));
    x = u();
    x(slice(0, -1)) = x(slice(1));
    CHECK(holds(x, {6}, {1, 2, 3, 4, 5, 5}));
    x = u();
    x(all) = flip(x);
    CHECK(holds(x, {6}, {5, 4, 3, 2, 1, 0}));
    x = u();
    x(slice(1)) += x(slice(0, -1));
    CHECK(holds(x, {6}, {0, 1, 3, 5, 7, 9}));
    x = u();
    x(slice(0, 3)) = x(slice(3));
    CHECK(holds(x, {6}, {3, 4, 5, 3, 4, 5}));
    array<int> m{{1, 2}, {3, 4}};
    m(all) = transpose(m);
    CHECK(holds(m, {2, 2}, {1, 3, 2, 4}));
    m += transpose(m);
    CHECK(holds(m, {2, 2}, {2, 5, 5, 8}));
    m(0) = m(1) - m(0);
    m -= m(0);
    CHECK(holds(m, {2, 2}, {0, 0, 2, 5}));
}

TEST_CASE("leading axes of one element are dropped by an assignment, and by no update") {
    array<int> x = zeros<int>(3);
    x(all) = array<int>{{1, 2, 3}};
    CHECK(holds(x, {3}, {1, 2, 3}));
    const array<int> shared = x;
    assign(x, array<int>{{4, 5, 6}} + 0);
    CHECK(holds(x, {3}, {4, 5, 6}));
    x(slice(0, 2)) = sum(array<int>{{1, 2}, {3, 4}}, 0, keepdims);
    CHECK(holds(x, {3}, {4, 6, 6}));
    x(2) = full<int>({1, 1}, 7);
    CHECK(holds(x, {3}, {4, 6, 7}));
    CHECK(holds(shared, {3}, {1, 2, 3}));
    CHECK(thrown<shape_error>([&] { x += array<int>{{1, 2, 3}}; }) ==
          "[add] shape (1, 3) does not broadcast into (3,)");
    CHECK(thrown<shape_error>([&] { x(slice(1)) += array<int>{{1, 2}}; }) ==
          "[add] shape (1, 2) does not broadcast into (2,)");
    CHECK(thrown<shape_error>([&] { x(all) = zeros<int>({2, 3}); }) ==
          "[assign] shape (2, 3) does not broadcast into (3,)");
}

TEST_CASE("assignment broadcasts into the shape that is there") {
    array<int> x = zeros<int>({2, 3});
    assign(x, array<int>{1, 2, 3});
    CHECK(holds(x, {2, 3}, {1, 2, 3, 1, 2, 3}));
    assign(x(all, slice(0, 2)), array<int>{7, 8}(all, newaxis));
    CHECK(holds(x, {2, 3}, {7, 7, 3, 8, 8, 3}));
    assign(x, 4);
    x += array<int>{1, 2, 3};
    CHECK(holds(x, {2, 3}, {5, 6, 7, 5, 6, 7}));
    CHECK(thrown<shape_error>([&] { x(0) = array<int>{1, 2}; }) == "[assign] shape (2,) does not broadcast into (3,)");
    CHECK(thrown<shape_error>([&] { assign(x, zeros<int>({2, 2, 3})); }) ==
          "[assign] shape (2, 2, 3) does not broadcast into (2, 3)");
    array<int> row{1, 2, 3};
    CHECK(thrown<shape_error>([&] { row += x; }) == "[add] shape (2, 3) does not broadcast into (3,)");
    CHECK_THROWS_AS(x(slice(5)) = (array<int>{{1, 2, 3}, {4, 5, 6}}), shape_error);
    x(slice(5)) = 1;
    CHECK(holds(x, {2, 3}, {5, 6, 7, 5, 6, 7}));
}

TEST_CASE("assignment converts") {
    array<int> x = zeros<int>({3});
    assign(x, array<double>{1.9, -1.9, 3e20});
    CHECK(holds(x, {3}, {1, -1, std::numeric_limits<int>::max()}));
    x(0) = 2.7;
    x(1) = std::numeric_limits<double>::quiet_NaN();
    x(2) = -1e30f;
    CHECK(holds(x, {3}, {2, 0, std::numeric_limits<int>::min()}));
    array<double> d = array<float>{1.5f} + 1.0f;
    CHECK(holds(d, {1}, {2.5}));
    d = array<int>{1, 2};
    CHECK(holds(d, {2}, {1, 2}));
    array<bool> b = astype<bool>(array<float>{0, 0.5f});
    CHECK(holds(b, {2}, {false, true}));
    b(0) = 7;
    CHECK(holds(b, {2}, {true, true}));
    array<std::uint8_t> u = zeros<std::uint8_t>({2});
    CHECK(thrown<dtype_error>([&] { u(0) = 256; }) == "[assign] scalar 256 does not fit uint8");
    CHECK(thrown<dtype_error>([&] { u.fill(-1); }) == "[fill] scalar -1 does not fit uint8");
    CHECK(thrown<dtype_error>([&] { u += 300; }) == "[add] scalar 300 does not fit uint8");
    CHECK_THROWS_AS(full<std::int8_t>(2, 128), dtype_error);
}

TEST_CASE("compound assignment computes in the promoted type and casts back") {
    array<float> f{1, 2};
    f += array<double>{0.5, 0.25};
    CHECK(holds(f, {2}, {1.5f, 2.25f}));
    f /= 2;
    f -= 0.125;
    CHECK(holds(f, {2}, {0.625f, 1.0f}));
    array<int> i{7, -7};
    i %= 4;
    i <<= 2;
    i |= 1;
    CHECK(holds(i, {2}, {13, 5}));
    i ^= 4;
    i &= 9;
    i >>= 1;
    CHECK(holds(i, {2}, {4, 0}));
    array<std::uint8_t> u{250};
    u += 10;
    CHECK(u.item() == 4);
    array<bool> b{true, false};
    b |= array<bool>{false, true};
    b &= array<bool>{false, true};
    CHECK(holds(b, {2}, {false, true}));
    (i += 1) += 1;
    CHECK(holds(i, {2}, {6, 2}));
}

TEST_CASE("a failed assignment changes nothing") {
    array<int> x{1, 2, 3};
    const int* memory = x.data();
    CHECK_THROWS_AS(x(slice(0, 2)) = array<int>({1, 2, 3}), shape_error);
    CHECK_THROWS_AS(x += array<int>({1, 2}), shape_error);
    CHECK_THROWS_AS(x(7) = 1, index_error);
    CHECK(x.data() == memory);
    CHECK(holds(x, {3}, {1, 2, 3}));
}

TEST_CASE("a selection whose array was given other memory throws") {
    array<int> x{1, 2, 3};
    auto v = x(slice(1));
    x = array<int>{1, 2};
    CHECK_THROWS_AS(std::move(v) = 5, shape_error);
    CHECK(holds(x, {2}, {1, 2}));
}

TEST_CASE("assignment from another device throws and names both") {
    array<int> x{1, 2, 3};
    const array<int> there = array<int>{1, 2, 3}.to(device::host(1));
    CHECK_THROWS_AS(x(all) = there, device_error);
    CHECK_THROWS_AS(assign(x, there + 1), device_error);
    x = there;
    CHECK(x.device() == device::host(1));
    x = x + 1;
    CHECK(x.device() == device::host(1));
    x.fill(4);
    CHECK(holds(x, {3}, {4, 4, 4}));
}

TEST_CASE("random numbers of another device are not written into an array that stays") {
    with_device here(device::host());
    array<float> x = zeros<float>(3);
    {
        with_device there(device::host(1));
        CHECK_THROWS_AS(x(all) = random::uniform<float>({3}), device_error);
        CHECK_THROWS_AS(x += random::uniform<float>({3}), device_error);
        x = random::uniform<float>({3});
    }
    CHECK(x.device() == device::host(1));
}

TEST_CASE("chains of slices step a stencil") {
    array<double> u = zeros<double>({5});
    u(2) = 1;
    for (int step = 0; step < 2; ++step) u(slice(1, -1)) = (u(slice(0, -2)) + u(slice(2))) / 2;
    CHECK(holds(u, {5}, {0, 0, 0.5, 0, 0}));
}

TEST_CASE("several assignments in one statement are one kernel, all from what was there before") {
    array<float> a{1, 2, 3, 4}, b{10, 20, 30, 40};
    const auto before = counters();
    assign(std::forward_as_tuple(a, b), b, a);
    CHECK(holds(a, {4}, {10, 20, 30, 40}));
    CHECK(holds(b, {4}, {1, 2, 3, 4}));
    array<double> padded = zeros<double>(6);
    assign(std::forward_as_tuple(a, padded(slice(1, -1)), b), a + b, a - b, 0 * a + 7);
    CHECK(holds(padded, {6}, {0, 9, 18, 27, 36, 0}));
    CHECK(holds(a, {4}, {11, 22, 33, 44}));
    CHECK(holds(b, {4}, {7, 7, 7, 7}));
    CHECK(counters().kernel_launches - before.kernel_launches == 2);
    const auto in_place = counters();
    assign(std::forward_as_tuple(a, b), a + 1, a - b);
    CHECK(counters().bytes_allocated == in_place.bytes_allocated);
}

TEST_CASE("several assignments: overlap, copies that share, shapes that differ") {
    array<int> u{0, 1, 2, 3, 4, 5};
    array<int> v = zeros<int>(4);
    const array<int> shared = u;
    assign(std::forward_as_tuple(u(slice(1, -1)), v), u(slice(none, -2)) + u(slice(2, none)), u(slice(1, -1)));
    CHECK(holds(u, {6}, {0, 2, 4, 6, 8, 5}));
    CHECK(holds(v, {4}, {1, 2, 3, 4}));
    CHECK(holds(shared, {6}, {0, 1, 2, 3, 4, 5}));
    CHECK_THROWS_WITH_AS(assign(std::forward_as_tuple(u, v), u + 1, v), doctest::Contains("(6,) and (4,)"),
                         shape_error);
    CHECK_THROWS_AS(assign(std::forward_as_tuple(v, v(all)), u, v), shape_error);
    CHECK(holds(v, {4}, {1, 2, 3, 4}));
}
