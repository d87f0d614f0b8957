// Functions that make sparse matrices: of diagonals, of other matrices, of random numbers.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include <ingot/sparse/matrices.hpp>

namespace ingot::sparse {

/// Ones on the diagonal `offset` columns right of the main one. Throws shape_error for a negative extent.
///
///     std::cout << sparse::eye<double>(2, 3, 1).to_dense() << ' ' << sparse::eye<float>(4).nnz();
///     // prints: [[0. 1. 0.]
///     //          [0. 0. 1.]] 4
template <sparse_element T, sparse_index I = std::int32_t>
INGOT_API csr<T, I> eye(index_t rows, index_t columns, index_t offset = 0);
template <sparse_element T, sparse_index I = std::int32_t>
csr<T, I> eye(index_t rows) {
    return eye<T, I>(rows, rows);
}

/// The matrix of these diagonals, each at an offset; a diagonal of one value is as long as it has to be. Without a
/// shape it is square, and as large as the first diagonal wants. Throws shape_error where a diagonal has another length
/// than its place, or diagonals and offsets are not as many.
///
///     const array<double> main{1, 2, 3}, one{9};
///     std::cout << sparse::diags<double>({main, one}, {0, -1}).to_dense() << ' ';
///     std::cout << sparse::diags<double>({one}, {1}, {2, 3}).to_dense();
///     // prints: [[1. 0. 0.]
///     //          [9. 2. 0.]
///     //          [0. 9. 3.]] [[0. 9. 0.]
///     //          [0. 0. 9.]]
template <sparse_element T, sparse_index I = std::int32_t>
INGOT_API csr<T, I> diags(const std::vector<array<T>>& diagonals, const std::vector<index_t>& offsets,
                          const shape_like& shape);
template <sparse_element T, sparse_index I = std::int32_t>
INGOT_API csr<T, I> diags(const std::vector<array<T>>& diagonals, const std::vector<index_t>& offsets);

/// The Kronecker product: each element of a times the whole of b.
///
///     const sparse::csr<double> a(array<double>{{1, 2}}), b(array<double>{{0, 3}, {4, 0}});
///     std::cout << kron(a, b).to_dense();
///     // prints: [[0. 3. 0. 6.]
///     //          [4. 0. 8. 0.]]
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> kron(const csr<T, I>& a, const csr<T, I>& b);

// Inner: parts below each other (axis 0), side by side (1), or along the diagonal (2).
template <sparse_element T, sparse_index I>
INGOT_API csr<T, I> stacked(const char* operation, std::span<const csr<T, I>> parts, int axis);

/// Matrices below each other. Throws shape_error where there is none, or their numbers of columns differ.
///
///     const sparse::csr<double> a(array<double>{{1, 0}}), b(array<double>{{0, 2}});
///     std::cout << sparse::vstack({a, b}).to_dense();
///     // prints: [[1. 0.]
///     //          [0. 2.]]
template <sparse_element T, sparse_index I>
csr<T, I> vstack(std::initializer_list<csr<T, I>> parts) {
    return stacked("vstack", std::span<const csr<T, I>>(parts.begin(), parts.size()), 0);
}
template <sparse_element T, sparse_index I>
csr<T, I> vstack(const std::vector<csr<T, I>>& parts) {
    return stacked("vstack", std::span<const csr<T, I>>(parts), 0);
}
/// Matrices side by side. Throws shape_error where there is none, or their numbers of rows differ.
///
///     const sparse::csr<double> a(array<double>{{1, 0}}), b(array<double>{{0, 2}});
///     std::cout << sparse::hstack({a, b}).to_dense();
///     // prints: [[1. 0. 0. 2.]]
template <sparse_element T, sparse_index I>
csr<T, I> hstack(std::initializer_list<csr<T, I>> parts) {
    return stacked("hstack", std::span<const csr<T, I>>(parts.begin(), parts.size()), 1);
}
template <sparse_element T, sparse_index I>
csr<T, I> hstack(const std::vector<csr<T, I>>& parts) {
    return stacked("hstack", std::span<const csr<T, I>>(parts), 1);
}
/// Matrices along the diagonal, each right of and below the one before. Throws shape_error where there is none.
///
///     const sparse::csr<double> a(array<double>{{1, 2}}), b(array<double>{{3}});
///     std::cout << sparse::block_diag({a, b}).to_dense();
///     // prints: [[1. 2. 0.]
///     //          [0. 0. 3.]]
template <sparse_element T, sparse_index I>
csr<T, I> block_diag(std::initializer_list<csr<T, I>> parts) {
    return stacked("block_diag", std::span<const csr<T, I>>(parts.begin(), parts.size()), 2);
}
template <sparse_element T, sparse_index I>
csr<T, I> block_diag(const std::vector<csr<T, I>>& parts) {
    return stacked("block_diag", std::span<const csr<T, I>>(parts), 2);
}

/// A matrix with round(density * rows * columns) entries at random places, each with a number between 0 and 1 (both
/// parts of a complex one), from the default generator. Throws error where the density is not between 0 and 1.
///
///     random::seed(1);
///     const auto a = sparse::random<float>(30, 20, 0.25);
///     std::cout << a.shape() << ' ' << a.nnz();
///     // prints: (30, 20) 150
template <sparse_element T, sparse_index I = std::int32_t>
INGOT_API csr<T, I> random(index_t rows, index_t columns, double density);

}  // namespace ingot::sparse
