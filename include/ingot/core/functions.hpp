// The elementwise functions and the C++ operators over expressions, made from the rows of the operator table. An
// operator that its dtypes do not have (minus on bool, shift of a float) is rejected: SFINAE sees it, and the
// compiler's first line names the function and its operands.
#pragma once

#include <utility>

#include <ingot/core/expression.hpp>
#include <ingot/core/host_values.hpp>

namespace ingot {
namespace detail {

/// Operands with dtypes for which row O has no function.
template <op O, class... A>
concept not_of_these_dtypes = sizeof...(A) == facts(O).arity && (operand_like<A> && ...) &&
                              (array_expression<A> || ...) && !signature_of<O, A...>().legal;

#define INGOT_OPERATOR(name, arity, ...)                                                          \
    template <class... A>                                                                         \
        requires(sizeof...(A) == arity && applicable<op::name, A...>)                             \
    auto name(A&&... a) {                                                                         \
        return apply_operator<op::name>(std::forward<A>(a)...);                                   \
    }                                                                                             \
    INGOT_REJECTED(#name " is not defined for these dtypes; astype<T>(x) converts", (class... A), \
                   (not_of_these_dtypes<op::name, A...>), ::ingot::detail::rejected name(A&&...))
#define INGOT_ALIAS(alias, name)                                                                   \
    template <class... A>                                                                          \
        requires(sizeof...(A) == facts(op::name).arity && applicable<op::name, A...>)              \
    auto alias(A&&... a) {                                                                         \
        return apply_operator<op::name>(std::forward<A>(a)...);                                    \
    }                                                                                              \
    INGOT_REJECTED(#alias " is not defined for these dtypes; astype<T>(x) converts", (class... A), \
                   (not_of_these_dtypes<op::name, A...>), ::ingot::detail::rejected alias(A&&...))
#define INGOT_PART(...)
#define INGOT_WORDS(...)
#include <ingot/core/operators.def>

/// A host range, such as a vector, beside an expression.
template <class A, class B>
concept beside_values_of_the_host = (array_expression<A> && values_of_host<B> && !array_expression<B>) ||
                                    (array_expression<B> && values_of_host<A> && !array_expression<A>);

#define INGOT_BINARY(symbol, name, hint)                                                                   \
    INGOT_REJECTED("a range of the host's is no array: asarray(values)", (class A, class B),               \
                   (beside_values_of_the_host<A, B>), ::ingot::detail::rejected operator symbol(A&&, B&&)) \
    template <class A, class B>                                                                            \
        requires applicable<op::name, A, B>                                                                \
    auto operator symbol(A&& a, B&& b) {                                                                   \
        return apply_operator<op::name>(std::forward<A>(a), std::forward<B>(b));                           \
    }                                                                                                      \
    INGOT_REJECTED(hint, (class A, class B), (not_of_these_dtypes<op::name, A, B>),                        \
                   ::ingot::detail::rejected operator symbol(A&&, B&&))
#define INGOT_UNARY(symbol, name, hint)                      \
    template <class A>                                       \
        requires applicable<op::name, A>                     \
    auto operator symbol(A&& a) {                            \
        return apply_operator<op::name>(std::forward<A>(a)); \
    }                                                        \
    INGOT_REJECTED(hint, (class A), (not_of_these_dtypes<op::name, A>), ::ingot::detail::rejected operator symbol(A&&))
INGOT_BINARY(+, add, "add is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(-, subtract, "bool has no minus: x ^ y, astype<int>(x) - y")
INGOT_BINARY(*, multiply, "multiply is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(/, divide, "bool has no division: astype<int>(x) / y")
INGOT_BINARY(%, remainder, "bool has no remainder: astype<int>(x) % y")
INGOT_BINARY(==, equal, "equal is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(!=, not_equal, "not_equal is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(<, less, "complex numbers have no order: compare abs(z), real(z)")
INGOT_BINARY(<=, less_equal, "complex numbers have no order: compare abs(z), real(z)")
INGOT_BINARY(>, greater, "complex numbers have no order: compare abs(z), real(z)")
INGOT_BINARY(>=, greater_equal, "complex numbers have no order: compare abs(z), real(z)")
INGOT_BINARY(&&, logical_and, "logical_and is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(||, logical_or, "logical_or is not defined for these dtypes; astype<T>(x) converts")
INGOT_BINARY(&, bitwise_and, "floats have no bits: astype<int>(x); of truths x && y, x || y")
INGOT_BINARY(|, bitwise_or, "floats have no bits: astype<int>(x); of truths x && y, x || y")
INGOT_BINARY(^, bitwise_xor, "floats have no bits: astype<int>(x); a power is power(x, y), square(x)")
INGOT_BINARY(<<, left_shift, "floats have no bits: astype<int>(x); of truths x && y, x || y")
INGOT_BINARY(>>, right_shift, "floats have no bits: astype<int>(x); of truths x && y, x || y")
INGOT_UNARY(+, positive, "positive is not defined for these dtypes; astype<T>(x) converts")
INGOT_UNARY(-, negative, "bool has no minus: !x, -astype<int>(x)")
INGOT_UNARY(~, invert, "floats have no bits: astype<int>(x)")
INGOT_UNARY(!, logical_not, "logical_not is not defined for these dtypes; astype<T>(x) converts")
#undef INGOT_BINARY
#undef INGOT_UNARY

/// `e` converted to T: floats to integers saturate and NaN becomes 0, integers wrap, and bool is whether a value is not
/// 0. The result has e's shape.
///
///     std::cout << astype<int>(array<double>{1.7, -1.7, 1e10, NAN}) << ' ' << astype<bool>(array<int>{0, 2});
///     // prints: [         1         -1 2147483647          0] [False  True]
template <element_type T, array_expression E>
auto astype(E&& e) {
    using node = std::remove_cvref_t<decltype(as_node(std::forward<E>(e)))>;
    using result = map<op::astype, dtype_of<T>, node>;
    return result(typename result::made{}, as_node(std::forward<E>(e)));
}

/// e itself where its elements have type T, else e converted to T.
template <element_type T, array_expression E>
decltype(auto) converted_to(E&& e) {
    if constexpr (std::is_same_v<typename std::remove_cvref_t<E>::value_type, T>)
        return std::forward<E>(e);
    else
        return astype<T>(std::forward<E>(e));
}

/// The bits of `e` as elements of T, a type of the same size: NumPy's e.view(dtype). For an array it is a view.
///
///     std::cout << bit_cast<std::int32_t>(array<float>{1, -2});
///     // prints: [ 1065353216 -1073741824]
template <element_type T, array_expression E>
    requires(sizeof(T) == sizeof(typename E::value_type) &&
             (!std::same_as<T, bool> || std::same_as<typename E::value_type, bool>))
auto bit_cast(const E& e) {
    const auto& node = as_node(e);
    if constexpr (std::same_as<std::remove_cvref_t<decltype(node)>, leaf<typename E::value_type>>)
        return leaf<T>(node.memory(), node.where());
    else
        return make_node<op::bit_cast, dtype_of<T>>("bit_cast", node);
}

}  // namespace detail

#define INGOT_OPERATOR(name, ...) using detail::name;
#define INGOT_ALIAS(alias, name) using detail::alias;
#define INGOT_PART(...)
#define INGOT_WORDS(...)
#include <ingot/core/operators.def>
using detail::astype;
using detail::bit_cast;

/// A value with a dtype and no axes: it promotes as a 0-d array does, whereas a C++ number has only its kind.
///
///     array<float> x{1, 2};
///     std::cout << name(eval(x * 2.0).dtype()) << ' ' << name(eval(x * scalar(2.0)).dtype());
///     // prints: float32 float64
template <element_type T>
auto scalar(T value) {
    return detail::strong_leaf<T>(detail::words_of_value(value), detail::dtype_of<T>);
}

namespace detail {

/// An expression or a number, with values of type T.
template <class T, class E>
decltype(auto) as_values(E&& e) {
    if constexpr (array_expression<E>)
        return converted_to<T>(std::forward<E>(e));
    else
        return ingot::scalar(static_cast<T>(plain_number(e)));
}

}  // namespace detail

}  // namespace ingot
