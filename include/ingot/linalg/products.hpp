// Products of matrices and vectors under NumPy's names: by a library where it pays, else by Ingot's own folds and maps.
// They are expressions: expressions before a product are computed into its operands, expressions behind it read its
// result.
#pragma once

#include <utility>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/library_nodes.hpp>
#include <ingot/core/rearranging.hpp>
#include <ingot/linalg/contraction.hpp>

namespace ingot {
namespace detail {

/// The view of a vector as a matrix of one row or one column; false for other ranks. Throws shape_error where there are
/// no axes.
INGOT_API bool view_as_matrix(view_room&, extents_ref shape, bool row);
/// The view of a product without the axes that were added to vectors; false where there are none.
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

/// Throws shape_error where two matrices have no product; the text calls a row or a column that was a vector by that
/// name.
INGOT_API void check_product(extents_ref left, extents_ref right, bool row, bool column);
/// Throws shape_error unless both axes, counted from the start, have one extent.
INGOT_API void check_contracted(const char* operation, extents_ref a, int of_a, extents_ref b, int of_b);
/// Throws shape_error unless the last two axes have one extent.
INGOT_API void check_square(const char* operation, extents_ref shape);
/// Throws shape_error unless both name the same number of axes, each once, with the same extents.
INGOT_API void check_tensor_axes(extents_ref a, const axes& of_a, extents_ref b, const axes& of_b);
/// Throws shape_error unless both have at least `count` axes.
INGOT_API void check_tensor_count(std::span<const index_t> a, std::span<const index_t> b, index_t count);
/// Throws shape_error unless those axes have extent 3.
INGOT_API void check_vectors_of_three(extents_ref a, index_t of_a, extents_ref b, index_t of_b);
[[noreturn]] INGOT_API void throw_has_no_axes(const char* operation, extents_ref a, extents_ref b);

template <array_expression A, array_expression B>
inline constexpr dtype product_dtype = signature_of<op::multiply, A, B>().result;
template <array_expression A, array_expression B>
using product_of = lazy<type_of<product_dtype<node_of<A>, node_of<B>>>>;

/// The product of matrices, the last two axes of each; the axes before are broadcast. A vector is a row on the left and
/// a column on the right, and its axis is removed from the result. Products with a vector, those of 4 by 4 and less,
/// integers and bools are folds, which are part of the kernel around them; integers wrap as NumPy's do. All other
/// products of floats and complex numbers go to cuBLAS or BLAS, the halves with sums in float32. Transposed and strided
/// operands are passed without a copy. An array added to each row, `matmul(a, b) + bias`, is added on a GPU in the
/// library's call, for the halves except in `strict` and for float32 in `tf32`: the sum is then rounded once. Throws
/// shape_error where the extents differ; the evaluation throws library_error where there is no library.
///
///     array<double> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 0}};
///     std::cout << matmul(a, b) << ' ' << matmul(a, array<double>{1, 1}) + 1 << '\n' << matmul(array<int>{1, 2},
///     array<int>{{1, 2}, {3, 4}});
///     // prints: [[2. 1.]
///     //          [4. 3.]] [4. 8.]
///     //         [ 7 10]
template <array_expression A, array_expression B>
auto matmul(A&& a, B&& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    using T = typename product::value_type;
    shape_room rooms[2];
    const bool row = as_node(std::as_const(a)).extents(rooms[0]).rank == 1;
    const bool column = as_node(std::as_const(b)).extents(rooms[1]).rank == 1;
    auto left = as_matrix(node_of<A>(as_node(std::forward<A>(a))), true);
    auto right = as_matrix(node_of<B>(as_node(std::forward<B>(b))), false);
    const extents_ref of_left = left.extents(rooms[0]), of_right = right.extents(rooms[1]);
    check_product(of_left, of_right, row, column);
    if constexpr (kind_of(dtype_of<T>) >= kind::floating)
        if (!product_is_fold(of_left.data[of_left.rank - 2], of_left.data[of_left.rank - 1],
                             of_right.data[of_right.rank - 1]))
            return product(
                call_library<library_function::matrix_product, T>("matmul", std::move(left), std::move(right)));
    const lazy<T> wide = left(ellipsis, newaxis), other = right(ellipsis, newaxis, all, all);
    return without_vector_axes(sum_of_products<T>("matmul", wide, other, -2), row, column);
}

// ---- sums of products ----------------------------------------------------------------------------------------------

[[noreturn]] INGOT_API void throw_not_two_vectors(const char* operation, std::span<const index_t> a,
                                                  std::span<const index_t> b);

/// `count` labels from `first` on.
INGOT_API axis_labels labels_from(int first, int count);

/// Contracts axis `of_a` of a with `of_b` of b; the other axes of a come before those of b.
template <class T>
lazy<T> contract_one(const char* operation, const lazy<T>& a, int of_a, const lazy<T>& b, int of_b) {
    shape_room rooms[2];
    check_contracted(operation, a.extents(rooms[0]), of_a, b.extents(rooms[1]), of_b);
    const axis_labels left = labels_from(0, a.ndim());
    axis_labels right = labels_from(a.ndim(), b.ndim()), result = left;
    result.erase(result.begin() + of_a);
    for (int j = 0; j < b.ndim(); ++j)
        if (j != of_b) result.push_back(right[static_cast<std::size_t>(j)]);
    right[static_cast<std::size_t>(of_b)] = left[static_cast<std::size_t>(of_a)];
    return contract(operation, a, left, b, right, result);
}

/// The sum of products over the last axis of `a` and the last but one of `b`, or its only one: a number for two
/// vectors, the product for two matrices, a multiple for a number without axes. In the dtype to which both promote;
/// bool is the `or` of the `and`s. Throws shape_error where those two axes differ.
///
///     array<int> v{1, 2, 3}, m{{1, 0}, {0, 1}, {1, 1}};
///     std::cout << dot(v, v + 1) << ' ' << dot(v, m) << ' ' << dot(v, scalar(2));
///     // prints: 20 [4 5] [2 4 6]
template <array_expression A, array_expression B>
auto dot(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    const product x = a, y = b;
    if (x.ndim() == 0 || y.ndim() == 0) return product(x * y);
    if (x.ndim() == 1 && y.ndim() == 1 && x.size() != y.size())
        throw_not_two_vectors("dot", x.shape().values(), y.shape().values());
    return contract_one("dot", x, x.ndim() - 1, y, y.ndim() == 1 ? 0 : y.ndim() - 2);
}

/// The sum of the products of all elements in C order, those of `a` conjugated. In the dtype to which both promote.
/// Throws shape_error where the numbers of elements differ.
///
///     std::cout << vdot(array<int>{1, 2, 3}, array<double>{4, 5, 6}) << ' ';
///     std::cout << vdot(array<std::complex<double>>{{0, 1}, {2, 0}}, array<std::complex<double>>{{0, 1}, {1, 0}});
///     // prints: 32.0 (3+0j)
template <array_expression A, array_expression B>
auto vdot(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    product x = a;
    const product y = b;
    if (x.size() != y.size()) throw_not_two_vectors("vdot", x.shape().values(), y.shape().values());
    if constexpr (complex_number<typename product::value_type>) x = conj(x);
    return contract_one("vdot", product(ravel(x)), 0, product(ravel(y)), 0);
}

/// The sum of products over the last axis of both; the result has the other axes of `a`, then those of `b`. A number
/// without axes gives a multiple. In the dtype to which both promote. Throws shape_error where the last axes differ.
///
///     std::cout << inner(array<int>{1, 2, 3}, array<int>{4, 5, 6}) << ' ' << inner(array<int>{{1, 2}, {3, 4}},
///     array<int>{1, 1});
///     // prints: 32 [3 7]
template <array_expression A, array_expression B>
auto inner(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    const product x = a, y = b;
    if (x.ndim() == 0 || y.ndim() == 0) return product(x * y);
    if (x.ndim() == 1 && y.ndim() == 1 && x.size() != y.size())
        throw_not_two_vectors("inner", x.shape().values(), y.shape().values());
    return contract_one("inner", x, x.ndim() - 1, y, y.ndim() - 1);
}

/// The products of each element of `a` with each of `b`, both in C order: a matrix.
///
///     std::cout << outer(array<int>{1, 2}, array<int>{3, 4, 5});
///     // prints: [[ 3  4  5]
///     //          [ 6  8 10]]
template <array_expression A, array_expression B>
auto outer(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    return product(expand_dims(ravel(a), 1) * expand_dims(ravel(b), 0));
}

/// The sum of products over an axis of both, with `a` conjugated; the other axes are broadcast. In the dtype to which
/// both promote. Throws shape_error where the axes differ or there is none, or the others do not broadcast.
///
///     std::cout << vecdot(array<int>{{1, 2}, {3, 4}}, array<int>{1, 10}) << ' ';
///     std::cout << vecdot(array<int>{{1, 2}, {3, 4}}, array<int>{{1, 10}, {1, 10}}, 0);
///     // prints: [21 43] [ 4 60]
template <array_expression A, array_expression B>
auto vecdot(const A& a, const B& b, index_t axis = -1, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    using T = typename product::value_type;
    product x = a, y = b;
    shape_room rooms[2];
    const extents_ref of_x = x.extents(rooms[0]), of_y = y.extents(rooms[1]);
    if (of_x.rank == 0 || of_y.rank == 0) throw_has_no_axes("vecdot", of_x, of_y);
    check_contracted("vecdot", of_x, checked_axis("vecdot", axis, of_x.rank), of_y,
                     checked_axis("vecdot", axis, of_y.rank));
    if constexpr (complex_number<T>) x = conj(x);
    x = moveaxis(x, axis, -1), y = moveaxis(y, axis, -1);
    check_shapes("vecdot", x, y);
    return sum_of_products<T>("vecdot", x, y, -1);
}

/// The sum of products over the last `count` axes of `a` and the first of `b`, or over the axes given of each, in their
/// order; the other axes of `a` come before those of `b`. In the dtype to which both promote. Throws shape_error where
/// these axes differ in number or extents, one is given twice or does not exist.
///
///     array<int> a = reshape(arange<int>(6), {1, 2, 3}), b = reshape(arange<int>(6), {2, 3});
///     std::cout << tensordot(a, b) << ' ' << tensordot(a, b, {2}, {1}).shape() << ' ' << tensordot(a, b, 0).shape();
///     // prints: [55] (1, 2, 2) (1, 2, 3, 2, 3)
template <array_expression A, array_expression B>
auto tensordot(const A& a, const B& b, const axes& of_a, const axes& of_b,
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    const product x = a, y = b;
    shape_room rooms[2];
    const extents_ref of_x = x.extents(rooms[0]), of_y = y.extents(rooms[1]);
    check_tensor_axes(of_x, of_a, of_y, of_b);
    const axis_labels left = labels_from(0, of_x.rank);
    axis_labels right = labels_from(of_x.rank, of_y.rank), result;
    for (int i = 0; i < of_a.count(); ++i)
        right[static_cast<std::size_t>(checked_axis("tensordot", of_b[i], of_y.rank))] =
            checked_axis("tensordot", of_a[i], of_x.rank);
    for (const int label : left) {
        bool is_summed = false;
        for (const int other : right) is_summed = is_summed || other == label;
        if (!is_summed) result.push_back(label);
    }
    for (const int label : right)
        if (label >= of_x.rank) result.push_back(label);
    return contract("tensordot", x, left, y, right, result);
}
template <array_expression A, array_expression B, integer_argument I = int>
auto tensordot(const A& a, const B& b, I count = 2, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const auto n = as_extent(count);
    check_tensor_count(shape_of_expression(a).values(), shape_of_expression(b).values(), n);
    std::vector<index_t> last, first;
    for (index_t i = 0; i < n; ++i) last.push_back(i - n), first.push_back(i);
    return tensordot(a, b, axes(last), axes(first));
}

// ---- of elements ---------------------------------------------------------------------------------------------------

/// Kronecker's product: each element of `a` is replaced by its product with the whole of `b`. The operand with fewer
/// axes gets axes of extent 1 in front. The elements are evaluated now.
///
///     std::cout << kron(array<int>{{1, 10}}, array<int>{{1, 2}, {3, 4}});
///     // prints: [[ 1  2 10 20]
///     //          [ 3  4 30 40]]
template <array_expression A, array_expression B>
auto kron(const A& a, const B& b, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    const product x = a, y = b;
    const int rank = x.ndim() > y.ndim() ? x.ndim() : y.ndim();
    const product left = viewed_to_read(x, view_with_axes, rank), right = viewed_to_read(y, view_with_axes, rank);
    std::vector<index_t> odd, even, shape;
    for (int j = 0; j < rank; ++j) {
        odd.push_back(2 * j + 1), even.push_back(2 * j);
        shape.push_back(left.shape()[j] * right.shape()[j]);
    }
    const array<typename product::value_type> elements =
        product(expand_dims(left, axes(odd)) * expand_dims(right, axes(even)));
    return product(reshaped("kron", elements, shape));
}

/// The cross product of vectors of three numbers, which lie along an axis of each operand and of the result; the other
/// axes are broadcast. In the dtype to which both promote; bool has none. Throws shape_error where the vectors do not
/// have three elements.
///
///     std::cout << cross(array<int>{1, 0, 0}, array<int>{{0, 1, 0}, {0, 0, 1}});
///     // prints: [[ 0  0  1]
///     //          [ 0 -1  0]]
template <array_expression A, array_expression B>
    requires(product_dtype<node_of<A>, node_of<B>> != dtype::b1)
auto cross(const A& a, const B& b, index_t axis_of_a, index_t axis_of_b, index_t axis_of_result,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using product = product_of<A, B>;
    product x = a, y = b;
    shape_room rooms[2];
    check_vectors_of_three(x.extents(rooms[0]), axis_of_a, y.extents(rooms[1]), axis_of_b);
    x = moveaxis(x, axis_of_a, -1), y = moveaxis(y, axis_of_b, -1);
    check_shapes("cross", x, y);
    const auto turned = [](const product& e, index_t by) { return product(roll(e, by, -1)); };
    return product(
        moveaxis(product(turned(x, -1) * turned(y, -2) - turned(x, -2) * turned(y, -1)), -1, axis_of_result));
}
template <array_expression A, array_expression B>
    requires(product_dtype<node_of<A>, node_of<B>> != dtype::b1)
auto cross(const A& a, const B& b, index_t axis = -1, const source_place& here = source_place::current()) {
    return cross(a, b, axis, axis, axis, here);
}

}  // namespace detail

using detail::cross;
using detail::dot;
using detail::inner;
using detail::kron;
using detail::matmul;
using detail::outer;
using detail::tensordot;
using detail::vdot;
using detail::vecdot;

/// NumPy's linear algebra.
namespace linalg {
using detail::cross;
using detail::matmul;
using detail::outer;
using detail::tensordot;
using detail::vecdot;

/// The sum of the diagonal `offset` above the main one of each matrix, the last two axes of e. The type is that of
/// `sum`. Throws shape_error where e has fewer than two axes.
///
///     std::cout << linalg::trace(array<int>{{1, 2}, {3, 4}}) << ' ' << linalg::trace(ones<int>({5, 2, 2})).shape();
///     // prints: 5 (5,)
template <array_expression E>
auto trace(const E& e, index_t offset = 0, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::trace(e, offset, -2, -1);
}
}  // namespace linalg

}  // namespace ingot
