// Batches of many small matrices, which a GPU's libraries process in one call: residuals by LAPACK's own criteria, and
// errors about one matrix among many.
#include <algorithm>
#include <complex>

#include "tests/arrays/expect.hpp"
#include "tests/linalg/has_blas.hpp"

using namespace ingot;

namespace {

template <class T>
using part = detail::part_of_type<T>;

template <class T>
array<T> drawn(const shape_like& shape, std::uint64_t seed) {
    random::generator g(seed);
    if constexpr (detail::complex_number<T>)
        return complex_of(g.normal<part<T>>(shape), g.normal<part<T>>(shape));
    else
        return g.normal<T>(shape);
}
template <class E>
auto adjoint(const E& e) {
    return conj(mT(e));
}

/// residual / (norm x n x epsilon), of the worst matrix; a norm is the largest sum of a column.
template <class T, class E, class F>
double ratio(const E& residual, const F& given, index_t n) {
    const array<T> left = residual, whole = given;
    const array<part<T>> of_left = max(sum(abs(left), -2), -1), of_whole = max(sum(abs(whole), -2), -1);
    const double epsilon = static_cast<double>(std::numeric_limits<part<T>>::epsilon());
    return static_cast<double>(max(of_left / of_whole).item()) / (static_cast<double>(n) * epsilon);
}
template <class T>
void check_orthonormal(const array<T>& q) {
    const index_t rows = q.shape()[q.ndim() - 2], columns = q.shape()[q.ndim() - 1];
    const array<T> one = eye<T>(columns);
    CHECK(ratio<T>(matmul(adjoint(q), q) - one, one, rows) < 30);
}

}  // namespace

TEST_CASE_TEMPLATE("batches of small matrices are factorised and solved", T, float, double, std::complex<float>,
                   std::complex<double>) {
    if (!test::has_lapack()) return;
    for (const index_t n : {1, 2, 9, 31, 40}) {
        CAPTURE(n);
        const index_t count = n > 20 ? 7 : 30;
        const array<T> a = drawn<T>({count, n, n}, 1), b = drawn<T>({count, n, 3}, 2),
                       definite = matmul(a, adjoint(a)) + eye<T>(n), hermitian = a + adjoint(a);
        const array<T> l = linalg::cholesky(definite), u = linalg::cholesky(definite, linalg::triangle::upper);
        CHECK(ratio<T>(matmul(l, adjoint(l)) - definite, definite, n) < 30);
        CHECK(ratio<T>(matmul(adjoint(u), u) - definite, definite, n) < 30);
        const array<T> x = linalg::solve(definite, b), inverse = linalg::inv(definite), one = eye<T>(n);
        CHECK(ratio<T>(matmul(definite, x) - b, matmul(abs(definite), abs(x)), n) < 30);
        CHECK(ratio<T>(matmul(definite, inverse) - one, matmul(abs(definite), abs(inverse)), n) < 30);
        const array<T> of_all = linalg::det(a), of_last = linalg::det(a(-1));
        const double bound = 100 * static_cast<double>(std::numeric_limits<part<T>>::epsilon() * part<T>(n));
        CHECK(static_cast<double>(abs(of_all(-1) - of_last).item()) <=
              bound * static_cast<double>(abs(of_last).item()));
        for (const linalg::triangle of : {linalg::triangle::lower, linalg::triangle::upper}) {
            const auto [w, v] = linalg::eigh(hermitian, of);
            CHECK(ratio<T>(matmul(hermitian, v) - v * astype<T>(w)(all, newaxis), hermitian, n) < 30);
            check_orthonormal<T>(v);
            CHECK(all(diff(w, 1, -1) >= 0).item());
            CHECK(allclose(w, linalg::eigvalsh(hermitian, of), bound, bound * 10).item());
        }
    }
}

TEST_CASE_TEMPLATE("batches of rectangles", T, float, double, std::complex<float>, std::complex<double>) {
    if (!test::has_lapack()) return;
    for (const std::array<index_t, 2>& size :
         {std::array<index_t, 2>{1, 1}, {6, 6}, {9, 4}, {4, 9}, {32, 5}, {1, 7}, {36, 35}}) {
        const index_t m = size[0], n = size[1], longer = std::max(m, n);
        CAPTURE(m);
        CAPTURE(n);
        array<T> a = drawn<T>({3, 4, m, n}, 3);
        a(1, 2) = zeros<T>({m, n});
        if (n > 1) a(0, 3, all, 1) = a(0, 3, all, 0);  // of fewer dimensions
        for (const linalg::qr_mode mode : {linalg::qr_mode::reduced, linalg::qr_mode::complete}) {
            const auto [q, r] = linalg::qr(a, mode);
            CHECK(q.shape() == shape_like{3, 4, m, mode == linalg::qr_mode::complete ? m : std::min(m, n)});
            CHECK(ratio<T>(matmul(q, r) - a, a + T(1), longer) < 30);
            check_orthonormal<T>(q);
            CHECK(all(tril(r, -1) == T(0)).item());
        }
        const array<part<T>> values = linalg::svdvals(a);
        for (const bool full : {false, true}) {
            const auto [u, s, vh] = linalg::svd(a, full);
            const index_t lesser = std::min(m, n);
            CHECK(u.shape() == shape_like{3, 4, m, full ? m : lesser});
            CHECK(vh.shape() == shape_like{3, 4, full ? n : lesser, n});
            const array<T> left = u(ellipsis, slice(0, lesser)) * astype<T>(s)(ellipsis, newaxis, all);
            CHECK(ratio<T>(matmul(left, vh(ellipsis, slice(0, lesser), all)) - a, a + T(1), longer) < 30);
            check_orthonormal<T>(u);
            check_orthonormal<T>(array<T>(adjoint(vh)));
            CHECK(all(s >= 0).item());
            CHECK(all(diff(s, 1, -1) <= 0).item());
            CHECK(allclose(s, values, 1e-4, 1e-4).item());
        }
    }
}

TEST_CASE("one matrix of a batch that cannot be solved is named by its place") {
    if (!test::has_lapack()) return;
    array<double> a = zeros<double>({4, 5, 3, 3});
    a(all, all) = eye(3) * 2;
    const array<double> b = ones<double>({3, 2});
    CHECK(all(linalg::solve(a, b) == 0.5).item());
    a(2, 3, 1) = a(2, 3, 0);
    CHECK(thrown<linalg_error>([&] { linalg::solve(a, b); }) ==
          "[solve] matrix (2, 3) of shape (4, 5, 3, 3) is singular: pivot 1 is 0");
    CHECK(thrown<linalg_error>([&] { linalg::inv(a); }) ==
          "[inv] matrix (2, 3) of shape (4, 5, 3, 3) is singular: pivot 1 is 0");
    CHECK(linalg::det(a)(2, 3).item() == 0);
    CHECK(linalg::det(a)(2, 2).item() == 8);
    a(2, 3) = eye(3);
    a(1, 4, 2, 2) = -1;
    CHECK(thrown<linalg_error>([&] { linalg::cholesky(a); }) ==
          "[cholesky] matrix (1, 4) of shape (4, 5, 3, 3) is not positive definite: its minor of order 3 is not "
          "positive");
    a(3, 0, 0, 0) = std::numeric_limits<double>::quiet_NaN();
    const std::string why = " matrix (3, 0) of shape (4, 5, 3, 3) has elements that are infinite or NaN";
    CHECK(thrown<linalg_error>([&] { linalg::svd(a); }) == "[svd]" + why);
    CHECK(thrown<linalg_error>([&] { linalg::eigh(a); }) == "[eigh]" + why);
    const auto [q, r] = linalg::qr(a);  // as in NumPy: NaN for the NaN matrix, the right result for others
    CHECK(isnan(r(3, 0, 0, 0)).item());
    CHECK(abs(r(0, 0, 0, 0)).item() == 2);
    CHECK_NOTHROW(synchronize());
}

TEST_CASE("on a GPU the first matrix that cannot be solved is named, whatever is wrong with it") {
    if (!current_device().is_cuda() || !test::has_lapack()) return;
    array<double> a = zeros<double>({40, 3, 3});
    a(all) = eye(3) * 2;
    const array<double> b = ones<double>({40, 3, 1});
    a(31, 2, 0) = std::numeric_limits<double>::infinity();
    const std::string is_not_finite = " matrix (31,) of shape (40, 3, 3) has elements that are infinite or NaN";
    CHECK(thrown<linalg_error>([&] { linalg::solve(a, b); }) == "[solve]" + is_not_finite);
    CHECK(thrown<linalg_error>([&] { linalg::inv(a); }) == "[inv]" + is_not_finite);
    CHECK(thrown<linalg_error>([&] { linalg::cholesky(a); }) == "[cholesky]" + is_not_finite);
    CHECK_NOTHROW(linalg::cholesky(a, linalg::triangle::upper));
    CHECK(thrown<linalg_error>([&] { linalg::eigh(a); }) == "[eigh]" + is_not_finite);
    a(4, 1) = a(4, 0);  // seen with the other, which is found before it
    CHECK(thrown<linalg_error>([&] { linalg::solve(a, b); }) ==
          "[solve] matrix (4,) of shape (40, 3, 3) is singular: pivot 1 is 0");
    CHECK(thrown<linalg_error>([&] { linalg::cholesky(a); }) ==
          "[cholesky] matrix (4,) of shape (40, 3, 3) is not positive definite: its minor of order 2 is not positive");
    a(4) = a(0), a(31) = a(0);
    const array<double> x = linalg::solve(a, b), several = linalg::solve(a, ones<double>({40, 3, 2}));
    CHECK(all(x == 0.5).item());
    CHECK(all(several == 0.5).item());
    CHECK(x.shape() == shape_like{40, 3, 1});
    CHECK(linalg::solve(a, ones<double>({3})).shape() == shape_like{40, 3});
}

TEST_CASE_TEMPLATE("small matrices have the factors, inverses and determinants of the same ones in large ones", T,
                   float, double, std::complex<float>, std::complex<double>) {
    if (!test::has_lapack()) return;
    for (index_t n = 1; n <= 9; ++n) {
        CAPTURE(n);
        constexpr index_t count = 20, large = 12;
        const array<T> a = drawn<T>({count, n, n}, static_cast<std::uint64_t>(n)), b = drawn<T>({count, n, 2}, 7);
        array<T> whole = broadcast_to(eye<T>(large), {count, large, large}) + T(0), right = zeros<T>({count, large, 2});
        const slice part(0, n);
        whole(all, part, part) = a, right(all, part, all) = b;
        const double allowed =
            1e4 * static_cast<double>(std::numeric_limits<ingot::detail::part_of_type<T>>::epsilon());
        const auto agree = [&](const array<T>& small, const array<T>& wanted) {
            CHECK(max(abs(small - wanted)).item() <= allowed * (1 + max(abs(wanted)).item()));
        };
        agree(linalg::inv(a), linalg::inv(whole)(all, part, part));
        agree(linalg::solve(a, b), linalg::solve(whole, right)(all, part, all));
        agree(linalg::det(a), linalg::det(whole));
    }
}

TEST_CASE("small matrices: rows are exchanged, a zero pivot is named, NaN stays, and there may be none") {
    if (!test::has_lapack()) return;
    CHECK(array_equal(linalg::inv(array<double>{{0, 2}, {4, 0}}), array<double>{{0, 0.25}, {0.5, 0}}).item());
    CHECK(linalg::det(array<double>{{0, 2, 0}, {0, 0, 3}, {4, 0, 0}}).item() == 24);
    CHECK(linalg::det(array<double>{{1, 2}, {2, 4}}).item() == 0);
    CHECK_THROWS_WITH_AS(linalg::inv(array<double>{{1, 2}, {2, 4}}), doctest::Contains("pivot 1 is 0"), linalg_error);
    CHECK_THROWS_WITH_AS(linalg::solve(zeros<double>({3, 3}), ones<double>({3})), doctest::Contains("pivot 0 is 0"),
                         linalg_error);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (current_device().is_host())  // a GPU's solver finds that a pivot is NaN, and throws
        CHECK(isnan(linalg::inv(array<double>{{nan, 2}, {3, 4}})(0, 0)).item());
    CHECK(linalg::inv(zeros<double>({2, 0, 0})).shape() == shape_like{2, 0, 0});
    CHECK(linalg::det(zeros<double>({2, 0, 0})).to_host() == std::vector<double>{1, 1});
}
