// Fourier transforms under numpy.fft's names, and scipy.fft's cosine transforms by them. All but frequencies are
// expressions: cuFFT or FFTW makes the transform, what stands before it is computed into its operand, what stands
// behind reads its result. Numbers are computed as float32 or float64 and their complex numbers: the halves as float32,
// bool and integers as float64. The evaluation throws library_error where there is no library, or cuFFT has no memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include <ingot/composed_functions.hpp>
#include <ingot/creation.hpp>
#include <ingot/functions.hpp>
#include <ingot/library_nodes.hpp>
#include <ingot/padding.hpp>
#include <ingot/rearranging.hpp>
#include <ingot/views.hpp>

namespace ingot {

/// NumPy's Fourier transforms.
namespace fft {

/// What is divided by the number of points: the way back, as without a norm; both ways, by its square root; or the way
/// there.
enum class norm : std::uint8_t { backward, ortho, forward };

/// How many points along an axis are transformed: a number, to which the axis is cropped or filled up with zeros; or
/// `none`, what there is.
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

/// The same for several axes, of which -1 stands for what there is; or `none`.
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

/// The parts of the numbers that a transform of e computes in.
constexpr dtype part_of_transform(dtype t) {
    if (kind_of(t) == kind::complex) return part_of(t);
    return t == dtype::f4 || is_half(t) ? dtype::f4 : dtype::f8;
}
template <class E>
using transform_part = type_of<part_of_transform(node_of<E>::type)>;
template <class E>
using transform_complex = std::complex<transform_part<E>>;

/// An axis, counted from the start, and how many points it is to have.
struct transformed_axis {
    int axis;
    index_t points;
};
/// `halved`: e has the first half of a spectrum along the axis, of twice as many points but two. Throws shape_error
/// where e does not have the axis, or there would be no points.
INGOT_API transformed_axis axis_of_transform(const char* operation, extents_ref shape, const fft::points& n,
                                             index_t axis, bool halved);
/// In the order given; without `over` the last ones or all. `halved`: of the last of these.
INGOT_API std::vector<transformed_axis> axes_of_transform(const char* operation, extents_ref shape,
                                                          const fft::extents& s, const axes* over, bool halved);
/// What is transformed by one call after another: up to three different axes each, in ascending order. The last given
/// are first; with `real` the very last stays behind the others of its call.
INGOT_API std::vector<std::vector<transformed_axis>> calls_of_transform(std::span<const transformed_axis>, bool real);
/// What all elements are multiplied by.
INGOT_API double factor_of_transform(fft::norm how, std::span<const transformed_axis>, bool inverse);
INGOT_API void check_has_axes(const char* operation, std::span<const transformed_axis>);
/// Throws shape_error where there are no points.
INGOT_API void check_points(const char* operation, index_t n);
/// Of all axes, or those given: half the extent, on or back.
struct shift_room {
    integer_list by, along;
};
INGOT_API shift_room shifts_of(extents_ref shape, const axes* over, bool back);
/// Throws shape_error unless 1 <= type <= 4, and for what has too few points.
INGOT_API void check_cosine_type(const char* operation, int type, index_t points);

/// As many points along the axis, those that are missing zeros.
template <class T>
lazy<T> with_points(const char* operation, const lazy<T>& x, const transformed_axis& a) {
    const shape_like shape = x.shape();
    const index_t given = shape[a.axis];
    if (given == a.points) return x;
    if (given > a.points) return sliced(operation, x, a.axis, slice(0, a.points));
    std::vector<pad_width> widths(shape.size(), pad_width(0, 0));
    widths[static_cast<std::size_t>(a.axis)] = pad_width(0, a.points - given);
    return pad(x, pad_widths(std::move(widths)));
}
template <class T>
lazy<T> with_points(const char* operation, lazy<T> x, std::span<const transformed_axis> all) {
    for (const transformed_axis& a : all) x = with_points(operation, x, a);
    return x;
}

/// f(x) times a factor. What a kernel computes is multiplied there; of an array, which is read as it lies, the result
/// is, by whatever reads it.
template <class T, class F>
auto scaled_transform(const lazy<T>& x, double factor, const F& f) {
    using result = decltype(f(x));
    if (factor == 1) return f(x);
    if (kind_of_word(x.tree()->code) == word_kind::leaf) return result(f(x) * factor);
    return f(lazy<T>(x * factor));
}

/// f(x with these axes last) with the axes where they were.
template <class T, class F>
auto with_axes_last(const lazy<T>& x, std::span<const transformed_axis> all, const F& f) {
    std::vector<index_t> from, last;
    for (std::size_t i = 0; i < all.size(); ++i) {
        from.push_back(all[i].axis);
        last.push_back(static_cast<index_t>(i) - static_cast<index_t>(all.size()));
    }
    auto made = f(lazy<T>(moveaxis(x, axes(from), axes(last))));
    return decltype(made)(moveaxis(made, axes(last), axes(from)));
}

template <library_function One, library_function Two, library_function Three, class C, class T>
lazy<C> call_transform(const char* operation, const lazy<T>& x, std::size_t count, index_t made) {
    switch (count) {
        case 1:
            return call_library_making<One, C>(operation, made, x);
        case 2:
            return call_library_making<Two, C>(operation, made, x);
        default:
            return call_library_making<Three, C>(operation, made, x);
    }
}

/// Of complex numbers along all axes, not scaled.
template <bool inverse, class C>
lazy<C> transformed(const char* operation, lazy<C> x, std::span<const std::vector<transformed_axis>> calls) {
    using enum library_function;
    for (const std::vector<transformed_axis>& along : calls)
        x = with_axes_last(with_points(operation, x, along), along, [&](const lazy<C>& e) {
            if constexpr (inverse)
                return call_transform<ifft1d, ifft2d, ifft3d, C>(operation, e, along.size(), 0);
            else
                return call_transform<fft1d, fft2d, fft3d, C>(operation, e, along.size(), 0);
        });
    return x;
}
template <bool inverse, class E>
auto complex_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    using C = transform_complex<E>;
    const auto calls = calls_of_transform(all, false);
    if (calls.empty()) return lazy<C>(e);
    return scaled_transform(with_points(operation, lazy<C>(e), calls.front()), factor_of_transform(how, all, inverse),
                            [&](const lazy<C>& x) { return transformed<inverse>(operation, x, calls); });
}

/// Of real numbers, of whose spectrum the last axis given has the first half.
template <class E>
auto real_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    using R = transform_part<E>;
    using C = std::complex<R>;
    using enum library_function;
    check_has_axes(operation, all);
    const auto calls = calls_of_transform(all, true);
    const std::vector<transformed_axis>& first = calls.front();
    return scaled_transform(with_points(operation, lazy<R>(e), first), factor_of_transform(how, all, false),
                            [&](const lazy<R>& x) {
                                const lazy<C> made = with_axes_last(x, first, [&](const lazy<R>& last) {
                                    return call_transform<rfft1d, rfft2d, rfft3d, C>(operation, last, first.size(),
                                                                                     first.back().points / 2 + 1);
                                });
                                return transformed<false>(operation, made, std::span(calls).subspan(1));
                            });
}

/// n real numbers of the first half of their spectrum, along the last axis. Imaginary parts that no such spectrum has
/// are taken for zeros: what a library makes of them is its own affair.
template <class R>
lazy<R> reals_of_half(const char* operation, const lazy<std::complex<R>>& half, index_t n) {
    const index_t middle = n % 2 == 0 ? n / 2 : 0;
    const auto at = position_along(n / 2 + 1, 0);
    const lazy<std::complex<R>> taken =
        complex_of(real(half), where((at == index_t{0}) | (at == middle), R(0), imag(half)));
    return call_library_making<library_function::irfft1d, R>(operation, n, taken);
}

/// And back: along the last axis given to as many real numbers as it has points, along the others as of complex ones.
template <class E>
auto inverse_real_transform(const char* operation, const E& e, std::span<const transformed_axis> all, fft::norm how) {
    using R = transform_part<E>;
    using C = std::complex<R>;
    check_has_axes(operation, all);
    const transformed_axis last = all.back();
    const index_t half = last.points / 2 + 1;
    lazy<C> x = transformed<true>(operation, lazy<C>(e), calls_of_transform(all.first(all.size() - 1), false));
    x = with_points(operation, x, transformed_axis{last.axis, half});
    return with_axes_last(x, std::span(&last, 1), [&](const lazy<C>& spectrum) {
        return reals_of_half<R>(operation, spectrum * factor_of_transform(how, all, true), last.points);
    });
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

// ---- cosine transforms ---------------------------------------------------------------------------------------------

/// exp(-i angle (first + k)), k along an axis of `count`.
template <class R>
lazy<std::complex<R>> turns(index_t count, double first, double angle) {
    const auto at = (astype<double>(position_along(count, 0)) + first) * angle;
    return complex_of(astype<R>(cos(at)), astype<R>(-sin(at)));
}

/// Along the last axis, of n points, each type of scipy.fft's own size.
template <class R>
class cosine_transform {
public:
    using C = std::complex<R>;

    cosine_transform(const char* operation, const lazy<R>& x, index_t n) : operation_(operation), x_(x), n_(n) {}

    lazy<R> of_type(int type, bool ortho) const {
        switch (type) {
            case 1:
                return first(ortho);
            case 2:
                return second(ortho);
            case 3:
                return third(ortho);
            default:
                return fourth();
        }
    }
    /// What undoes a transform divides by.
    static double points(int type, index_t n) { return static_cast<double>(type == 1 ? 2 * (n - 1) : 2 * n); }

private:
    static constexpr double pi = std::numbers::pi;

    template <class T>
    lazy<T> part(const lazy<T>& e, const slice& s) const {
        return sliced(operation_, e, -1, s);
    }
    template <class T>
    lazy<T> behind(const lazy<T>& a, const lazy<T>& b) const {
        return joined(operation_, lazy_parts<T>{a, b}, a.ndim() - 1);
    }
    /// Element 0, with `both` the last one too, times a factor.
    lazy<R> with_ends(const lazy<R>& e, bool both, double factor) const {
        const auto at = position_along(n_, 0);
        return where((at == index_t{0}) | (at == (both ? n_ - 1 : 0)), e * factor, e);
    }
    lazy<C> spectrum(const lazy<R>& e, index_t n) const {
        return call_library_making<library_function::rfft1d, C>(operation_, n / 2 + 1, e);
    }

    /// Of the elements there and back.
    lazy<R> first(bool ortho) const {
        const double root = std::numbers::sqrt2;
        const lazy<R> x = ortho ? with_ends(x_, true, root) : x_;
        const lazy<R> y = real(spectrum(behind(x, part(x, slice(n_ - 2, 0, -1))), 2 * (n_ - 1)));
        return ortho ? with_ends(y, true, 1 / root) : y;
    }
    /// Of the even elements, then the odd ones backwards.
    lazy<R> second(bool ortho) const {
        const lazy<R> order =
            n_ == 1 ? x_ : behind(part(x_, slice(0, none, 2)), part(x_, slice(n_ - 1 - n_ % 2, none, -2)));
        const lazy<C> half = spectrum(order, n_);
        const lazy<C> whole = n_ < 3 ? half : behind(half, lazy<C>(conj(part(half, slice((n_ - 1) / 2, 0, -1)))));
        const lazy<R> y = real(whole * turns<R>(n_, 0, pi / static_cast<double>(2 * n_))) * 2;
        return ortho ? with_ends(y, false, 1 / std::numbers::sqrt2) : y;
    }
    /// The same backwards, times 2 n.
    lazy<R> third(bool ortho) const {
        const lazy<R> x = ortho ? with_ends(x_, false, std::numbers::sqrt2) : x_;
        const index_t half = n_ / 2 + 1;
        const auto at = position_along(half, 0);
        // Element n - k, and of k = 0, where there is none, a zero.
        const lazy<R> mirrored = part(cyclic_mirror(x), slice(0, half));
        const lazy<C> turned = complex_of(part(x, slice(0, half)), where(at == index_t{0}, R(0), -mirrored));
        const lazy<R> order =
            reals_of_half<R>(operation_, turned * conj(turns<R>(half, 0, pi / static_cast<double>(2 * n_))), n_);
        return n_ == 1 ? order : interleaved(order);
    }
    lazy<R> fourth() const {
        const double step = pi / static_cast<double>(2 * n_);
        const lazy<C> x = x_ * turns<R>(n_, 0, step);
        const transformed_axis longer{x.ndim() - 1, 2 * n_};
        const lazy<C> y = call_library<library_function::fft1d, C>(operation_, with_points(operation_, x, longer));
        return real(part(y, slice(0, n_)) * turns<R>(n_, 0.5, step)) * 2;
    }

    /// Element -k of a cycle.
    lazy<R> cyclic_mirror(const lazy<R>& x) const { return roll(part(x, slice(none, none, -1)), 1, axes(-1)); }
    /// Elements 0, n - 1, 1, n - 2, ...
    lazy<R> interleaved(const lazy<R>& e) const {
        const index_t evens = (n_ + 1) / 2;
        const transformed_axis even{e.ndim() - 1, evens};
        const lazy<R> front = part(e, slice(0, evens));
        const lazy<R> back = with_points(operation_, part(e, slice(n_ - 1, evens - 1, -1)), even);
        const lazy<R> pairs = stack(lazy_parts<R>{front, back}, -1);
        shape_like shape = e.shape();
        std::vector<index_t> flat(shape.begin(), shape.end());
        flat.back() = 2 * evens;
        return part(lazy<R>(reshaped(operation_, pairs, flat)), slice(0, n_));
    }

    const char* operation_;
    lazy<R> x_;
    index_t n_;
};

template <class E>
auto cosine_transformed(const char* operation, const E& e, int type, bool inverse, const fft::points& n, index_t axis,
                        fft::norm how) {
    using R = transform_part<E>;
    constexpr int undone_by[] = {1, 3, 2, 4};
    const transformed_axis along = one_axis(operation, e, n, axis);
    check_cosine_type(operation, type, along.points);
    const int made = inverse ? undone_by[type - 1] : type;
    const double all = cosine_transform<R>::points(type, along.points);
    const fft::norm direction = inverse ? swapped(how) : how;
    const double factor = how == fft::norm::ortho           ? 1 / std::sqrt(all)
                          : direction == fft::norm::forward ? 1 / all
                                                            : 1.0;
    lazy<R> x = with_points(operation, lazy<R>(e), along);
    if (factor != 1) x = x * factor;
    return with_axes_last(x, std::span(&along, 1), [&](const lazy<R>& last) {
        return cosine_transform<R>(operation, last, along.points).of_type(made, how == fft::norm::ortho);
    });
}

}  // namespace detail

namespace fft {

// ---- along one axis ------------------------------------------------------------------------------------------------

/// The discrete Fourier transform along an axis, the last if none is given, of n points. Complex: complex64 of float32,
/// complex64 and the halves, else complex128. An expression. Throws shape_error where e does not have the axis, or
/// there are no points.
///
///     std::cout << fft::fft(array<double>{1, 2, 3, 4}) << ' ' << fft::fft(array<double>{1, 2, 3, 4}, 2) << '\n';
///     std::cout << fft::fft(array<double>{{1, 2}, {3, 4}}, none, 0, fft::norm::forward);
///     // prints: [10.+0.j -2.+2.j -2.+0.j -2.-2.j] [ 3.+0.j -1.+0.j]
///     //         [[ 2.+0.j  3.+0.j]
///     //          [-1.+0.j -1.+0.j]]
template <array_expression E>
auto fft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    const detail::transformed_axis along = detail::one_axis("fft", e, n, axis);
    return detail::complex_transform<false>("fft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto fft(const E& e, norm how) {
    return fft(e, none, -1, how);
}

/// The inverse of `fft`: ifft(fft(e)) is e. Throws as `fft`.
///
///     std::cout << fft::ifft(array<double>{0, 4, 0, 0}) << ' ' << fft::ifft(array<float>{0, 4}, fft::norm::forward);
///     // prints: [ 1.+0.j  0.+1.j -1.+0.j  0.-1.j] [ 4.+0.j -4.+0.j]
template <array_expression E>
auto ifft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    const detail::transformed_axis along = detail::one_axis("ifft", e, n, axis);
    return detail::complex_transform<true>("ifft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto ifft(const E& e, norm how) {
    return ifft(e, none, -1, how);
}

/// The first n / 2 + 1 elements of the transform of n real numbers; the others are their conjugates. Complex, as `fft`
/// is; an expression. Throws as `fft`.
///
///     std::cout << fft::rfft(array<double>{1, 2, 3, 4}) << ' ' << fft::rfft(array<double>{1, 2, 3}, 5).shape();
///     // prints: [10.+0.j -2.+2.j -2.+0.j] (3,)
template <detail::real_expression E>
auto rfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    const detail::transformed_axis along = detail::one_axis("rfft", e, n, axis);
    return detail::real_transform("rfft", e, std::span(&along, 1), how);
}
template <detail::real_expression E>
auto rfft(const E& e, norm how) {
    return rfft(e, none, -1, how);
}

/// The inverse of `rfft`: n real numbers, twice as many as e has elements less two if it is not said. float32 or
/// float64; an expression. Imaginary parts that no transform of real numbers has are not looked at. Throws as `fft`.
///
///     std::cout << fft::irfft(fft::rfft(array<double>{1, 2, 3, 4})) << ' ';
///     std::cout << fft::irfft(array<double>{3, 0}, 3);
///     // prints: [1. 2. 3. 4.] [1. 1. 1.]
template <array_expression E>
auto irfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    const detail::transformed_axis along = detail::one_axis("irfft", e, n, axis, true);
    return detail::inverse_real_transform("irfft", e, std::span(&along, 1), how);
}
template <array_expression E>
auto irfft(const E& e, norm how) {
    return irfft(e, none, -1, how);
}

/// The transform of a signal whose second half is the first one's conjugate, of which e has the first: n real numbers,
/// twice as many as e has elements less two if it is not said. Throws as `fft`.
///
///     std::cout << fft::hfft(array<double>{1, 2, 3}) << ' ' << fft::hfft(array<double>{1, 2}, 3);
///     // prints: [ 8. -2.  0. -2.] [ 5. -1. -1.]
template <array_expression E>
auto hfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    using C = detail::transform_complex<E>;
    const detail::transformed_axis along = detail::one_axis("hfft", e, n, axis, true);
    return detail::inverse_real_transform("hfft", lazy<C>(conj(lazy<C>(e))), std::span(&along, 1),
                                          detail::swapped(how));
}
template <array_expression E>
auto hfft(const E& e, norm how) {
    return hfft(e, none, -1, how);
}

/// The inverse of `hfft`: the first n / 2 + 1 elements. Throws as `fft`.
///
///     std::cout << real(fft::ihfft(array<double>{8, -2, 0, -2}));
///     // prints: [1. 2. 3.]
template <detail::real_expression E>
auto ihfft(const E& e, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    const detail::transformed_axis along = detail::one_axis("ihfft", e, n, axis);
    auto made = detail::real_transform("ihfft", e, std::span(&along, 1), detail::swapped(how));
    return decltype(made)(conj(made));
}
template <detail::real_expression E>
auto ihfft(const E& e, norm how) {
    return ihfft(e, none, -1, how);
}

// ---- along several axes --------------------------------------------------------------------------------------------

/// The transform along several axes: those given, the last as many as s has extents, or all. `s` is how many points
/// each is to have. Up to three axes are one call of the library. Throws shape_error where e does not have an axis,
/// there are not as many axes as extents, or there are no points.
///
///     array<double> x{{1, 2}, {3, 4}};
///     std::cout << fft::fftn(x) << ' ' << fft::fftn(x, {1, 2}) << ' ' << fft::fftn(x, {4}, {0}).shape();
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]] [[ 3.+0.j -1.+0.j]] (4, 2)
template <array_expression E>
auto fftn(const E& e, const extents& s, const axes& over, norm how = norm::backward) {
    return detail::complex_transform<false>("fftn", e, detail::several_axes("fftn", e, s, &over), how);
}
template <array_expression E, std::same_as<norm> N>
auto fftn(const E& e, const extents& s, N how) {
    return detail::complex_transform<false>("fftn", e, detail::several_axes("fftn", e, s, nullptr), how);
}
template <array_expression E>
auto fftn(const E& e, const extents& s = none) {
    return fftn(e, s, norm::backward);
}
template <array_expression E>
auto fftn(const E& e, norm how) {
    return fftn(e, none, how);
}

/// The inverse of `fftn`. Throws as it does.
///
///     std::cout << fft::ifftn(array<double>{{10, -2}, {-4, 0}});
///     // prints: [[1.+0.j 2.+0.j]
///     //          [3.+0.j 4.+0.j]]
template <array_expression E>
auto ifftn(const E& e, const extents& s, const axes& over, norm how = norm::backward) {
    return detail::complex_transform<true>("ifftn", e, detail::several_axes("ifftn", e, s, &over), how);
}
template <array_expression E, std::same_as<norm> N>
auto ifftn(const E& e, const extents& s, N how) {
    return detail::complex_transform<true>("ifftn", e, detail::several_axes("ifftn", e, s, nullptr), how);
}
template <array_expression E>
auto ifftn(const E& e, const extents& s = none) {
    return ifftn(e, s, norm::backward);
}
template <array_expression E>
auto ifftn(const E& e, norm how) {
    return ifftn(e, none, how);
}

/// The transform of real numbers along several axes, of which the last one given has the first n / 2 + 1 elements.
/// Throws as `fftn`, and where there are no axes.
///
///     std::cout << fft::rfftn(array<double>{{1, 2, 3, 4}, {1, 2, 3, 4}});
///     // prints: [[20.+0.j -4.+4.j -4.+0.j]
///     //          [ 0.+0.j  0.+0.j  0.+0.j]]
template <detail::real_expression E>
auto rfftn(const E& e, const extents& s, const axes& over, norm how = norm::backward) {
    return detail::real_transform("rfftn", e, detail::several_axes("rfftn", e, s, &over), how);
}
template <detail::real_expression E, std::same_as<norm> N>
auto rfftn(const E& e, const extents& s, N how) {
    return detail::real_transform("rfftn", e, detail::several_axes("rfftn", e, s, nullptr), how);
}
template <detail::real_expression E>
auto rfftn(const E& e, const extents& s = none) {
    return rfftn(e, s, norm::backward);
}
template <detail::real_expression E>
auto rfftn(const E& e, norm how) {
    return rfftn(e, none, how);
}

/// The inverse of `rfftn`; the last extent of `s` is that of the result. Throws as it does.
///
///     std::cout << fft::irfftn(fft::rfftn(array<double>{{1, 2}, {3, 4}}));
///     // prints: [[1. 2.]
///     //          [3. 4.]]
template <array_expression E>
auto irfftn(const E& e, const extents& s, const axes& over, norm how = norm::backward) {
    return detail::inverse_real_transform("irfftn", e, detail::several_axes("irfftn", e, s, &over, true), how);
}
template <array_expression E, std::same_as<norm> N>
auto irfftn(const E& e, const extents& s, N how) {
    return detail::inverse_real_transform("irfftn", e, detail::several_axes("irfftn", e, s, nullptr, true), how);
}
template <array_expression E>
auto irfftn(const E& e, const extents& s = none) {
    return irfftn(e, s, norm::backward);
}
template <array_expression E>
auto irfftn(const E& e, norm how) {
    return irfftn(e, none, how);
}

/// `fftn` along two axes, the last two if none are given. Throws as it does.
///
///     std::cout << fft::fft2(array<double>{{1, 2}, {3, 4}});
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]]
template <array_expression E>
auto fft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward) {
    return detail::complex_transform<false>("fft2", e, detail::several_axes("fft2", e, s, &over), how);
}
template <array_expression E>
auto fft2(const E& e, norm how) {
    return fft2(e, none, {-2, -1}, how);
}

/// The inverse of `fft2`. Throws as it does.
///
///     std::cout << fft::ifft2(array<double>{{10, -2}, {-4, 0}});
///     // prints: [[1.+0.j 2.+0.j]
///     //          [3.+0.j 4.+0.j]]
template <array_expression E>
auto ifft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward) {
    return detail::complex_transform<true>("ifft2", e, detail::several_axes("ifft2", e, s, &over), how);
}
template <array_expression E>
auto ifft2(const E& e, norm how) {
    return ifft2(e, none, {-2, -1}, how);
}

/// `rfftn` along two axes, the last two if none are given. Throws as it does.
///
///     std::cout << fft::rfft2(array<double>{{1, 2}, {3, 4}});
///     // prints: [[10.+0.j -2.+0.j]
///     //          [-4.+0.j  0.+0.j]]
template <detail::real_expression E>
auto rfft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward) {
    return detail::real_transform("rfft2", e, detail::several_axes("rfft2", e, s, &over), how);
}
template <detail::real_expression E>
auto rfft2(const E& e, norm how) {
    return rfft2(e, none, {-2, -1}, how);
}

/// The inverse of `rfft2`. Throws as it does.
///
///     std::cout << fft::irfft2(fft::rfft2(array<double>{{1, 2}, {3, 4}}));
///     // prints: [[1. 2.]
///     //          [3. 4.]]
template <array_expression E>
auto irfft2(const E& e, const extents& s = none, const axes& over = {-2, -1}, norm how = norm::backward) {
    return detail::inverse_real_transform("irfft2", e, detail::several_axes("irfft2", e, s, &over, true), how);
}
template <array_expression E>
auto irfft2(const E& e, norm how) {
    return irfft2(e, none, {-2, -1}, how);
}

// ---- frequencies and their order -----------------------------------------------------------------------------------

/// The frequencies of the elements of a transform of n points, d apart: an array. Throws shape_error where n is not
/// positive.
///
///     std::cout << fft::fftfreq(4) << ' ' << fft::fftfreq<float>(5, 0.1);
///     // prints: [ 0.    0.25 -0.5  -0.25] [ 0.  2.  4. -4. -2.]
template <std::floating_point T = double>
array<T> fftfreq(index_t n, double d = 1) {
    detail::check_points("fftfreq", n);
    const auto at = detail::position_along(n, 0);
    return astype<double>(where(at < (n + 1) / 2, at, at - n)) * (1 / (static_cast<double>(n) * d));
}

/// The same of `rfft`, the first n / 2 + 1. Throws as `fftfreq`.
///
///     std::cout << fft::rfftfreq(4) << ' ' << fft::rfftfreq(5, 0.1);
///     // prints: [0.   0.25 0.5 ] [0. 2. 4.]
template <std::floating_point T = double>
array<T> rfftfreq(index_t n, double d = 1) {
    detail::check_points("rfftfreq", n);
    return astype<double>(detail::position_along(n / 2 + 1, 0)) * (1 / (static_cast<double>(n) * d));
}

/// Frequency 0 in the middle of all axes, or of those given: halves in each other's place. To be read. Throws
/// shape_error where e does not have an axis.
///
///     std::cout << fft::fftshift(fft::fftfreq(4)) << ' ' << fft::fftshift(array<int>{{1, 2}, {3, 4}}, 1);
///     // prints: [-0.5  -0.25  0.    0.25] [[2 1]
///     //          [4 3]]
template <array_expression E>
auto fftshift(const E& e) {
    return detail::shifted_transform(e, nullptr, false);
}
template <array_expression E>
auto fftshift(const E& e, const axes& over) {
    return detail::shifted_transform(e, &over, false);
}

/// The inverse of `fftshift`. Throws as it does.
///
///     std::cout << fft::ifftshift(array<int>{-2, -1, 0, 1, 2});
///     // prints: [ 0  1  2 -2 -1]
template <array_expression E>
auto ifftshift(const E& e) {
    return detail::shifted_transform(e, nullptr, true);
}
template <array_expression E>
auto ifftshift(const E& e, const axes& over) {
    return detail::shifted_transform(e, &over, true);
}

// ---- cosine transforms ---------------------------------------------------------------------------------------------

/// scipy.fft's discrete cosine transform of type 1, 2, 3 or 4, of real numbers along an axis, the last if none is
/// given, of n points; with norm::ortho the matrix of it is orthogonal. float32 or float64; an expression. Throws
/// shape_error as `fft`, for another type, and for type 1 of fewer than two points.
///
///     std::cout << fft::dct(array<double>{1, 0}, 3) << ' '
///               << allclose(fft::dct(array<double>{1, 2, 3, 4}, 1), array<double>{15, -4, 0, -1});
///     // prints: [1. 1.] True
template <detail::real_expression E>
auto dct(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    return detail::cosine_transformed("dct", e, type, false, n, axis, how);
}

/// The inverse of `dct` of that type. Throws as it does.
///
///     const array<double> x{1, 2, 3, 4};
///     std::cout << allclose(fft::idct(fft::dct(x)), x) << ' ' << allclose(fft::idct(fft::dct(x, 4), 4), x);
///     // prints: True True
template <detail::real_expression E>
auto idct(const E& e, int type = 2, const points& n = none, index_t axis = -1, norm how = norm::backward) {
    return detail::cosine_transformed("idct", e, type, true, n, axis, how);
}

}  // namespace fft

}  // namespace ingot
