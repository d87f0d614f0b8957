// Convolutions by transforms, whole or by blocks that overlap in the operand and are cut in the result; and by sums of
// products, of taps or of windows.
#include <ingot/signal/convolutions.hpp>

#include <algorithm>
#include <numeric>

#include <ingot/core/functions.hpp>
#include <ingot/core/windows.hpp>
#include <ingot/fft/transforms.hpp>

#include "runtime/ndimage/images.hpp"
#include "runtime/signal/signals.hpp"

namespace ingot::detail {

using runtime::any_lazy;
using runtime::as_type;
using runtime::reach;
using runtime::signal_as;

namespace {

using extents_list = std::vector<index_t>;
extents_list extents_of(const image& e) {
    const std::span<const index_t> shape = e.tree->extents().span();
    return {shape.begin(), shape.end()};
}

[[noreturn]] void throw_do_not_fit(const char* operation, const extents_list& a, const extents_list& b,
                                   const char* wanted) {
    throw shape_error("[" + std::string(operation) + "] shapes " + to_text(a) + " and " + to_text(b) + "; " + wanted);
}
/// Whether b is the longer one, in mode `valid`. Throws shape_error unless one lies within the other.
bool is_within_second(const char* operation, const extents_list& a, const extents_list& b, const extents_list& over) {
    bool first = true, second = true;
    for (const index_t j : over) {
        const auto k = static_cast<std::size_t>(j);
        first = first && a[k] >= b[k];
        second = second && b[k] >= a[k];
    }
    if (!first && !second) throw_do_not_fit(operation, a, b, "mode valid wants one that lies within the other");
    return !first;
}

/// The least number from n on whose prime factors are 2, 3, 5 and 7.
index_t good_points(index_t n) {
    for (;; ++n) {
        index_t rest = n;
        for (const index_t p : {2, 3, 5, 7})
            while (rest % p == 0) rest /= p;
        if (rest == 1) return n;
    }
}

/// The part of an axis of the full convolution that a mode has. Axes that are not summed over are broadcast.
struct part {
    index_t begin, extent, full;
};
part part_in_mode(convolve_mode mode, index_t m, index_t n, bool summed) {
    const index_t full = summed ? m + n - 1 : std::max(m, n);
    const index_t extent = mode == convolve_mode::full ? full : mode == convolve_mode::same ? m : m - n + 1;
    return {(full - extent) / 2, extent, full};
}
/// Points of a circular convolution whose elements in the part are those of the full one: what lies beyond the points
/// is added at the beginning, before the part.
index_t points_for(const part& p, index_t m, index_t n) {
    return good_points(std::max({p.full - p.begin, p.begin + p.extent, m, n}));
}

/// Transforms along the last axes, multiplied, and back.
template <class T>
lazy<T> multiplied(const lazy<T>& a, const lazy<T>& b, const extents_list& points, const extents_list& over) {
    const fft::extents s(points);
    const axes along(over);
    if constexpr (kind_of(dtype_of<T>) == kind::complex)
        return fft::ifftn(fft::fftn(a, s, along) * fft::fftn(b, s, along), s, along);
    else
        return fft::irfftn(fft::rfftn(a, s, along) * fft::rfftn(b, s, along), s, along);
}

/// How one axis is cut: blocks of `points` elements, each `step` behind the last one, of whose results the first
/// `dropped` are not the convolution's.
struct blocks_of_axis {
    index_t count, step, points, dropped;
};
blocks_of_axis cut(index_t longer, index_t shorter) {
    const index_t whole = longer + shorter - 1;
    index_t points = 64;
    while (points < 8 * shorter) points *= 2;
    if (2 * points > whole) return {1, good_points(whole), good_points(whole), 0};
    const index_t step = points - (shorter - 1);
    return {(whole + step - 1) / step, step, points, shorter - 1};
}

/// The full convolution along axes on which `a` is the longer one.
template <class T>
lazy<T> in_overlapping_blocks(const lazy<T>& a, const lazy<T>& b, const extents_list& over) {
    const int rank = a.ndim(), transformed = static_cast<int>(over.size());
    std::vector<blocks_of_axis> blocks;
    std::vector<pad_width> widths(static_cast<std::size_t>(rank), pad_width(0, 0));
    const shape_like given = a.shape();
    extents_list points, last, full(given.begin(), given.end());
    for (const index_t j : over) {
        const auto k = static_cast<std::size_t>(j);
        const index_t n = a.shape()[static_cast<int>(j)], m = b.shape()[static_cast<int>(j)];
        const blocks_of_axis c = cut(n, m);
        widths[k] = pad_width(c.dropped, (c.count - 1) * c.step + c.points - c.dropped - n);
        blocks.push_back(c), points.push_back(c.points);
        last.push_back(static_cast<index_t>(last.size()) - transformed);
        full[k] = n + m - 1;
    }
    const lazy<T> whole = pad(a, pad_widths(std::move(widths)));
    lazy<T> cuts = sliding_window_view(whole, points, axes(over));
    for (std::size_t i = 0; i < over.size(); ++i)
        cuts = sliced("oaconvolve", cuts, over[i], slice(none, none, blocks[i].step));
    // The other operand has its transformed axes behind, and axes of extent 1 for the blocks in their places.
    const lazy<T> other = expand_dims(lazy<T>(moveaxis(b, axes(over), axes(last))), axes(over));
    lazy<T> made = multiplied(cuts, other, points, last);
    for (std::size_t i = 0; i < over.size(); ++i)
        made = sliced("oaconvolve", made, last[i], slice(blocks[i].dropped, blocks[i].dropped + blocks[i].step));
    // Blocks beside their elements, and then one axis.
    extents_list order, shape;
    for (int j = 0; j < rank; ++j) {
        order.push_back(j);
        const auto at = std::ranges::find(over, static_cast<index_t>(j));
        index_t extent = made.shape()[j];
        if (at != over.end()) {
            const auto i = static_cast<std::size_t>(at - over.begin());
            order.push_back(rank + static_cast<index_t>(i));
            extent *= blocks[i].step;
        }
        shape.push_back(extent);
    }
    lazy<T> result = reshape(lazy<T>(permute_dims(made, axes(order))), shape_like(shape));
    for (const index_t j : over) result = sliced("oaconvolve", result, j, slice(0, full[static_cast<std::size_t>(j)]));
    return result;
}

}  // namespace

tree_ref convolved_by_transforms(const char* operation, const image& first, const image& second, convolve_mode mode,
                                 const axes* over, bool in_blocks) {
    extents_list m = extents_of(first), n = extents_of(second);
    if (m.size() != n.size()) throw_do_not_fit(operation, m, n, "as many axes are wanted");
    const int rank = static_cast<int>(m.size());
    extents_list every_axis(m.size()), all_axes, along;
    std::iota(every_axis.begin(), every_axis.end(), index_t{0});
    if (over == nullptr) {
        all_axes = every_axis;
    } else {
        for (const index_t j : over->values()) all_axes.push_back(checked_axis(operation, j, rank));
    }
    std::ranges::sort(all_axes);
    if (std::ranges::adjacent_find(all_axes) != all_axes.end())
        throw shape_error("[" + std::string(operation) + "] an axis is given twice; each is wanted once");
    for (const index_t j : all_axes)
        if (m[static_cast<std::size_t>(j)] != 1 && n[static_cast<std::size_t>(j)] != 1) along.push_back(j);
    const bool has_elements = first.tree->extents().size() > 0 && second.tree->extents().size() > 0;
    for (std::size_t j = 0; j < m.size(); ++j)
        if (!has_elements || (std::ranges::find(along, static_cast<index_t>(j)) == along.end() && m[j] != n[j] &&
                              m[j] != 1 && n[j] != 1))
            throw_do_not_fit(operation, m, n, "elements are wanted, and extents that broadcast along other axes");
    const bool swapped = mode == convolve_mode::valid && is_within_second(operation, m, n, along);
    const image& longer = swapped ? second : first;
    const image& other = swapped ? first : second;
    if (swapped) std::swap(m, n);
    const dtype both = promote(signal_dtype(first.type), signal_dtype(second.type));
    return runtime::with_signal_type(both, [&]<class T>(std::type_identity<T>) {
        const lazy<T> a = signal_as<T>(longer), b = signal_as<T>(other);
        extents_list points;
        bool a_is_longer = true, b_is_longer = true;
        for (const index_t j : along) {
            const auto k = static_cast<std::size_t>(j);
            points.push_back(points_for(part_in_mode(mode, m[k], n[k], true), m[k], n[k]));
            a_is_longer = a_is_longer && m[k] >= n[k];
            b_is_longer = b_is_longer && n[k] >= m[k];
        }
        lazy<T> result = along.empty()              ? lazy<T>(a * b)
                         : in_blocks && a_is_longer ? in_overlapping_blocks(a, b, along)
                         : in_blocks && b_is_longer ? in_overlapping_blocks(b, a, along)
                                                    : multiplied(a, b, points, along);
        for (const index_t j : mode == convolve_mode::same ? every_axis : along) {
            const auto k = static_cast<std::size_t>(j);
            const part part_of_axis = part_in_mode(mode, m[k], n[k], std::ranges::find(along, j) != along.end());
            result = sliced(operation, result, j, slice(part_of_axis.begin, part_of_axis.begin + part_of_axis.extent));
        }
        return result.tree();
    });
}

namespace {

/// The most taps that are operands of one expression.
constexpr index_t most_taps = 25;

any_lazy reversed_image(const any_lazy& x) {
    view_room view;
    view_flipped(view, x.extents(), nullptr);
    return x.viewed(view);
}

}  // namespace

tree_ref convolved_images(const char* operation, const image& first, const image& second,
                          const signal::convolve2d_options& how, bool correlated) {
    const extents_list given[2] = {extents_of(first), extents_of(second)};
    if (given[0].size() != 2 || given[1].size() != 2 || first.tree->extents().size() == 0 ||
        second.tree->extents().size() == 0)
        throw_do_not_fit(operation, given[0], given[1], "two images with elements are wanted");
    const bool swapped =
        how.mode == convolve_mode::valid && is_within_second(operation, given[0], given[1], extents_list{0, 1});
    const dtype type = promote(first.type, second.type);
    const image& longer = swapped ? second : first;
    const image& shorter = swapped ? first : second;
    const any_lazy x = as_type(runtime::read_often(longer), type);
    any_lazy w = as_type(runtime::read_often(shorter), type);
    if (correlated && kind_of(type) == kind::complex) w = runtime::apply(op::conjugate, {w});
    if (!correlated) w = reversed_image(w);
    w = w.kept();
    const extents_list m = given[swapped ? 1 : 0], n = given[swapped ? 0 : 1];
    std::vector<reach> reaches;
    for (std::size_t j = 0; j < 2; ++j) {
        const index_t around = n[j] - 1;
        const index_t before = how.mode == convolve_mode::full    ? around
                               : how.mode == convolve_mode::valid ? 0
                               : correlated                       ? around / 2
                                                                  : around - around / 2;
        reaches.push_back({before, how.mode == convolve_mode::full    ? around
                                   : how.mode == convolve_mode::valid ? 0
                                                                      : around - before});
    }
    const ndimage::border borders[] = {ndimage::border::constant, ndimage::border::wrap, ndimage::border::reflect};
    const std::vector<ndimage::border> both(2, borders[static_cast<std::size_t>(how.boundary)]);
    const index_t taps = n[0] * n[1];
    const any_lazy p = bordered_for(static_cast<std::size_t>(taps), x, reaches, both, how.fillvalue);
    std::optional<any_lazy> sum_of_taps;
    if (taps <= most_taps) {
        const extents_list shape{p.extents().data[0] - n[0] + 1, p.extents().data[1] - n[1] + 1};
        const extents_list one{1, 1};
        for (index_t i = 0; i < n[0]; ++i)
            for (index_t j = 0; j < n[1]; ++j) {
                const extents_list at{i, j};
                const any_lazy term = part_of(p, at, shape) * part_of(w, at, one);
                sum_of_taps = sum_of_taps ? *sum_of_taps + term : term;
            }
    } else {
        const axes last({-2, -1});
        sum_of_taps = folded(fold::sum, operation, runtime::windows_around(p.kept(), n) * w, &last, false);
    }
    const any_lazy made = as_type(*sum_of_taps, type);
    return (swapped && correlated ? reversed_image(made) : made).tree();
}

}  // namespace ingot::detail
