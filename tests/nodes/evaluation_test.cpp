// Binders, random leaves and lazies through the door, on the host target.
#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <thread>

#include <ingot/ingot.hpp>

#include "tests/nodes/reference.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

/// 0, 1, 2, ... in this shape.
array<double> counted(std::initializer_list<index_t> shape) {
    index_t size = 1;
    for (const index_t n : shape) size *= n;
    return reshape(arange<double>(size), shape_like(std::vector<index_t>(shape))).eval();
}

template <class E>
std::vector<double> values(const E& e) {
    const auto v = e.to_host();
    return {v.begin(), v.end()};
}

template <class E>
void agrees(const E& e) {
    const auto expected = reference::of(e).values();
    const auto got = values(e);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == doctest::Approx(expected[i]));
}

}  // namespace

TEST_CASE("sums, kept or not, over any axes, with trees before and after") {
    const auto x = counted({3, 4, 5});
    agrees(sum(x * 2, 1) + 1);
    agrees(sum(x, {0, 2}));
    agrees(sum(x, keepdims));
    agrees(sum(transpose(x) + 1, 0, keepdims));
    agrees(sum(x, {}));
}

TEST_CASE("a reshape that merges is a view, and one that does not is right too") {
    const auto x = counted({4, 6});
    const auto before = counters().kernel_launches;
    const array<double> merged = reshape(x + 1, {3, -1});
    CHECK(counters().kernel_launches == before + 1);
    CHECK(merged.shape() == shape_like{3, 8});
    agrees(reshape(x + 1, {3, -1}));
    agrees(reshape(x.T(), {3, 8}));
    agrees(flip(reshape(x.T() * 2, {3, 8}), 1) + 1);
    agrees(reshape(reshape(x.T(), {3, 8}) + 1, {24})(slice(none, none, -2)));
    agrees(ravel(reshape(x.T(), {2, 12}).T() + reshape(x, {12, 2})));
    agrees(sum(reshape(x.T(), {3, 8}), 1));
    agrees(sum(reshape(x.T() + 1, {3, 8}).T(), 0) + 1);
    agrees(reshape(flip(reshape(x.T(), {3, 8}), 0).T(), {12, 2}));
    agrees(sum(reshape(flip(reshape(x.T(), {3, 8}), 0).T(), {12, 2}), 0));
    agrees(reshape(sum(reshape(x.T(), {3, 2, 4}), 1, keepdims).T() * 2, {6, 2}));
    agrees(reshape(broadcast_to(x(0), {4, 6}), {8, 3}));
    CHECK(reshape(zeros<float>({0, 3}), {3, 0, 7}).eval().size() == 0);
}

TEST_CASE("a random leaf gives the same numbers however it is viewed, and whenever it is evaluated") {
    random::seed(3);
    const auto u = random::uniform<float>({40, 50});
    const auto whole = u.to_host();
    CHECK(u.to_host() == whole);
    const auto part = transpose(u)(slice(7, 20), slice(none, none, -3)).to_host();
    for (std::size_t i = 0; i < 13; ++i)
        for (std::size_t j = 0; j < 14; ++j) CHECK(part[i * 14 + j] == whole[(39 - 3 * j) * 50 + 7 + i]);
    for (const float v : whole) CHECK((v >= 0 && v < 1));
    CHECK(random::uniform<float>({40, 50}).to_host() != whole);
    random::seed(3);
    CHECK(random::uniform<float>({40, 50}).to_host() == whole);
    const lazy<float> l = u * 2;
    CHECK(l(3).to_host()[4] == 2 * whole[154]);
    CHECK(reshape(u, {50, 40}).to_host() == whole);
}

TEST_CASE("a random leaf is computed on the device that was current when it was written") {
    const auto elsewhere = [] {
        with_device g(device::host(1));
        return random::uniform<float>(4);
    }();
    CHECK(elsewhere.device() == device::host(1));
    CHECK(elsewhere.eval().device() == device::host(1));
    const lazy<float> l = elsewhere + 1;
    CHECK(l.eval().device() == device::host(1));
    const array<float> here{1, 2, 3, 4};
    CHECK_THROWS_AS((void)(l + here), device_error);
    CHECK_THROWS_AS((void)(elsewhere + here), device_error);
    CHECK_THROWS_AS((void)take(here, astype<int>(elsewhere), 0), device_error);
}

TEST_CASE("a lazy means what it meant when it was written") {
    auto x = counted({5});
    lazy<double> l = x;
    l = l * x + 1;
    x += 100;
    CHECK(values(l) == std::vector<double>{1, 2, 5, 10, 17});
    x(slice(0, 2)) = l(slice(3, 5));
    CHECK(values(x) == std::vector<double>{10, 17, 102, 103, 104});
}

TEST_CASE("an array that takes in a lazy is written in place, unless a lazy that stays reads it") {
    auto x = counted({5}), y = counted({5});
    const lazy<double> l = x * 2;
    const double* before = y.data();
    y += l;
    CHECK(y.data() == before);
    CHECK(values(y) == std::vector<double>{0, 3, 6, 9, 12});
    y(slice(1, none)) = lazy<double>(y(slice(0, -1))) + 1;
    CHECK(values(y) == std::vector<double>{0, 1, 4, 7, 10});
    before = x.data();
    x += l;
    CHECK(x.data() != before);
    CHECK(values(x) == std::vector<double>{0, 3, 6, 9, 12});
    CHECK(values(l) == std::vector<double>{0, 2, 4, 6, 8});
}

TEST_CASE("lazies in a static tree, and several outputs") {
    const auto x = counted({4});
    const lazy<double> a = x + 1, b = a * a;
    CHECK(values(sum(b)) == std::vector<double>{30});
    const auto before = counters().kernel_launches;
    const auto [p, q] = eval(b, b - a);
    CHECK(counters().kernel_launches == before + 1);
    CHECK(values(p) == std::vector<double>{1, 4, 9, 16});
    CHECK(values(q) == std::vector<double>{0, 2, 6, 12});
}

TEST_CASE("loops of different lengths run the same kernels, and each one of its own") {
    const auto x = counted({100});
    const auto loop = [&](int n) {
        lazy<double> l = x;
        for (int k = 0; k < n; ++k) l = l * 0.5 + x;
        return l;
    };
    const auto value = [&](int n) {
        const auto before = counters().kernel_launches;
        const array<double> r = loop(n);
        const auto launches = counters().kernel_launches - before;
        CHECK(launches >= static_cast<std::uint64_t>(3 * n / 1024));
        CHECK(launches <= static_cast<std::uint64_t>(3 * n / 1024 + 2));
        return values(r)[99];
    };
    CHECK(value(500) == doctest::Approx(198));
    const new_key_watch keys;
    // Each length has its own remainder; the earlier pieces are known.
    for (const int n : {501, 502, 600, 777, 1000, 2000}) CHECK(value(n) == doctest::Approx(198));
    CHECK(keys.count() <= 6 + 2);
    const std::size_t after_all = keys.count();
    for (const int n : {502, 777, 500}) CHECK(value(n) == doctest::Approx(198));
    CHECK(keys.count() == after_all);
}

TEST_CASE("trees above the static bound become lazies and mean the same") {
    const auto x = counted({3});
    const auto a = x + x * x - x / 4 + x * 3 - x;
    const auto b = a * a + a - a / 2 + a * a;
    const auto c = b + b * b;
    static_assert(std::same_as<std::remove_const_t<decltype(c)>, lazy<double>>);
    const array<double> one_by_one = [&] {
        const array<double> p = a, q = p * p + p - p / 2 + p * p;
        return array<double>(q + q * q);
    }();
    for (std::size_t i = 0; i < 3; ++i) CHECK(values(c)[i] == doctest::Approx(values(one_by_one)[i]));
}

TEST_CASE("threads build on one lazy and evaluate it at once") {
    const auto x = counted({64});
    lazy<double> shared = x;
    for (int k = 0; k < 40; ++k) shared = shared * 0.5 + x;
    const auto expected = values(shared * 2);
    std::vector<std::vector<double>> got(4);
    std::vector<std::thread> threads;
    for (auto& g : got)
        threads.emplace_back([&g, &shared] {
            for (int k = 0; k < 20; ++k) g = values(shared + shared);
        });
    for (std::thread& t : threads) t.join();
    for (const auto& g : got)
        for (std::size_t i = 0; i < 64; ++i) CHECK(g[i] == doctest::Approx(expected[i]));
}

TEST_CASE("sums over two axes of equal extents beside other sums of those extents") {
    const auto x = counted({3, 4, 4}), y = counted({3, 4});
    agrees(sum(y, 1) + sum(flip(x, 1), {1, 2}));
    agrees(sum(x * 2, {1, 2}) - sum(x.T() + 1, {0, 1}));
    agrees(sum(x, {2, 1}) + sum(x, 1)(all, 0) * sum(y, 1));
}

TEST_CASE("one statement meets arrays of many classes, again and again") {
    using operands = std::vector<detail::leaf<float>>;
    const auto memory = [](index_t n) { return (arange<float>(n) * 7.0f - 11.0f).eval(); };
    const array<float> base = memory(48), small = memory(24), other = memory(24), square = reshape(memory(24), {4, 6}),
                       reshaped = reshape(small, {4, 6}), tall = reshape(memory(24), {6, 4}), one = memory(1),
                       none_of_it = memory(0);
    const auto leaf = [](auto&& view) { return detail::leaf<float>(detail::as_node(view)); };
    const std::vector<operands> groups{
        {leaf(small), leaf(other), leaf(base(slice(0, 24))), leaf(base(slice(1, 25))), leaf(base(slice(4, 28))),
         leaf(base(slice(none, none, 2))), leaf(flip(other)), leaf(base(slice(7, 8))), leaf(one)},
        {leaf(square), leaf(transpose(tall)), leaf(reshaped), leaf(square(slice(0, 1))),
         leaf(square(all, slice(2, 3)))},
        {leaf(one), leaf(base(slice(5, 6)))},
        {leaf(none_of_it), leaf(base(slice(3, 3))), leaf(one)}};
    std::mt19937 random(5);
    for (int k = 0; k < 3000; ++k) {
        const operands& group = groups[random() % 8 < 5 ? 0 : random() % groups.size()];
        // The slot keeps the first classes: of an array with itself, and of two.
        const auto &p = k < 2 ? groups[0][0] : group[random() % group.size()],
                   &q = k < 2 ? groups[0][static_cast<std::size_t>(k)] : group[random() % group.size()];
        const auto shift = static_cast<float>(random() % 40);
        const auto tree = (p - shift) * q + p * q;
        const array<float> got = tree;
        const std::vector<double> expected = reference::of(tree).values();
        REQUIRE(values(got) == expected);
    }
}

TEST_CASE("an integer that was a fraction below 0 is 0, not its negative, as a float again") {
    const array<double> x = full<double>({100}, -0.5), other = full<double>({100}, 3.0);
    const array<bool> chosen = full<bool>({100}, true);
    const array<double> through = where(chosen, astype<std::int64_t>(astype<std::int32_t>(x)), other);
    const array<float> directly = where(chosen, astype<std::int32_t>(astype<float>(x)), astype<float>(other));
    for (const double v : through.to_host()) CHECK(!std::signbit(v));
    for (const float v : directly.to_host()) CHECK(!std::signbit(v));
}

TEST_CASE("a tree is cut by what its kernel would hold, and explain says why") {
    const auto x = counted({1000}) * 1e-3;
    const auto launches = [](const lazy<double>& e) {
        const auto before = counters().kernel_launches;
        const array<double> r = e;
        CHECK(counters().kernel_launches - before == explain(e).kernels.size());
        return explain(e).kernels.size();
    };
    lazy<double> light = x, heavy = x;
    for (int k = 0; k < 200; ++k) light = light * 1.01 + 0.5;
    CHECK(launches(light) == 1);  // 400 operations
    for (int k = 0; k < 190; ++k) heavy = exp(heavy * 0.5 - 1);
    CHECK(launches(heavy) == 2);  // 1900
    CHECK(explain(heavy).kernels[0].reason.find("one kernel would hold too many operations (16 bytes") !=
          std::string::npos);
    double wanted = 0.5;
    for (int k = 0; k < 190; ++k) wanted = std::exp(wanted * 0.5 - 1);
    CHECK(values(heavy)[500] == doctest::Approx(wanted));
    // Equal parts of a static tree of more than 64 nodes become one node of its lazy.
    const auto a = x * 2 + 1;
    const auto b = a * a + a;
    const auto c = b * b + b;
    const auto d = c * c + c + b * a;
    const auto e = d * d + d * c;
    CHECK(launches(e) == 1);
    CHECK(explain(e).kernels[0].flops <= 20 * 1000);
}
