// Solutions of systems with sparse matrices.
#pragma once

#include <ingot/sparse/matrices.hpp>

namespace ingot::sparse {

/// The options of `spsolve_triangular`.
struct triangular_options {
    /// Whether the matrix is a lower triangle; else it is an upper one.
    bool lower = true;
    /// Whether the diagonal is 1, whatever its entries are.
    bool unit_diagonal = false;
};

// Inner
template <sparse_element T, sparse_index I>
INGOT_API array<T> solved_triangular(const csr<T, I>& a, const array<T>& b, const triangular_options& how);

/// The solution x of a x = b for a triangular matrix, a vector or a matrix as b is: an array. Entries on the other side
/// of the diagonal are not read. On a GPU it is one launch, whose warps wait for the elements that they need; bits are
/// the same in every run on one device. A csc is sorted by rows first. Waits for whether the diagonal has a 0, unless
/// that is a unit one. Throws shape_error where the matrix is not square or b has not as many rows; linalg_error where
/// the diagonal has a 0.
///
///     const sparse::csr<double> a(array<double>{{2, 0, 0}, {1, 1, 0}, {0, 3, 4}});
///     std::cout << spsolve_triangular(a, array<double>{2, 3, 10}) << ' '
///               << spsolve_triangular(a.transpose(), array<double>{2, 4, 4}, {.lower = false});
///     // prints: [1. 2. 1.] [0.5 1.  1. ]
template <sparse_element T, sparse_index I, array_expression E>
    requires(detail::promote(E::type, detail::dtype_of<T>) == detail::dtype_of<T>)
array<T> spsolve_triangular(const csr<T, I>& a, const E& b, const triangular_options& how = {},
                            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return solved_triangular(a, array<T>(b), how);
}
template <sparse_element T, sparse_index I, array_expression E>
    requires(detail::promote(E::type, detail::dtype_of<T>) == detail::dtype_of<T>)
array<T> spsolve_triangular(const csc<T, I>& a, const E& b, const triangular_options& how = {},
                            const source_place& here = source_place::current()) {
    return spsolve_triangular(a.to_csr(), b, how, here);
}

}  // namespace ingot::sparse
