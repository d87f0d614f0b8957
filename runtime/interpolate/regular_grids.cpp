// Functions on rectangular grids: the product of the values around a place with weights along each axis.
#include <ingot/interpolate/regular_grids.hpp>

#include <algorithm>
#include <complex>
#include <limits>
#include <optional>

#include <ingot/core/creation.hpp>
#include <ingot/core/indexing.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>

#include "runtime/interpolate/knots.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::interpolate {

using detail::any_expression;
using detail::knots;
using detail::to_text;
using runtime::any_lazy;

namespace {
constexpr const char* operation = "regular_grid_interpolator";

/// Increasing numbers; whether they were decreasing. Throws error where they are in no order.
bool put_in_order(std::vector<double>& points) {
    const auto is_strict = [&] {
        return std::ranges::adjacent_find(points, [](double a, double b) { return !(a < b); }) == points.end();
    };
    if (is_strict()) return false;
    std::ranges::reverse(points);
    if (!is_strict())
        throw error("[" + std::string(operation) +
                    "] points that neither ascend nor descend; one or the other is wanted");
    return true;
}

/// The share of the grid line behind a place in interval k.
using share_kernel = elementwise_kernel<"double v, int64 k, raw double a", "double s">;
const share_kernel& share_text() {
    static const share_kernel text("s = k + 1 < a.size() ? (v - a[k]) / (a[k + 1] - a[k]) : 0.0;", "share");
    return text;
}

/// The multilinear function of the values around a place: `at` is the one before it along all axes, along axis j the
/// next one lies dj further and has the share sj. It is a text, in which the place's intervals are found once; a gather
/// for each value would find them anew.
using cell_1 = elementwise_kernel<"int64 at, double s0, raw T c, int64 d0", "T y">;
using cell_2 = elementwise_kernel<"int64 at, double s0, double s1, raw T c, int64 d0, int64 d1", "T y">;
using cell_3 =
    elementwise_kernel<"int64 at, double s0, double s1, double s2, raw T c, int64 d0, int64 d1, int64 d2", "T y">;
constexpr std::size_t most_text_axes = 3;

std::string value_of_cell(int axis, int axes, const std::string& further) {
    if (axis == axes) return "c[at" + further + "]";
    const std::string j = std::to_string(axis);
    return "(" + value_of_cell(axis + 1, axes, further) + " * T(1 - s" + j + ") + " +
           value_of_cell(axis + 1, axes, further + " + d" + j) + " * T(s" + j + "))";
}
template <class Kernel, int Axes>
const Kernel& cell_text() {
    static const Kernel text("y = " + value_of_cell(0, Axes, "") + ";", "cell");
    return text;
}

/// Throws index_error for the first axis along which a place lies outside of the grid.
void throw_outside(const std::vector<lazy<double>>& places, const std::vector<knots>& grid) {
    for (std::size_t j = 0; j < grid.size(); ++j) {
        const double first = grid[j].host.front(), last = grid[j].host.back();
        const lazy<double>& x = places[j];
        const auto [low, high] = eval(min(where(x < first, x, first)), max(where(x > last, x, last)));
        if (low.item() == first && high.item() == last) continue;
        throw index_error("[" + std::string(operation) + "] place " +
                          runtime::number_text(low.item() < first ? low.item() : high.item()) + " along axis " +
                          std::to_string(j) + "; the grid goes from " + runtime::number_text(first) + " to " +
                          runtime::number_text(last));
    }
}

}  // namespace

template <class T>
regular_grid_interpolator<T>::regular_grid_interpolator(const any_expression& values,
                                                        const std::vector<array<double>>& points,
                                                        const grid_options& how)
    : how_(how) {
    if (how.method != method::linear && how.method != method::nearest)
        throw error("[" + std::string(operation) +
                    "] a method that is neither linear nor nearest; one of them is wanted");
    if (const double a = how.fill_value.before(), b = how.fill_value.behind(); a != b && !(a != a && b != b))
        throw error("[" + std::string(operation) + "] a value before the grid and another one behind; one is wanted");
    const any_lazy given(values.tree, values.type);
    const shape_like shape = given.shape();
    if (points.empty() || static_cast<int>(points.size()) > shape.count())
        throw shape_error("[" + std::string(operation) + "] " + std::to_string(points.size()) +
                          " vectors of points for values of shape " + to_text(shape.values()) +
                          "; one for each of the first axes is wanted");
    lazy<T> x = given.as<T>();
    std::vector<index_t> flat{1};
    for (int j = 0; j < shape.count(); ++j) {
        if (j >= static_cast<int>(points.size())) {
            flat.push_back(shape[j]);
            continue;
        }
        std::vector<double> along = runtime::points_on_host(operation, points[static_cast<std::size_t>(j)], 1);
        if (static_cast<index_t>(along.size()) != shape[j])
            throw shape_error("[" + std::string(operation) + "] " + std::to_string(along.size()) +
                              " points along axis " + std::to_string(j) + " of values of shape " +
                              to_text(shape.values()) + "; as many as values are wanted");
        if (put_in_order(along)) x = lazy<T>(flip(x, j));
        grid_.push_back(runtime::knots_at(std::move(along), runtime::device_of(values)));
        flat[0] *= shape[j];
    }
    values_ = array<T>(reshape(array<T>(x), shape_like(flat)));
}

template <class T>
lazy<T> regular_grid_interpolator<T>::at(const any_expression& given) const {
    const any_lazy places(given.tree, given.type);
    const shape_like shape = places.shape();
    if (shape.count() == 0 || shape[shape.count() - 1] != static_cast<index_t>(grid_.size()))
        throw shape_error("[" + std::string(operation) + "] places of shape " + to_text(shape.values()) +
                          "; a last axis of " + std::to_string(grid_.size()) +
                          " is wanted, one for each axis of the grid");
    // Where a place lies along one axis: the grid line before it, the one behind, and the share of that one.
    struct grid_place {
        lazy<index_t> before, behind;
        lazy<double> share;
    };
    std::vector<grid_place> at;
    std::vector<lazy<double>> along_axes;
    std::optional<lazy<bool>> outside, unknown;
    for (std::size_t j = 0; j < grid_.size(); ++j) {
        const knots& k = grid_[j];
        const detail::index_item only[] = {detail::as_index_item(ellipsis),
                                           detail::as_index_item(static_cast<index_t>(j))};
        detail::view_room view;
        detail::view_by_index(view, places.extents(), only, 2);
        const lazy<double> x = places.viewed(view).as<double>();
        along_axes.push_back(x);
        const lazy<bool> beyond(x < k.host.front() || x > k.host.back()), is_nan(isnan(x));
        outside = outside ? lazy<bool>(*outside || beyond) : beyond;
        unknown = unknown ? lazy<bool>(*unknown || is_nan) : is_nan;
        const auto last = static_cast<index_t>(k.host.size()) - 1;
        grid_place p{runtime::interval_of(k, x), {}, {}};
        if (grid_.size() > most_text_axes && k.step == 0) p.before = p.before.kept();
        p.behind = minimum(p.before + index_t{1}, last);
        p.share = lazy<double>(share_text()(x, p.before, k.values));
        at.push_back(std::move(p));
    }
    if (how_.bounds_error && any(*outside).item()) throw_outside(along_axes, grid_);
    const shape_like own(values_.shape());
    const int behind_places = own.count() - 1;
    const auto beside_values = [&](const auto& e) { return runtime::with_axes_behind(lazy(e), behind_places); };
    // The sum over the lines around a place, of the axes from j on; `line` counts grid points of the axes before.
    const auto around = [&](const auto& self, std::size_t j, const lazy<index_t>& line) -> lazy<T> {
        if (j == at.size()) return runtime::elements_at(lazy<T>(values_), line).template as<T>();
        const auto along = [&](const lazy<index_t>& i) {
            return j == 0 ? i : lazy<index_t>(line * static_cast<index_t>(grid_[j].host.size()) + i);
        };
        const grid_place& p = at[j];
        if (how_.method == method::nearest)
            return self(self, j + 1, along(lazy<index_t>(where(p.share <= 0.5, p.before, p.behind))));
        if (grid_[j].host.size() == 1) return self(self, j + 1, along(p.before));
        return self(self, j + 1, along(p.before)) * beside_values(1 - p.share) +
               self(self, j + 1, along(p.behind)) * beside_values(p.share);
    };
    // The same as one text.
    const auto in_cell = [&]() -> lazy<T> {
        const runtime::column_numbers columns(own.values().subspan(1));
        const array<T> flat(reshape(values_, {values_.size()}));
        lazy<index_t> first = at[0].before;
        std::vector<index_t> further(at.size());
        index_t step = columns.count;
        for (std::size_t j = at.size(); j-- > 0;) {
            const auto count = static_cast<index_t>(grid_[j].host.size());
            further[j] = count == 1 ? 0 : step;
            step *= count;
        }
        for (std::size_t j = 1; j < at.size(); ++j)
            first = first * static_cast<index_t>(grid_[j].host.size()) + at[j].before;
        const lazy<index_t> place = beside_values(first) * columns.count + columns.number;
        const auto share = [&](std::size_t j) { return beside_values(at[j].share); };
        if (at.size() == 1) return lazy<T>(cell_text<cell_1, 1>()(place, share(0), flat, further[0]));
        if (at.size() == 2)
            return lazy<T>(cell_text<cell_2, 2>()(place, share(0), share(1), flat, further[0], further[1]));
        return lazy<T>(
            cell_text<cell_3, 3>()(place, share(0), share(1), share(2), flat, further[0], further[1], further[2]));
    };
    lazy<T> result =
        how_.method == method::linear && at.size() <= most_text_axes ? in_cell() : around(around, 0, lazy<index_t>());
    if (!how_.bounds_error && !how_.fill_value.extrapolates())
        result = lazy<T>(where(beside_values(*outside), static_cast<T>(how_.fill_value.before()), result));
    return lazy<T>(where(beside_values(*unknown), static_cast<T>(std::numeric_limits<double>::quiet_NaN()), result));
}

template class regular_grid_interpolator<double>;
template class regular_grid_interpolator<std::complex<double>>;

}  // namespace ingot::interpolate
