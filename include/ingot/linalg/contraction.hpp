// Contractions: sums of products of two operands whose axes have labels, which dot, tensordot, einsum and others use. A
// contraction is a product of matrices where a library multiplies the two, else a fold.
#pragma once

#include <vector>

#include <ingot/core/lazy.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>

namespace ingot::detail {

/// Labels of an operand's axes, each distinct; equal labels of two operands are one index of the contraction.
using axis_labels = std::vector<int>;

/// Whether Ingot's own fold multiplies matrices of these extents: one of them is a vector or has extent 1, or they are
/// so small that the fold is part of the kernel around it.
constexpr bool product_is_fold(index_t rows, index_t inner, index_t columns) {
    constexpr index_t small = 4;
    return rows <= 1 || inner <= 1 || columns <= 1 || (rows <= small && inner <= small && columns <= small);
}

/// The sum over axes, in the element's type; for bool whether any is true.
template <class T>
lazy<T> sum_in_type(const char* operation, const lazy<T>& e, const axes& over) {
    const reduction how{operation, &over};
    if constexpr (std::is_same_v<T, bool>)
        return any_of(how, e);
    else if constexpr (half_float<T>)
        return astype<T>(sum_of(how, astype<float>(e)));
    else
        return sum_of(how, e);
}
/// The sum over axes of products; for the halves both are computed in float32.
template <class T>
lazy<T> sum_of_products(const char* operation, const lazy<T>& a, const lazy<T>& b, const axes& over) {
    if constexpr (half_float<T>) {
        const reduction how{operation, &over};
        return astype<T>(sum_of(how, astype<float>(a) * astype<float>(b)));
    } else {
        return sum_in_type<T>(operation, a * b, over);
    }
}

/// The contraction; `operation` is the called function. The library instantiates it for every dtype.
template <class T>
INGOT_API lazy<T> contract(const char* operation, lazy<T> a, const axis_labels& of_a, lazy<T> b,
                           const axis_labels& of_b, const axis_labels& result);

}  // namespace ingot::detail
