// Fourier transforms under numpy.fft's names, and scipy.fft's cosine transforms by them. All but frequencies are
// expressions: cuFFT or FFTW makes the transform, expressions before it are computed into its operand, expressions
// behind it read its result. They compute in float32 or float64 and their complex types: the halves in float32, bool
// and integers in float64. The evaluation throws library_error where there is no library, or cuFFT has no memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <ingot/core/composed_functions.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/library_nodes.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/rearranging.hpp>
#include <ingot/core/reduction_nodes.hpp>
#include <ingot/core/views.hpp>

namespace ingot {

/// NumPy's Fourier transforms.
namespace fft {

/// The normalisation: `backward` divides the inverse by the number of points, `forward` the forward transform, `ortho`
/// both by its square root.
enum class norm : std::uint8_t { backward, ortho, forward };

/// The number of points along an axis: a number, to which the axis is cropped or zero-padded; or `none`, its extent.
class points {
public:
    constexpr points(none_t) {}
    template <detail::integer_argument I>
    constexpr points(I n) : count_(detail::as_index(n)), given_(true) {}

    // Inner
    constexpr bool is_given() const { return given_; }
    constexpr index_t count() const { return count_; }

private:
    index_t count_ = 0;
    bool given_ = false;
};

/// The numbers of points along several axes, where -1 stands for the extent; or `none`.
class extents : public detail::integer_list {
public:
    using integer_list::integer_list;
    extents(none_t) : given_(false) {}

    // Inner
    bool is_given() const { return given_; }

private:
    bool given_ = true;
};

}  // namespace fft

namespace detail {

/// The dtype of the parts of the numbers in which a transform of e computes.
constexpr dtype part_of_transform(dtype t) {
    if (kind_of(t) == kind::complex) return part_of(t);
    return t == dtype::f4 || is_half(t) ? dtype::f4 : dtype::f8;
}
template <class E>
using transform_part = type_of<part_of_transform(node_of<E>::type)>;
template <class E>
using transform_complex = std::complex<transform_part<E>>;

/// An axis, counted from the start, and its number of points.
struct transformed_axis {
    int axis;
    index_t points;
};
/// The axis and points of a transform. `halved`: e has the first half of a spectrum along the axis; with n elements the
/// full one has 2 (n - 1) points. Throws shape_error where e does not have the axis, or there would be no points.
INGOT_API transformed_axis axis_of_transform(const char* operation, extents_ref shape, const fft::points& n,
                                             index_t axis, bool halved);
/// The axes in the order given; without `over` the last ones or all. `halved` applies to the last of these.
INGOT_API std::vector<transformed_axis> axes_of_transform(const char* operation, extents_ref shape,
                                                          const fft::extents& s, const axes* over, bool halved);
/// The shifts by half the extent, forth or back, of all axes, or of those given.
struct shift_room {
    integer_list by, along;
};
INGOT_API shift_room shifts_of(extents_ref shape, const axes* over, bool back);
/// The transforms of numbers in R, float or double, as nodes which the library makes.
template <class R>
struct INGOT_API transforms {
    using C = std::complex<R>;
    using along = std::span<const transformed_axis>;

    static lazy<C> of_complex(const char* operation, const lazy<C>&, along, fft::norm, bool inverse);
    /// Transforms of real numbers, whose spectrum has its first half along the last axis given; and their inverse.
    static lazy<C> of_reals(const char* operation, const lazy<R>&, along, fft::norm);
    static lazy<R> to_reals(const char* operation, const lazy<C>&, along, fft::norm);
    /// Throw shape_error unless 1 <= type <= 4, and for too few points.
    static lazy<R> by_cosines(const char* operation, const lazy<R>&, const transformed_axis&, int type, bool inverse,
                              fft::norm);
    static lazy<R> by_sines(const char* operation, const lazy<R>&, const transformed_axis&, int type, bool inverse,
                            fft::norm);
    /// The frequencies of n points, d apart: all, or the first n / 2 + 1. Throw shape_error where there are no points.
    static array<R> frequencies(index_t n, double d);
    static array<R> frequencies_of_reals(index_t n, double d);
};
extern template struct transforms<float>;
extern template struct transforms<double>;

template <bool inverse, class E>
auto complex_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    return transforms<transform_part<E>>::of_complex(operation, lazy<transform_complex<E>>(e), all, how, inverse);
}
template <class E>
auto real_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    return transforms<transform_part<E>>::of_reals(operation, lazy<transform_part<E>>(e), all, how);
}
template <class E>
auto inverse_real_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    return transforms<transform_part<E>>::to_reals(operation, lazy<transform_complex<E>>(e), all, how);
}

constexpr fft::norm swapped(fft::norm how) {
    switch (how) {
        case fft::norm::backward:
            return fft::norm::forward;
        case fft::norm::forward:
            return fft::norm::backward;
        default:
            return how;
    }
}
template <array_expression E>
transformed_axis one_axis(const char* operation, const E& e, const fft::points& n, index_t axis, bool halved = false) {
    return axis_of_transform(operation, extents_ref::of(shape_of_expression(e).values()), n, axis, halved);
}
template <array_expression E>
std::vector<transformed_axis> several_axes(const char* operation, const E& e, const fft::extents& s, const axes* over,
                                           bool halved = false) {
    return axes_of_transform(operation, extents_ref::of(shape_of_expression(e).values()), s, over, halved);
}
template <array_expression E>
auto shifted_transform(const E& e, const axes* over, bool back) {
    const shift_room shifts = shifts_of(extents_ref::of(shape_of_expression(e).values()), over, back);
    return roll(e, shifts.by, axes(shifts.along.values()));
}

template <class E>
auto cosine_transformed(const char* operation, const E& e, int type, bool inverse, const fft::points& n, index_t axis,
                        fft::norm how) {
    using R = transform_part<E>;
    return transforms<R>::by_cosines(operation, lazy<R>(e), one_axis(operation, e, n, axis), type, inverse, how);
}

}  // namespace detail

namespace fft {

// ---- along one axis ------------------------------------------------------------------------------------------------

/// The discrete Fourier transform along an axis, by default the last, of n points: an expression, in complex64 for
/// float32, complex64 and the halves, else in complex128. Throws shape_error where e does not have the axis, or there
/// are no points.
///
///     std::cout << fft::fft(array<double>{1, 2, 3, 4}) << ' ' << fft::fft(array<double>{1, 2, 3, 4}, 2) << '\n';
///     std::cout << fft::fft(array<double>{{1, 2}, {3, 4}}, none, 0, fft::norm::forward);
///     // prints: [10.+0.j -2.+2.j -2.+0.j -2.-2.j] [ 3.+0.j -1.+0.j]
///     //         [[ 2.+0.j  3.+0.j]
///     //          [-1.+0.j -1.+0.j]]
template <array_expression E>
auto fft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::transformed_axis along = detail::one_axis("fft", e, n, axis);
    return detail::complex_transform<false>("fft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto fft(const E& e, norm how, const source_place& here = source_place::current()) {
    return fft(e, none, -1, how, here);
}

/// The inverse of `fft`: ifft(fft(e)) is e. Throws as `fft`.
///
///     std::cout << fft::ifft(array<double>{0, 4, 0, 0}) << ' ' << fft::ifft(array<float>{0, 4}, fft::norm::forward);
///     // prints: [ 1.+0.j  0.+1.j -1.+0.j  0.-1.j] [ 4.+0.j -4.+0.j]
template <array_expression E>
auto ifft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::transformed_axis along = detail::one_axis("ifft", e, n, axis);
    return detail::complex_transform<true>("ifft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto ifft(const E& e, norm how, const source_place& here = source_place::current()) {
    return ifft(e, none, -1, how, here);
}

/// The first n / 2 + 1 elements of the transform of n real numbers; the others are their conjugates. The result is an
/// expression, complex as in `fft`. Throws as `fft`.
///
///     std::cout << fft::rfft(array<double>{1, 2, 3, 4}) << ' ' << fft::rfft(array<double>{1, 2, 3}, 5).shape();
///     // prints: [10.+0.j -2.+2.j -2.+0.j] (3,)
template <detail::real_expression E>
auto rfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::transformed_axis along = detail::one_axis("rfft", e, n, axis);
    return detail::real_transform("rfft", e, std::span(&along, 1), how);
}
template <detail::real_expression E>
auto rfft(const E& e, norm how, const source_place& here = source_place::current()) {
    return rfft(e, none, -1, how, here);
}

/// The inverse of `rfft`: n real numbers, by default twice e's elements less two; an expression in float32 or float64.
/// Imaginary parts that no transform of real numbers has are ignored. Throws as `fft`.
///
///     std::cout << fft::irfft(fft::rfft(array<double>{1, 2, 3, 4})) << ' ';
///     std::cout << fft::irfft(array<double>{3, 0}, 3);
///     // prints: [1. 2. 3. 4.] [1. 1. 1.]
template <array_expression E>
auto irfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::transformed_axis along = detail::one_axis("irfft", e, n, axis, true);
    return detail::inverse_real_transform("irfft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto irfft(const E& e, norm how, const source_place& here = source_place::current()) {
    return irfft(e, none, -1, how, here);
}

/// The transform of a signal whose second half is the conjugate of the first, which e has: n real numbers, by default
/// twice e's elements less two. Throws as `fft`.
///
///     std::cout << fft::hfft(array<double>{1, 2, 3}) << ' ' << fft::hfft(array<double>{1, 2}, 3);
///     // prints: [ 8. -2.  0. -2.] [ 5. -1. -1.]
template <array_expression E>
auto hfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    using C = detail::transform_complex<E>;
    const detail::transformed_axis along = detail::one_axis("hfft", e, n, axis, true);
    return detail::inverse_real_transform("hfft", lazy<C>(conj(lazy<C>(e))), std::span(&along, 1),
                                          detail::swapped(how));
}
template <array_expression E>
auto hfft(const E& e, norm how, const source_place& here = source_place::current()) {
    return hfft(e, none, -1, how, here);
}

/// The inverse of `hfft`: the first n / 2 + 1 elements. Throws as `fft`.
///
///     std::cout << real(fft::ihfft(array<double>{8, -2, 0, -2}));
///     // prints: [1. 2. 3.]
template <detail::real_expression E>
auto ihfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    const detail::transformed_axis along = detail::one_axis("ihfft", e, n, axis);
    auto made = detail::real_transform("ihfft", e, std::span(&along, 1), detail::swapped(how));
    return decltype(made)(conj(made));
}
template <detail::real_expression E>
auto ihfft(const E& e, norm how, const source_place& here = source_place::current()) {
    return ihfft(e, none, -1, how, here);
}

// ---- along several axes --------------------------------------------------------------------------------------------

/// The transform along several axes: those given, or as many last ones as s has extents, or all. `s` has the number of
/// points along each. Up to three axes are one call of the library. Throws shape_error where e does not have an axis,
/// there are not as many axes as extents, or there are no points.
///
///     array<double> x{{1, 2}, {3, 4}};
///     std::cout << fft::fftn(x) << ' ' << fft::fftn(x, {1, 2}) << ' ' << fft::fftn(x, {4}, {0}).shape();
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]] [[ 3.+0.j -1.+0.j]] (4, 2)
template <array_expression E>
auto fftn(const E& e, const extents& s, const axes& over, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<false>("fftn", e, detail::several_axes("fftn", e, s, &over), how);
}
template <array_expression E, std::same_as<norm> N>
auto fftn(const E& e, const extents& s, N how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<false>("fftn", e, detail::several_axes("fftn", e, s, nullptr), how);
}
template <array_expression E>
auto fftn(const E& e, const extents& s = none, const source_place& here = source_place::current()) {
    return fftn(e, s, norm::backward, here);
}
template <array_expression E>
auto fftn(const E& e, norm how, const source_place& here = source_place::current()) {
    return fftn(e, none, how, here);
}

/// The inverse of `fftn`. Throws as it does.
///
///     std::cout << fft::ifftn(array<double>{{10, -2}, {-4, 0}});
///     // prints: [[1.+0.j 2.+0.j]
///     //          [3.+0.j 4.+0.j]]
template <array_expression E>
auto ifftn(const E& e, const extents& s, const axes& over, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<true>("ifftn", e, detail::several_axes("ifftn", e, s, &over), how);
}
template <array_expression E, std::same_as<norm> N>
auto ifftn(const E& e, const extents& s, N how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<true>("ifftn", e, detail::several_axes("ifftn", e, s, nullptr), how);
}
template <array_expression E>
auto ifftn(const E& e, const extents& s = none, const source_place& here = source_place::current()) {
    return ifftn(e, s, norm::backward, here);
}
template <array_expression E>
auto ifftn(const E& e, norm how, const source_place& here = source_place::current()) {
    return ifftn(e, none, how, here);
}

/// The transform of real numbers along several axes; along the last one given the result has the first n / 2 + 1
/// elements. Throws as `fftn`, and where there are no axes.
///
///     std::cout << fft::rfftn(array<double>{{1, 2, 3, 4}, {1, 2, 3, 4}});
///     // prints: [[20.+0.j -4.+4.j -4.+0.j]
///     //          [ 0.+0.j  0.+0.j  0.+0.j]]
template <detail::real_expression E>
auto rfftn(const E& e, const extents& s, const axes& over, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::real_transform("rfftn", e, detail::several_axes("rfftn", e, s, &over), how);
}
template <detail::real_expression E, std::same_as<norm> N>
auto rfftn(const E& e, const extents& s, N how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::real_transform("rfftn", e, detail::several_axes("rfftn", e, s, nullptr), how);
}
template <detail::real_expression E>
auto rfftn(const E& e, const extents& s = none, const source_place& here = source_place::current()) {
    return rfftn(e, s, norm::backward, here);
}
template <detail::real_expression E>
auto rfftn(const E& e, norm how, const source_place& here = source_place::current()) {
    return rfftn(e, none, how, here);
}

/// The inverse of `rfftn`; the last extent of `s` is that of the result. Throws as it does.
///
///     std::cout << fft::irfftn(fft::rfftn(array<double>{{1, 2}, {3, 4}}));
///     // prints: [[1. 2.]
///     //          [3. 4.]]
template <array_expression E>
auto irfftn(const E& e, const extents& s, const axes& over, norm how = norm::backward,
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::inverse_real_transform("irfftn", e, detail::several_axes("irfftn", e, s, &over, true), how);
}
template <array_expression E, std::same_as<norm> N>
auto irfftn(const E& e, const extents& s, N how, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::inverse_real_transform("irfftn", e, detail::several_axes("irfftn", e, s, nullptr, true), how);
}
template <array_expression E>
auto irfftn(const E& e, const extents& s = none, const source_place& here = source_place::current()) {
    return irfftn(e, s, norm::backward, here);
}
template <array_expression E>
auto irfftn(const E& e, norm how, const source_place& here = source_place::current()) {
    return irfftn(e, none, how, here);
}

/// `fftn` along two axes, by default the last two. Throws as it does.
///
///     std::cout << fft::fft2(array<double>{{1, 2}, {3, 4}});
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]]
template <array_expression E>
auto fft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<false>("fft2", e, detail::several_axes("fft2", e, s, &over), how);
}
template <array_expression E>
auto fft2(const E& e, norm how, const source_place& here = source_place::current()) {
    return fft2(e, none, {-2, -1}, how, here);
}

/// The inverse of `fft2`. Throws as it does.
///
///     std::cout << fft::ifft2(array<double>{{10, -2}, {-4, 0}});
///     // prints: [[1.+0.j 2.+0.j]
///     //          [3.+0.j 4.+0.j]]
template <array_expression E>
auto ifft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::complex_transform<true>("ifft2", e, detail::several_axes("ifft2", e, s, &over), how);
}
template <array_expression E>
auto ifft2(const E& e, norm how, const source_place& here = source_place::current()) {
    return ifft2(e, none, {-2, -1}, how, here);
}

/// `rfftn` along two axes, by default the last two. Throws as it does.
///
///     std::cout << fft::rfft2(array<double>{{1, 2}, {3, 4}});
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]]
template <detail::real_expression E>
auto rfft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward,
           const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::real_transform("rfft2", e, detail::several_axes("rfft2", e, s, &over), how);
}
template <detail::real_expression E>
auto rfft2(const E& e, norm how, const source_place& here = source_place::current()) {
    return rfft2(e, none, {-2, -1}, how, here);
}

/// The inverse of `rfft2`. Throws as it does.
///
///     std::cout << fft::irfft2(fft::rfft2(array<double>{{1, 2}, {3, 4}}));
///     // prints: [[1. 2.]
///     //          [3. 4.]]
template <array_expression E>
auto irfft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward,
            const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::inverse_real_transform("irfft2", e, detail::several_axes("irfft2", e, s, &over, true), how);
}
template <array_expression E>
auto irfft2(const E& e, norm how, const source_place& here = source_place::current()) {
    return irfft2(e, none, {-2, -1}, how, here);
}

// ---- frequencies and their order -----------------------------------------------------------------------------------

/// The frequencies of the elements of a transform of n points, d apart, as an array. Throws shape_error where n is not
/// positive.
///
///     std::cout << fft::fftfreq(4) << ' ' << fft::fftfreq<float>(5, 0.1);
///     // prints: [ 0.    0.25 -0.5  -0.25] [ 0.  2.  4. -4. -2.]
template <std::floating_point T = double>
array<T> fftfreq(index_t n, double d = 1, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::transforms<T>::frequencies(n, d);
}

/// The frequencies of `rfft`, the first n / 2 + 1. Throws as `fftfreq`.
///
///     std::cout << fft::rfftfreq(4) << ' ' << fft::rfftfreq(5, 0.1);
///     // prints: [0.   0.25 0.5 ] [0. 2. 4.]
template <std::floating_point T = double>
array<T> rfftfreq(index_t n, double d = 1, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::transforms<T>::frequencies_of_reals(n, d);
}

/// Moves frequency 0 to the middle of all axes, or of those given, by swapping halves; read-only. Throws shape_error
/// where e does not have an axis.
///
///     std::cout << fft::fftshift(fft::fftfreq(4)) << ' ' << fft::fftshift(array<int>{{1, 2}, {3, 4}}, 1);
///     // prints: [-0.5  -0.25  0.    0.25] [[2 1]
///     //          [4 3]]
template <array_expression E>
auto fftshift(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::shifted_transform(e, nullptr, false);
}
template <array_expression E>
auto fftshift(const E& e, const axes& over, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::shifted_transform(e, &over, false);
}

/// The inverse of `fftshift`. Throws as it does.
///
///     std::cout << fft::ifftshift(array<int>{-2, -1, 0, 1, 2});
///     // prints: [ 0  1  2 -2 -1]
template <array_expression E>
auto ifftshift(const E& e, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::shifted_transform(e, nullptr, true);
}
template <array_expression E>
auto ifftshift(const E& e, const axes& over, const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::shifted_transform(e, &over, true);
}

// ---- cosine transforms ---------------------------------------------------------------------------------------------

/// scipy.fft's discrete cosine transform of type 1, 2, 3 or 4 of n real numbers along an axis, by default the last;
/// with norm::ortho its matrix is orthogonal. The result is an expression in float32 or float64. Throws shape_error as
/// `fft`, for another type, and for type 1 with fewer than two points.
///
///     std::cout << fft::dct(array<double>{1, 0}, 3) << ' '
///               << allclose(fft::dct(array<double>{1, 2, 3, 4}, 1), array<double>{15, -4, 0, -1});
///     // prints: [1. 1.] True
template <detail::real_expression E>
auto dct(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward,
         const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed("dct", e, type, false, n, axis, how);
}

/// The inverse of `dct` of that type. Throws as it does.
///
///     const array<double> x{1, 2, 3, 4};
///     std::cout << allclose(fft::idct(fft::dct(x)), x) << ' ' << allclose(fft::idct(fft::dct(x, 4), 4), x);
///     // prints: True True
template <detail::real_expression E>
auto idct(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward,
          const source_place& here = source_place::current()) {
    const detail::in_statement of_the_user(here);
    return detail::cosine_transformed("idct", e, type, true, n, axis, how);
}

}  // namespace fft

}  // namespace ingot
