// Checks the shapes of parts to be joined.
#include <ingot/core/joins.hpp>

#include <algorithm>
#include <string>

#include <ingot/core/error.hpp>

namespace ingot::detail {

namespace {

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

void check_alike(const char* operation, std::span<const other_operand> parts) {
    if (parts.empty()) fail(operation, "of nothing: one array or more are wanted");
    for (const other_operand& part : parts)
        if (!same_extents(part.shape, parts[0].shape)) fail(operation, both(parts[0].shape, part.shape) + " differ");
}

extents_ref merged_behind(shape_room& room, extents_ref shape, int axis) {
    std::copy_n(shape.data, axis, room);
    room[axis] = extents_ref{shape.data + axis, shape.rank - axis}.size();
    return {room, axis + 1};
}

}  // namespace ingot::detail

namespace ingot {

shape_like broadcast_shapes(const shape_like& a, const shape_like& b, const shape_like& c, const shape_like& d) {
    const shape_like shapes[] = {a, b, c, d};  // () broadcasts to any
    return detail::broadcast_shape_of("broadcast_shapes", shapes);
}

}  // namespace ingot
