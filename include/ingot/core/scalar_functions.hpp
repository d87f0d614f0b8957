// Every function of the operator table over scalars: all arguments are arithmetic, and the result is a C++ scalar of
// the row's result type. So one generic lambda serves a number and an array, and `abs(-0.5f)` under `using namespace
// ingot` is not the C library's abs(int). Unqualified, a function that the C library has for double is the C library's:
// they agree except for remainder(double, double), which rounds to nearest there; write ingot::remainder, or fmod.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <ingot/core/dtype.hpp>
#include <ingot/core/export.hpp>
#include <ingot/core/half.hpp>
#include <ingot/core/operators.hpp>

namespace ingot {
namespace detail {

// These bodies convert on purpose.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#endif
namespace bodies {

/// A float out of range becomes the nearest integer, NaN becomes 0; integers wrap; bool is truth.
template <class To, class From>
To cast(From x) {
    if constexpr (half_float<From> && !std::is_same_v<From, To>) {
        return cast<To>(static_cast<float>(x));
    } else if constexpr (half_float<To>) {
        return static_cast<To>(x);
    } else if constexpr (std::is_same_v<To, bool>) {
        return x != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        using limits = std::numeric_limits<To>;
        const From beyond = std::ldexp(From(1), limits::digits);  // the least float that is too large
        if (x != x) return 0;
        if (x >= beyond) return limits::max();
        return x <= static_cast<From>(limits::min()) ? limits::min() : static_cast<To>(x);
    } else {
        return static_cast<To>(x);
    }
}

}  // namespace bodies
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/// Row `o` over n elements: the interpreter's function for a first operand and others of these dtypes.
using elements_function = void (*)(const void* a, const void* b, const void* c, void* result, std::size_t n);
INGOT_API elements_function function_of_elements(op o, dtype first, dtype others);

/// The type of a scalar argument; long double counts as double.
template <class T>
using scalar_type = std::conditional_t<std::same_as<T, long double>, double, T>;

template <op O, class... A>
constexpr signature scalar_signature() {
    const operand_type types[] = {{dtype_of<scalar_type<A>>, true}...};
    return resolve(O, types);
}

template <op O, class... A>
concept applicable_to_scalars =
    sizeof...(A) == facts(O).arity && (std::is_arithmetic_v<A> && ...) && scalar_signature<O, A...>().legal;

template <op O, class First, class Second = First, class Third = Second>
auto apply_to_scalars(First a, Second b = {}, Third c = {}) {
    constexpr int arity = facts(O).arity;
    constexpr signature s = [] {
        if constexpr (arity == 1)
            return scalar_signature<O, First>();
        else if constexpr (arity == 2)
            return scalar_signature<O, First, Second>();
        else
            return scalar_signature<O, First, Second, Third>();
    }();
    using A = type_of<s.computes[0]>;
    using B = type_of<s.computes[arity > 1 ? 1 : 0]>;
    using R = type_of<s.result>;
    using T = std::conditional_t<facts(O).rule == rule::selection, B, A>;
    const A first = bodies::cast<A>(static_cast<scalar_type<First>>(a));
    const B second = bodies::cast<B>(static_cast<scalar_type<Second>>(b));
    const T third = bodies::cast<T>(static_cast<scalar_type<Third>>(c));
    constexpr dtype given = body_result(facts(O).rule, dtype_of<T>);  // `special` rows round it to R
    type_of<given> result{};
    static const elements_function row = function_of_elements(O, dtype_of<A>, dtype_of<B>);  // looked up once
    row(&first, &second, &third, &result, 1);
    return static_cast<R>(result);
}

}  // namespace detail

#define INGOT_OPERATOR(name, ...)                                      \
    template <class... A>                                              \
        requires detail::applicable_to_scalars<detail::op::name, A...> \
    auto name(A... a) {                                                \
        return detail::apply_to_scalars<detail::op::name>(a...);       \
    }
#define INGOT_ALIAS(alias, name)                                       \
    template <class... A>                                              \
        requires detail::applicable_to_scalars<detail::op::name, A...> \
    auto alias(A... a) {                                               \
        return detail::apply_to_scalars<detail::op::name>(a...);       \
    }
#define INGOT_PART(...)
#define INGOT_WORDS(...)
#include <ingot/core/operators.def>

/// `x` as T, as an array's astype converts: a float out of range saturates and NaN becomes 0.
///
///     std::cout << astype<std::int8_t>(1000.0) + 0 << ' ' << astype<int>(NAN);
///     // prints: 127 0
template <element_type T, class X>
    requires std::is_arithmetic_v<X>
T astype(X x) {
    return detail::bodies::cast<T>(static_cast<detail::scalar_type<X>>(x));
}

}  // namespace ingot
