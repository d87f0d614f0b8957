// Views in which one element occurs several times, which are read-only: windows that slide over an expression, and any
// strides over an array's memory.
#pragma once

#include <span>
#include <utility>

#include <ingot/core/creation.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// Every window of that shape. The windows' axes follow the axes along which they slide: all, or those given, one of
/// which may be given twice. It is a read-only view. Throws shape_error where the window has another number of axes or
/// does not fit.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << sliding_window_view(array<int>{1, 2, 3, 4}, 2) << '\n' << sliding_window_view(m, {2, 2}).shape();
///     std::cout << ' ' << sum(sliding_window_view(m, 2, 1), -1);
///     // prints: [[1 2]
///     //          [2 3]
///     //          [3 4]]
///     //         (1, 2, 2, 2) [[ 3  5]
///     //          [ 9 11]]
template <array_expression E>
auto sliding_window_view(E&& e, const shape_like& window) {
    return viewed_to_read(std::forward<E>(e), view_windows, window.values(), nullptr);
}
template <array_expression E>
auto sliding_window_view(E&& e, const shape_like& window, const axes& along) {
    return viewed_to_read(std::forward<E>(e), view_windows, window.values(), &along);
}

/// An array or a view of one.
template <class E>
concept array_in_memory = array_expression<E> && requires(const E& e) { as_node(e).memory(); };

/// An array's memory from its first element, with another shape and strides in bytes: a read-only view. Throws
/// shape_error where elements would lie outside the memory, or a stride is no multiple of an element's bytes.
///
///     array<int> x{1, 2, 3, 4, 5, 6};
///     std::cout << as_strided(x, {2, 3}, {4, 8});
///     // prints: [[1 3 5]
///     //          [2 4 6]]
template <array_in_memory E>
auto as_strided(const E& e, const shape_like& shape, const shape_like& strides) {
    using T = typename E::value_type;
    const leaf<T>& given = as_node(e);
    return leaf<T>(given.memory(), layout_within("as_strided", dtype_of<T>, given.memory().get(), given.where().offset,
                                                 shape.values(), &strides));
}

}  // namespace detail

using detail::as_strided;
using detail::sliding_window_view;

}  // namespace ingot
