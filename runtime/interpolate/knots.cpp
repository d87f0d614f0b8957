#include "runtime/interpolate/knots.hpp"

#include <array>
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

any_lazy slices_at(const any_lazy& e, const any_lazy& indices) {
    using namespace detail;
    view_room source, index;
    view_gathered(source, index, "take", e.extents(), indices.extents(), 0);
    const any_lazy x = e.viewed(source), at = indices.viewed(index);
    const auto operand_of = [](const any_lazy& of) {
        operand o;
        o.kind = operand_kind::lazy;
        o.type = of.type();
        o.tree = of.tree().get();
        return o;
    };
    const std::array<word, 3> program{
        make_word(word_kind::lazy, x.type()), make_word(word_kind::lazy, at.type()),
        make_word(word_kind::gather, x.type(), static_cast<std::uint32_t>(unchecked_mode))};
    const std::array<operand, 2> operands{operand_of(x), operand_of(at)};
    const std::array<word, 1> attributes{1};
    return {make_tree(program, operands, attributes), x.type()};
}

}  // namespace ingot::runtime
