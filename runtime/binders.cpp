// How the functions that bind axes view their operands.
#include <ingot/binders.hpp>

#include <algorithm>
#include <string>

#include <ingot/error.hpp>

namespace ingot::detail {

namespace {

/// A view that begins at the start of every axis of `shape`.
void begin(view_room& v, extents_ref shape) {
    v.old_rank = shape.rank;
    v.new_rank = v.step_count = 0;
    std::fill_n(v.starts, shape.rank, index_t{0});
}

constexpr int on_no_axis = -1;

/// The next new axis: an old one whole, or one along which nothing moves.
void add(view_room& v, const char* operation, index_t extent, int old_axis) {
    if (v.new_rank == max_rank)
        throw shape_error("[" + std::string(operation) + "] more than " + std::to_string(max_rank) +
                          " axes are wanted, those it works along included");
    if (old_axis != on_no_axis) v.walks[v.step_count++] = {v.new_rank, old_axis, 1};
    v.extents[v.new_rank++] = extent;
}

}  // namespace

arrangement view_reduced(view_room& v, const char* operation, extents_ref shape, const axes* over, bool keep) {
    bool reduced[max_rank] = {};
    std::fill_n(reduced, shape.rank, over == nullptr);
    for (const index_t given : over ? over->values() : std::span<const index_t>()) {
        bool& r = reduced[checked_axis(operation, given, shape.rank)];
        if (r) throw shape_error("[" + std::string(operation) + "] axis " + std::to_string(given) + " is given twice");
        r = true;
    }
    begin(v, shape);
    arrangement a{over ? over->count() : shape.rank, false};
    for (int j = 0; j < shape.rank; ++j) {
        if (!reduced[j])
            add(v, operation, shape.data[j], j);
        else if (keep)
            add(v, operation, 1, on_no_axis);
        a.moves |= reduced[j] && (keep || j < shape.rank - a.bound);
    }
    for (int j = 0; j < shape.rank; ++j)
        if (reduced[j]) add(v, operation, shape.data[j], j);
    return a;
}

layout view_scanned(view_room& v, const char* operation, extents_ref shape, index_t axis) {
    const int scanned = checked_axis(operation, axis, shape.rank);
    begin(v, shape);
    layout place(shape.rank);
    for (int j = 0; j < shape.rank; ++j) {
        add(v, operation, shape.data[j], j == scanned ? on_no_axis : j);
        place.shape()[j] = shape.data[j];
        place.strides()[j] = j == scanned ? 1 : 0;
    }
    add(v, operation, shape.data[scanned], scanned);
    return place;
}

void view_gathered(view_room& source, view_room& index, const char* operation, extents_ref source_shape,
                   extents_ref index_shape, index_t axis) {
    const int gathered = checked_axis(operation, axis, source_shape.rank);
    const index_t length = source_shape.data[gathered];
    const auto indices = index_shape.span();
    if (length == 0 && std::find(indices.begin(), indices.end(), 0) == indices.end())
        throw index_error("[" + std::string(operation) + "] nothing to take from: axis " + std::to_string(axis) +
                          " of shape " + to_text(source_shape.span()) + " is empty");
    begin(source, source_shape);
    begin(index, index_shape);
    for (int j = 0; j < source_shape.rank; ++j) {
        if (j != gathered) {
            add(source, operation, source_shape.data[j], j);
            add(index, operation, source_shape.data[j], on_no_axis);
            continue;
        }
        for (int k = 0; k < index_shape.rank; ++k) {
            add(source, operation, index_shape.data[k], on_no_axis);
            add(index, operation, index_shape.data[k], k);
        }
    }
    add(source, operation, length, gathered);
}

void view_unravelled(view_room& v, const char* operation, extents_ref shape, std::span<const index_t> result) {
    begin(v, shape);
    for (const index_t extent : result) add(v, operation, extent, on_no_axis);
    for (int j = 0; j < shape.rank; ++j) add(v, operation, shape.data[j], j);
}

void view_whole(view_room& v, extents_ref shape) {
    begin(v, shape);
    for (int j = 0; j < shape.rank; ++j) add(v, "view", shape.data[j], j);
}

}  // namespace ingot::detail
