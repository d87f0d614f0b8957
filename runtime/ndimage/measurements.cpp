// Connected parts, numbered by the ranks of their least elements, and measures of parts.
#include <ingot/ndimage/measurements.hpp>

#include <algorithm>
#include <limits>

#include <ingot/core/array_indexing.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/functions.hpp>
#include <ingot/core/gather.hpp>
#include <ingot/core/host.hpp>
#include <ingot/core/padding.hpp>
#include <ingot/core/places.hpp>
#include <ingot/core/reductions.hpp>
#include <ingot/core/reshape.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/core/scatter.hpp>
#include <ingot/core/views.hpp>
#include <ingot/ndimage/morphology.hpp>
#include <ingot/statistics/histograms.hpp>

#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/libraries.hpp"
#include "runtime/ndimage/images.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::detail {

using ndimage::border;
using ndimage::neighbourhood;
using runtime::any_lazy;
using runtime::as_type;
using runtime::is_symmetric;
using runtime::reach;

namespace {

bool contains(const neighbourhood& s, const neighbourhood& part) {
    return std::ranges::equal(s.values(), part.values(), [](double a, double b) { return a != 0 || b == 0; });
}

/// A bit for each place of the structure before the middle one: every connection has one of them.
std::vector<std::uint32_t> places_before(const char* operation, const neighbourhood& s) {
    if (!is_symmetric(s))
        throw shape_error("[" + std::string(operation) + "] a structure of shape " + to_text(s.shape()) +
                          "; three places along each axis are wanted, the same from both sides");
    const std::vector<double>& v = s.values();
    std::vector<std::uint32_t> bits(v.size() / 64 + 1);
    for (std::size_t k = 0; k < v.size() / 2; ++k) bits[k / 32] |= static_cast<std::uint32_t>(v[k] != 0) << (k % 32);
    return bits;
}

shape_like shape_of(const any_lazy& x) { return shape_like(x.extents().span()); }

/// For each element of `inside` the least index of its part, or -1 where it is false.
template <class I>
array<I> least_indices(const char* operation, const array<bool>& inside, const array<std::uint32_t>& connects) {
    const leaf<bool> truths = contiguous_values_as<bool>(inside);
    const leaf<std::uint32_t> bits = contiguous_values_as<std::uint32_t>(connects);
    runtime::stream_state& stream = *runtime::context_on(truths.on_device()).stream;
    const shape_like shape = inside.shape();
    leaf<I> numbers = new_leaf<I>(operation, shape.values(), stream.device);
    runtime::order_read(*truths.memory(), stream);
    runtime::order_read(*bits.memory(), stream);
    runtime::order_write(*numbers.memory(), stream);
    runtime::libraries::parts({dtype_of<I>,
                               static_cast<const bool*>(truths.memory()->data) + truths.where().offset,
                               numbers.memory()->data,
                               {shape.begin(), shape.end()},
                               static_cast<const std::uint32_t*>(bits.memory()->data) + bits.where().offset},
                              stream);
    runtime::add(runtime::counter::library_calls);
    return array<I>(adopted{}, std::move(numbers));
}

template <class I>
ndimage::labelled numbered(const char* operation, const array<bool>& inside, const array<std::uint32_t>& connects) {
    const index_t n = inside.size();
    const lazy<I> least(ravel(least_indices<I>(operation, inside, connects)));
    const array<I> counts(cumsum(astype<I>(least == astype<I>(lazy<index_t>(position_along(n, 0))))));
    const lazy<int> label(astype<int>(take<unchecked_mode>(counts, maximum(least, I{0}), 0)));
    return {array<int>(reshape(lazy<int>(where(least >= I{0}, label, 0)), inside.shape())), counts(n - 1).item()};
}

}  // namespace

ndimage::labelled labels_of(const char* operation, const image& e, const neighbourhood* given) {
    const any_lazy operand(e.tree, e.type);
    const with_device there(runtime::device_of(operand));
    const neighbourhood structure = given ? *given : runtime::cross(operand.extents().rank);
    check_axes(operation, "a structure", structure, operand);
    const std::vector<std::uint32_t> places = places_before(operation, structure);
    const shape_like shape = shape_of(operand);
    const index_t n = operand.extents().size();
    if (n == 0) return {zeros<int>(shape), 0};
    const array<bool> inside(as_type(operand, dtype::b1).as<bool>());
    if (shape.count() == 0) {
        const ndimage::labelled one = labels_of(operation, reshape(inside, {1}), nullptr);
        return {array<int>(reshape(one.labels, shape)), one.count};
    }
    const array<std::uint32_t> connects = asarray(places);
    const bool is_small = n <= std::numeric_limits<std::int32_t>::max() - 256;
    return is_small ? numbered<std::int32_t>(operation, inside, connects)
                    : numbered<std::int64_t>(operation, inside, connects);
}

std::vector<std::vector<slice>> boxes_of(const char*, const image& given) {
    const array<index_t> labels(any_lazy(given.tree, given.type).as<index_t>());
    const with_device there(labels.device());
    const shape_like shape = labels.shape();
    if (labels.size() == 0) return {};
    const index_t count = std::max<index_t>(max(labels).item(), 0);
    std::vector<std::vector<slice>> boxes;
    const array<index_t> at(ravel(maximum(labels, index_t{0})));
    for (int j = 0; j < shape.count(); ++j) {
        const lazy<index_t> place(position_along(shape[j], shape.count() - 1 - j));
        const array<index_t> places(ravel(lazy<index_t>(place + zeros<index_t>(shape))));
        array<index_t> low = full<index_t>(count + 1, std::numeric_limits<index_t>::max());
        array<index_t> high = full<index_t>(count + 1, -1);
        boxes.resize(static_cast<std::size_t>(count));  // behind the arrays, which find out whether there is memory
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
    const any_lazy operand = as_type(any_lazy(e.tree, e.type), dtype::b1);
    if (operand.extents().size() == 0) return operand.tree();
    const with_device there(runtime::device_of(operand));
    const lazy<bool> inside(array<bool>(operand.as<bool>()));
    const neighbourhood cross = runtime::cross(operand.extents().rank);
    const neighbourhood structure = how.structure ? *how.structure : cross;
    check_axes(operation, "a structure", structure, operand);
    if (is_symmetric(structure) && contains(structure, cross)) {
        // With a border, the outside and all that it reaches are one part, the first.
        const array<bool> empty(pad(!inside, 1, true));
        const any_lazy parts(labels_of(operation, empty, &structure).labels);
        const std::vector<index_t> first(inside.shape().size(), 1);
        return lazy<bool>(part_of(parts, first, inside.shape().values()).as<int>() != 1).tree();
    }
    const array<bool> outside = zeros<bool>(inside.shape());
    const tree_ref reached =
        dilated(operation, outside,
                {.structure = how.structure, .iterations = 0, .mask = lazy<bool>(!inside), .border_value = true});
    return lazy<bool>(!lazy<bool>::of(reached)).tree();
}

}  // namespace ingot::detail
