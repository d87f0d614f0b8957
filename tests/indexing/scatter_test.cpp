// scatter_add of floats whose order is free: the same bits in any order, beside what the host adds in the order of the
// indices; few values in much, views, complex numbers.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// scatter_add where the order of additions is free.
template <class S, class E>
void add_exactly(S&& elements, const E& e) {
    using T = typename S::value_type;
    elements.with_places([&](auto& target, const auto* seen, const auto& place, std::uint32_t own) {
        detail::add_exactly("scatter_add", target, seen, detail::source_node<T>("scatter_add", e), place, own);
    });
}

}  // namespace

TEST_CASE("scattered sums of floats have the same bits in any order, few or many") {
    const index_t n = 3000;
    const array<index_t> i = (arange<index_t>(n) * 7919) % 53;
    const array<double> w =
        ldexp(1 + astype<double>(arange<index_t>(n)) * 0.3e-4, astype<int>(arange<index_t>(n) % 50));
    const array<float> single(astype<float>(w));
    const auto sums = [&](index_t size, const auto& at, const auto& values) {
        array<float> x = full({size}, 0.25f);
        add_exactly(x(at), values);
        return x;
    };
    const array<float> dense = sums(60, i, single), sparse = sums(100000, i, single);
    CHECK(array_equal(dense, sparse(slice(none, 60))).item());
    CHECK(all(sparse(slice(60, none)) == 0.25f).item());
    CHECK(array_equal(dense, sums(60, flip(i), flip(single))).item());
    CHECK(array_equal(dense, sums(60, roll(i, 1234), roll(single, 1234))).item());
    array<double> wanted = full({60}, 0.25);
    scatter_add(wanted(i), astype<double>(single), unordered);
    CHECK(all(abs(astype<double>(dense) - wanted) <= abs(wanted) * 1.2e-7).item());
    array<float> also = full({60}, 0.25f), again = full({60}, 0.25f);
    scatter_add(also(i), single);
    scatter_add(again(i), single);
    CHECK(array_equal(also, again).item());
    CHECK(all(abs(also - dense) <= abs(dense) * 1e-4f).item());
}

TEST_CASE("scattered sums go to views, leave what they do not name alone, and take what broadcasts") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    array<double> m = full({3, 4}, -0.0);
    const array<double> before = m;
    add_exactly(flip(m, 1)(all, slice(1, 3))(array<int>{0, 2, 0}), array<double>{1, 0.5});
    CHECK(holds(m, {3, 4}, {0, 1, 2, 0, 0, 0, 0, 0, 0, 0.5, 1, 0}));
    CHECK(holds(signbit(m)(1), {4}, {1, 1, 1, 1}));
    CHECK(all(signbit(before)).item());
    array<double> s = ones(40);
    add_exactly(s(array<int>{3, 5, -1, 3}), array<double>{nan, INFINITY, 2, 1});
    CHECK(isnan(s(3)).item());
    CHECK(s(5).item() == INFINITY);
    CHECK(s(39).item() == 3);
    CHECK(sum(s == 1).item() == 37);
    using C = std::complex<float>;
    array<C> z = zeros<C>(3);
    add_exactly(z(array<int>{2, 2, 0}), array<C>{C(1, 2), C(3, -1), C(0, 5)});
    CHECK(holds(real(z), {3}, {0, 0, 4}));
    CHECK(holds(imag(z), {3}, {5, 0, 1}));
    array<float16> h = zeros<float16>(2);
    add_exactly(h(array<int>{1, 1, 1}), 0.5f);
    CHECK(holds(astype<float>(h), {2}, {0, 1.5}));
    add_exactly(s(zeros<int>(0)), 1.0);
    CHECK(s(5).item() == INFINITY);
}

TEST_CASE("scattered sums refuse what does not fit") {
    array<double> x = zeros(4);
    CHECK_THROWS_AS(add_exactly(x(array<int>{0, 1}), array<double>{1, 2, 3}), shape_error);
    CHECK_THROWS_AS(scatter_add(x(array<int>{0, 1}), array<double>{1, 2, 3}), shape_error);
    const auto add_beyond = [&] { add_exactly(x(array<int>{0, 4}), 1.0), synchronize(); };
    CHECK_THROWS_AS(add_beyond(), index_error);
    CHECK(holds(x, {4}, {0, 0, 0, 0}));
}

TEST_CASE("what is large at one place takes no digits from another") {
    const array<int> at{0, 1, 1, 2, 2};
    array<float> x = zeros<float>(4);
    add_exactly(x(at), array<float>{3e38f, 1, 1, 1e-30f, 1e-30f});
    CHECK(x.to_host() == std::vector<float>{3e38f, 2, 2e-30f, 0});
    const array<double> sums = bincount(at, array<double>{1e300, 0.5, 0.25, 1e-300, 1e-300});
    CHECK(sums.to_host() == std::vector<double>{1e300, 0.75, 2e-300});
}

TEST_CASE("a mask on another device is refused") {
    const array<float> x = ones<float>({3});
    const array<bool> mask = array<bool>{true, false, true}.to(device::host(1));
    CHECK(thrown<device_error>([&] { (void)array<float>(x.to(device::host())(mask)); }) != "nothing was thrown");
}

namespace {

/// The sums of few values that a double holds exactly, whatever their order.
std::vector<double> sums_on_host(const std::vector<index_t>& at, const std::vector<float>& values, index_t n) {
    std::vector<double> sums(static_cast<std::size_t>(n), 0);
    for (std::size_t i = 0; i < at.size(); ++i) sums[static_cast<std::size_t>(at[i])] += values[i];
    return sums;
}

}  // namespace

TEST_CASE("sums of float32 are exact in one bucket of places, in many, and in parts of a bucket") {
    std::mt19937 random(5);
    for (const std::pair<int, int>& size : {std::pair{3000, 7}, {20000, 2048}, {30000, 2049}, {150000, 40000}}) {
        const int count = size.first, n = size.second;
        CAPTURE(n);
        std::vector<index_t> at;
        std::vector<float> values;
        for (int i = 0; i < count; ++i) {
            // Half go to few places, so that their bucket has several parts.
            at.push_back(static_cast<index_t>(random() % static_cast<unsigned>(i % 2 == 0 ? n : std::min(n, 33))));
            const auto digits = static_cast<float>(static_cast<int>(random() % 2048) - 1000);
            values.push_back(std::ldexp(digits, static_cast<int>(random() % 26) - 13));
        }
        const array<double> sums = detail::exact_sums_of_singles("test", asarray(at), asarray(values), n);
        CHECK(sums.to_host() == sums_on_host(at, values, n));
    }
}

TEST_CASE("sums of float32 have all that is left where the greatest cancel") {
    const float large = 3e38f, small = std::numeric_limits<float>::denorm_min(), inf = INFINITY, nan = NAN;
    const array<index_t> at{0, 1, 1, 0, 0, 2, 2, 3, 4, 5, 5, 6, -1, 7, 7};
    const array<float> values{large, inf, 1, small, -large, -1, small, -inf, nan, inf, -inf, -0.0f, 9, -small, -small};
    const std::vector<double> sums = detail::exact_sums_of_singles("test", at, values, 9).to_host();
    const bool on_gpu = current_device().is_cuda();
    CHECK(sums[0] == (on_gpu ? double{small} : 0));  // elsewhere beyond 2^-80 of the greatest
    CHECK(sums[1] == inf);
    CHECK(sums[2] == -1);
    CHECK(sums[3] == -inf);
    CHECK(std::isnan(sums[4]));
    CHECK(std::isnan(sums[5]));
    CHECK(sums[6] == 0);
    CHECK(sums[7] == -2 * double{small});
    CHECK(sums[8] == 0);
}

TEST_CASE_TEMPLATE("several values for one element are all joined, whatever computes them", T, std::int32_t,
                   std::int64_t, float, double) {
    const int n = 4000, places = 7;
    const array<std::uint8_t> narrow(astype<std::uint8_t>(arange<int>(n) % places));
    const array<int> at(astype<int>(narrow));
    const array<double> nothing = zeros<double>(n);
    const auto sums_at = [&](const auto& where) {
        array<T> sums = zeros<T>(places);
        scatter_add(sums(where), 1, unordered);
        scatter_add(sums(where), astype<T>(exp(nothing)), unordered);
        return sums.to_host();
    };
    std::vector<T> wanted(places, 0), greatest(places, 0);
    for (int i = 0; i < n; ++i) {
        wanted[static_cast<std::size_t>(i % places)] += 2;
        greatest[static_cast<std::size_t>(i % places)] = static_cast<T>(i);
    }
    CHECK(sums_at(narrow) == wanted);
    CHECK(sums_at(at) == wanted);
    array<T> most = zeros<T>(places);
    scatter_max(most(at), astype<T>(arange<int>(n)));
    CHECK(most.to_host() == greatest);
}
