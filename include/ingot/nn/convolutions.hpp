// Convolutions of batches of images with channels.
#pragma once

#include <ingot/core/array.hpp>
#include <ingot/core/lazy.hpp>
#include <ingot/core/shape.hpp>

namespace ingot {
namespace nn {

/// The options of `conv`: each is one number for all axes of the images, or one for each.
///
///     const nn::conv_options half{.stride = 2, .padding = {1, 0}};
///     std::cout << nn::conv(ones<float>({1, 1, 4, 4}), ones<float>({1, 1, 2, 2}), half);
///     // prints: [[[[2. 2.]
///     //            [4. 4.]
///     //            [2. 2.]]]]
struct conv_options {
    /// By how many elements the weights go on from one result to the next.
    shape_like stride = 1;
    /// How many zeros are put before and behind each axis of the images.
    shape_like padding = 0;
    /// The distance of elements that neighbouring weights meet.
    shape_like dilation = 1;
    /// In how many groups the channels are convolved apart.
    index_t groups = 1;
};

}  // namespace nn

namespace detail {

/// The library instantiates it for floats, halves and complex numbers.
template <class T>
INGOT_API lazy<T> convolved(const lazy<T>& x, const lazy<T>& weights, const nn::conv_options&);

template <class A, class B>
concept convolvable = array_expression<A> && std::same_as<typename A::value_type, typename B::value_type> &&
                      kind_of(A::type) >= kind::floating;

}  // namespace detail

namespace nn {

/// The correlation of images with weights, as networks call a convolution: x has the shape (batch, channels, ...) with
/// up to three axes of images, the weights (outputs, channels / groups, ...), the result (batch, outputs, ...). An axis
/// of n elements with k weights has (n + 2 padding - dilation (k - 1) - 1) / stride + 1 results. Group number g of the
/// outputs is computed from group g of the channels. With few outputs in a group it is a sum over windows, which is one
/// kernel with the expression around it, after one that pads. Else it is computed now: on a GPU by cuDNN 9 where that
/// is installed, for floats and halves, by algorithms that repeat their bits and, but in the mode fast, round as sums
/// do; or as a product of matrices, whose operand holds the elements of each window, for as many images at once as 2^28
/// elements hold. Throws shape_error where the shapes or options do not fit.
///
///     const array<float> x = reshape(arange<float>(9), {1, 1, 3, 3});
///     const array<float> weights{{{{1, 2}, {0, -1}}}, {{{0, 0}, {1, 1}}}};
///     std::cout << nn::conv(x, weights) << '\n' << nn::conv(x, weights, {.padding = 1}).shape();
///     // prints: [[[[-2.  0.]
///     //            [ 4.  6.]]
///     //
///     //           [[ 7.  9.]
///     //            [13. 15.]]]]
///     //         (1, 2, 4, 4)
template <array_expression A, array_expression B>
    requires detail::convolvable<A, B>
auto conv(const A& x, const B& weights, const conv_options& how = {},
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using T = typename A::value_type;
    return detail::convolved<T>(lazy<T>(x), lazy<T>(weights), how);
}

}  // namespace nn
}  // namespace ingot
