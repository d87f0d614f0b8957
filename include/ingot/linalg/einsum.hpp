// einsum: sums of products whose indices are written as text.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <ingot/linalg/contraction.hpp>

namespace ingot {
namespace detail {

/// The contractions of `einsum` over one dtype. The library has it for every dtype.
template <class T>
INGOT_API lazy<T> einsum_of(std::string_view text, std::vector<lazy<T>> operands);

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
