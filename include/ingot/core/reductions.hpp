// Reductions: sum(e), sum(e, axis), sum(e, {0, 2}), each with an optional last `keepdims`; sum(e, {}) reduces nothing.
// The file also has the functions written with them: averages, traces, comparisons of whole arrays, softmax and
// log_softmax. `all` is the index `:` too (indexing.hpp).
#pragma once

#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/core/composed_functions.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/nan_reductions.hpp>
#include <ingot/core/reduction_nodes.hpp>
#include <ingot/core/views.hpp>

namespace ingot {
namespace detail {

/// Expressions whose elements can be subtracted: all real ones but bool.
template <class E>
concept subtractable_expression = real_expression<E> && kind_of(node_of<E>::type) != kind::boolean;

// These macros make name(e, tags...) and name(e, axes, tags...), which ADL finds, as it finds the operators. `join`:
// the row of the operator table that joins a result with an initial value.
#define INGOT_REDUCTION(name, tag) INGOT_REDUCTION_OF(array_expression, name, tag, add)
/// Reduces all elements, or the axes given. The result has e's shape without those; with a last `keepdims` they stay,
/// with extent 1. Throws shape_error where e does not have such an axis or one is given twice.
#define INGOT_REDUCTION_OF(operand, name, tag, join)                                                     \
    template <operand E, tag... T>                                                                       \
    auto name(E&& e, T... tags) {                                                                        \
        reduction how{#name, nullptr};                                                                   \
        (how.note(tags), ...);                                                                           \
        return INGOT_REDUCED(name, join, how, e);                                                        \
    }                                                                                                    \
    template <operand E, tag... T>                                                                       \
    auto name(E&& e, const axes& over, T... tags) {                                                      \
        reduction how{#name, &over};                                                                     \
        (how.note(tags), ...);                                                                           \
        return INGOT_REDUCED(name, join, how, e);                                                        \
    }                                                                                                    \
    INGOT_REJECTED("axes stay by " #name "(x, axis, keepdims)", (operand E, std::same_as<bool> B), true, \
                   ::ingot::detail::rejected name(const E&, const axes&, B))
#define INGOT_REDUCED(name, join, how, e)                                                       \
    in_float32(std::forward<E>(e), [&](auto&& x) {                                              \
        return started<op::join>(#name, name##_of(how, std::forward<decltype(x)>(x)), tags...); \
    })
// Sums, products and extremes take an initial value.
#define INGOT_STARTS(rule) start_tag<fold_dtype(fold_rule::rule, std::remove_cvref_t<E>::type)>
#define INGOT_FOLD(name, rule, join, start) \
    INGOT_REDUCTION_OF(foldable_expression<fold::name>, name, INGOT_TAGS_##rule, join)
#define INGOT_TAGS_sums INGOT_STARTS(sums)
#define INGOT_TAGS_own INGOT_STARTS(own)
#define INGOT_TAGS_arg_reduction keeps_tag
#define INGOT_TAGS_truth keeps_tag
#define INGOT_TAGS_counts keeps_tag
#define INGOT_FOLD_OBJECT(...)
#define INGOT_FOLD_OF_SCANS(...)
#include <ingot/core/folds.def>
#undef INGOT_TAGS_sums
#undef INGOT_TAGS_own
#undef INGOT_TAGS_arg_reduction
#undef INGOT_TAGS_truth
#undef INGOT_TAGS_counts
// Overloads for std::complex: std::max could take an array of them and a list in braces.
#define INGOT_EXTREME(name)                                                \
    template <array_expression E, INGOT_STARTS(own)... T>                  \
        requires(kind_of(node_of<E>::type) == kind::complex)               \
    auto name(E&& e, std::initializer_list<any_integer> over, T... tags) { \
        return name(std::forward<E>(e), axes(over), tags...);              \
    }
INGOT_EXTREME(max)
INGOT_EXTREME(min)
#undef INGOT_EXTREME
/// The mean: float64 for bool and integers, else the type of the elements. The mean of no elements is NaN.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << mean(m) << ' ' << mean(m, 0) << '\n' << mean(m, 1, keepdims);
///     // prints: 3.5 [2.5 3.5 4.5]
///     //         [[2.]
///     //          [5.]]
INGOT_REDUCTION(mean, keeps_tag)

/// The variance: the mean square of the distance from the mean, in two passes, so that a large mean costs no digits.
/// With `ddof(n)` it divides by n less than the number of elements. The result is float64 for bool and integers, else
/// of the elements' type. The variance of no elements is NaN.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << var(m) << ' ' << var(m, 1, ddof(1)) << '\n' << var(m, 1, keepdims, ddof(1));
///     // prints: 2.9166666666666665 [1. 1.]
///     //         [[1.]
///     //          [1.]]
INGOT_REDUCTION(var, variance_tag)

/// The standard deviation, the root of `var`: with `ddof(n)` it divides by n less than the number of elements. The
/// result is float64 for bool and integers, else of the elements' type.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << stddev(m, 0) << ' ' << stddev(m, 0, ddof(1));
///     // prints: [1.5 1.5 1.5] [2.12132034 2.12132034 2.12132034]
INGOT_REDUCTION(stddev, variance_tag)

/// The maximum less the minimum, in the type of the elements; bool has none. Throws shape_error where there are no
/// elements.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << ptp(m) << ' ' << ptp(m, 1);
///     // prints: 5.0 [2. 2.]
INGOT_REDUCTION_OF(subtractable_expression, ptp, keeps_tag, add)

/// The minimum and the maximum as a tuple; eval() finds both in one kernel. A NaN among the elements makes both NaN.
/// Throws shape_error where there are no elements.
///
///     auto [least, greatest] = eval(minmax(array<int>{{3, 1, 2}, {6, 5, 4}}, 1));
///     std::cout << least << ' ' << greatest;
///     // prints: [1 4] [3 6]
template <foldable_expression<fold::min> E, keeps_tag... T>
auto minmax(const E& e, T... tags) {
    return std::tuple(min(e, tags...), max(e, tags...));
}
template <foldable_expression<fold::min> E, keeps_tag... T>
auto minmax(const E& e, const axes& over, T... tags) {
    return std::tuple(min(e, over, tags...), max(e, over, tags...));
}

/// The 2-norm, the root of the sum of squares: float64 for bool and integers, else of the elements' type.
///
///     std::cout << norm(array<double>{3, 4}) << ' ' << norm(array<double>{{3, 4}, {6, 8}}, 1);
///     // prints: 5.0 [ 5. 10.]
INGOT_REDUCTION(norm, keeps_tag)

/// log(sum(exp(e))) without overflow: float64 for bool and integers, else of the elements' type. Throws shape_error
/// where there are no elements.
///
///     std::cout << logsumexp(array<double>{1000, 1000});
///     // prints: 1000.6931471805599
INGOT_REDUCTION_OF(real_expression, logsumexp, keeps_tag, add)

/// The sum of the elements that are not NaN, 0 where all are NaN. The type is that of `sum`.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nansum(m) << ' ' << nansum(m, 0);
///     // prints: 13.0 [5. 5. 3.]
INGOT_REDUCTION(nansum, INGOT_STARTS(sums))

/// The product of the elements that are not NaN, 1 where all are NaN. The type is that of `prod`.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanprod(m) << ' ' << nanprod(m, 0);
///     // prints: 60.0 [4. 5. 3.]
INGOT_REDUCTION_OF(array_expression, nanprod, INGOT_STARTS(sums), multiply)

/// The greatest element that is not NaN, NaN where all are; in the elements' type. Throws shape_error where there are
/// no elements.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanmax(m) << ' ' << nanmax(m, 0);
///     // prints: 5.0 [4. 5. 3.]
INGOT_REDUCTION_OF(real_expression, nanmax, INGOT_STARTS(own), fmax)

/// The least element that is not NaN, NaN where all are; in the elements' type. Throws shape_error where there are no
/// elements.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanmin(m) << ' ' << nanmin(m, 0);
///     // prints: 1.0 [1. 5. 3.]
INGOT_REDUCTION_OF(real_expression, nanmin, INGOT_STARTS(own), fmin)

/// The mean of the elements that are not NaN, NaN where all are NaN. The type is that of `mean`.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanmean(m) << ' ' << nanmean(m, 0);
///     // prints: 3.25 [2.5 5.  3. ]
INGOT_REDUCTION(nanmean, keeps_tag)

/// The variance of the elements that are not NaN, with `ddof` as in `var`: NaN where at most `ddof` elements are left.
/// The type is that of `var`.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanvar(m, 1) << ' ' << nanvar(m, 1, ddof(1));
///     // prints: [1.   0.25] [2.  0.5]
INGOT_REDUCTION(nanvar, variance_tag)

/// The root of `nanvar`, in the same type.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanstddev(m, 1) << ' ' << nanstddev(m, 1, ddof(1));
///     // prints: [1.  0.5] [1.41421356 0.70710678]
INGOT_REDUCTION(nanstddev, variance_tag)

/// The index of the greatest element that is not NaN, counted as in `argmax`; -1 where all are NaN, because an
/// expression cannot throw for the values of its elements. int64. Throws shape_error where there are no elements.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanargmax(m) << ' ' << nanargmax(m, 1);
///     // prints: 4 [2 1]
INGOT_REDUCTION_OF(real_expression, nanargmax, keeps_tag, add)

/// The index of the least element that is not NaN, counted as in `argmin`; -1 where all are NaN. int64. Throws
/// shape_error where there are no elements.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     array<double> m{{1, nan, 3}, {4, 5, nan}};
///     std::cout << nanargmin(m) << ' ' << nanargmin(m, 1);
///     // prints: 0 [0 0]
INGOT_REDUCTION_OF(real_expression, nanargmin, keeps_tag, add)
#undef INGOT_REDUCTION
#undef INGOT_REDUCTION_OF
#undef INGOT_REDUCED
#undef INGOT_STARTS

// ---- in a type that is named -----------------------------------------------------------------------------------

// These macros make name<A>(e, tags...) and name<A>(e, axes, tags...). `made` turns e into the expression that is
// folded as A.
/// sum<double>(e) converts the elements to the given type before it folds them, and has a result of that type, as
/// NumPy's dtype= does.
#define INGOT_REDUCTION_IN(name, tag, made)                                                     \
    template <element_type A, array_expression E, tag... T>                                     \
        requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))                           \
    auto name(E&& e, T... tags) {                                                               \
        return converted_to<A>(name(converted_to<A>(made(std::forward<E>(e))), tags...));       \
    }                                                                                           \
    template <element_type A, array_expression E, tag... T>                                     \
        requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))                           \
    auto name(E&& e, const axes& over, T... tags) {                                             \
        return converted_to<A>(name(converted_to<A>(made(std::forward<E>(e))), over, tags...)); \
    }
INGOT_REDUCTION_IN(sum, start_tag<dtype_of<A>>, std::forward<E>)
INGOT_REDUCTION_IN(prod, start_tag<dtype_of<A>>, std::forward<E>)
INGOT_REDUCTION_IN(nansum, start_tag<dtype_of<A>>, zero_for_nan)
INGOT_REDUCTION_IN(nanprod, start_tag<dtype_of<A>>, one_for_nan)
#undef INGOT_REDUCTION_IN

/// The type in which a mean of type A is computed: float for 16-bit floats, which are too narrow for sums.
template <class A>
using mean_type = std::conditional_t<half_float<A>, float, A>;

template <class A, class E, class... How>
auto mean_in(const E& e, const How&... how) {
    auto total = sum<mean_type<A>>(converted_to<A>(e), how...);
    const double n = static_cast<double>(e.size()) / static_cast<double>(total.size());
    return converted_to<A>(std::move(total) / n);
}
template <class A, class E, class... How>
auto nanmean_in(const E& e, const How&... how) {
    if constexpr (may_be_nan<E>)
        return converted_to<A>(nansum<mean_type<A>>(e, how...) /
                               converted_to<mean_type<A>>(count_nonzero(!isnan(e), how...)));
    else
        return mean_in<A>(e, how...);
}
/// mean<float>(e) adds the elements in the given type and has a result of that type, truncated where that is an
/// integer, as NumPy's dtype= does.
///
///     array<float> x{16777216, 1, 1};
///     std::cout << mean<double>(x) << ' ' << mean<int>(array<int>{1, 2, 5}) << ' ' << mean<float>(array<int>{1, 2},
///     0);
///     // prints: 5592406.0 2 1.5
template <element_type A, array_expression E, keeps_tag... T>
    requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))
auto mean(const E& e, T... tags) {
    return mean_in<A>(e, tags...);
}
template <element_type A, array_expression E, keeps_tag... T>
    requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>))
auto mean(const E& e, const axes& over, T... tags) {
    return mean_in<A>(e, over, tags...);
}
/// nanmean<double>(e) adds the elements that are not NaN in the given type and has a result of that type, which is no
/// integer where e may have NaN.
///
///     const double nan = std::numeric_limits<double>::quiet_NaN();
///     std::cout << nanmean<double>(array<float>{16777216, 1, 1, static_cast<float>(nan)});
///     // prints: 5592406.0
template <element_type A, array_expression E, keeps_tag... T>
    requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>) &&
             (kind_of(dtype_of<A>) > kind::integer || !may_be_nan<E>))
auto nanmean(const E& e, T... tags) {
    return nanmean_in<A>(e, tags...);
}
template <element_type A, array_expression E, keeps_tag... T>
    requires(converts(std::remove_cvref_t<E>::type, dtype_of<A>) &&
             (kind_of(dtype_of<A>) > kind::integer || !may_be_nan<E>))
auto nanmean(const E& e, const axes& over, T... tags) {
    return nanmean_in<A>(e, over, tags...);
}

/// Throws shape_error in the name of `operation` where shapes do not broadcast.
template <class A, class B>
void check_shapes(const char* operation, const A& a, const B& b) {
    shape_room room, room_a, room_b;
    const extents_ref shapes[] = {as_node(a).extents(room_a), as_node(b).extents(room_b)};
    int rank = 0;
    broadcast_shapes(operation, shapes, 2, room, rank);
}
/// Throws shape_error where a vector does not have the extent of its axis.
inline void check_vector(const char* operation, const shape_like& vector, const shape_like& shape, int axis) {
    if (vector.values()[0] != shape.values()[static_cast<std::size_t>(axis)])
        throw shape_error("[" + std::string(operation) + "] a vector of shape " + to_text(vector.values()) +
                          " along axis " + std::to_string(axis) + " of shape " + to_text(shape.values()) +
                          ": one of its length is wanted");
}

/// The weighted mean. Weights have e's shape or one that broadcasts to it, or are a vector along the one reduced axis.
/// Both sums are in the dtype of the products.
template <class E, class W>
auto weighted_mean(const reduction& how, const E& e, const W& weights) {
    const shape_like shape = e.shape();
    const int rank = e.ndim();
    std::vector<index_t> behind;  // new axes that put a vector along the reduced one
    if (how.over && how.over->count() == 1 && weights.ndim() == 1) {
        const int axis = checked_axis(how.operation, (*how.over)[0], rank);
        check_vector(how.operation, weights.shape(), shape, axis);
        for (int j = axis; ++j < rank;) behind.push_back(-1 - static_cast<index_t>(behind.size()));
    } else {
        check_shapes(how.operation, e, weights);
    }
    const auto w = broadcast_to(expand_dims(weights, axes(behind)), shape);
    const auto products = with_fractions(e) * w;
    using T = typename decltype(products)::value_type;
    if constexpr (half_float<T>)  // sums may leave the range
        return astype<T>(weighted_mean(how, astype<float>(e), weights));
    else
        return sum_of(how, products) / sum_of(how, astype<T>(w));
}

/// The mean, optionally weighted. Weights have e's shape or one that broadcasts to it, or are a vector along the one
/// reduced axis; both sums are in the dtype of the products. Without weights it is `mean`. It reduces all elements or
/// the axes given, with an optional last `keepdims`. Throws shape_error where the weights do not fit, or e does not
/// have such an axis.
///
///     array<double> m{{1, 2, 3}, {4, 5, 6}};
///     std::cout << average(m) << ' ' << average(m, 1, array<double>{1, 0, 1}) << ' ' << average(m, 0, m);
///     // prints: 3.5 [2. 5.] [3.4        4.14285714 5.        ]
template <array_expression E, keeps_tag... T>
auto average(E&& e, T... tags) {
    reduction how{"average", nullptr};
    (how.note(tags), ...);
    return in_float32(std::forward<E>(e), [&](auto&& x) { return mean_of(how, std::forward<decltype(x)>(x)); });
}
template <array_expression E, keeps_tag... T>
auto average(E&& e, const axes& over, T... tags) {
    reduction how{"average", &over};
    (how.note(tags), ...);
    return in_float32(std::forward<E>(e), [&](auto&& x) { return mean_of(how, std::forward<decltype(x)>(x)); });
}
template <array_expression E, array_expression W, keeps_tag... T>
auto average(const E& e, const W& weights, T...) {
    return weighted_mean({"average", nullptr, sizeof...(T) != 0}, e, weights);
}
template <array_expression E, array_expression W, keeps_tag... T>
auto average(const E& e, const axes& over, const W& weights, T...) {
    return weighted_mean({"average", &over, sizeof...(T) != 0}, e, weights);
}

// ---- of several operands or axes ----------------------------------------------------------------------------------

/// The sum of the diagonal `offset` above the main one in the plane of two axes; the result has e's shape without
/// those. The type is that of `sum`. Throws shape_error where e has fewer than two axes or not these.
///
///     std::cout << trace(array<int>{{1, 2}, {3, 4}}) << ' ' << trace(array<int>{{1, 2}, {3, 4}}, 1);
///     // prints: 5 2
template <array_expression E>
auto trace(E&& e, index_t offset = 0, index_t axis1 = 0, index_t axis2 = 1) {
    const int rank = e.ndim();
    if (rank < 2) throw shape_error("[trace] shape " + to_text(e.shape().values()) + ": two axes at least are wanted");
    checked_axis("trace", axis1, rank), checked_axis("trace", axis2, rank);
    const axes last(-1);
    return sum_of({"trace", &last}, diagonal(std::forward<E>(e), offset, axis1, axis2));
}

/// Two arrays or expressions, or one of them and a number.
template <class A, class B>
concept array_and_other = operand_like<A> && operand_like<B> && (array_expression<A> || array_expression<B>);

/// Whether every element is close to its counterpart, or to a number, as in `isclose`: one bool without axes. Throws
/// shape_error where the shapes do not broadcast.
///
///     array<double> a{1, 2};
///     std::cout << allclose(a, a + 1e-9) << ' ' << allclose(a, a + 1e-3).item() << ' ' << allclose(a * 0, 0);
///     // prints: True 0 True
template <class A, class B>
    requires array_and_other<A, B>
auto allclose(const A& a, const B& b, double relative = 1e-5, double absolute = 1e-8, bool equal_nan = false) {
    if constexpr (array_expression<A> && array_expression<B>) check_shapes("allclose", a, b);
    return all_of({"allclose", nullptr}, isclose(a, b, relative, absolute, equal_nan));
}

/// Whether shapes and elements are equal: one bool without axes. Different shapes are no error; a number has no axes.
/// NaN equals nothing, or with `equal_nan` NaN.
///
///     array<double> a{1, NAN};
///     std::cout << array_equal(a, a) << ' ' << array_equal(a, a, true) << ' ' << array_equal(a, zeros({3})).item();
///     std::cout << ' ' << array_equal(sum(array<int>{1, 2}), 3);
///     // prints: False True 0 True
template <class A, class B>
    requires array_and_other<A, B>
lazy<bool> array_equal(const A& a, const B& b, bool equal_nan = false) {
    const auto shape_of = []<class E>(const E& e) {
        if constexpr (array_expression<E>)
            return shape_of_expression(e);
        else
            return shape_like();
    };
    // Arrays of different shapes are not compared: a false expression over one of them is returned.
    if (shape_of(a) != shape_of(b)) {
        const auto& some = [&]() -> const auto& {
            if constexpr (array_expression<A>)
                return a;
            else
                return b;
        }();
        return lazy<bool>(any_of({"array_equal", nullptr}, some != some) && false);
    }
    constexpr auto may_be_nan_of = []<class E>(std::type_identity<E>) {
        return kind_of(operand_type_of<E>().type) >= kind::floating;
    };
    if constexpr (may_be_nan_of(std::type_identity<A>()) && may_be_nan_of(std::type_identity<B>()))
        if (equal_nan) return lazy<bool>(all_of({"array_equal", nullptr}, a == b || (a != a && b != b)));
    return lazy<bool>(all_of({"array_equal", nullptr}, a == b));
}

// ---- along an axis and back ------------------------------------------------------------------------------------

/// exp(e) over its sum along the axes, by default the last one. The result has e's shape; it is float64 for bool and
/// integers, else of e's type. A row with +inf or NaN, or of -inf alone, becomes NaN. Throws shape_error where e does
/// not have such an axis, or a row has no elements.
///
///     std::cout << softmax(array<double>{{0, 0}, {1000, 0}});
///     // prints: [[0.5 0.5]
///     //          [1.  0. ]]
template <real_expression E>
auto softmax(const E& e, const axes& over = -1) {
    const reduction how{"softmax", &over, true};
    return in_float32(with_fractions(e), [&](const auto& x) {
        const auto y = exp(x - max_of(how, x));
        return y / sum_of(how, y);
    });
}

/// The logarithm of `softmax`, with its shape and type and without overflow. In a row with +inf, that element becomes
/// NaN and the finite ones -inf. Throws what `softmax` does.
///
///     std::cout << log_softmax(array<double>{{0, 0}, {1000, 0}});
///     // prints: [[-6.93147181e-01 -6.93147181e-01]
///     //          [ 0.00000000e+00 -1.00000000e+03]]
template <real_expression E>
auto log_softmax(const E& e, const axes& over = -1) {
    const reduction how{"log_softmax", &over, true};
    return in_float32(with_fractions(e), [&](const auto& x) {
        const auto y = x - finite_or_zero(max_of(how, x));
        return y - log(sum_of(how, exp(y)));
    });
}

// max and min are reductions; for two values the functions are maximum and minimum.
template <class A, class B>
concept two_values_want_maximum_or_minimum =
    (array_expression<A> || array_expression<B>) &&
    (array_expression<B> || std::is_floating_point_v<std::remove_cvref_t<B>> || weak_scalar<A>);
INGOT_REJECTED("of two values it is maximum(x, y)", (class A, class B), (two_values_want_maximum_or_minimum<A, B>),
               ::ingot::detail::rejected max(A&&, B&&))
INGOT_REJECTED("of two values it is minimum(x, y)", (class A, class B), (two_values_want_maximum_or_minimum<A, B>),
               ::ingot::detail::rejected min(A&&, B&&))

}  // namespace detail

#define INGOT_FOLD(name, ...) using detail::name;
#define INGOT_FOLD_OBJECT(...)
#define INGOT_FOLD_OF_SCANS(...)
#include <ingot/core/folds.def>
using detail::allclose;
using detail::array_equal;
using detail::average;
using detail::log_softmax;
using detail::logsumexp;
using detail::mean;
using detail::minmax;
using detail::nanargmax;
using detail::nanargmin;
using detail::nanmax;
using detail::nanmean;
using detail::nanmin;
using detail::nanprod;
using detail::nanstddev;
using detail::nansum;
using detail::nanvar;
using detail::norm;
using detail::ptp;
using detail::softmax;
using detail::stddev;
using detail::trace;
using detail::var;

template <array_argument E>
auto all_t::operator()(E&& e) const {
    return detail::all_of({"all", nullptr}, std::forward<E>(e));
}
template <array_argument E>
auto all_t::operator()(E&& e, const keepdims_t&) const {
    return detail::all_of({"all", nullptr, true}, std::forward<E>(e));
}
template <array_argument E>
auto all_t::operator()(E&& e, const axes& over) const {
    return detail::all_of({"all", &over}, std::forward<E>(e));
}
template <array_argument E>
auto all_t::operator()(E&& e, const axes& over, const keepdims_t&) const {
    return detail::all_of({"all", &over, true}, std::forward<E>(e));
}

}  // namespace ingot
