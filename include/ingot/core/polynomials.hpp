// Polynomials by their coefficients, the highest power first: values, roots and least-squares fits.
#pragma once

#include <complex>
#include <optional>
#include <utility>

#include <ingot/core/array.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

namespace ingot {

/// The options of `polyfit`.
struct polyfit_options {
    /// A factor for each difference, applied before it is squared.
    std::optional<lazy<double>> w = {};
};

namespace detail {

/// The number of coefficients. Throws shape_error unless they are a vector.
INGOT_API index_t coefficient_count(const char* operation, extents_ref shape);

/// A polynomial's values, p[0] x^n + ... + p[n], by Horner's rule, as one expression. The result has x's shape and the
/// type to which both promote, where a number has only its kind. Throws shape_error where the coefficients are no
/// vector.
///
///     std::cout << polyval(array<int>{3, 0, 1}, array<int>{1, 2, 5}) << ' ' << polyval(array<double>{1, 2}, 3);
///     // prints: [ 4 13 76] 5.0
template <array_expression P, operand_like X>
auto polyval(const P& p, const X& x) {
    constexpr dtype type = array_expression<X> ? promote(node_of<P>::type, operand_type_of<X>().type)
                                               : promote_weak(node_of<P>::type, kind_of(operand_type_of<X>().type));
    using T = type_of<type>;
    shape_room room;
    const auto& coefficients = as_node(p);
    const index_t n = coefficient_count("polyval", coefficients.extents(room));
    const auto at = [&]() -> lazy<T> {
        if constexpr (array_expression<X>)
            return lazy<T>(astype<T>(x));
        else
            return lazy<T>(element_leaf<T>("polyval", x));
    }();
    lazy<T> value = at * element_leaf<T>("polyval", 0);
    for (index_t k = 0; k < n; ++k) value = value * at + astype<T>(coefficients(k));
    return value;
}

INGOT_API array<double> fitted_polynomial(const lazy<double>& x, const lazy<double>& y, index_t degree,
                                          const polyfit_options&);
INGOT_API array<std::complex<double>> polynomial_roots(const lazy<std::complex<double>>& p);

/// The polynomial of that degree with the least sum of squared differences from y at x: its coefficients, float64;
/// columns of y give a column each. Throws shape_error where x is no vector with elements or y does not have its
/// length, dtype_error where the degree is negative.
///
///     array<double> x{0, 1, 2, 3};
///     std::cout << round(polyfit(x, x * x + 2 * x + 3, 2), 6);
///     // prints: [1. 2. 3.]
template <array_expression X, array_expression Y>
    requires(kind_of(node_of<X>::type) != kind::complex && kind_of(node_of<Y>::type) != kind::complex)
array<deferred<double, X, Y>> polyfit(const X& x, const Y& y, index_t degree, const polyfit_options& options = {}) {
    return fitted_polynomial(lazy<double>(astype<double>(x)), lazy<double>(astype<double>(y)), degree, options);
}

/// The roots of a polynomial, repeated by their multiplicity: the eigenvalues of its companion matrix, complex128.
/// Waits for the coefficients. Throws shape_error where they are no vector.
///
///     std::cout << round(sort(real(roots(array<double>{1, -3, 2}))), 6);
///     // prints: [1. 2.]
template <array_expression P>
array<std::complex<deferred<double, P>>> roots(const P& p) {
    return polynomial_roots(lazy<std::complex<double>>(astype<std::complex<double>>(p)));
}

}  // namespace detail

using detail::polyfit;
using detail::polyval;
using detail::roots;

}  // namespace ingot
