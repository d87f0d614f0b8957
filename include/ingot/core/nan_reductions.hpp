// Reductions that ignore NaN, as compositions. For dtypes without NaN they are their plain namesakes.
#pragma once

#include <limits>
#include <utility>

#include <ingot/core/reduction_nodes.hpp>

namespace ingot::detail {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// e with `instead` in place of NaN.
template <class E>
auto without_nan(const E& e, double instead) {
    return where(isnan(e), instead, e);
}
template <class E>
decltype(auto) zero_for_nan(E&& e) {
    if constexpr (may_be_nan<E>)
        return without_nan(e, 0);
    else
        return std::forward<E>(e);
}
template <class E>
decltype(auto) one_for_nan(E&& e) {
    if constexpr (may_be_nan<E>)
        return without_nan(e, 1);
    else
        return std::forward<E>(e);
}
/// The number of elements that are not NaN, in e's dtype.
template <class E>
auto count_without_nan(const reduction& how, const E& e) {
    return astype<typename node_of<E>::value_type>(count_nonzero_of(how, !isnan(e)));
}
/// The result, or NaN where every element is NaN.
template <class E, class R>
auto nan_where_all_are(const reduction& how, const E& e, R&& result) {
    return where(all_of(how, isnan(e)), std::numeric_limits<double>::quiet_NaN(), std::forward<R>(result));
}

template <class E>
auto nansum_of(const reduction& how, const E& e) {
    return sum_of(how, zero_for_nan(e));
}
template <class E>
auto nanprod_of(const reduction& how, const E& e) {
    return prod_of(how, one_for_nan(e));
}
template <class E>
auto nanmax_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return nan_where_all_are(how, e, max_of(how, without_nan(e, -infinity)));
    else
        return max_of(how, e);
}
template <class E>
auto nanmin_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return nan_where_all_are(how, e, min_of(how, without_nan(e, infinity)));
    else
        return min_of(how, e);
}
/// The index of an extreme; -1 where every element is NaN, because an expression cannot throw for the values of its
/// elements.
template <class E>
auto nanargmax_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return where(all_of(how, isnan(e)), -1, argmax_of(how, without_nan(e, -infinity)));
    else
        return argmax_of(how, e);
}
template <class E>
auto nanargmin_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return where(all_of(how, isnan(e)), -1, argmin_of(how, without_nan(e, infinity)));
    else
        return argmin_of(how, e);
}
template <class E>
auto nanmean_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return nansum_of(how, e) / count_without_nan(how, e);
    else
        return mean_of(how, e);
}
/// The variance; NaN where at most `ddof` elements are left.
template <class E>
auto nanvar_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>) {
        const auto n = count_without_nan(how, e);
        const auto total = sum_of(how, where(isnan(e), 0, abs2(e - nanmean_of(how.kept(), e))));
        const auto left = static_cast<double>(how.ddof);
        return where(n > left, total / (n - left), std::numeric_limits<double>::quiet_NaN());
    } else {
        return var_of(how, e);
    }
}
template <class E>
auto nanstddev_of(const reduction& how, const E& e) {
    return sqrt(nanvar_of(how, e));
}

}  // namespace ingot::detail
