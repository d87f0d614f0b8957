// Un-sharing, and the choice between writing in place and into new memory.
#include <algorithm>
#include <string>
#include <vector>

#include <ingot/core/array.hpp>
#include <ingot/core/array_indexing.hpp>
#include <ingot/core/creation.hpp>
#include <ingot/core/error.hpp>
#include <ingot/kernels/user_kernels.hpp>

#include "runtime/device/copy_complement.hpp"
#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/iterate.hpp"
#include "runtime/front/overlap.hpp"
#include "runtime/system/small_array.hpp"
#include "runtime/trees/tree.hpp"

namespace ingot::detail {

namespace {

bool in_place(const buffer_ref& memory, std::uint32_t own) {
    if (!memory || !memory->unowned) {
        const bool is_alone = memory && memory.unique(own);
        if (memory && !is_alone)
            if (const runtime::graph_capture* const capture = runtime::capture_of_thread())
                capture->check_may_move(*memory);
        return is_alone;
    }
    if (memory->read_only) runtime::throw_read_only("assign");
    return true;
}

/// `part` of the target, with leading axes of extent 1 prepended where the result has more axes than the target.
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

device_id device_of(const operand& o) {
    if (o.memory != nullptr) return o.memory->device;
    if (o.kind == operand_kind::lazy) return static_cast<const runtime::tree_node*>(o.tree)->device;
    return o.kind == operand_kind::generator ? o.device : no_device;
}

void check_devices(const char* operation, std::span<const operand> operands, const buffer& to) {
    for (const operand& o : operands)
        if (const device_id from = device_of(o); !may_meet(from, to.device))
            throw_two_devices(operation, to.device, from);
}

void evaluate_into(const tree& t, const output& out, const runtime::repetition& repeated = {}) {
    runtime::statement s{t.program, t.operands, t.attributes, {&out, 1}};
    s.repeated = repeated;
    runtime::evaluate(t.cache, s);
}

/// Whether the tree reads the buffer in a way that makes writing its elements through `where` unsafe or needs a copy.
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
    device_id device = no_device;
    for (const operand& o : t.operands) meet(device, device_of(o));
    return device == no_device ? otherwise : device;
}

/// Whether updating a whole array is better done in new memory: the tree reads the array otherwise, so a result would
/// be computed elsewhere and copied back. The operands of a lazy are not examined here. Launches of a graph would not
/// see the new memory.
bool had_better_move(const tree& t, const destination& to) {
    const auto is_lazy = [](const operand& o) { return o.kind == operand_kind::lazy; };
    return runtime::capture_of_thread() == nullptr && to.keeps_rank && to.memory && !to.memory->unowned &&
           !to.memory->externally_visible && std::ranges::none_of(t.operands, is_lazy) &&
           reads_otherwise(t, to.memory.get(), to.where);
}

const runtime::distributed_functions* functions_for(const buffer_ref& memory) noexcept {
    return memory && memory->device.kind() == device_kind::distributed ? runtime::for_distributed.load() : nullptr;
}

/// Allocates memory for an array and copies into it all elements outside `part`.
buffer_ref with_complement(const destination& to, const layout& part) {
    if (const auto* const distributed = functions_for(to.memory)) return distributed->like_around(*to.memory, part);
    const device_id device = to.memory->device;
    buffer_ref memory = allocate_buffer(to.memory->bytes, device, stream_on(device));
    runtime::copy_complement(to.type, *to.memory, memory, to.where, part);
    return memory;
}

/// A selection refers to the array as it was when the selection was made.
void check_not_assigned(const char* operation, const destination& to, const buffer* from) {
    if (to.memory.get() != from)
        throw shape_error("[" + std::string(operation) + "] the array was assigned to after the selection was made");
}

/// Whether an array of a joint assignment is written in place. All selections among the targets end with the statement.
bool stays(const joint_assignment& a, std::span<const joint_assignment> all) {
    std::uint32_t own = 1 + a.own;
    for (const joint_assignment& b : all) own += b.is_selection && b.from == a.from;
    return in_place(a.to.memory, own);
}

std::string describe(std::size_t number, const joint_assignment& a) {
    const auto each = static_cast<index_t>(size_of(a.to.type));
    std::vector<index_t> strides(a.part.strides(), a.part.strides() + a.part.rank());
    for (index_t& s : strides) s *= each;
    return std::to_string(number) + " (" + std::string(facts(a.to.type).name) + ", shape " + to_text(a.part.extents()) +
           ", strides " + to_text(strides) + " from byte " + std::to_string(a.part.offset * each) + ")";
}

/// Throws where two targets have elements in common. Targets of different arrays that share a buffer pass: one of them
/// is split. Memory that is always written in place is compared too.
void check_targets_are_disjoint(const char* operation, std::span<const joint_assignment> all) {
    for (std::size_t k = 1; k < all.size(); ++k)
        for (std::size_t i = 0; i < k; ++i) {
            const joint_assignment &a = all[i], &b = all[k];
            const buffer &of_a = *a.to.memory, &of_b = *b.to.memory;
            const bool one_array = &a.to.memory == &b.to.memory;
            if (!one_array && (!runtime::share_bytes(of_a, of_b) || !stays(a, all) || !stays(b, all))) continue;
            if (runtime::share_a_byte({of_a, a.part, a.to.type}, {of_b, b.part, b.to.type},
                                      runtime::candidates_for_error))
                throw shape_error("[" + std::string(operation) + "] targets " + describe(i, a) + " and " +
                                  describe(k, b) +
                                  " have elements in common: targets of one statement must not overlap");
        }
}

/// Assigns a lazy that is a whole array, such as a join that was written at once, as an array is assigned: both share
/// the memory. Returns false, and does nothing, for other trees.
bool share_whole_array(const tree& t, const destination& to) {
    if (t.program.size() != 1 || kind_of_word(t.program[0]) != word_kind::lazy ||
        runtime::capture_of_thread() != nullptr)
        return false;
    const auto* const node = static_cast<const tree_node*>(t.operands[0].tree);
    buffer_ref memory;
    layout where;
    if (dtype_of_word(node->code) != to.type || !find_leaf(*node, memory, where)) return false;
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * size_of(to.type);
    if (!memory || memory->unowned || memory->bytes != bytes || where.offset != 0 || !is_in_c_order(where) ||
        memory->device.kind() == device_kind::distributed || (to.memory && runtime::is_in_graphs(*to.memory)))
        return false;
    to.memory = std::move(memory);
    to.where = std::move(where);
    return true;
}

}  // namespace

void assign_array(const tree& t, destination to, std::uint32_t own) {
    if (keeps_memory(to.memory, to.where, t.shape)) {
        check_devices("assign", t.operands, *to.memory);
        return evaluate_into(t, {to.type, &to.memory, &to.where});
    }
    if (share_whole_array(t, to)) return;
    layout where = contiguous_layout(t.shape.span());
    const std::size_t bytes = static_cast<std::size_t>(where.size()) * size_of(to.type);
    const device_id device = device_of_operands(t, to.memory ? to.memory->device : no_device);
    bool fits = to.memory && device == to.memory->device && to.memory->bytes == bytes &&
                !reads_otherwise(t, to.memory.get(), where);
    if (fits)
        if (const auto* const distributed = functions_for(to.memory))
            fits = distributed->keeps_partition({t.program, t.operands, t.attributes, {}}, *to.memory);
    if (fits && in_place(to.memory, own)) {
        evaluate_into(t, {to.type, &to.memory, &where});
    } else {
        buffer_ref memory;
        evaluate_into(t, {to.type, &memory, &where});
        // The array may be assigned a view of itself. A graph reads the array's present memory, so the result is copied
        // there.
        const bool is_watched = to.memory && to.memory->bytes == bytes && to.memory->device == memory->device &&
                                runtime::is_in_graphs(*to.memory);
        if (is_watched && in_place(to.memory, own))
            runtime::copy(*to.memory, 0, *memory, 0, bytes, stream_on(memory->device));
        else if (is_watched)
            runtime::move_to(to.memory, std::move(memory));
        else
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
    if (const auto* const distributed = functions_for(to.memory)) {
        memory = distributed->like(*to.memory, false);
        where = contiguous_layout(to.where.extents());
    } else {
        allocate_array(operation, {to.type, memory, where}, to.where.extents(),
                       to.memory ? to.memory->device : runtime::current().device);
    }
    seen = with_leading_axes(operation, t.shape, to, where);
    evaluate_into(t, {to.type, &memory, &seen});
    runtime::move_to(to.memory, std::move(memory));
    to.where = std::move(where);
}

void assign_together(const char* operation, slot& cache, const joint_outputs& trees,
                     std::span<const joint_assignment> assignments) {
    for (const joint_assignment& a : assignments) {
        check_not_assigned(operation, a.to, a.from);
        if (!same_shape(a.part, assignments[0].part))
            throw shape_error("[" + std::string(operation) + "] targets of shapes " +
                              to_text(assignments[0].part.extents()) + " and " + to_text(a.part.extents()) +
                              ": one kernel writes one shape");
        if (a.to.memory) check_devices(operation, trees.operands, *a.to.memory);
    }
    if (std::ranges::any_of(assignments, [](const joint_assignment& a) { return !a.to.memory; }))
        return;  // no elements
    check_targets_are_disjoint(operation, assignments);
    runtime::small_array<layout, 4> seen(assignments.size());
    runtime::small_array<output, 4> outputs(assignments.size());
    for (std::size_t k = 0; k < assignments.size(); ++k) {
        const joint_assignment& a = assignments[k];
        // An array is un-shared once, even if several of its parts are written.
        if (a.to.memory.get() == a.from && !stays(a, assignments))
            runtime::move_to(a.to.memory, copy_of(a.to.memory, a.to.memory->device));
        seen[k] = a.part;
        outputs[k] = {a.to.type, &a.to.memory, &seen[k]};
    }
    v1::evaluate(cache, trees.program, trees.operands, trees.attributes, outputs.all());
}

void assign_selected(const char* operation, const tree& t, destination to, const buffer* from, const layout& part,
                     std::uint32_t own) {
    check_not_assigned(operation, to, from);
    assign_repeated(operation, t, to, part, own, {});
}

void assign_repeated(const char* operation, const tree& t, destination to, const layout& part, std::uint32_t own,
                     const runtime::repetition& repeated) {
    layout seen = with_leading_axes(operation, t.shape, to, part);
    if (!to.memory) return;  // no elements
    check_devices(operation, t.operands, *to.memory);
    if (in_place(to.memory, own)) return evaluate_into(t, {to.type, &to.memory, &seen}, repeated);
    buffer_ref memory = with_complement(to, part);
    evaluate_into(t, {to.type, &memory, &seen}, repeated);
    runtime::move_to(to.memory, std::move(memory));
}

void make_unique_around(destination to, const layout& part) {
    if (to.memory && !in_place(to.memory, 1)) runtime::move_to(to.memory, with_complement(to, part));
}

void assign_scattered(const char* operation, const tree& t, destination to, const buffer* from, std::uint32_t own) {
    check_not_assigned(operation, to, from);
    if (!to.memory) return;  // no elements
    check_devices(operation, t.operands, *to.memory);
    const bool stays = in_place(to.memory, own);
    buffer_ref memory = stays ? buffer_ref() : copy_of(to.memory, to.memory->device);
    layout whole(0);
    const output out{to.type, stays ? &to.memory : &memory, &whole, true};
    v1::evaluate(t.cache, t.program, t.operands, t.attributes, {&out, 1});
    if (!stays) runtime::move_to(to.memory, std::move(memory));
}

void write_raw_outputs(const char* operation, slot& cache, std::span<const word> program,
                       std::span<const operand> operands, std::span<const word> attributes,
                       std::span<const output> outputs) {
    for (const output& o : outputs) {
        if (!*o.memory) throw shape_error("[" + std::string(operation) + "] a raw output has no elements to write");
        check_devices(operation, operands, **o.memory);
    }
    v1::evaluate(cache, program, operands, attributes, outputs);
}

void make_unique(buffer_ref& memory) {
    if (memory && memory->device.kind() == device_kind::distributed)
        throw distributed_error("[mutable_data] an array in parts has no memory of its own; distributed::local(x) has");
    if (memory && !in_place(memory, 1)) runtime::move_to(memory, copy_of(memory, memory->device));
}

bool keeps_memory(const buffer_ref& memory, const layout& where, extents_ref assigned) {
    if (!memory || !memory->unowned) return false;
    if (memory->read_only) runtime::throw_read_only("assign");
    if (!same_extents(extents_ref{where.shape(), where.rank()}, assigned))
        throw shape_error("[assign] shape " + to_text(assigned.span()) + " to an array of shape " +
                          to_text(where.extents()) + " over memory that is not Ingot's, which cannot be replaced");
    return true;
}

void copy_elements(const buffer_ref& from, const layout& from_where, destination to) {
    if (from->unowned) return runtime::copy_view(to.type, *from, from_where, to.memory, to.where);
    to.memory = copy_of(from, from->device);
    to.where = from_where;
}

buffer_ref copy_of(const buffer_ref& memory, device_id to) {
    if (const auto* const distributed = functions_for(memory); distributed && to == memory->device)
        return distributed->like(*memory, true);
    runtime::state_of(memory->device);  // throws where the array lies in parts
    buffer_ref copy = allocate_buffer(memory->bytes, to, stream_on(to));
    runtime::copy(*copy, 0, *memory, 0, memory->bytes, *runtime::current().stream);
    return copy;
}

}  // namespace ingot::detail
