// The number of kernels and bytes of statements that write parts of an array: 20 whose sides share elements, and 10
// whose sides do not. If the sides share no element, or each only with itself, the statement is one kernel in place.
#include <functional>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

constexpr index_t n = 24;
constexpr std::uint64_t whole = n * n * sizeof(float);

struct row {
    std::string name;
    std::uint64_t kernels, bytes;  // at most
    std::function<void(array<float>&)> statement;
    /// The element at (i, j) afterwards, from the old values.
    std::function<float(const std::vector<float>&, index_t, index_t)> wanted;
};

float at(const std::vector<float>& v, index_t i, index_t j) { return v[static_cast<std::size_t>(i * n + j)]; }

array<float> grid() { return counted<float>({n, n}); }

void check(const row& r) {
    CAPTURE(r.name);
    array<float> u = grid();
    const std::vector<float> before = u.to_host();
    r.statement(u);  // compiled
    const std::vector<float> got = u.to_host();
    int wrong = 0;
    for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) wrong += at(got, i, j) != r.wanted(before, i, j);
    CHECK(wrong == 0);
    const counter_values start = counters();
    r.statement(u);
    const counter_values end = counters();
    CHECK(end.kernel_launches - start.kernel_launches <= r.kernels);
    CHECK(end.bytes_allocated - start.bytes_allocated <= r.bytes);
}

using values = const std::vector<float>&;
const slice middle(1, -1), low(0, -2), high(2, none), even(0, none, 2), odd(1, none, 2), back(none, none, -1);
bool is_inside(index_t i) { return i > 0 && i < n - 1; }

}  // namespace

TEST_CASE("statements whose sides share elements take a second kernel and what they write, or less") {
    const std::uint64_t part = (n - 1) * n * sizeof(float), half = whole / 2;
    const row rows[] = {
        {"rows down", 2, part, [](auto& u) { u(slice(1, none)) = u(slice(0, -1)); },
         [](values v, index_t i, index_t j) { return at(v, i > 0 ? i - 1 : 0, j); }},
        {"rows up", 2, part, [](auto& u) { u(slice(0, -1)) = u(slice(1, none)); },
         [](values v, index_t i, index_t j) { return at(v, i < n - 1 ? i + 1 : i, j); }},
        {"columns right", 2, part, [](auto& u) { u(all, slice(1, none)) = u(all, slice(0, -1)); },
         [](values v, index_t i, index_t j) { return at(v, i, j > 0 ? j - 1 : 0); }},
        {"columns left, added", 2, part, [](auto& u) { u(all, slice(0, -1)) += u(all, slice(1, none)); },
         [](values v, index_t i, index_t j) { return at(v, i, j) + (j < n - 1 ? at(v, i, j + 1) : 0); }},
        {"transposed", 2, whole, [](auto& u) { u(all) = transpose(u); },
         [](values v, index_t i, index_t j) { return at(v, j, i); }},
        {"transposed target", 2, whole, [](auto& u) { transpose(u) = u + 1; },
         [](values v, index_t i, index_t j) { return at(v, j, i) + 1; }},
        {"added to its transpose", 2, whole, [](auto& u) { u(all) = u + transpose(u); },
         [](values v, index_t i, index_t j) { return at(v, i, j) + at(v, j, i); }},
        {"reversed rows", 2, whole, [](auto& u) { u(all) = flip(u, 0); },
         [](values v, index_t i, index_t j) { return at(v, n - 1 - i, j); }},
        {"reversed columns", 2, whole, [](auto& u) { u(all, back) = u * 2; },
         [](values v, index_t i, index_t j) { return at(v, i, n - 1 - j) * 2; }},
        {"turned", 2, whole, [](auto& u) { u(all) = rot90(u); },
         [](values v, index_t i, index_t j) { return at(v, j, n - 1 - i); }},
        {"rolled", 2, whole, [](auto& u) { u(all) = roll(u, 1, 0); },
         [](values v, index_t i, index_t j) { return at(v, (i + n - 1) % n, j); }},
        {"a step of the heat equation in place", 2, (n - 2) * (n - 2) * sizeof(float),
         [](auto& u) { u(middle, middle) = u(low, middle) + u(high, middle) + u(middle, low) + u(middle, high); },
         [](values v, index_t i, index_t j) {
             if (!is_inside(i) || !is_inside(j)) return at(v, i, j);
             return at(v, i - 1, j) + at(v, i + 1, j) + at(v, i, j - 1) + at(v, i, j + 1);
         }},
        {"the first row into all", 2, n * sizeof(float), [](auto& u) { u(all) = u(0); },
         [](values v, index_t, index_t j) { return at(v, 0, j); }},
        {"the first column into all", 2, n * sizeof(float), [](auto& u) { u(all) = u(all, slice(0, 1)); },
         [](values v, index_t i, index_t) { return at(v, i, 0); }},
        {"less its first row", 2, whole, [](auto& u) { u -= u(0); },
         [](values v, index_t i, index_t j) { return at(v, i, j) - at(v, 0, j); }},
        {"less its middle", 3, whole + 64, [](auto& u) { u(slice(0, 2)) = u(slice(0, 2)) - max(u); },
         [](values v, index_t i, index_t j) { return i < 2 ? at(v, i, j) - at(v, n - 1, n - 1) : at(v, i, j); }},
        {"even columns from the first half", 2, half, [](auto& u) { u(all, even) = u(all, slice(0, n / 2)); },
         [](values v, index_t i, index_t j) { return j % 2 == 0 ? at(v, i, j / 2) : at(v, i, j); }},
        {"the first half from even columns", 2, half, [](auto& u) { u(all, slice(0, n / 2)) = u(all, even); },
         [](values v, index_t i, index_t j) { return j < n / 2 ? at(v, i, 2 * j) : at(v, i, j); }},
        {"a gather of rows", 2, whole + 2 * n * sizeof(int),
         [](auto& u) { u(all) = take(u, (arange<int>(n) + 5) % static_cast<int>(n), 0); },
         [](values v, index_t i, index_t j) { return at(v, (i + 5) % n, j); }},
        {"the diagonal from the first row", 2, n * sizeof(float), [](auto& u) { diagonal(u) = u(0); },
         [](values v, index_t i, index_t j) { return i == j ? at(v, 0, j) : at(v, i, j); }},
    };
    static_assert(std::size(rows) == 20);
    for (const row& r : rows) check(r);
}

TEST_CASE("statements whose sides share no element but with itself are one kernel in place") {
    const row rows[] = {
        {"itself", 1, 0, [](auto& u) { u(all) = u * 2 + 1; },
         [](values v, index_t i, index_t j) { return at(v, i, j) * 2 + 1; }},
        {"compound", 1, 0, [](auto& u) { u(middle, middle) *= 3; },
         [](values v, index_t i, index_t j) { return is_inside(i) && is_inside(j) ? at(v, i, j) * 3 : at(v, i, j); }},
        {"even rows from odd ones", 1, 0, [](auto& u) { u(even) = u(odd); },
         [](values v, index_t i, index_t j) { return at(v, i % 2 == 0 ? i + 1 : i, j); }},
        {"even columns from odd ones", 1, 0, [](auto& u) { u(all, even) = u(all, odd) * 2; },
         [](values v, index_t i, index_t j) { return j % 2 == 0 ? at(v, i, j + 1) * 2 : at(v, i, j); }},
        {"one half from the other, reversed", 1, 0, [](auto& u) { u(slice(0, n / 2)) = u(slice(none, n / 2 - 1, -1)); },
         [](values v, index_t i, index_t j) { return at(v, i < n / 2 ? n - 1 - i : i, j); }},
        {"a column from another", 1, 0, [](auto& u) { u(all, 0) = u(all, 5); },
         [](values v, index_t i, index_t j) { return at(v, i, j == 0 ? 5 : j); }},
        {"a row into the others", 1, 0, [](auto& u) { u(slice(1, none)) = u(0); },
         [](values v, index_t, index_t j) { return at(v, 0, j); }},
        {"a column from sums of others", 1, 0, [](auto& u) { u(all, 0) = sum(u(all, slice(1, 4)), 1); },
         [](values v, index_t i, index_t j) { return j > 0 ? at(v, i, j) : at(v, i, 1) + at(v, i, 2) + at(v, i, 3); }},
        {"both sides reversed", 1, 0, [](auto& u) { flip(u)(all, even) += flip(u)(all, odd); },
         [](values v, index_t i, index_t j) { return j % 2 == 1 ? at(v, i, j) + at(v, i, j - 1) : at(v, i, j); }},
        {"where a mask is true", 1, 0, [](auto& u) { u(u > 9) = 0; },
         [](values v, index_t i, index_t j) { return at(v, i, j) > 9 ? 0 : at(v, i, j); }},
    };
    static_assert(std::size(rows) == 10);
    for (const row& r : rows) check(r);
}

TEST_CASE("nonzero of a vector runs what flatnonzero does and nothing more") {
    const array<bool> mask = asarray(std::vector<int>{0, 1, 1, 0, 1}) != 0;
    const auto kernels_of = [&](auto&& statement) {
        statement();  // compiled
        const std::uint64_t before = counters().kernel_launches;
        statement();
        return counters().kernel_launches - before;
    };
    CHECK(nonzero(mask)[0].to_host() == std::vector<index_t>{1, 2, 4});
    CHECK(kernels_of([&] { (void)nonzero(mask); }) == kernels_of([&] { (void)flatnonzero(mask); }));
}
