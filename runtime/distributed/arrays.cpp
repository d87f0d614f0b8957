// Distributed arrays: made, moved, and given out as ordinary ones.
#include <ingot/distributed/arrays.hpp>

#include <ingot/core/error.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/distributed/exchange.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::detail::parts {

using runtime::storage_of;

void make_distributed(const char* operation, destination to, std::span<const std::int64_t> shape,
                      const distributed::partition& p) {
    detail::check_extents(operation, shape);
    const auto where = runtime::place(operation, shape, *p.state());
    to.where = detail::contiguous_layout(shape);
    runtime::storage_ref made = runtime::make_storage(to.type, where);
    to.memory = where->is_split() ? runtime::buffer_over(std::move(made)) : std::move(made->memory);
}

void copy_local_part(destination to, const buffer_ref& from, const detail::layout&) {
    const runtime::distributed_storage& s = storage_of(*from);
    runtime::copy_view(to.type, *s.memory, s.owned, to.memory, to.where);
}

void write_local_part(destination to, const buffer_ref& part, const detail::layout& part_where) {
    const device_id own =
        runtime::is_distributed(to.memory.get()) ? storage_of(*to.memory).session().device : to.memory->device;
    if (part && !(part->device == own)) throw_two_devices("distributed::wrap", own, part->device);
    if (!runtime::is_distributed(to.memory.get())) {
        runtime::copy_view(to.type, *part, part_where, to.memory, to.where);
        return;
    }
    runtime::distributed_storage& s = storage_of(*to.memory);
    if (!detail::same_extents(detail::extents_ref{part_where.shape(), part_where.rank()},
                              detail::extents_ref{s.owned.shape(), s.owned.rank()}))
        throw distributed_error("[distributed::wrap] rank " + std::to_string(s.session().rank) + "'s part of shape " +
                                detail::to_text(to.where.extents()) + ", " + runtime::to_text(*s.where) +
                                ", has shape " + detail::to_text(s.owned.extents()) + ", and " +
                                detail::to_text(part_where.extents()) + " was given");
    if (s.owned.size() > 0) runtime::copy_view(to.type, *part, part_where, s.memory, s.owned);
}

void move_to_partition(destination to, const buffer_ref& from, const detail::layout& from_where,
                       const distributed::partition& p) {
    if (!runtime::is_distributed(from.get())) {  // its axes turned out whole
        make_distributed("distributed::redistribute", to, from_where.extents(), p);
        if (!runtime::is_distributed(to.memory.get()))
            return runtime::copy_view(to.type, *from, from_where, to.memory, to.where);
        runtime::distributed_storage& s = storage_of(*to.memory);
        runtime::box whole;
        for (const index_t extent : s.where->shape) whole.push_back({0, extent});
        const detail::layout part = runtime::part_of(from_where, whole, s.where->box_of(s.session().rank));
        if (part.size() > 0) runtime::copy_view(to.type, *from, part, s.memory, s.owned);
        return;
    }
    const runtime::distributed_storage& source = storage_of(*from);
    const auto where = runtime::place("distributed::redistribute", source.where->shape, *p.state());
    if (where->mesh->session != source.where->mesh->session)
        throw distributed_error("[distributed::redistribute] the partition is one of another session");
    runtime::begin_call("redistribute or gather", source);
    runtime::storage_ref made = runtime::make_storage(to.type, where);
    runtime::fetch(source, [&](int rank) { return where->box_of(rank); }, {made->memory, made->owned});
    to.where = detail::contiguous_layout(where->shape);
    to.memory = where->is_split() ? runtime::buffer_over(std::move(made)) : std::move(made->memory);
}

void evaluate_under_partition(destination to, const tree_ref& e, const distributed::partition& p) {
    const extents_ref shape = e->extents();
    const auto wanted = runtime::place("distributed::redistribute", shape.span(), *p.state());
    const word program = make_word(word_kind::lazy, to.type);
    runtime::operand tree;
    tree.kind = operand_kind::lazy;
    tree.type = to.type;
    tree.tree = e.get();
    buffer_ref memory;
    layout where;
    const runtime::output out{to.type, &memory, &where};
    runtime::statement s{{&program, 1}, {&tree, 1}, {}, {&out, 1}};
    s.moved_to = &wanted;
    runtime::evaluate_without_slot(s);
    if (memory && has_parts(memory) && storage_of(*memory).where == wanted) {
        to.memory = std::move(memory);
        to.where = where;
        return;
    }
    move_to_partition(to, memory, where, p);
}

void copy_to_all(destination to, const buffer_ref& from, const detail::layout& from_where) {
    const auto whole = std::make_shared<runtime::split_axes>();
    whole->mesh = storage_of(*from).where->mesh;
    move_to_partition(to, from, from_where, distributed::partition(whole));
}

bool has_parts(const buffer_ref& memory) noexcept { return runtime::is_distributed(memory.get()); }

}  // namespace ingot::detail::parts
