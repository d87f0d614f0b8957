// The door: a statement comes in, its kernel is found or made, and runs.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

#include <ingot/door.hpp>
#include <ingot/error.hpp>
#include <ingot/leaves.hpp>
#include <ingot/shape.hpp>

#include "runtime/classify.hpp"
#include "runtime/device.hpp"
#include "runtime/device_facts.hpp"
#include "runtime/evaluate.hpp"
#include "runtime/executable.hpp"
#include "runtime/launch.hpp"
#include "runtime/ordering.hpp"
#include "runtime/recent_statements.hpp"

namespace ingot {

/// A published pair: class words, compared in full, and what they lead to. Never freed.
struct slot::entry {
    const runtime::executable* found;
    std::size_t count;
    const std::uint32_t* words;
    bool is_line;

    /// Two words at a time, as the others were written a moment ago (classify_line): a wider read would wait for the
    /// writes to leave the processor's store buffer.
    bool matches(std::span<const std::uint32_t> other) const noexcept {
        if (count != other.size()) return false;
        const std::uint32_t *p = words, *q = other.data();
        const std::uint32_t* const end = p + count;
        for (; p + 1 < end; p += 2, q += 2)
            if (pair_at(p) != pair_at(q)) return false;
        return p == end || *p == *q;
    }

private:
    static std::uint64_t pair_at(const std::uint32_t* at) noexcept {
        std::uint64_t pair;
        std::memcpy(&pair, at, sizeof pair);
        return pair;
    }
};

namespace runtime {

namespace {

const executable& look_up(slot& cache, const classified& c, const statement& s) {
    for (const auto& way : cache.entries)
        if (const slot::entry* e = way.load(std::memory_order_acquire); e != nullptr && e->matches(c.words))
            return *e->found;
    static thread_local std::vector<std::uint32_t> key;
    classifier::full_key(c, s.program, key);
    const executable& found = executable_for(key);
    // Published in turn; an entry that is replaced stays valid for whoever reads it, so it is not freed. A statement
    // that meets more classes than ways goes on being served by the table, and publishes no more.
    const std::uint32_t turn = cache.next.fetch_add(1, std::memory_order_relaxed);
    if (turn < slot::ways) {
        auto* words = new std::uint32_t[c.words.size()];
        std::copy(c.words.begin(), c.words.end(), words);
        cache.entries[turn].store(new slot::entry{&found, c.words.size(), words, c.is_line}, std::memory_order_release);
    }
    return found;
}

/// The commonest statements again: contiguous arrays of one shape, of a class that the slot has met. Null where it is
/// another.
template <class Statement>
const executable* find_line(const slot& cache, classifier& workspace, const Statement& s, environment_class env) {
    for (const auto& way : cache.entries) {
        const slot::entry* e = way.load(std::memory_order_acquire);
        if (e == nullptr) break;
        if (e->is_line && !e->found->interpreted && workspace.confirm_line(s, env, {e->words, e->count}))
            return e->found;
    }
    return nullptr;
}

struct workspace {
    classifier classes;
    recent_statements recent;
};
workspace& of_thread() {
    static thread_local workspace own;
    return own;
}

using address_range = std::array<std::uintptr_t, 2>;

/// From the lowest byte of an element to one past the highest.
address_range bytes_of(const buffer& memory, const detail::layout& l, std::size_t each) {
    index_t low = l.offset, high = l.offset;
    for (int j = 0; j < l.rank(); ++j) {
        const index_t far = l.strides()[j] * (l.shape()[j] - 1);
        (far < 0 ? low : high) += far;
    }
    const auto base = reinterpret_cast<std::uintptr_t>(memory.data);
    return {base + static_cast<std::uintptr_t>(low) * each, base + static_cast<std::uintptr_t>(high + 1) * each};
}

/// Whether writing `o` in place could change what the tree still has to read: bytes shared, but not element for
/// element.
bool overlaps(const output& o, const operand& in, bool binders) {
    if (in.memory == nullptr || !share_bytes(**o.memory, *in.memory)) return false;
    const detail::layout &to = *o.where, &from = *in.where;
    const std::size_t out_bytes = detail::size_of(o.type), in_bytes = detail::size_of(in.type);
    const address_range a = bytes_of(**o.memory, to, out_bytes), b = bytes_of(*in.memory, from, in_bytes);
    if (a[1] <= b[0] || b[1] <= a[0]) return false;
    // The same view: every thread reads its element before it writes it. Equal strides begin at their lowest bytes
    // alike.
    if (binders || out_bytes != in_bytes || a[0] != b[0] || !detail::same_shape(to, from)) return true;
    for (int j = 0; j < to.rank(); ++j)
        if (to.shape()[j] != 1 && to.strides()[j] != from.strides()[j]) return true;
    return false;
}

bool must_buffer(const statement& s, const output& o) {
    if (!*o.memory) return false;
    const bool binders = (s.kinds & has_binders) != 0;
    for (const operand& in : s.operands)
        if (overlaps(o, in, binders)) return true;
    return false;
}

/// Evaluates into new memory, then copies into the view that was asked for.
void evaluate_buffered(slot& cache, const statement& s) {
    std::vector<buffer_ref> results(s.outputs.size());
    std::vector<detail::layout> layouts(s.outputs.size());
    std::vector<output> fresh;
    for (std::size_t k = 0; k < s.outputs.size(); ++k) fresh.push_back({s.outputs[k].type, &results[k], &layouts[k]});
    v1::evaluate(cache, s.program, s.operands, s.attributes, fresh);
    static constinit slot copies;
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const detail::word program[] = {detail::make_word(detail::word_kind::leaf, o.type)};
        operand in;
        in.type = o.type;
        in.where = &layouts[k];
        in.memory = results[k].get();
        if (*o.memory) {
            v1::evaluate(copies, program, {&in, 1}, {}, {&o, 1});
        } else {
            *o.memory = std::move(results[k]);
            *o.where = std::move(layouts[k]);
        }
    }
}

}  // namespace

place place_of(const statement& s) {
    for (const operand& o : s.operands) {
        if (o.memory != nullptr) return place_on(o.memory->device);
        if (o.kind == detail::operand_kind::generator && o.device != detail::no_device) return place_on(o.device);
    }
    for (const output& o : s.outputs)
        if (*o.memory) return place_on((*o.memory)->device);
    return place_on(current().device);
}

place place_on(device_id device) {
    current_state& now = current();
    place p;
    p.stream = now.device == device ? now.stream : state_of(device).default_stream;
    p.environment.math = now.math;
    p.environment.where = device.is_cuda() ? detail::target::cuda : detail::target::host;
    p.environment.architecture = device.is_cuda() ? architecture_of(device) : 0;
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
                   std::vector<kept_launch>* kept = nullptr) {
    allocate_outputs(s, c, stream);
    order(s, stream);
    run(e, c, s, stream, kept);
}

#if INGOT_DEBUG
void check_same(const classified& a, const classified& b) {
    if (a.words != b.words || a.shape != b.shape || a.extents != b.extents || a.strides != b.strides ||
        a.size != b.size)
        throw error("[evaluate] a statement was taken for another");
}
#endif

/// Evaluates a statement that the thread has evaluated of late. Returns false, and does nothing, where it is another.
bool evaluate_again(workspace& own, const appearance& seen, const statement& s, const place& where) {
    recent_statements::entry* const known = own.recent.find(seen);
    if (known == nullptr) return false;
#if INGOT_DEBUG
    check_same(known->classes, own.classes.classify(s, where.environment));
#endif
    evaluate_with(*known->found, known->classes, s, *where.stream, &known->launches);
    return true;
}

}  // namespace

void evaluate(slot& cache, statement s) {
    s.kinds = cache.kinds.load(std::memory_order_relaxed);
    if (s.kinds == 0) cache.kinds.store(s.kinds = kinds_of(s.program), std::memory_order_relaxed);
    const place where = place_of(s);
    workspace& own = of_thread();
    if (!s.no_line && (s.kinds & (has_lazies | has_binders)) == 0 && s.shapes.empty())
        if (const executable* found = find_line(cache, own.classes, s, where.environment))
            return evaluate_with(*found, own.classes.confirmed(), s, *where.stream);
    appearance seen;
    const bool fits = seen.take(cache, s, where);
    if (fits && evaluate_again(own, seen, s, where)) return;

    if ((s.kinds & (has_lazies | has_binders)) != 0 && !is_flat(s))
        return evaluate_without_slot(flat_statement(s).get());
    for (const output& o : s.outputs)
        if (must_buffer(s, o)) return evaluate_buffered(cache, s);
    const classified& c = own.classes.classify(s, where.environment);
    if (c.size == 0) return allocate_outputs(s, c, *where.stream);
    const executable& e = look_up(cache, c, s);
    if (fits) own.recent.keep(seen, e, c);
    evaluate_with(e, c, s, *where.stream);
}

namespace {

/// Evaluates a tree over contiguous arrays of one shape whose kernel the slot knows. Returns false, and does nothing,
/// where it is another.
bool evaluate_line(slot& cache, const tree_statement& s) {
    if (*s.out.memory || cache.entries[0].load(std::memory_order_relaxed) == nullptr) return false;
    if (s.leaves.holder == nullptr || !s.leaves.holder->memory) return false;
    const place where = place_on(s.leaves.holder->memory->device);
    classifier& classes = of_thread().classes;
    const executable* found = find_line(cache, classes, s, where.environment);
    if (found == nullptr) return false;
    const classified& c = classes.confirmed();
    *s.out.memory = allocate_buffer(static_cast<std::size_t>(c.size) * detail::size_of(s.out.type),
                                    where.stream->device, *where.stream);
    *s.out.where = detail::contiguous_layout(c.shape);
    const std::span<const operand> operands = classes.line_operands();
    for (const std::uint16_t i : classes.line_arrays())
        order_read(const_cast<buffer&>(*operands[i].memory), *where.stream);
    order_write(**s.out.memory, *where.stream);
    run(*found, c, {s.program, operands, {}, {&s.out, 1}}, *where.stream);
    return true;
}

}  // namespace

}  // namespace runtime

inline namespace v1 {

void evaluate(slot& cache, std::span<const detail::word> program, std::span<const operand> operands,
              std::span<const detail::word> attributes, std::span<const output> outputs) {
    runtime::evaluate(cache, {program, operands, attributes, outputs});
}

void evaluate_leaves(slot& cache, std::span<const detail::word> program, detail::leaf_block& leaves,
                     const output& out) {
    if (runtime::evaluate_line(cache, {program, leaves, out})) return;
    // A warm statement allocates nothing but its result, unless it is of very many leaves.
    constexpr std::size_t most_here = 64;
    alignas(operand) std::byte room[most_here * sizeof(operand)];
    std::vector<operand> many;
    operand* operands = reinterpret_cast<operand*>(room);
    const auto n = static_cast<std::size_t>(leaves.total);
    if (n <= most_here) {
        std::uninitialized_value_construct_n(operands, n);
    } else {
        many.resize(n);
        operands = many.data();
    }
    detail::cursor c{operands, nullptr};
    detail::leaf_span(leaves).gather(c);
    runtime::statement s{program, {operands, n}, {}, {&out, 1}};
    s.no_line = true;
    runtime::evaluate(cache, s);
}

}  // namespace v1
}  // namespace ingot
