// Functions that are constant or linear between points.
#include <ingot/interpolate/piecewise.hpp>

#include <algorithm>
#include <complex>
#include <limits>
#include <numeric>

#include <ingot/core/creation.hpp>

#include "runtime/interpolate/knots.hpp"

namespace ingot::detail {

using interpolate::method;
using runtime::any_lazy;
using runtime::knots_at;

namespace {

/// In the order of the enumerators: the value between the points k and j.
constexpr const char* value_rules[] = {
    // A value at a point is finite where that of its neighbour is not.
    R"(const T low = c[k * columns + column], high = c[j * columns + column];
y = v == a[k] || low == high ? low
    : v == a[j]              ? high
                             : low + (high - low) * T((v - a[k]) / (a[j] - a[k]));)",
    "y = c[(v <= a[k] / 2 + a[j] / 2 ? k : j) * columns + column];",
    "y = c[(v < a[k] / 2 + a[j] / 2 ? k : j) * columns + column];",
    "y = c[(v < a[j] ? k : j) * columns + column];",
    "y = c[(v <= a[k] ? k : j) * columns + column];",
};
const runtime::piece_kernel& text_of(method kind) {
    static const auto texts = [] {
        std::vector<runtime::piece_kernel> all;
        for (const char* const rule : value_rules)
            all.emplace_back(std::string("const int64 j = k + 1 < a.size() ? k + 1 : k;\n") + rule, "interp");
        return all;
    }();
    return texts[static_cast<std::size_t>(kind)];
}

}  // namespace

template <class T>
lazy<T> interpolated_in_pieces(const any_expression& x, const any_expression& xp, const any_expression& fp,
                               const interpolate::interp_options& how) {
    std::vector<double> points = runtime::points_on_host("interp", xp, 1);
    lazy<T> values = runtime::with_axis_first<T>("interp", fp, how.axis, points.size());
    const device where_values_are = runtime::device_of(fp);
    if (!std::ranges::is_sorted(points)) {
        std::vector<index_t> order(points.size());
        std::iota(order.begin(), order.end(), index_t{0});
        std::ranges::stable_sort(order, {}, [&](index_t i) { return points[static_cast<std::size_t>(i)]; });
        values = lazy<T>(take<unchecked_mode>(values, asarray(order).to(where_values_are), 0));
        std::ranges::sort(points);
    }
    const knots k = knots_at(std::move(points), where_values_are);
    const lazy<double> at = any_lazy(x.tree, x.type).as<double>();
    const array<T> known(values);
    const shape_like shape(known.shape());
    const int behind_places = shape.count() - 1;
    const auto beside_values = [&](const auto& e) { return runtime::with_axes_behind(lazy(e), behind_places); };
    lazy<T> result = runtime::pieces_at(text_of(how.kind), k, at, known, shape.values().subspan(1));
    const bool goes_on = how.fill_value.extrapolates();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto replaced = [&](const lazy<bool>& places, double by) {
        result = lazy<T>(where(beside_values(places), static_cast<T>(by), result));
    };
    if (!goes_on || how.kind == method::previous)
        replaced(at < k.host.front(), goes_on ? nan : how.fill_value.before());
    if (!goes_on || how.kind == method::next) replaced(at > k.host.back(), goes_on ? nan : how.fill_value.behind());
    replaced(isnan(at), nan);
    const int axis = checked_axis("interp", how.axis, behind_places + 1);
    return runtime::with_places_at(result, axis, at.ndim());
}

template INGOT_API lazy<double> interpolated_in_pieces(const any_expression&, const any_expression&,
                                                       const any_expression&, const interpolate::interp_options&);
template INGOT_API lazy<std::complex<double>> interpolated_in_pieces(const any_expression&, const any_expression&,
                                                                     const any_expression&,
                                                                     const interpolate::interp_options&);

}  // namespace ingot::detail
