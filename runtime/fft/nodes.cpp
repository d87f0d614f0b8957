// The nodes of Fourier, cosine and sine transforms: library calls between the preparation of their elements and of
// their results.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <ingot/core/joins.hpp>
#include <ingot/fft/sine_transforms.hpp>

#include "runtime/fft/axes.hpp"

namespace ingot::detail {

namespace {

/// x with the transform's number of points along the axis; missing ones are zeros.
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

/// The calls with the first one's last axis alone in front, where its other axes have at least twice as many points as
/// x elements: rows of zeros are not transformed along it.
std::vector<std::vector<transformed_axis>> without_rows_of_zeros(std::vector<std::vector<transformed_axis>> calls,
                                                                 extents_ref shape) {
    constexpr double most_of_one_call = 1 << 18;  // points, below which a further call costs more
    std::vector<transformed_axis>& first = calls.front();
    double grown = 1, all = static_cast<double>(first.back().points);
    for (std::size_t i = 0; i + 1 < first.size(); ++i) {
        const auto given = static_cast<double>(std::max<index_t>(shape.data[first[i].axis], 1));
        grown *= static_cast<double>(first[i].points) / given;
        all *= static_cast<double>(first[i].points);
    }
    if (grown < 2 || all < most_of_one_call) return calls;
    std::vector<transformed_axis> others(first.begin(), first.end() - 1);
    first.erase(first.begin(), first.end() - 1);
    calls.insert(calls.begin() + 1, std::move(others));
    return calls;
}

/// f(x) times a factor. If a kernel computes x, the kernel multiplies; an array is read in place, so the reader of the
/// result multiplies.
template <class T, class F>
auto scaled_transform(const lazy<T>& x, double factor, const F& f) {
    using result = decltype(f(x));
    if (factor == 1) return f(x);
    if (kind_of_word(x.tree()->code) == word_kind::leaf) return result(f(x) * factor);
    return f(lazy<T>(x * factor));
}

/// Calls f(x with these axes last) and moves the axes back.
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

/// Complex transforms along all axes, unscaled.
template <class C>
lazy<C> transformed(const char* operation, lazy<C> x, std::span<const std::vector<transformed_axis>> calls,
                    bool inverse) {
    using enum library_function;
    for (const std::vector<transformed_axis>& along : calls)
        x = with_axes_last(with_points(operation, x, along), along, [&](const lazy<C>& e) {
            if (inverse)
                return call_transform<ifft1d, ifft2d, ifft3d, C>(operation, e, along.size(), 0);
            else
                return call_transform<fft1d, fft2d, fft3d, C>(operation, e, along.size(), 0);
        });
    return x;
}
/// n real numbers from the first half of their spectrum, along the last axis. Imaginary parts that such a spectrum
/// cannot have are set to zero, because libraries treat them differently.
template <class R>
lazy<R> reals_of_half(const char* operation, const lazy<std::complex<R>>& half, index_t n) {
    const index_t middle = n % 2 == 0 ? n / 2 : 0;
    const auto at = position_along(n / 2 + 1, 0);
    const lazy<std::complex<R>> taken =
        complex_of(real(half), where((at == index_t{0}) | (at == middle), R(0), imag(half)));
    return call_library_making<library_function::irfft1d, R>(operation, n, taken);
}

/// A cosine transform along the last axis, of n points; each type has scipy.fft's scale.
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
    /// The number by which the inverse transform divides.
    static double points(int type, index_t n) { return static_cast<double>(type == 1 ? 2 * (n - 1) : 2 * n); }

private:
    bool is_on_host() const { return device_of(x_).is_host(); }
    template <class T>
    static lazy<T> kept(const lazy<T>& e) {
        return lazy<T>::of(keep_tree(e.tree()));
    }
    template <class T>
    lazy<T> part(const lazy<T>& e, const slice& s) const {
        return sliced(operation_, e, -1, s);
    }
    /// The elements at these indices.
    template <class T, class I>
    static lazy<T> at(const lazy<T>& e, const I& indices) {
        return take<unchecked_mode>(e, indices, -1);
    }
    /// exp(-i angle (first + k)), for k below `count`. On the host they are computed once for all rows, and as products
    /// of few.
    lazy<C> turns(index_t count, double first, double angle) const {
        using Z = std::complex<double>;
        const with_device same(device_of(x_));
        const auto turned = [&]<class T>(std::type_identity<T>, index_t n, double from, double by) {
            const auto angles = (astype<double>(position_along(n, 0)) + from) * by;
            return complex_of(astype<T>(cos(angles)), astype<T>(-sin(angles)));
        };
        if (!current_device().is_host()) return turned(std::type_identity<R>{}, count, first, angle);
        constexpr index_t width = 512;
        const index_t rows = (count + width - 1) / width;
        const array<Z> small(turned(std::type_identity<double>{}, std::min(count, width), first, angle));
        const array<Z> large(turned(std::type_identity<double>{}, rows, 0, angle * width));
        const array<C> all(astype<C>(expand_dims(large, 1) * small));
        return lazy<C>(ravel(all)(slice(0, count)));
    }
    /// e with element 0, and if `both` the last one, multiplied by a factor.
    lazy<R> with_ends(const lazy<R>& e, bool both, double factor) const {
        const auto k = position_along(n_, 0);
        return where((k == index_t{0}) | (k == (both ? n_ - 1 : 0)), e * factor, e);
    }
    lazy<R> reversed(const lazy<R>& e) const { return part(e, slice(none, none, -1)); }
    /// Two parts of an array, one behind the other, or the elements at these indices of an expression: from two parts a
    /// library would compute it twice.
    template <class I>
    lazy<R> joined_or_at(const lazy<R>& e, const slice& first, const slice& mirrored, const I& indices) const {
        if (kind_of_word(e.tree()->code) != word_kind::leaf) return at(e, indices);
        const lazy<R> both =
            joined(operation_, lazy_parts<R>{part(e, first), reversed(part(e, mirrored))}, e.ndim() - 1);
        return is_on_host() ? kept(both) : both;  // alone it is two copies
    }
    /// 2 real(e) of the n / 2 + 1 elements, then -2 imag(e) of the others in reverse. The host copies each part.
    template <class I>
    lazy<R> joined_halves(const lazy<C>& e, const I& k) const {
        if (is_on_host()) {
            const lazy<C> each = kept(e);
            const lazy<R> first = real(each) * 2, last = imag(part(each, slice(1, (n_ + 1) / 2))) * -2;
            return joined(operation_, lazy_parts<R>{first, reversed(last)}, e.ndim() - 1);
        }
        const lazy<C> each = at(e, minimum(k, n_ - k));
        return where(2 * k <= n_, real(each), -imag(each)) * 2;
    }
    lazy<C> spectrum(const lazy<R>& e, index_t n) const {
        return call_library_making<library_function::rfft1d, C>(operation_, n / 2 + 1, e);
    }

    /// Type 1: a transform of the elements, followed by them in reverse.
    lazy<R> first(bool ortho) const {
        const double root = std::numbers::sqrt2;
        const lazy<R> x = ortho ? with_ends(x_, true, root) : x_;
        const index_t points = 2 * (n_ - 1);
        const auto k = position_along(points, 0);
        const lazy<R> both = joined_or_at(x, slice(0, n_), slice(1, n_ - 1), minimum(k, points - k));
        const lazy<R> y = real(spectrum(both, points));
        return ortho ? with_ends(y, true, 1 / root) : y;
    }
    /// Type 2: a transform of the even elements, then the odd ones in reverse. The second half of its spectrum is the
    /// first one's conjugate.
    lazy<R> second(bool ortho) const {
        const auto k = position_along(n_, 0);
        const lazy<C> half = spectrum(
            joined_or_at(x_, slice(0, none, 2), slice(1, none, 2), where(2 * k < n_, 2 * k, 2 * (n_ - k) - 1)), n_);
        // The turn of n - k is -i times the conjugate of k's.
        const lazy<C> turned = half * turns(n_ / 2 + 1, 0, step());
        const lazy<R> y = joined_halves(turned, k);
        return ortho ? with_ends(y, false, 1 / std::numbers::sqrt2) : y;
    }
    /// Type 3: type 2 in reverse, times 2 n.
    lazy<R> third(bool ortho) const {
        const lazy<R> x = ortho ? with_ends(x_, false, std::numbers::sqrt2) : x_;
        const index_t half = n_ / 2 + 1;
        const auto k = position_along(half, 0), j = position_along(n_, 0);
        const auto first = k == index_t{0};
        const lazy<C> turned = complex_of(part(x, slice(0, half)), where(first, R(0), -at(x, where(first, k, n_ - k))));
        const lazy<R> order = reals_of_half<R>(operation_, turned * conj(turns(half, 0, step())), n_);
        return at(order, where((j & 1) == index_t{0}, j >> 1, n_ - 1 - (j >> 1)));
    }
    /// Type 4: of an even number of points a transform of half as many pairs, with turns before and behind it; of an
    /// odd number one of as many reals.
    lazy<R> fourth() const {
        if (n_ % 2 == 0) {
            const index_t half = n_ / 2;
            const auto j = position_along(n_, 0);
            const lazy<C> pairs = complex_of(part(x_, slice(0, none, 2)), part(x_, slice(none, none, -2))) *
                                  turns(half, 0.25, 2 * step());
            const lazy<C> y = call_library<library_function::fft1d, C>(operation_, pairs) * turns(half, 0, 2 * step());
            const auto is_even = (j & 1) == index_t{0};
            const lazy<C> of_each = at(y, where(is_even, j, n_ - 1 - j) >> 1);
            return where(is_even, real(of_each), -imag(of_each)) * 2;
        }
        // The cosine of u v / 8n turns, u = 2 j + 1 and v = 2 k + 1, is even in u, and u + 4n changes its sign: so each
        // j is an 8 c + n of one c below n. The cosine is then that of c v / n + v / 8 turns, a transform over c.
        const auto c = position_along(n_, 0), k = position_along(n_, 0);
        const auto u = where(c * 8 < 7 * n_, c * 8 + n_, c * 8 - 7 * n_);
        const auto folded = minimum(u, 8 * n_ - u);
        const lazy<R> x = at(x_, minimum(folded, 4 * n_ - folded) >> 1);
        const lazy<C> half = spectrum(lazy<R>(where(folded > 2 * n_, -x, x)), n_);
        const auto b = where(2 * k + 1 < n_, 2 * k + 1, 2 * k + 1 - n_);
        const lazy<C> y = at(half, minimum(b, n_ - b));
        const auto has_sign = ((k & 2) != 0) != (2 * b > n_);
        return (where(((k + 1) & 2) == 0, real(y), -real(y)) + where(has_sign, -imag(y), imag(y))) *
               std::numbers::sqrt2;
    }
    double step() const { return std::numbers::pi / static_cast<double>(2 * n_); }

    const char* operation_;
    lazy<R> x_;
    index_t n_;
};

/// A sine transform along the last axis, of n points.
template <class R>
class sine_transform {
public:
    sine_transform(const char* operation, const lazy<R>& x, index_t n) : operation_(operation), x_(x), n_(n) {}

    lazy<R> of_type(int type, bool ortho) const {
        if (type == 1) return first();
        if (type == 2) return backwards(cosine_transform<R>(operation_, alternating(x_), n_).of_type(2, ortho));
        return alternating(cosine_transform<R>(operation_, backwards(x_), n_).of_type(type, ortho));
    }
    /// The number by which the inverse transform divides.
    static double points(int type, index_t n) { return static_cast<double>(type == 1 ? 2 * (n + 1) : 2 * n); }

private:
    lazy<R> backwards(const lazy<R>& e) const { return sliced(operation_, e, -1, slice(none, none, -1)); }
    lazy<R> alternating(const lazy<R>& e) const {
        return where(position_along(n_, 0) % index_t{2} == index_t{0}, e, -e);
    }
    /// Type 1: a transform of 0, x, 0, and x in reverse with the other sign.
    lazy<R> first() const {
        using C = std::complex<R>;
        const shape_like shape = x_.shape();
        std::vector<index_t> one(shape.begin(), shape.end());
        one.back() = 1;
        const lazy<R> zero = broadcast_to(lazy<R>(scalar(R(0))), one);
        const lazy<R> odd = joined(operation_, lazy_parts<R>{zero, x_, zero, -backwards(x_)}, x_.ndim() - 1);
        const lazy<C> spectrum = call_library_making<library_function::rfft1d, C>(operation_, n_ + 2, odd);
        return -imag(sliced(operation_, spectrum, -1, slice(1, n_ + 1)));
    }

    const char* operation_;
    lazy<R> x_;
    index_t n_;
};

/// A transform along one axis, of a type that both have: F is one of the two classes above.
template <class F, class R>
lazy<R> along_axis(const char* operation, const lazy<R>& e, const transformed_axis& along, int type, bool inverse,
                   fft::norm how) {
    constexpr int undone_by[] = {1, 3, 2, 4};
    const int made = inverse ? undone_by[type - 1] : type;
    const double all = F::points(type, along.points);
    const fft::norm direction = inverse ? swapped(how) : how;
    const double factor = how == fft::norm::ortho           ? 1 / std::sqrt(all)
                          : direction == fft::norm::forward ? 1 / all
                                                            : 1.0;
    lazy<R> x = with_points(operation, e, along);
    if (factor != 1) x = x * factor;
    return with_axes_last(x, std::span(&along, 1), [&](const lazy<R>& last) {
        return F(operation, last, along.points).of_type(made, how == fft::norm::ortho);
    });
}

}  // namespace

template <class R>
auto transforms<R>::of_complex(const char* operation, const lazy<C>& e, along all, fft::norm how,
                               bool inverse) -> lazy<C> {
    auto calls = calls_of_transform(all, false);
    if (calls.empty()) return e;
    calls = without_rows_of_zeros(std::move(calls), e.tree()->extents());
    return scaled_transform(with_points(operation, e, calls.front()), factor_of_transform(how, all, inverse),
                            [&](const lazy<C>& x) { return transformed(operation, x, calls, inverse); });
}

template <class R>
auto transforms<R>::of_reals(const char* operation, const lazy<R>& e, along all, fft::norm how) -> lazy<C> {
    using enum library_function;
    check_has_axes(operation, all);
    const auto calls = without_rows_of_zeros(calls_of_transform(all, true), e.tree()->extents());
    const std::vector<transformed_axis>& first = calls.front();
    return scaled_transform(with_points(operation, e, first), factor_of_transform(how, all, false),
                            [&](const lazy<R>& x) {
                                const lazy<C> made = with_axes_last(x, first, [&](const lazy<R>& last) {
                                    return call_transform<rfft1d, rfft2d, rfft3d, C>(operation, last, first.size(),
                                                                                     first.back().points / 2 + 1);
                                });
                                return transformed(operation, made, std::span(calls).subspan(1), false);
                            });
}

// Along the last given axis, a transform to as many real numbers as it has points; along the others, complex ones.
template <class R>
lazy<R> transforms<R>::to_reals(const char* operation, const lazy<C>& e, along all, fft::norm how) {
    check_has_axes(operation, all);
    const transformed_axis last = all.back();
    const index_t half = last.points / 2 + 1;
    lazy<C> x = transformed(operation, e, calls_of_transform(all.first(all.size() - 1), false), true);
    x = with_points(operation, x, transformed_axis{last.axis, half});
    return with_axes_last(x, std::span(&last, 1), [&](const lazy<C>& spectrum) {
        return reals_of_half<R>(operation, spectrum * factor_of_transform(how, all, true), last.points);
    });
}

template <class R>
lazy<R> transforms<R>::by_cosines(const char* operation, const lazy<R>& e, const transformed_axis& axis, int type,
                                  bool inverse, fft::norm how) {
    check_cosine_type(operation, type, axis.points);
    return along_axis<cosine_transform<R>>(operation, e, axis, type, inverse, how);
}
template <class R>
lazy<R> transforms<R>::by_sines(const char* operation, const lazy<R>& e, const transformed_axis& axis, int type,
                                bool inverse, fft::norm how) {
    if (type != 1) check_cosine_type(operation, type, axis.points);  // type 1 of the sine allows a single point
    return along_axis<sine_transform<R>>(operation, e, axis, type, inverse, how);
}

template <class R>
array<R> transforms<R>::frequencies(index_t n, double d) {
    check_points("fftfreq", n);
    const auto at = position_along(n, 0);
    return astype<double>(where(at < (n + 1) / 2, at, at - n)) * (1 / (static_cast<double>(n) * d));
}
template <class R>
array<R> transforms<R>::frequencies_of_reals(index_t n, double d) {
    check_points("rfftfreq", n);
    return astype<double>(position_along(n / 2 + 1, 0)) * (1 / (static_cast<double>(n) * d));
}

template struct transforms<float>;
template struct transforms<double>;

}  // namespace ingot::detail
