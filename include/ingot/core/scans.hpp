// Scans: cumsum(e, axis), and cumsum(e) over the elements in C order. They fold strictly from the left, or with
// `reversed` from the right. Differences along an axis, and functions composed of them, are expressions of slices.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/gradient.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>

namespace ingot {

/// The type of `exclusive` and `reversed`.
class scan_option {
public:
    // Inner
    constexpr explicit scan_option(unsigned bit) : bits_(bit) {}
    constexpr unsigned bits() const { return bits_; }

private:
    unsigned bits_;
};

/// An option of a scan: an element is the fold of the elements before it, without its own; the first is the identity.
///
///     std::cout << cumsum(array<int>{1, 2, 3}, exclusive) << ' ' << cumprod(array<double>{2, 3, 4}, 0, exclusive);
///     // prints: [0 1 3] [1. 2. 6.]
inline constexpr scan_option exclusive{1};
/// An option of a scan: it goes from the last element to the first.
///
///     std::cout << cumsum(array<int>{1, 2, 3}, reversed) << ' ' << cumsum(array<int>{1, 2, 3}, reversed, exclusive);
///     // prints: [6 5 3] [5 3 0]
inline constexpr scan_option reversed{2};

namespace detail {

template <class T>
concept scan_tag = std::same_as<T, scan_option>;

template <fold F, class E>
auto scanned(const char* operation, E&& e, index_t axis) {
    using node = node_of<E>;
    constexpr word code = make_word(word_kind::scan, fold_dtype(facts(F).rule, node::type), static_cast<word>(F));
    using result = binder<code, node, pick>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    view_room view;
    layout place = view_scanned(view, operation, operand.extents(room), axis);
    operand.apply(view, 0);
    return result(std::move(operand), 1, pick(std::move(place)));
}

/// A scan with options, in the dtype of its operand.
template <class T>
INGOT_API lazy<T> scanned_with(const char* operation, fold, const lazy<T>&, index_t axis, unsigned options);

template <fold F, class E, scan_tag... O>
auto scanned(const char* operation, E&& e, index_t axis, O... options) {
    if constexpr (sizeof...(O) == 0) {
        return scanned<F>(operation, std::forward<E>(e), axis);
    } else {
        using T = type_of<fold_dtype(facts(F).rule, node_of<E>::type)>;
        return scanned_with(operation, F, lazy<T>(e), axis, (options.bits() | ...));
    }
}

// `made` turns e into the expression that is folded.
/// Scans along an axis, with e's shape; without one it scans the elements in C order, along one axis. It goes strictly
/// from the left, with a last `reversed` from the right; with a last `exclusive` each result excludes its own element.
/// Throws shape_error where e does not have the axis.
#define INGOT_SCAN(name, of, made)                                                       \
    template <scannable_expression<fold::of> E, scan_tag... O>                           \
    auto name(E&& e, index_t axis, O... options) {                                       \
        return scanned<fold::of>(#name, made(std::forward<E>(e)), axis, options...);     \
    }                                                                                    \
    template <scannable_expression<fold::of> E, scan_tag... O>                           \
    auto name(E&& e, O... options) {                                                     \
        return scanned<fold::of>(#name, ravel(made(std::forward<E>(e))), 0, options...); \
    }
/// cumsum<double>(e) converts the elements to the given type before it folds them, and has a result of that type, as
/// NumPy's dtype= does.
#define INGOT_SCAN_IN(name, made)                                                                  \
    template <element_type A, array_expression E, scan_tag... O>                                   \
        requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))                              \
    auto name(E&& e, index_t axis, O... options) {                                                 \
        return converted_to<A>(name(converted_to<A>(made(std::forward<E>(e))), axis, options...)); \
    }                                                                                              \
    template <element_type A, array_expression E, scan_tag... O>                                   \
        requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))                              \
    auto name(E&& e, O... options) {                                                               \
        return converted_to<A>(name(converted_to<A>(made(std::forward<E>(e))), options...));       \
    }

/// Running sums: in int64 or uint64 for bool and integers, else in the elements' type.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << cumsum(m) << '\n' << cumsum(m, 1);
///     // prints: [ 1  3  6 10 15 21]
///     //         [[ 1  3  6]
///     //          [ 4  9 15]]
INGOT_SCAN(cumsum, sum, std::forward<E>)
INGOT_SCAN_IN(cumsum, std::forward<E>)

/// Running products: in int64 or uint64 for bool and integers, else in the elements' type.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << cumprod(m) << '\n' << cumprod(m, 0);
///     // prints: [  1   2   6  24 120 720]
///     //         [[ 1  2  3]
///     //          [ 4 10 18]]
INGOT_SCAN(cumprod, prod, std::forward<E>)
INGOT_SCAN_IN(cumprod, std::forward<E>)

/// The running maximum, NaN from the first NaN on; in the elements' type.
///
///     std::cout << cummax(array<int>{3, 1, 4, 1, 5});
///     // prints: [3 3 4 4 5]
INGOT_SCAN(cummax, max, std::forward<E>)

/// The running minimum, NaN from the first NaN on; in the elements' type.
///
///     std::cout << cummin(array<int>{3, 1, 4, 1, 5});
///     // prints: [3 1 1 1 1]
INGOT_SCAN(cummin, min, std::forward<E>)

/// log(cumsum(exp(e))) without overflow: float64 for bool and integers, else in the elements' type.
///
///     std::cout << logcumsumexp(array<double>{1000, 1000, 1000});
///     // prints: [1000.         1000.69314718 1001.09861229]
INGOT_SCAN(logcumsumexp, logaddexp, with_fractions)

/// `cumsum` with 0 in place of NaN.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nancumsum(m) << '\n' << nancumsum(m, 1);
///     // prints: [ 1.  1.  4.  8. 13. 13.]
///     //         [[1. 1. 4.]
///     //          [4. 9. 9.]]
INGOT_SCAN(nancumsum, sum, zero_for_nan)
INGOT_SCAN_IN(nancumsum, zero_for_nan)

/// `cumprod` with 1 in place of NaN.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nancumprod(m) << '\n' << nancumprod(m, 1);
///     // prints: [ 1.  1.  3. 12. 60. 60.]
///     //         [[ 1.  1.  3.]
///     //          [ 4. 20. 20.]]
INGOT_SCAN(nancumprod, prod, one_for_nan)
INGOT_SCAN_IN(nancumprod, one_for_nan)
#undef INGOT_SCAN
#undef INGOT_SCAN_IN

// ---- differences -----------------------------------------------------------------------------------------------

template <class E>
auto all_but_first(const char* operation, const E& e, index_t axis) {
    return sliced(operation, e, axis, slice(1));
}
template <class E>
auto all_but_last(const char* operation, const E& e, index_t axis) {
    return sliced(operation, e, axis, slice(0, -1));
}

template <class E>
auto differences(const char* operation, const E& e, index_t axis) {
    if constexpr (kind_of(node_of<E>::type) == kind::boolean)
        return all_but_first(operation, e, axis) != all_but_last(operation, e, axis);
    else
        return all_but_first(operation, e, axis) - all_but_last(operation, e, axis);
}

/// The differences of neighbours along the last axis, which becomes shorter by one; for bool whether they differ. In
/// the elements' type. Throws shape_error where e has no axis.
///
///     std::cout << diff(array<int>{1, 4, 9, 16}) << ' ' << diff(array<int>{1, 4, 9, 16}, 2);
///     // prints: [3 5 7] [2 2]
template <array_expression E>
auto diff(const E& e) {
    return differences("diff", e, -1);
}
/// The n-th differences along an axis, which becomes shorter by n: a `lazy` of e's type. Throws shape_error where n is
/// negative or e does not have the axis.
template <array_expression E>
lazy<typename node_of<E>::value_type> diff(const E& e, index_t n, index_t axis = -1) {
    if (n < 0) throw shape_error("[diff] " + std::to_string(n) + " times: a number that is not negative is wanted");
    lazy<typename node_of<E>::value_type> d = e;
    checked_axis("diff", axis, d.ndim());
    for (; n > 0; --n) d = differences("diff", d, axis);
    return d;
}

/// The differences of neighbours in C order, along one axis and in their type.
///
///     std::cout << ediff1d(array<int>{{1, 4}, {9, 16}});
///     // prints: [3 5 7]
template <array_expression E>
auto ediff1d(const E& e) {
    return differences("ediff1d", ravel(e), 0);
}

/// Removes jumps from angles: where neighbours along the axis differ by `discontinuity` or more, by default half a
/// period, whole periods are added to all later elements. The result has e's shape; it is float64 for bool and
/// integers, else of e's type. Throws shape_error where e does not have the axis.
///
///     std::cout << unwrap(array<double>{0, 3, -3, 0}) << ' ' << unwrap(array<int>{350, 10, 30}, {}, -1, 360);
///     // prints: [0.         3.         3.28318531 6.28318531] [350. 370. 390.]
template <array_expression E>
auto unwrap(const E& e, std::optional<double> discontinuity = {}, index_t axis = -1,
            double period = 6.283185307179586) {
    const auto angles = with_fractions(e);
    using T = typename decltype(angles)::value_type;
    const int at = checked_axis("unwrap", axis, angles.ndim());
    const T half = static_cast<T>(period / 2), jump = static_cast<T>(discontinuity.value_or(period / 2));
    const auto step = angles - nearest("unwrap", angles, at, -1);
    const auto within = remainder(step + half, static_cast<T>(period)) - half;
    const auto shift = where(within == -half && step > 0, half, within) - step;
    return angles + cumsum(where(abs(step) < jump, T(0), shift), at);
}

template <class E, class D>
auto trapezoids(const E& y, const D& widths, index_t axis) {
    const axes over(axis);
    return sum_of({"trapezoid", &over},
                  widths * (all_but_first("trapezoid", y, axis) + all_but_last("trapezoid", y, axis)) / 2);
}

/// The integral along an axis by the trapezoidal rule, over samples dx apart, or at x, which has e's shape or is a
/// vector. The result has e's shape without the axis; it is float64 for bool and integers, else of the type to which e
/// and x promote. Throws shape_error where e does not have the axis or x does not fit.
///
///     array<int> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << trapezoid(m) << ' ' << trapezoid(m, 1, 0) << ' ' << trapezoid(m, array<double>{0, 1, 3});
///     // prints: [ 4. 10.] [2.5 3.5 4.5] [ 6.5 15.5]
template <array_expression E>
auto trapezoid(const E& e, double dx = 1.0, index_t axis = -1) {
    return trapezoids(with_fractions(e), dx, axis);
}
template <array_expression E, array_expression X>
auto trapezoid(const E& e, const X& x, index_t axis = -1) {
    const int rank = e.ndim(), at = checked_axis("trapezoid", axis, rank);
    x.ndim() == 1 ? check_vector("trapezoid", x.shape(), e.shape(), at) : check_shapes("trapezoid", e, x);
    std::vector<index_t> behind;  // new axes that put a vector along the one that is summed
    for (int j = at + 1; j < rank && x.ndim() == 1; ++j) behind.push_back(-1 - static_cast<index_t>(behind.size()));
    const auto widths = differences("trapezoid", expand_dims(x, axes(behind)), at - rank);
    return trapezoids(with_fractions(e), widths, axis);
}

}  // namespace detail

using detail::cummax;
using detail::cummin;
using detail::cumprod;
using detail::cumsum;
using detail::diff;
using detail::ediff1d;
using detail::logcumsumexp;
using detail::nancumprod;
using detail::nancumsum;
using detail::trapezoid;
using detail::unwrap;

}  // namespace ingot
