// Elementwise functions composed of others, for arrays, expressions and C++ numbers. A function with several results
// gives a tuple of expressions, which eval() computes in one kernel.
#pragma once

#include <complex>
#include <limits>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <ingot/core/functions.hpp>
#include <ingot/core/scalar_functions.hpp>

namespace ingot {
namespace detail {

/// An array or expression, or a number.
template <class A>
concept argument_like =
    array_expression<A> || std::is_arithmetic_v<std::remove_cvref_t<A>> || half_float<std::remove_cvref_t<A>>;

template <argument_like A>
constexpr dtype type_of_argument() {
    if constexpr (array_expression<A>)
        return std::remove_cvref_t<A>::type;
    else
        return dtype_of<scalar_type<std::remove_cvref_t<A>>>;
}

/// The argument as the float type in which a function such as exp computes.
template <argument_like A>
decltype(auto) as_float(A&& a) {
    constexpr dtype given = type_of_argument<A>(), wanted = floating_of(given);
    if constexpr (given == wanted)
        return std::forward<A>(a);
    else
        return ingot::astype<type_of<wanted>>(std::forward<A>(a));
}

// ---- complex numbers --------------------------------------------------------------------------------------------

/// re + i im: complex64 where float32 holds both parts, else complex128.
///
///     std::cout << complex_of(array<float>{1, 2}, array<float>{3, -4});
///     // prints: [1.+3.j 2.-4.j]
template <class A, class B>
    requires applicable<op::complex_of, A, B>
auto complex_of(A&& re, B&& im) {
    return apply_operator<op::complex_of>(std::forward<A>(re), std::forward<B>(im));
}

/// The square of the absolute value, in the argument's type; for complex numbers the real number re * re + im * im.
///
///     std::cout << abs2(complex_of(array<float>{3, 1}, array<float>{4, -1})) << ' ' << abs2(array<int>{-2, 3});
///     // prints: [25.  2.] [4 9]
template <class A>
    requires argument_like<A> || complex_number<std::remove_cvref_t<A>>
auto abs2(const A& a) {
    if constexpr (complex_number<std::remove_cvref_t<A>>)
        return std::norm(a);
    else if constexpr (kind_of(type_of_argument<A>()) == kind::complex)
        return ingot::square(ingot::real(a)) + ingot::square(ingot::imag(a));
    else
        return ingot::square(a);
}

// ---- two results ------------------------------------------------------------------------------------------------

/// A tuple of floor_divide(a, b) and remainder(a, b), broadcast. Throws shape_error where shapes do not broadcast.
///
///     auto [q, r] = eval(divmod(array<int>{7, -7}, 3));
///     std::cout << q << ' ' << r;
///     // prints: [ 2 -3] [1 2]
template <class A, class B>
    requires argument_like<A> && argument_like<B>
auto divmod(const A& a, const B& b) {
    return std::tuple(ingot::floor_divide(a, b), ingot::remainder(a, b));
}

/// A tuple of the fraction and the whole part, both with the argument's sign. An infinity's fraction is 0. Bool and
/// integers become the float that holds them.
///
///     auto [fraction, whole] = eval(modf(array<double>{1.25, -2.5}));
///     std::cout << fraction << ' ' << whole;
///     // prints: [ 0.25 -0.5 ] [ 1. -2.]
template <argument_like A>
auto modf(const A& a) {
    const auto& x = as_float(a);
    auto whole = ingot::trunc(x);
    auto fraction = ingot::copysign(ingot::where(ingot::isinf(x), 0, x - whole), x);
    return std::tuple(std::move(fraction), std::move(whole));
}

/// A tuple of the mantissa, whose absolute value is 0.5 or more and less than 1, and the exponent of 2 as int32.
///
///     auto [mantissa, exponent] = eval(frexp(array<double>{1, 6, 0.125}));
///     std::cout << mantissa << ' ' << exponent;
///     // prints: [0.5  0.75 0.5 ] [ 1  3 -2]
template <argument_like A>
auto frexp(const A& a) {
    return std::tuple(ingot::frexp_mantissa(a), ingot::frexp_exponent(a));
}

// ---- rounding ---------------------------------------------------------------------------------------------------

/// Rounds to the nearest integer, halves to the even one, in the argument's type; an integer stays as it is. With a
/// number of decimals it rounds to that many, or, where negative, to tens, hundreds, ... For C++ numbers alone,
/// unqualified `round` is the C library's.
///
///     std::cout << round(array<double>{0.5, 1.5, -2.7}) << ' ' << round(array<int>{1234}, -2);
///     // prints: [ 0.  2. -3.] [1200]
template <argument_like A>
auto round(const A& a) {
    if constexpr (kind_of(type_of_argument<A>()) == kind::integer)
        return ingot::real(a);
    else
        return ingot::rint(a);
}
template <argument_like A>
auto round(const A& a, int decimals) {
    double power = 1;
    for (int k = decimals < 0 ? -decimals : decimals; k > 0; --k) power *= 10;
    if constexpr (kind_of(type_of_argument<A>()) == kind::integer) {
        using T = type_of<type_of_argument<A>()>;
        return ingot::where(decimals >= 0, a, ingot::astype<T>(ingot::rint(a / power) * power));
    } else {
        // Multiplying and dividing by 1 changes no number.
        const auto& x = as_float(a);
        using T = type_of<type_of_argument<decltype(x)>()>;
        const T up = decimals > 0 ? static_cast<T>(power) : T(1), down = decimals < 0 ? static_cast<T>(power) : T(1);
        return ingot::rint(x * up / down) / up * down;
    }
}

/// An alias of `round`.
///
///     std::cout << around(array<double>{3.14159, 2.5}, 1);
///     // prints: [3.1 2.5]
template <argument_like A>
auto around(const A& a, int decimals = 0) {
    return round(a, decimals);
}

// ---- between bounds ---------------------------------------------------------------------------------------------

/// `clip` with one bound: `clip(x, least, none)` is maximum(x, least), `clip(x, none, most)` is minimum(x, most).
///
///     array<int> x{-2, 1, 7};
///     std::cout << clip(x, 0, none) << ' ' << clip(x, none, 5);
///     // prints: [0 1 7] [-2  1  5]
template <argument_like A, argument_like B>
auto clip(const A& a, const B& least, none_t) {
    return ingot::maximum(a, least);
}
template <argument_like A, argument_like B>
auto clip(const A& a, none_t, const B& most) {
    return ingot::minimum(a, most);
}

// ---- about imaginary parts --------------------------------------------------------------------------------------

/// Whether the argument has an imaginary part that is not 0: bool.
///
///     std::cout << iscomplex(complex_of(array<double>{1, 2}, array<double>{0, -1}));
///     // prints: [False  True]
template <argument_like A>
auto iscomplex(const A& a) {
    return ingot::not_equal(ingot::imag(a), 0);
}

/// Whether the argument's imaginary part is 0: bool; false for NaN.
///
///     std::cout << isreal(complex_of(array<double>{1, 2}, array<double>{0, -1}));
///     // prints: [ True False]
template <argument_like A>
auto isreal(const A& a) {
    return ingot::equal(ingot::imag(a), 0);
}

// ---- about infinities and NaN -----------------------------------------------------------------------------------

/// Whether the argument is +inf: bool.
///
///     std::cout << isposinf(array<double>{1, INFINITY, -INFINITY});
///     // prints: [False  True False]
template <argument_like A>
auto isposinf(const A& a) {
    return ingot::logical_and(ingot::isinf(a), ingot::greater(a, 0));
}

/// Whether the argument is -inf: bool.
///
///     std::cout << isneginf(array<double>{1, INFINITY, -INFINITY});
///     // prints: [False False  True]
template <argument_like A>
auto isneginf(const A& a) {
    return ingot::logical_and(ingot::isinf(a), ingot::less(a, 0));
}

/// The argument with numbers in place of NaN and infinities: by default 0 and the type's largest numbers. The type
/// stays; bool and integers are unchanged.
///
///     std::cout << nan_to_num(array<double>{1, NAN, INFINITY}, 0, 99);
///     // prints: [ 1.  0. 99.]
template <argument_like A>
auto nan_to_num(const A& a, double nan = 0, std::optional<double> posinf = {}, std::optional<double> neginf = {}) {
    if constexpr (kind_of(type_of_argument<A>()) < kind::floating) {
        return ingot::real(a);
    } else if constexpr (kind_of(type_of_argument<A>()) == kind::complex) {
        return complex_of(nan_to_num(ingot::real(a), nan, posinf, neginf),
                          nan_to_num(ingot::imag(a), nan, posinf, neginf));
    } else {
        using T = type_of<type_of_argument<A>()>;
        constexpr T infinite = std::numeric_limits<T>::infinity(), greatest = std::numeric_limits<T>::max();
        const T above = posinf ? static_cast<T>(*posinf) : greatest,
                below = neginf ? static_cast<T>(*neginf) : -greatest;
        return ingot::where(
            ingot::isnan(a), static_cast<T>(nan),
            ingot::where(ingot::equal(a, infinite), above, ingot::where(ingot::equal(a, -infinite), below, a)));
    }
}

/// Whether |a - b| <= absolute + relative * |b|: bool, broadcast. Infinities are close to themselves, NaN to nothing,
/// or with `equal_nan` to NaN. Throws shape_error where shapes do not broadcast.
///
///     std::cout << isclose(array<double>{1, 1, NAN}, array<double>{1.000001, 1.1, NAN});
///     // prints: [ True False False]
template <class A, class B>
    requires argument_like<A> && argument_like<B>
auto isclose(const A& a, const B& b, double relative = 1e-5, double absolute = 1e-8, bool equal_nan = false) {
    const auto& x = as_float(a);
    const auto& y = as_float(b);
    constexpr dtype common = promote(type_of_argument<decltype(x)>(), type_of_argument<decltype(y)>());
    using T = type_of<kind_of(common) == kind::complex ? part_of(common) : common>;
    const auto near = ingot::less_equal(ingot::absolute(ingot::subtract(x, y)),
                                        static_cast<T>(absolute) + static_cast<T>(relative) * ingot::absolute(y));
    const auto same = ingot::logical_or(ingot::logical_and(near, ingot::isfinite(y)), ingot::equal(x, y));
    const auto both = ingot::logical_and(ingot::isnan(x), ingot::isnan(y));
    return ingot::logical_or(same, ingot::logical_and(equal_nan, both));
}

// ---- of learning ------------------------------------------------------------------------------------------------

/// maximum(a, 0), in the argument's type.
///
///     std::cout << relu(array<double>{-1, 0, 2});
///     // prints: [0. 0. 2.]
template <argument_like A>
auto relu(const A& a) {
    return ingot::maximum(a, 0);
}

/// a times the normal distribution's function. Bool and integers become the float that holds them.
///
///     std::cout << gelu(array<double>{-1, 0, 1});
///     // prints: [-0.15865525  0.          0.84134475]
template <argument_like A>
auto gelu(const A& a) {
    return ingot::multiply(a, ingot::ndtr(a));
}

/// a times the logistic function. Bool and integers become the float that holds them.
///
///     std::cout << silu(array<double>{-1, 0, 1});
///     // prints: [-0.26894142  0.          0.73105858]
template <argument_like A>
auto silu(const A& a) {
    return ingot::multiply(a, ingot::expit(a));
}

/// 1 / sqrt(a). Bool and integers become the float that holds them.
///
///     std::cout << rsqrt(array<double>{1, 4, 16});
///     // prints: [1.   0.5  0.25]
template <argument_like A>
auto rsqrt(const A& a) {
    return ingot::reciprocal(ingot::sqrt(a));
}

}  // namespace detail

using detail::abs2;
using detail::around;
using detail::clip;
using detail::complex_of;
using detail::divmod;
using detail::frexp;
using detail::gelu;
using detail::isclose;
using detail::iscomplex;
using detail::isneginf;
using detail::isposinf;
using detail::isreal;
using detail::modf;
using detail::nan_to_num;
using detail::relu;
using detail::round;
using detail::rsqrt;
using detail::silu;

}  // namespace ingot
