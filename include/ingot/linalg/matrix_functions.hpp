// Functions of numpy.linalg and scipy.linalg over factors and products: triangular and factorised systems, tensor
// equations, matrix exponentials, chains of products. Solvers are functions as in solvers.hpp, with the same dtypes and
// errors; their bodies are in the library. Products are expressions.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/joins.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/linalg/products.hpp>
#include <ingot/linalg/solvers.hpp>

namespace ingot {

namespace linalg {

/// Options of a triangular system: the triangle that is used, and how it is read.
///
///     std::cout << linalg::solve_triangular(array<double>{{2, 0}, {1, 4}}, array<double>{2, 9}, {.lower = true});
///     // prints: [1. 2.]
struct triangular_options {
    /// Whether the lower triangle is used; else the upper one.
    bool lower = false;
    /// 0: a x = b; 1: with the transposed matrix; 2: with the conjugate transposed one.
    int trans = 0;
    /// Whether the diagonal is all ones, and not read.
    bool unit_diagonal = false;
};

}  // namespace linalg

namespace detail {

/// Throws error for a `trans` other than 0 to 2.
INGOT_API void check_trans(const char* operation, int trans);

/// Instantiated in the library for float32, float64 and their complex types.
template <class T>
struct matrix_functions {
    using R = part_of_type<T>;
    using factors = std::tuple<array<T>, array<std::int64_t>>;

    static array<T> solve_triangular(const char* operation, const array<T>& a, const array<T>& b,
                                     const linalg::triangular_options&);
    static array<T> solve_by_cholesky(const array<T>& c, const array<T>& b, bool lower);
    static array<T> solve_by_lu(const factors& lu, const array<T>& b, int trans);
    static std::tuple<array<R>, array<T>, array<T>> lu(const array<T>& a);
    static array<T> inverse_triangle(const array<T>& a, bool lower);
    static array<T> exponential(const array<T>& a);
    static array<T> tensorsolve(const array<T>& a, const array<T>& b, const axes& last);
    static array<T> tensorinv(const array<T>& a, index_t ind);
};
extern template struct INGOT_API matrix_functions<float>;
extern template struct INGOT_API matrix_functions<double>;
extern template struct INGOT_API matrix_functions<std::complex<float>>;
extern template struct INGOT_API matrix_functions<std::complex<double>>;

template <class... E>
using solved_type = type_of<promote_all({solved_in<E>...})>;
template <class... E>
using functions_of = matrix_functions<solved_type<E...>>;

}  // namespace detail

namespace linalg {

/// SciPy's solve_triangular: the x of a x = b, where one triangle of a is read. b is a vector where it has one axis,
/// else a stack of matrices; the batches broadcast. Throws linalg_error where a diagonal that is read has a 0,
/// shape_error where a matrix is not square or b does not fit.
///
///     array<double> a{{2, 1}, {0, 4}};
///     std::cout << linalg::solve_triangular(a, array<double>{4, 8}) << ' '
///               << linalg::solve_triangular(a, array<double>{4, 8}, {.trans = 1, .unit_diagonal = true});
///     // prints: [1. 2.] [4. 4.]
template <detail::solvable_expression A, detail::solvable_expression B>
auto solve_triangular(const A& a, const B& b, const triangular_options& how = {},
                      const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::solved_type<A, B>;
    return detail::matrix_functions<T>::solve_triangular("solve_triangular", astype<T>(a), astype<T>(b), how);
}

/// The LU factors of a matrix with exchanged rows, for `lu_solve`: a tuple of one array with both factors (the lower
/// one below the diagonal, with ones on its own; the upper one on and above it) of shape (m, n), and, in order, the row
/// with which each was exchanged, int64 of shape (k,), where k is the lesser of m and n. A singular matrix has them
/// too. Throws shape_error for fewer than two axes.
///
///     auto [factors, pivots] = linalg::lu_factor(array<double>{{1, 2}, {4, 4}});
///     std::cout << factors << ' ' << pivots;
///     // prints: [[4.   4.  ]
///     //          [0.25 1.  ]] [1 1]
template <detail::solvable_expression E>
auto lu_factor(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::type_of<detail::solved_in<E>>;
    return detail::solved<T, T, std::int64_t>("lu_factor", detail::solver::lu, 0, 0, e);
}

/// A matrix as p l u, a permutation, a lower triangle with ones on its diagonal and an upper one: a tuple of the three,
/// (m, m), (m, k) and (k, n) with k the lesser of m and n; p has the type of the elements' parts. Throws what
/// `lu_factor` does.
///
///     auto [p, l, u] = linalg::lu(array<double>{{1, 2}, {4, 4}});
///     std::cout << p << '\n' << l << '\n' << u;
///     // prints: [[0. 1.]
///     //          [1. 0.]]
///     //         [[1.   0.  ]
///     //          [0.25 1.  ]]
///     //         [[4. 4.]
///     //          [0. 1.]]
template <detail::solvable_expression E>
auto lu(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::functions_of<E>::lu(astype<detail::solved_type<E>>(e));
}

/// The x of a x = b by the factors of a from `lu_factor`; trans 1 uses the transposed matrix, 2 the conjugate
/// transposed one. b is as in `solve`. Throws linalg_error where a is singular, shape_error where it is not square or b
/// does not fit.
///
///     auto factors = linalg::lu_factor(array<double>{{1, 2}, {4, 4}});
///     std::cout << linalg::lu_solve(factors, array<double>{5, 12}) << ' '
///               << linalg::lu_solve(factors, array<double>{9, 10}, 1);
///     // prints: [1. 2.] [1. 2.]
template <element_type T, detail::solvable_expression B>
    requires(detail::promote(detail::dtype_of<T>, detail::solved_in<B>) == detail::dtype_of<T>)
array<T> lu_solve(const std::tuple<array<T>, array<std::int64_t>>& lu_and_pivots, const B& b, int trans = 0,
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::matrix_functions<T>::solve_by_lu(lu_and_pivots, astype<T>(b), trans);
}

/// The x of a x = b by the triangle of a from `cholesky`. b is as in `solve`. Throws what `solve_triangular` does.
///
///     array<double> a{{4, 2}, {2, 5}};
///     std::cout << linalg::cho_solve(linalg::cholesky(a), array<double>{8, 12});
///     // prints: [1. 2.]
template <detail::solvable_expression C, detail::solvable_expression B>
auto cho_solve(const C& c, const B& b, triangle of = triangle::lower,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::solved_type<C, B>;
    return detail::matrix_functions<T>::solve_by_cholesky(astype<T>(c), astype<T>(b), of == triangle::lower);
}

/// The inverse of each triangular matrix, whose other triangle is not read. Throws linalg_error where a diagonal has a
/// 0, shape_error where a matrix is not square.
///
///     std::cout << linalg::tri_inv(array<double>{{2, 0}, {1, 4}});
///     // prints: [[ 0.5    0.   ]
///     //          [-0.125  0.25 ]]
template <detail::solvable_expression E>
auto tri_inv(const E& e, triangle of = triangle::lower, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::functions_of<E>::inverse_triangle(astype<detail::solved_type<E>>(e), of == triangle::lower);
}

/// The exponential of each matrix, by scaling and squaring with Pade's approximant of degree 13 (Higham, SIAM Journal
/// on Matrix Analysis 26, 2005). Waits for the matrices' norms. Throws shape_error where a matrix is not square.
///
///     std::cout << round(linalg::expm(array<double>{{0, 1}, {0, 0}}), 6) << ' '
///               << round(linalg::expm(array<double>{{0, -3.14159265358979}, {3.14159265358979, 0}}), 6) + 0.0;
///     // prints: [[1. 1.]
///     //          [0. 1.]] [[-1.  0.]
///     //          [ 0. -1.]]
template <detail::solvable_expression E>
auto expm(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::functions_of<E>::exponential(astype<detail::solved_type<E>>(e));
}

/// The x for which the sum of products of a and x over x's axes, the last ones of a, is b; `last` names axes of a that
/// are first moved to the end. Throws shape_error where a, so arranged, is not square, linalg_error where it is
/// singular.
///
///     array<double> a = reshape(eye(6), {6, 2, 3});
///     std::cout << linalg::tensorsolve(a, array<double>{0, 1, 2, 3, 4, 5});
///     // prints: [[0. 1. 2.]
///     //          [3. 4. 5.]]
template <detail::solvable_expression A, detail::solvable_expression B>
auto tensorsolve(const A& a, const B& b, const axes& last = {}, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = detail::solved_type<A, B>;
    return detail::matrix_functions<T>::tensorsolve(astype<T>(a), astype<T>(b), last);
}

/// The tensor whose product with a over the first `ind` axes of a is the identity. Throws shape_error where a is not
/// square with those axes merged to one and the others to another, linalg_error where it is singular.
///
///     array<double> a = 2 * reshape(eye(6), {6, 2, 3});
///     std::cout << linalg::tensorinv(a, 1).shape() << ' ' << linalg::tensorinv(a, 1)(1, 2, 5);
///     // prints: (2, 3, 6) 0.5
template <detail::solvable_expression E, detail::integer_argument I = int>
auto tensorinv(const E& e, I ind = 2, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::functions_of<E>::tensorinv(astype<detail::solved_type<E>>(e), detail::as_extent(ind));
}

}  // namespace linalg

// ---- products ------------------------------------------------------------------------------------------------------

namespace detail {

/// The best cuts of chains of matrices with these extents, which are one more than the matrices: entry i * n + j is the
/// last matrix of the first part of the chain from i to j.
INGOT_API std::vector<std::size_t> cheapest_cuts(std::span<const index_t> extents);
/// Throws shape_error where there are fewer than two operands, the first or the last is neither matrix nor vector, or
/// another one is no matrix.
INGOT_API void check_chain(std::span<const other_operand> parts);

template <class T>
lazy<T> product_of_chain(const lazy_parts<T>& parts, const std::vector<std::size_t>& cuts, std::size_t from,
                         std::size_t to) {
    if (from == to) return parts[from];
    const std::size_t cut = cuts[from * parts.size() + to];
    return matmul(product_of_chain(parts, cuts, from, cut), product_of_chain(parts, cuts, cut + 1, to));
}
template <class T>
lazy<T> multi_dot_of(const lazy_parts<T>& parts) {
    check_chain(facts_of_parts(parts));
    std::vector<deferred<index_t, T>> extents;
    const shape_like first = parts.front().shape(), last = parts.back().shape();
    extents.push_back(first.count() == 1 ? 1 : first[0]);
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const shape_like shape = parts[i].shape();
        extents.push_back(shape[shape.count() - 1]);
    }
    extents.push_back(last.count() == 1 ? 1 : last[1]);
    return product_of_chain(parts, cheapest_cuts(extents), 0, parts.size() - 1);
}

/// The products of matrices, the last two axes of `a`, with vectors, the last axis of `x`; the axes before are
/// broadcast. In the dtype to which both promote. Throws shape_error where these axes are missing, or their extents
/// differ.
///
///     array<int> m{{1, 2}, {3, 4}}, v{{1, 0}, {1, 1}};
///     std::cout << matvec(m, v(0)) << ' ' << matvec(m, v);
///     // prints: [1 3] [[1 3]
///     //          [3 7]]
template <array_expression A, array_expression X>
auto matvec(const A& a, const X& x, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, X>;
    const product matrix = a, vector = x;
    if (matrix.ndim() < 2 || vector.ndim() < 1) {
        shape_room rooms[2];
        throw_has_no_axes("matvec", matrix.extents(rooms[0]), vector.extents(rooms[1]));
    }
    return product(product(matmul(matrix, product(expand_dims(vector, -1))))(ellipsis, 0));
}

/// The products of conjugated vectors, the last axis of `x`, with matrices, the last two axes of `a`; the axes before
/// are broadcast. In the dtype to which both promote. Throws shape_error where these axes are missing, or their extents
/// differ.
///
///     array<int> m{{1, 2}, {3, 4}}, v{{1, 0}, {1, 1}};
///     std::cout << vecmat(v(1), m) << ' ' << vecmat(v, m);
///     // prints: [4 6] [[1 2]
///     //          [4 6]]
template <array_expression X, array_expression A>
auto vecmat(const X& x, const A& a, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<X, A>;
    product vector = x;
    const product matrix = a;
    if (matrix.ndim() < 2 || vector.ndim() < 1) {
        shape_room rooms[2];
        throw_has_no_axes("vecmat", vector.extents(rooms[0]), matrix.extents(rooms[1]));
    }
    if constexpr (complex_number<typename product::value_type>) vector = conj(vector);
    return product(product(matmul(product(expand_dims(vector, -2)), matrix))(ellipsis, 0, all));
}

}  // namespace detail

using detail::matvec;
using detail::vecmat;

namespace linalg {

/// The product of several matrices in the order with the fewest multiplications; the first and the last may be vectors.
/// They are `{a, b, c}` of one type, a tuple of any types, which promote, or a range. The result is an expression.
/// Throws shape_error where there are fewer than two, one has other axes, or extents differ.
///
///     array<double> a = ones({2, 30}), b = ones({30, 3}), v = ones(3);
///     std::cout << linalg::multi_dot({a, b, v}) << ' ' << linalg::multi_dot(std::tuple{a, b * 2}).shape();
///     // prints: [90. 90.] (2, 3)
template <array_expression E>
auto multi_dot(std::initializer_list<E> parts, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::multi_dot_of(detail::parts_of(parts));
}
template <detail::parts_argument P>
auto multi_dot(const P& parts, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::multi_dot_of(detail::parts_of(parts));
}

/// The matrix with constant diagonals: c is its first column, r from its second element on the rest of its first row;
/// by default r is c's conjugate. Both are read in C order. The result is an expression of the dtype to which they
/// promote.
///
///     std::cout << linalg::toeplitz(array<int>{1, 2, 3}, array<int>{1, 4, 5, 6});
///     // prints: [[1 4 5 6]
///     //          [2 1 4 5]
///     //          [3 2 1 4]]
template <array_expression C, array_expression R>
auto toeplitz(const C& c, const R& r, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using result = lazy<detail::type_of<detail::promote(detail::node_of<C>::type, detail::node_of<R>::type)>>;
    using T = typename result::value_type;
    const result column = ravel(c), row = ravel(r);
    const index_t m = column.size(), n = row.size();
    if (m == 0 || n == 0) return result(zeros<T>({m, n}));
    const result diagonals = result(concatenate({result(flip(column)), result(row(slice(1, none)))})).kept();
    return result(flip(sliding_window_view(diagonals, n), 0));
}
template <array_expression C>
auto toeplitz(const C& c, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    if constexpr (detail::complex_number<typename detail::node_of<C>::value_type>)
        return toeplitz(c, conj(c));
    else
        return toeplitz(c, c);
}

}  // namespace linalg
}  // namespace ingot
