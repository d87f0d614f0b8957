// Gathers and scatters: how many kernels they take, every dtype, places far away, and what is refused.
#include <doctest/doctest.h>

#include <random>

#include "tests/arrays/expect.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;

namespace {

template <class T>
std::vector<T> gathered(const std::vector<T>& from, const std::vector<int>& at) {
    std::vector<T> out;
    for (const int i : at) out.push_back(from[static_cast<std::size_t>(i)]);
    return out;
}

template <class E, class F>
std::string what_of(F&& f) {
    try {
        f();
    } catch (const E& e) {
        return e.what();
    }
    return "";
}

}  // namespace

TEST_CASE("a gather is one kernel with what is around it, before and behind") {
    const array<float> x = arange<float>(100);
    const array<int> i{3, 99, 0, 3};
    array<float> r;
    CHECK(launches([&] { r = exp(take(x * 2, i, 0)) + 1; }) == 1);
    CHECK(launches([&] { r = take(x, i, 0) * take(x + 1, i * 2 % 50, 0); }) == 1);
    CHECK(r.to_host() == std::vector<float>{3 * 7, 99 * 49, 0, 3 * 7});
    CHECK(launches([&] { r = take(take(x, floor_divide(astype<int>(x), 2) % 7, 0), i, 0); }) == 1);
    array<float> y = x + 0;
    CHECK(launches([&] { y(i) = 5; }) == 1);
    CHECK(launches([&] { r = x(x > 3 && x < 7); }) <= 4);
    CHECK(r.to_host() == std::vector<float>{4, 5, 6});
}

TEST_CASE_TEMPLATE("every dtype is gathered, scattered and selected", T, bool, std::int8_t, std::uint16_t, std::int64_t,
                   float16, bfloat16, float, double, std::complex<float>, std::complex<double>) {
    std::vector<T> values;
    for (int i = 0; i < 90; ++i) values.push_back(static_cast<T>(static_cast<float>(i % 2)));
    const array<T> x = asarray<T>(values);
    const std::vector<int> at{89, 0, 44, 3, 3};
    const array<int> i = asarray<int>(at);
    CHECK(take(x, i, 0).to_host() == gathered(values, at));
    array<T> y = x;
    y(array<int>{0, 2}) = x(array<int>{1, 3});
    auto wanted = values;
    wanted[0] = wanted[1], wanted[2] = wanted[3];
    CHECK(y.to_host() == wanted);
    CHECK(y(y == x).size() == 88);
    CHECK(x.to_host() == values);
}

TEST_CASE("random gathers along each axis, of arrays and of trees, are what loops read") {
    std::mt19937 random(7);
    const auto draw = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int turn = 0; turn < 40; ++turn) {
        const int rows = draw(1, 40), columns = draw(1, 70), n = draw(1, 300);
        const bool along_columns = draw(0, 1) == 1;
        const int extent = along_columns ? columns : rows;
        const array<std::int64_t> x = reshape(arange<std::int64_t>(rows * columns), {rows, columns});
        std::vector<int> at;
        for (int k = 0; k < n; ++k) at.push_back(draw(-extent, extent - 1));
        const array<int> i = asarray<int>(at);
        const auto read = array<std::int64_t>(take(x * 3 - 1, i, along_columns ? 1 : 0)).to_host();
        std::size_t wrong = 0, next = 0;
        const auto place = [&](int k) {
            return at[static_cast<std::size_t>(k)] + (at[static_cast<std::size_t>(k)] < 0 ? extent : 0);
        };
        for (int a = 0; a < (along_columns ? rows : n); ++a)
            for (int b = 0; b < (along_columns ? n : columns); ++b) {
                const std::int64_t element = along_columns ? a * columns + place(b) : place(a) * columns + b;
                wrong += read[next++] != element * 3 - 1;
            }
        CAPTURE(turn);
        CHECK(wrong == 0);
    }
}

TEST_CASE("an index outside its axis writes nothing, and the others are written") {
    array<int> x = zeros<int>(5);
    x(array<int>{1, 7, 3}) = array<int>{10, 20, 30};
    const std::string text = what_of<index_error>([&] { (void)x.to_host(); });
    CHECK_MESSAGE(text.find("index 7 is outside an axis of 5 elements") != text.npos, text);
    CHECK(x.to_host() == std::vector<int>{0, 10, 0, 30, 0});
    scatter_add(x(array<int>{0, -6, 0}), 1);
    CHECK(what_of<index_error>([&] { synchronize(); }).find("index -6") != std::string::npos);
    CHECK(x.to_host() == std::vector<int>{2, 10, 0, 30, 0});
}

TEST_CASE("an axis of one element checks its index as any other") {
    const array<float> x{4};
    CHECK(take(x, array<int>{0, -1, 0}, 0).to_host() == std::vector<float>{4, 4, 4});
    const array<float> bad = take(x, array<int>{0, 1}, 0);
    CHECK(what_of<index_error>([&] { (void)bad.to_host(); }).find("index 1 is outside an axis of 1") !=
          std::string::npos);
    CHECK(take(x, array<std::uint64_t>{0}, 0).item() == 4);
}

TEST_CASE("what is added at indices that repeat along an axis counts as often as they do") {
    const array<int> i{1, 2};
    const auto added = [](const auto& index, const auto& values) {
        array<int> x = zeros<int>(4);
        scatter_add(x(index), values);
        array<double> y = zeros<double>(4);
        scatter_add(y(index), values);
        CHECK(array_equal(x, y).item());
        return x.to_host();
    };
    CHECK(added(broadcast_to(array<int>{3}, {10}), 1) == std::vector<int>{0, 0, 0, 10});
    CHECK(added(broadcast_to(full<int>({}, 3), {10}), 1) == std::vector<int>{0, 0, 0, 10});
    CHECK(added(broadcast_to(i, {5, 2}), 1) == std::vector<int>{0, 5, 5, 0});
    CHECK(added(broadcast_to(reshape(i, {2, 1}), {2, 5}), 1) == std::vector<int>{0, 5, 5, 0});
    CHECK(added(broadcast_to(i, {5, 2}), array<int>{7, 8}) == std::vector<int>{0, 35, 40, 0});
    CHECK(added(broadcast_to(reshape(i, {2, 1, 1}), {2, 3, 5}), 1) == std::vector<int>{0, 15, 15, 0});
    array<int> rows = zeros<int>({2, 4});
    scatter_add(rows(all, broadcast_to(array<int>{3}, {10})), array<int>{{1}, {2}});
    CHECK(rows.to_host() == std::vector<int>{0, 0, 0, 10, 0, 0, 0, 20});
    array<int> greatest = zeros<int>(4);
    scatter_max(greatest(broadcast_to(array<int>{3}, {10})), 5);
    CHECK(greatest.to_host() == std::vector<int>{0, 0, 0, 5});
}

TEST_CASE("an index of one element, or of no axes, takes from what has no memory as from an array") {
    const array<double> x{1, 2, 3};
    const array<int> one{2};
    CHECK(choose(full<int>({}, 1), std::tuple{x, -x}).to_host() == std::vector<double>{-1, -2, -3});
    CHECK(choose(array<int>{1}, std::tuple{x, -x}).to_host() == std::vector<double>{-1, -2, -3});
    CHECK((indices({4})(0)(one) * 2).to_host() == std::vector<index_t>{4});
    CHECK((take(indices({4, 3})(1), full<int>({}, 2), 1) * 2).to_host() == std::vector<index_t>{4, 4, 4, 4});
    CHECK((take(indices({4, 3})(0), one, 1) * 2 + array<int>{0, 1}).shape() == shape_like{4, 2});
    const auto draws = random::uniform<double>({10});
    const array<double> all_drawn = draws;
    CHECK((draws(one) * 2).item() == all_drawn(2).item() * 2);
    CHECK(exp(draws(one) * 2).item() == doctest::Approx(std::exp(all_drawn(2).item() * 2)).epsilon(1e-15));
    CHECK(sum(draws(one) * 2).item() == all_drawn(2).item() * 2);
}

TEST_CASE("sums by index count every duplicate, of every type that can be added") {
    const array<int> i = astype<int>(arange<int>(1000) % 7);
    const auto counts = [&]<class T>(T) {
        array<T> x = zeros<T>(7);
        scatter_add(x(i), 1);
        return array<int>(astype<int>(real(x))).to_host();
    };
    const std::vector<int> wanted{143, 143, 143, 143, 143, 143, 142};
    CHECK(counts(int{}) == wanted);
    CHECK(counts(std::int64_t{}) == wanted);
    CHECK(counts(std::uint8_t{}) == wanted);
    CHECK(counts(std::int16_t{}) == wanted);
    CHECK(counts(float{}) == wanted);
    CHECK(counts(double{}) == wanted);
    CHECK(counts(float16{}) == wanted);
    CHECK(counts(std::complex<float>{}) == wanted);
    array<float> least = zeros<float>(2);
    scatter_min(least(array<int>{0, 1, 0}), array<float>{-2, 5, NAN});
    CHECK(std::isnan(least.to_host()[0]));
    CHECK(least.to_host()[1] == 0);
}

TEST_CASE("what does not fit is refused where it is written") {
    array<int> x = zeros<int>({2, 3});
    const array<int> i{0, 1};
    CHECK_THROWS_AS((void)x(i, i, i), index_error);
    CHECK_THROWS_AS((void)x(i, array<int>{0, 1, 2}), shape_error);
    CHECK_THROWS_AS((void)x(array<bool>{true, false, true}), shape_error);
    CHECK_THROWS_AS((x(i) = array<int>{1, 2}), shape_error);
    CHECK_THROWS_AS((void)take_along_axis(x, i, 0), shape_error);
    CHECK_THROWS_AS((void)take(zeros<int>({0, 3}), i, 0), index_error);
    CHECK_THROWS_AS((void)compress(array<bool>{true, true, true}, x, 0), shape_error);
    CHECK_THROWS_AS(fill_diagonal(x(0), 1), shape_error);
    CHECK(all(x == 0).item());
    CHECK(take(zeros<int>({0, 3}), zeros<int>(0), 0).shape() == shape_like{0, 3});
    CHECK(x(zeros<int>(0)).shape() == shape_like{0, 3});
    CHECK(x(x > 5).size() == 0);
    CHECK(nonzero(x).size() == 2);
}

TEST_CASE("a view is written through its name, splits from copies, and ends with its array's shape") {
    array<int> x = zeros<int>({3, 4});
    const array<int> before = x;
    view<int> row = x(1), column = x(all, 0);
    row = 7;
    column += arange<int>(3);
    row(slice(2, none)) = array<int>{1, 2};
    row(row > 6) = 0;
    CHECK(x.to_host() == std::vector<int>{0, 0, 0, 0, 0, 0, 1, 2, 2, 0, 0, 0});
    CHECK(all(before == 0).item());
    CHECK(sum(row).item() == 3);
    column = row(slice(1, none)) * 2;
    CHECK(array<int>(column).to_host() == std::vector<int>{0, 2, 4});
    view<int> transposed = transpose(x);
    transposed(0) = 5;
    CHECK(x(all, 0).to_host() == std::vector<int>{5, 5, 5});
    const auto increment = [](view<int> v) { v += 1; };
    increment(x);
    increment(x(2));
    CHECK(x(2, 0).item() == 7);
    x = zeros<int>(5);
    CHECK_THROWS_AS((void)sum(row), shape_error);
    CHECK_THROWS_AS((row = 1), shape_error);
}

TEST_CASE("what is written by name may be a view, or a part of an array") {
    array<int> m = reshape(arange<int>(24), {4, 6});
    view<int> upper = m(slice(none, 2)), columns = m(all, slice(1, none, 2));
    put(upper, array<int>{0, 7}, array<int>{-1, -2});
    CHECK(m(slice(none, 2)).to_host() == std::vector<int>{-1, 1, 2, 3, 4, 5, 6, -2, 8, 9, 10, 11});
    put(columns, array<int>{-1}, 100);
    CHECK(m(3).to_host() == std::vector<int>{18, 19, 20, 21, 22, 100});
    place(m(2), m(2) % 2 == 0, array<int>{7, 8});
    CHECK(m(2).to_host() == std::vector<int>{7, 13, 8, 15, 7, 17});
    putmask(columns, columns > 20, array<int>{50, 51});
    CHECK(columns.to_host() == std::vector<int>{1, 3, 5, -2, 9, 11, 13, 15, 17, 19, 50, 51});
    copyto(m(0), array<float>{1.5f}, array<bool>{true, false, true, false, true, false});
    CHECK(m(0).to_host() == std::vector<int>{1, 1, 1, 3, 1, 5});
    copyto(columns, 9);
    copyto(flip(m, 1)(slice(none, 1)), 4);
    CHECK(m(slice(none, 2)).to_host() == std::vector<int>{4, 4, 4, 4, 4, 4, 6, 9, 8, 9, 10, 9});
    put_along_axis(columns, array<int>{{0}, {1}, {2}, {0}}, 0, 1);
    CHECK(columns.to_host() == std::vector<int>{0, 4, 4, 9, 0, 9, 9, 9, 0, 0, 9, 9});
    // An array copied from a view has its own memory.
    const array<int> before = m;
    put(upper, array<int>{3}, 77);
    CHECK(m(0, 3).item() == 77);
    CHECK(before(0, 3).item() == 4);
}

TEST_CASE("x.T() is written through, and the indices of a tuple are indices") {
    array<int> m = reshape(arange<int>(6), {2, 3});
    m.T()(0) = -1;
    m.T()(slice(1, none), 1) += 10;
    CHECK(m.to_host() == std::vector<int>{-1, 1, 2, -1, 14, 15});
    const auto doubled = (m * 2).T();
    CHECK(doubled(2).to_host() == std::vector<int>{4, 30});
    const array<int> rows{1, 0}, places{2, 0};
    CHECK(m(ix_(rows, places)).to_host() == std::vector<int>{15, -1, 2, -1});
    CHECK((m + 1)(std::tuple{1, slice(1, none)}).to_host() == std::vector<int>{15, 16});
    m(std::tuple{rows, places}) = 0;
    m(ix_(array<int>{1}, places)) += 5;
    CHECK(m.to_host() == std::vector<int>{0, 1, 2, 4, 14, 5});
    CHECK(m(unravel_index(array<int>{1, 5}, {2, 3})).to_host() == std::vector<int>{1, 5});
}

TEST_CASE("a mask without axes selects all or nothing, under a new axis") {
    array<int> x = full<int>({}, 5);
    CHECK(x(x > 0).shape() == shape_like{1});
    CHECK(x(x > 0).to_host() == std::vector<int>{5});
    CHECK(x(x > 9).shape() == shape_like{0});
    CHECK((x + 1)(x > 0).to_host() == std::vector<int>{6});
    x(x > 9) = 1;
    CHECK(x.item() == 5);
    x(x > 0) = 7;
    CHECK(x.item() == 7);
    x(x > 0) = array<int>{8};
    CHECK(x.item() == 8);
    x(x > 0) += 2;
    CHECK(x.item() == 10);
    CHECK_THROWS_AS(x(x > 0) = array<int>({1, 2}), shape_error);
    array<int> m = reshape(arange<int>(6), {2, 3});
    CHECK(m(full({}, true)).shape() == shape_like{1, 2, 3});
    CHECK(m(full({}, false)).shape() == shape_like{0, 2, 3});
    m(full({}, true)) = 1;
    CHECK(m.to_host() == std::vector<int>(6, 1));
}

TEST_CASE("an index that several gathers read is computed once") {
    const array<double> edges = arange<double>(50), a = square(edges), b = edges * 3,
                        x = linspace<double>(0.5, 48.5, 1000);
    const lazy<index_t> k = searchsorted(edges, x) - 1;
    const auto both = take<index_mode::clip>(a, k, 0) + take<index_mode::clip>(b, k, 0);
    std::ostringstream out;
    out << source(both);
    const std::string text = out.str(), call = "user_searchsorted::k(";
    std::size_t calls = 0;
    for (std::size_t at = text.find(call); at != std::string::npos; at = text.find(call, at + 1)) ++calls;
    CHECK(calls == 1);
    const array<index_t> known(k);
    CHECK(array_equal(both, take(a, known, 0) + take(b, known, 0)).item());
}

TEST_CASE("indices with which nothing is read are looked at all the same") {
    const auto is_found = [](const auto& read) {
        try {
            array<double> r = read();
            r.to_host();
            synchronize();
        } catch (const index_error&) {
            return true;
        }
        return false;
    };
    array<double> hollow = zeros({5, 2, 0});
    const array<int> outside{-6}, inside{4, -5}, nothing = zeros<int>(0);
    CHECK(is_found([&] { return hollow(outside); }));
    CHECK(is_found([&] { return hollow(all, array<int>{0, 2}); }));
    CHECK(is_found([&] { return hollow(inside, array<int>{0, 2}); }));
    CHECK(is_found([&] { return take(hollow, array<std::uint64_t>{5}, 0); }));
    CHECK(!is_found([&] { return hollow(inside); }));
    CHECK(!is_found([&] { return hollow(inside, array<int>{0, 1}); }));
    CHECK(!is_found([&] { return zeros({5, 2})(nothing); }));
    CHECK(!is_found([&] { return take<index_mode::clip>(hollow, outside, 0); }));
    CHECK(is_found([&] {
        hollow(outside) = 1;
        return zeros(1);
    }));
}
