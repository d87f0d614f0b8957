// Reductions: sum(e), sum(e, axis), sum(e, {0, 2}), a last `keepdims`; sum(e, {}) reduces nothing. The folds are nodes
// of their own, one for each row of folds.def; what is made of them is written in the language below, and so are
// softmax and its like. `all` is the index `:` too (indexing.hpp).
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ingot/binders.hpp>
#include <ingot/folds.hpp>
#include <ingot/functions.hpp>
#include <ingot/lazy.hpp>
#include <ingot/views.hpp>

namespace ingot {

/// Leaves an axis of extent 1 in the place of each that is reduced: sum(m, 1, keepdims).
class keepdims_t {
public:
    struct made {};
    constexpr explicit keepdims_t(made) {}  // braces alone are axes, never this
};
inline constexpr keepdims_t keepdims{keepdims_t::made{}};

/// What is taken off the number of elements that a variance divides by: var(m, 1, ddof(1)).
class ddof {
public:
    constexpr explicit ddof(index_t n) : n_(n) {}
    constexpr index_t value() const { return n_; }

private:
    index_t n_;
};

namespace detail {

template <class T>
concept keeps_tag = std::same_as<T, keepdims_t>;
template <class T>
concept variance_tag = keeps_tag<T> || std::same_as<T, ddof>;

/// How a reduction was asked for.
struct reduction {
    const char* operation;
    const axes* over;  // null: all
    bool keep = false;
    index_t ddof = 0;

    void note(keepdims_t) { keep = true; }
    void note(ingot::ddof d) { ddof = d.value(); }
    reduction kept() const { return {operation, over, true, ddof}; }
};

/// How many elements each result is made of.
inline index_t count_reduced(const reduction& how, extents_ref shape) {
    index_t n = 1;
    if (how.over)
        for (const index_t a : how.over->values()) n *= shape.data[checked_axis(how.operation, a, shape.rank)];
    else
        for (const index_t extent : shape.span()) n *= extent;
    return n;
}

/// An extreme of nothing does not exist. `arranged`: the shape with the reduced axes last.
inline void check_not_over_nothing(const char* operation, extents_ref arranged, int bound) {
    index_t results = 1, each = 1;
    for (int j = 0; j < arranged.rank; ++j) (j < arranged.rank - bound ? results : each) *= arranged.data[j];
    if (each == 0 && results != 0)
        throw shape_error("[" + std::string(operation) +
                          "] of no elements has no result: an axis of extent 0 is reduced");
}

/// `what`: what the fold takes beside elements.
template <fold F, class E, class What = no_place>
auto reduced(const reduction& how, E&& e, What what = {}) {
    using node = node_of<E>;
    constexpr fold_facts row = facts(F);
    constexpr word code = make_word(word_kind::reduce, fold_dtype(row.rule, node::type), static_cast<std::uint32_t>(F));
    using result = binder<code, node, What>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    const extents_ref shape = operand.extents(room);
    if (!how.over && !how.keep) {
        const int bound = shape.rank;
        if (row.needs_elements()) check_not_over_nothing(how.operation, shape, bound);
        return result(std::move(operand), bound, std::move(what));
    }
    view_room view;
    const arrangement a = view_reduced(view, how.operation, shape, how.over, how.keep);
    if (row.needs_elements()) check_not_over_nothing(how.operation, {view.new_shape, view.new_rank}, a.bound);
    if (a.moves) operand.apply(view, 0);
    return result(std::move(operand), a.bound, std::move(what));
}

#define INGOT_FOLD(name, ...)                                \
    template <class E>                                       \
    auto name##_of(const reduction& how, E&& e) {            \
        return reduced<fold::name>(how, std::forward<E>(e)); \
    }
#include <ingot/folds.def>

// ---- what is made of them --------------------------------------------------------------------------------------

/// e, where its elements have a fraction; else as double.
template <class E>
decltype(auto) with_fractions(E&& e) {
    if constexpr (kind_of(node_of<E>::type) <= kind::integer)
        return astype<double>(std::forward<E>(e));
    else
        return std::forward<E>(e);
}
template <class E>
inline constexpr bool may_be_nan = kind_of(node_of<E>::type) > kind::integer;
template <class E>
index_t count_of(const reduction& how, const E& e) {
    shape_room room;
    return count_reduced(how, as_node(e).extents(room));
}

template <class E>
auto mean_of(const reduction& how, E&& e) {
    const auto n = static_cast<double>(count_of(how, e));
    return sum_of(how, with_fractions(std::forward<E>(e))) / n;
}

/// In two passes: squares of what is left after the mean, so that a large mean costs no digits.
template <class E>
auto var_of(const reduction& how, const E& e) {
    const auto& x = with_fractions(e);
    const auto n = static_cast<double>(std::max<index_t>(count_of(how, e) - how.ddof, 0));
    return sum_of(how, square(x - mean_of(how.kept(), x))) / n;
}
template <class E>
auto stddev_of(const reduction& how, const E& e) {
    return sqrt(var_of(how, e));
}

template <class E>
auto ptp_of(const reduction& how, const E& e) {
    return max_of(how, e) - min_of(how, e);
}
/// The 2-norm.
template <class E>
auto norm_of(const reduction& how, const E& e) {
    return sqrt(sum_of(how, square(with_fractions(e))));
}
/// log(sum(exp(e))) that does not overflow.
template <class E>
auto logsumexp_of(const reduction& how, const E& e) {
    const auto& x = with_fractions(e);
    const auto finite = [](const auto& m) { return where(isfinite(m), m, 0); };
    return log(sum_of(how, exp(x - finite(max_of(how.kept(), x))))) + finite(max_of(how, x));
}

/// e with another value in the place of NaN.
template <class E>
auto without_nan(const E& e, double instead) {
    return where(isnan(e), instead, e);
}
template <class E>
auto nansum_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return sum_of(how, without_nan(e, 0));
    else
        return sum_of(how, e);
}
template <class E>
auto nanprod_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return prod_of(how, without_nan(e, 1));
    else
        return prod_of(how, e);
}
template <class E>
auto nanmax_of(const reduction& how, const E& e) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (may_be_nan<E>)
        return where(all_of(how, isnan(e)), nan, max_of(how, without_nan(e, -infinity)));
    else
        return max_of(how, e);
}
template <class E>
auto nanmin_of(const reduction& how, const E& e) {
    constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    if constexpr (may_be_nan<E>)
        return where(all_of(how, isnan(e)), nan, min_of(how, without_nan(e, infinity)));
    else
        return min_of(how, e);
}
template <class E>
auto nanmean_of(const reduction& how, const E& e) {
    if constexpr (may_be_nan<E>)
        return nansum_of(how, e) / astype<typename node_of<E>::value_type>(count_nonzero_of(how, !isnan(e)));
    else
        return mean_of(how, e);
}

/// name(e, tags...) and name(e, axes, tags...). Found by ADL, as the operators are.
#define INGOT_REDUCTION(name, tag)                  \
    template <array_expression E, tag... T>         \
    auto name(E&& e, T... tags) {                   \
        reduction how{#name, nullptr};              \
        (how.note(tags), ...);                      \
        return name##_of(how, std::forward<E>(e));  \
    }                                               \
    template <array_expression E, tag... T>         \
    auto name(E&& e, const axes& over, T... tags) { \
        reduction how{#name, &over};                \
        (how.note(tags), ...);                      \
        return name##_of(how, std::forward<E>(e));  \
    }
#define INGOT_FOLD(name, ...) INGOT_REDUCTION(name, keeps_tag)
#define INGOT_FOLD_OBJECT(...)
#include <ingot/folds.def>
INGOT_REDUCTION(mean, keeps_tag)
INGOT_REDUCTION(var, variance_tag)
INGOT_REDUCTION(stddev, variance_tag)
INGOT_REDUCTION(ptp, keeps_tag)
INGOT_REDUCTION(norm, keeps_tag)
INGOT_REDUCTION(logsumexp, keeps_tag)
INGOT_REDUCTION(nansum, keeps_tag)
INGOT_REDUCTION(nanprod, keeps_tag)
INGOT_REDUCTION(nanmax, keeps_tag)
INGOT_REDUCTION(nanmin, keeps_tag)
INGOT_REDUCTION(nanmean, keeps_tag)
#undef INGOT_REDUCTION

/// The mean, weighted: weights of e's shape or one that broadcasts to it, or a vector along the one reduced axis.
template <class E, class W>
auto weighted_mean(const reduction& how, const E& e, const W& weights) {
    const shape_like shape = e.shape();
    const int rank = e.ndim();
    std::vector<index_t> behind;  // new axes that put a vector along the reduced one
    if (how.over && how.over->count() == 1 && weights.ndim() == 1)
        for (int j = checked_axis(how.operation, (*how.over)[0], rank); ++j < rank;)
            behind.push_back(-1 - static_cast<index_t>(behind.size()));
    const auto w = broadcast_to(expand_dims(weights, axes(behind)), shape);
    return sum_of(how, with_fractions(e) * w) / sum_of(how, with_fractions(w));
}
template <array_expression E, keeps_tag... T>
auto average(E&& e, T... tags) {
    return mean(std::forward<E>(e), tags...);
}
template <array_expression E, keeps_tag... T>
auto average(E&& e, const axes& over, T... tags) {
    return mean(std::forward<E>(e), over, tags...);
}
template <array_expression E, array_expression W>
auto average(const E& e, const W& weights) {
    return weighted_mean({"average", nullptr}, e, weights);
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
template <array_expression A, array_expression B>
auto vdot(A&& a, B&& b) {
    return product_sum("vdot", std::forward<A>(a), std::forward<B>(b));
}
template <array_expression A, array_expression B>
auto inner(A&& a, B&& b) {
    return product_sum("inner", std::forward<A>(a), std::forward<B>(b));
}
/// The sum of a diagonal.
template <array_expression E>
auto trace(E&& e, index_t offset = 0, index_t axis1 = 0, index_t axis2 = 1) {
    const axes last(-1);
    return sum_of({"trace", &last}, diagonal(std::forward<E>(e), offset, axis1, axis2));
}

/// Whether every |a - b| <= absolute + relative * |b|; infinities are close to themselves, NaN to nothing.
template <array_expression A, array_expression B>
auto allclose(const A& a, const B& b, double relative = 1e-5, double absolute = 1e-8) {
    const auto& x = with_fractions(a);
    const auto& y = with_fractions(b);
    return all_of({"allclose", nullptr}, (abs(x - y) <= absolute + relative * abs(y) && isfinite(y)) || x == y);
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

template <array_expression E>
auto softmax(const E& e, const axes& over = -1) {
    const reduction how{"softmax", &over, true};
    const auto& x = with_fractions(e);
    const auto y = exp(x - max_of(how, x));
    return y / sum_of(how, y);
}
template <array_expression E>
auto log_softmax(const E& e, const axes& over = -1) {
    const reduction how{"log_softmax", &over, true};
    const auto& x = with_fractions(e);
    const auto y = x - max_of(how, x);
    return y - log(sum_of(how, exp(y)));
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
#include <ingot/folds.def>
using detail::allclose;
using detail::array_equal;
using detail::average;
using detail::dot;
using detail::inner;
using detail::log_softmax;
using detail::logsumexp;
using detail::mean;
using detail::nanmax;
using detail::nanmean;
using detail::nanmin;
using detail::nanprod;
using detail::nansum;
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
