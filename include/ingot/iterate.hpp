// iterate(n, x, step): a stencil, or any other step, applied over and over.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

#include <ingot/array.hpp>
#include <ingot/array_indexing.hpp>

namespace ingot {
namespace detail {

/// Where in an array the step's results of this shape lie: as far from one end as from the other. Throws shape_error
/// where they do not, or n is negative.
INGOT_API layout inside(index_t n, const layout& whole, const shape_like& part);

}  // namespace detail

/// x after n steps, each the expression that step(x) gives, an array of x's dtype. A step's result has x's shape, or is
/// smaller, by an even number along each axis: it is the inside then, and the border stays as it is. Every step is the
/// statement that a loop would have, with its bits and its kernel; two arrays take turns, and none is copied. Throws
/// shape_error where n is negative or the result has another shape, and what the statements throw.
///
///     const slice low(0, -2), high(2, none);
///     array<double> rod{8, 0, 0, 0, 8};
///     std::cout << iterate(3, rod, [&](const auto& u) { return 0.5 * (u(low) + u(high)); });
///     // prints: [8. 6. 4. 6. 8.]
template <class T, class F>
    requires array_expression<std::invoke_result_t<F&, const array<T>&>>
array<T> iterate(index_t n, const array<T>& x, F&& step) {
    array<T> now = x, next = x;
    if (n == 0) return now;
    const shape_like part = detail::shape_of_expression(step(std::as_const(now)));
    (void)detail::inside(n, detail::as_node(x).where(), part);
    for (index_t i = 0; i < n; ++i) {
        const array<T>& from = i % 2 == 0 ? now : next;
        selection<T> written = (i % 2 == 0 ? next : now).as_selection();
        detail::layout& where = detail::access::seen(written).where();
        where = detail::inside(n, where, part);
        detail::write("iterate", std::move(written), step(from));
    }
    return n % 2 == 0 ? now : next;
}

}  // namespace ingot
