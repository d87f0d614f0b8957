// The kernel texts of searches, and checks of their arrays.
#include <ingot/sorting/searching.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>

#include <ingot/core/complex_parts.hpp>
#include <ingot/core/error.hpp>
#include <ingot/interop/exchange.hpp>

#include "runtime/kernels/library_texts.hpp"

namespace ingot::detail {

namespace {

search_kernel search(runtime::library_text which) {
    return search_kernel(runtime::statements_of(which), "searchsorted");
}

}  // namespace

const search_kernel& search_text(bool descending, bool right) {
    using enum runtime::library_text;
    static const search_kernel up_left = search(search_up_left), up_right = search(search_up_right),
                               down_left = search(search_down_left), down_right = search(search_down_right);
    return descending ? right ? down_right : down_left : right ? up_right : up_left;
}

void check_vector(const char* operation, std::span<const index_t> shape) {
    if (shape.size() != 1)
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape) + ": a vector is wanted");
}

void throw_unordered(const char* operation) {
    throw error("[" + std::string(operation) + "] bins that rise and fall: they increase or decrease");
}

void throw_other_size(const char* operation, const char* what, std::span<const index_t> given,
                      std::span<const index_t> wanted) {
    throw shape_error("[" + std::string(operation) + "] " + what + " of shape " + to_text(given) + ", wanted " +
                      to_text(wanted));
}

// ---- between points --------------------------------------------------------------------------------------------

namespace {

/// `given`: 1 if there is a left value, plus 2 if there is a right one. Period 0 means none.
using interp_kernel = elementwise_kernel<
    "double x, raw double xp, raw double fp, raw double pieces, int given, double left, double right, "
    "double period",
    "double y">;

void check_points(std::span<const index_t> xp, std::span<const index_t> fp) {
    if (xp.size() != 1 || fp.size() != 1 || xp[0] != fp[0] || xp[0] == 0)
        throw shape_error("[interp] points of shapes " + to_text(xp) + " and " + to_text(fp) +
                          ": two vectors of one length with elements are wanted");
}

/// Takes the points modulo a period and sorts them, with the last one repeated before them and the first one behind.
/// Returns the points' indices.
std::vector<index_t> repeat_points(std::vector<double>& xp, double period) {
    for (double& x : xp) {
        x = std::fmod(x, period);
        if (x < 0) x += period;
    }
    std::vector<index_t> order(xp.size());
    std::iota(order.begin(), order.end(), index_t{0});
    const auto before = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
    const auto at = [&](index_t i) { return xp[static_cast<std::size_t>(i)]; };
    std::ranges::stable_sort(order, [&](index_t a, index_t b) { return before(at(a), at(b)); });
    const index_t first = order.front(), last = order.back();
    order.insert(order.begin(), last);
    order.push_back(first);
    std::vector<double> all;
    for (const index_t i : order) all.push_back(at(i));
    all.front() -= period;
    all.back() += period;
    xp = std::move(all);
    return order;
}

/// The points as `interp` reads them where there are many places (library_texts.cpp), else empty: the points' places
/// and values, the slopes, and how many points there are in a unit. Points are evenly spaced where each is within 2^-13
/// of its number.
lazy<double> pieces_of(const array<double>& xp, const lazy<double>& fp, index_t places) {
    constexpr index_t many = index_t{1} << 18;  // worth a few small kernels
    const index_t n = xp.size();
    if (n < 2 || places < many || n > std::numeric_limits<std::int32_t>::max() / 3 || places < n)
        return zeros<double>({0});
    const lazy<double> x = xp, before = x(slice(none, -1)), behind = x(slice(1, none)), first = x(slice(0, 1));
    const lazy<double> slopes = (fp(slice(1, none)) - fp(slice(none, -1))) / (behind - before);
    const lazy<double> a_unit = static_cast<double>(n - 1) / (x(slice(-1, none)) - first);
    const auto even = all(abs((x - first) * a_unit - arange<double>(n)) < 0x1p-13, 0, keepdims);
    const lazy<double> known = where(even && a_unit > 0.0, a_unit, std::numeric_limits<double>::quiet_NaN());
    return concatenate({lazy<double>(ravel(stack({x, fp}, 1))), slopes, known}, 0);
}

template <class T>
struct interp_points {
    array<double> xp;
    array<T> fp;
    double period;  // 0: none

    interp_points(const array<double>& given_xp, const array<T>& given_fp, const std::optional<double>& given_period)
        : xp(given_xp), fp(given_fp), period(given_period ? std::fabs(*given_period) : 0) {
        check_points(xp.shape().values(), fp.shape().values());
        if (given_period && period == 0) throw error("[interp] a period of 0");
        if (period == 0) return;
        std::vector<double> places = xp.to_host();
        const std::vector<index_t> which = repeat_points(places, period);
        const device where = xp.device();
        xp = asarray(places).to(where);
        fp = array<T>(take<unchecked_mode>(fp, asarray(which).to(where), 0));
    }

    /// Applies the kernel to values at the points, with the given values outside.
    template <class V>
    auto at(const lazy<double>& x, const V& values, bool has_left, double left, bool has_right, double right) const {
        static const interp_kernel text(runtime::statements_of(runtime::library_text::interp), "interp",
                                        runtime::preamble_of(runtime::library_text::interp));
        const int given = period != 0 ? 0 : (has_left ? 1 : 0) + (has_right ? 2 : 0);
        return text(x, xp, values, pieces_of(xp, values, period != 0 ? 0 : x.size()), given, left, right, period);
    }
};

}  // namespace

lazy<double> interpolated(const lazy<double>& x, const array<double>& xp, const array<double>& fp,
                          const interp_options<double>& outside) {
    const interp_points<double> p(xp, fp, outside.period);
    return p.at(x, p.fp, outside.left.has_value(), outside.left.value_or(0), outside.right.has_value(),
                outside.right.value_or(0));
}
lazy<std::complex<double>> interpolated(const lazy<double>& x, const array<double>& xp,
                                        const array<std::complex<double>>& fp,
                                        const interp_options<std::complex<double>>& outside) {
    const interp_points<std::complex<double>> p(xp, fp, outside.period);
    const bool has_left = outside.left.has_value(), has_right = outside.right.has_value();
    const std::complex<double> left = outside.left.value_or(0), right = outside.right.value_or(0);
    return complex_of(p.at(x, real(p.fp), has_left, left.real(), has_right, right.real()),
                      where(isnan(x), 0.0, p.at(x, imag(p.fp), has_left, left.imag(), has_right, right.imag())));
}

}  // namespace ingot::detail
