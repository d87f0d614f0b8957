// Folds of complex numbers that do not fold each part separately: the extremes in lexicographic order, and products.
#include <ingot/core/reductions.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <ingot/core/creation.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reshape.hpp>

namespace ingot::detail {

namespace {

/// A layout that gives an element's index in C order along the reduced axes.
layout index_layout(const reduction& how, extents_ref shape) {
    layout index = contiguous_layout(shape.span());
    index_t stride = 1;
    std::vector<bool> reduced(static_cast<std::size_t>(shape.rank), how.over == nullptr);
    if (how.over != nullptr)
        for (const index_t a : how.over->values())
            reduced[static_cast<std::size_t>(checked_axis(how.operation, a, shape.rank))] = true;
    for (int j = shape.rank; j-- > 0;) {
        index.strides()[j] = reduced[static_cast<std::size_t>(j)] ? stride : 0;
        if (reduced[static_cast<std::size_t>(j)]) stride *= shape.data[j];
    }
    return index;
}

/// The greatest or least real part, and among the elements that have it the greatest or least imaginary part. If a part
/// is NaN, both parts of the first such element.
template <fold F, class C>
lazy<C> extreme(const reduction& how, const lazy<C>& z) {
    using R = typename C::value_type;
    constexpr R nothing = F == fold::max ? -std::numeric_limits<R>::infinity() : std::numeric_limits<R>::infinity();
    const lazy<R> re = real(z), im = imag(z);
    const lazy<bool> nan = isnan(z);
    shape_room room;
    const reduction kept = how.kept();
    const auto first = reduced<F>(kept, where(nan, std::numeric_limits<R>::quiet_NaN(), re));
    const auto index = positions<C>(index_layout(how, z.extents(room)));
    const lazy<bool> chosen =
        where(isnan(first), index == reduced<fold::argmax>(kept, astype<std::uint8_t>(nan)), re == first);
    return complex_of(reduced<F>(how, where(chosen, re, nothing)), reduced<F>(how, where(chosen, im, nothing)));
}

/// Multiplies adjacent numbers, eight in a kernel, until one is left.
template <class C>
lazy<C> product(const reduction& how, const lazy<C>& z) {
    shape_room room;
    view_room view;
    const arrangement a = view_reduced(view, how.operation, z.extents(room), how.over, how.keep);
    lazy<C> x = z;
    if (a.moves) x.apply(view, 0);
    const shape_like arranged = x.shape();
    const auto kept = static_cast<std::size_t>(arranged.count() - a.bound);
    const std::vector<index_t> shape(arranged.begin(), arranged.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<index_t> merged = shape;
    index_t left = extents_ref{arranged.values().data() + kept, a.bound}.size();
    merged.push_back(left);
    if (left == 0) return full<C>(shape_like(shape), C(1));
    x = reshape(x, shape_like(merged));
    const auto last = static_cast<index_t>(kept);
    for (constexpr index_t at_once = 8; left > 1;) {
        const index_t next = (left + at_once - 1) / at_once;
        lazy<C> p = sliced(how.operation, x, last, slice(0, next));
        index_t done = next;
        for (; done + next <= left; done += next) p = p * sliced(how.operation, x, last, slice(done, done + next));
        if (done < left) {
            const index_t rest = left - done;
            const auto i = position_along<C>(next, 0);
            p = where(i < rest,
                      p * beyond_ends<place_rule::nearest>(how.operation, x, static_cast<int>(last), done, next), p);
        }
        x = next > 1 ? lazy<C>(array<C>(p)) : p;
        left = next;
    }
    return reshape(x, shape_like(shape));
}

}  // namespace

template <class C>
lazy<C> complex_fold(const reduction& how, fold f, const lazy<C>& z) {
    if (f == fold::prod) return product(how, z);
    return f == fold::max ? extreme<fold::max>(how, z) : extreme<fold::min>(how, z);
}

template INGOT_API lazy<std::complex<float>> complex_fold(const reduction&, fold, const lazy<std::complex<float>>&);
template INGOT_API lazy<std::complex<double>> complex_fold(const reduction&, fold, const lazy<std::complex<double>>&);

}  // namespace ingot::detail
