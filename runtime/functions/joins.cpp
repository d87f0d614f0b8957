// Joins of parts, and checks of their shapes.
#include <ingot/core/joins.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/functions/every_dtype.hpp"

namespace ingot::detail {

namespace {

/// The facts of a join: the axis, the device, and the result's shape.
struct joint {
    int axis = 0;
    device_id device = no_device;
    int rank = 0;
    shape_room shape;

    extents_ref extents() const { return {shape, rank}; }
    /// The number of elements of the axes behind the joint one.
    index_t inner() const { return extents_ref{shape + axis + 1, rank - axis - 1}.size(); }
};
[[noreturn]] void fail(const char* operation, const std::string& text) {
    throw shape_error("[" + std::string(operation) + "] " + text);
}

std::string both(extents_ref a, extents_ref b) { return "shapes " + to_text(a.span()) + " and " + to_text(b.span()); }

}  // namespace

shape_like broadcast_shape_of(const char* operation, std::span<const shape_like> shapes) {
    if (shapes.empty()) fail(operation, "of nothing: one array or more are wanted");
    std::vector<extents_ref> all;
    for (const shape_like& s : shapes) all.push_back(extents_ref::of(s.values()));
    shape_room room;
    int rank = 0;
    const int source = broadcast_shapes(operation, all.data(), static_cast<int>(all.size()), room, rank);
    return source >= 0 ? shapes[static_cast<std::size_t>(source)] : shape_like(extents_ref{room, rank}.span());
}

void check_alike(const char* operation, std::span<const other_operand> parts) {
    if (parts.empty()) fail(operation, "of nothing: one array or more are wanted");
    for (const other_operand& part : parts)
        if (!same_extents(part.shape, parts[0].shape)) fail(operation, both(parts[0].shape, part.shape) + " differ");
}

namespace {

void find_joint(joint& j, const char* operation, std::span<const other_operand> parts, index_t axis) {
    if (parts.empty()) fail(operation, "of nothing: one array or more are wanted");
    const extents_ref first = parts[0].shape;
    if (first.rank == 0) fail(operation, "an array without axes, of shape (): expand_dims(e, 0) has one");
    j.axis = checked_axis(operation, axis, first.rank);
    j.rank = first.rank;
    std::copy_n(first.data, first.rank, j.shape);
    j.device = parts[0].device;
    for (const other_operand& part : parts.subspan(1)) {
        if (part.shape.rank != first.rank) fail(operation, both(first, part.shape) + " differ in their number of axes");
        for (int a = 0; a < first.rank; ++a)
            if (a != j.axis && part.shape.data[a] != first.data[a])
                fail(operation, both(first, part.shape) + " differ on axis " + std::to_string(a) +
                                    ", and are joined along axis " + std::to_string(j.axis));
        j.shape[j.axis] += part.shape.data[j.axis];
        if (j.device == no_device)
            j.device = part.device;
        else if (part.device != no_device && part.device != j.device)
            throw_two_devices(operation, j.device, part.device);
    }
    check_extents(operation, j.extents().span());
}

/// The shape of a part, or of the whole, with the axes from the joint one on merged to one.
extents_ref merged_behind(shape_room& room, extents_ref shape, int axis) {
    std::copy_n(shape.data, axis, room);
    room[axis] = extents_ref{shape.data + axis, shape.rank - axis}.size();
    return {room, axis + 1};
}

/// Every element of that shape, read from its part.
template <class T>
lazy<T> read_in_turn(const char* operation, const lazy_parts<T>& parts, int axis, extents_ref shape) {
    layout counter = contiguous_layout(shape.span());
    for (int j = 0; j < counter.rank(); ++j) counter.strides()[j] = j == axis ? 1 : 0;
    const auto position = positions<T>(std::move(counter));
    const auto placed = [&](const lazy<T>& part, index_t start) -> lazy<T> {
        if (part.shape()[axis] == 1) return viewed_to_read(part, view_broadcast, operation, shape.span());
        return beyond_ends<place_rule::nearest>(operation, part, axis, -start, shape.data[axis]);
    };
    index_t end = shape.data[axis], start = end - parts.back().shape()[axis];
    lazy<T> result = placed(parts.back(), start);
    for (std::size_t k = parts.size() - 1; k-- > 0;) {
        end = start;
        start -= parts[k].shape()[axis];
        result = where(position < end, placed(parts[k], start), result);
    }
    return result;
}

template <class T>
lazy<T> write_in_turn(const char* operation, const lazy_parts<T>& parts, const joint& j) {
    const device_id device = j.device == no_device ? current_place() : j.device;
    array<T> whole(adopted{}, new_leaf<T>(operation, j.extents().span(), device));
    index_t start = 0;
    for (const lazy<T>& part : parts) {
        const index_t end = start + part.shape()[j.axis];
        write(operation, viewed(whole, view_sliced, operation, index_t{j.axis}, as_index_item(slice(start, end))),
              part);
        start = end;
    }
    return whole;
}

}  // namespace

template <class T>
lazy<T> joined(const char* operation, lazy_parts<T> parts, index_t axis) {
    joint j;
    find_joint(j, operation, facts_of_parts(parts), axis);
    const lazy<T> first = parts.front();
    std::erase_if(parts, [axis = j.axis](const lazy<T>& part) { return part.shape()[axis] == 0; });
    if (parts.empty()) return first;
    if (parts.size() == 1) return parts.front();
    if (parts.size() > most_lazy_parts) return write_in_turn(operation, parts, j);
    // Where the axes from the joint one on merge to one in every part, the element nearest to an index beyond a part is
    // always the same one, so unused values cost no memory traffic. Parts of one element along the axis are broadcast
    // along it instead.
    // Arrays in parts keep their axes, by which they are split.
    bool are_single = true, are_in_parts = false;
    for (const lazy<T>& part : parts) {
        are_single = are_single && part.shape()[j.axis] == 1;
        are_in_parts = are_in_parts || part.on_device().kind() == device_kind::distributed;
    }
    if (j.inner() > 1 && !are_single && !are_in_parts) {
        lazy_parts<T> merged = parts;
        shape_room room, unused;
        bool possible = true;
        for (lazy<T>& part : merged)
            possible = possible && part.try_reshape(merged_behind(room, part.extents(unused), j.axis).span(), 0);
        if (possible) {
            lazy<T> whole = read_in_turn(operation, merged, j.axis, merged_behind(room, j.extents(), j.axis));
            if (whole.try_reshape(j.extents().span(), 0)) return whole;
        }
    }
    return read_in_turn(operation, parts, j.axis, j.extents());
}

#define INGOT_JOINED(T) template INGOT_API lazy<T> joined(const char*, lazy_parts<T>, index_t);
INGOT_FOR_EVERY_DTYPE(INGOT_JOINED)

}  // namespace ingot::detail

namespace ingot {

shape_like broadcast_shapes(const shape_like& a, const shape_like& b, const shape_like& c, const shape_like& d) {
    const shape_like shapes[] = {a, b, c, d};  // () broadcasts to any
    return detail::broadcast_shape_of("broadcast_shapes", shapes);
}

}  // namespace ingot
