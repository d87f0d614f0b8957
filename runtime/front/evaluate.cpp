// The door: receives a statement, finds or makes its kernel, and runs it.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <ingot/core/door.hpp>
#include <ingot/core/error.hpp>
#include <ingot/core/leaves.hpp>
#include <ingot/core/shape.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/device_facts.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/classify.hpp"
#include "runtime/front/dispatch_cache.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/front/launch.hpp"
#include "runtime/front/overlap.hpp"
#include "runtime/kernels/executable.hpp"
#include "runtime/system/per_thread.hpp"
#include "runtime/system/small_array.hpp"
#include "runtime/trees/joins_in_parts.hpp"
#include "runtime/trees/reversed_scans.hpp"

namespace ingot {

/// A published pair: class words, compared in full, and their executable. It is never freed.
struct detail::slot::entry {
    const runtime::executable* found;
    std::size_t count;
    const std::uint32_t* words;
    bool is_contiguous;

    /// Compares word by word: contiguous_classifier wrote `other` a moment ago in pieces of this size, and a read
    /// across two of them would wait until the processor's store buffer has drained.
    bool matches(std::span<const std::uint32_t> other) const noexcept {
        if (count != other.size()) return false;
        for (std::size_t i = 0; i < count; ++i)
            if (words[i] != other[i]) return false;
        return true;
    }
};

namespace runtime {

namespace {

/// A thread's workspace for evaluation.
struct workspace {
    classifier classes;
    dispatch_cache recent;
    std::vector<std::uint32_t> key;
#if INGOT_DEBUG
    classifier again;  // not `classes`, whose results are still in use
    std::vector<operand> operands;
#endif
};
workspace& of_thread() { return per_thread<workspace>::own(); }

const executable& look_up(slot& cache, const classified& c, const statement& s) {
    for (const auto& way : cache.entries)
        if (const detail::slot::entry* e = way.load(std::memory_order_acquire); e != nullptr && e->matches(c.words))
            return *e->found;
    std::vector<std::uint32_t>& key = of_thread().key;
    classifier::full_key(c, s.program, key);
    const executable& found = executable_for(key);
    // Entries are filled in order and never replaced or freed, because threads read them without a lock. Once all ways
    // are full, the statement's other classes are served by the table.
    const std::uint32_t turn = cache.next.fetch_add(1, std::memory_order_relaxed);
    if (turn < slot::ways) {
        auto* words = new std::uint32_t[c.words.size()];
        std::copy(c.words.begin(), c.words.end(), words);
        cache.entries[turn].store(new detail::slot::entry{&found, c.words.size(), words, c.is_contiguous},
                                  std::memory_order_release);
    }
    return found;
}

/// Whether writing `o` in place could change an element that the tree still has to read: the two share bytes, but not
/// element for element. Of the same view, each thread reads its element before it writes it.
bool overlaps(const output& o, const operand& in, bool binders) {
    if (in.memory == nullptr || !share_bytes(**o.memory, *in.memory)) return false;
    if (in.kind == detail::operand_kind::raw) return true;  // a raw kernel may read any element
    const strided_view to(**o.memory, *o.where, o.type), from(*in.memory, *in.where, in.type);
    if (!binders && are_same_elements(to, from)) return false;
    return share_a_byte(to, from);
}

bool must_buffer(const statement& s) {
    const bool binders = (s.kinds & has_binders) != 0;
    return std::ranges::any_of(s.outputs, [&](const output& o) {
        return *o.memory && !o.scattered &&
               std::ranges::any_of(s.operands, [&](const operand& in) { return overlaps(o, in, binders); });
    });
}

#if INGOT_DEBUG
/// Checks that full classification gives the same result as a fast path.
void check_same(const classified& taken, std::span<const std::uint32_t> words, const statement& s,
                environment_class env) {
    const classified& c = of_thread().again.classify(s, env);
    if (!std::ranges::equal(words, c.words) || taken.shape != c.shape || taken.extents != c.extents ||
        taken.size != c.size || (!taken.is_contiguous && taken.strides != c.strides) || must_buffer(s))
        throw error("[evaluate] a cached classification differs from that of the statement");
}
void check_contiguous(const classified& taken, std::span<const std::uint32_t> words, const statement& s,
                      environment_class env) {
    check_same(taken, words, s, env);
}
void check_contiguous(const classified& taken, std::span<const std::uint32_t> words, const tree_statement& s,
                      environment_class env) {
    std::vector<operand>& operands = of_thread().operands;  // reused: warm statements allocate nothing
    operands.assign(static_cast<std::size_t>(s.leaves.total), {});
    detail::cursor c{operands.data(), nullptr};
    detail::leaf_span(s.leaves).gather(c);
    check_same(taken, words, {s.program, operands, {}, {&s.out, 1}}, env);
}
#endif

/// Finds the executable of a contiguous statement (arrays of one shape, into new ones or in place) whose class the slot
/// has met. Returns null for any other statement.
template <class Statement>
const executable* find_contiguous(const slot& cache, contiguous_classifier& workspace, const Statement& s,
                                  environment_class env) {
    for (const auto& way : cache.entries) {
        const slot::entry* e = way.load(std::memory_order_acquire);
        if (e == nullptr) break;
        if (!e->is_contiguous) continue;
        const executable& found = e->found->latest();
        if (found.interpreted || !workspace.confirm(s, env, {e->words, e->count})) continue;
#if INGOT_DEBUG
        check_contiguous(workspace.result(), {e->words, e->count}, s, env);
#endif
        return &found;
    }
    return nullptr;
}

/// Evaluates into new memory, then copies into the requested view.
void evaluate_buffered(slot& cache, const statement& s) {
    small_array<buffer_ref, 4> results(s.outputs.size());
    small_array<detail::layout, 4> layouts(s.outputs.size());
    small_array<output, 4> fresh(s.outputs.size());
    for (std::size_t k = 0; k < s.outputs.size(); ++k) fresh[k] = {s.outputs[k].type, &results[k], &layouts[k]};
    detail::evaluate(cache, s.program, s.operands, s.attributes, fresh.all());
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        if (*o.memory) {
            copy_view(o.type, *results[k], layouts[k], *o.memory, *o.where);
        } else {
            *o.memory = std::move(results[k]);
            *o.where = std::move(layouts[k]);
        }
    }
}

}  // namespace

execution_context context_of(const statement& s) {
    for (const operand& o : s.operands) {
        if (o.memory != nullptr) return context_on(o.memory->device);
        if (o.kind == detail::operand_kind::generator && o.device != detail::no_device) return context_on(o.device);
    }
    for (const output& o : s.outputs)
        if (*o.memory) return context_on((*o.memory)->device);
    return context_on(current().device);
}

execution_context context_on(device_id device) {
    current_state& now = current();
    execution_context p;
    p.stream = now.device == device ? now.stream : state_of(device).default_stream;
    check_stream_of_capture(*p.stream);
    p.environment.math = now.math;
    p.environment.where = device.is_cuda() ? detail::target::cuda : detail::target::host;
    p.environment.architecture = device.is_cuda() ? architecture_of(device) : 0;
    p.environment.optional_parts.relations = device.is_cuda();
    return p;
}

namespace {

void allocate_outputs(const statement& s, const classified& c, stream_state& stream) {
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        if (*o.memory) continue;
        const detail::extents_ref shape = s.shapes.empty() ? detail::extents_ref::of(c.shape) : s.shapes[k];
        const index_t size = s.shapes.empty() ? c.size : shape.size();
        *o.memory = allocate_buffer(static_cast<std::size_t>(size) * detail::size_of(o.type), stream.device, stream);
        *o.where = detail::contiguous_layout(shape.span());
    }
}

/// Evaluates a statement whose kernel is known.
void evaluate_with(const executable& e, const classified& c, const statement& s, stream_state& stream,
                   std::vector<cached_launch>* cached = nullptr) {
    allocate_outputs(s, c, stream);
    order(s, stream);
    run(e, c, s, stream, cached);
}

/// Makes a new output: calls f with memory of that shape first.
template <class F>
void with_memory(const output& to, std::span<const index_t> shape, stream_state& stream, F f) {
    detail::layout where = detail::contiguous_layout(shape);
    buffer_ref memory =
        allocate_buffer(static_cast<std::size_t>(where.size()) * detail::size_of(to.type), stream.device, stream);
    f(output{to.type, &memory, &where});
    *to.memory = std::move(memory);
    *to.where = std::move(where);
}

/// Evaluates a scan that is read from its end. Returns false, and does nothing, for any other statement.
bool evaluate_reversed(const statement& s, stream_state& stream) {
    detail::view_room flip;
    const detail::tree_ref reversed = reversed_scan(s, flip);
    if (!reversed) return false;
    const output& to = s.outputs[0];
    if (*to.memory) {
        evaluate_without_slot(reversed_statement(reversed, flip, to).get());
        return true;
    }
    with_memory(to, reversed->extents().span(), stream,
                [&](const output& made) { evaluate_without_slot(reversed_statement(reversed, flip, made).get()); });
    return true;
}

/// Evaluates a join part by part. Returns false, and does nothing, for any other statement.
bool evaluate_joined(const statement& s, stream_state& stream) {
    const joined_statement joined(s);
    if (!joined) return false;
    const output& to = s.outputs[0];
    const auto write = [&](const output& made) { joined.evaluate_into(made, evaluate_without_slot); };
    *to.memory ? write(to) : with_memory(to, joined.shape(), stream, write);
    return true;
}

/// Evaluates a statement that the thread evaluated recently. Returns false, and does nothing, for any other statement.
bool evaluate_again(slot& cache, workspace& own, const call_signature& seen, const statement& s,
                    const execution_context& where) {
    dispatch_cache::entry* const known = own.recent.find(seen);
    if (known == nullptr) return false;
    if (known->found == nullptr) {
#if INGOT_DEBUG
        if (!must_buffer(s))
            throw error("[evaluate] a statement was cached as one whose sides overlap, and they do not");
#endif
        evaluate_buffered(cache, s);
        return true;
    }
#if INGOT_DEBUG
    check_same(known->classes, known->classes.words, s, where.environment);
#endif
    evaluate_with(*known->found, known->classes, s, *where.stream, &known->launches);
    return true;
}

}  // namespace

constinit std::atomic<const distributed_functions*> for_distributed{nullptr};

bool is_distributed(const statement& s) noexcept {
    const auto on_ranks = [](device_id d) { return d.kind() == device_kind::distributed; };
    return std::ranges::any_of(s.operands,
                               [&](const operand& o) {
                                   if (o.kind == detail::operand_kind::lazy)
                                       return on_ranks(static_cast<const tree_node*>(o.tree)->device);
                                   return o.memory != nullptr && on_ranks(o.memory->device);
                               }) ||
           std::ranges::any_of(s.outputs, [&](const output& o) { return *o.memory && on_ranks((*o.memory)->device); });
}

void evaluate(slot& cache, statement s) {
    if (const auto* const distributed = for_distributed.load(std::memory_order_acquire))
        if (is_distributed(s)) return distributed->evaluate(cache, s);
    s.kinds = cache.kinds.load(std::memory_order_relaxed);
    if (s.kinds == 0) cache.kinds.store(s.kinds = kinds_of(s.program), std::memory_order_relaxed);
    const execution_context where = context_of(s);
    workspace& own = of_thread();
    // The slot's path serves new outputs only. For existing outputs the dispatch cache serves all repeated statements:
    // it keeps their packed arguments.
    const bool fresh = std::ranges::none_of(s.outputs, [](const output& o) { return bool(*o.memory); });
    if (fresh && !s.not_contiguous && (s.kinds & (has_lazies | has_binders)) == 0 && s.shapes.empty())
        if (const executable* found = find_contiguous(cache, own.classes.contiguous(), s, where.environment))
            return evaluate_with(*found, own.classes.contiguous().result(), s, *where.stream);
    call_signature seen;
    const bool fits = s.repeated.steps == 1 && seen.take(cache, s, where);
    if (fits && evaluate_again(cache, own, seen, s, where)) return;

    if ((s.kinds & (has_lazies | has_binders)) != 0 && !is_flat(s)) {
        if (evaluate_reversed(s, *where.stream) || evaluate_joined(s, *where.stream)) return;
        return evaluate_without_slot(flat_statement(s).get());
    }
    if (must_buffer(s)) {
        if (fits) own.recent.insert_buffered(seen);
        return evaluate_buffered(cache, s);
    }
    const classified& c = own.classes.classify(s, where.environment);
    if (c.steps != s.repeated.steps) throw error("[evaluate] a kernel does fewer steps than it was asked for");
    if (c.size == 0) return allocate_outputs(s, c, *where.stream);
    const executable& e = look_up(cache, c, s);
    if (fits) own.recent.insert(seen, e, c);
    evaluate_with(e, c, s, *where.stream);
}

std::uint32_t steps_of_kernel(statement s) {
    if (!(*s.outputs[0].memory)->device.is_cuda()) return 1;
    s.kinds = kinds_of(s.program);
    return s.kinds == has_any ? of_thread().classes.classify(s, context_of(s).environment).steps : 1;
}

namespace {

/// Evaluates a tree over contiguous arrays of one shape whose kernel the slot knows. Returns false, and does nothing,
/// for any other statement.
bool evaluate_contiguous(slot& cache, const tree_statement& s) {
    if (*s.out.memory || cache.entries[0].load(std::memory_order_relaxed) == nullptr) return false;
    if (s.leaves.holder == nullptr || !s.leaves.holder->memory) return false;
    if (s.leaves.holder->memory->device.kind() == device_kind::distributed) return false;
    const execution_context where = context_on(s.leaves.holder->memory->device);
    contiguous_classifier& classes = of_thread().classes.contiguous();
    const executable* found = find_contiguous(cache, classes, s, where.environment);
    if (found == nullptr) return false;
    const classified& c = classes.result();
    *s.out.memory = allocate_buffer(static_cast<std::size_t>(c.size) * detail::size_of(s.out.type),
                                    where.stream->device, *where.stream);
    *s.out.where = detail::contiguous_layout(c.shape);
    const std::span<const operand> operands = classes.operands();
    for (const std::uint16_t i : classes.arrays()) order_read(const_cast<buffer&>(*operands[i].memory), *where.stream);
    order_write(**s.out.memory, *where.stream);
    run(*found, c, {s.program, operands, {}, {&s.out, 1}}, *where.stream);
    return true;
}

}  // namespace

}  // namespace runtime

namespace detail {
inline namespace v1 {

void evaluate(slot& cache, std::span<const word> program, std::span<const operand> operands,
              std::span<const word> attributes, std::span<const output> outputs) {
    runtime::evaluate(cache, {program, operands, attributes, outputs});
}

void evaluate_leaves(slot& cache, std::span<const word> program, leaf_block& leaves, const output& out) {
    if (runtime::evaluate_contiguous(cache, {program, leaves, out})) return;
    // A warm statement allocates nothing but its result, unless it has more than 64 leaves.
    runtime::small_array<operand, 64> operands(static_cast<std::size_t>(leaves.total));
    cursor c{operands.begin(), nullptr};
    leaf_span(leaves).gather(c);
    runtime::statement s{program, operands.all(), {}, {&out, 1}};
    s.not_contiguous = true;
    runtime::evaluate(cache, s);
}

}  // namespace v1
}  // namespace detail
}  // namespace ingot
