// Views against NumPy 2: the functions of views.hpp that permute and add axes, windows, strides and splits. Views of
// arrays can be written, and none computes anything.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/walls/count.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

std::string call(const std::string& function, const std::vector<index_t>& arguments) {
    std::string text = function + "(a";
    for (const index_t i : arguments) text += ", " + std::to_string(i);
    return text + ')';
}

}  // namespace

TEST_CASE("axes roll and matrices turn as NumPy's do") {
    numpy_cases c;
    const array<int> x = drawn<int>({2, 3, 4}, 1), m = drawn<int>({3, 5}, 2);
    for (index_t axis = -3; axis < 3; ++axis)
        for (index_t start = -3; start <= 3; ++start)
            c.add(call("np.rollaxis", {axis, start}), rollaxis(x, axis, start), x);
    for (index_t turns = -5; turns <= 5; ++turns) {
        c.add(call("np.rot90", {turns}), rot90(m, turns), m);
        c.add("np.rot90(a + 1, " + std::to_string(turns) + ", (2, 0))", rot90(x + 1, turns, {2, 0}), x);
    }
    c.add("np.matrix_transpose(a)", mT(x), x);
    c.add("np.matrix_transpose(a * 2)", matrix_transpose(x * 2), x);
    c.add("np.fliplr(a)", fliplr(x), x);
    c.add("np.flipud(a)", flipud(x), x);
    c.add("a.flatten()", flatten(transpose(x)), transpose(x));
    c.run();
}

TEST_CASE("views with more axes are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({4}, 1), m = drawn<int>({2, 3}, 2), t = drawn<int>({2, 3, 2}, 3);
    const array<int> s = full<int>({}, 7);
    const auto each = [&](const array<int>& x) {
        c.add("np.atleast_1d(a)", atleast_1d(x), x);
        c.add("np.atleast_2d(a)", atleast_2d(x), x);
        c.add("np.atleast_3d(a)", atleast_3d(x), x);
        c.add("np.atleast_3d(a + 1)", atleast_3d(x + 1), x);
    };
    for (const array<int>& x : {s, v, m, t}) each(x);
    const array<int> row = drawn<int>({3}, 4), column = drawn<int>({2, 1}, 5);
    const auto [a, b, d] = broadcast_arrays(row, column * 2, scalar(3));
    c.add("np.broadcast_arrays(a, b * 2)[0]", a, row, column);
    c.add("np.broadcast_arrays(a, b * 2)[1]", b, row, column);
    c.add("np.broadcast_arrays(a, b, np.int32(3))[2]", d, row, column);
    const auto listed = broadcast_arrays({row, column});
    REQUIRE(listed.size() == 2);
    c.add("np.broadcast_arrays(a, b)[1]", listed[1], row, column);
    c.add("np.broadcast_arrays(a, b)[0]", broadcast_arrays(std::vector<array<int>>{row, column})[0], row, column);
    c.add("np.broadcast_arrays(a, b * 2)[1]", std::get<1>(broadcast_arrays(std::tuple{row, column * 2})), row, column);
    c.run();
}

TEST_CASE("windows and strides are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({7}, 1), m = drawn<int>({4, 5}, 2);
    for (const index_t w : {0, 1, 3, 7}) c.add(call("sliding_window_view", {w}), sliding_window_view(v, w), v);
    c.add("sliding_window_view(a, (2, 3))", sliding_window_view(m, {2, 3}), m);
    c.add("sliding_window_view(a, 2, 1)", sliding_window_view(m, 2, 1), m);
    c.add("sliding_window_view(a + 1, (2, 2), (0, 0))", sliding_window_view(m + 1, {2, 2}, {0, 0}), m);
    c.add("sliding_window_view(a.T, (3, 2), (-1, 0)).sum((-1, -2)).astype('i8')",
          eval(sum(sliding_window_view(transpose(m), {3, 2}, {-1, 0}), {-1, -2})), m);
    c.add("as_strided(a, (3, 4), (4, 4))", as_strided(v, {3, 4}, {4, 4}), v);
    c.add("as_strided(a[6:], (2, 3), (-4, -8))", as_strided(v(slice(6, none)), {2, 3}, {-4, -8}), v);
    c.add("as_strided(a, (2, 0), (400, 4))", as_strided(v, {2, 0}, {400, 4}), v);
    c.add("as_strided(a, (), ())", as_strided(v, {}, {}), v);
    c.run();
    CHECK(launches([&] { eval(sum(sliding_window_view(v * 2, 3), -1)); }) == 1);
}

TEST_CASE("splits are NumPy's") {
    numpy_cases c;
    const array<int> v = drawn<int>({8}, 1), m = drawn<int>({4, 6}, 2), t = drawn<int>({2, 3, 4}, 3);
    const auto each = [&](const std::string& made, const auto& parts, const auto& x) {
        c.add("len(" + made + ")", full<index_t>({}, parts.size()), x);
        for (std::size_t k = 0; k < parts.size(); ++k) c.add(made + '[' + std::to_string(k) + ']', parts[k], x);
    };
    each("np.split(a, 4)", split(v, 4), v);
    each("np.split(a * 2, 3, 1)", split(m * 2, 3, 1), m);
    each("np.split(a, [3, 5, 6, 10])", split(v, {3, 5, 6, 10}), v);
    each("np.split(a, [-2, 3])", split(v, {-2, 3}), v);
    each("np.split(a, [3])", split(v, {3}), v);
    each("np.split(a, [])", split(v, {}), v);
    each("np.array_split(a, 3)", array_split(v, 3), v);
    each("np.array_split(a, 11)", array_split(v, 11), v);
    each("np.array_split(a, [2], 1)", array_split(m, {2}, 1), m);
    each("np.hsplit(a, 2)", hsplit(v, 2), v);
    each("np.hsplit(a, [1, 4])", hsplit(m, {1, 4}), m);
    each("np.vsplit(a, 2)", vsplit(m, 2), m);
    each("np.dsplit(a, [1])", dsplit(t, {1}), t);
    c.run();
}

TEST_CASE("views of an array that may be written are written") {
    numpy_cases c;
    const array<int> from = drawn<int>({3, 4}, 1), turned = drawn<int>({4, 3}, 2);
    const auto written = [&](const char* view, auto write) {
        array<int> x = from;
        write(x);
        const std::string changed =
            std::string("(lambda x, v: (v.__setitem__(..., c), x)[1])(*(lambda x: (x, ") + view + "))(a.copy()))";
        c.add(changed, x, from, turned,
              view == std::string("np.flipud(x)") || view == std::string("np.fliplr(x)") ? array<int>(from * 2)
                                                                                         : array<int>(turned));
    };
    written("np.flipud(x)", [&](array<int>& x) { flipud(x) = from * 2; });
    written("np.fliplr(x)", [&](array<int>& x) { fliplr(x) = from * 2; });
    written("np.rot90(x)", [&](array<int>& x) { rot90(x) = turned; });
    written("np.rot90(x, 3)", [&](array<int>& x) { rot90(x, 3) = turned; });
    written("np.matrix_transpose(x)", [&](array<int>& x) { mT(x) = turned; });
    written("np.rollaxis(x, 1)", [&](array<int>& x) { rollaxis(x, 1) = turned; });
    c.run();
    array<int> v{1, 2, 3};
    atleast_2d(v)(0, slice(1, none)) += 10;
    rot90(atleast_2d(v))(2) = 0;
    CHECK(holds(v, {3}, {0, 12, 13}));
    const array<int> kept = v;
    flipud(v) = v;
    CHECK(holds(v, {3}, {13, 12, 0}));
    CHECK(holds(kept, {3}, {0, 12, 13}));
}

TEST_CASE("views compute nothing, also of expressions") {
    const array<float> m = drawn<float>({6, 8}, 1);
    CHECK(launches([&] {
              (void)rot90(m * 2);
              (void)sliding_window_view(m + 1, {2, 2});
              (void)split(m * m, 2);
              (void)broadcast_arrays(m, m(0) + 1);
              (void)flatten(transpose(m));
          }) == 0);
    CHECK(launches([&] { eval(rot90(m * 2) + mT(fliplr(m)) - atleast_3d(m)(all, all, 0).T()); }) == 1);
}

TEST_CASE("views that there are not throw and say why") {
    const array<int> m = counted({2, 3}), v = counted({3});
    const auto says = [](auto f) { return thrown<shape_error>(f); };
    CHECK(says([&] { (void)fliplr(v); }) == "[fliplr] wants 2 axes or more, given shape (3,)");
    CHECK(says([&] { (void)flipud(scalar(1)); }) == "[flipud] wants 1 axis or more, given shape ()");
    CHECK(says([&] { (void)mT(v); }) == "[mT] wants 2 axes or more, given shape (3,)");
    CHECK(says([&] { (void)rot90(m, 1, {0, -2}); }) == "[rot90] axis -2 is given twice");
    CHECK(says([&] { (void)rot90(m, 1, 0); }) == "[rot90] 1 axes are no plane, which has 2");
    CHECK(says([&] { (void)rollaxis(m, 2); }) == "[rollaxis] axis 2 is out of range for rank 2");
    CHECK(says([&] { (void)rollaxis(m, 0, 3); }) == "[rollaxis] start 3 is out of range for rank 2");
    CHECK(says([&] { (void)sliding_window_view(v, 4); }) ==
          "[sliding_window_view] a window (4,) does not fit into shape (3,)");
    CHECK(says([&] { (void)sliding_window_view(m, 2); }) ==
          "[sliding_window_view] a window (2,) has not as many extents as the 2 axes of shape (2, 3)");
    CHECK(says([&] { (void)broadcast_arrays(m, counted({2})); }) ==
          "[broadcast_arrays] shapes (2, 3) and (2,) do not broadcast");
    CHECK(says([&] { (void)as_strided(v, {4}, {4}); }) ==
          "[as_strided] shape (4,) with strides (4,) of int32 reaches beyond the 12 bytes given");
    CHECK_THROWS_AS((void)as_strided(v(slice(1, none)), {3}, {4}), shape_error);
    CHECK_THROWS_AS((void)as_strided(v, {2}, {-4}), shape_error);
    CHECK_THROWS_AS((void)as_strided(v, {2}, {2}), shape_error);
    CHECK(says([&] { (void)split(v, 2); }) == "[split] axis 0 of shape (3,) has no 2 equal parts");
    CHECK(says([&] { (void)array_split(v, 0); }) == "[array_split] 0 parts: one or more are wanted");
    CHECK(says([&] { (void)vsplit(v, 3); }) == "[vsplit] wants 2 axes or more, given shape (3,)");
    CHECK_THROWS_AS((void)dsplit(m, 1), shape_error);
}
