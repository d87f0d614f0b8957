// The operator table's bodies, compiled: for each row and dtype a function over a block of elements, and the casts.
// The text is the one that the emitters print. Include it in one source file: it makes some five hundred functions.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <utility>

#include <ingot/dtype.hpp>
#include <ingot/operators.hpp>

// Bodies compare and convert as the arithmetic needs, for unsigned types too.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wtype-limits"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wparentheses"
#endif

namespace ingot::runtime::bodies {

using detail::dtype_count;
using detail::kind;
using detail::op;
using detail::rule;

#define INGOT_FUNCTION(name, arity) using std::name;
#include <ingot/operators.def>

inline std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
inline std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
inline float from_bits(std::uint32_t x) { return std::bit_cast<float>(x); }
inline double from_bits(std::uint64_t x) { return std::bit_cast<double>(x); }

template <class T>
using unsigned_of = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
template <class T>
using signed_of = std::conditional_t<sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t, std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

/// One row's bodies by kind; `spelling` and `mixed` are those that replace them for a dtype or an i8 beside a u8.
template <op O>
struct row;
template <op O, class T>
struct spelling : std::false_type {};
template <op O>
struct mixed : std::false_type {};

#define INGOT_BODY(name, text)                                                                           \
    template <class R, class T, class A, class B>                                                        \
    static R name([[maybe_unused]] A a, [[maybe_unused]] B b, [[maybe_unused]] T c) {                    \
        using U [[maybe_unused]] = unsigned_of<T>;                                                       \
        using S [[maybe_unused]] = signed_of<T>;                                                         \
        text                                                                                             \
    }
#define none return R{};
#define INGOT_OPERATOR(name, arity, r, cost, ulp, on_boolean, on_integer, on_floating) \
    template <>                                                                        \
    struct row<op::name> {                                                             \
        INGOT_BODY(boolean, on_boolean)                                                \
        INGOT_BODY(integer, on_integer)                                                \
        INGOT_BODY(floating, on_floating)                                              \
    };
#define INGOT_MIXED(name, text)                  \
    template <>                                  \
    struct mixed<op::name> : std::true_type {    \
        INGOT_BODY(of, text)                     \
    };
#define INGOT_SPELLING(name, where, type, ulp, text) INGOT_SPELLING_##where(name, type, text)
#define INGOT_SPELLING_host(name, type, text)
#define INGOT_SPELLING_cuda(name, type, text)
#define INGOT_SPELLING_all(name, type, text)                                      \
    template <>                                                                   \
    struct spelling<op::name, detail::type_of<dtype::type>> : std::true_type {    \
        INGOT_BODY(of, text)                                                      \
    };
#include <ingot/operators.def>
#undef INGOT_SPELLING_host
#undef INGOT_SPELLING_cuda
#undef INGOT_SPELLING_all
#undef none
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

/// A float out of range becomes the nearest integer, NaN becomes 0; integers wrap; bool is truth.
template <class To, class From>
To cast(From x) {
    if constexpr (std::is_same_v<To, bool>) {
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

/// Applies a body to n elements; a body of fewer operands ignores the others. `out` is none of the operands.
using map_block = void (*)(const void* a, const void* b, const void* c, void* out, std::size_t n);
using cast_block = void (*)(const void* from, void* out, std::size_t n);

template <op O, class R, class T, class A, class B>
void run_map(const void* a, const void* b, const void* c, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<R*>(out)[i] = apply<O, R, T>(static_cast<const A*>(a)[i], static_cast<const B*>(b)[i],
                                                 static_cast<const T*>(c)[i]);
}

template <class To, class From>
void run_cast(const void* from, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = cast<To>(static_cast<const From*>(from)[i]);
}

/// The dtypes that the interpreter computes in.
inline constexpr std::array computed{dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4,
                                     dtype::u4, dtype::i8, dtype::u8, dtype::f4, dtype::f8};

template <op O, dtype D>
constexpr map_block map_of() {
    using T = detail::type_of<D>;
    constexpr rule r = detail::facts(O).rule;
    constexpr bool question = r == rule::comparison || r == rule::logical || r == rule::predicate;
    using R = std::conditional_t<question, bool, T>;
    if constexpr (O == op::astype || !detail::facts(O).has(detail::kind_of(D)))
        return nullptr;
    else if constexpr (r == rule::selection)
        return run_map<O, R, T, bool, T>;
    else
        return run_map<O, R, T, T, T>;
}

using maps_of_row = std::array<map_block, dtype_count>;
template <op O>
constexpr maps_of_row maps_of() {
    maps_of_row maps{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        ((maps[static_cast<std::size_t>(computed[I])] = map_of<O, computed[I]>()), ...);
    }(std::make_index_sequence<computed.size()>{});
    return maps;
}

template <class A, class B>
constexpr map_block mixed_of(op o) {
    switch (o) {
#define INGOT_MIXED(name, text) \
    case op::name: return run_map<op::name, bool, std::int64_t, A, B>;
#include <ingot/operators.def>
        default: return nullptr;
    }
}

/// The function of row `o` over a first operand and the others of these dtypes; null where the row has no body.
inline map_block map_for(op o, dtype first, dtype others) {
    static constexpr auto table = []<std::size_t... O>(std::index_sequence<O...>) {
        return std::array<maps_of_row, sizeof...(O)>{maps_of<static_cast<op>(O)>()...};
    }(std::make_index_sequence<detail::op_count>{});
    if (detail::facts(o).rule == rule::comparison && first != others)
        return first == dtype::i8 ? mixed_of<std::int64_t, std::uint64_t>(o) : mixed_of<std::uint64_t, std::int64_t>(o);
    return table[static_cast<std::size_t>(o)][static_cast<std::size_t>(others)];
}

inline cast_block cast_for(dtype from, dtype to) {
    using casts = std::array<cast_block, computed.size()>;
    static constexpr auto table = []<std::size_t... F>(std::index_sequence<F...>) {
        const auto all = []<dtype From, std::size_t... To>(std::index_sequence<To...>) {
            return casts{run_cast<detail::type_of<computed[To]>, detail::type_of<From>>...};
        };
        return std::array<casts, sizeof...(F)>{all.template operator()<computed[F]>(
            std::make_index_sequence<computed.size()>{})...};
    }(std::make_index_sequence<computed.size()>{});
    const auto place = [](dtype t) {
        std::size_t i = 0;
        while (i < computed.size() && computed[i] != t) ++i;
        return i;
    };
    const std::size_t f = place(from), t = place(to);
    return f < computed.size() && t < computed.size() ? table[f][t] : nullptr;
}

}  // namespace ingot::runtime::bodies

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
