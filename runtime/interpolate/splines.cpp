// Piecewise cubics: their slopes at the knots, which for splines solve a tridiagonal system, and their values.
//
// The system is that of the knots alone. The host factorises it by cyclic reduction: in each level a row takes the rows
// `reach` before and behind it away, so that it is coupled with those at twice that distance. Splines are diagonally
// dominant, and the couplings fall below the precision after about six levels. The device applies the levels to the
// right-hand sides of all columns, each in one kernel.
#include <ingot/interpolate/splines.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <ingot/core/composed_functions.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/rearranging.hpp>
#include <ingot/core/scans.hpp>

#include "runtime/interpolate/knots.hpp"

namespace ingot {

using detail::any_expression;
using detail::knots;
using interpolate::end_condition;
using interpolate::ppoly;
using runtime::any_lazy;
using runtime::with_axes_behind;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// A level replaces each row of a right-hand side by `middle` times it, plus `before` times the row `reach` before
/// it and `behind` times the one behind.
struct level {
    index_t reach;
    std::vector<double> before, middle, behind;
};

/// A tridiagonal system with 1 on its diagonal. In a cyclic one the first and the last row are neighbours.
struct tridiagonal {
    std::vector<double> before, behind;
    bool is_cyclic;

    std::size_t size() const { return before.size(); }
    /// The entry of the row `reach` away, 0 where there is none.
    double entry(const std::vector<double>& of, std::size_t row, index_t away) const {
        const auto n = static_cast<index_t>(size());
        index_t at = static_cast<index_t>(row) + away;
        if (is_cyclic) at = ((at % n) + n) % n;
        return at < 0 || at >= n ? 0 : of[static_cast<std::size_t>(at)];
    }
    bool is_solved() const {
        const auto vanishes = [](double v) { return std::abs(v) < 0x1p-60; };
        return std::ranges::all_of(before, vanishes) && std::ranges::all_of(behind, vanishes);
    }
    /// Takes neighbours at that distance away from the rows that `takes` names.
    template <class F>
    level reduce(index_t reach, const F& takes) {
        const std::size_t n = size();
        level l{reach, std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
        std::vector<double> next_before(n), next_behind(n);
        for (std::size_t i = 0; i < n; ++i) {
            const double a = takes(i, -reach) ? before[i] : 0, b = takes(i, reach) ? behind[i] : 0;
            const double scale = 1 / (1 - a * entry(behind, i, -reach) - b * entry(before, i, reach));
            l.before[i] = -a * scale, l.middle[i] = scale, l.behind[i] = -b * scale;
            next_before[i] = (before[i] - a - a * entry(before, i, -reach)) * scale;
            next_behind[i] = (behind[i] - b - b * entry(behind, i, reach)) * scale;
        }
        before = std::move(next_before), behind = std::move(next_behind);
        return l;
    }
};

std::vector<level> factorised(tridiagonal m) {
    std::vector<level> levels;
    const auto n = static_cast<index_t>(m.size());
    // The rows at the ends need not be dominated by their diagonal; without them the others are.
    if (!m.is_cyclic && n >= 3)
        levels.push_back(m.reduce(1, [&](std::size_t i, index_t away) {
            const auto row = static_cast<index_t>(i);
            return (row == 1 && away < 0) || (row == n - 2 && away > 0);
        }));
    for (index_t reach = 1; !m.is_solved() && (m.is_cyclic || reach < n); reach *= 2)
        levels.push_back(m.reduce(reach, [](std::size_t, index_t) { return true; }));
    return levels;
}

/// A vector along the first of `rank` axes.
array<double> column(const std::vector<double>& values, int rank, device where) {
    std::vector<index_t> shape(static_cast<std::size_t>(rank), 1);
    shape[0] = static_cast<index_t>(values.size());
    return asarray(values, shape_like(shape)).to(where);
}

/// Equations of the slopes at knots: a row's right-hand side is the sum of two differences of values, from knot `from`
/// to the next one and the one after it, with weights, and a constant.
struct slope_equations {
    tridiagonal matrix;
    std::vector<index_t> from;
    std::vector<double> first, second, constant;
};

void check_ends(const end_condition& e) {
    if (e.order < -1 || e.order > 2)
        throw error("[cubic_spline] a condition for the derivative of order " + std::to_string(e.order) +
                    "; 1 or 2 is wanted");
}

/// The equations of SciPy's CubicSpline, divided by their diagonals.
slope_equations equations_of(const std::vector<double>& x, end_condition start, end_condition end) {
    const std::size_t n = x.size();
    const bool repeats = start == interpolate::periodic;
    std::vector<double> dx(n - 1);
    for (std::size_t i = 0; i + 1 < n; ++i) dx[i] = x[i + 1] - x[i];
    const std::size_t rows = repeats ? n - 1 : n;
    slope_equations e{{std::vector<double>(rows), std::vector<double>(rows), repeats},
                      std::vector<index_t>(rows),
                      std::vector<double>(rows),
                      std::vector<double>(rows),
                      std::vector<double>(rows)};
    const auto set = [&](std::size_t row, std::size_t from, double lower, double diagonal, double upper, double first,
                         double second, double constant) {
        e.matrix.before[row] = lower / diagonal, e.matrix.behind[row] = upper / diagonal;
        e.from[row] = static_cast<index_t>(from);
        // Weights of slopes become those of differences.
        e.first[row] = first / diagonal / dx[from];
        e.second[row] = second == 0 ? 0 : second / diagonal / dx[(from + 1) % dx.size()];
        e.constant[row] = constant / diagonal;
    };
    for (std::size_t i = repeats ? 0 : 1; i < n - 1; ++i) {
        const std::size_t before = (i + dx.size() - 1) % dx.size();
        const double a = dx[before], b = dx[i];
        set(i, before, b, 2 * (a + b), a, 3 * b, 3 * a, 0);
    }
    if (repeats) return e;
    const bool is_parabola = n == 3 && start == interpolate::not_a_knot && end == interpolate::not_a_knot;
    const auto set_end = [&](std::size_t row, end_condition c, bool at_end) {
        const double one = at_end ? dx[n - 2] : dx[0], side = at_end ? -1 : 1;
        const auto put = [&](double diagonal, double beside, double near, double far, double constant) {
            const bool has_two = far != 0;  // slopes of two intervals
            const std::size_t from = !at_end ? 0 : has_two ? n - 3 : n - 2;
            const bool swapped = at_end && has_two;
            set(row, from, at_end ? beside : 0, diagonal, at_end ? 0 : beside, swapped ? far : near,
                swapped ? near : far, constant);
        };
        if (c.order == 1) return put(1, 0, 0, 0, c.value);
        if (c.order == 2) return put(2 * one, one, 3 * one, 0, -side * 0.5 * c.value * one * one);
        if (n == 2) return put(1, 0, 1, 0, 0);
        if (is_parabola) return put(1, 1, 2, 0, 0);
        const double other = at_end ? dx[n - 3] : dx[1], both = one + other;
        put(other, both, (one + 2 * both) * other / both, one * one / both, 0);
    };
    set_end(0, start, false);
    set_end(n - 1, end, true);
    return e;
}

template <class T>
array<T> slopes_of(const array<T>& y, const slope_equations& e) {
    const device where = y.device();
    const int rank = y.ndim();
    const auto at = [&](index_t by) {
        const auto period = static_cast<index_t>(y.shape()[0]) - 1;
        std::vector<index_t> knot;
        for (const index_t from : e.from)
            knot.push_back(e.matrix.is_cyclic && from + by > period ? from + by - period : std::min(from + by, period));
        return lazy<T>(take<detail::unchecked_mode>(y, asarray(knot).to(where), 0));
    };
    const auto weights = [&](const std::vector<double>& of) { return column(of, rank, where); };
    const lazy<T> middle = at(1);
    array<T> d(weights(e.first) * (middle - at(0)) + weights(e.second) * (at(2) - middle) + weights(e.constant));
    for (const level& l : factorised(e.matrix)) {
        if (d.size() == 0) break;
        d = array<T>(weights(l.middle) * d + weights(l.before) * roll(d, l.reach, 0) +
                     weights(l.behind) * roll(d, -l.reach, 0));
    }
    if (e.matrix.is_cyclic) d = array<T>(concatenate({lazy<T>(d), lazy<T>(d(slice(0, 1)))}, 0));
    return d;
}

/// Points that are interpolated: knots, and values with the axis of the knots first.
template <class T>
struct points {
    knots x;
    array<T> y;
    int axis;

    points(const char* operation, const any_expression& given_x, const any_expression& given_y, index_t along) {
        std::vector<double> host = runtime::points_on_host(operation, given_x, 2);
        if (std::ranges::adjacent_find(host, [](double a, double b) { return !(a < b); }) != host.end() ||
            !std::isfinite(host.front()) || !std::isfinite(host.back()))
            throw error("[" + std::string(operation) + "] points that do not increase; finite ones that do are wanted");
        y = array<T>(runtime::with_axis_first<T>(operation, given_y, along, host.size()));
        axis = detail::checked_axis(operation, along, y.ndim());
        x = runtime::knots_at(std::move(host), y.device());
    }
    /// The distances of knots.
    array<double> steps() const {
        std::vector<double> d;
        for (std::size_t i = 0; i + 1 < x.host.size(); ++i) d.push_back(x.host[i + 1] - x.host[i]);
        return column(d, y.ndim(), y.device());
    }
    /// The slopes of the lines between points.
    lazy<T> slopes() const { return lazy<T>((y(slice(1, none)) - y(slice(0, -1))) / steps()); }
    /// The cubics with these slopes at the knots.
    ppoly<T> with_slopes(const array<T>& s, const interpolate::extrapolation& e) const {
        const array<double> dx = steps();
        const lazy<T> slope = slopes(), left(s(slice(0, -1)));
        const lazy<T> t = (left + s(slice(1, none)) - slope * 2) / dx;
        const array<T> c(stack({lazy<T>(t / dx), lazy<T>((slope - left) / dx - t), left, lazy<T>(y(slice(0, -1)))}, 1));
        return {x, c, axis, e};
    }
};

/// The falling factorial k (k - 1) ... of n factors.
double falling(int k, int n) {
    double product = 1;
    for (int j = 0; j < n; ++j) product *= k - j;
    return product;
}

/// The derivative of order nu of polynomials of this degree, by Horner's rule.
const runtime::piece_kernel& polynomial(int degree, int nu) {
    static std::mutex one_at_a_time;
    static std::map<std::pair<int, int>, runtime::piece_kernel> texts;
    const std::lock_guard lock(one_at_a_time);
    const auto known = texts.find({degree, nu});
    if (known != texts.end()) return known->second;
    std::string text =
        "const double u = v - a[k];\nconst int64 at = k * " + std::to_string(degree + 1) + " * columns + column;\n";
    for (int j = 0; j + nu <= degree; ++j) {
        const std::string term = "c[at + " + std::to_string(j) + " * columns]" +
                                 (nu == 0 ? "" : " * T(" + std::to_string(falling(degree - j, nu)) + ")");
        text += (j == 0 ? "y = " : "y = y * T(u) + ") + term + ";\n";
    }
    if (nu > degree) text += "y = c[at] * T(0.0);\n";
    return texts.try_emplace({degree, nu}, text, "polynomial").first->second;
}

/// The coefficient of each power, from the highest on.
template <class T>
std::vector<lazy<T>> powers_of(const array<T>& coefficients) {
    std::vector<lazy<T>> c;
    for (index_t j = 0; j < coefficients.shape()[1]; ++j) c.emplace_back(coefficients(all, j));
    return c;
}

}  // namespace

namespace interpolate {

extrapolation::extrapolation(end_condition which) : goes_on_(true), repeats_(true) {
    if (which != periodic)
        throw error(
            "[extrapolation] an end condition that is not periodic; true, false or periodic "
            "is wanted");
}

template <class T>
lazy<T> ppoly<T>::at(const any_expression& given, int nu, const extrapolation& beyond) const {
    if (nu < 0) throw error("[ppoly] a derivative of order " + std::to_string(nu) + "; none below 0 is wanted");
    const double first = knots_.host.front(), last = knots_.host.back();
    lazy<double> x = any_lazy(given.tree, given.type).as<double>();
    if (beyond.repeats()) x = first + (x - first) % (last - first);
    const int trailing = coefficients_.ndim() - 2;
    const int degree = static_cast<int>(coefficients_.shape()[1]) - 1;
    const shape_like shape(coefficients_.shape());
    lazy<T> sum = runtime::pieces_at(polynomial(degree, nu), knots_, x, coefficients_, shape.values().subspan(2));
    const auto unknown = [&](const lazy<bool>& places) {
        sum = lazy<T>(where(with_axes_behind(places, trailing), static_cast<T>(nan_value), sum));
    };
    if (!beyond.goes_on()) unknown(x < first || x > last);
    if (nu >= degree) unknown(isnan(x));
    return runtime::with_places_at(sum, axis_, x.ndim());
}

template <class T>
ppoly<T> ppoly<T>::derivative(int nu) const {
    if (nu <= 0) return nu == 0 ? *this : antiderivative(-nu);
    std::vector<lazy<T>> c = powers_of(coefficients_);
    const int degree = static_cast<int>(c.size()) - 1;
    std::vector<lazy<T>> kept;
    for (int j = 0; j + nu <= degree; ++j) kept.emplace_back(c[static_cast<std::size_t>(j)] * falling(degree - j, nu));
    if (kept.empty()) kept.emplace_back(c[0] * T(0));
    return {knots_, array<T>(stack(kept, 1)), axis_, extrapolate_};
}

template <class T>
ppoly<T> ppoly<T>::antiderivative(int nu) const {
    if (nu <= 0) return nu == 0 ? *this : derivative(-nu);
    std::vector<lazy<T>> c = powers_of(coefficients_);
    const int degree = static_cast<int>(c.size());  // the result's
    std::vector<double> widths;
    for (std::size_t i = 0; i + 1 < knots_.host.size(); ++i) widths.push_back(knots_.host[i + 1] - knots_.host[i]);
    const array<double> width = column(widths, coefficients_.ndim() - 1, coefficients_.device());
    std::optional<lazy<T>> whole;  // the integral over an interval
    for (int j = 0; j < degree; ++j) {
        lazy<T>& one = c[static_cast<std::size_t>(j)];
        one = one / static_cast<double>(degree - j);
        whole = whole ? lazy<T>((*whole + one) * width) : lazy<T>(one * width);
    }
    c.emplace_back(cumsum(*whole, 0, exclusive));
    // The antiderivative of a function that repeats does not repeat. As SciPy's it has no values beyond the knots.
    const extrapolation beyond = extrapolate_.repeats() ? extrapolation(false) : extrapolate_;
    const ppoly once{knots_, array<T>(stack(c, 1)), axis_, beyond};
    return nu == 1 ? once : once.antiderivative(nu - 1);
}

template <class T>
lazy<T> ppoly<T>::integrate(double a, double b, const std::optional<extrapolation>& given) const {
    const extrapolation beyond = given ? *given : extrapolate_;
    const ppoly whole = antiderivative();
    const auto from_to = [&](double low, double high) {
        const extrapolation how = beyond.repeats() ? extrapolation(true) : beyond;
        return lazy<T>(whole(high, 0, how) - whole(low, 0, how));
    };
    if (!beyond.repeats()) return from_to(a, b);
    const double first = knots_.host.front(), last = knots_.host.back(), period = last - first;
    const double sign = b < a ? -1 : 1;
    if (b < a) std::swap(a, b);
    const double turns = std::floor((b - a) / period), rest = (b - a) - turns * period;
    a = first + ((a - first) - period * std::floor((a - first) / period));
    lazy<T> sum =
        a + rest <= last ? from_to(a, a + rest) : lazy<T>(from_to(a, last) + from_to(first, first + (a + rest - last)));
    if (turns > 0) sum = sum + from_to(first, last) * turns;
    return sum * sign;
}

template <class T>
lazy<T> ppoly<T>::c() const {
    return lazy<T>(moveaxis(coefficients_, 0, 1));
}

template class ppoly<double>;
template class ppoly<std::complex<double>>;

}  // namespace interpolate

namespace detail {

template <class T>
ppoly<T> cubic_spline_through(const any_expression& x, const any_expression& y,
                              const interpolate::spline_options& how) {
    const end_condition start = how.bc_type.first(), end = how.bc_type.last();
    check_ends(start);
    check_ends(end);
    const bool repeats = start == interpolate::periodic;
    if (repeats != (end == interpolate::periodic))
        throw error("[cubic_spline] one end that is periodic; both are wanted, or none");
    const points<T> p("cubic_spline", x, y, how.axis);
    if (repeats && p.y.size() != 0) {
        const lazy<T> first(p.y(0)), last(p.y(-1));
        if (any(abs(first - last) > 1e-15 + 1e-15 * abs(last)).item())
            throw error("[cubic_spline] values at periodic ends that differ; equal ones are wanted");
    }
    return p.with_slopes(slopes_of(p.y, equations_of(p.x.host, start, end)),
                         how.extrapolate ? *how.extrapolate
                         : repeats       ? interpolate::extrapolation(interpolate::periodic)
                                         : interpolate::extrapolation(true));
}

ppoly<double> pchip_through(const any_expression& x, const any_expression& y, const interpolate::pchip_options& how) {
    const points<double> p("pchip", x, y, how.axis);
    const lazy<double> m = p.slopes().kept();
    if (p.x.host.size() == 2) return p.with_slopes(array<double>(concatenate({m, m}, 0)), how.extrapolate);
    const array<double> h = p.steps();
    const lazy<double> h0(h(slice(0, -1))), h1(h(slice(1, none))), m0(m(slice(0, -1))), m1(m(slice(1, none)));
    const lazy<double> w1 = h1 * 2 + h0, w2 = h1 + h0 * 2;
    const lazy<bool> is_level = m0 == 0 || m1 == 0 || (m0 > 0) != (m1 > 0);
    const lazy<double> inner = where(is_level, 0.0, (w1 + w2) / (w1 / m0 + w2 / m1));
    // The three-point formula at an end, made to keep the shape.
    const auto at_end = [&](index_t near, index_t far) {
        const auto one = [](const auto& e, index_t i) { return lazy<double>(expand_dims(e(i), 0)); };
        const lazy<double> ha = one(h, near), hb = one(h, far), ma = one(m, near), mb = one(m, far);
        const lazy<double> d = ((ha * 2 + hb) * ma - ha * mb) / (ha + hb);
        return lazy<double>(
            where(sign(d) != sign(ma), 0.0, where(sign(ma) != sign(mb) && abs(d) > abs(ma) * 3, ma * 3, d)));
    };
    return p.with_slopes(array<double>(concatenate({at_end(0, 1), inner, at_end(-1, -2)}, 0)), how.extrapolate);
}

ppoly<double> akima_through(const any_expression& x, const any_expression& y, const interpolate::akima_options& how) {
    const points<double> p("akima", x, y, how.axis);
    const auto n = static_cast<index_t>(p.x.host.size());
    const lazy<double> between = p.slopes().kept();
    if (n == 2) return p.with_slopes(array<double>(concatenate({between, between}, 0)), how.extrapolate);
    const auto one = [&](index_t i) { return lazy<double>(expand_dims(between(i), 0)); };
    const lazy<double> first = one(0) * 2 - one(1), last = one(-1) * 2 - one(-2);
    const array<double> m(
        concatenate({lazy<double>(first * 2 - one(0)), first, between, last, lazy<double>(last * 2 - one(-1))}, 0));
    const auto from = [&](index_t i) { return lazy<double>(m(slice(i, i + n))); };
    const auto change = [&](index_t i) {  // the slope behind m[i] less the one before
        const lazy<double> d = abs(from(i + 1) - from(i));
        return how.method == interpolate::akima_method::makima ? lazy<double>(d + abs(from(i + 1) + from(i)) * 0.5) : d;
    };
    const lazy<double> before = change(0), behind = change(2), both = before + behind;
    const array<double> s(
        where(both > max(both) * 1e-9, (behind * from(1) + before * from(2)) / both, (from(3) + from(0)) * 0.5));
    return p.with_slopes(s, how.extrapolate);
}

template <class T>
ppoly<T> hermite_through(const any_expression& x, const any_expression& y, const any_expression& dydx, index_t axis,
                         const interpolate::extrapolation& beyond) {
    const points<T> p("cubic_hermite_spline", x, y, axis);
    if (!same_extents(y.tree->extents(), dydx.tree->extents()))
        throw shape_error("[cubic_hermite_spline] slopes of shape " + to_text(dydx.tree->extents().span()) +
                          " for values of shape " + to_text(y.tree->extents().span()) + "; equal ones are wanted");
    return p.with_slopes(array<T>(runtime::with_axis_first<T>("cubic_hermite_spline", dydx, axis, p.x.host.size())),
                         beyond);
}

#define INGOT_SPLINES(T)                                                                                             \
    template INGOT_API ppoly<T> cubic_spline_through(const any_expression&, const any_expression&,                   \
                                                     const interpolate::spline_options&);                            \
    template INGOT_API ppoly<T> hermite_through(const any_expression&, const any_expression&, const any_expression&, \
                                                index_t, const interpolate::extrapolation&);
INGOT_SPLINES(double)
INGOT_SPLINES(std::complex<double>)
#undef INGOT_SPLINES

}  // namespace detail
}  // namespace ingot
