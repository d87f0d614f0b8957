// Runs the plans of statements over distributed arrays.
#include "runtime/distributed/evaluate.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include <ingot/core/error.hpp>

#include "runtime/device/copy_complement.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/distributed/exchange.hpp"
#include "runtime/distributed/files.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/distributed/sample_sort.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/joint_outputs.hpp"
#include "runtime/system/per_thread.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;

namespace {

/// The workspace of a running plan, kept by the thread for later statements.
struct running {
    std::vector<operand> operands;
    std::vector<buffer_ref> gathered, fetched;
    std::vector<message> messages;
    std::vector<output> outputs;
    std::vector<storage_ref> storages;  // of new outputs
    std::deque<detail::layout> layouts;
    std::vector<std::uint32_t> steps;            // of iterate, that each kernel does
    const distributed_storage* shown = nullptr;  // whose ghost layers were explained last

    void clear() noexcept {
        shown = nullptr;
        gathered.clear();
        fetched.clear();
        storages.clear();
        layouts.clear();
    }
};

std::string ranks_in_words(const std::vector<int>& ranks) {
    std::string text = ranks.size() == 1 ? "rank " : "ranks ";
    for (std::size_t k = 0; k < ranks.size(); ++k) text += (k == 0 ? "" : ", ") + std::to_string(ranks[k]);
    return text;
}

/// Explains a fetch: its messages and bytes.
kernel_explanation explain_fetch(const distributed_storage& from, const std::function<box(int)>& box_of_rank,
                                 const std::string& what) {
    const rank_session& session = from.session();
    const placement& p = *from.where;
    const std::size_t each = detail::size_of(from.type);
    kernel_explanation e;
    e.kind = step_kind::exchange;
    e.name = "exchange";
    e.pattern = what + " of an array of shape " + detail::to_text(p.shape) + ", " + to_text(p);
    std::vector<int> to;
    for (int other = 0; other < session.size; ++other) {
        if (other == session.rank || p.is_replica_of(session.rank, other)) continue;
        const auto sent = static_cast<std::size_t>(size_of_box(common(p.box_of(session.rank), box_of_rank(other))));
        e.bytes_written += sent * each;
        e.bytes_read +=
            static_cast<std::size_t>(size_of_box(common(p.box_of(other), box_of_rank(session.rank)))) * each;
        if (sent > 0) to.push_back(other);
    }
    if (!to.empty()) e.reason = "rank " + std::to_string(session.rank) + " sends to " + ranks_in_words(to);
    return e;
}

/// Explains a sort among the ranks. Its bytes depend on the values: these are for values in no order.
kernel_explanation explain_sort(const planned_reduction& step, const planned_move::sort& sort, int ranks) {
    kernel_explanation e;
    e.kind = step_kind::exchange;
    e.name = "exchange";
    e.pattern = "a sort of " + std::to_string(step.placed->shape[sort.axis]) + " elements among the ranks, " +
                to_text(*step.placed);
    // The values, and their places where these are the result.
    const bool has_places = detail::code_of_word(sort.by) == static_cast<word>(detail::library_function::argsort_rows);
    const std::size_t each = detail::size_of(step.type) + (has_places ? sizeof(index_t) : 0);
    e.bytes_read = e.bytes_written = static_cast<std::size_t>(step.count) * each * static_cast<std::size_t>(ranks - 1) /
                                     static_cast<std::size_t>(ranks);
    return e;
}

/// The elements of other ranks that an operand reads.
const buffer* fetched(running& now, const distributed_storage& from, const planned_operand& p,
                      const step_visitor* shown) {
    const rank_session& session = from.session();
    const detail::layout there = contiguous_layout(p.wanted[static_cast<std::size_t>(session.rank)]);
    buffer_ref& memory = now.fetched.emplace_back(
        allocate_buffer(std::max<std::size_t>(static_cast<std::size_t>(there.size()) * detail::size_of(from.type), 1),
                        session.device, *context_on(session.device).stream));
    const box& mine = p.wanted[static_cast<std::size_t>(session.rank)];
    // One exchange for each time that an axis begins again.
    const auto exchange_part = [&](const std::vector<index_t>& turns) {
        const auto wanted = [&](int r) {
            box b = p.wanted[static_cast<std::size_t>(r)];
            for (std::size_t k = 0; k < turns.size(); ++k) {
                const auto& [axis, first, extent, most] = p.cycles[k];
                b[axis] = common({b[axis].low - turns[k] * extent, b[axis].high - turns[k] * extent},
                                 {first, first + extent});
            }
            return b;
        };
        if (shown != nullptr) return shown->exchange(explain_fetch(from, wanted, "elements of other ranks"));
        box virtual_box = wanted(session.rank);
        for (std::size_t k = 0; k < turns.size(); ++k) {
            const auto& [axis, first, extent, most] = p.cycles[k];
            virtual_box[axis] = {virtual_box[axis].low + turns[k] * extent, virtual_box[axis].high + turns[k] * extent};
        }
        fetch(from, wanted, {memory, part_of(there, mine, virtual_box)});
    };
    std::vector<index_t> turns(p.cycles.size(), 0);
    for (bool is_last = false; !is_last;) {
        exchange_part(turns);
        std::size_t k = 0;
        while (k < turns.size() && turns[k] == p.cycles[k].turns) turns[k++] = 0;
        is_last = k == turns.size();
        if (!is_last) ++turns[k];
    }
    return memory.get();
}

/// An ordinary operand lies on the rank's device. Random numbers are the same on all.
void check_ordinary(operand& o, const rank_session& session) {
    if (o.memory != nullptr && !(o.memory->device == session.device))
        detail::throw_two_devices("distributed", session.device, o.memory->device);
    if (o.kind == detail::operand_kind::generator && !(o.device == detail::no_device)) o.device = session.device;
}

/// A step's value as an array in parts; the same before it is moved.
distributed_storage value_of(const planned_reduction& step, const buffer_ref& memory) {
    return {step.placed, step.result_type(), memory, step.owned};
}
distributed_storage value_before_move(const planned_reduction& step, const buffer_ref& memory) {
    return {step.moved->from, step.type, memory, step.part};
}

/// This rank's operands of a step. A collective call, for it exchanges what they read of others' elements; with
/// `shown` it exchanges nothing and shows what it would.
void read_operands(running& now, const statement_plan& plan, std::span<const planned_operand> operands,
                   const statement& s, const step_visitor* shown = nullptr) {
    const rank_session& session = session_of(s);
    now.operands.clear();
    for (const planned_operand& p : operands) {
        operand& o = now.operands.emplace_back();
        if (p.from == planned_operand::source::gathered) {
            const planned_reduction& made = plan.reductions[p.number];
            o.type = made.result_type();
            o.memory = now.gathered[p.number].get();
            if (p.at == planned_operand::place::elsewhere) {
                o.memory = fetched(now, value_of(made, now.gathered[p.number]), p, shown);
            }
        } else if (p.from == planned_operand::source::constant) {
            o.kind = detail::operand_kind::scalar;
            o.type = dtype::i8;
            o.bits[0] = static_cast<std::uint64_t>(p.value);
            o.serial = detail::next_serial();
        } else {
            o = s.operands[p.number];
            if (p.at == planned_operand::place::ordinary) check_ordinary(o, session);
        }
        if (p.from == planned_operand::source::given && p.at != planned_operand::place::ordinary) {
            distributed_storage& from = storage_of(*o.memory);
            if (p.at == planned_operand::place::beside) {
                if (shown == nullptr)
                    refresh_ghosts(from);
                else if (!from.ghosts_are_valid && std::exchange(now.shown, &from) != &from)
                    shown->exchange(explain_fetch(from, [&](int r) { return from.where->held_by(r); }, "ghost layers"));
            }
            o.memory = p.at == planned_operand::place::elsewhere ? fetched(now, from, p, shown) : from.memory.get();
        }
        if (p.has_layout) o.where = &p.where;
    }
}

/// The fold of the parts that the ranks of a group have of a value: each rank folds a slice of them in the order of
/// parts, and all gather the slices, which are equal on all.
buffer_ref folded_by_slices(running& now, const planned_reduction& step, const buffer_ref& own, rank_session& session) {
    stream_state& stream = *context_on(session.device).stream;
    const std::size_t each = detail::size_of(step.type);
    const std::vector<range> slices = even_ranges(step.count, step.parts);
    const range mine = slices[static_cast<std::size_t>(step.my_part)];
    const auto bytes_of = [&](index_t elements) { return static_cast<std::size_t>(elements) * each; };
    const auto allocate = [&](index_t elements) {
        return allocate_buffer(std::max<std::size_t>(bytes_of(elements), 1), session.device, stream);
    };
    buffer_ref parts = allocate(mine.size() * step.parts), whole = allocate(step.count);
    const auto at = [&](const buffer_ref& memory, index_t element) {
        return static_cast<std::byte*>(memory->data) + bytes_of(element);
    };
    order_read(*own, stream);
    order_write(*parts, stream);
    now.messages.clear();
    for (index_t p = 0; p < step.parts; ++p) {
        if (p == step.my_part) continue;
        const range theirs = slices[static_cast<std::size_t>(p)];
        const int peer = step.ranks[static_cast<std::size_t>(p)];
        if (theirs.size() > 0) now.messages.push_back({peer, at(own, theirs.low), bytes_of(theirs.size()), true});
        if (mine.size() > 0) now.messages.push_back({peer, at(parts, p * mine.size()), bytes_of(mine.size()), false});
    }
    if (mine.size() > 0)
        copy(*parts, bytes_of(step.my_part * mine.size()), *own, bytes_of(mine.low), bytes_of(mine.size()), stream);
    session.exchange(now.messages);
    if (mine.size() > 0) {
        detail::layout from(2), to(1);
        from.shape()[0] = to.shape()[0] = mine.size();
        from.strides()[0] = to.strides()[0] = 1;
        from.shape()[1] = step.parts, from.strides()[1] = mine.size();
        to.offset = mine.low;
        operand o;
        o.type = step.type;
        o.memory = parts.get();
        o.where = &from;
        const std::array<word, 2> program{detail::make_word(detail::word_kind::leaf, step.type), *step.folded_by};
        const std::array<word, 1> bound{1};
        const output out{step.type, &whole, &to};
        evaluate_without_slot({program, {&o, 1}, bound, {&out, 1}});
    }
    order_write(*whole, stream);
    now.messages.clear();
    for (index_t p = 0; p < step.parts; ++p) {
        if (p == step.my_part) continue;
        const range theirs = slices[static_cast<std::size_t>(p)];
        const int peer = step.ranks[static_cast<std::size_t>(p)];
        if (mine.size() > 0) now.messages.push_back({peer, at(whole, mine.low), bytes_of(mine.size()), true});
        if (theirs.size() > 0) now.messages.push_back({peer, at(whole, theirs.low), bytes_of(theirs.size()), false});
    }
    session.exchange(now.messages);
    return whole;
}

/// Runs a step before the last one. A collective call.
void reduce_in_parts(running& now, const statement_plan& plan, const planned_reduction& step, const statement& s,
                     rank_session& session) {
    stream_state& stream = *context_on(session.device).stream;
    const auto allocate = [&](index_t elements) {
        const std::size_t bytes = static_cast<std::size_t>(elements) * detail::size_of(step.type);
        return allocate_buffer(std::max<std::size_t>(bytes, 1), session.device, stream);
    };
    buffer_ref gathered = allocate(step.count * step.gathered_parts());
    if (step.is_computed_later) {
        now.gathered.push_back(std::move(gathered));
        return;
    }
    read_operands(now, plan, step.operands, s);
    if (step.count > 0 && step.has_share) {
        detail::layout part = step.part, part_before = step.part;
        buffer_ref* const before = step.computes_also ? &now.gathered[*step.computes_also] : nullptr;
        const output outs[] = {{step.type, before, &part_before}, {step.type, &gathered, &part}};
        evaluate_without_slot(
            {step.program, now.operands, step.attributes, std::span(outs).subspan(before == nullptr ? 1 : 0)});
    }
    const auto gather_parts = [&](buffer& parts) {
        order_write(parts, stream);
        session.gather(step.ranks, parts.data, static_cast<std::size_t>(step.count) * detail::size_of(step.type));
    };
    if (step.count > 0 && step.folded_by) {
        gathered = folded_by_slices(now, step, gathered, session);
    } else if (step.count > 0 && !step.ranks.empty()) {
        if (step.computes_also) gather_parts(*now.gathered[*step.computes_also]);
        gather_parts(*gathered);
    }
    if (step.moved) {
        const distributed_storage from = value_before_move(step, gathered);
        if (const auto& sort = step.moved->sorted) {
            gathered = sample_sort(sort->by, from, sort->axis, *step.placed, sort->is_descending);
        } else {
            buffer_ref moved = allocate(step.owned.size());
            fetch(from, [&](int r) { return step.placed->box_of(r); }, {moved, step.owned});
            gathered = std::move(moved);
        }
    }
    now.gathered.push_back(std::move(gathered));
}

/// The words and attributes of a plan's last step.
std::span<const word> program_of(const statement_plan& plan, const statement& s) {
    return plan.keeps_program ? s.program : std::span<const word>(plan.last.program);
}
std::span<const word> attributes_of(const statement_plan& plan, const statement& s) {
    return plan.keeps_program ? s.attributes : std::span<const word>(plan.last.attributes);
}

/// Computes the elements that go to each rank, exchanges them, and so makes the output under another placement.
void run_parts_for_ranks(running& now, const statement_plan& plan, const statement& s) {
    rank_session& session = session_of(s);
    stream_state& stream = *context_on(session.device).stream;
    const output& out = s.outputs[0];
    storage_ref made = make_storage(out.type, *s.moved_to);
    std::vector<buffer_ref> packed(plan.part_for_rank.size());
    for (std::size_t r = 0; r < packed.size(); ++r) {
        const planned_part& part = plan.part_for_rank[r];
        read_operands(now, plan, part.operands, s);
        if (!part.has_share) continue;
        const bool is_own = r == static_cast<std::size_t>(session.rank);
        if (!is_own)
            packed[r] = allocate_buffer(static_cast<std::size_t>(part.written.size()) * detail::size_of(out.type),
                                        session.device, stream);
        detail::layout where = part.written;
        const output own{out.type, is_own ? &made->memory : &packed[r], &where};
        evaluate_without_slot({program_of(plan, s), now.operands, attributes_of(plan, s), {&own, 1}});
    }
    fetch_packed(packed, out.type, *plan.made, [&](int r) { return made->where->box_of(r); },
                 {made->memory, made->owned});
    *out.where = detail::contiguous_layout(made->where->shape);
    *out.memory = buffer_over(std::move(made));
}

void run_last(running& now, const statement_plan& plan, slot& cache, const statement& s) {
    if (!plan.part_for_rank.empty()) return run_parts_for_ranks(now, plan, s);
    read_operands(now, plan, plan.last.operands, s);
    now.outputs.assign(s.outputs.begin(), s.outputs.end());
    const auto run = [&](const statement& share) {
        plan.keeps_program ? evaluate(cache, share) : evaluate_without_slot(share);
    };
    const statement own{program_of(plan, s), now.operands, attributes_of(plan, s), now.outputs};
    if (!plan.written.empty()) {
        for (std::size_t k = 0; k < s.outputs.size(); ++k) {
            distributed_storage& to = storage_of(**s.outputs[k].memory);
            to.ghosts_are_valid = false;  // on every rank, also on one that writes nothing
            now.outputs[k] = {s.outputs[k].type, &to.memory, &now.layouts.emplace_back(plan.written[k])};
        }
        if (plan.has_share) run(own);
        return;
    }
    if (plan.scatters) return scatter_in_parts(own, plan.has_share, session_of(s));
    if (plan.made == nullptr) return run(own);
    const bool has_ghosts = std::ranges::any_of(plan.made->ghosts, [](index_t g) { return g > 0; });
    for (output& o : now.outputs) {
        storage_ref storage;
        if (has_ghosts || !plan.has_share) {
            storage = make_storage(o.type, plan.made);
        } else {
            storage = storage_without_memory(o.type, plan.made);
        }
        o = {o.type, &storage->memory, &storage->owned};
        now.storages.push_back(std::move(storage));
    }
    if (plan.is_value_of && plan.has_share) {
        distributed_storage& result = *now.storages[0];
        result.memory = std::move(now.gathered[*plan.is_value_of]);
        const detail::layout& seen = plan.last.operands[0].where;
        std::copy_n(seen.strides(), seen.rank(), result.owned.strides());
    } else if (plan.has_share) {
        run(own);
    }
    for (std::size_t k = 0; k < now.storages.size(); ++k) {
        *s.outputs[k].memory = buffer_over(std::move(now.storages[k]));
        *s.outputs[k].where = detail::contiguous_layout(plan.made->shape);
    }
}

/// Shows what the plan of a statement does, without doing it.
void show_plan(running& now, const statement_plan& plan, const statement& s, const step_visitor& shown) {
    const rank_session& session = session_of(s);
    stream_state& stream = *context_on(session.device).stream;
    for (const planned_reduction& step : plan.reductions) {
        read_operands(now, plan, step.operands, s, &shown);
        buffer_ref memory[2];
        detail::layout where[2];
        const output outs[] = {{step.type, &memory[0], &where[0]}, {step.type, &memory[1], &where[1]}};
        if (step.count > 0 && step.has_share && !step.is_computed_later)
            shown.compute({step.program,
                           now.operands,
                           step.attributes,
                           std::span(outs).subspan(step.computes_also ? 0 : 1),
                           {},
                           {}});
        const std::size_t bytes = static_cast<std::size_t>(step.count) * detail::size_of(step.type);
        if (!step.ranks.empty() && !step.is_computed_later) {
            kernel_explanation e;
            e.kind = step_kind::exchange;
            e.name = "exchange";
            e.pattern = step.folded_by ? "fold the " + std::to_string(step.parts) + " parts of a value by slices"
                                       : "all gather the " + std::to_string(step.parts) + " parts of " +
                                             (step.computes_also ? "two reductions" : "a reduction");
            // By slices a rank sends a slice to each other one, and then its folded slice.
            e.bytes_read = e.bytes_written =
                bytes * (step.ranks.size() - 1) * 2 / (step.folded_by ? static_cast<std::size_t>(step.parts) : 2);
            if (step.computes_also) e.bytes_read = e.bytes_written *= 2;
            std::vector<int> ranks;
            for (const int r : step.ranks)
                if (r != session.rank) ranks.push_back(r);
            e.reason = "rank " + std::to_string(session.rank) + " sends to " + ranks_in_words(ranks);
            shown.exchange(e);
        }
        if (step.moved && step.moved->sorted)
            shown.exchange(explain_sort(step, *step.moved->sorted, session.size));
        else if (step.moved)
            shown.exchange(explain_fetch(
                value_before_move(step, {}), [&](int r) { return step.placed->box_of(r); },
                "a move to " + to_text(*step.placed)));
        const std::size_t held =
            std::max(bytes * static_cast<std::size_t>(step.parts),
                     static_cast<std::size_t>(step.owned.size()) * detail::size_of(step.result_type()));
        now.gathered.push_back(allocate_buffer(std::max<std::size_t>(held, 1), session.device, stream));
    }
    read_operands(now, plan, plan.last.operands, s, &shown);
    std::vector<buffer_ref> memory(s.outputs.size());
    std::vector<detail::layout> where(s.outputs.size());
    for (std::size_t k = 0; k < memory.size(); ++k) now.outputs.push_back({s.outputs[k].type, &memory[k], &where[k]});
    if (plan.has_share && !plan.is_value_of)
        shown.compute({program_of(plan, s), now.operands, attributes_of(plan, s), now.outputs, {}, {}});
    if (plan.scatters) {
        kernel_explanation e;
        e.kind = step_kind::exchange;
        e.name = "exchange";
        e.pattern = "all gather the " + std::to_string(session.size) + " ranks' sums at computed places";
        e.bytes_read = e.bytes_written = (*s.outputs[0].memory)->bytes * static_cast<std::size_t>(session.size - 1);
        shown.exchange(e);
    }
}

/// A thread has a workspace for each statement that is running: reading an operand may evaluate another.
class workspace {
public:
    workspace() {
        std::vector<std::unique_ptr<running>>& spare = per_thread<std::vector<std::unique_ptr<running>>>::own();
        if (spare.empty()) {
            own_ = std::make_unique<running>();
        } else {
            own_ = std::move(spare.back());
            spare.pop_back();
        }
    }
    workspace(const workspace&) = delete;
    workspace& operator=(const workspace&) = delete;
    ~workspace() {
        own_->clear();
        per_thread<std::vector<std::unique_ptr<running>>>::own().push_back(std::move(own_));
    }
    running& get() noexcept { return *own_; }

private:
    std::unique_ptr<running> own_;
};

/// Runs steps of iterate after one exchange, as many in a kernel as on one device. A kernel of several steps writes
/// what its first step writes: near the ends its later steps read elements that are not up to date, but no element of
/// the rank's own part comes from these, for the ghost layers are as wide as all steps together. The array that the
/// first step reads is kept; two others alternate, and the last step writes the statement's output.
void run_repeats(const statement_plan& plan, const statement& s) {
    distributed_storage& from = storage_of(*s.repeated.stepped);
    distributed_storage& to = storage_of(**s.outputs[0].memory);
    if (plan.repeats.size() != s.repeated.steps)
        throw error("[distributed] iterate did fewer steps than it was asked for");
    refresh_ghosts(from);
    to.ghosts_are_valid = false;
    const rank_session& session = from.session();
    const detail::layout held = contiguous_layout(from.where->held);
    buffer_ref other = allocate_buffer(from.memory->bytes, session.device, *context_on(session.device).stream);
    const auto copy_border = [&](buffer_ref& into) {
        if (held.size() == 0) return;
        detail::layout part = plan.repeats[0].written;
        if (!plan.repeats[0].has_share) std::fill_n(part.shape(), part.rank(), index_t{0});
        copy_complement(from.type, *from.memory, into, held, part);
    };
    copy_border(to.memory);
    if (plan.repeats.size() > 1) copy_border(other);
    workspace room;
    running& now = room.get();
    // Calls f with step k, and with those that follow, as many as a kernel may do, as its repetitions.
    const auto with_step = [&](std::size_t k, const buffer* read, buffer_ref& written, const auto& f) {
        const planned_part& step = plan.repeats[k];
        now.operands.clear();
        for (const planned_operand& p : step.operands) {
            operand& o = now.operands.emplace_back(s.operands[p.number]);
            if (p.at == planned_operand::place::ordinary) {
                check_ordinary(o, session);
            } else if (o.memory == s.repeated.stepped) {
                o.memory = read;
            } else {
                distributed_storage& beside = storage_of(*o.memory);
                if (p.at == planned_operand::place::beside) refresh_ghosts(beside);
                o.memory = beside.memory.get();
            }
            if (p.has_layout) o.where = &p.where;
        }
        if (!step.has_share) return;
        detail::layout where = step.written;
        const output out{s.outputs[0].type, &written, &where};
        statement own{s.program, now.operands, s.attributes, {&out, 1}};
        const auto left = static_cast<std::uint32_t>(plan.repeats.size() - k);
        own.repeated = {std::min(left, detail::most_iterated_steps), read, &held};
        f(own);
    };
    now.steps.clear();
    for (std::size_t k = 0; k < plan.repeats.size(); k += now.steps.back()) {
        now.steps.push_back(1);
        with_step(k, from.memory.get(), to.memory,
                  [&](const statement& own) { now.steps.back() = steps_of_kernel(own); });
    }
    const buffer* read = from.memory.get();
    std::size_t done = 0;
    for (std::size_t n = now.steps.size(); n-- > 0;) {
        buffer_ref& written = n % 2 == 0 ? to.memory : other;
        const std::uint32_t steps = now.steps[now.steps.size() - 1 - n];
        with_step(done, read, written, [&](statement& own) {
            own.repeated.steps = steps;
            evaluate_without_slot(own);
        });
        read = written.get();
        done += steps;
    }
}

index_t steps_together(const statement& s) {
    if (!is_flat(s)) return 1;
    statement all = s;
    all.repeated.steps = 0;
    return std::max<index_t>(static_cast<index_t>(plan_of(all).repeats.size()), 1);
}

void evaluate_distributed(slot& cache, const statement& s) {
    if (capture_of_thread() != nullptr)
        throw distributed_error("[distributed] a graph records no statements over arrays in parts");
    if (!s.shapes.empty()) {
        const joint_outputs all{s.program, s.operands, s.attributes, s.outputs, s.shapes, {}};
        for (const joint_trees& part : split_by_output(all)) evaluate_without_slot(part.get());
        return;
    }
    if (!is_flat(s)) {
        // Not by the statement's slot, which knows kernels by the layouts alone: the flat program is another one.
        const flat_statement flat(s);
        statement own = flat.get();
        own.moved_to = s.moved_to;
        return evaluate_without_slot(own);
    }
    rank_session& session = session_of(s);
#if INGOT_DEBUG
    if (!session.has_ended()) check_same_on_all_ranks(s, session);
#endif
    const statement_plan& plan = plan_of(s);
    if (s.repeated.steps != 1) return run_repeats(plan, s);
    workspace room;
    running& now = room.get();
    for (const planned_reduction& step : plan.reductions) reduce_in_parts(now, plan, step, s, session);
    run_last(now, plan, cache, s);
}

bool keeps_partition(const statement& s, const buffer& to) {
    if (!is_flat(s)) return false;
    buffer_ref none;
    detail::layout where;
    const output fresh{storage_of(to).type, &none, &where};
    statement as_new = s;
    as_new.outputs = {&fresh, 1};
    return placement_of_result(as_new) == storage_of(to).where.get();
}

void visit_steps(const statement& s, const step_visitor& shown) {
    if (!s.shapes.empty()) {
        const joint_outputs all{s.program, s.operands, s.attributes, s.outputs, s.shapes, {}};
        for (const joint_trees& part : split_by_output(all)) visit_steps(part.get(), shown);
        return;
    }
    if (!is_flat(s)) {
        const flat_statement flat(s);  // evaluates what the statement is cut into
        const statement own = flat.get();
        if (!is_distributed(own))
            return shown.compute({own.program, own.operands, own.attributes, own.outputs, {}, {}});
        return visit_steps(own, shown);
    }
    workspace room;
    room.get().outputs.clear();
    show_plan(room.get(), plan_of(s), s, shown);
}

constexpr distributed_functions functions{
    evaluate_distributed, make_like, make_like_around, keeps_partition, has_shape,  read_shown,
    take_own_rows,        join_rows, save_parts,       steps_together,  visit_steps};

}  // namespace

void serve_distributed_arrays() noexcept { for_distributed.store(&functions, std::memory_order_release); }

}  // namespace ingot::runtime
