// Factorisations, solvers and eigenvalues under numpy.linalg's names: by LAPACK on the host, by cuSOLVER on a GPU. They
// are functions, not expressions: they evaluate their operands, wait, and return arrays. Matrices are the last two axes
// of an operand; the axes before are a batch. Operands are float32, float64, complex64 or complex128; bool and integers
// become float64. All throw library_error where the library is missing. For infinities and NaN `cholesky solve inv`
// throw linalg_error on a GPU; on the host LAPACK propagates them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/building.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/linalg/products.hpp>

namespace ingot {
namespace detail {

enum class solver : std::uint8_t {
    cholesky,  // the lower triangle; option 1: the upper
    qr,        // option 1: complete
    svd,       // option 1: full
    svdvals,
    eigh,  // option 1: the upper triangle
    eigvalsh,
    eig,
    eigvals,
    solve,
    inv,  // option 1: infinities for a singular matrix
    det,
    slogdet,
    lstsq,
    lu,          // both factors in one array, and the row with which each was exchanged, from 0
    triangular,  // options added: 1 the upper triangle, 2 ones on its diagonal
};

/// Throws shape_error for operands that `lstsq` does not take.
INGOT_API void check_least_squares(const shape_like& a, const shape_like& b);

/// An operand with its layout.
struct matrix_operand {
    const buffer_ref& memory;
    const layout& where;
};
/// Runs a solver in T, the type of the operands; results are allocated. Throws shape_error, linalg_error,
/// library_error.
INGOT_API void run_solver(const char* operation, solver, int option, double number, dtype type,
                          std::span<const matrix_operand> operands, std::span<const destination> results);

template <class E>
inline constexpr dtype solved_in = kind_of(node_of<E>::type) < kind::floating ? dtype::f8 : node_of<E>::type;
/// An operand of a solver.
template <class E>
concept solvable_expression = array_expression<E> && !is_half(node_of<E>::type);

template <class T>
using part_of_type = type_of<kind_of(dtype_of<T>) == kind::complex ? part_of(dtype_of<T>) : dtype_of<T>>;
template <class T>
using complex_of_type = std::conditional_t<sizeof(part_of_type<T>) == 4, std::complex<float>, std::complex<double>>;

/// Runs a solver; it has one result or a tuple of several.
template <class T, class... R, class... E>
auto solved(const char* operation, solver which, int option, double number, const E&... operands) {
    const std::tuple<leaf<std::enable_if_t<(sizeof(E) > 0), T>>...> values(values_as<T>(operands)...);
    std::tuple<leaf<R>...> made;
    std::apply(
        [&](const auto&... value) {
            device_id device = no_device;
            for (const device_id d : {value.on_device()...}) {
                if (device != no_device && d != no_device && d != device) throw_two_devices(operation, device, d);
                if (device == no_device) device = d;
            }
            const matrix_operand given[] = {{value.memory(), value.where()}...};
            std::apply(
                [&](auto&... result) {
                    const destination to[] = {{dtype_of<R>, result.memory(), result.where()}...};
                    run_solver(operation, which, option, number, dtype_of<T>, given, to);
                },
                made);
        },
        values);
    return std::apply(
        [](auto&... result) {
            if constexpr (sizeof...(R) == 1)
                return (array<R>(adopted{}, std::move(result)), ...);
            else
                return std::tuple(array<R>(adopted{}, std::move(result))...);
        },
        made);
}

/// The conjugate transposed matrices.
template <class T>
lazy<T> adjoint(const lazy<T>& e) {
    if constexpr (complex_number<T>)
        return conj(mT(e));
    else
        return mT(e);
}

}  // namespace detail

namespace linalg {

/// The triangle of a symmetric matrix that is read; the other is ignored.
enum class triangle : std::uint8_t { lower, upper };
/// The number of columns of a factorisation: the lesser of the matrix' rows and columns, or its rows.
enum class qr_mode : std::uint8_t { reduced, complete };

/// The lower triangle L of a positive definite matrix L L^H, or the upper one U of U^H U. Only that triangle is read.
/// The result has e's shape. Throws linalg_error where a matrix is not positive definite, shape_error where it is not
/// square.
///
///     std::cout << linalg::cholesky(array<double>{{4, 2}, {2, 5}}) << '\n';
///     try {
///         linalg::cholesky(array<double>{{1, 2}, {2, 1}});
///     } catch (const linalg_error& e) {
///         std::cout << e.what();
///     }
///     // prints: [[2. 0.]
///     //          [1. 2.]]
///     //         [cholesky] the matrix of shape (2, 2) is not positive definite: its minor of order 2 is not positive
template <detail::solvable_expression E>
auto cholesky(const E& e, triangle of = triangle::lower, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    const array<T> made = detail::solved<T, T>("cholesky", detail::solver::cholesky, of == triangle::upper, 0, e);
    if (made.device().is_host()) return made;
    return of == triangle::upper ? array<T>(triu(made)) : array<T>(tril(made));
}

/// The QR factors of a matrix: a tuple of one with orthonormal columns and an upper triangle, of shapes (m, k) and (k,
/// n) with k the lesser of m and n, or complete (m, m) and (m, n). Throws shape_error for fewer than two axes.
///
///     auto [q, r] = linalg::qr(array<double>{{3, 1}, {4, 2}});
///     std::cout << allclose(matmul(q, r), array<double>{{3, 1}, {4, 2}}) << ' ' << abs(r(0, 0)) << ' ' << r(1, 0);
///     // prints: True 5.0 0.0
template <detail::solvable_expression E>
auto qr(const E& e, qr_mode mode = qr_mode::reduced, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    auto made = detail::solved<T, T, T>("qr", detail::solver::qr, mode == qr_mode::complete, 0, e);
    if (!std::get<1>(made).device().is_host()) std::get<1>(made) = triu(std::get<1>(made));
    return made;
}

/// The singular value decomposition: a tuple of u, s and vh, with unitary u and vh and u diag(s) vh the matrix; s
/// descends. u is (m, m) and vh (n, n); without `full_matrices`, (m, k) and (k, n) with k the lesser of m and n. Throws
/// linalg_error where a matrix has infinities or NaN or the iteration does not converge.
///
///     auto [u, s, vh] = linalg::svd(array<double>{{3, 0}, {0, -4}, {0, 0}}, false);
///     std::cout << s << ' ' << u.shape() << ' ' << vh.shape();
///     // prints: [4. 3.] (3, 2) (2, 2)
template <detail::solvable_expression E>
auto svd(const E& e, bool full_matrices = true, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, T, detail::part_of_type<T>, T>("svd", detail::solver::svd, full_matrices, 0, e);
}

/// The singular values alone, the greatest first. Throws what `svd` does.
///
///     std::cout << linalg::svdvals(array<double>{{3, 0}, {0, -4}});
///     // prints: [4. 3.]
template <detail::solvable_expression E>
auto svdvals(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, detail::part_of_type<T>>("svdvals", detail::solver::svdvals, 0, 0, e);
}

/// A tuple of the eigenvalues of a symmetric or Hermitian matrix, in ascending order, and its eigenvectors as columns.
/// Only one triangle is read. Throws linalg_error where a matrix has infinities or NaN or the iteration does not
/// converge, shape_error where it is not square.
///
///     auto [w, v] = linalg::eigh(array<double>{{2, 1}, {1, 2}});
///     std::cout << round(w, 6) << ' ' << allclose(abs(v), sqrt(scalar(0.5)));
///     // prints: [1. 3.] True
template <detail::solvable_expression E>
auto eigh(const E& e, triangle of = triangle::lower, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, detail::part_of_type<T>, T>("eigh", detail::solver::eigh, of == triangle::upper, 0, e);
}

/// The eigenvalues alone, the least first. Throws what `eigh` does.
///
///     std::cout << round(linalg::eigvalsh(array<double>{{2, 1}, {1, 2}}), 6);
///     // prints: [1. 3.]
template <detail::solvable_expression E>
auto eigvalsh(const E& e, triangle of = triangle::lower, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, detail::part_of_type<T>>("eigvalsh", detail::solver::eigvalsh, of == triangle::upper, 0,
                                                      e);
}

/// A tuple of the eigenvalues of any square matrix, in no order, and its eigenvectors, of length 1, as columns. They
/// are always complex, whereas NumPy's type depends on the values. Throws linalg_error where a matrix has infinities or
/// NaN or the iteration does not converge, shape_error where it is not square.
///
///     auto [w, v] = linalg::eig(array<double>{{0, -1}, {1, 0}});
///     std::cout << round(abs(w), 6) << ' ' << round(abs(imag(w)), 6) << ' ' << v.shape();
///     // prints: [1. 1.] [1. 1.] (2, 2)
template <detail::solvable_expression E>
auto eig(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    using C = detail::complex_of_type<T>;
    return detail::solved<T, C, C>("eig", detail::solver::eig, 0, 0, e);
}

/// The eigenvalues alone: complex, in no order. Throws what `eig` does.
///
///     std::cout << round(real(linalg::eigvals(array<double>{{2, 1}, {0, 2}})), 6);
///     // prints: [2. 2.]
template <detail::solvable_expression E>
auto eigvals(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, detail::complex_of_type<T>>("eigvals", detail::solver::eigvals, 0, 0, e);
}

/// The x of a x = b. b is a vector where it has one axis, else a stack of matrices; the batches broadcast. Throws
/// linalg_error where a matrix is singular, shape_error where it is not square or b does not fit.
///
///     std::cout << linalg::solve(array<double>{{2, 0}, {1, 4}}, array<double>{2, 9});
///     // prints: [1. 2.]
template <detail::solvable_expression A, detail::solvable_expression B>
auto solve(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::promote(detail::solved_in<A>, detail::solved_in<B>)>;
    return detail::solved<T, T>("solve", detail::solver::solve, 0, 0, a, b);
}

/// The inverse of each matrix. Throws linalg_error where one is singular, shape_error where it is not square.
///
///     std::cout << linalg::inv(array<double>{{2, 0}, {0, 4}});
///     // prints: [[0.5  0.  ]
///     //          [0.   0.25]]
template <detail::solvable_expression E>
auto inv(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, T>("inv", detail::solver::inv, 0, 0, e);
}

/// The determinant of each matrix. Throws shape_error where it is not square.
///
///     std::cout << linalg::det(array<double>{{2, 1}, {0, 4}});
///     // prints: 8.0
template <detail::solvable_expression E>
auto det(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, T>("det", detail::solver::det, 0, 0, e);
}

/// A tuple of the sign and the logarithm of the absolute value of each determinant, which do not overflow; a singular
/// matrix gives 0 and -inf. Throws shape_error where a matrix is not square.
///
///     auto [sign, log_of_size] = linalg::slogdet(array<double>{{0, 1}, {1, 0}});
///     std::cout << sign << ' ' << log_of_size;
///     // prints: -1.0 0.0
template <detail::solvable_expression E>
auto slogdet(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, T, detail::part_of_type<T>>("slogdet", detail::solver::slogdet, 0, 0, e);
}

}  // namespace linalg
namespace detail {

template <class T, class R>
std::tuple<array<T>, array<R>, array<std::int64_t>, array<R>> least_squares_by_svd(const array<T>& a, const array<T>& b,
                                                                                   std::optional<double> rcond) {
    std::optional<with_device> there;  // puts new arrays beside the operands
    if (a.device() != current_device()) there.emplace(a.device());
    const index_t m = a.shape()[0], n = a.shape()[1], longer = m > n ? m : n;
    const bool vector = b.ndim() == 1;
    const array<T> sides = vector ? lazy<T>(expand_dims(b, -1)) : lazy<T>(b);
    const auto [u, s, vh] = linalg::svd(a, false);
    const R least = static_cast<R>(
        rcond.value_or(static_cast<double>(longer) * static_cast<double>(std::numeric_limits<R>::epsilon())));
    array<T> x = zeros<T>({n, sides.shape()[1]});
    array<std::int64_t> rank = zeros<std::int64_t>({});
    if (s.size() != 0) {
        const array<deferred<bool, T>> counts = s > least * max(s, 0, keepdims);
        rank = sum(counts);
        x = matmul(adjoint(lazy<T>(vh)), expand_dims(where(counts, 1 / s, 0), -1) * matmul(adjoint(lazy<T>(u)), sides));
    }
    array<R> sums = zeros<R>(0);
    if (m > n && rank.item() == n) sums = sum(square(abs(sides - matmul(a, x))), 0);
    if (vector) x = array<T>(x(all, 0));
    return {std::move(x), std::move(sums), std::move(rank), s};
}

}  // namespace detail
namespace linalg {

/// The x with the least sum of squares of a x - b, of all these the shortest: a tuple of x, these sums, the rank of a
/// and its singular values. `a` is one matrix, b a vector or the columns of a matrix. Singular values below rcond times
/// the greatest count as 0; the default is a's longer side times the type's epsilon. There are no sums where a does not
/// have more rows than columns, or full rank. Throws shape_error where b does not fit, linalg_error where elements are
/// infinite or NaN.
///
///     array<double> a{{0, 1}, {1, 1}, {2, 1}}, b{1, 3, 5};
///     auto [x, sums, rank, s] = linalg::lstsq(a, b);
///     std::cout << round(x, 6) << ' ' << rank << ' ' << s.shape() << ' ' << sums.shape();
///     // prints: [2. 1.] 2 (2,) (1,)
template <detail::solvable_expression A, detail::solvable_expression B>
auto lstsq(const A& a, const B& b, std::optional<double> rcond = {},
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::promote(detail::solved_in<A>, detail::solved_in<B>)>;
    using R = detail::part_of_type<T>;
    detail::check_least_squares(detail::shape_of_expression(a), detail::shape_of_expression(b));
    const array<T> matrix = astype<T>(a), sides = astype<T>(b);
    // cuSOLVER's own least squares does not return a rank.
    if (matrix.device().is_cuda()) return detail::least_squares_by_svd<T, R>(matrix, sides, rcond);
    return detail::solved<T, T, R, std::int64_t, R>("lstsq", detail::solver::lstsq, rcond.has_value(),
                                                    rcond.value_or(0), matrix, sides);
}

/// The Moore-Penrose inverse, (n, m) for a matrix (m, n). Singular values up to rcond times the greatest count as 0;
/// the default is the matrix' longer side times the type's epsilon. Throws what `svd` does.
///
///     std::cout << round(linalg::pinv(array<double>{{1, 0}, {0, 2}, {0, 0}}), 6);
///     // prints: [[1.  0.  0. ]
///     //          [0.  0.5 0. ]]
template <detail::solvable_expression E>
auto pinv(const E& e, std::optional<double> rcond = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    using R = detail::part_of_type<T>;
    const auto [u, s, vh] = svd(e, false);
    const shape_like shape = detail::shape_of_expression(e);
    if (s.shape()[s.ndim() - 1] == 0) return array<T>(zeros<T>(detail::shape_of_expression(mT(e))));
    const int rank = shape.count();
    const index_t longer = shape[rank - 1] > shape[rank - 2] ? shape[rank - 1] : shape[rank - 2];
    const R least = static_cast<R>(
        rcond.value_or(static_cast<double>(longer) * static_cast<double>(std::numeric_limits<R>::epsilon())));
    const auto inverted = where(s > least * max(s, -1, keepdims), 1 / s, 0);
    return array<T>(matmul(detail::adjoint(lazy<T>(vh)), expand_dims(inverted, -1) * detail::adjoint(lazy<T>(u))));
}

/// The number of singular values of each matrix above `tolerance`, by default the greatest times the longer side and
/// the type's epsilon: int64. Throws what `svdvals` does.
///
///     std::cout << linalg::matrix_rank(array<double>{{1, 2}, {2, 4}}) << linalg::matrix_rank(eye(3));
///     // prints: 13
template <detail::solvable_expression E>
auto matrix_rank(const E& e, std::optional<double> tolerance = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using R = detail::part_of_type<detail::type_of<detail::solved_in<E>>>;
    const array<R> s = svdvals(e);
    const shape_like shape = detail::shape_of_expression(e);
    const int rank = shape.count();
    const index_t longer = shape[rank - 1] > shape[rank - 2] ? shape[rank - 1] : shape[rank - 2];
    if (tolerance || s.shape()[s.ndim() - 1] == 0)
        return array<std::int64_t>(sum(s > static_cast<R>(tolerance.value_or(0)), -1));
    const R relative = static_cast<R>(longer) * std::numeric_limits<R>::epsilon();
    return array<std::int64_t>(sum(s > relative * max(s, -1, keepdims), -1));
}

/// The order of a norm, as in numpy.linalg.norm: `none`, any number, "fro" or "nuc".
class norm_order {
public:
    norm_order(none_t) : kind_(unsaid) {}
    template <class N>
        requires std::is_arithmetic_v<N>
    norm_order(N order) : kind_(number), value_(static_cast<double>(order)) {}
    /// Throws shape_error for another text.
    norm_order(const char* name) : kind_(named(name)) {}

    // Inner
    enum kinds : std::uint8_t { unsaid, number, fro, nuc };
    kinds kind() const noexcept { return kind_; }
    double value() const noexcept { return value_; }

private:
    INGOT_API static kinds named(std::string_view name);
    kinds kind_;
    double value_ = 0;
};

}  // namespace linalg

namespace detail {

[[noreturn]] INGOT_API void throw_no_such_norm(int axes, const linalg::norm_order&);
/// The axes of a norm; by default all axes of a vector or matrix. Throws shape_error where there are others.
INGOT_API axes axes_of_norm(extents_ref shape, const axes* over, const linalg::norm_order&);

/// The norm of vectors along one axis; `how` has the axis, and whether it stays.
template <class R, class E>
lazy<R> vector_norm(const reduction& how, const E& x, const linalg::norm_order& order) {
    const double p = order.value();
    if (order.kind() == linalg::norm_order::unsaid || p == 2) return norm_of(how, x);
    if (order.kind() != linalg::norm_order::number) throw_no_such_norm(1, order);
    const auto size = absolute(x);
    if (p == std::numeric_limits<double>::infinity()) return max_of(how, size);
    if (p == -std::numeric_limits<double>::infinity()) return min_of(how, size);
    if (p == 0) return count_nonzero_of(how, size);
    if (p == 1) return sum_of(how, size);
    return power(lazy<R>(sum_of(how, power(size, static_cast<R>(p)))), static_cast<R>(1 / p));
}
/// The norm of matrices, the last two axes.
template <class R, class E>
lazy<R> matrix_norm(const E& x, const linalg::norm_order& order) {
    const double p = order.value();
    const axes last(-1), before(-2), both{-2, -1};
    const reduction in_rows{"norm", &last}, in_columns{"norm", &before}, everywhere{"norm", &both};
    if (order.kind() == linalg::norm_order::unsaid || order.kind() == linalg::norm_order::fro)
        return norm_of(everywhere, x);
    if (order.kind() == linalg::norm_order::nuc) return sum(linalg::svdvals(x), -1);
    const auto size = absolute(x);
    if (p == 2) return max(linalg::svdvals(x), -1);
    if (p == -2) return min(linalg::svdvals(x), -1);
    const bool of_rows = std::abs(p) == std::numeric_limits<double>::infinity();
    if (!of_rows && std::abs(p) != 1) throw_no_such_norm(2, order);
    const lazy<R> sums = sum_of(of_rows ? in_rows : in_columns, size);
    return p > 0 ? lazy<R>(max_of(in_rows, sums)) : lazy<R>(min_of(in_rows, sums));
}

template <array_expression E>
auto norm_of_order(const E& e, const linalg::norm_order& order, const axes* over, bool keep) {
    using T = typename node_of<E>::value_type;
    if constexpr (half_float<T>) {
        return lazy<T>(norm_of_order(astype<float>(e), order, over, keep));
    } else {
        using C = type_of<solved_in<E>>;
        using R = part_of_type<C>;
        const lazy<C> x = e;
        if (over == nullptr && order.kind() == linalg::norm_order::unsaid)
            return lazy<R>(norm_of({"norm", nullptr, keep}, x));
        shape_room room;
        const extents_ref shape = x.extents(room);
        const axes along = axes_of_norm(shape, over, order);
        if (along.count() == 1) return vector_norm<R>({"norm", &along, keep}, x, order);
        const lazy<R> made = matrix_norm<R>(lazy<C>(moveaxis(x, along, {-2, -1})), order);
        if (!keep) return made;
        // The axes count in the result, which has the operand's rank.
        return lazy<R>(expand_dims(made, along));
    }
}

[[noreturn]] INGOT_API void throw_no_inverse(dtype);

template <class T>
lazy<T> power_of_matrices(lazy<T> x, index_t exponent) {
    shape_room room;
    check_square("matrix_power", x.extents(room));
    if (exponent < 0) {
        if constexpr (solvable_expression<lazy<T>> && kind_of(dtype_of<T>) >= kind::floating)
            x = linalg::inv(x);
        else
            throw_no_inverse(dtype_of<T>);
    }
    if (exponent == 0) {
        const with_device there(x.device());
        const shape_like shape = x.shape();
        return broadcast_to(identity<T>(shape[shape.count() - 1]), shape);
    }
    std::optional<lazy<T>> made;
    for (std::uint64_t left = exponent < 0 ? 0 - static_cast<std::uint64_t>(exponent)
                                           : static_cast<std::uint64_t>(exponent);
         ;) {
        if (left % 2 != 0) made = made ? lazy<T>(matmul(*made, x)) : x;
        left /= 2;
        if (left == 0) return *made;
        x = lazy<T>(matmul(x, x)).kept();
    }
}

}  // namespace detail

namespace linalg {

/// Norms of vectors, along one axis, or of matrices, along two; without axes e is one vector or matrix, and without an
/// order too the norm is the root of the sum of squares of all elements. Vectors: infinity is the greatest absolute
/// value, -infinity the least, 0 the number of elements that are not 0, any other p the p-th root of the sum of
/// absolute values to the power p; the default is 2. Matrices: "fro", the default, is the root of the sum of squares,
/// "nuc" the sum of the singular values, 2 the greatest and -2 the least of these, 1 and infinity the greatest absolute
/// sum of a column and of a row, -1 and -infinity the least. The result is float64 for bool and integers, else of the
/// type of the elements' parts. With a last `keepdims` the axes stay. It is an expression, except where singular values
/// are needed, which are computed at once. Throws shape_error where there is no such order or axis, and what `svdvals`
/// does.
///
///     array<double> m{{1, -2}, {3, 4}};
///     std::cout << linalg::norm(m(0), 1) << ' ' << linalg::norm(m, INFINITY) << ' ' << linalg::norm(m, 1, 0) << ' ';
///     std::cout << linalg::norm(m, "fro", {0, 1}) << ' ' << linalg::norm(m, none, 1, keepdims).shape();
///     // prints: 3.0 7.0 [4. 6.] 5.477225575051661 (2, 1)
template <array_expression E, detail::keeps_tag... K>
auto norm(const E& e, const norm_order& order = none, K...) {
    return detail::norm_of_order(e, order, nullptr, sizeof...(K) != 0);
}
template <array_expression E, detail::keeps_tag... K>
auto norm(const E& e, const norm_order& order, const axes& over, K...) {
    return detail::norm_of_order(e, order, &over, sizeof...(K) != 0);
}

/// The condition number, by which errors grow when a system with the matrix is solved: the greatest singular value over
/// the least, or with another order the norm of the matrix times that of its inverse. A singular matrix gives inf.
/// Throws what `svdvals` and `norm` do.
///
///     std::cout << linalg::cond(array<double>{{4, 0}, {0, 2}}) << ' ' << linalg::cond(array<double>{{4, 0}, {0, 2}},
///     1)
///               << ' ' << linalg::cond(array<double>{{1, 1}, {1, 1}}, 1);
///     // prints: 2.0 2.0 inf
template <detail::solvable_expression E>
auto cond(const E& e, const norm_order& order = none, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    using R = detail::part_of_type<T>;
    const array<T> x = e;
    lazy<R> made = scalar(R(0));
    if (order.kind() == norm_order::unsaid || (order.kind() == norm_order::number && std::abs(order.value()) == 2)) {
        const array<R> s = svdvals(x);
        const lazy<R> greatest = max(s, -1), least = min(s, -1);
        made = order.value() == -2 ? least / greatest : greatest / least;
    } else {
        const auto inverse = detail::solved<T, T>("cond", detail::solver::inv, 1, 0, x);
        made = norm(x, order, {-2, -1}) * norm(inverse, order, {-2, -1});
    }
    // 0 / 0 and 0 * inf also mean a singular matrix.
    return array<R>(where(isnan(made) && !any(isnan(x), {-2, -1}), std::numeric_limits<R>::infinity(), made));
}

/// The n-th power of each matrix, in e's type and shape: -n gives the power of the inverse, 0 the identity. Throws
/// shape_error where a matrix is not square, dtype_error where integers, bools or halves would be inverted, and what
/// `inv` does.
///
///     std::cout << linalg::matrix_power(array<int>{{1, 1}, {1, 0}}, 10);
///     // prints: [[89 55]
///     //          [55 34]]
template <array_expression E, detail::integer_argument I>
auto matrix_power(const E& e, I exponent, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename detail::node_of<E>::value_type;
    return detail::power_of_matrices(lazy<T>(e), detail::as_extent(exponent));
}

}  // namespace linalg

}  // namespace ingot
