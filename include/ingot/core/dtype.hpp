// Element types: the dtypes that Ingot knows, how C++ types map to them, and how two of them promote.
// The promotion table is NumPy 2's, with bfloat16 added beside float16; scalars are weak by kind (NEP 50).
#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include <ingot/core/half.hpp>

namespace ingot {

/// The element types, in NumPy's short names: b1 bool, i1..i8, u1..u8, f2 float16, bf bfloat16, f4, f8, c8, c16.
enum class dtype : std::uint8_t { b1, i1, u1, i2, u2, i4, u4, i8, u8, f2, bf, f4, f8, c8, c16 };

namespace detail {

/// T, made dependent on a template's arguments: code that uses it is instantiated with the template, not in every file
/// that includes it.
template <class T, class...>
struct deferred_type {
    using type = T;
};
template <class T, class... Until>
using deferred = typename deferred_type<T, Until...>::type;

inline constexpr std::size_t dtype_count = 15;

/// The kinds of dtypes that bodies of the operator table distinguish.
enum class kind : std::uint8_t { boolean, integer, floating, complex };

struct dtype_facts {
    std::string_view name;  // NumPy's
    std::uint8_t size;      // bytes
    detail::kind kind;
    bool is_signed;
};

inline constexpr std::array<dtype_facts, dtype_count> dtype_table{{
    {"bool", 1, kind::boolean, false},
    {"int8", 1, kind::integer, true},
    {"uint8", 1, kind::integer, false},
    {"int16", 2, kind::integer, true},
    {"uint16", 2, kind::integer, false},
    {"int32", 4, kind::integer, true},
    {"uint32", 4, kind::integer, false},
    {"int64", 8, kind::integer, true},
    {"uint64", 8, kind::integer, false},
    {"float16", 2, kind::floating, true},
    {"bfloat16", 2, kind::floating, true},
    {"float32", 4, kind::floating, true},
    {"float64", 8, kind::floating, true},
    {"complex64", 8, kind::complex, true},
    {"complex128", 16, kind::complex, true},
}};

constexpr const dtype_facts& facts(dtype t) { return dtype_table[static_cast<std::size_t>(t)]; }
constexpr std::size_t size_of(dtype t) { return facts(t).size; }
constexpr detail::kind kind_of(dtype t) { return facts(t).kind; }
constexpr bool is_signed(dtype t) { return facts(t).is_signed; }

/// Promotion of two arrays' dtypes, row by row as SEMANTICS prints it.
inline constexpr auto promotion_table = [] {
    using enum dtype;
    return std::array<std::array<dtype, dtype_count>, dtype_count>{{
        {b1, i1, u1, i2, u2, i4, u4, i8, u8, f2, bf, f4, f8, c8, c16},
        {i1, i1, i2, i2, i4, i4, i8, i8, f8, f2, bf, f4, f8, c8, c16},
        {u1, i2, u1, i2, u2, i4, u4, i8, u8, f2, bf, f4, f8, c8, c16},
        {i2, i2, i2, i2, i4, i4, i8, i8, f8, f4, f4, f4, f8, c8, c16},
        {u2, i4, u2, i4, u2, i4, u4, i8, u8, f4, f4, f4, f8, c8, c16},
        {i4, i4, i4, i4, i4, i4, i8, i8, f8, f8, f8, f8, f8, c16, c16},
        {u4, i8, u4, i8, u4, i8, u4, i8, u8, f8, f8, f8, f8, c16, c16},
        {i8, i8, i8, i8, i8, i8, i8, i8, f8, f8, f8, f8, f8, c16, c16},
        {u8, f8, u8, f8, u8, f8, u8, f8, u8, f8, f8, f8, f8, c16, c16},
        {f2, f2, f2, f4, f4, f8, f8, f8, f8, f2, f4, f4, f8, c8, c16},
        {bf, bf, bf, f4, f4, f8, f8, f8, f8, f4, bf, f4, f8, c8, c16},
        {f4, f4, f4, f4, f4, f8, f8, f8, f8, f4, f4, f4, f8, c8, c16},
        {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, f8, c16, c16},
        {c8, c8, c8, c8, c8, c16, c16, c16, c16, c8, c8, c8, c16, c8, c16},
        {c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16, c16},
    }};
}();

constexpr dtype promote(dtype a, dtype b) {
    return promotion_table[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
}

/// An array's dtype beside a weak scalar of that kind: f4 with a float is f4, i4 with a float is f8.
constexpr dtype promote_weak(dtype a, kind weak) {
    const kind own = kind_of(a);
    if (weak <= own) return a;
    if (weak == kind::integer) return dtype::i8;
    if (weak == kind::floating) return dtype::f8;
    return a == dtype::f4 || a == dtype::f2 || a == dtype::bf ? dtype::c8 : dtype::c16;
}

/// NumPy's same-kind cast: never to a lesser kind, nor from signed to unsigned.
constexpr bool same_kind(dtype from, dtype to) {
    if (kind_of(from) != kind_of(to)) return kind_of(from) < kind_of(to);
    return kind_of(from) != kind::integer || is_signed(to) || !is_signed(from);
}

template <class T>
struct dtype_of_type {};
template <>
struct dtype_of_type<bool> : std::integral_constant<dtype, dtype::b1> {};
template <>
struct dtype_of_type<float> : std::integral_constant<dtype, dtype::f4> {};
template <>
struct dtype_of_type<double> : std::integral_constant<dtype, dtype::f8> {};
template <>
struct dtype_of_type<float16> : std::integral_constant<dtype, dtype::f2> {};
template <>
struct dtype_of_type<bfloat16> : std::integral_constant<dtype, dtype::bf> {};
template <>
struct dtype_of_type<std::complex<float>> : std::integral_constant<dtype, dtype::c8> {};
template <>
struct dtype_of_type<std::complex<double>> : std::integral_constant<dtype, dtype::c16> {};
template <std::integral T>
    requires(!std::same_as<T, bool>)
struct dtype_of_type<T> : std::integral_constant<dtype, static_cast<dtype>(1 +
                                                                           2 * (sizeof(T) == 1   ? 0
                                                                                : sizeof(T) == 2 ? 1
                                                                                : sizeof(T) == 4 ? 2
                                                                                                 : 3) +
                                                                           (std::is_signed_v<T> ? 0 : 1))> {};

template <class T>
inline constexpr dtype dtype_of = dtype_of_type<T>::value;

template <dtype D>
struct type_of_dtype;
template <>
struct type_of_dtype<dtype::b1> {
    using type = bool;
};
template <>
struct type_of_dtype<dtype::i1> {
    using type = std::int8_t;
};
template <>
struct type_of_dtype<dtype::u1> {
    using type = std::uint8_t;
};
template <>
struct type_of_dtype<dtype::i2> {
    using type = std::int16_t;
};
template <>
struct type_of_dtype<dtype::u2> {
    using type = std::uint16_t;
};
template <>
struct type_of_dtype<dtype::i4> {
    using type = std::int32_t;
};
template <>
struct type_of_dtype<dtype::u4> {
    using type = std::uint32_t;
};
template <>
struct type_of_dtype<dtype::i8> {
    using type = std::int64_t;
};
template <>
struct type_of_dtype<dtype::u8> {
    using type = std::uint64_t;
};
template <>
struct type_of_dtype<dtype::f4> {
    using type = float;
};
template <>
struct type_of_dtype<dtype::f8> {
    using type = double;
};
template <>
struct type_of_dtype<dtype::f2> {
    using type = float16;
};
template <>
struct type_of_dtype<dtype::bf> {
    using type = bfloat16;
};
template <>
struct type_of_dtype<dtype::c8> {
    using type = std::complex<float>;
};
template <>
struct type_of_dtype<dtype::c16> {
    using type = std::complex<double>;
};

/// Whether it is float16 or bfloat16, which are computed in float32 and rounded when stored.
constexpr bool is_half(dtype t) { return t == dtype::f2 || t == dtype::bf; }
/// The dtype of a complex dtype's parts.
constexpr dtype part_of(dtype t) { return t == dtype::c8 ? dtype::f4 : dtype::f8; }
/// The dtype in which a kernel computes elements of a dtype.
constexpr dtype computed_in(dtype t) { return is_half(t) ? dtype::f4 : t; }

/// The C++ type in which elements of dtype D reach the host.
template <dtype D>
using type_of = typename type_of_dtype<D>::type;

}  // namespace detail

namespace detail {

template <class T>
concept complex_number = std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>;

}  // namespace detail

/// A type that an array can have: bool, the integers, float16, bfloat16, float, double, std::complex of these two.
template <class T>
concept element_type = (std::integral<T> && sizeof(T) <= 8) || std::same_as<T, float> || std::same_as<T, double> ||
                       detail::half_float<T> || detail::complex_number<T>;

/// NumPy's name of a dtype: "float32".
///
///     std::cout << name(dtype::f4) << ' ' << name(array<int>::type);
///     // prints: float32 int32
constexpr std::string_view name(dtype t) { return detail::facts(t).name; }

}  // namespace ingot
