// Sums of products of two operands whose axes have labels: what dot, tensordot, einsum and their like are made of. A
// contraction is a product of matrices where it is one of two matrices that a library multiplies, else a fold.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include <ingot/lazy.hpp>
#include <ingot/library_nodes.hpp>
#include <ingot/reductions.hpp>
#include <ingot/reshape.hpp>
#include <ingot/views.hpp>

namespace ingot::detail {

/// Names of an operand's axes, each once; equal ones of two operands are one index of the contraction.
using axis_labels = std::vector<int>;

/// Whether Ingot's own fold multiplies matrices of these extents: one of them is a vector or has one, or they are so
/// small that the fold is part of the kernel around it.
constexpr bool product_is_fold(index_t rows, index_t inner, index_t columns) {
    constexpr index_t small = 4;
    return rows <= 1 || inner <= 1 || columns <= 1 || (rows <= small && inner <= small && columns <= small);
}

/// Which axes of two operands are what to a contraction, and how each is arranged for it.
struct contraction_plan {
    std::vector<index_t> summed_before[2];  // axes of one operand alone that are not in the result
    bool by_library;
    bool sums;                             // whether anything is summed over
    std::vector<index_t> order[2];         // of the axes that are left
    std::vector<index_t> new_axes[2];      // then these of extent 1; of a fold alone
    std::vector<index_t> shape[2], split;  // for the library: as matrices; and what its result's axes are
    std::vector<index_t> over;             // of a fold: the axes, from the end, that are summed over
    std::vector<index_t> arranged;         // the result's axes in their order; for the library alone
};
/// Labels of the result are labels of operands, each once; shared ones have equal extents.
INGOT_API contraction_plan plan_contraction(std::span<const index_t> a, const axis_labels& of_a,
                                            std::span<const index_t> b, const axis_labels& of_b,
                                            const axis_labels& result, bool library_has_type);

/// The sum over axes, in the element's type; of bool whether any is true.
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
/// The sum over axes of products; of halves both in float32.
template <class T>
lazy<T> sum_of_products(const char* operation, const lazy<T>& a, const lazy<T>& b, const axes& over) {
    if constexpr (half_float<T>) {
        const reduction how{operation, &over};
        return astype<T>(sum_of(how, astype<float>(a) * astype<float>(b)));
    } else {
        return sum_in_type<T>(operation, a * b, over);
    }
}

/// The contraction; `operation` is what was called.
template <class T>
lazy<T> contract(const char* operation, lazy<T> a, const axis_labels& of_a, lazy<T> b, const axis_labels& of_b,
                 const axis_labels& result) {
    constexpr bool library_has_type = kind_of(dtype_of<T>) >= kind::floating;
    const contraction_plan plan =
        plan_contraction(a.shape().values(), of_a, b.shape().values(), of_b, result, library_has_type);
    lazy<T>* const operands[] = {&a, &b};
    for (std::size_t i = 0; i < 2; ++i) {
        lazy<T>& e = *operands[i];
        if (!plan.summed_before[i].empty()) e = sum_in_type<T>(operation, e, axes(plan.summed_before[i]));
        e = permute_dims(e, axes(plan.order[i]));
        if (plan.by_library)
            e = reshaped(operation, e, plan.shape[i]);
        else
            e = expand_dims(e, axes(plan.new_axes[i]));
    }
    if constexpr (library_has_type)
        if (plan.by_library) {
            const lazy<T> product = call_library<library_function::matrix_product, T>(operation, a, b);
            return permute_dims(lazy<T>(reshaped(operation, product, plan.split)), axes(plan.arranged));
        }
    return plan.sums ? sum_of_products<T>(operation, a, b, axes(plan.over)) : lazy<T>(a * b);
}

}  // namespace ingot::detail
