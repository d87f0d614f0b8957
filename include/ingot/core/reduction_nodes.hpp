// The building blocks of reductions: the options, one node for each row of folds.def, and compositions of these.
// `name_of(how, e)` implements name(e, ...) of reductions.hpp.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include <ingot/core/assignment.hpp>
#include <ingot/core/binders.hpp>
#include <ingot/core/folds.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/lazy.hpp>

namespace ingot {

/// The type of `keepdims`.
class keepdims_t {
public:
    // Inner
    struct made {};
    constexpr explicit keepdims_t(made) {}  // braces alone are axes, never this
};

/// Keeps each reduced axis, with extent 1.
///
///     std::cout << sum(ones({2, 3}), 1, keepdims).shape() << ' ' << sum(ones({2, 3}), 1).shape();
///     // prints: (2, 1) (2,)
inline constexpr keepdims_t keepdims{keepdims_t::made{}};

/// The number that is subtracted from the divisor of a variance (delta degrees of freedom).
///
///     std::cout << var(array<double>{1, 2, 3}, ddof(1)) << ' ' << ddof(1).value();
///     // prints: 1.0 1
class ddof {
public:
    constexpr explicit ddof(index_t n) : n_(n) {}
    /// The number.
    constexpr index_t value() const { return n_; }

private:
    index_t n_;
};

/// The initial value of a sum, a product or an extreme, joined as one more element, so that an extreme of no elements
/// is defined. Its kind is the result's or a lesser one.
///
///     std::cout << max(array<int>{3, 1}, initial(5)) << ' ' << sum(array<int>{3, 1}, initial(5)) << ' ';
///     std::cout << min(zeros(0), initial(2)) << ' ' << initial(5).value();
///     // prints: 5 9 2.0 5
template <weak_scalar V>
class initial {
public:
    constexpr explicit initial(V value) : value_(value) {}
    /// The number.
    constexpr V value() const { return value_; }

private:
    V value_;
};

namespace detail {

template <class T>
concept keeps_tag = std::same_as<T, keepdims_t>;
template <class T>
concept variance_tag = keeps_tag<T> || std::same_as<T, ddof>;
template <class T>
inline constexpr bool is_initial = false;
template <class V>
inline constexpr bool is_initial<initial<V>> = true;
/// An option of a fold whose result has this dtype: keepdims, or a start that fits.
template <class T, dtype Result>
concept start_tag = keeps_tag<T> || (is_initial<T> && requires(const T& t) {
                        requires kind_of(operand_type_of<decltype(t.value())>().type) <= kind_of(Result);
                    });

/// The options of one reduction.
struct reduction {
    const char* operation;
    const axes* over;  // null: all
    bool keep = false;
    index_t ddof = 0;
    bool has_initial = false;

    void note(keepdims_t) { keep = true; }
    void note(ingot::ddof d) { ddof = d.value(); }
    template <class V>
    void note(const initial<V>&) {
        has_initial = true;
    }
    reduction kept() const { return {operation, over, true, ddof, has_initial}; }
};

/// A fold's result, joined with the initial value where the tags have one.
template <op Join, class R, class... T>
auto started(const char* operation, R result, const T&... tags) {
    if constexpr ((is_initial<T> || ...)) {
        using V = typename R::value_type;
        V from{};
        const auto note = [&](const auto& tag) {
            if constexpr (is_initial<std::remove_cvref_t<decltype(tag)>>)
                from = element_value<V>(operation, tag.value());
        };
        (note(tags), ...);
        return apply_operator<Join>(std::move(result), scalar(from));
    } else {
        return result;
    }
}

/// The number of elements that each result reduces.
inline index_t count_reduced(const reduction& how, extents_ref shape) {
    index_t n = 1;
    if (how.over)
        for (const index_t a : how.over->values()) n *= shape.data[checked_axis(how.operation, a, shape.rank)];
    else
        for (const index_t extent : shape.span()) n *= extent;
    return n;
}

/// Throws shape_error for an extreme of no elements, even where there is no result. `arranged`: the shape with the
/// reduced axes last.
inline void check_not_over_nothing(const char* operation, extents_ref arranged, int bound) {
    index_t each = 1;
    for (int j = arranged.rank - bound; j < arranged.rank; ++j) each *= arranged.data[j];
    if (each == 0)
        throw shape_error("[" + std::string(operation) +
                          "] of no elements has no result: an axis of extent 0 is reduced");
}

/// The node of fold F. `what`: the fold's second value, if it has one.
template <fold F, class E, class What = no_place>
auto reduced(const reduction& how, E&& e, What what = {}) {
    using node = node_of<E>;
    constexpr fold_facts row = facts(F);
    constexpr word code = make_word(word_kind::reduce, fold_dtype(row.rule, node::type), static_cast<std::uint32_t>(F));
    using result = binder<code, node, What>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    const extents_ref shape = operand.extents(room);
    const bool needs_elements = row.needs_elements() && !how.has_initial;
    if (!how.over && !how.keep) {
        const int bound = shape.rank;
        if (needs_elements) check_not_over_nothing(how.operation, shape, bound);
        return result(std::move(operand), bound, std::move(what));
    }
    view_room view;
    const arrangement a = view_reduced(view, how.operation, shape, how.over, how.keep);
    if (needs_elements) check_not_over_nothing(how.operation, {view.new_shape, view.new_rank}, a.bound);
    if (a.moves) operand.apply(view, 0);
    return result(std::move(operand), a.bound, std::move(what));
}

/// Whether a fold of complex numbers cannot be done on real and imaginary parts separately.
constexpr bool mixes_parts(fold f) { return f == fold::max || f == fold::min || f == fold::prod; }
/// A fold that mixes parts.
template <class C>
INGOT_API lazy<C> complex_fold(const reduction& how, fold, const lazy<C>&);

#define INGOT_FOLD(name, ...)                                       \
    template <class E>                                              \
    auto name##_of(const reduction& how, E&& e) {                   \
        using T = typename node_of<E>::value_type;                  \
        if constexpr (complex_number<T> && mixes_parts(fold::name)) \
            return complex_fold(how, fold::name, lazy<T>(e));       \
        else                                                        \
            return reduced<fold::name>(how, std::forward<E>(e));    \
    }
#include <ingot/core/folds.def>

/// Expressions whose elements have an order.
template <class E>
concept real_expression = array_expression<E> && kind_of(node_of<E>::type) != kind::complex;
/// An operand of a scan; complex numbers have only sums.
template <class E, fold F>
concept scannable_expression = real_expression<E> || (array_expression<E> && F == fold::sum);
/// An operand of a reduction; complex numbers have sums, products, extremes, all, any and count_nonzero.
template <class E, fold F>
concept foldable_expression =
    scannable_expression<E, F> || (array_expression<E> && (mixes_parts(F) || facts(F).rule == fold_rule::truth ||
                                                           facts(F).rule == fold_rule::counts));

/// f(e); for float16 and bfloat16 computed in float32, where a sum has room, and rounded once.
template <class E, class F>
auto in_float32(E&& e, const F& f) {
    using T = typename node_of<E>::value_type;
    if constexpr (half_float<T>) {
        auto result = f(astype<float>(std::forward<E>(e)));
        if constexpr (std::is_same_v<typename decltype(result)::value_type, float>)
            return astype<T>(std::move(result));
        else
            return result;
    } else {
        return f(std::forward<E>(e));
    }
}

// ---- what is made of them --------------------------------------------------------------------------------------

/// e unchanged for floating and complex types; else converted to double.
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

/// The variance in two passes: it sums squares of differences from the mean, so that a large mean costs no digits.
template <class E>
auto var_of(const reduction& how, const E& e) {
    const auto& x = with_fractions(e);
    const index_t left = count_of(how, e) - how.ddof;
    const auto n = static_cast<double>(left > 0 ? left : 0);
    return sum_of(how, abs2(x - mean_of(how.kept(), x))) / n;
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
    return sqrt(sum_of(how, abs2(with_fractions(e))));
}
/// The offset for the exponentials of a row with maximum m: 0 where m is infinite or NaN, since the elements themselves
/// then decide the result.
template <class E>
auto finite_or_zero(const E& m) {
    return where(isfinite(m), m, 0);
}
/// log(sum(exp(e))) without overflow.
template <class E>
auto logsumexp_of(const reduction& how, const E& e) {
    const auto& x = with_fractions(e);
    return log(sum_of(how, exp(x - finite_or_zero(max_of(how.kept(), x))))) + finite_or_zero(max_of(how, x));
}

}  // namespace detail
}  // namespace ingot
