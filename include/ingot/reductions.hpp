// Reductions: sum(e), sum(e, axis), sum(e, {0, 2}), a last `keepdims`. sum(e, {}) reduces nothing.
#pragma once

#include <utility>

#include <ingot/binders.hpp>

namespace ingot {

/// Leaves an axis of extent 1 in the place of each that is reduced: sum(m, 1, keepdims).
class keepdims_t {
public:
    struct made {};
    constexpr explicit keepdims_t(made) {}  // braces alone are axes, never this
};
inline constexpr keepdims_t keepdims{keepdims_t::made{}};

namespace detail {

enum class fold_rule : std::uint8_t { sums, own, counts, truth };

constexpr dtype fold_dtype(fold_rule rule, dtype of) {
    switch (rule) {
        case fold_rule::counts: return dtype::i8;
        case fold_rule::truth: return dtype::b1;
        case fold_rule::sums:
            if (kind_of(of) > kind::integer) return of;
            return kind_of(of) == kind::integer && !is_signed(of) ? dtype::u8 : dtype::i8;
        default: return of;
    }
}

/// `over` null: all axes.
template <fold F, fold_rule R, class E>
auto reduced(const char* operation, E&& e, const axes* over, bool keep) {
    using node = node_of<E>;
    constexpr word code = make_word(word_kind::reduce, fold_dtype(R, node::type), static_cast<std::uint32_t>(F));
    using result = binder<code, node, no_place>;
    node operand = as_node(std::forward<E>(e));
    shape_room room;
    const extents_ref shape = operand.extents(room);
    if (!over && !keep) {
        const int bound = shape.rank;
        return result(std::move(operand), bound, no_place{});
    }
    view_room view;
    const arrangement a = view_reduced(view, operation, shape, over, keep);
    if (a.moves) operand.apply(view, 0);
    return result(std::move(operand), a.bound, no_place{});
}

// Found by ADL, as the operators are.
#define INGOT_FOLD(name, rule)                                                                              \
    template <array_expression E>                                                                           \
    auto name(E&& e) {                                                                                      \
        return reduced<fold::name, fold_rule::rule>(#name, std::forward<E>(e), nullptr, false);             \
    }                                                                                                       \
    template <array_expression E>                                                                           \
    auto name(E&& e, keepdims_t) {                                                                          \
        return reduced<fold::name, fold_rule::rule>(#name, std::forward<E>(e), nullptr, true);              \
    }                                                                                                       \
    template <array_expression E>                                                                           \
    auto name(E&& e, const axes& over) {                                                                    \
        return reduced<fold::name, fold_rule::rule>(#name, std::forward<E>(e), &over, false);               \
    }                                                                                                       \
    template <array_expression E>                                                                           \
    auto name(E&& e, const axes& over, keepdims_t) {                                                        \
        return reduced<fold::name, fold_rule::rule>(#name, std::forward<E>(e), &over, true);                \
    }
#include <ingot/folds.def>

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
#include <ingot/folds.def>

}  // namespace ingot
