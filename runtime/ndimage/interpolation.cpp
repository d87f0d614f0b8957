// Elements between others, by B-splines: products of gathers with weights that are expressions of the places. Places of
// one axis that do not depend on other axes are gathers along that axis alone.
#include <ingot/ndimage/interpolation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/views.hpp>
#include <ingot/ndimage/filters.hpp>

#include "runtime/ndimage/splines.hpp"

namespace ingot::detail {

using ndimage::border;
using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::axis_reads;
using runtime::coefficients;
using runtime::coefficients_of;
using runtime::for_axes;
using runtime::numbers;
using runtime::reads_of;
using runtime::spline;

namespace {

/// The places of an axis that all other axes share, as tables of 32-bit indices and of weights in the values' type R:
/// they are computed once, and a statement over all elements reads them. An element outside has the index `none`.
template <class R>
struct axis_tables {
    static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
    using indices = lazy<std::uint32_t>;

    std::vector<indices> at;
    std::vector<lazy<R>> weights;  // none where the order is 0
    std::vector<lazy<bool>> elements;
    std::optional<lazy<bool>> inside;

    /// `all_inside` is whether all places lie inside the axis.
    axis_tables(const numbers& place, index_t extent, int order, border mode, bool all_inside) {
        const axis_reads r = reads_of(place, extent, order, mode, 0);
        const auto last = static_cast<std::uint32_t>(extent - 1);
        const auto table = [&](std::size_t k, const std::optional<lazy<bool>>& here) {
            const indices found(astype<std::uint32_t>(r.at[k]));
            return here ? indices(where(*here, found, none)).kept() : found.kept();
        };
        const auto neighbour = [&](const indices& i) { return indices(minimum(i, last)); };
        if (mode == border::grid_constant) {
            for (std::size_t k = 0; k < r.at.size(); ++k) {
                const indices found = table(k, r.elements[k]);
                at.push_back(neighbour(found));
                elements.push_back(lazy<bool>(found <= last));
            }
        } else {
            const bool tested = r.inside && !all_inside;
            const indices first = table(0, tested ? r.inside : std::nullopt);
            at.push_back(tested ? neighbour(first) : first);
            if (tested) inside = lazy<bool>(first <= last);
            // With other borders, the neighbour of the last element or of the one before the first is another.
            const bool clips = mode == border::constant || mode == border::nearest || mode == border::wrap;
            if (order == 1) at.push_back(clips ? neighbour(indices(at[0] + 1)) : table(1, std::nullopt));
        }
        if (order == 1) {
            const lazy<R> behind = lazy<R>(astype<R>(r.weights[1])).kept();
            weights = {lazy<R>(1 - behind), behind};
        }
    }
};

/// Interpolated numbers as elements of the dtype: integers are rounded, halves away from 0.
any_lazy rounded_as(const any_lazy& x, dtype type) {
    if (type == dtype::b1) return as_type(as_type(x, dtype::i8), type);
    if (detail::kind_of(type) != kind::integer) return as_type(x, type);
    return as_type(choose(any_lazy(0) < x, x + 0.5, x - 0.5), type);
}

/// Calls f with the type in which values are computed.
template <class F>
any_lazy in_type_of(const any_lazy& values, const F& f) {
    return values.type() == dtype::f4 ? f(std::type_identity<float>{}) : f(std::type_identity<double>{});
}

/// The places of one axis, which other axes share; whether all lie inside the axis, and how many elements of the result
/// have one place.
struct axis_places {
    numbers at;
    bool all_inside = false;
    index_t shared_by = 1;
};

/// x read along an axis at the places r, which axis_reads or axis_tables have; `inside` becomes where all are inside.
template <class R, class Reads>
lazy<R> read_along(const lazy<R>& x, std::size_t axis, const Reads& r, double cval, std::optional<lazy<bool>>& inside) {
    std::vector<index_t> added(static_cast<std::size_t>(x.ndim()) - 1 - axis);
    std::iota(added.begin(), added.end(), 1);
    const axes behind(added);
    std::optional<lazy<R>> sum;
    for (std::size_t k = 0; k < r.at.size(); ++k) {
        lazy<R> value(take<unchecked_mode>(x, r.at[k], static_cast<index_t>(axis)));
        if (!r.elements.empty()) value = where(expand_dims(r.elements[k], behind), value, static_cast<R>(cval));
        if (!r.weights.empty()) value = value * astype<R>(expand_dims(r.weights[k], behind));
        sum = sum ? lazy<R>(*sum + value) : value;
    }
    if (r.inside) {
        const lazy<bool> here(expand_dims(*r.inside, behind));
        inside = inside ? lazy<bool>(*inside && here) : here;
    }
    return *sum;
}

/// One axis after the other is read at its own places; where there are none, an axis stays.
any_lazy read_along_axes(const coefficients& c, const std::vector<std::optional<axis_places>>& places,
                         const spline& how, dtype type) {
    constexpr index_t enough_to_share = 16, most_indices = std::numeric_limits<std::uint32_t>::max();
    const auto read = [&]<class R>(std::type_identity<R>) -> any_lazy {
        lazy<R> x = c.values.as<R>();
        std::optional<lazy<bool>> inside;
        for (std::size_t j = 0; j < places.size(); ++j) {
            if (!places[j]) continue;
            const axis_places& p = *places[j];
            const index_t extent = x.shape()[static_cast<int>(j)];
            if (how.order <= 1 && p.shared_by >= enough_to_share && extent < most_indices)
                x = read_along(x, j, axis_tables<R>(p.at, extent, how.order, how.mode, p.all_inside), how.cval, inside);
            else
                x = read_along(x, j, reads_of(p.at, extent, how.order, how.mode, c.padded), how.cval, inside);
            if (how.order > 1) x = x.kept();
        }
        return any_lazy(inside ? lazy<R>(where(*inside, x, static_cast<R>(how.cval))) : x);
    };
    return rounded_as(in_type_of(c.values, read), type);
}

/// The index along an axis with `behind` axes of extent 1 behind it.
lazy<index_t> counted(index_t extent, std::size_t behind = 0) {
    return lazy<index_t>(position_along(extent, static_cast<int>(behind)));
}

/// The two elements around a place, of orders 0 and 1 with a border that maps no place elsewhere: 32-bit indices, and
/// weights in the type R of places and values. Where both are float32, they are those of float64.
template <class R>
struct near_reads {
    std::vector<lazy<std::uint32_t>> at;
    std::vector<lazy<R>> weights;
    std::vector<lazy<bool>> elements;  // none
    std::optional<lazy<bool>> inside;

    /// The axis as it is.
    explicit near_reads(const lazy<index_t>& index) : at{lazy<std::uint32_t>(astype<std::uint32_t>(index))} {}
    near_reads(const lazy<R>& place, index_t extent, border mode) {
        using indices = lazy<std::uint32_t>;
        const auto last = static_cast<std::uint32_t>(extent - 1);
        const auto end = static_cast<R>(extent - 1);
        const bool tested = mode == border::constant;
        const lazy<R> x = tested ? place : lazy<R>(minimum(maximum(place, R(0)), end));
        if (tested) inside = lazy<bool>(x >= R(0) && x <= end);
        at = {indices(minimum(astype<std::uint32_t>(x), last))};  // a place beyond the ends, or NaN, has an element
        at.push_back(indices(minimum(at[0] + 1, last)));
        const lazy<R> behind(x - floor(x));
        weights = {lazy<R>(1 - behind), behind};
    }
};

/// The elements of x at places that the axes of the result share, weighted and added.
template <class R, class Reads>
lazy<R> gathered_around(const lazy<R>& x, const std::vector<Reads>& reads, const std::vector<index_t>& shape,
                        double cval) {
    using index = typename decltype(Reads::at)::value_type::value_type;
    const auto outside = static_cast<R>(cval);
    const lazy<R> flat(ravel(x));
    // The sum over the elements around a place: of the axes up to j, their index and where all of them are inside.
    const auto around = [&](const auto& self, std::size_t j, const lazy<index>& before,
                            const std::optional<lazy<bool>>& all) -> lazy<R> {
        if (j == shape.size()) {
            const lazy<R> value = runtime::elements_at(flat, before).template as<R>();
            return all ? lazy<R>(where(*all, value, outside)) : value;
        }
        const lazy<index> line = j == 0 ? before : lazy<index>(before * static_cast<index>(shape[j]));
        std::optional<lazy<R>> sum;
        for (std::size_t k = 0; k < reads[j].at.size(); ++k) {
            std::optional<lazy<bool>> here = all;
            if (!reads[j].elements.empty())
                here = all ? lazy<bool>(*all && reads[j].elements[k]) : reads[j].elements[k];
            const lazy<index> at = j == 0 ? reads[j].at[k] : lazy<index>(line + reads[j].at[k]);
            lazy<R> part = self(self, j + 1, at, here);
            if (!reads[j].weights.empty()) part = part * astype<R>(reads[j].weights[k]);
            sum = sum ? lazy<R>(*sum + part) : part;
        }
        return *sum;
    };
    const lazy<R> sum = around(around, 0, lazy<index>(), std::nullopt);
    std::optional<lazy<bool>> inside;
    for (const Reads& r : reads)
        if (r.inside) inside = inside ? lazy<bool>(*inside && *r.inside) : *r.inside;
    return inside ? lazy<R>(where(*inside, sum, outside)) : sum;
}

/// Whether near_reads has an operand's elements, at places of this type.
bool are_near(const std::vector<index_t>& shape, const spline& how, dtype places) {
    constexpr index_t exact_in_float = index_t{1} << 24;
    const index_t all = std::accumulate(shape.begin(), shape.end(), index_t{1}, std::multiplies<>());
    return how.order == 1 && (how.mode == border::constant || how.mode == border::nearest) &&
           all < std::numeric_limits<std::uint32_t>::max() &&
           (places != dtype::f4 || std::ranges::all_of(shape, [](index_t n) { return n <= exact_in_float; }));
}

/// Axes are read at places that depend on several of the result's axes; where there are none, an axis stays.
any_lazy read_at_places(const coefficients& c, const std::vector<std::optional<any_lazy>>& places, const spline& how,
                        dtype type) {
    const std::vector<index_t> shape(c.values.extents().span().begin(), c.values.extents().span().end());
    const auto is_single = [](const std::optional<any_lazy>& p) { return !p || p->type() == dtype::f4; };
    const bool all_single = c.values.type() == dtype::f4 && std::ranges::all_of(places, is_single);
    const auto reads_near = [&]<class P>(std::type_identity<P>) {
        std::vector<near_reads<P>> reads;
        for (std::size_t j = 0; j < shape.size(); ++j)
            reads.push_back(places[j] ? near_reads<P>(places[j]->template as<P>(), shape[j], how.mode)
                                      : near_reads<P>(counted(shape[j], shape.size() - 1 - j)));
        return reads;
    };
    const auto read = [&]<class R>(std::type_identity<R>) -> any_lazy {
        const lazy<R> x = c.values.as<R>();
        if (all_single && are_near(shape, how, dtype::f4))
            return any_lazy(gathered_around(x, reads_near(std::type_identity<float>()), shape, how.cval));
        if (are_near(shape, how, dtype::f8))
            return any_lazy(gathered_around(x, reads_near(std::type_identity<double>()), shape, how.cval));
        std::vector<axis_reads> reads(shape.size());
        for (std::size_t j = 0; j < shape.size(); ++j) {
            if (places[j])
                reads[j] = reads_of(places[j]->as<double>(), shape[j], how.order, how.mode, c.padded);
            else
                reads[j].at = {counted(shape[j], shape.size() - 1 - j)};
        }
        return any_lazy(gathered_around(x, reads, shape, how.cval));
    };
    return rounded_as(in_type_of(c.values, read), type);
}

/// A result without elements, or with `value` alone where the operand has none.
any_lazy filled(const image& beside, const std::vector<index_t>& shape, double value) {
    const dtype type = beside.type;
    const with_device there(runtime::device_of({beside.tree, type}));
    return as_type(any_lazy(lazy<double>(full<double>(shape_like(shape), value))), type);
}
bool has_none(const std::vector<index_t>& shape) { return std::ranges::find(shape, 0) != shape.end(); }

/// The result's element i lies at (i + first) * step, moved by `more`, along each axis.
struct scale {
    double step = 1, first = 0, more = 0;
    bool is_identity() const { return step == 1 && first == 0 && more == 0; }
    template <class X>
    auto at(const X& i) const {
        return (i + first) * step + more;
    }
    /// Whether `count` elements lie inside an axis.
    bool stays_inside(index_t count, index_t extent) const {
        const double ends[] = {at(0.0), at(static_cast<double>(count - 1))};
        return std::ranges::all_of(ends, [&](double x) { return x >= 0 && x <= static_cast<double>(extent - 1); });
    }
};

any_lazy scaled(const char* operation, const image& e, const std::vector<scale>& scales,
                const std::vector<index_t>& shape, const spline& how) {
    const extents_ref given = e.tree->extents();
    std::vector<bool> used;
    std::vector<std::optional<axis_places>> places;
    for (std::size_t j = 0; j < scales.size(); ++j) {
        const scale& s = scales[j];
        used.push_back(!s.is_identity() || given.data[j] != shape[j]);
        places.emplace_back();
        if (used[j])
            places[j] = {numbers(s.at(astype<double>(counted(shape[j])))), s.stays_inside(shape[j], given.data[j])};
    }
    const coefficients c = coefficients_of(operation, e, how, used);
    if (has_none(shape) || given.size() == 0) return filled(e, shape, how.cval);
    const index_t all = std::accumulate(shape.begin(), shape.end(), index_t{1}, std::multiplies<>());
    for (std::size_t j = 0; j < places.size(); ++j)
        if (places[j]) places[j]->shared_by = all / shape[j];
    return read_along_axes(c, places, how, e.type);
}

/// The places `matrix` (n rows of n) times the result's index, plus the offset.
any_lazy at_linear_places(const char* operation, const image& e, const std::vector<double>& matrix,
                          const std::vector<double>& offset, const std::vector<index_t>& shape, const spline& how) {
    const std::size_t n = offset.size();
    std::vector<bool> used;
    std::vector<std::optional<any_lazy>> places;
    for (std::size_t j = 0; j < n; ++j) {
        bool is_identity = offset[j] == 0 && shape[j] == e.tree->extents().data[j];
        for (std::size_t k = 0; k < n; ++k) is_identity = is_identity && matrix[j * n + k] == (j == k ? 1 : 0);
        used.push_back(!is_identity);
        places.emplace_back();
        if (is_identity) continue;
        std::optional<numbers> place;
        for (std::size_t k = 0; k < n; ++k) {
            const numbers term(astype<double>(counted(shape[k], n - 1 - k)) * matrix[j * n + k]);
            place = place ? numbers(*place + term) : term;
        }
        places[j] = any_lazy(numbers(*place + offset[j]));
    }
    const coefficients c = coefficients_of(operation, e, how, used);
    if (has_none(shape) || e.tree->extents().size() == 0) return filled(e, shape, how.cval);
    return read_at_places(c, places, how, e.type);
}

std::vector<index_t> shape_of(const image& e) {
    const std::span<const index_t> shape = e.tree->extents().span();
    return {shape.begin(), shape.end()};
}

}  // namespace

tree_ref at_coordinates(const char* operation, const image& e, const image& where, const ndimage::spline_options& how) {
    const std::vector<index_t> given = shape_of(e);
    const any_lazy coordinates = runtime::read_often(where);
    const shape_like all = coordinates.shape();
    if (all.count() == 0 || all[0] != static_cast<index_t>(given.size()) || given.empty())
        throw shape_error("[" + std::string(operation) + "] coordinates of shape " + to_text(all.values()) +
                          " for an operand of shape " + to_text(given) +
                          "; along the first axis one for each axis of the operand is wanted");
    const spline s{how.order, how.mode, how.cval};
    const coefficients c = coefficients_of(operation, e, s, std::vector<bool>(given.size(), true));
    const std::vector<index_t> shape(all.begin() + 1, all.end());
    if (has_none(shape) || has_none(given)) return filled(e, shape, how.cval).tree();
    std::vector<std::optional<any_lazy>> places;
    for (std::size_t j = 0; j < given.size(); ++j) {
        const index_item at[] = {as_index_item(static_cast<index_t>(j)), as_index_item(ellipsis)};
        view_room view;
        view_by_index(view, coordinates.extents(), at, 2);
        places.emplace_back(coordinates.viewed(view));
    }
    return read_at_places(c, places, s, e.type).tree();
}

tree_ref shifted(const char* operation, const image& e, const ndimage::per_axis<double>& by,
                 const ndimage::spline_options& how) {
    const std::vector<index_t> shape = shape_of(e);
    std::vector<scale> scales;
    for (const double s : for_axes(operation, "shift", by, static_cast<int>(shape.size())))
        scales.push_back({1, -s, 0});
    return scaled(operation, e, scales, shape, {how.order, how.mode, how.cval}).tree();
}

tree_ref zoomed(const char* operation, const image& e, const ndimage::per_axis<double>& factor,
                const ndimage::zoom_options& how) {
    const std::vector<index_t> given = shape_of(e);
    const std::vector<double> factors = for_axes(operation, "zoom", factor, static_cast<int>(given.size()));
    std::vector<scale> scales;
    std::vector<index_t> shape;
    for (std::size_t j = 0; j < given.size(); ++j) {
        const double wanted = std::nearbyint(static_cast<double>(given[j]) * factors[j]);
        if (!(wanted >= 0 && wanted < 9e18))
            throw shape_error("[" + std::string(operation) + "] factor " + std::to_string(factors[j]) + " of axis " +
                              std::to_string(j) + "; one that is not negative is wanted");
        shape.push_back(static_cast<index_t>(wanted));
        const double less = how.grid_mode ? 0 : 1, of = wanted - less;
        const double step = of == 0 ? 1 : (static_cast<double>(given[j]) - less) / of;
        scales.push_back(how.grid_mode ? scale{step, 0.5, -0.5} : scale{step, 0, 0});
    }
    return scaled(operation, e, scales, shape, {how.order, how.mode, how.cval}).tree();
}

tree_ref transformed(const char* operation, const image& e, const ndimage::neighbourhood& matrix,
                     const ndimage::affine_options& how) {
    const std::vector<index_t> given = shape_of(e), &rows = matrix.shape();
    const std::size_t n = given.size();
    const auto extent = static_cast<index_t>(n);
    const std::vector<index_t> shape =
        how.output_shape ? std::vector<index_t>(how.output_shape->begin(), how.output_shape->end()) : given;
    const bool is_diagonal = rows == std::vector<index_t>{extent};
    const bool has_offset = rows.size() == 2 && rows[1] == extent + 1 && (rows[0] == extent || rows[0] == extent + 1);
    if (n == 0 || shape.size() != n || !(is_diagonal || has_offset || rows == std::vector<index_t>{extent, extent}))
        throw shape_error("[" + std::string(operation) + "] a matrix of shape " + to_text(rows) +
                          " and a result of shape " + to_text(shape) + " for an operand of shape " + to_text(given) +
                          "; as many rows and axes are wanted as the operand has");
    check_extents(operation, shape);
    std::vector<double> offset = for_axes(operation, "offset", how.offset, static_cast<int>(n)), linear;
    const spline s{how.order, how.mode, how.cval};
    const std::vector<double>& m = matrix.values();
    if (is_diagonal) {
        std::vector<scale> scales;
        for (std::size_t j = 0; j < n; ++j) scales.push_back({m[j], 0, offset[j]});
        return scaled(operation, e, scales, shape, s).tree();
    }
    if (rows[0] == extent + 1 && rows.size() == 2) {
        const auto last = m.end() - static_cast<std::ptrdiff_t>(n + 1);
        if (std::any_of(last, m.end() - 1, [](double v) { return v != 0; }) || m.back() != 1)
            throw shape_error("[" + std::string(operation) + "] the last row of a homogeneous matrix of shape " +
                              to_text(rows) + " is not 0, ..., 0, 1");
    }
    const std::size_t columns = n + has_offset;
    for (std::size_t j = 0; j < n; ++j) {
        const auto row = m.begin() + static_cast<std::ptrdiff_t>(j * columns);
        linear.insert(linear.end(), row, row + extent);
        if (has_offset) offset[j] = row[extent];
    }
    return at_linear_places(operation, e, linear, offset, shape, s).tree();
}

tree_ref rotated(const char* operation, const image& e, double degrees, const ndimage::rotate_options& how) {
    std::vector<index_t> shape = shape_of(e);
    const int rank = static_cast<int>(shape.size());
    if (rank < 2 || how.plane.count() != 2)
        throw shape_error("[" + std::string(operation) + "] an operand of shape " + to_text(shape) +
                          " and a plane of " + std::to_string(how.plane.count()) +
                          " axes; two of at least two axes are wanted");
    const int first = checked_axis(operation, how.plane[0], rank), second = checked_axis(operation, how.plane[1], rank);
    if (first == second)
        throw shape_error("[" + std::string(operation) + "] axis " + std::to_string(first) +
                          " twice; a plane has two axes");
    const auto a = static_cast<std::size_t>(std::min(first, second)),
               b = static_cast<std::size_t>(std::max(first, second));
    // Multiples of 90 degrees are exact.
    const double turn = std::remainder(degrees, 360.0), quarter = std::nearbyint(turn / 90);
    const double angle = (turn - 90 * quarter) * std::numbers::pi / 180;
    const double cosines[] = {std::cos(angle), -std::sin(angle), -std::cos(angle), std::sin(angle)};
    const auto q = static_cast<std::size_t>((static_cast<int>(quarter) + 4) % 4);
    const double c = cosines[q], s = cosines[(q + 3) % 4];
    const auto rows = static_cast<double>(shape[a]), columns = static_cast<double>(shape[b]);
    const double in[] = {(rows - 1) / 2, (columns - 1) / 2};
    if (how.reshape) {
        shape[a] = static_cast<index_t>(std::abs(c) * rows + std::abs(s) * columns + 0.5);
        shape[b] = static_cast<index_t>(std::abs(s) * rows + std::abs(c) * columns + 0.5);
    }
    const double middle[] = {(static_cast<double>(shape[a]) - 1) / 2, (static_cast<double>(shape[b]) - 1) / 2};
    const auto n = static_cast<std::size_t>(rank);
    std::vector<double> matrix(n * n), offset(n);
    for (std::size_t j = 0; j < n; ++j) matrix[j * n + j] = 1;
    matrix[a * n + a] = c, matrix[a * n + b] = s, matrix[b * n + a] = -s, matrix[b * n + b] = c;
    offset[a] = in[0] - (c * middle[0] + s * middle[1]);
    offset[b] = in[1] - (-s * middle[0] + c * middle[1]);
    return at_linear_places(operation, e, matrix, offset, shape, {how.order, how.mode, how.cval}).tree();
}

}  // namespace ingot::detail
