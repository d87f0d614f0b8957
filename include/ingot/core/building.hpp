// Triangles of matrices, Vandermonde matrices and flat indices: expressions over positions, which take no memory; and
// diagflat, which makes an array.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ingot/core/gather.hpp>
#include <ingot/core/scans.hpp>

namespace ingot {
namespace detail {

[[noreturn]] INGOT_API void throw_beyond(const char* operation, index_t index, std::span<const index_t> shape);
[[noreturn]] INGOT_API void throw_wrong_count(const char* operation, int given, std::span<const index_t> shape);
/// The number of elements of an array of this shape. Throws shape_error.
INGOT_API index_t size_of_shape(const char* operation, std::span<const index_t> shape);

// ---- matrices ------------------------------------------------------------------------------------------------------

/// How far right of the diagonal each element of the last two axes is; a vector stands for each row of a square matrix.
template <class E>
auto offsets_from_diagonal(const char* operation, extents_ref shape) {
    want_axes(operation, shape, 1);
    layout where(2);
    where.shape()[0] = shape.data[shape.rank > 1 ? shape.rank - 2 : 0];
    where.shape()[1] = shape.data[shape.rank - 1];
    where.strides()[0] = -1;
    where.strides()[1] = 1;
    return positions(std::move(where));
}

/// e with zeros above the diagonal `offset` above the main one of the last two axes, in e's type. A vector stands for
/// each row of a square matrix. Throws shape_error where e has no axis.
///
///     std::cout << tril(array<int>{{1, 2, 3}, {4, 5, 6}});
///     // prints: [[1 0 0]
///     //          [4 5 0]]
template <array_expression E>
auto tril(const E& e, index_t offset = 0) {
    shape_room room;
    const auto right = offsets_from_diagonal<E>("tril", as_node(e).extents(room));
    return where(right <= offset, e, element_leaf<typename E::value_type>("tril", 0));
}

/// e with zeros below the diagonal `offset` above the main one of the last two axes, in e's type. A vector stands for
/// each row of a square matrix. Throws shape_error where e has no axis.
///
///     std::cout << triu(array<int>{{1, 2, 3}, {4, 5, 6}}, 1);
///     // prints: [[0 2 3]
///     //          [0 0 6]]
template <array_expression E>
auto triu(const E& e, index_t offset = 0) {
    shape_room room;
    const auto right = offsets_from_diagonal<E>("triu", as_node(e).extents(room));
    return where(right >= offset, e, element_leaf<typename E::value_type>("triu", 0));
}

/// A matrix with e's elements in C order on the diagonal `offset` above the main one and zeros elsewhere: an array of
/// e's type.
///
///     std::cout << diagflat(array<int>{1, 2}, 1);
///     // prints: [[0 1 0]
///     //          [0 0 2]
///     //          [0 0 0]]
template <array_expression E>
auto diagflat(const E& e, index_t offset = 0) {
    return diag(ravel(e), offset);
}

/// A Vandermonde matrix: the powers of a vector's elements in rows, the highest first, or with `increasing` the lowest;
/// the number of powers is that of elements, or `columns`. float64 or complex128 for floating and complex types, else
/// int64. Throws shape_error where e is no vector or the number is negative.
///
///     std::cout << vander(array<int>{1, 2, 3}) << '\n' << vander(array<int>{2, 3}, 4, true);
///     // prints: [[1 1 1]
///     //          [4 2 1]
///     //          [9 3 1]]
///     //         [[ 1  2  4  8]
///     //          [ 1  3  9 27]]
template <array_expression E>
auto vander(const E& e, index_t columns, bool increasing = false) {
    using T = type_of<promote(node_of<E>::type, dtype::i8)>;
    if (const int rank = shape_of_expression(e).count(); rank != 1) throw_wrong_rank("vander", rank, "1");
    if (columns < 0) throw_negative_count("vander", columns);
    const auto x = astype<T>(expand_dims(e, 1));
    const auto k = position_along<E>(columns, 0);
    slice order = increasing ? slice(0) : slice(none, none, -1);
    if constexpr (complex_number<T>)
        return sliced("vander", power(x, astype<T>(k)), 1, order);
    else
        return sliced("vander", cumprod(where(k == index_t{0}, element_leaf<T>("vander", 1), x), 1), 1, order);
}
template <array_expression E>
auto vander(const E& e) {
    const shape_like shape = shape_of_expression(e);
    return vander(e, shape.count() == 1 ? shape[0] : 0);
}

}  // namespace detail

/// The indices of the elements on or below the diagonal `offset` above the main one, in a matrix of n rows and, by
/// default, n columns: those of the rows and of the columns, to index with. Throws shape_error where a number is
/// negative.
///
///     array<int> m{{1, 2}, {3, 4}};
///     m(tril_indices(2)) = 0;
///     std::cout << m << ' ' << tril_indices(2)[1];
///     // prints: [[0 2]
///     //          [0 0]] [0 0 1]
INGOT_API std::array<array<index_t>, 2> tril_indices(index_t n, index_t offset = 0,
                                                     std::optional<index_t> columns = {});
/// As tril_indices, for the elements on or above the diagonal.
///
///     std::cout << triu_indices(3, 1)[0] << ' ' << triu_indices(3, 1)[1];
///     // prints: [0 0 1] [1 2 2]
INGOT_API std::array<array<index_t>, 2> triu_indices(index_t n, index_t offset = 0,
                                                     std::optional<index_t> columns = {});

/// The indices of the main diagonal of an array of N axes, by default two, of extent n; to index with. Throws
/// shape_error where n is negative.
///
///     array<int> m = zeros<int>({3, 3});
///     m(diag_indices(3)) = array<int>{1, 2, 3};
///     std::cout << m;
///     // prints: [[1 0 0]
///     //          [0 2 0]
///     //          [0 0 3]]
template <std::size_t N = 2>
std::array<array<index_t>, N> diag_indices(index_t n) {
    std::array<array<detail::deferred<index_t, std::integral_constant<std::size_t, N>>>, N> places;
    places.fill(arange<index_t>(n < 0 ? throw shape_error("[diag_indices] an extent of " + std::to_string(n)) : n));
    return places;
}

namespace detail {

// ---- numbers of places
// -----------------------------------------------------------------------------------------------

/// Index k of a flat index, where one step along axis k spans `behind` elements.
template <class E>
auto digit_of_place(const E& e, index_t extent, index_t behind) {
    return remainder(floor_divide(astype<index_t>(e), behind), extent);
}
inline index_t places_behind(std::span<const index_t> shape, std::size_t axis) {
    return extents_ref::of(shape.subspan(axis + 1)).size();
}

/// Converts flat indices in C order for an array of this shape to indices along each axis, in int64. A shape in braces
/// gives a std::array of expressions, or of numbers; a shape in a variable gives a vector of them. Expressions are not
/// checked for numbers outside the shape; a number throws index_error.
///
///     auto [i, j] = unravel_index(array<int>{5, 7}, {3, 4});
///     std::cout << i << ' ' << j << ' ' << unravel_index(7, {3, 4})[1];
///     // prints: [1 1] [1 3] 3
template <array_expression E, std::size_t N>
auto unravel_index(const E& e, const index_t (&shape)[N]) {
    size_of_shape("unravel_index", shape);
    return [&]<std::size_t... K>(std::index_sequence<K...>) {
        return std::array{digit_of_place(e, shape[K], places_behind(shape, K))...};
    }(std::make_index_sequence<N>());
}
template <array_expression E, std::same_as<shape_like> S>
auto unravel_index(const E& e, const S& shape) {
    size_of_shape("unravel_index", shape.values());
    std::vector<decltype(digit_of_place(e, 0, 0))> digits;
    for (std::size_t k = 0; k < shape.size(); ++k)
        digits.push_back(digit_of_place(e, shape.values()[k], places_behind(shape.values(), k)));
    return digits;
}
template <integer_argument I, std::size_t N>
std::array<index_t, N> unravel_index(I place, const index_t (&shape)[N]) {
    const index_t size = size_of_shape("unravel_index", shape), at = as_index(place);
    if (at < 0 || at >= size) throw_beyond("unravel_index", at, shape);
    std::array<index_t, N> digits;
    for (std::size_t k = 0; k < N; ++k) digits[k] = at / places_behind(shape, k) % shape[k];
    return digits;
}

/// An index along an axis, adjusted by the mode.
template <index_mode Mode, class E>
auto index_in_mode(const E& e, index_t extent) {
    if constexpr (Mode == index_mode::wrap)
        return remainder(astype<index_t>(e), extent);
    else if constexpr (Mode == index_mode::clip)
        return clip(astype<index_t>(e), index_t{0}, extent - 1);
    else
        return astype<index_t>(e);
}

/// Converts indices, a tuple of expressions with one for each axis of an array of this shape, to flat indices in C
/// order; int64. The mode says what an index outside does: `wrap` or `clip`; without one, indices must lie inside and
/// are not checked. Throws shape_error where there are not as many as axes or they do not broadcast.
///
///     std::cout << ravel_multi_index(std::tuple{array<int>{1, 2}, array<int>{0, 3}}, {3, 4}) << ' ';
///     std::cout << ravel_multi_index<index_mode::wrap>(std::tuple{array<int>{5}, array<int>{-1}}, {3, 4});
///     // prints: [ 4 11] [11]
template <index_mode Mode = unchecked_mode, array_expression... E>
    requires(sizeof...(E) > 0 && Mode != index_mode::check)
auto ravel_multi_index(const std::tuple<E...>& indices, const shape_like& shape) {
    size_of_shape("ravel_multi_index", shape.values());
    if (shape.size() != sizeof...(E))
        throw_wrong_count("ravel_multi_index", static_cast<int>(sizeof...(E)), shape.values());
    return std::apply(
        [&](const auto&... e) {
            std::size_t k = 0;
            const auto step = [&](const auto& one) {
                const index_t behind = places_behind(shape.values(), k);
                return index_in_mode<Mode>(one, shape.values()[k++]) * behind;
            };
            std::tuple terms{step(e)...};
            return std::apply([](auto&&... term) { return (std::move(term) + ...); }, std::move(terms));
        },
        indices);
}

}  // namespace detail

using detail::diagflat;
using detail::ravel_multi_index;
using detail::tril;
using detail::triu;
using detail::unravel_index;
using detail::vander;

}  // namespace ingot
