// dot, inner, outer, tensordot and their like against NumPy 2.
#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;
using testing::drawn;
using testing::numpy_cases;

namespace {

template <class T>
void products_of(numpy_cases& c, unsigned seed) {
    const array<T> v = drawn<T>({3}, seed), w = drawn<T>({3}, seed + 1), m = drawn<T>({4, 3}, seed + 2),
                   t = drawn<T>({2, 3, 2}, seed + 3);
    c.add_all(std::tie(v, w, m, t),
              {"np.dot(a, b)", "np.vdot(a, b)", "np.inner(a, b)", "np.outer(a, c)", "np.dot(c, a)", "np.dot(c, d)",
               "np.inner(c, b)", "np.vecdot(c, a)", "np.vecdot(a, b)", "np.tensordot(d, c, (1, 1))", "np.kron(c, a)",
               "np.dot(a, a.dtype.type(1))"},
              dot(v, w), vdot(v, w), inner(v, w), outer(v, m), dot(m, v), dot(m, t), inner(m, w), vecdot(m, v),
              vecdot(v, w), tensordot(t, m, {1}, {1}), kron(m, v), dot(v, full<T>({}, T(1))));
}

}  // namespace

TEST_CASE("products of vectors, matrices and tensors are NumPy's") {
    numpy_cases c;
    products_of<double>(c, 1);
    products_of<int>(c, 2);
    products_of<bool>(c, 3);
    products_of<std::complex<float>>(c, 4);
    const array<double> a = drawn<double>({2, 3, 4}, 5), b = drawn<double>({4, 3, 2}, 6);
    const array<float16> h = drawn<float16>({9}, 9);
    const array<int> i = drawn<int>({5, 3}, 10), j = drawn<int>({3}, 11);
    c.add_all(std::tie(a, b),
              {"np.tensordot(a, b, 0)", "np.vdot(a, b)", "np.kron(a[0], b)", "np.linalg.trace(a)",
               "np.cross(a, b.T, axis=1)", "np.cross(b[1], a[:, :, 1], 0, 1)", "np.vecdot(a, b.T * 2, axis=1)"},
              tensordot(a, b, 0), vdot(a, b), kron(a(0), b), linalg::trace(a), cross(a, transpose(b), 1),
              cross(b(1), a(all, all, 1), 0, 1, -1), vecdot(a, transpose(b) * 2, 1));
    c.add("np.dot(a, a)", eval(dot(h, h)), h);
    c.add("np.cross(a, b)", eval(cross(i, j)), i, j);
    c.add("np.dot(a, b * 0.5)", eval(dot(i, j * 0.5)), i, j);
    c.add("np.dot(a[:0].T, b[:0, None])", eval(dot(transpose(i(slice(0, 0))), j(slice(0, 0), newaxis))), i, j);
    c.add("np.kron(a, b)", eval(kron(i, scalar(2))), i, array<int>(full<int>({}, 2)));
    c.run();
}

TEST_CASE("products that a library computes are NumPy's") {
    if (!test::has_blas()) return;
    numpy_cases c;
    const array<double> a = drawn<double>({2, 3, 4}, 5), b = drawn<double>({4, 3, 2}, 6), m = drawn<double>({6, 7}, 7),
                        n = drawn<double>({7, 8}, 8);
    c.add_all(std::tie(a, b, m, n),
              {"np.tensordot(a, b, ([2, 1], [0, 1]))", "np.tensordot(a, b, 1)", "np.dot(c, d)",
               "np.inner(c, d.T[:, :7])", "np.dot(a, b.swapaxes(0, 1))", "np.dot(c, d)[1:] + 1"},
              tensordot(a, b, {2, 1}, {0, 1}), tensordot(a, b, 1), dot(m, n), inner(m, transpose(n)(all, slice(0, 7))),
              dot(a, swapaxes(b, 0, 1)), dot(m, n)(slice(1)) + 1);
    const array<float16> h = drawn<float16>({5, 6}, 9);
    c.add("np.dot(a, a.T)", eval(dot(h, transpose(h))), h);
    c.run();
}

TEST_CASE("operands of products that do not fit are refused where they are written") {
    const array<int> v{1, 2, 3}, m = counted({2, 3});
    CHECK(thrown<shape_error>([&] { (void)dot(m, m); }) ==
          "[dot] shapes (2, 3) and (2, 3): axis 1 of the first has to be as long as axis 0 of the second");
    CHECK(thrown<shape_error>([&] { (void)vdot(m, v); }) ==
          "[vdot] shapes (2, 3) and (3,): two vectors of one length are wanted");
    CHECK_THROWS_AS((void)inner(m, counted({2})), shape_error);
    CHECK_THROWS_AS((void)vecdot(m, counted({2})), shape_error);
    CHECK_THROWS_AS((void)vecdot(m, scalar(1)), shape_error);
    CHECK_THROWS_AS((void)vecdot(m, counted({4, 3})), shape_error);
    CHECK(thrown<shape_error>([&] { (void)tensordot(m, m, {0, 0}, {0, 1}); }) ==
          "[tensordot] shapes (2, 3) and (2, 3): an axis is given twice");
    CHECK_THROWS_AS((void)tensordot(m, m, {0}, {0, 1}), shape_error);
    CHECK_THROWS_AS((void)tensordot(m, m, {0}, {1}), shape_error);
    CHECK_THROWS_AS((void)tensordot(m, m, {5}, {1}), shape_error);
    CHECK(thrown<shape_error>([&] { (void)tensordot(m, v, 2); }) ==
          "[tensordot] shapes (2, 3) and (3,): not both have 2 axes to sum over");
    CHECK_THROWS_AS((void)tensordot(m, m, -1), shape_error);
    CHECK(thrown<shape_error>([&] { (void)cross(v, counted({2})); }) ==
          "[cross] shapes (3,) and (2,): vectors of three are wanted");
    CHECK_THROWS_AS((void)cross(v, counted({4, 2, 3})(all, all, slice(0, 1)), -1), shape_error);
}
