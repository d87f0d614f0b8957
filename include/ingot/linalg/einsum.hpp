// einsum: sums of products with indices written as text.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <ingot/linalg/contraction.hpp>

namespace ingot {
namespace detail {

/// The contractions of `einsum` over one dtype. The library instantiates them for every dtype.
template <class T>
INGOT_API lazy<T> einsum_of(std::string_view text, std::vector<lazy<T>> operands);

/// Einstein's summation: a letter names an axis of operands. Operands are multiplied along common letters and summed
/// over letters that the result lacks. `->` gives the result's letters; without it these are the letters that occur
/// once, in alphabetical order. `...` stands for axes that are broadcast. A letter that occurs twice in an operand is
/// its diagonal; an extent of 1 is repeated. The result has the dtype to which the operands promote; bool is the `or`
/// of the `and`s. Several operands are contracted in pairs, always the pair with the fewest multiplications: by a
/// product of matrices where possible, else by a fold. Throws shape_error where the text is wrong or does not fit the
/// operands.
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
