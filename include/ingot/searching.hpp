// Where values lie among sorted ones, and values between points. Each is an elementwise expression that searches an
// array: what is written before it and after it is one kernel with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <ingot/creation.hpp>
#include <ingot/functions.hpp>
#include <ingot/index_functions.hpp>
#include <ingot/rearranging.hpp>
#include <ingot/user_kernels.hpp>

namespace ingot {

/// Which place `searchsorted` finds for a value that is there already: before the elements that equal it, or behind.
enum class search_side : std::uint8_t { left, right };

namespace detail {

/// Numbers that have an order.
template <class E>
concept real_operand = operand_like<E> && (kind_of(operand_type_of<E>().type) != kind::complex);
template <class E>
concept real_array = array_expression<E> && real_operand<E>;

/// In which dtype values of both are compared.
template <class... E>
constexpr dtype compared_in() {
    dtype t = dtype::b1;
    ((t = promote(t, operand_type_of<E>().type)), ...);
    return t == dtype::b1 ? dtype::u1 : computed_in(t);
}

/// An expression of T, or a number that is one.
template <class T, class E>
decltype(auto) as_values(E&& e) {
    if constexpr (array_expression<E>)
        return converted_to<T>(std::forward<E>(e));
    else
        return scalar(static_cast<T>(plain_number(e)));
}

using search_kernel = elementwise_kernel<"T v, raw T a", "int64 k">;
/// A text that counts the elements of a sorted array that come before a value, or with `right` not behind it.
INGOT_API const search_kernel& search_text(bool descending, bool right);
/// Throws shape_error unless it is of one axis.
INGOT_API void check_vector(const char* operation, std::span<const index_t> shape);
[[noreturn]] INGOT_API void throw_unordered(const char* operation);
[[noreturn]] INGOT_API void throw_other_size(const char* operation, const char* what, std::span<const index_t> given,
                                             std::span<const index_t> wanted);

/// Where in a sorted vector each value would be inserted so that it stays sorted: before elements that equal it, or
/// with `search_side::right` behind them. NaN is greater than any number. int64, of the shape of v, which may be a
/// number. An expression; `a` is evaluated now if it is one. `sorter`: indices that sort `a`, which need then not be
/// sorted. That it is sorted is not checked. Throws shape_error where `a` is no vector or the sorter has another
/// length; whoever synchronises next gets an index_error where the sorter has an index that is out of range.
///
///     array<double> a{1, 2, 2, 5}, v{2, 0, 9};
///     std::cout << searchsorted(a, v * 1.0) << ' ' << searchsorted(a, v, search_side::right);
///     std::cout << ' ' << searchsorted(array<int>{5, 1, 2}, 3, search_side::left, array<int>{1, 2, 0});
///     // prints: [1 0 4] [3 0 4] 2
template <real_array A, real_operand V>
auto searchsorted(const A& a, V&& v, search_side side = search_side::left) {
    using T = type_of<compared_in<A, V>()>;
    check_vector("searchsorted", shape_of_expression(a).values());
    return search_text(false, side == search_side::right)(as_values<T>(std::forward<V>(v)), as_values<T>(a));
}
template <real_array A, real_operand V, integer_array S>
auto searchsorted(const A& a, V&& v, search_side side, const S& sorter) {
    check_vector("searchsorted", shape_of_expression(a).values());
    const shape_like length = shape_of_expression(a), given = shape_of_expression(sorter);
    if (!same_extents(extents_ref::of(given.values()), extents_ref::of(length.values())))
        throw_other_size("searchsorted", "a sorter", given.values(), length.values());
    return searchsorted(take(a, sorter, 0), std::forward<V>(v), side);
}

/// The bin in which each value lies, of bins that increase or decrease: the number i for which bins[i-1] <= x <
/// bins[i], or of decreasing ones bins[i-1] > x >= bins[i]; with `right` the other edge of a bin belongs to it. 0 and
/// the number of edges are outside. int64, of the shape of x, which may be a number. An expression; waits for whether
/// the bins increase. Throws shape_error where the bins are no vector, error where they are in no order.
///
///     array<double> x{0.2, 6.4, 3.0}, bins{0, 1, 2.5, 4, 10};
///     std::cout << digitize(x, bins) << ' ' << digitize(x * 2, bins(slice(none, none, -1)));
///     // prints: [1 4 3] [4 0 1]
template <real_operand X, real_array B>
auto digitize(X&& x, const B& bins, bool right = false) {
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

/// The values of `interp` outside its points: numbers before the first and behind the last, else what the points have
/// there; or, with a period, what the points are again.
///
///     interp_options<double> zero_outside{.left = 0, .right = 0};
///     std::cout << interp(array<double>{-1, 0.5}, array<double>{0, 1}, array<double>{3, 4}, zero_outside);
///     // prints: [0.  3.5]
template <class T>
struct interp_options {
    /// Before the first point; else the first point's value.
    std::optional<T> left = std::nullopt;
    /// Behind the last point; else the last point's value.
    std::optional<T> right = std::nullopt;
    /// After which the points come again; then `left` and `right` are not used.
    std::optional<double> period = std::nullopt;
};

namespace detail {

/// `given`: 1 where there is a left, 2 a right. A period of 0 is none.
using interp_kernel =
    elementwise_kernel<"double x, raw double xp, raw double fp, int given, double left, double right, double period",
                       "double y">;
INGOT_API const interp_kernel& interp_text();
/// Throws shape_error unless both are vectors of one length with elements.
INGOT_API void check_points(std::span<const index_t> xp, std::span<const index_t> fp);
/// Its absolute value. Throws error where it is 0.
INGOT_API double checked_period(double period);
/// Takes the points modulo a period, puts them in order, and adds the last one before them and the first one behind.
/// Returns which points these are.
INGOT_API std::vector<index_t> repeat_points(std::vector<double>& xp, double period);

template <class T>
struct points {
    array<double> xp;
    array<T> fp;
};
template <class T>
points<T> periodic(const points<T>& given, double period) {
    std::vector<double> xp = given.xp.to_host();
    const std::vector<index_t> which = repeat_points(xp, period);
    const device where = given.xp.device();
    return {asarray(xp).to(where), array<T>(take<index_mode::unchecked>(given.fp, asarray(which).to(where), 0))};
}

/// The piecewise linear function through the points (xp, fp), xp increasing, at x: an expression, float64, or
/// complex128 where fp is complex; `xp` and `fp` are evaluated now if they are expressions. Before the first point it
/// is what that has and behind the last one what that has, or `left` and `right`. With a `period` x and xp are taken
/// modulo that and xp may be in any order, which is sorted on the host: that waits. NaN stays NaN. That xp increases is
/// not checked. Throws shape_error where xp and fp are not vectors of one length or have no elements, error where the
/// period is 0.
///
///     array<double> xp{1, 2, 3}, fp{3, 2, 0};
///     std::cout << interp(array<double>{0, 1.5, 2.72, 4}, xp, fp) << ' ' << interp(2.5, xp, fp);
///     std::cout << ' ' << interp(array<int>{0, 4}, xp, fp, {.left = -1, .right = -2});
///     std::cout << ' ' << interp(array<int>{-170, -180}, array<int>{190, -190}, array<int>{5, 10}, {.period = 360});
///     // prints: [3.   2.5  0.56 0.  ] 1.0 [-1. -2.] [5.  7.5]
template <real_operand X, real_array P, array_expression F,
          class T = type_of<promote(operand_type_of<F>().type, dtype::f8)>>
auto interp(X&& x, const P& xp, const F& fp, const std::type_identity_t<interp_options<T>>& outside = {}) {
    check_points(shape_of_expression(xp).values(), shape_of_expression(fp).values());
    points<T> p{array<double>(as_values<double>(xp)), array<T>(as_values<T>(fp))};
    const double period = outside.period ? checked_period(*outside.period) : 0;
    if (period != 0) p = periodic(p, period);
    const int given = period != 0 ? 0 : (outside.left ? 1 : 0) + (outside.right ? 2 : 0);
    const T left = outside.left.value_or(T(0)), right = outside.right.value_or(T(0));
    const auto along = [&](auto&& at, const auto& values, double before, double behind) {
        return interp_text()(std::forward<decltype(at)>(at), p.xp, values, given, before, behind, period);
    };
    if constexpr (complex_number<T>) {
        const lazy<deferred<double, T>> at(as_values<double>(x));  // used twice
        return complex_of(along(at, real(p.fp), left.real(), right.real()),
                          where(isnan(at), 0.0, along(at, imag(p.fp), left.imag(), right.imag())));
    } else {
        return along(as_values<double>(std::forward<X>(x)), p.fp, left, right);
    }
}

}  // namespace detail

using detail::digitize;
using detail::interp;
using detail::searchsorted;

}  // namespace ingot
