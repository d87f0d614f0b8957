// The views of a shape that indices and the functions of views.hpp take.
#include <algorithm>
#include <string>

#include <ingot/core/array_view.hpp>
#include <ingot/core/binders.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/index_functions.hpp>
#include <ingot/linalg/products.hpp>

namespace ingot::detail {

namespace {

using form = index_item::form;

/// Writes a view's axes in order.
class view_writer {
public:
    view_writer(view_room& view, const char* operation, extents_ref shape)
        : view_(view), operation_(operation), shape_(shape) {
        view.old_rank = shape.rank;
        view.new_rank = 0;
        view.step_count = 0;
        std::fill_n(view.starts, shape.rank, index_t{0});
    }
    /// Appends a new axis: `extent` elements, `by` apart along an old axis.
    void along(int old_axis, index_t extent, index_t by = 1) {
        view_.walks[view_.step_count++] = {view_.new_rank, old_axis, by};
        standing(extent);
    }
    /// Appends a new axis along which nothing moves.
    void standing(index_t extent) {
        if (view_.new_rank == max_rank)
            throw shape_error("[" + std::string(operation_) + "] the result would have more than " +
                              std::to_string(max_rank) + " axes");
        view_.extents[view_.new_rank++] = extent;
    }
    void whole(int old_axis) { along(old_axis, shape_.data[old_axis]); }
    void reversed(int old_axis) {
        begin_at(old_axis, std::max<index_t>(shape_.data[old_axis] - 1, 0));
        along(old_axis, shape_.data[old_axis], -1);
    }
    void begin_at(int old_axis, index_t index) { view_.starts[old_axis] = index; }

private:
    view_room& view_;
    const char* operation_;
    extents_ref shape_;
};

[[noreturn]] void fail(const char* operation, const std::string& text) {
    throw shape_error("[" + std::string(operation) + "] " + text);
}

/// Axes as bits; throws where one is out of range or given twice.
std::uint64_t axis_set(const char* operation, const axes& which, int rank) {
    std::uint64_t set = 0;
    for (index_t axis : which) {
        const std::uint64_t bit = std::uint64_t{1} << checked_axis(operation, axis, rank);
        if (set & bit) fail(operation, "axis " + std::to_string(axis) + " is given twice");
        set |= bit;
    }
    return set;
}
bool in_set(std::uint64_t set, int axis) { return (set >> axis & 1u) != 0; }

void take_slice(view_writer& w, const index_item& item, int axis, index_t extent) {
    if (item.step == 0) throw index_error("[index] slice step 0 on axis " + std::to_string(axis));
    const bool forward = item.step > 0;
    const index_t low = forward ? 0 : -1, high = forward ? extent : extent - 1;
    const auto clamped = [&](index_t end, index_t open) {
        return end == open_end ? open : std::clamp(end < 0 ? end + extent : end, low, high);
    };
    const index_t start = clamped(item.start, forward ? low : high), stop = clamped(item.stop, forward ? high : low);
    const index_t span = forward ? stop - start : start - stop;
    const auto step = static_cast<std::uint64_t>(item.step), stride = forward ? step : ~step + 1;
    const index_t count = span <= 0 ? 0 : 1 + static_cast<index_t>(static_cast<std::uint64_t>(span - 1) / stride);
    w.begin_at(axis, count == 0 ? 0 : start);
    w.along(axis, count, count <= 1 ? 1 : item.step);
}

void view_in_order(view_room& view, const char* operation, extents_ref shape, const int* order) {
    view_writer w(view, operation, shape);
    for (int j = 0; j < shape.rank; ++j) w.whole(order[j]);
}

}  // namespace

void want_axes(const char* operation, extents_ref shape, int count) {
    if (shape.rank < count)
        fail(operation, "wants " + std::to_string(count) + (count == 1 ? " axis" : " axes") + " or more, given shape " +
                            to_text(shape.span()));
}

namespace {

/// Writes the axes that indices leave, in order; `indexed(axis)` is called for the axis of an index array.
template <class F>
void walk_indices(view_writer& w, extents_ref shape, const index_item* items, int count, F indexed) {
    const int taken = static_cast<int>(std::count_if(
        items, items + count, [](const index_item& i) { return i.what != form::newaxis && i.what != form::ellipsis; }));
    const auto ellipses =
        std::count_if(items, items + count, [](const index_item& i) { return i.what == form::ellipsis; });
    if (taken > shape.rank)
        throw index_error("[index] " + std::to_string(taken) + " indices for an array of " +
                          std::to_string(shape.rank) + (shape.rank == 1 ? " axis" : " axes"));
    if (ellipses > 1) throw index_error("[index] more than one ellipsis");
    const int left = shape.rank - taken;
    int axis = 0;
    const auto pass_over = [&] {
        for (int k = 0; k < left; ++k) w.whole(axis++);
    };
    for (const index_item& item : std::span(items, static_cast<std::size_t>(count))) {
        switch (item.what) {
            case form::array:
                indexed(axis++);
                break;
            case form::newaxis:
                w.standing(1);
                break;
            case form::ellipsis:
                pass_over();
                break;
            case form::slice:
                take_slice(w, item, axis, shape.data[axis]);
                ++axis;
                break;
            case form::integer: {
                const index_t extent = shape.data[axis], index = item.start;
                if (index < -extent || index >= extent)
                    throw index_error("[index] " + std::to_string(index) + " is out of range for axis " +
                                      std::to_string(axis) + " of extent " + std::to_string(extent));
                w.begin_at(axis++, index < 0 ? index + extent : index);
                break;
            }
        }
    }
    if (ellipses == 0) pass_over();
}

/// The number of items before which the axes of index arrays stand. As in NumPy, integers count as arrays here; where
/// other items separate them, the axes come first.
int item_of_arrays(const index_item* items, int count) {
    const auto is_advanced = [](const index_item& i) { return i.what == form::array || i.what == form::integer; };
    const index_item* const first = std::find_if(items, items + count, is_advanced);
    const index_item* const end = std::find_if_not(first, items + count, is_advanced);
    return std::any_of(end, items + count, is_advanced) ? 0 : static_cast<int>(first - items);
}

}  // namespace

void view_by_index(view_room& view, extents_ref shape, const index_item* items, int count) {
    view_writer w(view, "index", shape);
    walk_indices(w, shape, items, count, [](int) {});
}

void view_by_arrays(view_room& source, view_room* arrays, extents_ref shape, const index_item* items, int count,
                    const extents_ref* array_shapes) {
    int bound[max_rank];
    int n = 0;  // number of arrays
    for (int k = 0; k < count; ++k) n += items[k].what == form::array ? 1 : 0;
    shape_room common;
    int common_rank = 0;
    if (const int whole = broadcast_shapes("index", array_shapes, n, common, common_rank); whole >= 0) {
        common_rank = array_shapes[whole].rank;
        std::copy_n(array_shapes[whole].data, common_rank, common);
    }
    // Walk the other axes first, to find which of them precede the arrays'.
    view_room others;
    view_writer plain(others, "index", shape);
    int before = 0;
    n = 0;
    walk_indices(plain, shape, items, count, [&](int axis) { bound[n++] = axis; });
    const int left = others.new_rank - static_cast<int>(std::count_if(items, items + count, [](const index_item& i) {
                         return i.what == form::slice || i.what == form::newaxis;
                     }));
    for (const index_item& i : std::span(items, static_cast<std::size_t>(item_of_arrays(items, count))))
        before += i.what == form::ellipsis ? left : i.what == form::slice || i.what == form::newaxis ? 1 : 0;
    view_writer w(source, "index", shape);
    std::copy_n(others.starts, shape.rank, source.starts);
    const int rank = others.new_rank + common_rank;
    for (int j = 0, other = 0; j < rank; ++j) {
        if (j >= before && j < before + common_rank) {
            w.standing(common[j - before]);
            continue;
        }
        const auto* const step = std::find_if(others.walks, others.walks + others.step_count,
                                              [other](const axis_view::step& s) { return s.new_axis == other; });
        if (step == others.walks + others.step_count)
            w.standing(others.extents[other]);
        else
            w.along(step->old_axis, others.extents[other], step->by);
        ++other;
    }
    for (int k = 0; k < n; ++k) w.whole(bound[k]);
    for (int k = 0; k < n; ++k) {
        const extents_ref own = array_shapes[k];
        view_writer index(arrays[k], "index", own);
        for (int j = 0; j < rank + k; ++j) {
            const int axis = j - before - (common_rank - own.rank);  // of the array
            if (j >= before && j < before + common_rank && axis >= 0 && own.data[axis] != 1)
                index.whole(axis);
            else
                index.standing(source.extents[j]);
        }
    }
    for (int k = 0; k < n; ++k)
        if (shape.data[bound[k]] == 0 && std::find(common, common + common_rank, 0) == common + common_rank)
            throw index_error("[index] nothing to take from: axis " + std::to_string(bound[k]) + " of shape " +
                              to_text(shape.span()) + " is empty");
}

void view_sliced(view_room& view, extents_ref shape, const char* operation, index_t axis, const index_item& item) {
    const int at = checked_axis(operation, axis, shape.rank);
    view_writer w(view, operation, shape);
    for (int j = 0; j < shape.rank; ++j) j == at ? take_slice(w, item, j, shape.data[j]) : w.whole(j);
}

void view_permuted(view_room& view, extents_ref shape, const axes* order, const char* operation) {
    int from[max_rank];
    for (int j = 0; j < shape.rank; ++j) from[j] = shape.rank - 1 - j;
    if (order) {
        if (order->count() != shape.rank)
            fail(operation, std::to_string(order->count()) + " axes for rank " + std::to_string(shape.rank));
        axis_set(operation, *order, shape.rank);
        for (int j = 0; j < shape.rank; ++j) from[j] = checked_axis(operation, (*order)[j], shape.rank);
    }
    view_in_order(view, operation, shape, from);
}

void view_axis_moved(view_room& view, extents_ref shape, const axes& from, const axes& to) {
    const int rank = shape.rank;
    if (from.count() != to.count())
        fail("moveaxis", std::to_string(from.count()) + " axes to " + std::to_string(to.count()) + " positions");
    const std::uint64_t moved = axis_set("moveaxis", from, rank), taken = axis_set("moveaxis", to, rank);
    int order[max_rank];
    for (int k = 0; k < from.count(); ++k)
        order[checked_axis("moveaxis", to[k], rank)] = checked_axis("moveaxis", from[k], rank);
    for (int place = 0, axis = 0; place < rank; ++place) {
        if (in_set(taken, place)) continue;
        while (in_set(moved, axis)) ++axis;
        order[place] = axis++;
    }
    view_in_order(view, "moveaxis", shape, order);
}

void view_axes_swapped(view_room& view, extents_ref shape, index_t a, index_t b) {
    int order[max_rank];
    for (int j = 0; j < shape.rank; ++j) order[j] = j;
    std::swap(order[checked_axis("swapaxes", a, shape.rank)], order[checked_axis("swapaxes", b, shape.rank)]);
    view_in_order(view, "swapaxes", shape, order);
}

void view_axis_rolled(view_room& view, extents_ref shape, index_t axis, index_t start) {
    const int rank = shape.rank, from = checked_axis("rollaxis", axis, rank);
    if (start < -rank || start > rank)
        fail("rollaxis", "start " + std::to_string(start) + " is out of range for rank " + std::to_string(rank));
    const auto before = static_cast<int>(start < 0 ? start + rank : start);
    int order[max_rank];
    for (int j = 0, axis_left = 0; j < rank; ++j) {
        const int to = from < before ? before - 1 : before;
        axis_left += axis_left == from ? 1 : 0;
        order[j] = j == to ? from : axis_left++;
    }
    view_in_order(view, "rollaxis", shape, order);
}

void view_matrices_transposed(view_room& view, extents_ref shape, const char* operation) {
    want_axes(operation, shape, 2);
    view_writer w(view, operation, shape);
    for (int j = 0; j < shape.rank - 2; ++j) w.whole(j);
    w.whole(shape.rank - 1);
    w.whole(shape.rank - 2);
}

void view_mirrored(view_room& view, extents_ref shape, const char* operation, int axis) {
    want_axes(operation, shape, axis + 1);
    view_writer w(view, operation, shape);
    for (int j = 0; j < shape.rank; ++j) j == axis ? w.reversed(j) : w.whole(j);
}

void view_rotated(view_room& view, extents_ref shape, index_t turns, const axes& plane) {
    want_axes("rot90", shape, 2);
    if (plane.count() != 2) fail("rot90", std::to_string(plane.count()) + " axes are no plane, which has 2");
    axis_set("rot90", plane, shape.rank);
    const int from = checked_axis("rot90", plane[0], shape.rank), to = checked_axis("rot90", plane[1], shape.rank);
    const auto quarter = static_cast<int>((turns % 4 + 4) % 4);
    view_writer w(view, "rot90", shape);
    for (int j = 0; j < shape.rank; ++j) {
        const bool first = j == from, turned = first || j == to;
        const int old = quarter % 2 == 0 || !turned ? j : first ? to : from;
        turned && (quarter == 2 || (quarter == 1 && first) || (quarter == 3 && !first)) ? w.reversed(old)
                                                                                        : w.whole(old);
    }
}

void view_at_least(view_room& view, extents_ref shape, int rank) {
    view_writer w(view, "atleast", shape);
    for (int j = shape.rank; j < rank - (shape.rank != 0 && rank == 3 ? 1 : 0); ++j) w.standing(1);
    for (int j = 0; j < shape.rank; ++j) w.whole(j);
    if (view.new_rank < rank) w.standing(1);
}

/// Prepends axes of extent 1.
void view_with_axes(view_room& view, extents_ref shape, int rank) {
    view_writer w(view, "view", shape);
    for (int j = shape.rank; j < rank; ++j) w.standing(1);
    for (int j = 0; j < shape.rank; ++j) w.whole(j);
}

void view_columns(view_room& view, extents_ref shape) {
    view_writer w(view, "column_stack", shape);
    for (int j = 0; j < shape.rank; ++j) w.whole(j);
    while (view.new_rank < 2) w.standing(1);
}

void view_flipped(view_room& view, extents_ref shape, const axes* which) {
    const std::uint64_t set = which ? axis_set("flip", *which, shape.rank) : ~std::uint64_t{0};
    view_writer w(view, "flip", shape);
    for (int j = 0; j < shape.rank; ++j) in_set(set, j) ? w.reversed(j) : w.whole(j);
}

void view_squeezed(view_room& view, extents_ref shape, const axes* which) {
    const std::uint64_t set = which ? axis_set("squeeze", *which, shape.rank) : 0;
    view_writer w(view, "squeeze", shape);
    for (int j = 0; j < shape.rank; ++j) {
        const bool one = shape.data[j] == 1;
        if (in_set(set, j) && !one)
            fail("squeeze", "axis " + std::to_string(j) + " of shape " + to_text(shape.span()) + " is not of extent 1");
        if (which ? !in_set(set, j) : !one) w.whole(j);
    }
}

void view_expanded(view_room& view, extents_ref shape, const axes& which) {
    const int rank = shape.rank + which.count();
    if (rank > max_rank) fail("expand_dims", "the result would have more than " + std::to_string(max_rank) + " axes");
    const std::uint64_t added = axis_set("expand_dims", which, rank);
    view_writer w(view, "expand_dims", shape);
    for (int j = 0, axis = 0; j < rank; ++j) in_set(added, j) ? w.standing(1) : w.whole(axis++);
}

void view_broadcast(view_room& view, extents_ref from, const char* operation, std::span<const index_t> to) {
    check_extents(operation, to);
    const int lead = static_cast<int>(to.size()) - from.rank;
    bool fits = lead >= 0;
    for (int j = 0; fits && j < from.rank; ++j)
        fits = from.data[j] == 1 || from.data[j] == to[static_cast<std::size_t>(lead) + static_cast<std::size_t>(j)];
    if (!fits) fail(operation, "shape " + to_text(from.span()) + " does not broadcast to " + to_text(to));
    view_writer w(view, operation, from);
    for (int j = 0; j < static_cast<int>(to.size()); ++j) {
        const index_t extent = to[static_cast<std::size_t>(j)];
        j < lead || from.data[j - lead] != extent ? w.standing(extent) : w.along(j - lead, extent);
    }
}

void view_windows(view_room& view, extents_ref shape, std::span<const index_t> window, const axes* over) {
    const std::size_t axis_count = over ? over->size() : static_cast<std::size_t>(shape.rank);
    if (window.size() != axis_count)
        fail("sliding_window_view", "a window " + to_text(window) + " has not as many extents as the " +
                                        std::to_string(axis_count) + (axis_count == 1 ? " axis" : " axes") +
                                        " of shape " + to_text(shape.span()));
    int along[max_rank];
    index_t left[max_rank];
    std::copy_n(shape.data, shape.rank, left);
    for (std::size_t k = 0; k < window.size(); ++k) {
        along[k] =
            over ? checked_axis("sliding_window_view", (*over)[static_cast<int>(k)], shape.rank) : static_cast<int>(k);
        index_t& extent = left[along[k]];
        if (window[k] < 0 || window[k] > extent)
            fail("sliding_window_view",
                 "a window " + to_text(window) + " does not fit into shape " + to_text(shape.span()));
        extent -= window[k] - 1;
    }
    view_writer w(view, "sliding_window_view", shape);
    for (int j = 0; j < shape.rank; ++j) w.along(j, left[j]);
    for (std::size_t k = 0; k < window.size(); ++k) w.along(along[k], window[k]);
    check_extents("sliding_window_view", {view.extents, static_cast<std::size_t>(view.new_rank)});
}

void view_diagonal(view_room& view, extents_ref shape, index_t offset, index_t axis1, index_t axis2) {
    if (shape.rank < 2) fail("diagonal", "wants two axes, given shape " + to_text(shape.span()));
    const int row = checked_axis("diagonal", axis1, shape.rank), column = checked_axis("diagonal", axis2, shape.rank);
    if (row == column) fail("diagonal", "axis " + std::to_string(axis1) + " is given twice");
    view_writer w(view, "diagonal", shape);
    for (int j = 0; j < shape.rank; ++j)
        if (j != row && j != column) w.whole(j);
    const index_t rows = shape.data[row], columns = shape.data[column];
    const index_t length = offset >= 0 ? std::min(rows, offset < columns ? columns - offset : 0)
                                       : std::min(columns, offset > -rows ? rows + offset : 0);
    if (length > 0) w.begin_at(offset >= 0 ? column : row, offset >= 0 ? offset : -offset);
    w.along(row, length);
    view.walks[view.step_count++] = {view.new_rank - 1, column, 1};
}

bool view_assigned(view_room& view, const char* operation, extents_ref from, extents_ref to) {
    const int lead = std::max(from.rank - to.rank, 0), before = to.rank - (from.rank - lead);
    bool fits = std::all_of(from.data, from.data + lead, [](index_t n) { return n == 1; });
    for (int j = lead; fits && j < from.rank; ++j)
        fits = from.data[j] == 1 || from.data[j] == to.data[before + j - lead];
    if (!fits) fail(operation, "shape " + to_text(from.span()) + " does not broadcast into " + to_text(to.span()));
    if (lead == 0) return false;
    view_writer w(view, operation, from);
    for (int j = lead; j < from.rank; ++j) w.whole(j);
    return true;
}

void view_trailing(view_room& view, extents_ref mask, int axes) {
    view_writer w(view, "index", mask);
    for (int j = 0; j < mask.rank; ++j) w.whole(j);
    for (int j = 0; j < axes; ++j) w.standing(1);
}

std::span<const index_t> shape_under_masks(shape_room& room, extents_ref of, const index_item* items,
                                           const extents_ref* masks, int count) {
    int taken = 0, added = 0;
    for (int k = 0; k < count; ++k) {
        if (items[k].what == form::array) taken += masks[k].rank < 0 ? 1 : masks[k].rank, added += masks[k].rank == 0;
        if (items[k].what == form::slice || items[k].what == form::integer) ++taken;
    }
    if (taken > of.rank)
        throw index_error("[index] indices for " + std::to_string(taken) + " axes of an array of " +
                          std::to_string(of.rank));
    if (of.rank + added > max_rank)
        fail("index", "the result would have " + std::to_string(of.rank + added) + " axes, more than 64");
    int n = 0, axis = 0;
    const auto pass_over = [&](int axes) {
        for (int j = 0; j < axes; ++j) room[n++] = of.data[axis++];
    };
    for (int k = 0; k < count; ++k) {
        if (items[k].what == form::newaxis) continue;
        if (items[k].what == form::ellipsis) {
            pass_over(of.rank - taken);
            taken = of.rank;
        } else if (masks[k].rank < 0) {
            pass_over(1);
        } else {
            room[n] = 1;
            for (int j = 0; j < masks[k].rank; ++j, ++axis) {
                if (masks[k].data[j] != of.data[axis])
                    fail("index", "a mask of shape " + to_text(masks[k].span()) + " whose axis " + std::to_string(j) +
                                      " selects along axis " + std::to_string(axis) + " of shape " +
                                      to_text(of.span()) + "; it has to have that axis's extent");
                room[n] *= of.data[axis];
            }
            ++n;
        }
    }
    pass_over(of.rank - axis);
    return {room, static_cast<std::size_t>(n)};
}

void check_mask(extents_ref mask, extents_ref of) {
    if (mask.rank > of.rank || !std::equal(mask.data, mask.data + mask.rank, of.data))
        fail("index", "a mask of shape " + to_text(mask.span()) + " for an array of shape " + to_text(of.span()) +
                          ", whose first axes it has to have");
}

std::span<const index_t> shape_under_mask(shape_room& room, extents_ref mask, extents_ref of) {
    room[0] = 1;
    for (int j = 0; j < mask.rank; ++j) room[0] *= of.data[j];
    std::copy(of.data + mask.rank, of.data + of.rank, room + 1);
    return {room, static_cast<std::size_t>(1 + of.rank - mask.rank)};
}

void view_along_axis(view_room& source, view_room& index, const char* operation, extents_ref source_shape,
                     extents_ref index_shape, index_t axis) {
    const int rank = source_shape.rank, along = checked_axis(operation, axis, rank);
    const auto disagree = [&] {
        fail(operation, "indices of shape " + to_text(index_shape.span()) + " along axis " + std::to_string(axis) +
                            " of shape " + to_text(source_shape.span()));
    };
    if (index_shape.rank != rank) disagree();
    view_writer from(source, operation, source_shape), at(index, operation, index_shape);
    for (int j = 0; j < rank; ++j) {
        const index_t own = source_shape.data[j], asked = index_shape.data[j];
        if (j == along) {
            from.standing(asked);
            at.whole(j);
            continue;
        }
        if (own != asked && own != 1 && asked != 1) disagree();
        const index_t extent = own == 1 ? asked : own;
        own == extent ? from.whole(j) : from.standing(extent);
        asked == extent ? at.whole(j) : at.standing(extent);
    }
    from.whole(along);
    const auto asked = index_shape.span();
    if (source_shape.data[along] == 0 && std::ranges::find(asked, 0) == asked.end())
        throw index_error("[" + std::string(operation) + "] nothing to take from: axis " + std::to_string(axis) +
                          " of shape " + to_text(source_shape.span()) + " is empty");
}

void view_main_diagonal(view_room& view, const char* operation, extents_ref shape) {
    const auto extents = shape.span();
    if (shape.rank < 2 || (shape.rank > 2 && std::ranges::count(extents, extents[0]) != shape.rank))
        fail(operation, "wants two axes, or more that are of one extent, given shape " + to_text(extents));
    view_writer w(view, operation, shape);
    w.along(0, *std::ranges::min_element(extents));
    for (int j = 1; j < shape.rank; ++j) view.walks[view.step_count++] = {0, j, 1};
}

void check_viewed(const layout& then, const layout& now) {
    if (!same_shape(then, now) || then.offset != now.offset ||
        !std::equal(then.strides(), then.strides() + then.rank(), now.strides()))
        fail("view", "the array was assigned to after the view was made: of shape " + to_text(then.extents()) +
                         ", now " + to_text(now.extents()));
}

bool view_as_matrix(view_room& view, extents_ref shape, bool row) {
    if (shape.rank == 0) fail("matmul", "a number has no axes: a * b multiplies by one");
    if (shape.rank != 1) return false;
    view_writer w(view, "matmul", shape);
    if (row) w.standing(1);
    w.whole(0);
    if (!row) w.standing(1);
    return true;
}

bool view_of_product(view_room& view, extents_ref product, bool row, bool column) {
    if (!row && !column) return false;
    view_writer w(view, "matmul", product);
    for (int j = 0; j < product.rank; ++j) {
        const bool goes = (row && j == product.rank - 2) || (column && j == product.rank - 1);
        if (!goes) w.whole(j);
    }
    return true;
}

void check_product(extents_ref left, extents_ref right, bool row, bool column) {
    if (left.data[left.rank - 1] != right.data[right.rank - 2])
        fail("matmul", "shapes " + to_text(left.span().subspan(row ? 1 : 0)) + " and " +
                           to_text(right.span().first(static_cast<std::size_t>(right.rank - (column ? 1 : 0)))) +
                           " do not fit: axis " + std::to_string(row ? 0 : left.rank - 1) +
                           " of the first has to be as long as axis " + std::to_string(column ? 0 : right.rank - 2) +
                           " of the second");
}

}  // namespace ingot::detail
