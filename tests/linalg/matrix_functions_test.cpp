// Triangular and factorised systems, exponentials, tensor equations, chains of products and Toeplitz matrices: against
// NumPy 2 where it has them, else against their inverses and closed forms.
#include <cmath>

#include "tests/arrays/expect.hpp"
#include "tests/joins/numpy_cases.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;
using testing::numpy_cases;

namespace {

template <class T>
array<T> some(const shape_like& shape, std::uint64_t seed) {
    using R = detail::part_of_type<T>;
    random::generator g(seed);
    if constexpr (detail::complex_number<T>)
        return complex_of(g.normal<R>(shape), g.normal<R>(shape));
    else
        return g.normal<T>(shape);
}
template <class T>
constexpr double bound = sizeof(detail::part_of_type<T>) == 4 ? 2e-4 : 1e-11;

template <class A, class B>
double off(const A& a, const B& b) {
    return static_cast<double>(max(abs(a - b)).item());
}
template <class T>
array<T> adjoint_of(const array<T>& a) {
    return array<T>(detail::adjoint(lazy<T>(a)));
}

}  // namespace

TEST_CASE_TEMPLATE("triangular systems, either triangle, transposed or not, with ones on the diagonal or not", T, float,
                   double, std::complex<float>, std::complex<double>) {
    if (!test::has_lapack()) return;
    const array<T> a = some<T>({3, 6, 6}, 1) + T(4) * eye<T>(6), b = some<T>({3, 6, 2}, 2), v = some<T>({6}, 3);
    for (const bool lower : {false, true})
        for (const int trans : {0, 1, 2})
            for (const bool ones_there : {false, true}) {
                CAPTURE(lower);
                CAPTURE(trans);
                CAPTURE(ones_there);
                array<T> t = lower ? array<T>(tril(a)) : array<T>(triu(a));
                if (ones_there) t = array<T>(t - t * eye<T>(6) + eye<T>(6));
                const array<T> read = trans == 0 ? t : trans == 1 ? array<T>(mT(t)) : adjoint_of(t);
                const linalg::triangular_options how{.lower = lower, .trans = trans, .unit_diagonal = ones_there};
                const array<T> x = linalg::solve_triangular(a, b, how), y = linalg::solve_triangular(a, v, how);
                CHECK(x.shape() == shape_like{3, 6, 2});
                CHECK(y.shape() == shape_like{3, 6});
                const double size =
                    static_cast<double>(max(abs(x)).item()) + static_cast<double>(max(abs(y)).item()) + 1;
                CHECK(off(matmul(read, x), b) < 20 * size * bound<T>);
                CHECK(off(matvec(read, y), broadcast_to(v, {3, 6})) < 20 * size * bound<T>);
            }
    const array<T> inverse = linalg::tri_inv(a), upper = linalg::tri_inv(a, linalg::triangle::upper);
    CHECK(off(matmul(inverse, tril(a)), eye<T>(6)) < bound<T>);
    CHECK(off(matmul(upper, triu(a)), eye<T>(6)) < bound<T>);
    CHECK(off(inverse, tril(inverse)) == 0);
}

TEST_CASE_TEMPLATE("LU and Cholesky factors solve, of matrices with and without a batch", T, float, double,
                   std::complex<float>, std::complex<double>) {
    if (!test::has_lapack()) return;
    for (const index_t n : {1, 5, 40}) {
        CAPTURE(n);
        const array<T> a = some<T>({4, n, n}, 4), b = some<T>({4, n, 3}, 5), v = some<T>({n}, 6);
        const auto factors = linalg::lu_factor(a);
        for (const int trans : {0, 1, 2}) {
            const array<T> read = trans == 0 ? a : trans == 1 ? array<T>(mT(a)) : adjoint_of(a);
            const array<T> x = linalg::lu_solve(factors, b, trans), y = linalg::lu_solve(factors, v, trans);
            const double size = static_cast<double>(max(abs(x)).item()) + static_cast<double>(max(abs(y)).item()) + 1;
            CHECK(off(matmul(read, x), b) < 40 * size * bound<T>);
            CHECK(off(matvec(read, y), broadcast_to(v, {4, n})) < 40 * size * bound<T>);
        }
        const array<T> definite = matmul(a, adjoint_of(a)) + eye<T>(n);
        const array<T> lower = linalg::cholesky(definite), upper = linalg::cholesky(definite, linalg::triangle::upper);
        const array<T> wanted = linalg::solve(definite, b);
        const double size = static_cast<double>(max(abs(wanted)).item()) * 200;
        CHECK(off(linalg::cho_solve(lower, b), wanted) < size * bound<T>);
        CHECK(off(linalg::cho_solve(upper, b, linalg::triangle::upper), wanted) < size * bound<T>);
    }
    for (const shape_like& shape : {shape_like{2, 5, 3}, shape_like{2, 3, 5}, shape_like{4, 4}}) {
        const array<T> a = some<T>(shape, 7);
        const auto [p, l, u] = linalg::lu(a);
        CHECK(off(matmul(astype<T>(p), matmul(l, u)), a) < bound<T>);
        CHECK(off(l, tril(l)) == 0);
        CHECK(off(u, triu(u)) == 0);
        CHECK(static_cast<double>(max(abs(l)).item()) <= 1.5);
        CHECK(all(sum(p, -1) == 1).item());
    }
}

TEST_CASE_TEMPLATE("exponentials of matrices are those of their closed forms", T, float, double, std::complex<float>,
                   std::complex<double>) {
    if (!test::has_lapack()) return;
    using R = detail::part_of_type<T>;
    CHECK(off(linalg::expm(zeros<T>({3, 3})), eye<T>(3)) == 0);
    // A rotation, a shear, a diagonal and a large one, which is halved often; in one batch.
    const array<T> given = reshape(array<T>{0, -1, 1, 0, 0, 5, 0, 0, 1, 0, 0, -2, 0, 30, -30, 0}, {4, 2, 2});
    const auto c = [](double x) { return T(static_cast<R>(x)); };
    const array<T> wanted =
        reshape(array<T>{c(std::cos(1)), c(-std::sin(1)), c(std::sin(1)), c(std::cos(1)), 1, 5, 0, 1, c(std::exp(1)), 0,
                         0, c(std::exp(-2)), c(std::cos(30)), c(std::sin(30)), c(-std::sin(30)), c(std::cos(30))},
                {4, 2, 2});
    CHECK(off(linalg::expm(given), wanted) < bound<T>);
    const array<T> a = some<T>({3, 7, 7}, 8) * T(2);
    CHECK(off(matmul(linalg::expm(a), linalg::expm(-a)), eye<T>(7)) < (sizeof(R) == 4 ? 3.0 : 1e-7));
    CHECK(linalg::expm(zeros<T>({0, 0})).size() == 0);
    // scipy.linalg.expm([[1, 2], [3, 4]])
    if constexpr (std::is_same_v<T, double>)
        CHECK(allclose(linalg::expm(array<int>{{1, 2}, {3, 4}}),
                       array<double>{{51.968956198705, 74.73656456700328}, {112.10484685050491, 164.07380304920994}},
                       1e-13)
                  .item());
}

TEST_CASE("tensor equations, chains and products with vectors are NumPy's") {
    if (!test::has_lapack()) return;
    numpy_cases c;
    c.forgive(200);
    const array<double> a = some<double>({2, 3, 6}, 9), b = some<double>({2, 3}, 10),
                        wide = some<double>({4, 6, 8, 3}, 11);
    c.add("np.linalg.tensorsolve(a, b)", linalg::tensorsolve(a, b), a, b);
    c.add("np.linalg.tensorsolve(a, b, axes=(0,))", linalg::tensorsolve(moveaxis(a, 2, 0), b, {0}),
          array<double>(moveaxis(a, 2, 0)), b);
    c.add("np.linalg.tensorinv(a)", linalg::tensorinv(wide), wide);
    c.add("np.linalg.tensorinv(a, ind=1)", linalg::tensorinv(array<double>(moveaxis(a, 2, 0)), 1),
          array<double>(moveaxis(a, 2, 0)));
    const array<double> m = some<double>({10, 100}, 12), n = some<double>({100, 5}, 13), o = some<double>({5, 50}, 14),
                        v = some<double>({50}, 15);
    c.add("np.linalg.multi_dot([a, b, c, d])", eval(linalg::multi_dot({m, n, o, array<double>(reshape(v, {50, 1}))})),
          m, n, o, array<double>(reshape(v, {50, 1})));
    c.add("np.linalg.multi_dot([a, b, c])", eval(linalg::multi_dot(std::tuple{n, o, v})), n, o, v);
    c.add("np.linalg.multi_dot([a, b])", eval(linalg::multi_dot({v, v})), v, v);
    using z = std::complex<double>;
    const array<z> x = some<z>({4, 1, 3}, 16), y = some<z>({2, 3, 5}, 17);
    c.add("np.vecmat(a, b)", eval(vecmat(x, y)), x, y);
    c.add("np.matvec(b.swapaxes(1, 2), a)", eval(matvec(swapaxes(y, 1, 2), x)), x, y);
    const array<int> i{{1, 2, 3}, {4, 5, 6}}, j{1, -1}, k{1, 0, 2};
    c.add("np.vecmat(b, a)", eval(vecmat(j, i)), i, j);
    c.add("np.matvec(a, b)", eval(matvec(i, k)), i, k);
    c.run();
    // The cheapest order: the small ones first, whichever is written first.
    const index_t extents[] = {10, 100, 5, 50};
    const std::vector<std::size_t> cuts = detail::cheapest_cuts(extents);
    CHECK(cuts[2] == 1);
    const index_t back[] = {50, 5, 100, 10};
    CHECK(detail::cheapest_cuts(back)[2] == 0);
}

TEST_CASE("Toeplitz matrices are SciPy's") {
    using z = std::complex<double>;
    CHECK(array_equal(linalg::toeplitz(array<int>{1, 2, 3}, array<int>{1, 4, 5, 6}),
                      array<int>{{1, 4, 5, 6}, {2, 1, 4, 5}, {3, 2, 1, 4}})
              .item());
    const array<z> own = linalg::toeplitz(array<z>{z(1, 0), z(2, 3), z(4, -1)});
    CHECK(array_equal(
              own, array<z>{{z(1, 0), z(2, -3), z(4, 1)}, {z(2, 3), z(1, 0), z(2, -3)}, {z(4, -1), z(2, 3), z(1, 0)}})
              .item());
    CHECK(
        array_equal(linalg::toeplitz(array<int>{1, 2}, array<double>{9, 0.5}), array<double>{{1, 0.5}, {2, 1}}).item());
    CHECK(linalg::toeplitz(array<int>{5}).shape() == shape_like{1, 1});
    CHECK(linalg::toeplitz(zeros({0}), array<double>{1, 2}).shape() == shape_like{0, 2});
    CHECK(array_equal(linalg::toeplitz(array<int>{{1, 2}, {3, 4}}), linalg::toeplitz(array<int>{1, 2, 3, 4})).item());
}

TEST_CASE("what systems by factors do not take is said") {
    if (!test::has_lapack()) return;
    const array<double> square = eye(3), v = ones(3);
    array<double> hole = eye(3);
    hole(1, 1) = 0;
    CHECK(thrown<linalg_error>([&] { (void)linalg::solve_triangular(hole, v); }) ==
          "[solve_triangular] the matrix of shape (3, 3) is singular: a 0 stands on its diagonal");
    CHECK(allclose(linalg::solve_triangular(hole, v, {.unit_diagonal = true}), v).item());
    CHECK_THROWS_AS((void)linalg::tri_inv(hole), linalg_error);
    CHECK_THROWS_AS((void)linalg::lu_solve(linalg::lu_factor(hole), v), linalg_error);
    CHECK(thrown<error>([&] { (void)linalg::solve_triangular(square, v, {.trans = 3}); }) ==
          "[solve_triangular] trans is 3: 0, 1 or 2 is wanted");
    CHECK_THROWS_AS((void)linalg::solve_triangular(ones({2, 3}), ones(2)), shape_error);
    CHECK_THROWS_AS((void)linalg::solve_triangular(square, ones(2)), shape_error);
    CHECK_THROWS_AS((void)linalg::lu_solve(linalg::lu_factor(square), ones(2)), shape_error);
    CHECK_THROWS_AS((void)linalg::lu_factor(v), shape_error);
    CHECK_THROWS_AS((void)linalg::expm(ones({2, 3})), shape_error);
    CHECK_THROWS_AS((void)linalg::tensorsolve(ones({2, 3, 4}), ones({2, 3})), shape_error);
    CHECK_THROWS_AS((void)linalg::tensorinv(ones({2, 3, 6}), 0), shape_error);
    CHECK_THROWS_AS((void)linalg::tensorinv(ones({2, 3, 6}), 1), shape_error);
    CHECK(thrown<shape_error>([&] { (void)linalg::multi_dot({square}); }) ==
          "[multi_dot] 1 arrays: two or more are wanted");
    CHECK(thrown<shape_error>([&] { (void)linalg::multi_dot({square, v, square}); }) ==
          "[multi_dot] array 1 of shape (3,): a matrix is wanted");
    CHECK_THROWS_AS((void)linalg::multi_dot({square, ones({2, 2})}), shape_error);
    CHECK_THROWS_AS((void)matvec(square, ones(2)), shape_error);
    CHECK_THROWS_AS((void)vecmat(v, v), shape_error);
    CHECK(linalg::solve_triangular(square, zeros({3, 0})).shape() == shape_like{3, 0});
    CHECK(linalg::solve_triangular(zeros({0, 0}), zeros({0})).size() == 0);
    CHECK(std::get<0>(linalg::lu_factor(zeros({2, 0}))).shape() == shape_like{2, 0});
}
