// The operator table's bodies as C++: `apply<op, R, T>(a, b, c)` compiles the text that the emitters print. The
// interpreter and the functions over scalars use it.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include <ingot/core/dtype.hpp>
#include <ingot/core/operators.hpp>
#include <ingot/core/scalar_functions.hpp>

// Bodies compare and convert as the arithmetic needs, for unsigned types too.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wunused-value"
#endif

namespace ingot::detail::bodies {

#define INGOT_FUNCTION(name, arity) using std::name;
#define INGOT_FUNCTION_OF_POSIX(name, arity) using ::name;
#include <ingot/core/operators.def>

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }
inline double from_bits(std::uint64_t x) { return std::bit_cast<double>(x); }

template <class T>
using unsigned_of = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
template <class T>
using signed_of = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

#define INGOT_PARAMETERS_1 T a
#define INGOT_PARAMETERS_2 INGOT_PARAMETERS_1, std::type_identity_t<T> b
#define INGOT_PARAMETERS_4 INGOT_PARAMETERS_2, std::type_identity_t<T> c, std::type_identity_t<T> d
#define INGOT_ROUTINE(name, arity, text)           \
    template <class T>                             \
    T name(INGOT_PARAMETERS_##arity) {             \
        using U [[maybe_unused]] = unsigned_of<T>; \
        using S [[maybe_unused]] = signed_of<T>;   \
        text;                                      \
    }
#include <ingot/core/operators.def>
#undef INGOT_PARAMETERS_1
#undef INGOT_PARAMETERS_2
#undef INGOT_PARAMETERS_4

/// One row's bodies by kind. `spelling` replaces one for a dtype, `mixed` for an i8 beside a u8.
template <op O>
struct row;
template <op O, class T>
struct spelling : std::false_type {};
template <op O>
struct mixed : std::false_type {};

#define INGOT_BODY(name, text)                                                        \
    template <class R, class T, class A, class B>                                     \
    static R name([[maybe_unused]] A a, [[maybe_unused]] B b, [[maybe_unused]] T c) { \
        using U [[maybe_unused]] = unsigned_of<T>;                                    \
        using S [[maybe_unused]] = signed_of<T>;                                      \
        [[maybe_unused]] constexpr int none = 0;                                      \
        text;                                                                         \
        return R{};                                                                   \
    }
#define INGOT_OPERATOR(name, arity, r, cost, ulp, on_boolean, on_integer, on_floating) \
    template <>                                                                        \
    struct row<op::name> {                                                             \
        INGOT_BODY(boolean, on_boolean)                                                \
        INGOT_BODY(integer, on_integer)                                                \
        INGOT_BODY(floating, on_floating)                                              \
    };
#define INGOT_MIXED(name, text)               \
    template <>                               \
    struct mixed<op::name> : std::true_type { \
        INGOT_BODY(of, text)                  \
    };
#define INGOT_SPELLING(name, where, type, ulp, text) INGOT_SPELLING_##where(name, type, text)
#define INGOT_SPELLING_host(name, type, text)
#define INGOT_SPELLING_cuda(name, type, text)
#define INGOT_SPELLING_all(name, type, text)                           \
    template <>                                                        \
    struct spelling<op::name, type_of<dtype::type>> : std::true_type { \
        INGOT_BODY(of, text)                                           \
    };
#include <ingot/core/operators.def>
#undef INGOT_SPELLING_host
#undef INGOT_SPELLING_cuda
#undef INGOT_SPELLING_all
#undef INGOT_BODY

template <op O, class R, class T, class A, class B>
R apply(A a, B b, T c) {
    if constexpr (!std::is_same_v<A, B> && mixed<O>::value)
        return mixed<O>::template of<R, T>(a, b, c);
    else if constexpr (spelling<O, T>::value)
        return spelling<O, T>::template of<R, T>(a, b, c);
    else if constexpr (std::is_same_v<T, bool>)
        return row<O>::template boolean<R, T>(a, b, c);
    else if constexpr (std::is_integral_v<T>)
        return row<O>::template integer<R, T>(a, b, c);
    else
        return row<O>::template floating<R, T>(a, b, c);
}

}  // namespace ingot::detail::bodies

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
