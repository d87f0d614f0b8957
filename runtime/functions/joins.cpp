// Joins of parts, and checks of their shapes.
#include <ingot/core/joins.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/front/evaluate.hpp"
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

/// One kernel writes so many parts at most.
constexpr std::size_t most_parts_together = 16;
constinit slot of_parts;

/// Writes each part to its place in an array. `places`: of as many parts.
template <class T>
void write_parts(leaf<T>& whole, std::span<const lazy<T>> parts, std::span<layout> places) {
    const auto write = [&](std::size_t first, std::size_t count) {
        std::vector<word> program;
        std::vector<operand> operands;
        std::vector<output> outputs;
        for (std::size_t k = first; k < first + count; ++k) {
            program.push_back(make_word(word_kind::lazy, dtype_of<T>));
            operand& o = operands.emplace_back();
            o.kind = operand_kind::lazy;
            o.type = dtype_of<T>;
            o.tree = parts[k].tree().get();
            outputs.push_back({dtype_of<T>, &whole.memory(), &places[k]});
        }
        const runtime::statement s{program, operands, {}, outputs};
        if (count > 1 && runtime::binds_many_axes(s)) return false;
        v1::evaluate(of_parts, program, operands, {}, outputs);
        return true;
    };
    for (std::size_t first = 0, count = 0; first < parts.size(); first += count) {
        const auto is_alike = [&](std::size_t k) { return same_shape(places[k], places[first]); };
        for (count = 1; first + count < parts.size() && count < most_parts_together && is_alike(first + count);)
            ++count;
        if (!write(first, count))
            for (std::size_t k = 0; k < count; ++k) write(first + k, 1);
    }
}

template <class T>
bool have_parts_on_ranks(const lazy_parts<T>& parts) {
    return std::ranges::any_of(parts,
                               [](const lazy<T>& part) { return part.on_device().kind() == device_kind::distributed; });
}

/// A part's place in the layout of the whole.
layout place_of(const layout& whole, int axis, index_t start, index_t extent) {
    layout l = whole;
    l.offset += start * l.strides()[axis];
    l.shape()[axis] = extent;
    return l;
}
layout without_axis(const layout& of, int axis) {
    layout l(of.rank() - 1);
    l.offset = of.offset;
    for (int j = 0; j < l.rank(); ++j) {
        l.shape()[j] = of.shape()[j + (j >= axis)];
        l.strides()[j] = of.strides()[j + (j >= axis)];
    }
    return l;
}

/// The join as an array. `is_new_axis`: the parts lack the joint axis, along which each is one element.
template <class T>
lazy<T> write_at_once(const char* operation, const lazy_parts<T>& parts, const joint& j, bool is_new_axis) {
    const device_id device = j.device == no_device ? current_place() : j.device;
    leaf<T> whole = new_leaf<T>(operation, j.extents().span(), device);
    const layout all = contiguous_layout(j.extents().span());
    std::vector<layout> places;
    index_t start = 0;
    for (const lazy<T>& part : parts) {
        const index_t extent = is_new_axis ? 1 : part.shape()[j.axis];
        layout place = place_of(all, j.axis, start, extent);
        places.push_back(is_new_axis ? without_axis(place, j.axis) : std::move(place));
        start += extent;
    }
    if (all.size() > 0) write_parts<T>(whole, parts, places);
    return array<T>(adopted{}, std::move(whole));
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
    const bool are_in_parts = have_parts_on_ranks(parts);
    if (parts.size() > most_lazy_parts && !are_in_parts) return write_at_once(operation, parts, j, false);
    // Where the axes from the joint one on merge to one in every part, the element nearest to an index beyond a part is
    // always the same one, so unused values cost no memory traffic. Parts of one element along the axis are broadcast
    // along it instead.
    // Arrays in parts keep their axes, by which they are split.
    const bool are_single =
        std::ranges::all_of(parts, [axis = j.axis](const lazy<T>& part) { return part.shape()[axis] == 1; });
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

template <class T>
lazy<T> joined_along_new(const char* operation, lazy_parts<T> parts, int axis) {
    if (parts.size() <= most_lazy_parts || have_parts_on_ranks(parts)) {
        for (lazy<T>& part : parts) part = expand_dims(part, axis);
        return joined(operation, std::move(parts), axis);
    }
    // Parts with an axis more would be other trees, which share nothing.
    std::vector<other_operand> facts = facts_of_parts(parts);
    shape_room room;
    const extents_ref own = facts[0].shape;
    if (own.rank == max_rank)
        fail(operation, "arrays of rank " + std::to_string(own.rank) + ", and no more axes are possible");
    std::copy_n(own.data, axis, room);
    room[axis] = 1;
    std::copy_n(own.data + axis, own.rank - axis, room + axis + 1);
    for (other_operand& part : facts) part.shape = {room, own.rank + 1};
    joint j;
    find_joint(j, operation, facts, axis);
    return write_at_once(operation, parts, j, true);
}

#define INGOT_JOINED(T)                                                     \
    template INGOT_API lazy<T> joined(const char*, lazy_parts<T>, index_t); \
    template INGOT_API lazy<T> joined_along_new(const char*, lazy_parts<T>, int);
INGOT_FOR_EVERY_DTYPE(INGOT_JOINED)

}  // namespace ingot::detail

namespace ingot {

shape_like broadcast_shapes(const shape_like& a, const shape_like& b, const shape_like& c, const shape_like& d) {
    const shape_like shapes[] = {a, b, c, d};  // () broadcasts to any
    return detail::broadcast_shape_of("broadcast_shapes", shapes);
}

}  // namespace ingot
