// Un-sharing, and the choice between writing in place and into new memory.
#include <algorithm>

#include <ingot/array.hpp>
#include <ingot/creation.hpp>
#include <ingot/error.hpp>

#include "runtime/device.hpp"
#include "runtime/left_out.hpp"
#include "runtime/transfer.hpp"

namespace ingot::detail {

namespace {

bool in_place(const buffer_ref& memory, std::uint32_t own) { return memory && (memory->unowned || memory.unique(own)); }

/// `part` of the target as the tree's result is written to it: leading axes of one element that the result has beyond
/// the target's are put before them.
layout with_leading_axes(const char* operation, extents_ref from, const destination& to, const layout& part) {
    const int lead = to.keeps_rank ? 0 : std::max(from.rank - part.rank(), 0);
    layout seen(lead + part.rank());
    std::fill_n(seen.shape(), lead, index_t{1});
    std::fill_n(seen.strides(), lead, index_t{0});
    std::copy_n(part.shape(), part.rank(), seen.shape() + lead);
    std::copy_n(part.strides(), part.rank(), seen.strides() + lead);
    seen.offset = part.offset;
    const int before = seen.rank() - from.rank;
    bool fits = before >= 0;
    for (int j = 0; fits && j < from.rank; ++j) fits = from.data[j] == 1 || from.data[j] == seen.shape()[before + j];
    if (!fits)
        throw shape_error("[" + std::string(operation) + "] shape " + to_text(from.span()) +
                          " does not broadcast into " + to_text(part.extents()));
    return seen;
}

void check_devices(const char* operation, std::span<const operand> operands, const buffer& to) {
    for (const operand& o : operands)
        if (o.memory && !(o.memory->device == to.device)) throw_two_devices(operation, to.device, o.memory->device);
}

void evaluate_into(const tree& t, const output& out) {
    v1::evaluate(t.cache, t.program, t.operands, t.attributes, {&out, 1});
}

/// Whether writing elements of the buffer through `where` while the tree is read could go wrong, or need a copy.
bool reads_otherwise(const tree& t, const buffer* b, const layout& where) {
    bool binders = false, reads = false, other = false;
    for (word w : t.program) binders = binders || is_binder(kind_of_word(w)) || kind_of_word(w) == word_kind::lazy;
    for (const operand& o : t.operands) {
        if (o.kind == operand_kind::lazy) reads = true;
        if (o.memory != b) continue;
        reads = true;
        other = other || o.where->offset != where.offset || !same_shape(*o.where, where) ||
                !std::equal(where.strides(), where.strides() + where.rank(), o.where->strides());
    }
    return reads && (binders || other);
}

/// The current stream, or the default one of another device.
runtime::stream_state& stream_on(device_id device) {
    runtime::stream_state& current = *runtime::current().stream;
    return current.device == device ? current : *runtime::state_of(device).default_stream;
}

device_id device_of_operands(const tree& t, device_id otherwise) {
    for (const operand& o : t.operands)
        if (o.memory) return o.memory->device;
    return otherwise;
}

/// Whether an update of a whole array had better leave it in other memory, which spares copying back what has to be
/// computed elsewhere. What a lazy reads is not seen here.
bool had_better_move(const tree& t, const destination& to) {
    const auto is_lazy = [](const operand& o) { return o.kind == operand_kind::lazy; };
    return to.keeps_rank && to.memory && !to.memory->unowned && !to.memory->externally_visible &&
           std::ranges::none_of(t.operands, is_lazy) && reads_otherwise(t, to.memory.get(), to.where);
}

/// A selection is of the array as it was when it was made.
void check_not_assigned(const char* operation, const destination& to, const buffer* from) {
    if (to.memory.get() != from)
        throw shape_error("[" + std::string(operation) + "] the array was assigned to after the selection was made");
}

}  // namespace

void assign_array(const tree& t, destination to, std::uint32_t own) {
    layout where = contiguous_layout(t.shape.span());
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * size_of(to.type);
    const bool fits = to.memory && device_of_operands(t, to.memory->device) == to.memory->device &&
                      (to.memory->unowned ? same_shape(where, to.where)
                                          : to.memory->bytes == bytes && !reads_otherwise(t, to.memory.get(), where));
    if (fits && in_place(to.memory, own)) {
        if (to.memory->unowned) where = to.where;
        evaluate_into(t, {to.type, &to.memory, &where});
    } else {
        buffer_ref memory;
        evaluate_into(t, {to.type, &memory, &where});
        to.memory = std::move(memory);
    }
    to.where = std::move(where);
}

void assign_elements(const char* operation, const tree& t, destination to, std::uint32_t own) {
    layout seen = with_leading_axes(operation, t.shape, to, to.where);
    if (to.memory) check_devices(operation, t.operands, *to.memory);
    if (in_place(to.memory, own) && !had_better_move(t, to)) return evaluate_into(t, {to.type, &to.memory, &seen});
    buffer_ref memory;
    layout where;
    allocate_array(operation, {to.type, memory, where}, to.where.extents(),
                   to.memory ? to.memory->device : runtime::current().device);
    seen = with_leading_axes(operation, t.shape, to, where);
    evaluate_into(t, {to.type, &memory, &seen});
    to.memory = std::move(memory);
    to.where = std::move(where);
}

void assign_together(const char* operation, slot& cache, const several& trees,
                     std::span<const joint_assignment> assignments) {
    for (const joint_assignment& a : assignments) {
        check_not_assigned(operation, a.to, a.from);
        if (!same_shape(a.part, assignments[0].part))
            throw shape_error("[" + std::string(operation) + "] targets of shapes " +
                              to_text(assignments[0].part.extents()) + " and " + to_text(a.part.extents()) +
                              ": one kernel writes one shape");
        if (a.to.memory) check_devices(operation, trees.operands, *a.to.memory);
    }
    std::vector<layout> seen;
    std::vector<output> outputs;
    seen.reserve(assignments.size());
    for (const joint_assignment& a : assignments) {
        if (!a.to.memory) return;  // no elements
        seen.push_back(a.part);
        if (!in_place(a.to.memory, a.own)) a.to.memory = copy_of(a.to.memory, a.to.memory->device);
        outputs.push_back({a.to.type, &a.to.memory, &seen.back()});
    }
    v1::evaluate(cache, trees.program, trees.operands, trees.attributes, outputs);
}

void assign_selected(const char* operation, const tree& t, destination to, const buffer* from, const layout& part,
                     std::uint32_t own) {
    check_not_assigned(operation, to, from);
    layout seen = with_leading_axes(operation, t.shape, to, part);
    if (!to.memory) return;  // no elements
    check_devices(operation, t.operands, *to.memory);
    if (in_place(to.memory, own)) return evaluate_into(t, {to.type, &to.memory, &seen});
    const device_id device = to.memory->device;
    buffer_ref memory = allocate_buffer(to.memory->bytes, device, stream_on(device));
    runtime::copy_left_out(to.type, *to.memory, memory, to.where, part);
    evaluate_into(t, {to.type, &memory, &seen});
    to.memory = std::move(memory);
}

void make_unique(buffer_ref& memory) {
    if (memory && !in_place(memory, 1)) memory = copy_of(memory, memory->device);
}

buffer_ref copy_of(const buffer_ref& memory, device_id to) {
    buffer_ref copy = allocate_buffer(memory->bytes, to, stream_on(to));
    runtime::copy(*copy, 0, *memory, 0, memory->bytes, *runtime::current().stream);
    return copy;
}

}  // namespace ingot::detail
