// Chooses the axis of cumulative_sum, and assembles the results of apply_along_axis.
#include <ingot/core/along_axes.hpp>

#include <string>
#include <vector>

#include <ingot/core/error.hpp>

namespace ingot::detail {

index_t only_axis(const char* operation, extents_ref shape) {
    if (shape.rank != 1)
        throw shape_error("[" + std::string(operation) + "] of shape " + to_text(shape.span()) +
                          ": say along which axis");
    return 0;
}

std::array<index_t, 2> vectors_along(extents_ref shape, index_t axis) {
    const int at = checked_axis("apply_along_axis", axis, shape.rank);
    index_t count = 1;
    for (int j = 0; j < shape.rank; ++j)
        if (j != at) count *= shape.data[j];
    if (count == 0)
        throw shape_error("[apply_along_axis] shape " + to_text(shape.span()) + " has no vectors along axis " +
                          std::to_string(axis));
    return {count, shape.data[at]};
}

placed_results place_results(extents_ref shape, index_t axis, extents_ref stacked) {
    const int at = checked_axis("apply_along_axis", axis, shape.rank);
    std::vector<index_t> extents, from, to;
    for (int j = 0; j < shape.rank; ++j)
        if (j != at) extents.push_back(shape.data[j]);
    for (int j = 1; j < stacked.rank; ++j) {
        from.push_back(static_cast<index_t>(extents.size()));
        to.push_back(at + j - 1);
        extents.push_back(stacked.data[j]);
    }
    return {shape_like(extents), axes(from), axes(to)};
}

}  // namespace ingot::detail
