// Order statistics of windows. Few values are an expression of minima and maxima: a sorting network without the
// comparators that the wanted rank does not need. More are sorted, or folded for their extremum.
#include <ingot/ndimage/order_filters.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <ingot/core/creation.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/functions/every_dtype.hpp"
#include "runtime/ndimage/images.hpp"

namespace ingot::detail {

using ndimage::border;
using ndimage::filter_options;
using ndimage::neighbourhood;
using runtime::any_lazy;
using runtime::apply;
using runtime::as_type;
using runtime::for_axes;
using runtime::places;
using runtime::reach;

namespace {

/// The most places whose values are operands of one expression: of an extremum along one axis or around, of a rank.
constexpr std::size_t most_along = 15, most_around = 81, most_in_network = 25;

any_lazy ordered_operand(const char* operation, const image& e) {
    if (detail::kind_of(e.type) == kind::complex)
        throw dtype_error("[" + std::string(operation) + "] " + std::string(name(e.type)) +
                          " has no order, and so no greatest or least element");
    return runtime::read_often(e);
}

any_lazy extremum_of(extremum which, const any_lazy& a, const any_lazy& b) {
    return apply(which == extremum::least ? op::minimum : op::maximum, {a, b});
}

/// The extremum of n elements along an axis of p, which has n - 1 more than the result.
any_lazy extremum_of_line(const any_lazy& p, int axis, extremum which, index_t n) {
    if (static_cast<std::size_t>(n) > most_along) {
        const axes last(-1);
        return folded(which == extremum::least ? fold::min : fold::max, "extremum", windows_along(p.kept(), axis, n),
                      &last, false);
    }
    const index_t extent = p.extents().data[axis] - n + 1;
    any_lazy found = part_of(p, axis, 0, extent);
    for (index_t k = 1; k < n; ++k) found = extremum_of(which, found, part_of(p, axis, k, extent));
    return found;
}

/// Places around an element with the borders beyond the ends of all axes.
struct window {
    places at;  // of a box the shape alone
    std::size_t count = 1;
    std::vector<reach> reaches;
    std::vector<border> borders;
    bool is_box = false;
};

struct options {
    const ndimage::per_axis<border>& mode;
    double cval;
    const ndimage::per_axis<index_t>& origin;
};

/// With `turned` the places are reversed, and so are the origins.
window window_of(const char* operation, const any_lazy& x, const window_shape& shape, const options& how, bool turned) {
    const int rank = x.extents().rank;
    window w;
    if (shape.size()) {
        w.is_box = true;
        w.at.shape = for_axes(operation, "size", *shape.size(), rank);
    } else {
        check_axes(operation, "footprint", *shape.footprint(), x);
        w.at = runtime::places_of(turned ? runtime::reversed(*shape.footprint()) : *shape.footprint());
        if (w.at.at.empty())
            throw shape_error("[" + std::string(operation) +
                              "] a footprint without a place; a number that is not 0 "
                              "is wanted");
        w.is_box = w.at.at.size() == shape.footprint()->values().size();
    }
    w.borders = for_axes(operation, "mode", how.mode, rank);
    const std::vector<index_t> origins = for_axes(operation, "origin", how.origin, rank);
    for (std::size_t j = 0; j < origins.size(); ++j) {
        const index_t size = w.at.shape[j];
        const reach r = runtime::reach_of(operation, size, origins[j]);
        w.reaches.push_back(turned ? runtime::reversed(r) : r);
    }
    if (w.is_box)
        for (const index_t extent : w.at.shape) w.count *= static_cast<std::size_t>(extent);
    else
        w.count = w.at.at.size();
    return w;
}

places places_in(const window& w) { return w.is_box ? runtime::places_of_box(w.at.shape) : w.at; }

/// The box of a window, one axis after the other; few elements are one expression.
any_lazy extremum_of_box(const any_lazy& x, extremum which, const window& w, double cval) {
    if (runtime::fits_one_expression(w.count, w.at.shape.size())) {
        any_lazy result = bordered_for(w.count, x, w.reaches, w.borders, cval);
        for (std::size_t j = 0; j < w.at.shape.size(); ++j)
            result = extremum_of_line(result, static_cast<int>(j), which, w.at.shape[j]);
        return result;
    }
    any_lazy result = x;
    for (std::size_t j = 0; j < w.at.shape.size(); ++j) {
        const int axis = static_cast<int>(j);
        if (w.at.shape[j] == 1) continue;
        std::vector<reach> reaches(w.reaches.size());
        reaches[j] = w.reaches[j];
        const auto size = static_cast<std::size_t>(w.at.shape[j]);
        const any_lazy p = bordered_for(size, result.kept(), reaches, w.borders, cval);
        result = extremum_of_line(p, axis, which, w.at.shape[j]);
    }
    return result;
}

/// The elements at the window's places, each in x's shape.
std::vector<any_lazy> taps_of(const any_lazy& x, const window& w, double cval) {
    const any_lazy p = bordered_for(w.count, x, w.reaches, w.borders, cval);
    std::vector<any_lazy> taps;
    for (const std::vector<index_t>& at : places_in(w).at) taps.push_back(part_of(p, at, x.extents().span()));
    return taps;
}

/// The values of all windows, sorted or not, along a last axis.
any_lazy values_of(const any_lazy& x, const window& w, double cval, bool sorted) {
    const any_lazy windows = windows_around(bordered(x, w.reaches, w.borders, cval).kept(), w.at.shape);
    std::vector<index_t> shape(x.extents().span().begin(), x.extents().span().end());
    index_t all = 1;
    for (const index_t extent : w.at.shape) all *= extent;
    shape.push_back(all);
    const with_device there(runtime::device_of(x));
    std::vector<index_t> chosen;
    for (const std::vector<index_t>& at : w.at.at) {
        index_t i = 0;
        for (std::size_t j = 0; j < at.size(); ++j) i = i * w.at.shape[j] + at[j];
        chosen.push_back(i);
    }
    const auto values = [&]<class T>(std::type_identity<T>) -> any_lazy {
        const lazy<T> flat(reshape(windows.as<T>(), shape_like(shape)));
        const lazy<T> given = w.is_box ? flat : lazy<T>(take(flat, asarray(chosen), -1));
        if (sorted) return any_lazy(lazy<T>(sort(given, -1)));
        return any_lazy(given);
    };
    const dtype type = x.type();
#define INGOT_VALUES(T) \
    if (type == dtype_of<T>) return values(std::type_identity<T>{});
    INGOT_FOR_EVERY_REAL_DTYPE(INGOT_VALUES)
#undef INGOT_VALUES
    return x;
}

/// Exchanges of a network that sorts n values: Batcher's odd-even merges.
std::vector<std::pair<std::size_t, std::size_t>> sorting_network(std::size_t n) {
    std::vector<std::pair<std::size_t, std::size_t>> all;
    for (std::size_t p = 1; p < n; p *= 2)
        for (std::size_t k = p; k >= 1; k /= 2)
            for (std::size_t j = k % p; j + k < n; j += 2 * k)
                for (std::size_t i = 0; i < k && i + j + k < n; ++i)
                    if ((i + j) / (2 * p) == (i + j + k) / (2 * p)) all.emplace_back(i + j, i + j + k);
    return all;
}

/// The value of that rank. Only exchanges on which it depends are nodes.
any_lazy selected(std::vector<any_lazy> values, std::size_t rank) {
    const auto network = sorting_network(values.size());
    std::vector<std::pair<bool, bool>> needed(network.size());
    std::vector<bool> wanted(values.size());
    wanted[rank] = true;
    for (std::size_t k = network.size(); k-- > 0;) {
        const auto [i, j] = network[k];
        needed[k] = {wanted[i], wanted[j]};
        if (wanted[i] || wanted[j]) wanted[i] = wanted[j] = true;
    }
    for (std::size_t k = 0; k < network.size(); ++k) {
        const auto [i, j] = network[k];
        const any_lazy a = values[i], b = values[j];
        if (needed[k].first) values[i] = extremum_of(extremum::least, a, b);
        if (needed[k].second) values[j] = extremum_of(extremum::greatest, a, b);
    }
    return values[rank];
}

std::size_t rank_of(const char* operation, const rank_rule& rule, std::size_t count) {
    const auto n = static_cast<index_t>(count);
    index_t rank = rule.rank;
    if (rule.is_percentile) {
        const double percentile = rule.percentile < 0 ? rule.percentile + 100 : rule.percentile;
        if (!(percentile >= 0 && percentile <= 100))
            throw shape_error("[" + std::string(operation) + "] percentile " + std::to_string(rule.percentile) +
                              "; -100 to 100 are possible");
        rank = percentile == 100 ? n - 1 : static_cast<index_t>(static_cast<double>(n) * percentile / 100);
    } else if (rank < 0) {
        rank += n;
    }
    if (rank < 0 || rank >= n)
        throw shape_error("[" + std::string(operation) + "] rank " + std::to_string(rule.rank) + " of " +
                          std::to_string(n) + " places; " + std::to_string(-n) + " to " + std::to_string(n - 1) +
                          " are possible");
    return static_cast<std::size_t>(rank);
}

any_lazy element_of_last(const any_lazy& x, index_t i) {
    const index_item items[] = {as_index_item(ellipsis), as_index_item(i)};
    view_room view;
    view_by_index(view, x.extents(), items, 2);
    return x.viewed(view);
}

bool is_empty(const any_lazy& x) { return x.extents().size() == 0; }

any_lazy extremum_in(const any_lazy& x, extremum which, const window& w, double cval) {
    if (w.is_box) return extremum_of_box(x, which, w, cval);
    if (w.count > most_around) {
        const axes last(-1);
        return folded(which == extremum::least ? fold::min : fold::max, "extremum", values_of(x, w, cval, false), &last,
                      false);
    }
    const std::vector<any_lazy> taps = taps_of(x, w, cval);
    return std::accumulate(taps.begin() + 1, taps.end(), taps[0],
                           [&](const any_lazy& a, const any_lazy& b) { return extremum_of(which, a, b); });
}

}  // namespace

tree_ref extremum_along(const char* operation, const image& e, extremum which, index_t size, index_t axis,
                        const filter_options& how) {
    const any_lazy x = ordered_operand(operation, e);
    const int along_axis = checked_axis(operation, axis, x.extents().rank);
    const reach r = runtime::reach_of(operation, size, runtime::for_one_axis(operation, "origin", how.origin));
    const border b = runtime::for_one_axis(operation, "mode", how.mode);
    if (is_empty(x)) return x.tree();
    std::vector<reach> reaches(static_cast<std::size_t>(x.extents().rank));
    reaches[static_cast<std::size_t>(along_axis)] = r;
    const std::vector<border> borders(reaches.size(), b);
    const any_lazy p = bordered_for(static_cast<std::size_t>(size), x, reaches, borders, how.cval);
    return extremum_of_line(p, along_axis, which, size).tree();
}

tree_ref extremum_around(const char* operation, const image& e, extremum which, const window_shape& shape,
                         const filter_options& how) {
    const any_lazy x = ordered_operand(operation, e);
    const window w = window_of(operation, x, shape, {how.mode, how.cval, how.origin}, false);
    return is_empty(x) ? x.tree() : extremum_in(x, which, w, how.cval).tree();
}

tree_ref ranked_around(const char* operation, const image& e, const rank_rule& rule, const window_shape& shape,
                       const filter_options& how) {
    const any_lazy given = ordered_operand(operation, e);
    const window w = window_of(operation, given, shape, {how.mode, how.cval, how.origin}, false);
    const std::size_t count = w.count, rank = rank_of(operation, rule, count);
    if (is_empty(given)) return given.tree();
    const bool of_truths = given.type() == dtype::b1;
    const any_lazy x = of_truths ? as_type(given, dtype::u1) : given;
    const auto found = [&]() -> any_lazy {
        if (rank == 0) return extremum_in(x, extremum::least, w, how.cval);
        if (rank == count - 1) return extremum_in(x, extremum::greatest, w, how.cval);
        if (count <= most_in_network) return selected(taps_of(x, w, how.cval), rank);
        return element_of_last(values_of(x, w, how.cval, true), static_cast<index_t>(rank));
    };
    return as_type(found(), given.type()).tree();
}

tree_ref grey(const char* operation, const image& e, extremum which, const window_shape& shape,
              const ndimage::grey_options& how) {
    const any_lazy x = ordered_operand(operation, e);
    const bool turned = which == extremum::greatest;
    const window w = window_of(operation, x, shape, {how.mode, how.cval, how.origin}, turned);
    if (how.structure && how.structure->shape() != w.at.shape)
        throw shape_error("[" + std::string(operation) + "] a structure of shape " + to_text(how.structure->shape()) +
                          " for a footprint of shape " + to_text(w.at.shape) + "; the same is wanted");
    if (is_empty(x)) return x.tree();
    if (!how.structure) return extremum_in(x, which, w, how.cval).tree();
    const neighbourhood heights = turned ? runtime::reversed(*how.structure) : *how.structure;
    const dtype computed = runtime::weighted_dtype(x.type());
    const std::vector<any_lazy> taps = taps_of(as_type(x, computed), w, how.cval);
    const places all = places_in(w);
    std::optional<any_lazy> found;
    for (std::size_t k = 0; k < taps.size(); ++k) {
        std::size_t i = 0;
        for (std::size_t j = 0; j < w.at.shape.size(); ++j)
            i = i * static_cast<std::size_t>(w.at.shape[j]) + static_cast<std::size_t>(all.at[k][j]);
        const double height = heights.values()[i];
        const any_lazy tap = turned ? taps[k] + height : taps[k] - height;
        found = found ? extremum_of(which, *found, tap) : tap;
    }
    return stored_as(*found, x.type()).tree();
}

}  // namespace ingot::detail
