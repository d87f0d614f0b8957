// Distances between the rows of matrices. Each metric is a fold along a row, and a matrix of distances is an
// expression: a reduction behind it needs no matrix in memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include <ingot/core/any_expression.hpp>
#include <ingot/core/array.hpp>
#include <ingot/core/reshape.hpp>

namespace ingot {
namespace spatial {

/// The distance of two rows x and y, as SciPy names it.
///
///     const array<double> x{{0, 0}, {3, 4}};
///     for (const auto m : {spatial::metric::euclidean, spatial::metric::cityblock, spatial::metric::chebyshev})
///         std::cout << spatial::pdist(x, m) << '\n';
///     // prints: [5.]
///     //         [7.]
///     //         [4.]
enum class metric : std::uint8_t {
    euclidean,      // the root of the sum of squared differences
    sqeuclidean,    // the sum of squared differences
    cityblock,      // the sum of absolute differences
    chebyshev,      // the greatest absolute difference
    minkowski,      // the sum of absolute differences to the power p, to the power 1 / p
    cosine,         // 1 minus the cosine of the angle between x and y
    correlation,    // 1 minus the correlation coefficient of x and y
    hamming,        // the share of elements that differ
    canberra,       // the sum of |x - y| / (|x| + |y|), of which 0 / 0 is 0
    braycurtis,     // the sum of |x - y| over that of |x + y|
    jensenshannon,  // the root of the Jensen-Shannon divergence of x and y, divided by their sums
    jaccard,        // of the elements that are not 0 in x or y, the share of those that are 0 in the other
};

/// The options of `cdist` and `pdist`.
struct distance_options {
    /// The exponent of `metric::minkowski`, greater than 0; it may be infinite.
    double p = 2;
};

}  // namespace spatial

namespace detail {

/// float32 for float32 and halves, float64 for other numbers.
template <dtype Type>
using distance_number =
    std::conditional_t<kind_of(Type) == kind::floating && promote(Type, dtype::f4) == dtype::f4, float, double>;

INGOT_API tree_ref distances_between(const char* operation, const any_expression& a, const any_expression& b,
                                     spatial::metric, double p);
INGOT_API tree_ref distances_within(const any_expression& x, spatial::metric, double p);
INGOT_API tree_ref other_form(const any_expression& elements, const shape_like& shape, bool checks);

}  // namespace detail

namespace spatial {

/// The distance of each row of a from each row of b: a `lazy` of the shape (rows of a, rows of b). float32 and halves
/// are computed in float32, other numbers in float64. Throws shape_error where a or b has not two axes, or they have
/// not as many columns; error where p is not greater than 0.
///
///     const array<double> a{{0, 0}, {1, 0}, {2, 2}}, b{{0, 0}, {4, 0}};
///     std::cout << spatial::cdist(a, b) << '\n' << min(spatial::cdist(a, b, spatial::metric::minkowski, {.p = 3}), 1);
///     // prints: [[0.         4.        ]
///     //          [1.         3.        ]
///     //          [2.82842712 2.82842712]]
///     //         [0.        1.        2.5198421]
template <detail::real_values A, detail::real_values B>
auto cdist(const A& a, const B& b, metric m = metric::euclidean, const distance_options& how = {}) {
    return lazy<detail::distance_number<detail::promote(A::type, B::type)>>::of(
        detail::distances_between("cdist", a, b, m, how.p));
}

/// The distances of all pairs of rows of x, as a vector: of row 0 from the rows behind it, of row 1 from those behind
/// it, and so on: a `lazy`, of a temporary that has the whole matrix. `squareform` makes a matrix of it. dtypes and
/// errors are those of `cdist`.
///
///     std::cout << spatial::pdist(array<double>{{0}, {1}, {5}}) << ' '
///               << spatial::pdist(array<int>{{1, 0}, {1, 2}}, spatial::metric::hamming);
///     // prints: [1. 5. 4.] [0.5]
template <detail::real_values X>
auto pdist(const X& x, metric m = metric::euclidean, const distance_options& how = {}) {
    return lazy<detail::distance_number<X::type>>::of(detail::distances_within(x, m, how.p));
}

/// The matrix of the distances in a vector as `pdist` gives it, or the vector of those in a symmetric matrix: a `lazy`
/// of x's dtype. With `checks` a matrix is compared with its transpose, which waits. Throws shape_error where x is
/// neither a square matrix nor a vector of n (n - 1) / 2 elements; error where a checked matrix is not symmetric or
/// its diagonal is not 0.
///
///     const array<double> d{1, 5, 4};
///     std::cout << spatial::squareform(d) << ' ' << spatial::squareform(spatial::squareform(d));
///     // prints: [[0. 1. 5.]
///     //          [1. 0. 4.]
///     //          [5. 4. 0.]] [1. 5. 4.]
template <array_expression X>
lazy<typename X::value_type> squareform(const X& x, bool checks = true) {
    using T = typename X::value_type;
    const array<T> values(x);
    return lazy<T>::of(detail::other_form(reshape(values, {values.size()}), values.shape(), checks));
}

/// The Minkowski distance of each row of x from each row of y, with this p: a `lazy` as that of `cdist`, whose errors
/// it throws.
///
///     std::cout << spatial::distance_matrix(array<double>{{0, 0}, {3, 4}}, array<double>{{0, 0}}, 1);
///     // prints: [[0.]
///     //          [7.]]
template <detail::real_values X, detail::real_values Y>
auto distance_matrix(const X& x, const Y& y, double p = 2) {
    return lazy<detail::distance_number<detail::promote(X::type, Y::type)>>::of(
        detail::distances_between("distance_matrix", x, y, metric::minkowski, p));
}

}  // namespace spatial
}  // namespace ingot
