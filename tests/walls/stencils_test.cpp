// Views of one buffer a few elements apart. On a GPU one kernel reads each row of the buffer once; the values are those
// of the same expression over copies of the views.
#include <array>
#include <complex>
#include <memory>
#include <random>
#include <sstream>

#include "runtime/device/driver.hpp"
#include "tests/arrays/expect.hpp"
#include "tests/drawn.hpp"

using namespace ingot;

namespace {

/// 0, 1, ... 22, 0, ... in C order, so that sums of some are exact in every dtype.
template <class T>
array<T> steps(const shape_like& shape) {
    index_t n = 1;
    for (const index_t extent : shape) n *= extent;
    std::vector<T> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(static_cast<float>(i * i % 23));
    return asarray(values, shape);
}

/// The layout of a GPU's threads over the elements of e; "stencil" on a host, which has no such kernels.
template <class E>
std::string layout_of(const E& e) {
    if (current_device().is_host()) return "stencil";
    std::ostringstream text;
    text << explain(e);
    return text.str().find("stencil: ") != std::string::npos ? "stencil" : text.str();
}

template <class T>
array<T> copy(const array<T>& view) {
    return asarray(view.to_host(), view.shape());
}

/// A copy with no memory before the first or behind the last element: a GPU that checks its memory refuses reads there.
array<float> alone(const array<float>& x) {
#ifdef INGOT_HAS_CUDA_HEADERS
    if (current_device().is_cuda()) {
        const auto bytes = static_cast<std::size_t>(x.nbytes());
        CUdeviceptr at = 0;
        runtime::check(runtime::driver()->cuMemAlloc(&at, bytes), "an allocation of a test's own");
        void* const data = reinterpret_cast<void*>(at);
        const std::shared_ptr<void> owner(
            data, [](void* end) { runtime::driver()->cuMemFree(reinterpret_cast<CUdeviceptr>(end)); });
        array<float> u = asarray<float>(unowned_memory(data, bytes, current_device(), owner), x.shape());
        u(ellipsis) = x;
        return u;
    }
#endif
    return x;
}

/// Whether two hold the same bits; NaN and the sign of 0 are among these.
template <class T>
bool same(const array<T>& a, const array<T>& b) {
    const std::vector<T> x = a.to_host(), y = b.to_host();
    return a.shape() == b.shape() && x == y;
}

const slice low(0, -2), middle(1, -1), high(2, none);

const auto five = [](const auto& up, const auto& left, const auto& at, const auto& right, const auto& down) {
    return (up + down) + (left + right) - at;
};

/// A slice of n elements from `from` on.
slice part(index_t from, index_t n) { return slice(from, from + n); }

}  // namespace

TEST_CASE("a stencil of five points is its expression over copies, at every width and place") {
    for (const index_t columns : {34, 35, 36, 37, 70, 131, 261})
        for (const index_t rows : {3, 4, 10, 19}) {
            const array<float> u = steps<float>({rows, columns});
            const auto at = [&](slice i, slice j) { return array<float>(u(i, j)); };
            const array<float> got =
                five(u(low, middle), u(middle, low), u(middle, middle), u(middle, high), u(high, middle));
            const array<float> up = copy(at(low, middle)), left = copy(at(middle, low)), mid = copy(at(middle, middle)),
                               right = copy(at(middle, high)), down = copy(at(high, middle));
            CHECK(same(got, array<float>(five(up, left, mid, right, down))));
            array<float> v = u, wanted = u;
            v(middle, middle) =
                five(u(low, middle), u(middle, low), u(middle, middle), u(middle, high), u(high, middle));
            wanted(middle, middle) = five(up, left, mid, right, down);
            CHECK(same(v, wanted));
            // Over itself: as if the right side had been there first.
            v = u;
            v(middle, middle) =
                five(v(low, middle), v(middle, low), v(middle, middle), v(middle, high), v(high, middle));
            CHECK(same(v, wanted));
        }
    const array<float> u = steps<float>({20, 50});
    CHECK(layout_of(five(u(low, middle), u(middle, low), u(middle, middle), u(middle, high), u(high, middle))) ==
          "stencil");
}

TEST_CASE_TEMPLATE("windows of many rows and columns, inside and beyond the ends", T, float, double, std::uint8_t) {
    auto upto = [state = 11u](index_t n) mutable { return static_cast<index_t>((state = state * 69069 + 1) >> 8) % n; };
    for (const std::pair<index_t, index_t>& window :
         {std::pair<index_t, index_t>{17, 1}, {1, 17}, {9, 1}, {1, 12}, {7, 7}, {6, 3}}) {
        const index_t down = window.first, along = window.second;
        const index_t n = 20 + upto(30), m = 33 + upto(100);
        INFO(down, " x ", along, " of (", n, ", ", m, ")");
        const array<T> x = steps<T>({n, m}), wide = steps<T>({n + down - 1, m + along - 1});
        const array<T> padded =
            pad(x, {{down / 2, down - 1 - down / 2}, {along / 2, along - 1 - along / 2}}, pad_mode::symmetric);
        const auto taps = [&](const auto& e, bool copied) {
            lazy<T> sum = e(part(0, n), part(0, m));
            for (index_t k = 1; k < down * along; ++k) {
                const lazy<T> tap = e(part(k / along, n), part(k % along, m));
                sum = sum + (copied ? lazy<T>(array<T>(tap)) : tap) * static_cast<T>(k % 5);
            }
            return sum;
        };
        // Seven rows of seven doubles are more than a thread's registers.
        if (down * along < 49 || sizeof(T) < 8) CHECK(layout_of(taps(wide, false)) == "stencil");
        CHECK(same(array<T>(taps(wide, false)), array<T>(taps(wide, true))));
        if (down > 1 && along > 1) continue;  // too many axes for one expression
        const auto bordered =
            pad(x, {{down / 2, down - 1 - down / 2}, {along / 2, along - 1 - along / 2}}, pad_mode::symmetric);
        CHECK(layout_of(taps(bordered, false)) == "stencil");
        CHECK(same(array<T>(taps(bordered, false)), array<T>(taps(padded, true))));
    }
}

TEST_CASE("views of one dimension, of every dtype, begin anywhere") {
    const auto check = [](auto type) {
        using T = decltype(type);
        for (const index_t n : {1, 2, 15, 16, 17, 63, 700}) {
            const array<T> x = steps<T>({n + 17});
            for (const index_t from : {0, 1, 2, 3, 7}) {
                const auto e = x(part(from, n)) + x(part(from + 1, n)) + x(part(from + 8, n));
                const array<T> got = e, wanted = copy(array<T>(x(part(from, n)))) +
                                                 copy(array<T>(x(part(from + 1, n)))) +
                                                 copy(array<T>(x(part(from + 8, n))));
                CHECK(same(got, wanted));
            }
        }
    };
    check(float());
    check(double());
    check(float16());
    check(std::int8_t());
    check(std::complex<float>());
    check(std::complex<double>());
    check(std::uint16_t());
}

TEST_CASE("views lie as far apart as relatives may, in each direction") {
    constexpr index_t rows = 13, columns = 45;
    const auto check = [](auto type) {
        using T = decltype(type);
        const array<T> u = steps<T>({rows + 8, columns + 16});
        const auto at = [&](index_t i, index_t j) { return u(part(4 + i, rows), part(8 + j, columns)); };
        const auto copied = [&](index_t i, index_t j) { return copy(array<T>(at(i, j))); };
        const auto differ = [&](auto f) {
            const array<T> got = f(at), wanted = f(copied);
            CHECK(same(got, wanted));
        };
        differ([](const auto& v) { return v(0, 0) + v(-4, -8) + v(4, 8); });
        differ([](const auto& v) { return v(0, 0) + v(-4, 8) + v(4, -8) + v(0, 3); });
        differ([](const auto& v) { return v(0, 0) - v(0, 8); });
        differ([](const auto& v) { return v(0, 0) - v(4, 0); });
        differ([](const auto& v) { return v(0, 0) - v(-4, 5) - v(-2, 5); });
    };
    check(float());
    check(std::uint8_t());
    const array<double> u = steps<double>({rows, columns});
    const auto back = [&](index_t i, index_t j) { return u(slice(11 + i, 1 + i, -1), part(2 + j, 40)); };
    const array<double> got = back(0, 0) + back(1, -1) + back(-1, 1), wanted = copy(array<double>(back(0, 0))) +
                                                                               copy(array<double>(back(1, -1))) +
                                                                               copy(array<double>(back(-1, 1)));
    CHECK(same(got, wanted));
}

TEST_CASE("three dimensions, and images side by side") {
    const auto seven = [](const auto& v) {
        return v(0, 0, 0) * 2 + v(1, 0, 0) + v(-1, 0, 0) - v(0, 1, 0) - v(0, -1, 0) + v(0, 0, 1) * v(0, 0, -1);
    };
    const auto box = [](const auto& v) { return v(-1, -1, -1) + v(1, 1, 1) * v(0, 0, 0) + v(1, -1, 0) - v(-1, 2, 1); };
    const auto plane = [](const auto& v) { return v(0, 0, 0) + v(0, 1, 0) - v(0, -1, 1); };
    for (const auto& shape :
         {std::array<index_t, 3>{1, 1, 32}, {2, 3, 33}, {5, 4, 34}, {17, 5, 39}, {18, 2, 64}, {33, 3, 35}}) {
        const index_t planes = shape[0], rows = shape[1], columns = shape[2];
        const array<float> u = steps<float>({planes + 2, rows + 3, columns + 2});
        const auto at = [&](index_t i, index_t j, index_t k) {
            return u(part(1 + i, planes), part(1 + j, rows), part(1 + k, columns));
        };
        const auto copied = [&](index_t i, index_t j, index_t k) { return copy(array<float>(at(i, j, k))); };
        CHECK(same(array<float>(seven(at)), array<float>(seven(copied))));
        CHECK(same(array<float>(box(at)), array<float>(box(copied))));
        CHECK(same(array<float>(plane(at)), array<float>(plane(copied))));
        array<float> v = u, wanted = u;
        const slice i = part(1, planes), j = part(1, rows), k = part(1, columns);
        const array<float> inner = seven(copied);
        v(i, j, k) = seven(at);
        wanted(i, j, k) = inner;
        CHECK(same(v, wanted));
    }
}

TEST_CASE("rows end where their buffer does, whichever way it is read") {
    std::mt19937_64 draw(ingot::test::drawing_seed());
    const auto upto = [&](index_t most) { return std::uniform_int_distribution<index_t>(1, most)(draw); };
    // Between the first element of a buffer and its last, the ends of most rows lie outside of all views.
    const auto corners = [](const auto& v) { return v(0, 0, 0) - v(1, 1, 1) * v(2, 2, 2) + v(1, 2, 0); };
    const auto cross = [](const auto& v) { return v(1, 1, 1) * 2 - v(0, 1, 1) + v(2, 1, 1) + v(1, 0, 1) - v(1, 1, 2); };
    // One row of one plane would be a map. By the number's last two bits, one image or several, forwards or backwards.
    for (int n = 0; n < ingot::test::number_of_draws(16); ++n) {
        const index_t images = n % 2 == 0 ? 1 : upto(3), planes = 1 + upto(35), rows = upto(20),
                      columns = 31 + upto(140);
        INFO(images, " images of ", planes, " planes, ", rows, " rows, ", columns, " columns");
        const array<float> u = alone(steps<float>({images, planes + 2, rows + 2, columns + 2}));
        const slice up(none, none, n % 3 == 1 ? -1 : 1), aside(none, none, n % 4 > 1 ? -1 : 1);
        const auto at = [&](index_t i, index_t j, index_t k) {
            return u(all, up, aside, all)(all, part(i, planes), part(j, rows), part(k, columns));
        };
        const auto copied = [&](index_t i, index_t j, index_t k) { return copy(array<float>(at(i, j, k))); };
        // Read once for all planes.
        const array<float> rows_alone = alone(steps<float>({1, 1, rows, columns + 1}));
        const auto beside = [&](index_t k) { return rows_alone(all, all, all, part(k, columns)); };
        CHECK(layout_of(corners(at)) == "stencil");
        CHECK(same(array<float>(corners(at) * beside(0) - beside(1)),
                   array<float>(corners(copied) * copy(array<float>(beside(0))) - copy(array<float>(beside(1))))));
        CHECK(same(array<float>(corners(at)), array<float>(corners(copied))));
        CHECK(same(array<float>(cross(at)), array<float>(cross(copied))));
    }
}

TEST_CASE("several buffers, dtypes, results and other operands are in it") {
    constexpr index_t n = 21, m = 53;
    const array<float> u = steps<float>({n + 2, m + 2}), w = steps<float>({n + 2, m + 5});
    const array<std::uint8_t> mask = steps<std::uint8_t>({n + 2, m + 2});
    const array<float> across = steps<float>({m}), down = steps<float>({n, 1});
    const array<double> wide = steps<double>({n, m});
    const auto view = [&](const auto& x) {
        return [&x](index_t i, index_t j) { return x(part(1 + i, n), part(1 + j, m)); };
    };
    const auto copied = [&](const auto& x) {
        return [&x](index_t i, index_t j) {
            using T = typename std::remove_cvref_t<decltype(x)>::value_type;
            return copy(array<T>(x(part(1 + i, n), part(1 + j, m))));
        };
    };
    const auto agree = [&](const auto& f) {
        const auto got = f(view(u), view(w), view(mask)), wanted = f(copied(u), copied(w), copied(mask));
        CHECK(layout_of(got) == "stencil");
        using T = typename decltype(got)::value_type;
        CHECK(same(array<T>(got), array<T>(wanted)));
    };
    agree([](const auto& a, const auto& b, const auto& c) {
        return a(0, 1) - a(1, 0) + b(0, 0) * b(-1, 3) + where(c(0, 0) < c(1, 1), a(0, 0), b(1, -1));
    });
    agree([&](const auto& a, const auto&, const auto&) { return (a(0, 1) - a(1, 0)) * across + down * a(0, 0); });
    agree([&](const auto& a, const auto&, const auto&) { return (a(0, 1) - a(0, -1)) * 2 + wide; });
    agree([&](const auto& a, const auto&, const auto&) { return sqrt(a(0, 1) + a(0, -1)) + exp(a(1, 0)); });
    // Random numbers and places count from their own first element.
    random::seed(5);
    const auto noise = random::uniform<float>({n, m});
    agree([&](const auto& a, const auto&, const auto&) { return a(0, 1) - a(-1, 0) + noise; });
    // Views that do not follow the rows: backwards, and every other element.
    const array<float> doubled = steps<float>({n, 2 * m});
    agree([&](const auto& a, const auto&, const auto&) {
        return a(0, 0) + a(1, 1) * doubled(all, slice(0, none, 2)) - doubled(all, slice(m - 1, none, -1));
    });
    const auto [first, second] = eval(view(u)(0, 1) - view(u)(0, -1), view(u)(1, 0) * view(u)(0, 1));
    CHECK(same(first, array<float>(copied(u)(0, 1) - copied(u)(0, -1))));
    CHECK(same(second, array<float>(copied(u)(1, 0) * copied(u)(0, 1))));
}

TEST_CASE("what is written lies in the buffer that is read, elsewhere or at the same place") {
    array<float> u = steps<float>({40, 64});
    const array<float> before = copy(u);
    const auto up = [](const auto& x, index_t by) { return x(part(by, 8), part(4, 48)); };
    u(part(20, 8), part(5, 48)) = up(u, 0) + up(u, 1) - up(u, 3);
    array<float> wanted = copy(before);
    wanted(part(20, 8), part(5, 48)) = up(before, 0) + up(before, 1) - up(before, 3);
    CHECK(same(u, wanted));
    u(part(0, 4), all) = u(part(0, 4), all) + u(part(4, 4), all) * 2;
    const array<float> rows = wanted(part(0, 4), all) + wanted(part(4, 4), all) * 2;
    wanted(part(0, 4), all) = rows;
    CHECK(same(u, wanted));
    u(part(1, 30), part(1, 60)) += u(part(0, 30), part(2, 60)) + u(part(2, 30), part(0, 60));
    const array<float> sum = copy(array<float>(wanted(part(1, 30), part(1, 60)))) +
                             copy(array<float>(wanted(part(0, 30), part(2, 60)))) +
                             copy(array<float>(wanted(part(2, 30), part(0, 60))));
    wanted(part(1, 30), part(1, 60)) = sum;
    CHECK(same(u, wanted));
    // The elements that other threads write are adjacent to those that a thread reads.
    array<float> wide = steps<float>({300, 128});
    const auto copied = [&, whole = copy(wide)](index_t from) {
        return copy(array<float>(whole(all, part(from, 45))));
    };
    const array<float> sum_of_copies = copied(32) + copied(33) - copied(34);
    wide(all, part(79, 45)) = wide(all, part(32, 45)) + wide(all, part(33, 45)) - wide(all, part(34, 45));
    CHECK(same(array<float>(wide(all, part(79, 45))), sum_of_copies));
    array<float> line = steps<float>({200}), sums = line;
    sums(part(100, 90)) += copy(array<float>(line(part(3, 90)))) + copy(array<float>(line(part(4, 90)))) * 2;
    line(part(100, 90)) += line(part(3, 90)) + line(part(4, 90)) * 2;
    CHECK(same(line, sums));
}

TEST_CASE("a stencil is one kernel, and others' shapes need no new one") {
    const auto step = [](const array<float>& x) {
        return array<float>(five(x(low, middle), x(middle, low), x(middle, middle), x(middle, high), x(high, middle)));
    };
    const array<float> first = steps<float>({40, 64}), second = steps<float>({50, 88});
    (void)step(first);
    const auto before = counters();
    (void)step(second);
    const auto after = counters();
    CHECK(after.kernel_launches - before.kernel_launches == 1);
    CHECK(after.compiles == before.compiles);
}
