// einsum: sums of products whose indices are written as text.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <ingot/contraction.hpp>

namespace ingot {
namespace detail {

/// What a text says of operands of these shapes.
struct einsum_indices {
    struct diagonal {
        int first, second;  // axes that have one label; it becomes the last axis
    };
    struct operand {
        std::vector<diagonal> diagonals;  // taken one after the other
        std::vector<index_t> dropped;     // then these axes, of extent 1 where another operand's is longer
        axis_labels labels;               // of what is left
    };
    std::vector<operand> operands;
    axis_labels result;
};
/// Throws shape_error where the text is wrong or the operands do not have such axes.
INGOT_API einsum_indices parse_einsum(std::string_view text, std::span<const shape_like> shapes);

/// The pair of operands to contract next, and the labels of its result.
struct contraction_step {
    std::size_t first, second;
    axis_labels result;
};
/// The pair that takes the fewest multiplications, of these the one with the smallest result. There are two at least.
INGOT_API contraction_step cheapest_contraction(std::span<const axis_labels> labels, std::span<const shape_like> shapes,
                                                const axis_labels& result);
/// Labels that are not in the result, as axes; and the order of what is left.
INGOT_API void arrange_result(const axis_labels& labels, const axis_labels& result, std::vector<index_t>& summed,
                              std::vector<index_t>& order);

template <class T>
lazy<T> einsum_of(std::string_view text, std::vector<lazy<T>> operands) {
    std::vector<deferred<shape_like, T>> shapes;
    for (const lazy<T>& e : operands) shapes.push_back(e.shape());
    const deferred<einsum_indices, T> indices = parse_einsum(text, shapes);
    std::vector<deferred<axis_labels, T>> labels;
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const auto& how = indices.operands[i];
        for (const auto& d : how.diagonals) operands[i] = diagonal(operands[i], 0, d.first, d.second);
        if (!how.dropped.empty()) operands[i] = squeeze(operands[i], axes(how.dropped));
        labels.push_back(how.labels);
    }
    while (operands.size() > 1) {
        shapes.clear();
        for (const lazy<T>& e : operands) shapes.push_back(e.shape());
        const deferred<contraction_step, T> step = cheapest_contraction(labels, shapes, indices.result);
        const auto first = static_cast<std::ptrdiff_t>(step.first), second = static_cast<std::ptrdiff_t>(step.second);
        operands.push_back(contract("einsum", operands[step.first], labels[step.first], operands[step.second],
                                    labels[step.second], step.result));
        labels.push_back(step.result);
        // The later one first: the other keeps its place.
        operands.erase(operands.begin() + second), operands.erase(operands.begin() + first);
        labels.erase(labels.begin() + second), labels.erase(labels.begin() + first);
    }
    std::vector<deferred<index_t, T>> summed, order;
    arrange_result(labels[0], indices.result, summed, order);
    lazy<T> left = summed.empty() ? operands[0] : sum_in_type<T>("einsum", operands[0], axes(summed));
    return permute_dims(left, axes(order));
}

/// Einstein's sums: a letter names an axis of operands, which are multiplied where they have it in common and summed
/// over where the result does not have it. `->` says which the result has; without it these are the letters that occur
/// once, in the alphabet's order. `...` stands for axes that are broadcast. A letter that an operand has twice is its
/// diagonal; an extent of 1 is repeated. In the dtype that the operands promote to; bool is the `or` of the `and`s.
/// Several operands are contracted in pairs, always the one with the fewest multiplications: by a product of matrices
/// where it is one, else by a fold. Throws shape_error where the text is wrong or does not fit the operands.
///
///     array<double> a{{1, 2}, {3, 4}}, b{{0, 1}, {1, 0}};
///     std::cout << einsum("ij,jk->ik", a, b) << '\n' << einsum("ii", a) << ' ' << einsum("...j->...", a) << ' ';
///     std::cout << einsum("ij,jk,ki", a, b, a);
///     // prints: [[2. 1.]
///     //          [4. 3.]]
///     //         5.0 [3. 7.] 25.0
template <array_expression A, array_expression... B>
auto einsum(std::string_view indices, const A& first, const B&... others) {
    using T = type_of<[] {
        dtype common = node_of<A>::type;
        ((common = promote(common, node_of<B>::type)), ...);
        return common;
    }()>;
    return einsum_of<T>(indices, std::vector<lazy<T>>{lazy<T>(first), lazy<T>(others)...});
}

}  // namespace detail

using detail::einsum;

}  // namespace ingot
