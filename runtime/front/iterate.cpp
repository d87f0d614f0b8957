// The part of an array that a step of iterate writes, and the number of steps that one kernel does.
#include <ingot/core/iterate.hpp>

#include <algorithm>
#include <new>
#include <string>

#include <ingot/core/error.hpp>

#include "runtime/device/graphs.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/iterate.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::detail {

layout inside(index_t n, const layout& whole, extents_ref part) {
    if (n < 0) throw shape_error("[iterate] " + std::to_string(n) + " steps: a count that is not negative is wanted");
    layout inner = whole;
    bool fits = part.rank == whole.rank();
    for (int j = 0; fits && j < whole.rank(); ++j) {
        const index_t lost = whole.shape()[j] - part.data[j];
        fits = lost >= 0 && lost % 2 == 0;
        inner.shape()[j] = part.data[j];
        inner.offset += lost / 2 * whole.strides()[j];
    }
    if (!fits)
        throw shape_error("[iterate] a step of an array of shape " + to_text(whole.extents()) + " gave shape " +
                          to_text(part.span()) +
                          ": the same shape is wanted, or one that is as much smaller at both ends of each axis");
    return inner;
}

std::uint64_t work_of_thread() noexcept {
    using runtime::counter;
    const runtime::counter_block* own = nullptr;
    try {
        own = &runtime::per_thread<runtime::counter_block>::own();  // may be in use by a thread that ended
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): such a thread's work is not counted here
    }
    const runtime::graph_capture* const capture = runtime::capture_of_thread();
    std::uint64_t all = capture != nullptr ? capture->size : 0;  // recorded work is not in the counters
    for (const counter c :
         {counter::kernel_launches, counter::library_calls, counter::bytes_allocated, counter::host_reads})
        if (own != nullptr) all += own->values[static_cast<std::size_t>(c)].load(std::memory_order_relaxed);
    return all;
}

index_t steps_together(const tree& t, destination from, const layout& part) {
    const auto* const distributed = runtime::for_distributed.load();
    const bool is_in_parts =
        distributed != nullptr && from.memory && from.memory->device.kind() == device_kind::distributed;
    if (!from.memory) return 1;
    buffer_ref memory = from.memory;  // as if in place: the other array has the same layout
    layout where = part;
    const output out{from.type, &memory, &where};
    runtime::statement s{t.program, t.operands, t.attributes, {&out, 1}};
    s.repeated = {most_iterated_steps, memory.get(), &from.where};
    return is_in_parts ? distributed->steps_together(s) : runtime::steps_of_kernel(s);
}

bool is_same_step(const tree& a, const buffer* from, const tree& b, const buffer* to) {
    const auto is_same = [&](const operand& x, const operand& y) {
        const buffer* const stepped = x.memory == from ? to : x.memory;
        return x.kind == y.kind && x.type == y.type && x.exponent == y.exponent && y.memory == stepped &&
               x.bits[0] == y.bits[0] && x.bits[1] == y.bits[1] &&
               (x.kind != operand_kind::generator || x.serial == y.serial) &&
               (x.where == nullptr ||
                (x.where->offset == y.where->offset && same_shape(*x.where, *y.where) &&
                 std::equal(x.where->strides(), x.where->strides() + x.where->rank(), y.where->strides())));
    };
    return same_extents(a.shape, b.shape) && std::ranges::equal(a.operands, b.operands, is_same);
}

void assign_steps(const tree& t, destination from, destination to, const layout& part, index_t steps,
                  std::uint32_t own) {
    assign_repeated("iterate", t, to, part, own, {static_cast<std::uint32_t>(steps), from.memory.get(), &from.where});
}

}  // namespace ingot::detail
