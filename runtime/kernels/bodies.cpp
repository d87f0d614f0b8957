#include "runtime/kernels/bodies.hpp"

#include <array>
#include <complex>
#include <cstring>
#include <utility>

#include <ingot/core/scalar_functions.hpp>

#include "runtime/kernels/body_functions.hpp"

namespace ingot::runtime::bodies {

namespace {

using detail::dtype_count;
using detail::op;
using detail::rule;
using detail::bodies::apply;
using detail::bodies::cast;

template <op O, class R, class T, class A, class B>
void run_map(const void* a, const void* b, const void* c, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<R*>(out)[i] =
            apply<O, R, T>(static_cast<const A*>(a)[i], static_cast<const B*>(b)[i], static_cast<const T*>(c)[i]);
}

template <std::size_t Size>
void copy_bits(const void* a, const void*, const void*, void* out, std::size_t n) {
    std::memcpy(out, a, n * Size);
}
map_block copy_bits_of(std::size_t size) {
    switch (size) {
        case 1:
            return copy_bits<1>;
        case 2:
            return copy_bits<2>;
        case 4:
            return copy_bits<4>;
        case 8:
            return copy_bits<8>;
        default:
            return copy_bits<16>;
    }
}

/// Copies a part of complex numbers.
template <class T, bool Imaginary>
void run_part(const void* a, const void*, const void*, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) static_cast<T*>(out)[i] = static_cast<const T*>(a)[2 * i + (Imaginary ? 1 : 0)];
}

template <class To, class From>
void run_cast(const void* from, void* out, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) static_cast<To*>(out)[i] = cast<To>(static_cast<const From*>(from)[i]);
}

/// The dtypes in which the interpreter computes.
constexpr std::array computed{dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4,
                              dtype::u4, dtype::i8, dtype::u8, dtype::f4, dtype::f8};
/// The dtypes that it converts.
constexpr std::array converted{dtype::b1, dtype::i1, dtype::u1, dtype::i2, dtype::u2, dtype::i4, dtype::u4,
                               dtype::i8, dtype::u8, dtype::f4, dtype::f8, dtype::f2, dtype::bf};

template <op O, dtype D>
constexpr map_block map_of() {
    using T = detail::type_of<D>;
    constexpr rule r = detail::facts(O).rule;
    using R = detail::type_of<detail::body_result(r, D)>;
    if constexpr (O == op::complex_of && (D == dtype::f4 || D == dtype::f8))
        return run_map<O, std::complex<T>, T, T, T>;
    else if constexpr (O == op::astype || O == op::bit_cast || !detail::facts(O).has(detail::kind_of(D)))
        return nullptr;
    else if constexpr (r == rule::selection)
        return run_map<O, R, T, bool, T>;
    else if constexpr (r == rule::scaling)
        return run_map<O, R, T, T, std::int64_t>;
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
    case op::name:              \
        return run_map<op::name, bool, std::int64_t, A, B>;
#include <ingot/core/operators.def>
        default:
            return nullptr;
    }
}

}  // namespace

map_block map_for(op o, dtype first, dtype others) {
    static constexpr auto table = []<std::size_t... O>(std::index_sequence<O...>) {
        return std::array<maps_of_row, sizeof...(O)>{maps_of<static_cast<op>(O)>()...};
    }(std::make_index_sequence<detail::op_count>{});
    if (detail::facts(o).rule == rule::comparison && first != others)
        return first == dtype::i8 ? mixed_of<std::int64_t, std::uint64_t>(o) : mixed_of<std::uint64_t, std::int64_t>(o);
    if (o == op::bit_cast) return copy_bits_of(detail::size_of(first));
    if (detail::kind_of(first) == detail::kind::complex) {
        const bool imaginary = o == op::imag;
        if (first == dtype::c8) return imaginary ? run_part<float, true> : run_part<float, false>;
        return imaginary ? run_part<double, true> : run_part<double, false>;
    }
    const dtype deciding = detail::facts(o).rule == rule::scaling ? first : others;
    return table[static_cast<std::size_t>(o)][static_cast<std::size_t>(deciding)];
}

cast_block cast_for(dtype from, dtype to) {
    using casts = std::array<cast_block, converted.size()>;
    static constexpr auto table = []<std::size_t... F>(std::index_sequence<F...>) {
        const auto all = []<dtype From, std::size_t... To>(std::index_sequence<To...>) {
            return casts{run_cast<detail::type_of<converted[To]>, detail::type_of<From>>...};
        };
        return std::array<casts, sizeof...(F)> {
            all.template operator()<converted[F]>(std::make_index_sequence<converted.size()>{})...
        };
    }(std::make_index_sequence<converted.size()>{});
    const auto place = [](dtype t) {
        std::size_t i = 0;
        while (i < converted.size() && converted[i] != t) ++i;
        return i;
    };
    const std::size_t f = place(from), t = place(to);
    return f < converted.size() && t < converted.size() ? table[f][t] : nullptr;
}

}  // namespace ingot::runtime::bodies

namespace ingot::detail {

elements_function function_of_elements(op o, dtype first, dtype others) {
    return runtime::bodies::map_for(o, first, others);
}

}  // namespace ingot::detail
