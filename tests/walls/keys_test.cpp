// These tests hold which differences make a new kernel: they count compiles over sizes, scalars and several spellings
// of one statement.
#include <random>
#include <set>

#include "count.hpp"
#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// 0, 1, ... 22, 0, ... so that float sums stay exact.
template <class T>
array<T> small_values(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 23);
    return asarray(values, shape);
}

/// The sum of small_values over elements [begin, end).
double small_sum(index_t begin, index_t end) {
    const auto up_to = [](index_t n) { return static_cast<double>(n / 23 * 253 + n % 23 * (n % 23 - 1) / 2); };
    return up_to(end) - up_to(begin);
}

}  // namespace

TEST_CASE("over 1000 random sizes of one class a map compiles once") {
    std::mt19937 random(1);
    const auto kernels = new_kernels([&] {
        for (int k = 0; k < 1000; ++k) {
            const auto n = static_cast<index_t>(2 + random() % 5000);
            const array<float> x = small_values<float>(n), y = full<float>(n, 3.0f);
            const array<float> r = where(x - 2 > y, x * y, x + y);
            const index_t i = static_cast<index_t>(random()) % n;
            const float v = static_cast<float>(i % 23);
            REQUIRE(r(i).item() == (v - 2 > 3 ? v * 3 : v + 3));
        }
    });
    // The fill, and the copy of one element.
    CHECK(kernels <= 3);
}

TEST_CASE("over 1000 random shapes of one class a map with a row and a column compiles once") {
    std::mt19937 random(2);
    std::set<std::string> keys;
    const auto kernels = new_kernels([&] {
        for (int k = 0; k < 1000; ++k) {
            const auto rows = static_cast<index_t>(2 + random() % 40),
                       columns = 32 + 4 * static_cast<index_t>(random() % 40);
            const array<float> x = small_values<float>({rows, columns}), row = small_values<float>(columns),
                               column = small_values<float>({rows, 1});
            const array<float> r = x * row - column * 3;
            if (k % 100 == 0) keys.insert(explain(x * row - column * 3).key);
        }
    });
    CHECK(kernels == 1);
    CHECK(keys.size() == 1);
}

TEST_CASE("over row lengths 1 to 10^6 there are at most 24 classes of rows whose results are wanted along them") {
    for (const bool longest : {false, true}) {
        int classes = 1;
        for (std::int64_t n = 2; n <= 1'000'000; ++n)
            classes += detail::length_class::of_row(n, longest) == detail::length_class::of_row(n - 1, longest) ? 0 : 1;
        CHECK(classes <= 24);
    }
}

TEST_CASE("over row lengths 1 to 10^6 a row sum compiles at most 24 times for each alignment") {
    std::vector<index_t> lengths{1, 3, 7, 12, 100, 600000, 999999, 1000000};
    for (index_t n = 2; n <= 1 << 19; n *= 2)
        for (const index_t d : {-1, 0, 1}) lengths.push_back(n + d);
    for (const bool aligned : {false, true}) {
        CAPTURE(aligned);
        const auto kernels = new_kernels([&] {
            for (const index_t n : lengths) {
                if ((n % 4 == 0) != aligned) continue;
                CAPTURE(n);
                const array<float> x = small_values<float>({2, n});
                CHECK(sum(x, 1).to_host() ==
                      std::vector<float>{static_cast<float>(small_sum(0, n)), static_cast<float>(small_sum(n, 2 * n))});
            }
        });
        CHECK(kernels > 1);
        CHECK(kernels <= 24);
    }
}

TEST_CASE("a new scalar compiles nothing, and integer and float spellings are one kernel") {
    const array<float> x{1, 2, 3};
    const auto y = square(x);
    CHECK(new_kernels([&] { CHECK(holds(y * 2, {3}, {2, 8, 18})); }) == 1);
    CHECK(new_kernels([&] {
              CHECK(holds(y * 2.0, {3}, {2, 8, 18}));
              CHECK(holds(y * 0.5f, {3}, {0.5f, 2, 4.5f}));
              CHECK(holds(y * static_cast<unsigned char>(7), {3}, {7, 28, 63}));
              for (float k = 0; k < 10; ++k) CHECK(holds(y * k, {3}, {k, 4 * k, 9 * k}));
          }) == 0);
}

TEST_CASE("the same tree in a slot, in a lazy and in another statement is one kernel") {
    const array<float> x{1, 2, 3}, y{4, 5, 6};
    CHECK(new_kernels([&] { CHECK(holds(x * y - x / y + 1, {3}, {4.75f, 10.6f, 18.5f})); }) == 1);
    CHECK(new_kernels([&] {
              lazy<float> l = x;
              l = l * y - l / y;
              l = l + 1;
              CHECK(holds(l, {3}, {4.75f, 10.6f, 18.5f}));
              CHECK(holds(y * x - y / x + 1, {3}, {1, 8.5f, 17}));
          }) == 0);
}

TEST_CASE("an array of another type than its expression is one kernel") {
    const array<float> x{0.5f, 2, 3}, y{4, 5, 6};
    array<double> r;
    CHECK(launches([&] { CHECK(new_kernels([&] { r = x * y + 1; }) == 1); }) == 1);
    CHECK(holds(r, {3}, {3, 11, 19}));
    array<int> i;
    CHECK(launches([&] { i = astype<int>(x * y * 1e9); }) == 1);
    CHECK(holds(i, {3}, {2000000000, 2147483647, 2147483647}));
}

TEST_CASE("two outputs are one kernel, and a subtree of both is computed once") {
    const array<float> x{1, 2, 3}, y{4, 5, 6};
    CHECK(launches([&] {
              CHECK(new_kernels([&] {
                        const auto [a, b] = eval(x * y + 1, x * y - 1);
                        CHECK(holds(a, {3}, {5, 11, 19}));
                        CHECK(holds(b, {3}, {3, 9, 17}));
                    }) == 1);
          }) == 1);
    const auto [p, q, r] = eval(x + 1, x > y, sum(y));  // shapes that do not allow it
    CHECK(holds(p, {3}, {2, 3, 4}));
    CHECK(holds(q, {3}, {false, false, false}));
    CHECK(r.item() == 15);
}

TEST_CASE("the special exponents are kernels of their own, all others share one") {
    const array<double> x{1, 4, 0.25};
    CHECK(new_kernels([&] {
              CHECK(holds(power(x, 2), {3}, {1, 16, 0.0625}));
              CHECK(holds(power(x, 3), {3}, {1, 64, 0.015625}));
              CHECK(holds(power(x, 0.5), {3}, {1, 2, 0.5}));
              CHECK(holds(power(x, -0.5), {3}, {1, 0.5, 2}));
              CHECK(holds(power(x, -1), {3}, {1, 0.25, 4}));
          }) == 5);
    CHECK(new_kernels([&] {
              CHECK(holds(power(x, 2.0f), {3}, {1, 16, 0.0625}));
              CHECK(holds(power(x, -1.0), {3}, {1, 0.25, 4}));
          }) == 0);
    CHECK(new_kernels([&] {
              CHECK(power(x, 1.5).to_host()[1] == doctest::Approx(8));
              CHECK(power(x, -2).to_host()[2] == doctest::Approx(16));
              CHECK(power(x, 7).to_host()[0] == 1);
          }) == 1);
    for (const double e : {2.0, 3.0, -1.0}) CHECK(source(power(x, e)).find("pow(") == std::string::npos);
    CHECK(source(power(x, 1.5)).find("pow(") != std::string::npos);
    // A value of an array, and a strong one, are no literal.
    const std::vector<double> squares = power(x, array<double>{2}).to_host(), wanted{1, 16, 0.0625};
    for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(std::abs(squares[k] - wanted[k]) <= 4e-16 * wanted[k]);
    const array<int> i{-3, 2, 0};
    CHECK(holds(power(i, 2), {3}, {9, 4, 0}));
    CHECK(holds(power(i, 3), {3}, {-27, 8, 0}));
    CHECK(holds(power(i, 0), {3}, {1, 1, 1}));
    CHECK(thrown<dtype_error>([&] { (void)power(i, -1); }).find("[power] exponent -1 is negative") == 0);
}

TEST_CASE("one scalar written once is one argument, two equal ones are two") {
    const array<float> x{1, 2}, y{3, 4};
    const auto s = scalar<float>(5);
    const auto shared = x * s + y * s, apart = x * scalar<float>(5) + y * scalar<float>(5);
    CHECK(explain(shared).key != explain(apart).key);
    CHECK(holds(shared, {2}, {20, 30}));
    CHECK(holds(apart, {2}, {20, 30}));
    // Values are never compared: another pair of numbers is the same kernel.
    CHECK(new_kernels([&] { CHECK(holds(x * scalar<float>(1) + y * scalar<float>(2), {2}, {7, 10})); }) == 0);
    // A copy of a tree is the same scalar.
    const auto e = x + 0.5f;
    const auto copy = e;
    const auto product = e * copy;
    CHECK(holds(product, {2}, {2.25f, 6.25f}));
    CHECK(source(product).find("s1") == source(e * e).find("s1"));
}

TEST_CASE("a view that is written twice is read once; other views of its buffer are others") {
    array<float> x = counted<float>({4, 40});
    const array<float> copy = x;
    const auto bytes = [](const auto& e) { return explain(e).bytes_read(); };
    CHECK(bytes(x * x + copy) == 4 * 160);
    CHECK(bytes(x(slice(1)) * x(slice(1))) == 4 * 120);
    CHECK(bytes(x(slice(1)) * x(slice(0, -1))) == 4 * 160);  // bytes that both views see move once
    CHECK(bytes(x * x(all, slice(none, none, -1))) == 4 * 160);
    CHECK(explain(x(slice(1)) * x(slice(1))).key != explain(x(slice(1)) * x(slice(0, -1))).key);
    x += 0;  // splits: a buffer of its own now
    CHECK(bytes(x + copy) == 8 * 160);
    CHECK(explain(x + x).key != explain(x + copy).key);
    CHECK(holds(x(0) - copy(0), {40}, std::vector<float>(40, 0)));
}

TEST_CASE("shapes of any rank broadcast") {
    std::mt19937 random(3);
    for (int k = 0; k < 12; ++k) {
        const int rank = k < 9 ? k : 8 * (k - 7);  // up to 8, then 16, 24, 32
        std::vector<index_t> shape, left, right;
        index_t size = 1;
        for (int j = 0; j < rank; ++j) {
            shape.push_back(size > 3000 || random() % 3 == 0 ? 1 : static_cast<index_t>(1 + random() % 5));
            size *= shape.back();
            left.push_back(random() % 3 ? shape.back() : 1);
            right.push_back(left.back() == shape.back() && random() % 2 ? 1 : shape.back());
        }
        left.erase(left.begin(), left.begin() + (rank > 2 && left[0] == 1 ? 1 : 0));
        const array<int> a = counted(left), b = counted(right) * 1000;
        const auto e = a - b;
        REQUIRE(e.shape() == shape_like(shape));
        const std::vector<int> got = e.to_host();
        const auto place = [&](const std::vector<index_t>& own, index_t at) {
            index_t p = 0, stride = 1;
            for (std::size_t j = 0; j < own.size(); ++j) {
                const std::size_t axis = own.size() - 1 - j;
                const index_t i = at % shape[shape.size() - 1 - j];
                at /= shape[shape.size() - 1 - j];
                if (own[axis] != 1) p += i * stride;
                stride *= own[axis];
            }
            return p;
        };
        bool right_values = true;
        for (index_t i = 0; i < size; ++i)
            right_values &= got[static_cast<std::size_t>(i)] == place(left, i) - 1000 * place(right, i);
        CHECK_MESSAGE(right_values, "rank ", rank);
    }
}
