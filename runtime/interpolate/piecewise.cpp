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

/// The point whose value a place has.
lazy<index_t> chosen_point(const lazy<double>& x, const knots& k, const lazy<index_t>& before,
                           const lazy<index_t>& behind, method kind) {
    const lazy<double> low = knots_at(k, before), high = knots_at(k, behind);
    const lazy<double> middle = low / 2 + high / 2;
    return where(kind == method::previous  ? lazy<bool>(x < high)
                 : kind == method::next    ? lazy<bool>(x <= low)
                 : kind == method::nearest ? lazy<bool>(x <= middle)
                                           : lazy<bool>(x < middle),
                 before, behind);
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
        values = lazy<T>(array<T>(take<unchecked_mode>(values, asarray(order).to(where_values_are), 0)));
        std::ranges::sort(points);
    } else {
        values = values.kept();
    }
    const knots k = knots_at(std::move(points), where_values_are);
    const lazy<double> at = any_lazy(x.tree, x.type).as<double>();
    const int behind_places = values.ndim() - 1;
    const auto last = static_cast<index_t>(k.host.size()) - 1;
    const lazy<index_t> before = runtime::interval_of(k, at), behind = minimum(before + index_t{1}, last);
    const auto values_at = [&](const lazy<index_t>& i) { return runtime::elements_at(values, i).template as<T>(); };
    const auto beside_values = [&](const auto& e) { return runtime::with_axes_behind(lazy(e), behind_places); };
    lazy<T> result;
    if (how.kind == method::linear && last > 0) {
        const lazy<double> low = knots_at(k, before), high = knots_at(k, behind);
        const lazy<T> at_low = values_at(before), rise = values_at(behind) - at_low;
        result = at_low + rise / beside_values(high - low) * beside_values(at - low);
    } else {
        result = values_at(chosen_point(at, k, before, behind, how.kind));
    }
    const bool goes_on = how.fill_value.extrapolates();
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto replaced = [&](const lazy<bool>& places, double by) {
        result = lazy<T>(where(beside_values(places), static_cast<T>(by), result));
    };
    if (!goes_on || how.kind == method::previous)
        replaced(at < k.host.front(), goes_on ? nan : how.fill_value.before());
    if (!goes_on || how.kind == method::next) replaced(at > k.host.back(), goes_on ? nan : how.fill_value.behind());
    if (how.kind != method::linear || last == 0) replaced(isnan(at), nan);
    const int axis = checked_axis("interp", how.axis, behind_places + 1);
    return runtime::with_places_at(result, axis, at.ndim());
}

template INGOT_API lazy<double> interpolated_in_pieces(const any_expression&, const any_expression&,
                                                       const any_expression&, const interpolate::interp_options&);
template INGOT_API lazy<std::complex<double>> interpolated_in_pieces(const any_expression&, const any_expression&,
                                                                     const any_expression&,
                                                                     const interpolate::interp_options&);

}  // namespace ingot::detail
