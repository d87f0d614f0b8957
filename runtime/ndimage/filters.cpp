// Correlations as stencils: a weight is a scalar of the expression, and an element some steps away a view. Many weights
// are a fold of windows.
#include <ingot/ndimage/filters.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <ingot/core/creation.hpp>

#include "runtime/ndimage/images.hpp"
#include "runtime/system/number_text.hpp"

namespace ingot::detail {

using ndimage::border;
using ndimage::filter_options;
using ndimage::gaussian_options;
using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::for_axes;
using runtime::reach;

namespace {

/// The most weights that are scalars of one expression.
constexpr std::size_t most_scalars = 81;

any_lazy dot(const any_lazy& windows, const std::vector<double>& weights, std::span<const index_t> shape) {
    const int bound = static_cast<int>(shape.size()), rank = windows.extents().rank;
    std::vector<index_t> last(shape.size());
    std::iota(last.begin(), last.end(), rank - bound);
    const axes over(last);
    const shape_like extents(shape);
    const with_device there(runtime::device_of(windows));
    const bool single = windows.type() == dtype::f4 || windows.type() == dtype::c8;
    const any_lazy factors = single ? any_lazy(asarray(std::vector<float>(weights.begin(), weights.end()), extents))
                                    : any_lazy(asarray(weights, extents));
    return folded(fold::sum, "correlate", windows * factors, &over, false);
}

/// Adds weight * e to a sum, rounded once where the device does so in one instruction.
void add_weighted(std::optional<any_lazy>& sum, const any_lazy& e, double weight) {
    const bool is_fused = !runtime::device_of(e).is_host() && (e.type() == dtype::f4 || e.type() == dtype::f8);
    if (!sum)
        sum = weight == 1 ? e : e * weight;
    else if (weight == 1)
        sum = *sum + e;
    else if (is_fused)
        sum = apply(op::fma, {e, runtime::any_lazy(weight), *sum});
    else
        sum = *sum + e * weight;
}

enum class symmetry : std::uint8_t { none, even, odd };

symmetry symmetry_of(const std::vector<double>& w) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const std::size_t n = w.size(), middle = n / 2;
    if (n % 2 == 0 || n == 1) return symmetry::none;
    bool even = true, odd = true;
    for (std::size_t k = 1; k <= middle; ++k) {
        even = even && std::abs(w[middle + k] - w[middle - k]) <= epsilon;
        odd = odd && std::abs(w[middle + k] + w[middle - k]) <= epsilon;
    }
    return even ? symmetry::even : odd ? symmetry::odd : symmetry::none;
}

/// The weighted sum of n elements along an axis of p, which has n - 1 more than the result. Elements at equal distances
/// are added first where their weights are equal, in SciPy's order.
any_lazy weighted(const any_lazy& p, int axis, const std::vector<double>& w) {
    const std::size_t n = w.size(), middle = n / 2;
    const auto size = static_cast<index_t>(n);
    if (n > most_scalars) return dot(windows_along(p.kept(), axis, size), w, {&size, 1});
    const index_t extent = p.extents().data[axis] - size + 1;
    const auto tap = [&](std::size_t k) { return part_of(p, axis, static_cast<index_t>(k), extent); };
    const symmetry how = symmetry_of(w);
    std::optional<any_lazy> sum;
    const auto add = [&](const any_lazy& e, double weight) {
        if (weight != 0) add_weighted(sum, e, weight);
    };
    if (how == symmetry::none) {
        for (std::size_t k = 0; k < n; ++k) add(tap(k), w[k]);
    } else {
        add(tap(middle), w[middle]);
        for (std::size_t k = 0; k < middle; ++k)
            if (w[k] != 0) add(how == symmetry::even ? tap(k) + tap(n - 1 - k) : tap(k) - tap(n - 1 - k), w[k]);
    }
    return sum ? *sum : tap(middle) * 0.0;
}

/// Weights along one axis.
struct line {
    int axis;
    std::vector<double> weights;
    reach around;
    double divisor = 1;  // of the sum
};
line line_of(const char* operation, int axis, std::vector<double> weights, index_t origin) {
    const reach r = runtime::reach_of(operation, static_cast<index_t>(weights.size()), origin);
    return {axis, std::move(weights), r};
}

any_lazy along(const any_lazy& p, const line& l, dtype stored) {
    any_lazy sum = weighted(p, l.axis, l.weights);
    if (l.divisor != 1) sum = sum / l.divisor;
    return stored_as(sum, stored);
}

/// Lines of weights one after the other; what lies between is of the dtype `stored`. Few weights of all lines together
/// are one expression over x with all its borders, which is the same unless a border has a constant that a line
/// changes.
any_lazy along_lines(const any_lazy& x, const std::vector<line>& lines, const std::vector<border>& borders, double cval,
                     dtype stored) {
    const dtype computed = runtime::weighted_dtype(stored);
    std::size_t together = 1;
    bool constant = false;
    for (const line& l : lines) {
        together = std::min(together * std::min(l.weights.size(), most_scalars), most_scalars);
        const border b = borders[static_cast<std::size_t>(l.axis)];
        constant = constant || b == border::constant || b == border::grid_constant;
    }
    std::vector<reach> reaches(borders.size());
    if (!runtime::fits_one_expression(together, lines.size()) || (constant && cval != 0)) {
        any_lazy result = x;
        for (const line& l : lines) {
            if (&l != lines.data()) result = result.kept();
            const auto axis = static_cast<std::size_t>(l.axis);
            reaches[axis] = l.around;
            result =
                along(bordered_for(l.weights.size(), as_type(result, computed), reaches, borders, cval), l, stored);
            reaches[axis] = {};
        }
        return result;
    }
    for (const line& l : lines) reaches[static_cast<std::size_t>(l.axis)] = l.around;
    any_lazy result = bordered_for(together, as_type(x, computed), reaches, borders, cval);
    for (const line& l : lines) result = along(as_type(result, computed), l, stored);
    return result;
}

any_lazy operand_of(const image& x) { return runtime::read_often(x); }
bool is_empty(const any_lazy& x) { return x.extents().size() == 0; }

/// The Gaussian's weights as SciPy has them, or its derivative's, for a correlation.
std::vector<double> gaussian_weights(double sigma, index_t order, index_t radius) {
    std::vector<double> w;
    double sum = 0;
    for (index_t i = -radius; i <= radius; ++i) {
        w.push_back(std::exp(-0.5 / (sigma * sigma) * static_cast<double>(i * i)));
        sum += w.back();
    }
    // The derivative of p(x) g(x) is (p'(x) - x p(x) / sigma^2) g(x).
    std::vector<double> p(static_cast<std::size_t>(order) + 1);
    p[0] = 1;
    for (index_t d = 0; d < order; ++d) {
        std::vector<double> next(p.size());
        for (std::size_t k = 0; k < p.size(); ++k) {
            if (k > 0) next[k - 1] += static_cast<double>(k) * p[k];
            if (k + 1 < p.size()) next[k + 1] -= p[k] / (sigma * sigma);
        }
        p = next;
    }
    for (index_t i = -radius; i <= radius; ++i) {
        double factor = 0;
        for (std::size_t k = p.size(); k-- > 0;) factor = factor * static_cast<double>(i) + p[k];
        w[static_cast<std::size_t>(i + radius)] *= (order == 0 ? 1 : factor) / sum;
    }
    std::ranges::reverse(w);
    return w;
}

line gaussian_line(const char* operation, int axis, double sigma, index_t order, const gaussian_options& how,
                   std::optional<index_t> radius) {
    const auto refuse = [&](const std::string& why) { throw shape_error("[" + std::string(operation) + "] " + why); };
    if (!(sigma > 0)) refuse("deviation " + runtime::number_text(sigma) + "; a positive one is wanted");
    if (order < 0) refuse("order " + std::to_string(order) + "; at least 0 is wanted");
    if (radius && *radius < 0) refuse("radius " + std::to_string(*radius) + "; at least 0 is wanted");
    const double reached = how.truncate * sigma + 0.5;
    if (!(reached >= 0 && reached < 1e9))
        refuse("deviation " + runtime::number_text(sigma) + " and truncate " + runtime::number_text(how.truncate) +
               " give a radius of " + runtime::number_text(std::floor(reached)) + "; 0 to 10^9 are possible");
    return line_of(operation, axis, gaussian_weights(sigma, order, radius.value_or(static_cast<index_t>(reached))), 0);
}

any_lazy blurred_along_all(const char* operation, const any_lazy& x, const std::vector<double>& sigmas,
                           const std::vector<index_t>& orders, const gaussian_options& how) {
    const int rank = x.extents().rank;
    std::vector<index_t> radii;
    if (how.radius) radii = for_axes(operation, "radius", *how.radius, rank);
    std::vector<line> lines;
    for (std::size_t j = 0; j < sigmas.size(); ++j)
        if (sigmas[j] > 1e-15 || sigmas[j] < 0)
            lines.push_back(gaussian_line(operation, static_cast<int>(j), sigmas[j], orders[j], how,
                                          how.radius ? std::optional(radii[j]) : std::nullopt));
    const std::vector<border> borders = for_axes(operation, "mode", how.mode, rank);
    return is_empty(x) ? x : along_lines(x, lines, borders, how.cval, x.type());
}

}  // namespace

tree_ref correlated_along(const char* operation, const image& e, const std::vector<double>& weights, index_t axis,
                          const filter_options& how, bool reversed) {
    const any_lazy x = operand_of(e);
    const int along_axis = checked_axis(operation, axis, x.extents().rank);
    line l = line_of(operation, along_axis, weights, runtime::for_one_axis(operation, "origin", how.origin));
    if (reversed) {
        std::ranges::reverse(l.weights);
        l.around = runtime::reversed(l.around);
    }
    const border b = runtime::for_one_axis(operation, "mode", how.mode);
    if (is_empty(x)) return x.tree();
    return along_lines(x, {l}, std::vector<border>(static_cast<std::size_t>(x.extents().rank), b), how.cval, x.type())
        .tree();
}

tree_ref correlated_around(const char* operation, const image& e, const ndimage::neighbourhood& given,
                           const filter_options& how, bool is_reversed) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank;
    check_axes(operation, "weights", given, x);
    const ndimage::neighbourhood n = is_reversed ? runtime::reversed(given) : given;
    const std::vector<border> borders = for_axes(operation, "mode", how.mode, rank);
    const std::vector<index_t> origins = for_axes(operation, "origin", how.origin, rank);
    std::vector<reach> reaches;
    for (std::size_t j = 0; j < origins.size(); ++j) {
        const reach r = runtime::reach_of(operation, n.shape()[j], origins[j]);
        reaches.push_back(is_reversed ? runtime::reversed(r) : r);
    }
    if (is_empty(x)) return x.tree();
    const runtime::places taps = runtime::places_of(n);
    const any_lazy p =
        bordered_for(taps.at.size(), as_type(x, runtime::weighted_dtype(x.type())), reaches, borders, how.cval);
    if (taps.at.size() > most_scalars)
        return stored_as(dot(windows_around(p.kept(), n.shape()), n.values(), n.shape()), x.type()).tree();
    std::optional<any_lazy> sum;
    for (std::size_t k = 0; k < taps.at.size(); ++k) {
        add_weighted(sum, part_of(p, taps.at[k], x.extents().span()), taps.values[k]);
    }
    return stored_as(sum ? *sum : as_type(x, runtime::weighted_dtype(x.type())) * 0.0, x.type()).tree();
}

tree_ref blurred(const char* operation, const image& e, const ndimage::per_axis<double>& sigma, const index_t* axis,
                 const gaussian_options& how) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank;
    if (axis == nullptr)
        return blurred_along_all(operation, x, for_axes(operation, "sigma", sigma, rank),
                                 for_axes(operation, "order", how.order, rank), how)
            .tree();
    const int along_axis = checked_axis(operation, *axis, rank);
    const line l = gaussian_line(
        operation, along_axis, runtime::for_one_axis(operation, "sigma", sigma),
        runtime::for_one_axis(operation, "order", how.order), how,
        how.radius ? std::optional(runtime::for_one_axis(operation, "radius", *how.radius)) : std::nullopt);
    const border b = runtime::for_one_axis(operation, "mode", how.mode);
    if (is_empty(x)) return x.tree();
    return along_lines(x, {l}, std::vector<border>(static_cast<std::size_t>(rank), b), how.cval, x.type()).tree();
}

tree_ref averaged(const char* operation, const image& e, const ndimage::per_axis<index_t>& size, const index_t* axis,
                  const filter_options& how) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank, used = axis ? 1 : rank;
    const int first = axis ? checked_axis(operation, *axis, rank) : 0;
    const std::vector<index_t> sizes = for_axes(operation, "size", size, used);
    const std::vector<index_t> origins = for_axes(operation, "origin", how.origin, used);
    const std::vector<border> given = for_axes(operation, "mode", how.mode, used);
    std::vector<border> borders(static_cast<std::size_t>(rank));
    std::vector<line> lines;
    for (int k = 0; k < used; ++k) {
        const auto i = static_cast<std::size_t>(k);
        borders[static_cast<std::size_t>(first + k)] = given[i];
        const reach r = runtime::reach_of(operation, sizes[i], origins[i]);
        if (sizes[i] > 1)
            lines.push_back({first + k, std::vector<double>(static_cast<std::size_t>(sizes[i]), 1), r,
                             static_cast<double>(sizes[i])});
    }
    return is_empty(x) ? x.tree() : along_lines(x, lines, borders, how.cval, x.type()).tree();
}

tree_ref sloped(const char* operation, const image& e, index_t axis, double outer, double middle,
                const filter_options& how) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank, along_axis = checked_axis(operation, axis, rank);
    std::vector<line> lines{line_of(operation, along_axis, {-1, 0, 1}, 0)};
    for (int j = 0; j < rank; ++j)
        if (j != along_axis) lines.push_back(line_of(operation, j, {outer, middle, outer}, 0));
    const std::vector<border> borders = for_axes(operation, "mode", how.mode, rank);
    return is_empty(x) ? x.tree() : along_lines(x, lines, borders, how.cval, x.type()).tree();
}

tree_ref curved(const char* operation, const image& e, const filter_options& how) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank;
    const std::vector<border> borders = for_axes(operation, "mode", how.mode, rank);
    if (is_empty(x) || rank == 0) return x.tree();
    std::optional<any_lazy> sum;
    for (int j = 0; j < rank; ++j) {
        const any_lazy second = along_lines(x, {line_of(operation, j, {1, -2, 1}, 0)}, borders, how.cval, x.type());
        sum = sum ? *sum + second : second;
    }
    return as_type(*sum, x.type()).tree();
}

tree_ref blurred_curvature(const char* operation, const image& e, const ndimage::per_axis<double>& sigma,
                           const gaussian_options& how) {
    const any_lazy x = operand_of(e);
    const int rank = x.extents().rank;
    const std::vector<double> sigmas = for_axes(operation, "sigma", sigma, rank);
    std::optional<any_lazy> sum;
    for (std::size_t j = 0; j < sigmas.size(); ++j) {
        std::vector<index_t> orders(sigmas.size());
        orders[j] = 2;
        const any_lazy second = blurred_along_all(operation, x, sigmas, orders, how);
        sum = sum ? *sum + second : second;
    }
    return sum ? as_type(*sum, x.type()).tree() : x.tree();
}

}  // namespace ingot::detail
