// std::cout << e prints what NumPy prints: numbers aligned, 8 digits at most, large arrays summarised.
#pragma once

#include <iosfwd>

#include <ingot/array.hpp>
#include <ingot/host.hpp>

namespace ingot {
namespace detail {

/// Prints elements of a dtype; only those that are shown are read.
INGOT_API void print(std::ostream& out, const buffer_ref& memory, const layout& where, dtype type);
INGOT_API void print(std::ostream& out, const integer_list& list);

/// Prints the values of an expression as NumPy does: aligned, 8 digits at most, large arrays summarised; of these only
/// what is shown comes to the host. Waits for them. A shape prints as a tuple.
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

}  // namespace detail
}  // namespace ingot
