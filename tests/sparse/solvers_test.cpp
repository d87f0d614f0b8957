// Triangular systems: solutions against their residuals, and errors; comparisons at the edges.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>

#include <ingot/ingot.hpp>
#include <ingot/sparse.hpp>

using namespace ingot;

namespace {

/// A matrix with few elements beside a diagonal between 2 and 3.
template <class T>
array<T> with_diagonal(index_t n) {
    const array<double> places = random::uniform<double>({n, n});
    const array<T> x = where(places < 0.15, astype<T>(random::normal<double>({n, n})), T(0));
    return where(eye<bool>(n), astype<T>(random::uniform<double>({n, n}) + 2), x);
}

template <class T, class I>
void solve(index_t n, index_t width, bool lower, bool unit) {
    const array<T> whole = with_diagonal<T>(n);
    // The other side of the diagonal is not read.
    const sparse::csr<T, I> a = sparse::coo<T, I>(whole).to_csr();
    array<T> dense = lower ? array<T>(tril(whole)) : array<T>(triu(whole));
    if (unit) dense = where(eye<bool>(n), T(1), dense);
    const shape_like shape = width == 0 ? shape_like{n} : shape_like{n, width};
    const array<T> b = astype<T>(random::normal<double>(shape));
    const array<T> x = spsolve_triangular(a, b, {.lower = lower, .unit_diagonal = unit});
    CAPTURE(n);
    CAPTURE(width);
    CAPTURE(lower);
    CAPTURE(unit);
    CHECK(x.shape() == shape);
    using part = decltype(std::abs(T()));
    const double most = 1e4 * static_cast<double>(std::numeric_limits<part>::epsilon());
    CHECK(static_cast<double>(max(abs(matmul(dense, x) - b)).item()) <
          most * (1 + static_cast<double>(max(abs(x)).item())));
    CHECK(array_equal(spsolve_triangular(a, b, {.lower = lower, .unit_diagonal = unit}), x).item());
}

}  // namespace

TEST_CASE("a triangular system has the solution that its product gives back") {
    random::seed(3);
    for (const bool lower : {true, false}) {
        solve<double, std::int32_t>(70, 0, lower, false);
        solve<double, std::int32_t>(41, 3, lower, true);
        solve<float, std::int32_t>(40, 1, lower, false);
        solve<std::complex<float>, std::int32_t>(30, 0, lower, false);
        solve<std::complex<double>, std::int64_t>(30, 2, lower, lower);
        solve<double, std::int32_t>(1, 0, lower, false);
    }
}

TEST_CASE("a chain of unknowns, each of which needs the one before") {
    const index_t n = 500;
    const array<double> ones_below = ones(n - 1), on = ones(n);
    const auto a = sparse::diags<double>({on, -ones_below}, {0, -1});
    CHECK(array_equal(spsolve_triangular(a, on), arange<double>(n) + 1).item());
    CHECK(array_equal(spsolve_triangular(a.transpose(), on, {.lower = false}), n - arange<double>(n)).item());
}

TEST_CASE("systems without unknowns or entries, and such as have no solution") {
    const sparse::csr<double> none_at_all({0, 0}), zero({3, 3}), wide({2, 3});
    const array<double> b{1, 2, 3};
    CHECK(spsolve_triangular(none_at_all, zeros(0)).size() == 0);
    CHECK(array_equal(spsolve_triangular(zero, b, {.unit_diagonal = true}), b).item());
    CHECK_THROWS_WITH_AS(
        spsolve_triangular(zero, b),
        "[spsolve_triangular] the diagonal has a 0; one without 0 is wanted, for this matrix is singular",
        linalg_error);
    CHECK_THROWS_WITH_AS(
        spsolve_triangular(wide, b),
        "[spsolve_triangular] the matrix has shape (2, 3) and the right-hand side (3,); a square matrix "
        "is wanted",
        shape_error);
    CHECK_THROWS_AS(spsolve_triangular(zero, zeros(2)), shape_error);
}

TEST_CASE("comparisons that zeros make dense are refused, infinities and NaN compare") {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const sparse::csr<double> a(array<double>{{inf, nan}, {0, 1}}), b(array<double>{{inf, nan}, {2, 0}});
    CHECK_THROWS_AS((void)(a < 1), error);
    CHECK_THROWS_AS((void)(a == 0), error);
    CHECK_THROWS_AS((void)(a >= 0), error);
    CHECK_THROWS_AS((void)(a != b(slice(0, 1))), shape_error);
    CHECK(array_equal((a != b).to_dense(), array<float>{{0, 1}, {1, 1}}).item());
    CHECK(array_equal((a < b).to_dense(), array<float>{{0, 0}, {1, 0}}).item());
    CHECK(array_equal((a > b).to_dense(), array<float>{{0, 0}, {0, 1}}).item());
}
