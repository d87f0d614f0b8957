// Connected parts by their least element: each element takes the least number among its neighbours, gives it to the
// part that it belonged to, and parts that point to others are followed to their ends, until nothing changes.
#include <ingot/ndimage/measurements.hpp>

#include <algorithm>
#include <limits>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/core/views.hpp>
#include <ingot/ndimage/morphology.hpp>
#include <ingot/statistics/histograms.hpp>

#include "runtime/ndimage/images.hpp"

namespace ingot::detail {

using ndimage::border;
using ndimage::neighbourhood;
using runtime::any_lazy;
using runtime::as_type;
using runtime::reach;

namespace {

/// The places of a structure beside the middle one that come before it: every connection has one of them.
std::vector<std::vector<index_t>> places_before(const char* operation, const neighbourhood& s) {
    const bool fits = std::ranges::all_of(s.shape(), [](index_t n) { return n == 3; });
    const std::vector<double>& v = s.values();
    for (std::size_t k = 0; k < v.size(); ++k)
        if (!fits || (v[k] != 0) != (v[v.size() - 1 - k] != 0))
            throw shape_error("[" + std::string(operation) + "] a structure of shape " + to_text(s.shape()) +
                              "; three places along each axis are wanted, the same from both sides");
    std::vector<std::vector<index_t>> chosen = runtime::places_of(s).at;
    std::erase(chosen, std::vector<index_t>(s.shape().size(), 1));
    return chosen;
}

shape_like shape_of(const any_lazy& x) { return shape_like(x.extents().span()); }

}  // namespace

ndimage::labelled labels_of(const char* operation, const image& e, const neighbourhood* given) {
    const any_lazy operand = runtime::read_often(e);
    const with_device there(runtime::device_of(operand));
    const int rank = operand.extents().rank;
    const neighbourhood structure = given ? *given : runtime::cross(rank);
    check_axes(operation, "a structure", structure, operand);
    const std::vector<std::vector<index_t>> around = places_before(operation, structure);
    const shape_like shape = shape_of(operand);
    const index_t n = operand.extents().size();
    if (n == 0) return {zeros<int>(shape), 0};

    const array<bool> inside(as_type(operand, dtype::b1).as<bool>());
    const lazy<bool> flat_inside(ravel(inside));
    // An element's number is the index of another one of its part; that of elements outside, and of the last one, is n.
    const lazy<index_t> own(position_along(n, 0));
    array<index_t> numbers(full<index_t>(n + 1, n));
    numbers(slice(0, n)) = where(flat_inside, own, n);
    const std::vector<reach> reaches(static_cast<std::size_t>(rank), reach{1, 1});
    const std::vector<border> borders(static_cast<std::size_t>(rank), border::constant);
    for (;;) {
        const lazy<index_t> here(reshape(lazy<index_t>(numbers(slice(0, n))), shape));
        const any_lazy p = bordered_for(around.size(), any_lazy(here), reaches, borders, static_cast<double>(n));
        lazy<index_t> least = here;
        for (const std::vector<index_t>& at : around)
            least = minimum(least, part_of(p, at, shape.values()).as<index_t>());
        const array<index_t> found(ravel(where(inside, least, n)));
        if (!any(found != numbers(slice(0, n))).item()) break;
        const array<index_t> before(numbers(slice(0, n)));
        scatter_min(numbers(before), found);
        scatter_min(numbers(own), found);
        for (int k = 0; k < 2; ++k) numbers = array<index_t>(take<unchecked_mode>(numbers, numbers, 0));
    }
    const lazy<index_t> all(numbers(slice(0, n)));
    const array<index_t> counts(cumsum(flat_inside && all == own));
    const lazy<index_t> label(take<unchecked_mode>(counts, minimum(all, n - 1), 0));
    return {array<int>(reshape(lazy<int>(astype<int>(where(flat_inside, label, index_t{0}))), shape)),
            counts(n - 1).item()};
}

std::vector<std::vector<slice>> boxes_of(const char*, const image& given) {
    const array<index_t> labels(any_lazy(given.tree, given.type).as<index_t>());
    const with_device there(labels.device());
    const shape_like shape = labels.shape();
    if (labels.size() == 0) return {};
    const index_t count = std::max<index_t>(max(labels).item(), 0);
    std::vector<std::vector<slice>> boxes(static_cast<std::size_t>(count));
    const array<index_t> at(ravel(maximum(labels, index_t{0})));
    for (int j = 0; j < shape.count(); ++j) {
        const lazy<index_t> place(position_along(shape[j], shape.count() - 1 - j));
        const array<index_t> places(ravel(lazy<index_t>(place + zeros<index_t>(shape))));
        array<index_t> low = full<index_t>(count + 1, std::numeric_limits<index_t>::max());
        array<index_t> high = full<index_t>(count + 1, -1);
        scatter_min(low(at), places);
        scatter_max(high(at), places);
        const std::vector<index_t> first = low.to_host(), last = high.to_host();
        for (std::size_t k = 0; k < boxes.size(); ++k)
            if (last[k + 1] >= 0) boxes[k].emplace_back(first[k + 1], last[k + 1] + 1);
    }
    return boxes;
}

namespace {

/// The sums of the elements of each label of `index`.
lazy<double> sums_of(const lazy<double>& x, const lazy<index_t>& labels, const lazy<index_t>& index) {
    const with_device there(x.device());
    const array<index_t> wanted(index);
    if (wanted.size() == 0) return lazy<double>(zeros<double>(wanted.shape()));
    const auto [low, high] = eval(min(wanted), max(wanted));
    const index_t first = low.item(), length = high.item() - first + 1;
    // Others are counted as one behind those that are wanted.
    const lazy<index_t> counted = where(labels >= first && labels < first + length, labels - first, length);
    const array<double> sums = bincount(ravel(counted), ravel(x), length + 1);
    return lazy<double>(take<unchecked_mode>(sums, wanted - first, 0));
}

/// Numbers that are read several times, as T.
template <class T>
lazy<T> numbers_of(const image& e) {
    return runtime::read_often(e).as<T>();
}

void check_labels(const char* operation, const lazy<double>& x, const lazy<index_t>& labels) {
    if (x.shape() != labels.shape())
        throw shape_error("[" + std::string(operation) + "] labels of shape " + to_text(labels.shape().values()) +
                          " for an operand of shape " + to_text(x.shape().values()) + "; the same is wanted");
}

}  // namespace

array<double> summed_by_label(const char* operation, const image& given, const image& numbers, const image& index,
                              bool means) {
    const lazy<double> x = numbers_of<double>(given);
    const lazy<index_t> labels = numbers_of<index_t>(numbers), wanted = numbers_of<index_t>(index);
    check_labels(operation, x, labels);
    if (!means) return array<double>(sums_of(x, labels, wanted));
    const lazy<double> each(full_like<double>(x, 1.0));
    return array<double>(sums_of(x, labels, wanted) / sums_of(each, labels, wanted));
}

array<double> centers_of_mass(const char* operation, const image& given, const image* numbers, const image* index) {
    const lazy<double> x = numbers_of<double>(given);
    const shape_like shape = x.shape();
    const with_device there(x.device());
    std::optional<lazy<index_t>> labels;
    if (numbers) check_labels(operation, x, labels.emplace(numbers_of<index_t>(*numbers)));
    const auto total = [&](const lazy<double>& e) {
        return array<double>(labels ? sums_of(e, *labels, numbers_of<index_t>(*index)) : lazy<double>(sum(e)));
    };
    const array<double> mass = total(x);
    const shape_like of_index = mass.shape();
    std::vector<index_t> extents(of_index.begin(), of_index.end());
    extents.push_back(shape.count());
    array<double> centers = zeros<double>(shape_like(extents));
    for (int j = 0; j < shape.count(); ++j) {
        const lazy<double> place(astype<double>(position_along(shape[j], shape.count() - 1 - j)));
        centers(ellipsis, j) = total(lazy<double>(x * place)) / mass;
    }
    return centers;
}

tree_ref filled_holes(const char* operation, const image& e, const ndimage::hole_options& how) {
    const lazy<bool> inside(array<bool>(as_type(any_lazy(e.tree, e.type), dtype::b1).as<bool>()));
    if (inside.size() == 0) return inside.tree();
    const with_device there(inside.device());
    const array<bool> outside = zeros<bool>(inside.shape());
    const tree_ref reached =
        dilated(operation, outside,
                {.structure = how.structure, .iterations = 0, .mask = lazy<bool>(!inside), .border_value = true});
    return lazy<bool>(!lazy<bool>::of(reached)).tree();
}

}  // namespace ingot::detail
