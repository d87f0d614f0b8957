// Convolutions by Fourier transforms, of any number of axes, and direct ones of images.
#pragma once

#include <cstdint>

#include <ingot/signal/operands.hpp>
#include <ingot/statistics/correlation.hpp>

namespace ingot {
namespace signal {

/// The elements beyond the edges of an image: a number, those of the other side, or mirrored at the edge.
enum class boundary : std::uint8_t { fill, wrap, symm };

/// The options of `convolve2d` and `correlate2d`.
struct convolve2d_options {
    /// The positions of the second image against the first one.
    convolve_mode mode = convolve_mode::full;
    /// The elements beyond the edges.
    signal::boundary boundary = signal::boundary::fill;
    /// The number beyond the edges where the boundary is `fill`.
    double fillvalue = 0;
};

}  // namespace signal

namespace detail {

INGOT_API tree_ref convolved_by_transforms(const char* operation, const image& a, const image& b, convolve_mode,
                                           const axes* over, bool in_blocks);
INGOT_API tree_ref convolved_images(const char* operation, const image& a, const image& b,
                                    const signal::convolve2d_options&, bool correlated);

template <class A, class B>
using image_of_both = lazy<type_of<promote(std::remove_cvref_t<A>::type, std::remove_cvref_t<B>::type)>>;

}  // namespace detail

namespace signal {

/// The convolution of two arrays along all axes or those given, by one Fourier transform of each. Along other axes they
/// are broadcast. In mode `same` the result has a's shape; in mode `valid` one of both lies within the other. Throws
/// shape_error where they have not as many axes, or extents do not fit.
///
///     const array<double> a{1, 2, 3}, b{1, 1, 0.5};
///     std::cout << round(signal::fftconvolve(a, b), 6) << ' ' << round(signal::fftconvolve(a, b, convolve_mode::same),
///     6);
///     // prints: [1.  3.  5.5 4.  1.5] [3.  5.5 4. ]
template <array_expression A, array_expression B>
auto fftconvolve(const A& a, const B& b, convolve_mode mode = convolve_mode::full) {
    return detail::signal_of_both<A, B>::of(detail::convolved_by_transforms("fftconvolve", a, b, mode, nullptr, false));
}
template <array_expression A, array_expression B>
auto fftconvolve(const A& a, const B& b, convolve_mode mode, const axes& over) {
    return detail::signal_of_both<A, B>::of(detail::convolved_by_transforms("fftconvolve", a, b, mode, &over, false));
}

/// `fftconvolve` by transforms of overlapping blocks of the longer array, which cost less where the other one is much
/// shorter. Throws as it does.
///
///     std::cout << round(signal::oaconvolve(ones({6}), array<double>{1, 2}), 6);
///     // prints: [1. 3. 3. 3. 3. 3. 2.]
template <array_expression A, array_expression B>
auto oaconvolve(const A& a, const B& b, convolve_mode mode = convolve_mode::full) {
    return detail::signal_of_both<A, B>::of(detail::convolved_by_transforms("oaconvolve", a, b, mode, nullptr, true));
}
template <array_expression A, array_expression B>
auto oaconvolve(const A& a, const B& b, convolve_mode mode, const axes& over) {
    return detail::signal_of_both<A, B>::of(detail::convolved_by_transforms("oaconvolve", a, b, mode, &over, true));
}

/// The convolution of two images by sums of products, in the dtype to which both promote; integers wrap. In mode `same`
/// the result has a's shape; in mode `valid` one of both lies within the other. Throws shape_error unless both have two
/// axes and elements, and fit.
///
///     const array<int> a{{1, 2}, {3, 4}}, b{{1, 1}};
///     std::cout << signal::convolve2d(a, b) << '\n';
///     std::cout << signal::convolve2d(a, b, {.mode = convolve_mode::same, .boundary = signal::boundary::wrap});
///     // prints: [[1 3 2]
///     //          [3 7 4]]
///     //         [[3 3]
///     //          [7 7]]
template <array_expression A, array_expression B>
auto convolve2d(const A& a, const B& b, const convolve2d_options& how = {}) {
    return detail::image_of_both<A, B>::of(detail::convolved_images("convolve2d", a, b, how, false));
}

/// The sums of products of an image with the conjugates of another one, at each position. Throws as `convolve2d`.
///
///     const array<int> a{{1, 2, 3}}, b{{0, 1}};
///     std::cout << signal::correlate2d(a, b) << ' ' << signal::correlate2d(a, b, {.mode = convolve_mode::valid});
///     // prints: [[1 2 3 0]] [[2 3]]
template <array_expression A, array_expression B>
auto correlate2d(const A& a, const B& b, const convolve2d_options& how = {}) {
    return detail::image_of_both<A, B>::of(detail::convolved_images("correlate2d", a, b, how, true));
}

}  // namespace signal
}  // namespace ingot
