// The numbers in which signals are computed.
#pragma once

#include <ingot/ndimage/neighbourhoods.hpp>

namespace ingot {
namespace signal {

/// How a signal is continued beyond its ends: mirrored at the end's point, mirrored at the end, by the end's element,
/// by zeros, or not at all.
enum class extension : std::uint8_t { odd, even, constant, zeros, none };

/// A trend that is subtracted: none, the mean, or the line fitted by least squares.
enum class trend : std::uint8_t { none, constant, linear };

}  // namespace signal

namespace detail {

/// float32 for float32 and halves, complex numbers as they are, float64 for the others.
constexpr dtype signal_dtype(dtype t) {
    if (kind_of(t) == kind::complex) return t;
    return t == dtype::f4 || is_half(t) ? dtype::f4 : dtype::f8;
}
template <class E>
inline constexpr dtype signal_type = signal_dtype(std::remove_cvref_t<E>::type);
/// Results in the operand's numbers, in those of both operands, and their real and complex ones.
template <class E>
using signal_of = lazy<type_of<signal_type<E>>>;
template <class A, class B>
using signal_of_both = lazy<type_of<promote(signal_type<A>, signal_type<B>)>>;
template <class E>
using real_signal_of =
    lazy<type_of<kind_of(signal_type<E>) == kind::complex ? part_of(signal_type<E>) : signal_type<E>>>;
template <class... E>
using complex_signal_of = lazy<std::complex<
    type_of<((signal_type<E> == dtype::f4 || signal_type<E> == dtype::c8) && ...) ? dtype::f4 : dtype::f8>>>;

}  // namespace detail
}  // namespace ingot
