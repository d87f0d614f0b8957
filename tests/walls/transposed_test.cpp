// Operands that lie in memory along different axes. On a GPU they are exchanged through tiles of shared memory; the
// values are those of copied operands.
#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <sstream>

#include "tests/arrays/expect.hpp"

using namespace ingot;

namespace {

/// 0, 1, ... 22, 0, ... in C order.
template <class T>
array<T> steps(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i % 23));
    return asarray(values, shape);
}

/// The layout of a GPU's threads over the elements of e; "tiled" on a host, which has no such kernels.
template <class E>
std::string layout_of(const E& e) {
    if (current_device().is_host()) return "tiled";
    std::ostringstream text;
    text << explain(e);
    return text.str().find("tiled: ") != std::string::npos ? "tiled" : text.str();
}

/// Neither extent is a multiple of a tile's, and both span several tiles.
template <class T>
void check_sums() {
    constexpr index_t rows = 70, columns = 131;
    const array<T> x = steps<T>({rows, columns}), y = steps<T>({columns, rows});
    CHECK(layout_of(x + transpose(y)) == "tiled");
    const auto [sum, difference] = eval(x + transpose(y), transpose(y) - x);
    const std::vector<T> a = x.to_host(), b = y.to_host(), got = sum.to_host(), less = difference.to_host();
    int wrong = 0;
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t k = 0; k < columns; ++k) {
            using exact = std::conditional_t<std::is_same_v<T, float16>, float, T>;
            const exact left(a[i * columns + k]), right(b[k * rows + i]);
            wrong += exact(got[i * columns + k]) != static_cast<exact>(left + right);
            wrong += exact(less[i * columns + k]) != static_cast<exact>(right - left);
        }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("operands of either order of memory meet, of elements of 1 to 16 bytes") {
    check_sums<std::int8_t>();
    check_sums<float16>();
    check_sums<float>();
    check_sums<double>();
    check_sums<std::complex<double>>();
}

TEST_CASE("every order of three axes is one map, alone and beside the usual one") {
    const array<int> x = counted({33, 40, 70});
    std::array<int, 3> order{0, 1, 2};
    do {
        const array<int> copy = permute_dims(x, {order[0], order[1], order[2]});
        const std::vector<int> got = copy.to_host();
        const std::array<index_t, 3> strides{2800, 70, 1}, extents{33, 40, 70};
        const auto of = [&](const auto& of_axis, int a) {
            return of_axis[static_cast<std::size_t>(order[static_cast<std::size_t>(a)])];
        };
        int wrong = 0;
        std::size_t at = 0;
        for (index_t i = 0; i < of(extents, 0); ++i)
            for (index_t k = 0; k < of(extents, 1); ++k)
                for (index_t l = 0; l < of(extents, 2); ++l)
                    wrong += got[at++] != i * of(strides, 0) + k * of(strides, 1) + l * of(strides, 2);
        CHECK(wrong == 0);
        const auto both = permute_dims(x, {order[0], order[1], order[2]}) - copy;
        if (order[2] != 2) CHECK(layout_of(both) == "tiled");
        CHECK(!static_cast<bool>(any(both != 0).item()));
    } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("rows, columns, numbers and functions beside a transposed operand") {
    const array<float> x = steps<float>({90, 70}), copied = transpose(x), row = steps<float>({90}),
                       column = steps<float>({70, 1});
    const auto value = [&](const auto& t) { return exp(t * 0.25f) * row - column / (t + 1) + sqrt(row) * 3; };
    CHECK(layout_of(value(transpose(x))) == "tiled");
    {
        // The compiler chooses which operations to contract, and a hoisted product changes that, so the comparison is
        // strict.
        const with_math exact(strict);
        CHECK(eval(value(transpose(x))).to_host() == eval(value(copied)).to_host());
    }
    // Random elements of a thread are numbered like others.
    random::generator g(7);
    const array<float> u = g.uniform<float>({70, 90});
    g.seed(7);
    const array<float> drawn = g.uniform<float>({70, 90}) + transpose(x);
    CHECK(drawn.to_host() == eval(u + copied).to_host());
    // Random numbers that do not move along the tiles' rows are drawn once.
    for (const shape_like& shape : {shape_like{90}, shape_like{70, 1}, shape_like{}}) {
        g.seed(7);
        const array<float> few = sqrt(g.uniform<float>(shape));
        g.seed(7);
        const array<float> sum = sqrt(g.uniform<float>(shape)) + transpose(x);
        CHECK(sum.to_host() == eval(few + copied).to_host());
    }
    // A text of the user's is asked for elements of the array alone: this one does not end for 0.
    const elementwise_kernel<"float n", "float steps"> collatz(
        "steps = 0; for (float m = n; m != 1; ++steps) m = m - 2 * floorf(m / 2) == 0 ? m / 2 : 3 * m + 1;", "collatz");
    const auto [of_elements, of_row] = eval(collatz(transpose(x) + 1), collatz(row + 1) + transpose(x));
    CHECK(of_elements.to_host() == eval(collatz(copied + 1)).to_host());
    CHECK(of_row.to_host() == eval(collatz(row + 1) + copied).to_host());
}

TEST_CASE("a short axis makes no tiles") {
    const array<float> x = steps<float>({500, 3}), y = steps<float>({3, 500});
    CHECK(eval(x + transpose(y)).to_host() == eval(x + eval(0.0f + transpose(y))).to_host());
    CHECK(eval(y + transpose(x)).to_host() == eval(y + eval(0.0f + transpose(x))).to_host());
    if (current_device().is_host()) return;
    CHECK(layout_of(x + transpose(y)) != "tiled");
    CHECK(layout_of(y + transpose(x)) != "tiled");
}
