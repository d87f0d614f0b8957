// Products of sparse matrices with dense vectors and matrices, and with each other.
#pragma once

#include <ingot/sparse/matrices.hpp>

namespace ingot::sparse {

/// The product of a sparse matrix with a dense vector or matrix, or of these with a sparse matrix: a new array. The sum
/// of a row is added in the matrix' type; bits are the same in every run on one device. An expression is evaluated now.
/// Throws shape_error where the extents do not fit. The product of a transposed matrix, or of a vector with a matrix,
/// is slower on a GPU, where entries have to be brought together; who needs many keeps a.transpose().to_csr().
///
///     sparse::csr<double> a(array<double>{{0, 1, 0}, {2, 0, 3}});
///     std::cout << matmul(a, array<double>{1, 10, 100}) << ' ' << matmul(array<double>{1, 10}, a) << '\n';
///     std::cout << matmul(a.transpose(), array<double>{{1, 2}, {3, 4}});
///     // prints: [ 10. 302.] [20.  1. 30.]
///     //         [[ 6.  8.]
///     //          [ 1.  2.]
///     //          [ 9. 12.]]
template <sparse_element T, sparse_index I, array_expression E>
array<T> matmul(const csr<T, I>& a, const E& x, const source_place& here = source_place::current()) {
    return a.dot(x, here);
}
template <sparse_element T, sparse_index I, array_expression E>
array<T> matmul(const csc<T, I>& a, const E& x, const source_place& here = source_place::current()) {
    return a.dot(x, here);
}
template <array_expression E, sparse_element T, sparse_index I>
    requires(detail::promote(E::type, detail::dtype_of<T>) == detail::dtype_of<T>)
array<T> matmul(const E& x, const csr<T, I>& a, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return a.product_from_left(array<T>(x));
}

/// The product of two sparse matrices. Waits for the number of its entries.
///
///     const sparse::csr<double> a(array<double>{{0, 1}, {2, 3}});
///     std::cout << matmul(a, a).to_dense();
///     // prints: [[ 2.  3.]
///     //          [ 6. 11.]]
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> matmul(const csr<T, I>& a, const csr<T, I>& b, const source_place& here = source_place::current());

}  // namespace ingot::sparse
