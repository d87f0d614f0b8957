// Searches in sorted values, and interpolation between points. Each is an elementwise expression that searches an
// array, and fuses with the expressions before and after it.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/rearranging.hpp>
#include <ingot/kernels/user_kernels.hpp>

namespace ingot {

/// The index that `searchsorted` gives for a value that is already there: before the elements that equal it, or behind.
enum class search_side : std::uint8_t { left, right };

namespace detail {

/// Numbers that have an order.
template <class E>
concept real_operand = operand_like<E> && (kind_of(operand_type_of<E>().type) != kind::complex);
template <class E>
concept real_array = array_expression<E> && real_operand<E>;

/// The dtype in which values of both are compared.
template <class... E>
constexpr dtype compared_in() {
    dtype t = dtype::b1;
    ((t = promote(t, operand_type_of<E>().type)), ...);
    return t == dtype::b1 ? dtype::u1 : computed_in(t);
}

using search_kernel = elementwise_kernel<"T v, raw T a", "int64 k">;
/// A text that counts the elements of a sorted array before a value, with `right` including those that equal it.
INGOT_API const search_kernel& search_text(bool descending, bool right);
/// Throws shape_error unless the shape has one axis.
INGOT_API void check_vector(const char* operation, std::span<const index_t> shape);
[[noreturn]] INGOT_API void throw_unordered(const char* operation);
[[noreturn]] INGOT_API void throw_other_size(const char* operation, const char* what, std::span<const index_t> given,
                                             std::span<const index_t> wanted);

/// The index at which each value would be inserted into a sorted vector to keep it sorted: before elements that equal
/// it, or with `search_side::right` behind them. NaN is greater than any number. The result is an expression in int64
/// with the shape of v, which may be a number. An expression `a` is evaluated now. `sorter`: indices that sort `a`,
/// which then need not be sorted. Whether `a` is sorted is not checked. Throws shape_error where `a` is no vector or
/// the sorter has another length; the next wait throws index_error where the sorter has an index out of range.
///
///     array<double> a{1, 2, 2, 5}, v{2, 0, 9};
///     std::cout << searchsorted(a, v * 1.0) << ' ' << searchsorted(a, v, search_side::right);
///     std::cout << ' ' << searchsorted(array<int>{5, 1, 2}, 3, search_side::left, array<int>{1, 2, 0});
///     // prints: [1 0 4] [3 0 4] 2
template <real_array A, real_operand V>
auto searchsorted(const A& a, V&& v, search_side side = search_side::left,
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = type_of<compared_in<A, V>()>;
    check_vector("searchsorted", shape_of_expression(a).values());
    return search_text(false, side == search_side::right)(as_values<T>(std::forward<V>(v)), as_values<T>(a));
}
template <real_array A, real_operand V, integer_array S>
auto searchsorted(const A& a, V&& v, search_side side, const S& sorter,
                  const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    check_vector("searchsorted", shape_of_expression(a).values());
    const shape_like length = shape_of_expression(a), given = shape_of_expression(sorter);
    if (!same_extents(extents_ref::of(given.values()), extents_ref::of(length.values())))
        throw_other_size("searchsorted", "a sorter", given.values(), length.values());
    return searchsorted(take(a, sorter, 0), std::forward<V>(v), side);
}

/// The bin of each value, for bins that increase or decrease: the number i for which bins[i-1] <= x < bins[i], or for
/// decreasing ones bins[i-1] > x >= bins[i]; with `right` a bin includes its other edge. 0 and the number of edges are
/// outside. The result is an expression in int64 with the shape of x, which may be a number. It waits for whether the
/// bins increase. Throws shape_error where the bins are no vector, error where they are in no order.
///
///     array<double> x{0.2, 6.4, 3.0}, bins{0, 1, 2.5, 4, 10};
///     std::cout << digitize(x, bins) << ' ' << digitize(x * 2, bins(slice(none, none, -1)));
///     // prints: [1 4 3] [4 0 1]
template <real_operand X, real_array B>
auto digitize(X&& x, const B& bins, bool right = false, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = type_of<compared_in<X, B>()>;
    check_vector("digitize", shape_of_expression(bins).values());
    const array<T> edges(as_values<T>(bins));
    bool descending = false;
    if (edges.size() > 1) {
        const auto before = edges(slice(none, -1)), behind = edges(slice(1, none));
        const auto [rises, falls] = eval(any(before < behind), any(before > behind));
        descending = falls.item();
        if (descending && rises.item()) throw_unordered("digitize");
    }
    return search_text(descending, !right)(as_values<T>(std::forward<X>(x)), edges);
}

// ---- between points --------------------------------------------------------------------------------------------

}  // namespace detail

/// The values of `interp` outside its points: given numbers before the first and behind the last point, by default the
/// values there; or, with a period, those of the repeated points.
///
///     interp_options<double> zero_outside{.left = 0, .right = 0};
///     std::cout << interp(array<double>{-1, 0.5}, array<double>{0, 1}, array<double>{3, 4}, zero_outside);
///     // prints: [0.  3.5]
template <class T>
struct interp_options {
    /// The value before the first point; by default that of the first point.
    std::optional<T> left = std::nullopt;
    /// The value behind the last point; by default that of the last point.
    std::optional<T> right = std::nullopt;
    /// The period after which the points repeat; `left` and `right` are then not used.
    std::optional<double> period = std::nullopt;
};

namespace detail {

/// `interp` in float64 or complex128.
INGOT_API lazy<double> interpolated(const lazy<double>& x, const array<double>& xp, const array<double>& fp,
                                    const interp_options<double>&);
INGOT_API lazy<std::complex<double>> interpolated(const lazy<double>& x, const array<double>& xp,
                                                  const array<std::complex<double>>& fp,
                                                  const interp_options<std::complex<double>>&);

/// The piecewise linear function through the points (xp, fp), xp increasing, at x: a `lazy`, float64, or complex128
/// where fp is complex; expressions for `xp` and `fp` are evaluated now. Before the first point the result is that
/// point's value and behind the last one the last's, or `left` and `right`. With a `period` x and xp are taken modulo
/// that and xp may be in any order; it is sorted on the host, which waits. NaN stays NaN. Whether xp increases is not
/// checked. Throws shape_error where xp and fp are not vectors of one length or have no elements, error where the
/// period is 0.
///
///     array<double> xp{1, 2, 3}, fp{3, 2, 0};
///     std::cout << interp(array<double>{0, 1.5, 2.72, 4}, xp, fp) << ' ' << interp(2.5, xp, fp);
///     std::cout << ' ' << interp(array<int>{0, 4}, xp, fp, {.left = -1, .right = -2});
///     std::cout << ' ' << interp(array<int>{-170, -180}, array<int>{190, -190}, array<int>{5, 10}, {.period = 360});
///     // prints: [3.   2.5  0.56 0.  ] 1.0 [-1. -2.] [5.  7.5]
template <real_operand X, real_array P, array_expression F,
          class T = type_of<promote(operand_type_of<F>().type, dtype::f8)>>
lazy<T> interp(const X& x, const P& xp, const F& fp, const std::type_identity_t<interp_options<T>>& outside = {},
               const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using real = deferred<double, T>;
    return interpolated(lazy<real>(as_values<real>(x)), array<real>(as_values<real>(xp)), array<T>(as_values<T>(fp)),
                        outside);
}

}  // namespace detail

using detail::digitize;
using detail::interp;
using detail::searchsorted;

}  // namespace ingot
