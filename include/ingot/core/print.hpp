// std::cout << e prints as NumPy does: numbers aligned, 8 digits at most, large arrays summarised. print_options change
// that, under NumPy's names. std::format("{}", e) gives the same text where the standard library has <format>, and
// "{:.3}" has 3 digits at most.
#pragma once

#include <iosfwd>
#include <string>
#include <version>

#include <ingot/core/array.hpp>
#include <ingot/core/host.hpp>

namespace ingot {
namespace detail {

struct print_settings {
    index_t precision = 8, threshold = 1000, edgeitems = 3, linewidth = 75;
    bool suppress = false;
};
/// The calling thread's settings.
INGOT_API print_settings current_printing() noexcept;

/// Prints elements of a dtype; only those that are shown are read.
INGOT_API void print(std::ostream& out, const buffer_ref& memory, const layout& where, dtype type);
INGOT_API void print(std::ostream& out, const integer_list& list);
INGOT_API std::string text_of(const buffer_ref& memory, const layout& where, dtype type);
INGOT_API std::string repr_of(const buffer_ref& memory, const layout& where, dtype type);

/// Prints the values of an expression as NumPy does: aligned, 8 digits at most, large arrays summarised, of which only
/// the shown elements are copied to the host. Waits for them. A shape prints as a tuple.
///
///     std::cout << array<double>{1, 2.5} << ' ' << arange(2000) << ' ' << zeros({2, 3}).shape();
///     // prints: [1.  2.5] [   0    1    2 ... 1997 1998 1999] (2, 3)
template <array_expression E>
std::ostream& operator<<(std::ostream& out, const E& e) {
    const leaf<typename E::value_type> values = values_as<typename E::value_type>(e);
    print(out, values.memory(), values.where(), E::type);
    return out;
}
inline std::ostream& operator<<(std::ostream& out, const integer_list& list) {
    print(out, list);
    return out;
}

/// NumPy's repr: the values with commas, and the dtype where the values do not imply it. Waits for the values that are
/// shown.
///
///     std::cout << repr(array<float>{1, 2.5}) << '\n' << repr(zeros({2, 2})) << '\n' << repr(array<int>{});
///     // prints: array([1. , 2.5], dtype=float32)
///     //         array([[0., 0.],
///     //                [0., 0.]])
///     //         array([], dtype=int32)
template <array_expression E>
std::string repr(const E& e) {
    const leaf<typename E::value_type> values = values_as<typename E::value_type>(e);
    return repr_of(values.memory(), values.where(), E::type);
}

}  // namespace detail

using detail::repr;

/// Print settings; members that are not named keep their current values. Arrays without axes print all digits.
struct print_options {
    index_t precision = detail::current_printing().precision;  ///< digits behind the point, at most
    index_t threshold = detail::current_printing().threshold;  ///< elements above which the middle is left out
    index_t edgeitems = detail::current_printing().edgeitems;  ///< elements then shown at each end of an axis
    index_t linewidth = detail::current_printing().linewidth;  ///< characters of a line
    bool suppress = detail::current_printing().suppress;       ///< no exponents for small numbers
};

/// Sets the calling thread's options until the guard ends. Throws dtype_error where one is negative, or where no
/// element would be shown at the ends.
///
///     const array<double> x{1e-10, 0.12345678, 2};
///     std::cout << x << '\n';
///     const with_print_options brief({.precision = 3, .suppress = true});
///     std::cout << x;
///     // prints: [1.0000000e-10 1.2345678e-01 2.0000000e+00]
///     //         [0.    0.123 2.   ]
class [[nodiscard]] with_print_options {
public:
    INGOT_API explicit with_print_options(const print_options& options);
    with_print_options(const with_print_options&) = delete;
    with_print_options& operator=(const with_print_options&) = delete;
    INGOT_API ~with_print_options();

private:
    detail::print_settings before_;
};

}  // namespace ingot

#ifdef __cpp_lib_format
#include <ingot/core/format.hpp>
#endif
