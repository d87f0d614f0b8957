// The elementwise functions and the C++ operators over expressions, made from the rows of the operator table.
// An operator that the dtypes do not have (minus on bool, shift of a float) is deleted: SFINAE sees it, and the
// compiler's first line names function and operands.
#pragma once

#include <utility>

#include <ingot/expression.hpp>

namespace ingot {
namespace detail {

/// Operands of whose dtypes row O has no function.
template <op O, class... A>
concept not_of_these_dtypes = sizeof...(A) == facts(O).arity && (operand_like<A> && ...) &&
                              (array_expression<A> || ...) && !signature_of<O, A...>().legal;

#define INGOT_OPERATOR(name, arity, ...)                              \
    template <class... A>                                             \
        requires(sizeof...(A) == arity && applicable<op::name, A...>) \
    auto name(A&&... a) {                                             \
        return apply_operator<op::name>(std::forward<A>(a)...);       \
    }                                                                 \
    template <class... A>                                             \
        requires not_of_these_dtypes<op::name, A...>                  \
    auto name(A&&...) = delete;
#define INGOT_ALIAS(alias, name)                                                      \
    template <class... A>                                                             \
        requires(sizeof...(A) == facts(op::name).arity && applicable<op::name, A...>) \
    auto alias(A&&... a) {                                                            \
        return apply_operator<op::name>(std::forward<A>(a)...);                       \
    }                                                                                 \
    template <class... A>                                                             \
        requires not_of_these_dtypes<op::name, A...>                                  \
    auto alias(A&&...) = delete;
#define INGOT_PART(...)
#include <ingot/operators.def>

#define INGOT_BINARY(symbol, name)                                               \
    template <class A, class B>                                                  \
        requires applicable<op::name, A, B>                                      \
    auto operator symbol(A&& a, B&& b) {                                         \
        return apply_operator<op::name>(std::forward<A>(a), std::forward<B>(b)); \
    }                                                                            \
    template <class A, class B>                                                  \
        requires not_of_these_dtypes<op::name, A, B>                             \
    auto operator symbol(A&&, B&&) = delete;
#define INGOT_UNARY(symbol, name)                            \
    template <class A>                                       \
        requires applicable<op::name, A>                     \
    auto operator symbol(A&& a) {                            \
        return apply_operator<op::name>(std::forward<A>(a)); \
    }                                                        \
    template <class A>                                       \
        requires not_of_these_dtypes<op::name, A>            \
    auto operator symbol(A&&) = delete;
INGOT_BINARY(+, add)
INGOT_BINARY(-, subtract)
INGOT_BINARY(*, multiply)
INGOT_BINARY(/, divide)
INGOT_BINARY(%, remainder)
INGOT_BINARY(==, equal)
INGOT_BINARY(!=, not_equal)
INGOT_BINARY(<, less)
INGOT_BINARY(<=, less_equal)
INGOT_BINARY(>, greater)
INGOT_BINARY(>=, greater_equal)
INGOT_BINARY(&&, logical_and)
INGOT_BINARY(||, logical_or)
INGOT_BINARY(&, bitwise_and)
INGOT_BINARY(|, bitwise_or)
INGOT_BINARY(^, bitwise_xor)
INGOT_BINARY(<<, left_shift)
INGOT_BINARY(>>, right_shift)
INGOT_UNARY(+, positive)
INGOT_UNARY(-, negative)
INGOT_UNARY(~, invert)
INGOT_UNARY(!, logical_not)
#undef INGOT_BINARY
#undef INGOT_UNARY

/// `e` as T: floats to integers saturate and NaN is 0, integers wrap, and bool is whether a value is not 0. Of e's
/// shape.
///
///     std::cout << astype<int>(array<double>{1.7, -1.7, 1e10, NAN}) << ' ' << astype<bool>(array<int>{0, 2});
///     // prints: [         1         -1 2147483647          0] [False  True]
template <element_type T, array_expression E>
auto astype(E&& e) {
    using node = std::remove_cvref_t<decltype(as_node(std::forward<E>(e)))>;
    using result = map<op::astype, dtype_of<T>, node>;
    return result(typename result::made{}, as_node(std::forward<E>(e)));
}

}  // namespace detail

#define INGOT_OPERATOR(name, ...) using detail::name;
#define INGOT_ALIAS(alias, name) using detail::alias;
#define INGOT_PART(...)
#include <ingot/operators.def>
using detail::astype;

/// A value with a dtype of its own and no axes: it promotes as a 0-d array does, where a C++ number has only its kind.
///
///     array<float> x{1, 2};
///     std::cout << name(eval(x * 2.0).dtype()) << ' ' << name(eval(x * scalar(2.0)).dtype());
///     // prints: float32 float64
template <element_type T>
auto scalar(T value) {
    return detail::strong_leaf<T>(detail::words_of_value(value), detail::dtype_of<T>);
}

}  // namespace ingot
