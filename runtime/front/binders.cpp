// Builds the views through which functions that bind axes read their operands.
#include <ingot/core/binders.hpp>

#include <algorithm>
#include <string>

#include <ingot/core/error.hpp>
#include <ingot/core/places.hpp>

namespace ingot::detail {

namespace {

/// A view that begins at the start of every axis of `shape`.
void begin(view_room& v, extents_ref shape) {
    v.old_rank = shape.rank;
    v.new_rank = v.step_count = 0;
    std::fill_n(v.starts, shape.rank, index_t{0});
}

constexpr int on_no_axis = -1;

/// Appends the next new axis: a whole old axis, or one along which the view does not move.
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
    check_extents(operation, {index.extents, static_cast<std::size_t>(index.new_rank)});
    add(source, operation, length, gathered);
}

cycle_place view_cycled(view_room& v, const char* operation, extents_ref shape, std::span<const cycle> cycles) {
    begin(v, shape);
    cycle_place at{layout(shape.rank), 0};
    std::copy_n(shape.data, shape.rank, at.place.shape());
    std::fill_n(at.place.strides(), shape.rank, index_t{0});
    const auto cycle_of = [&](int axis) { return std::ranges::find(cycles, axis, &cycle::axis); };
    const auto binds = [&](const cycle& c) { return shape.data[c.axis] != 1; };  // an axis of extent 1 binds nothing
    for (int j = 0; j < shape.rank; ++j) {
        const auto c = cycle_of(j);
        if (c != cycles.end()) at.place.shape()[j] = c->extent;
        add(v, operation, at.place.shape()[j], c != cycles.end() ? on_no_axis : j);
    }
    check_extents(operation, at.place.extents());
    const int lead = v.new_rank;
    for (const cycle& c : cycles) {
        if (!binds(c)) continue;
        const index_t turn = std::max<index_t>(shape.data[c.axis] * c.repeats, 1);
        add(v, operation, std::max<index_t>((c.first + c.extent + turn - 1) / turn, 1), on_no_axis);
        add(v, operation, shape.data[c.axis], c.axis);
        add(v, operation, c.repeats, on_no_axis);
    }
    at.bound = v.new_rank - lead;
    index_t stride = 1;
    for (std::size_t k = cycles.size(), a = static_cast<std::size_t>(v.new_rank); k-- > 0;) {
        if (!binds(cycles[k])) continue;
        at.place.strides()[cycles[k].axis] = stride;
        at.place.offset += cycles[k].first * stride;
        for (int digit = 0; digit < 3; ++digit) stride *= v.extents[--a];
    }
    return at;
}

void view_unravelled(view_room& v, const char* operation, extents_ref shape, std::span<const index_t> result) {
    begin(v, shape);
    for (const index_t extent : result) add(v, operation, extent, on_no_axis);
    for (int j = 0; j < shape.rank; ++j) add(v, operation, shape.data[j], j);
}

library_axes axes_of_library(const char* operation, library_function f, std::span<const extents_ref> operands,
                             index_t made) {
    const library_facts& row = facts(f);
    library_axes axes;
    std::fill_n(axes.bound, row.axes, index_t{-1});
    const auto disagree = [&] {
        std::string shapes;
        for (const extents_ref s : operands) shapes += (shapes.empty() ? "" : " and ") + to_text(s.span());
        throw shape_error("[" + std::string(operation) + "] shapes " + shapes + " do not fit");
    };
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const extents_ref shape = operands[i];
        const int own = library_facts::count(row.operands[i]), lead = shape.rank - own;
        if (lead < 0)
            throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape.span()) +
                              " has too few axes, " + std::to_string(own) + " are wanted");
        for (int a = 0, j = lead; a < row.axes; ++a) {
            if ((row.operands[i] >> a & 1u) == 0) continue;
            const index_t extent = shape.data[j++];
            if (axes.bound[a] >= 0 && axes.bound[a] != extent) disagree();
            axes.bound[a] = extent;
        }
        for (; axes.batch_rank < lead; ++axes.batch_rank) {  // one more axis in front
            std::copy_backward(axes.batch, axes.batch + axes.batch_rank, axes.batch + axes.batch_rank + 1);
            axes.batch[0] = 1;
        }
        for (int j = 0; j < lead; ++j) {
            index_t& extent = axes.batch[axes.batch_rank - lead + j];
            if (shape.data[j] != 1 && extent != 1 && extent != shape.data[j]) disagree();
            if (extent == 1) extent = shape.data[j];
        }
    }
    std::replace(axes.bound, axes.bound + row.axes, index_t{-1}, made);
    return axes;
}

void view_for_library(view_room& v, const char* operation, library_function f, const library_axes& axes, int number,
                      extents_ref shape) {
    const library_facts& row = facts(f);
    const std::uint8_t mask = row.operands[number];
    const int lead = shape.rank - library_facts::count(mask);
    begin(v, shape);
    for (int j = 0; j < axes.batch_rank; ++j) {
        const int old = j - (axes.batch_rank - lead);
        add(v, operation, axes.batch[j], old >= 0 && shape.data[old] == axes.batch[j] ? old : on_no_axis);
    }
    for (int a = 0; a < row.axes; ++a)
        if (row.result >> a & 1u) add(v, operation, axes.bound[a], on_no_axis);
    for (int a = 0, j = lead; a < row.axes; ++a) add(v, operation, axes.bound[a], mask >> a & 1u ? j++ : on_no_axis);
}

layout pick_of_library(library_function f, const library_axes& axes) {
    const library_facts& row = facts(f);
    layout place(axes.batch_rank + library_facts::count(row.result));
    std::copy_n(axes.batch, axes.batch_rank, place.shape());
    std::fill_n(place.strides(), axes.batch_rank, index_t{0});
    index_t stride = 1;
    for (int a = row.axes, j = place.rank(); a-- > 0;) {
        if ((row.result >> a & 1u) == 0) continue;
        place.shape()[--j] = axes.bound[a];
        place.strides()[j] = stride;
        stride *= axes.bound[a];
    }
    return place;
}

void view_whole(view_room& v, extents_ref shape) {
    begin(v, shape);
    for (int j = 0; j < shape.rank; ++j) add(v, "view", shape.data[j], j);
}

}  // namespace ingot::detail
