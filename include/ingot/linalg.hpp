// Products of matrices: NumPy's matmul, by a library where one has the type, by a fold of Ingot's own elsewhere. They
// are expressions: what stands before a product is computed into its operands, what stands behind reads its result.
#pragma once

#include <utility>

#include <ingot/library_nodes.hpp>
#include <ingot/operators.hpp>
#include <ingot/reductions.hpp>

namespace ingot {
namespace detail {

/// A vector as a matrix of one row, or of one column; others as they are. Throws shape_error where there are no axes.
INGOT_API bool view_as_matrix(view_room&, extents_ref shape, bool row);
/// What is left of a product when the axes that vectors were given are gone; false where there are none.
INGOT_API bool view_of_product(view_room&, extents_ref product, bool row, bool column);

template <class N>
N as_matrix(N node, bool row) {
    shape_room room;
    view_room view;
    if (view_as_matrix(view, node.extents(room), row)) node.apply(view, 0);
    return node;
}
template <class N>
N without_vector_axes(N product, bool row, bool column) {
    shape_room room;
    view_room view;
    if (view_of_product(view, product.extents(room), row, column)) product.apply(view, 0);
    return product;
}

/// Throws shape_error where two matrices have no product.
INGOT_API void check_product(extents_ref left, extents_ref right);

template <dtype T, class E>
auto as_type(E&& e) {
    if constexpr (std::remove_cvref_t<E>::type == T)
        return std::forward<E>(e);
    else
        return make_node<op::astype, T>("matmul", std::forward<E>(e));
}
template <class E>
auto sum_over_matrices(E&& products) {
    if constexpr (std::remove_cvref_t<E>::type == dtype::b1)
        return any(std::forward<E>(products), -2);
    else
        return sum(std::forward<E>(products), -2);
}

template <array_expression A, array_expression B>
inline constexpr dtype product_dtype = signature_of<op::multiply, A, B>().result;

/// The product of matrices, the last two axes of each; what is before them is broadcast. A vector is a row on the left
/// and a column on the right, and its axis is gone from the result. Floats of all sizes and complex numbers go to
/// cuBLAS or BLAS, the halves with sums in float32; integers and bools wrap as NumPy's do. Transposed and strided
/// operands are handed over as they lie. Throws shape_error where the extents differ; the evaluation throws
/// library_error where there is no library.
///
///     array<double> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 0}};
///     std::cout << matmul(a, b) << ' ' << matmul(a, array<double>{1, 1}) + 1 << '\n' << matmul(array<int>{1, 2},
///     array<int>{{1, 2}, {3, 4}});
///     // prints: [[2. 1.]
///     //          [4. 3.]] [4. 8.]
///     //         [ 7 10]
template <array_expression A, array_expression B>
auto matmul(A&& a, B&& b) {
    constexpr dtype result = product_dtype<A, B>;
    shape_room rooms[2];
    const bool row = as_node(std::as_const(a)).extents(rooms[0]).rank == 1;
    const bool column = as_node(std::as_const(b)).extents(rooms[1]).rank == 1;
    auto left = as_matrix(node_of<A>(as_node(std::forward<A>(a))), true);
    auto right = as_matrix(node_of<B>(as_node(std::forward<B>(b))), false);
    if constexpr (kind_of(result) >= kind::floating) {
        return without_vector_axes(call_library<library_function::matrix_product, type_of<result>>(
                                       "matmul", std::move(left), std::move(right)),
                                   row, column);
    } else {
        check_product(left.extents(rooms[0]), right.extents(rooms[1]));
        auto wide = as_type<result>(left(ellipsis, newaxis));
        auto other = right(ellipsis, newaxis, all, all);
        return without_vector_axes(as_type<result>(sum_over_matrices(std::move(wide) * std::move(other))), row, column);
    }
}

}  // namespace detail

using detail::matmul;

/// NumPy's linear algebra.
namespace linalg {
using detail::matmul;
}  // namespace linalg

}  // namespace ingot
