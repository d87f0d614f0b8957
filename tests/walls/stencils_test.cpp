// Views of one buffer that lie a few elements apart. On a GPU one kernel reads each row of the buffer once; the values
// are those of the same expression over copies of the views.
#include <complex>
#include <random>
#include <sstream>

#include "tests/arrays/expect.hpp"

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

/// How a GPU's threads are laid out over the elements of e; "stencil" on a host, which has no such kernels.
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
        }
    const array<float> u = steps<float>({20, 50});
    const auto e = five(u(low, middle), u(middle, low), u(middle, middle), u(middle, high), u(high, middle));
    CHECK(layout_of(e) == "stencil");
    if (!current_device().is_host()) MESSAGE(source(e));
}
