// Indices of elements: of all elements of a shape, of positions in C order, of sorted groups.
#include <algorithm>
#include <vector>

#include <ingot/core/compaction.hpp>
#include <ingot/core/grids.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/core/joins.hpp>
#include <ingot/core/scans.hpp>
#include <ingot/sorting/sets.hpp>

namespace ingot::detail {

lazy<index_t> indices(const shape_like& shape) {
    check_extents("indices", shape.values());
    if (shape.count() == 0) return zeros<index_t>(0);
    lazy_parts<index_t> parts;
    for (int j = 0; j < shape.count(); ++j) parts.push_back(expand_dims(positions_along(shape.values(), j, false), 0));
    return joined("indices", std::move(parts), 0);
}

namespace {

/// The index along one axis of a position in C order.
auto digit_of(const array<index_t>& place, const shape_like& shape, int axis) {
    index_t behind = 1;
    for (int j = axis + 1; j < shape.count(); ++j) behind *= shape[j];
    return floor_divide(place, behind) % std::max<index_t>(shape[axis], 1);
}

}  // namespace

std::vector<array<index_t>> indices_of_places(const array<index_t>& place, const shape_like& shape) {
    if (shape.count() == 1) return {place};
    std::vector<array<index_t>> all;
    for (int axis = 0; axis < shape.count(); ++axis) all.emplace_back(digit_of(place, shape, axis));
    return all;
}

array<index_t> rows_of_indices(const array<index_t>& place, const shape_like& shape) {
    array<index_t> rows = empty<index_t>({place.size(), shape.count()});
    for (int axis = 0; axis < shape.count(); ++axis) rows(all, axis) = digit_of(place, shape, axis);
    return rows;
}

}  // namespace ingot::detail
