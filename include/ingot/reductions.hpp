// Reductions: sum(e), sum(e, axis), sum(e, {0, 2}), a last `keepdims`; sum(e, {}) reduces nothing. And what is written
// with them: averages, products of vectors, questions about whole arrays, softmax and its like. `all` is the index `:`
// too (indexing.hpp).
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/composed_functions.hpp>
#include <ingot/lazy.hpp>
#include <ingot/nan_reductions.hpp>
#include <ingot/reduction_nodes.hpp>
#include <ingot/views.hpp>

namespace ingot {
namespace detail {

/// What can be subtracted: all but bool.
template <class E>
concept subtractable_expression = real_expression<E> && kind_of(node_of<E>::type) != kind::boolean;

/// name(e, tags...) and name(e, axes, tags...). Found by ADL, as the operators are.
#define INGOT_REDUCTION(name, tag) INGOT_REDUCTION_OF(array_expression, name, tag)
#define INGOT_REDUCTION_OF(operand, name, tag)      \
    template <operand E, tag... T>                  \
    auto name(E&& e, T... tags) {                   \
        reduction how{#name, nullptr};              \
        (how.note(tags), ...);                      \
        return INGOT_REDUCED(name, how, e);         \
    }                                               \
    template <operand E, tag... T>                  \
    auto name(E&& e, const axes& over, T... tags) { \
        reduction how{#name, &over};                \
        (how.note(tags), ...);                      \
        return INGOT_REDUCED(name, how, e);         \
    }
#define INGOT_REDUCED(name, how, e) \
    in_float32(std::forward<E>(e), [&](auto&& x) { return name##_of(how, std::forward<decltype(x)>(x)); })
#define INGOT_FOLD(name, ...) INGOT_REDUCTION_OF(foldable_expression<fold::name>, name, keeps_tag)
#define INGOT_FOLD_OBJECT(...)
#define INGOT_FOLD_OF_SCANS(...)
#include <ingot/folds.def>
INGOT_REDUCTION(mean, keeps_tag)
INGOT_REDUCTION(var, variance_tag)
INGOT_REDUCTION(stddev, variance_tag)
INGOT_REDUCTION_OF(subtractable_expression, ptp, keeps_tag)
INGOT_REDUCTION(norm, keeps_tag)
INGOT_REDUCTION_OF(real_expression, logsumexp, keeps_tag)
INGOT_REDUCTION(nansum, keeps_tag)
INGOT_REDUCTION_OF(real_expression, nanprod, keeps_tag)
INGOT_REDUCTION_OF(real_expression, nanmax, keeps_tag)
INGOT_REDUCTION_OF(real_expression, nanmin, keeps_tag)
INGOT_REDUCTION(nanmean, keeps_tag)
INGOT_REDUCTION(nanvar, variance_tag)
INGOT_REDUCTION(nanstddev, variance_tag)
INGOT_REDUCTION_OF(real_expression, nanargmax, keeps_tag)
INGOT_REDUCTION_OF(real_expression, nanargmin, keeps_tag)
#undef INGOT_REDUCTION
#undef INGOT_REDUCTION_OF
#undef INGOT_REDUCED

/// Throws where shapes do not broadcast, in the name of what was written.
template <class A, class B>
void check_shapes(const char* operation, const A& a, const B& b) {
    shape_room room, room_a, room_b;
    const extents_ref shapes[] = {as_node(a).extents(room_a), as_node(b).extents(room_b)};
    int rank = 0;
    broadcast_shapes(operation, shapes, 2, room, rank);
}
/// The same of a vector that lies along one axis.
inline void check_vector(const char* operation, const shape_like& vector, const shape_like& shape, int axis) {
    if (vector.values()[0] != shape.values()[static_cast<std::size_t>(axis)])
        throw shape_error("[" + std::string(operation) + "] a vector of shape " + to_text(vector.values()) +
                          " along axis " + std::to_string(axis) + " of shape " + to_text(shape.values()) +
                          ": one of its length is wanted");
}

/// The mean, weighted: weights of e's shape or one that broadcasts to it, or a vector along the one reduced axis. Both
/// sums are in the dtype of the products.
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
    return sum_of(how, products) / sum_of(how, astype<typename decltype(products)::value_type>(w));
}
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

// ---- of two operands -------------------------------------------------------------------------------------------

[[noreturn]] inline void throw_not_two_vectors(const char* operation, std::span<const index_t> a,
                                               std::span<const index_t> b) {
    throw shape_error("[" + std::string(operation) + "] shapes " + to_text(a) + " and " + to_text(b) +
                      ": two vectors of one length are wanted");
}
/// The sum of products, in the dtype that the operands promote to.
template <class A, class B>
auto product_sum(const char* operation, A&& a, B&& b) {
    shape_room room_a, room_b;
    const extents_ref sa = as_node(std::as_const(a)).extents(room_a), sb = as_node(std::as_const(b)).extents(room_b);
    if (sa.rank != 1 || !same_extents(sa, sb)) throw_not_two_vectors(operation, sa.span(), sb.span());
    auto products = std::forward<A>(a) * std::forward<B>(b);
    using T = typename decltype(products)::value_type;
    auto total = sum_of({operation, nullptr}, std::move(products));
    if constexpr (std::is_same_v<T, typename decltype(total)::value_type>)
        return total;
    else
        return astype<T>(std::move(total));
}
template <array_expression A, array_expression B>
auto dot(A&& a, B&& b) {
    return product_sum("dot", std::forward<A>(a), std::forward<B>(b));
}
/// The first conjugated, if it is complex.
template <array_expression A, array_expression B>
auto vdot(A&& a, B&& b) {
    if constexpr (complex_number<typename node_of<A>::value_type>)
        return product_sum("vdot", conjugate(std::forward<A>(a)), std::forward<B>(b));
    else
        return product_sum("vdot", std::forward<A>(a), std::forward<B>(b));
}
template <array_expression A, array_expression B>
auto inner(A&& a, B&& b) {
    return product_sum("inner", std::forward<A>(a), std::forward<B>(b));
}
/// The sum of a diagonal.
template <array_expression E>
auto trace(E&& e, index_t offset = 0, index_t axis1 = 0, index_t axis2 = 1) {
    const int rank = e.ndim();
    if (rank < 2) throw shape_error("[trace] shape " + to_text(e.shape().values()) + ": two axes at least are wanted");
    checked_axis("trace", axis1, rank), checked_axis("trace", axis2, rank);
    const axes last(-1);
    return sum_of({"trace", &last}, diagonal(std::forward<E>(e), offset, axis1, axis2));
}

/// Whether every element is close to its counterpart, as isclose has it.
template <array_expression A, array_expression B>
auto allclose(const A& a, const B& b, double relative = 1e-5, double absolute = 1e-8) {
    check_shapes("allclose", a, b);
    return all_of({"allclose", nullptr}, isclose(a, b, relative, absolute));
}
/// Whether shapes and elements are the same.
template <array_expression A, array_expression B>
lazy<bool> array_equal(const A& a, const B& b) {
    const bool alike = a.shape() == b.shape();
    // Of other shapes nothing is compared: the first elements' shape stands in, and the answer is no.
    if (!alike) return lazy<bool>(any_of({"array_equal", nullptr}, a != a) && false);
    return lazy<bool>(all_of({"array_equal", nullptr}, a == b));
}

// ---- along an axis and back ------------------------------------------------------------------------------------

/// exp(e) over its sum along the axes. A row with +inf or NaN is NaN, as one of -inf alone.
template <real_expression E>
auto softmax(const E& e, const axes& over = -1) {
    const reduction how{"softmax", &over, true};
    return in_float32(with_fractions(e), [&](const auto& x) {
        const auto y = exp(x - max_of(how, x));
        return y / sum_of(how, y);
    });
}
/// Its logarithm, and it does not overflow. In a row with +inf, that is NaN and what is finite -inf.
template <real_expression E>
auto log_softmax(const E& e, const axes& over = -1) {
    const reduction how{"log_softmax", &over, true};
    return in_float32(with_fractions(e), [&](const auto& x) {
        const auto y = x - finite_or_zero(max_of(how, x));
        return y - log(sum_of(how, exp(y)));
    });
}

// max and min are reductions. Of two values the function is maximum or minimum.
template <class A, class B>
concept two_values_want_maximum_or_minimum =
    (array_expression<A> || array_expression<B>) &&
    (array_expression<B> || std::is_floating_point_v<std::remove_cvref_t<B>> || weak_scalar<A>);
template <class A, class B>
    requires two_values_want_maximum_or_minimum<A, B>
void max(A&&, B&&) = delete;
template <class A, class B>
    requires two_values_want_maximum_or_minimum<A, B>
void min(A&&, B&&) = delete;

}  // namespace detail

#define INGOT_FOLD(name, ...) using detail::name;
#define INGOT_FOLD_OBJECT(...)
#define INGOT_FOLD_OF_SCANS(...)
#include <ingot/folds.def>
using detail::allclose;
using detail::array_equal;
using detail::average;
using detail::dot;
using detail::inner;
using detail::log_softmax;
using detail::logsumexp;
using detail::mean;
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
using detail::vdot;

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
