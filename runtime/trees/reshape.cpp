// Infers the shape of a reshape, and decides whether strides alone can express it.
#include <ingot/core/reshape.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include <ingot/core/error.hpp>

namespace ingot::detail {

std::span<const index_t> infer_shape(shape_room& room, const char* operation, extents_ref shape,
                                     std::span<const index_t> wanted) {
    const auto fail = [&](const char* why) {
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(shape.span()) + " as " + to_text(wanted) +
                          ": " + why);
    };
    index_t size = 1, known = 1;
    for (const index_t n : shape.span()) size *= n;
    std::size_t open = wanted.size();
    std::copy(wanted.begin(), wanted.end(), room);
    for (std::size_t j = 0; j < wanted.size(); ++j) {
        if (wanted[j] == -1) {
            if (open != wanted.size()) fail("only one extent may be -1");
            open = j;
        } else {
            if (wanted[j] < 0) fail("an extent is negative");
            if (__builtin_mul_overflow(known, wanted[j], &known)) fail("the sizes differ");
        }
    }
    if (open != wanted.size()) {
        if (known == 0 || size % known != 0) fail("no extent in place of -1 gives that size");
        room[open] = size / known;
    } else if (known != size) {
        fail("the sizes differ");
    }
    check_extents(operation, {room, wanted.size()});
    return {room, wanted.size()};
}

shape_like flattened_shape(extents_ref shape, index_t first, index_t last) {
    if (shape.rank == 0) return 1;
    const int from = checked_axis("flatten", first, shape.rank), to = checked_axis("flatten", last, shape.rank);
    if (from > to)
        throw shape_error("[flatten] axes " + std::to_string(first) + " to " + std::to_string(last) + " of shape " +
                          to_text(shape.span()) + ": the first stands behind the last");
    std::vector<index_t> extents(shape.data, shape.data + from + 1);
    for (int j = from + 1; j <= to; ++j) extents.back() *= shape.data[j];
    extents.insert(extents.end(), shape.data + to + 1, shape.data + shape.rank);
    return extents;
}

shape_like unflattened_shape(extents_ref shape, index_t axis, const shape_like& extents) {
    const int at = checked_axis("unflatten", axis, shape.rank);
    shape_room room;
    const std::span<const index_t> parts = infer_shape(room, "unflatten", {shape.data + at, 1}, extents.values());
    std::vector<index_t> result(shape.data, shape.data + at);
    result.insert(result.end(), parts.begin(), parts.end());
    result.insert(result.end(), shape.data + at + 1, shape.data + shape.rank);
    return result;
}

bool try_reshape(layout& l, std::span<const index_t> new_shape, int bound) {
    const int lead = l.rank() - bound, new_rank = static_cast<int>(new_shape.size());
    layout result(new_rank + bound);
    result.offset = l.offset;
    std::copy(new_shape.begin(), new_shape.end(), result.shape());
    std::fill_n(result.strides(), new_rank, index_t{0});
    std::copy_n(l.shape() + lead, bound, result.shape() + new_rank);
    std::copy_n(l.strides() + lead, bound, result.strides() + new_rank);

    index_t size = 1, new_size = 1;
    for (int j = 0; j < lead; ++j) size *= l.shape()[j];
    for (const index_t n : new_shape) new_size *= n;
    if (size != new_size) return false;
    if (size == 0)  // an empty view still moves along all axes: it must not look like a broadcast
        std::copy_n(contiguous_layout(new_shape).strides(), new_rank, result.strides());
    // From the innermost axes outwards, find the shortest runs of old and new axes with equally many elements. Within a
    // run the old axes must form one axis cut in pieces; the new ones are the same axis cut otherwise.
    for (int old_axis = lead - 1, new_axis = new_rank - 1; size != 0 && old_axis >= 0 && new_axis >= 0;) {
        if (l.shape()[old_axis] == 1) {
            --old_axis;
            continue;
        }
        const index_t step = l.strides()[old_axis];
        index_t old_count = l.shape()[old_axis], new_count = 1;
        --old_axis;
        while (true) {
            for (; new_axis >= 0 && new_count < old_count; --new_axis) {
                if (new_shape[static_cast<std::size_t>(new_axis)] == 1) continue;
                result.strides()[new_axis] = step * new_count;
                new_count *= new_shape[static_cast<std::size_t>(new_axis)];
            }
            if (new_count == old_count) break;
            for (; l.shape()[old_axis] == 1; --old_axis) {
            }
            if (l.strides()[old_axis] != step * old_count) return false;
            old_count *= l.shape()[old_axis];
            --old_axis;
        }
    }
    l = std::move(result);
    return true;
}

}  // namespace ingot::detail
