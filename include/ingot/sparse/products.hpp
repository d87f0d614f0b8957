// Products of sparse matrices with dense vectors and matrices, and with each other.
#pragma once

#include <ingot/sparse/matrices.hpp>

namespace ingot::sparse {

/// The product of a sparse matrix with a dense vector or matrix, or of these with a sparse matrix: a new array, of the
/// type to which both promote, in which the sum of a row is added. A matrix of another type is converted in each call,
/// and an expression is evaluated. Bits are the same in every run on one device. Throws shape_error where the extents
/// do not fit. The product of a transposed matrix, or of a vector with a matrix, is slower on a GPU, where entries have
/// to be brought together; who needs many keeps a.transpose().to_csr().
///
///     sparse::csr<double> a(array<double>{{0, 1, 0}, {2, 0, 3}});
///     std::cout << matmul(a, array<double>{1, 10, 100}) << ' ' << matmul(array<double>{1, 10}, a) << '\n';
///     std::cout << matmul(a.transpose(), array<double>{{1, 2}, {3, 4}}) << '\n';
///     std::cout << matmul(a, array<std::complex<double>>{std::complex(0.0, 1.0), 1.0, 0.0});
///     // prints: [ 10. 302.] [20.  1. 30.]
///     //         [[ 6.  8.]
///     //          [ 1.  2.]
///     //          [ 9. 12.]]
///     //         [1.+0.j 0.+2.j]
template <sparse_matrix A, array_expression E>
array<promoted<A, E>> matmul(const A& a, const E& x, const source_place& here = source_place::current()) {
    if constexpr (requires { a.dot(x, here); })
        return a.dot(x, here);
    else
        return a.to_csr().dot(x, here);
}
template <array_expression E, sparse_matrix A>
array<promoted<E, A>> matmul(const E& x, const A& a, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using R = promoted<E, A>;
    return as_csr<R>(a).product_from_left(array<R>(x));
}

/// The product of two sparse matrices of any formats and types: a csr of the type to which both promote. Waits for the
/// number of its entries. Throws shape_error where the extents do not fit.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {2, 3}});
///     std::cout << matmul(a, a).to_dense() << ' ' << matmul(a.transpose(), sparse::eye<float>(2)).to_dense();
///     // prints: [[ 2.  3.]
///     //          [ 6. 11.]] [[0. 2.]
///     //          [1. 3.]]
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> matmul(const csr<T, I>& a, const csr<T, I>& b, const source_place& here = source_place::current());
template <sparse_matrix A, sparse_matrix B>
    requires unlike_matrices<A, B>
csr<promoted<A, B>, typename A::index_type> matmul(const A& a, const B& b,
                                                   const source_place& here = source_place::current()) {
    using R = promoted<A, B>;
    return matmul(as_csr<R>(a), as_csr<R>(b), here);
}

}  // namespace ingot::sparse
