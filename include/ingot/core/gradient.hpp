// The derivative along an axis as one expression: beyond the ends it reads the nearest element.
#pragma once

#include <string>

#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>

namespace ingot {
namespace detail {

/// The derivative along an axis from samples `spacing` apart: central differences inside, one-sided ones at both ends.
/// The result has e's shape; it is float64 for bool and integers, else of e's type. A vector's axis need not be given.
/// Throws shape_error where e does not have the axis, it has fewer than two elements, or none is given for several.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << gradient(array<double>{1, 4, 9, 16}) << '\n' << gradient(m, 0.5, 1);
///     // prints: [3. 4. 6. 7.]
///     //         [[2. 2. 2.]
///     //          [2. 2. 2.]]
template <array_expression E>
auto gradient(const E& e, double spacing, index_t axis) {
    const int rank = e.ndim(), at = checked_axis("gradient", axis, rank);
    const index_t n = e.shape()[at];
    if (n < 2)
        throw shape_error("[gradient] axis " + std::to_string(axis) + " of shape " + to_text(e.shape().values()) +
                          " has fewer than two elements");
    const auto f = with_fractions(e);
    using T = typename std::remove_cvref_t<decltype(f)>::value_type;
    const auto i = position_along<E>(n, rank - 1 - at);
    const auto apart = where(i == index_t{0} || i == n - 1, scalar<T>(static_cast<T>(spacing)),
                             scalar<T>(static_cast<T>(2 * spacing)));
    return (nearest("gradient", f, at, 1) - nearest("gradient", f, at, -1)) / apart;
}
// For several axes NumPy returns all derivatives.
template <array_expression E>
auto gradient(const E& e, double spacing = 1.0) {
    if (e.ndim() != 1)
        throw shape_error("[gradient] of shape " + to_text(e.shape().values()) + ": say along which axis");
    return gradient(e, spacing, 0);
}

}  // namespace detail

using detail::gradient;

}  // namespace ingot
