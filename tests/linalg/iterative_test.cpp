// Krylov solvers: solutions against their residuals, the reasons why they end, and what is recorded on a GPU.
#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <tuple>

#include <ingot/ingot.hpp>
#include <ingot/solvers.hpp>
#include <ingot/sparse.hpp>

using namespace ingot;

namespace {

constexpr slice inside(1, -1), before(none, -2), after(2, none);

template <class T>
constexpr bool is_complex = detail::kind_of(detail::dtype_of<T>) == detail::kind::complex;

template <class T>
array<T> drawn(index_t n) {
    using R = detail::norm_type<T>;
    if constexpr (is_complex<T>)
        return complex_of(random::normal<R>({n, n}), random::normal<R>({n, n}));
    else
        return random::normal<T>({n, n});
}

template <class T>
double error_of(const array<T>& a, const array<T>& x, const array<T>& b) {
    return std::sqrt(static_cast<double>(detail::squared_norm(array<T>(matmul(a, x) - b)).item()));
}

template <class T>
void solve_all() {
    using R = detail::norm_type<T>;
    random::seed(12);
    const index_t n = 40;
    const array<T> g = drawn<T>(n);
    array<T> adjoint = transpose(g);
    if constexpr (is_complex<T>) adjoint = conj(adjoint);
    const array<T> definite = matmul(g, adjoint) + T(R(n)) * eye<T>(n), any = g + T(R(12)) * eye<T>(n), b = g(0);
    const double rtol = sizeof(R) == 4 ? 1e-4 : 1e-9;
    const double norm = std::sqrt(static_cast<double>(detail::squared_norm(b).item()));
    const auto check = [&](const char* name, const auto& s, const array<T>& a) {
        CAPTURE(name);
        CHECK(s.reason == linalg::ending::converged);
        CHECK(s.iterations > 2);
        CHECK(s.residual <= rtol * norm);
        CHECK(error_of(a, s.x, b) <= 1.2 * rtol * norm + 1e-5 * (sizeof(R) == 4));
    };
    const linalg::iterative_options o{.rtol = rtol};
    const array<T> scale = T(1) / diagonal(definite), scale_of_any = T(1) / diagonal(any);
    const auto by_diagonal = [&](const array<T>& x) { return scale * x; };
    check("cg", linalg::cg(definite, b, o), definite);
    check("cg with a preconditioner", linalg::cg(definite, b, o, by_diagonal), definite);
    check("gmres", linalg::gmres(any, b, o), any);
    if constexpr (is_complex<T>) return;  // each solver has tens of kernels for a dtype
    check("bicgstab", linalg::bicgstab(any, b, o), any);
    check("bicgstab with a preconditioner",
          linalg::bicgstab(any, b, o, [&](const array<T>& x) { return scale_of_any * x; }), any);
    check("gmres begun anew", linalg::gmres(any, b, {.rtol = rtol, .restart = 5}), any);
    check("gmres with a preconditioner", linalg::gmres(any, b, o, [&](const array<T>& x) { return scale_of_any * x; }),
          any);
    check("lsqr", linalg::lsqr(any, b, o), any);
    // A first guess that is the solution.
    const auto first = linalg::cg(definite, b, {.rtol = rtol / 10});
    CHECK(linalg::cg(definite, b, o, linalg::no_preconditioner(), first.x).iterations == 0);
    const auto few = linalg::cg(definite, b, {.rtol = rtol, .maxiter = 2});
    CHECK(few.iterations == 2);
    CHECK(few.reason == linalg::ending::iterations_spent);
    CHECK(error_of(definite, few.x, b) == doctest::Approx(few.residual).epsilon(1e-3));
}

}  // namespace

TEST_CASE("Krylov solvers solve systems of every dtype") {
    solve_all<double>();
    solve_all<std::complex<float>>();
}

TEST_CASE("an operator is a function of arrays of any shape") {
    const index_t n = 24;
    const auto laplacian = [](const array<double>& u) {
        const lazy<double> p = pad(u, 1, 0.0);
        return 4 * u - p(before, inside) - p(after, inside) - p(inside, before) - p(inside, after);
    };
    const array<double> b = ones<double>({n, n});
    const auto s = linalg::cg(laplacian, b, {.rtol = 1e-8}), t = linalg::bicgstab(laplacian, b, {.rtol = 1e-8}),
               u = linalg::gmres(laplacian, b, {.rtol = 1e-8});
    CHECK(max(abs(laplacian(s.x) - b)).item() < 1e-6);
    CHECK(max(abs(s.x - t.x)).item() < 1e-4);
    CHECK(max(abs(s.x - u.x)).item() < 1e-4);
    CHECK(u.x.shape() == b.shape());
    // A pair of functions, of an operator and of its transpose: differences along an axis.
    const auto forward = [](const array<double>& x) { return diff(x); };
    const auto transposed = [](const array<double>& y) { return -diff(pad(y, 1, 0.0)); };
    const array<double> slopes{1, 2, 3};
    const auto d = linalg::lsqr(std::tuple(forward, transposed), slopes, {.rtol = 1e-10});
    CHECK(max(abs(diff(d.x) - slopes)).item() < 1e-8);
}

TEST_CASE("least squares of sparse matrices are those of dense ones") {
    random::seed(4);
    const auto check = [](const auto& drawn) {
        using T = typename std::remove_cvref_t<decltype(drawn)>::value_type;
        const array<T> dense = where(random::uniform<double>(drawn.shape()) < 0.4, drawn, T(0)), b = drawn(all, 0);
        const sparse::csr<T> a(dense), transposed(array<T>(transpose(dense)));
        const linalg::iterative_options o{.rtol = 1e-12};
        const array<T> wanted = linalg::lsqr(dense, b, o).x;
        CHECK(allclose(linalg::lsqr(a, b, o).x, wanted).item());
        CHECK(allclose(linalg::lsqr(transposed.transpose(), b, o).x, wanted).item());
        CHECK(allclose(linalg::lsqr(a.to_coo(), b, o).x, wanted).item());
    };
    const array<double> x = random::normal<double>({30, 20}), y = random::normal<double>({30, 20});
    check(x);
    check(array<std::complex<double>>(complex_of(x, y)));
}

TEST_CASE("solvers end where they cannot go on") {
    const array<double> zero = zeros<double>({3}), b{1, 2, 3};
    const auto at_once = linalg::cg(eye<double>(3), zero);
    CHECK(at_once.iterations == 0);
    CHECK(at_once.reason == linalg::ending::converged);
    CHECK(max(abs(at_once.x)).item() == 0);
    // A matrix of zeros leads to a division by 0.
    const array<double> nothing = zeros<double>({3, 3});
    CHECK(linalg::cg(nothing, b).reason == linalg::ending::broken_down);
    CHECK(linalg::bicgstab(nothing, b).reason == linalg::ending::broken_down);
    CHECK(linalg::gmres(nothing, b).reason == linalg::ending::broken_down);
    CHECK(linalg::bicgstab(eye<double>(3), b, {.rtol = 1e-12}).reason == linalg::ending::converged);
    CHECK(linalg::gmres(eye<double>(3), b, {.rtol = 1e-12}).iterations == 1);
    // The least squares of three equations in two unknowns.
    const array<double> a{{1, 0}, {1, 1}, {1, 2}}, y{1, 3, 6};
    const auto fit = linalg::lsqr(a, y, {.rtol = 1e-10});
    CHECK(allclose(fit.x, array<double>{0.8333333333, 2.5}).item());
    CHECK(fit.reason == linalg::ending::converged);
    CHECK(linalg::cg(array<int>{{2, 0}, {0, 4}}, array<int>{2, 8}).x(1).item() == doctest::Approx(2));
    CHECK_THROWS_AS(linalg::cg(eye<double>(4), b), shape_error);
    const auto shorter = [](const array<double>& x) { return x(slice(1)) * 2; };
    CHECK_THROWS_WITH_AS(linalg::cg(shorter, b), doctest::Contains("[cg] the operator makes shape ("), shape_error);
    CHECK_THROWS_WITH_AS(linalg::gmres(shorter, b), doctest::Contains("[gmres] the operator makes shape ("),
                         shape_error);
    CHECK_THROWS_WITH_AS(linalg::gmres(eye<double>(b.size()), b, {.restart = 0}),
                         "[gmres] restart 0; at least 1 is wanted", error);
}
