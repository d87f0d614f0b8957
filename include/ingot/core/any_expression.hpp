// An expression as the library's functions take it, whatever its type.
#pragma once

#include <type_traits>
#include <utility>

#include <ingot/core/functions.hpp>
#include <ingot/core/lazy.hpp>

namespace ingot::detail {

struct any_expression {
    tree_ref tree;
    dtype type;
    template <array_expression E>
    any_expression(const E& e) : tree(lazy<typename E::value_type>(e).tree()), type(E::type) {}
    any_expression(double number) : any_expression(scalar<double>(number)) {}
    any_expression(tree_ref t, dtype d) noexcept : tree(std::move(t)), type(d) {}
};

/// An expression that is not complex; or a number, too.
template <class E>
concept real_values = array_expression<E> && kind_of(E::type) != kind::complex;
template <class E>
concept real_places = std::is_arithmetic_v<E> || real_values<E>;
/// float64, or complex128 for a complex expression.
template <class E>
using double_of = type_of<promote(std::remove_cvref_t<E>::type, dtype::f8)>;

}  // namespace ingot::detail
