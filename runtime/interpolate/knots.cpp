#include "runtime/interpolate/knots.hpp"

#include <cmath>

#include <ingot/core/creation.hpp>
#include <ingot/kernels/user_kernels.hpp>
#include <ingot/sorting/searching.hpp>

namespace ingot::runtime {

std::vector<double> points_on_host(const char* operation, const any_expression& x, std::size_t least) {
    const detail::extents_ref shape = x.tree->extents();
    if (shape.rank != 1 || shape.data[0] < static_cast<index_t>(least))
        throw shape_error("[" + std::string(operation) + "] points of shape " + detail::to_text(shape.span()) +
                          "; a vector of at least " + std::to_string(least) + " is wanted");
    return any_lazy(x.tree, x.type).as<double>().to_host();
}

knots knots_at(std::vector<double> increasing, ingot::device where) {
    knots k;
    const double first = increasing.front(),
                 step =
                     (increasing.back() - first) / static_cast<double>(std::max<std::size_t>(increasing.size(), 2) - 1);
    bool is_even = step > 0 && std::isfinite(1 / step);
    for (std::size_t i = 0; i < increasing.size() && is_even; ++i)
        is_even = std::abs(increasing[i] - first - static_cast<double>(i) * step) < step / 4;
    k.step = is_even ? step : 0;
    k.values = asarray(increasing).to(where);
    k.host = std::move(increasing);
    return k;
}

namespace {

using interval_kernel = elementwise_kernel<"double v, raw double a, double step", "int64 k">;
/// Knots lie within a quarter of a step from equally spaced ones, so that the computed interval is at most one off. It
/// is a text, for a gather of a knot would be an index of further gathers, of which an expression has room for few.
const interval_kernel& even_interval() {
    static const interval_kernel text(R"(
const int64 last = a.size() - 2;
const double steps = (v - a[0]) / step;
k = steps >= 0 ? steps < last ? static_cast<int64>(steps) : last : 0;
if (k > 0 && v < a[k]) k -= 1;
if (k < last && v >= a[k + 1]) k += 1;)",
                                      "interval");
    return text;
}

}  // namespace

lazy<index_t> interval_of(const knots& k, const lazy<double>& x) {
    const auto last = static_cast<index_t>(k.host.size()) - 2;
    if (last <= 0) return lazy<index_t>(astype<index_t>(x) * index_t{0});
    if (k.step != 0) return lazy<index_t>(even_interval()(x, k.values, k.step));
    const lazy<index_t> count(detail::search_text(false, true)(x, k.values));
    return lazy<index_t>(minimum(maximum(count - index_t{1}, index_t{0}), last));
}

}  // namespace ingot::runtime
