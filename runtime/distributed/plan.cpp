// See plan.hpp.
#include "runtime/distributed/plan.hpp"

#include <algorithm>
#include <limits>

#include <ingot/core/error.hpp>

#include "runtime/distributed/draft.hpp"
#include "runtime/system/hash.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

void add(std::vector<std::uint64_t>& key, const detail::layout& l) {
    key.push_back(static_cast<std::uint64_t>(l.rank()));
    key.push_back(static_cast<std::uint64_t>(l.offset));
    for (int j = 0; j < l.rank(); ++j) {
        key.push_back(static_cast<std::uint64_t>(l.shape()[j]));
        key.push_back(static_cast<std::uint64_t>(l.strides()[j]));
    }
}

namespace {

const placement* placement_of(const operand& o) {
    return is_distributed(o.memory) ? storage_of(*o.memory).where.get() : nullptr;
}

/// Whether a statement may have steps before its last: reductions, products and transforms of arrays in parts.
bool has_steps(const statement& s) {
    return std::ranges::any_of(s.program,
                               [](word w) {
                                   return detail::kind_of_word(w) == word_kind::reduce || is_product(w) ||
                                          is_transform(w);
                               }) &&
           std::ranges::any_of(s.operands, [](const operand& o) { return is_distributed(o.memory); });
}

/// The placement of a new result whose axes are split as the loops are, with ghost layers as wide as the operands'.
std::shared_ptr<const placement> placement_of_new(const loops& all, std::span<const placement* const> placements) {
    auto made = std::make_shared<placement>();
    std::vector<index_t> ghost_of(static_cast<std::size_t>(all.mesh()->axes()), 0);
    for (const placement* p : placements) {
        if (p == nullptr) continue;
        if (!made->mesh) made->mesh = p->mesh;
        for (std::size_t g = 0; g < p->over.size(); ++g)
            if (p->over[g] >= 0) {
                index_t& width = ghost_of[static_cast<std::size_t>(p->over[g])];
                width = std::max(width, p->ghosts[g]);
            }
    }
    for (int j = 0; j < all.rank(); ++j) {
        const loop& l = all.all()[static_cast<std::size_t>(j)];
        made->shape.push_back(l.extent);
        made->over.push_back(l.over);
        made->ranges.push_back(l.over < 0 ? std::vector<range>{{0, l.extent}} : l.ranges);
        made->ghosts.push_back(l.over < 0 ? 0 : ghost_of[static_cast<std::size_t>(l.over)]);
    }
    return made->mesh->session->shared(std::move(made));
}

/// Whether a value is the new result as it lies: the same placement and, at the same strides, the same elements, but
/// for axes of extent 1.
bool is_result(const planned_reduction& step, const detail::layout& seen, const placement& made) {
    const placement& placed = *step.placed;
    std::size_t g = 0;
    const auto skip = [&] {
        while (g < placed.shape.size() && placed.shape[g] == 1 && placed.over[g] < 0) ++g;
    };
    for (std::size_t j = 0; j < made.shape.size(); ++j) {
        if (made.shape[j] == 1 && made.over[j] < 0) continue;
        skip();
        if (g == placed.shape.size() || made.ghosts[j] > 0 || made.shape[j] != placed.shape[g] ||
            made.over[j] != placed.over[g] || made.ranges[j] != placed.ranges[g])
            return false;
        const auto at = static_cast<int>(j), from = static_cast<int>(g++);
        if (seen.shape()[at] != step.owned.shape()[from] ||
            (seen.shape()[at] != 1 && seen.strides()[at] != step.owned.strides()[from]))
            return false;
    }
    skip();
    return g == placed.shape.size() && step.owned.offset == 0 && seen.offset == 0;
}

/// The step whose value is the new result as it lies.
std::optional<std::size_t> step_of_result(const statement_plan& plan, const statement& s) {
    if (plan.keeps_program || plan.made == nullptr || s.outputs.size() != 1 || plan.last.program.size() != 1) return {};
    const planned_operand& p = plan.last.operands[0];
    if (p.from != planned_operand::source::gathered || p.at != planned_operand::place::own || !p.has_layout) return {};
    const planned_reduction& step = plan.reductions[p.number];
    const bool is_whole = step.placed != nullptr && step.placed->mesh == plan.made->mesh &&
                          step.gathered_parts() == 1 &&
                          static_cast<std::size_t>(p.where.rank()) == plan.made->shape.size();
    return is_whole && step.result_type() == s.outputs[0].type && is_result(step, p.where, *plan.made)
               ? std::optional(p.number)
               : std::nullopt;
}

bool is_split_along(const loops& all, int axes) {
    for (int j = 0; j < axes; ++j)
        if (all.all()[static_cast<std::size_t>(j)].over >= 0) return true;
    return false;
}

void plan_writing(statement_plan& plan, const statement& s, const draft& d, const loops& all,
                  std::span<const int> result) {
    const placement& first = *storage_of(**s.outputs[0].memory).where;
    const int rank = first.mesh->session->rank;
    std::vector<std::pair<int, index_t>> owners;
    for (const output& o : s.outputs) {
        if (!*o.memory || !is_distributed(o.memory->get()))
            throw distributed_error("[distributed] one statement writes an array in parts and an ordinary one");
        if (o.scattered)
            throw distributed_error("[distributed] writes at computed places have no form for arrays in parts");
        const distributed_storage& storage = storage_of(**o.memory);
        const placement& p = *storage.where;
        access a;
        if (!take_apart(a, p, *o.where))
            throw distributed_error("[distributed] a reshaped view of an array in parts is not written");
        loops own(d.program, d.operands, d.attributes, *o.where);
        own.follow(p, *o.where, result);
        for (const int j : result) {
            const loop &x = all.all()[static_cast<std::size_t>(j)], &y = own.all()[static_cast<std::size_t>(j)];
            if (x.over != y.over || x.ranges != y.ranges)
                throw distributed_error("[distributed] arrays of two partitions are written by one statement");
        }
        const box own_box = p.box_of(rank);
        std::vector<std::pair<int, index_t>>
            at;  // of split axes at one index: the mesh axis and the place that owns it
        for (std::size_t g = 0; g < p.over.size(); ++g) {
            if (p.over[g] < 0) continue;
            if (std::ranges::all_of(a.steps[g], [](index_t step) { return step == 0; })) {
                const auto owner = std::ranges::find_if(
                    p.ranges[g], [&](const range& r) { return a.first[g] >= r.low && a.first[g] < r.high; });
                at.push_back({p.over[g], owner - p.ranges[g].begin()});
                if (a.first[g] < own_box[g].low || a.first[g] >= own_box[g].high) plan.has_share = false;
            } else if (std::ranges::none_of(
                           result, [&](int j) { return own.all()[static_cast<std::size_t>(j)].over == p.over[g]; })) {
                throw distributed_error(
                    "[distributed] a diagonal over two split axes of an array in parts is not written");
            }
        }
        if (&o != s.outputs.data() && at != owners)
            throw distributed_error("[distributed] rows of two ranks are written by one statement");
        owners = std::move(at);
        plan.written.push_back(narrowed(layout_in(a, *o.where, own_box, storage.owned), all, result, rank));
    }
}

/// Whether some elements lie on several ranks.
bool has_replicas(const placement& p) {
    for (int r = 1; r < p.mesh->session->size; ++r)
        if (p.is_replica_of(0, r)) return true;
    return false;
}

/// Plans one part of a new result for each rank, so that the kernels which compute it write the messages of a move. The
/// result is computed under `plan.made` first where that is one computation instead of several.
void plan_parts_for_ranks(statement_plan& plan, const placement& to, const draft& d, const loops& all) {
    const placement& from = *plan.made;
    const int own_rank = from.mesh->session->rank;
    if (to.mesh->session != from.mesh->session || !to.is_split() || has_replicas(to)) return;
    if (plan.is_value_of || all.has_places() || to == from) return;
    // Elements of other ranks would be fetched again for each part.
    for (const planned_operand& o : plan.last.operands)
        if (o.at == planned_operand::place::elsewhere) return;
    for (int r = 0; r < from.mesh->session->size; ++r) {
        const box theirs = to.box_of(r), sent = common(from.box_of(own_rank), theirs);
        loops restricted = all;
        for (int j = 0; j < to.axes(); ++j) restricted.restrict_to(j, theirs[static_cast<std::size_t>(j)]);
        planned_part& part = plan.part_for_rank.emplace_back();
        part.operands = plan_operands(d, 0, d.operands.size(), restricted);
        part.has_share = size_of_box(sent) > 0 && (r == own_rank || !from.is_replica_of(own_rank, r));
        part.written = r == own_rank && part.has_share ? part_of(to.owned, to.own, sent) : contiguous_layout(sent);
    }
}

void make_plan(statement_plan& plan, const statement& s) {
    const bool takes_steps = has_steps(s);
    draft d = draft_of(s, takes_steps);
    const auto reduce_one = [&] {
        const output& first = s.outputs[0];
        const int rank = *first.memory && !first.scattered ? first.where->rank() : -1;
        const loops outer(d.program, d.operands, d.attributes, rank);
        return d.find_value(
            [&](std::size_t w, const beginning& b, std::size_t operands_end, std::size_t attributes_end) {
                const found_value value{w, b, {w + 1, operands_end, attributes_end}};
                if (detail::kind_of_word(d.program[w]) == word_kind::reduce)
                    return take_reduction(plan, d, outer, value);
                if (is_transform(d.program[w])) return take_transform(plan, d, outer, value);
                return is_product(d.program[w]) && take_product(plan, d, outer, value);
            });
    };
    while (takes_steps && reduce_one()) plan.keeps_program = false;
    if (!plan.keeps_program) {
        plan.last.program = d.program;
        plan.last.attributes = d.attributes;
    } else if (takes_steps) {
        d = draft_of(s, false);
    }

    const output& out = s.outputs[0];
    const bool is_into_parts =
        std::ranges::any_of(s.outputs, [](const output& o) { return *o.memory && is_distributed(o.memory->get()); });
    loops all = *out.memory && !out.scattered ? loops(d.program, d.operands, d.attributes, *out.where)
                                              : loops(d.program, d.operands, d.attributes, -1);
    std::vector<int> result;
    for (int j = 0; j < all.rank(); ++j) result.push_back(j);
    // An array that is written decides: an ordinary one is computed whole on every rank.
    if (is_into_parts && *out.memory && is_distributed(out.memory->get()))
        all.follow(*storage_of(**out.memory).where, *out.where, result);
    const bool scatters = out.scattered && !is_into_parts;
    if (!*out.memory || scatters) all.follow_operands(d.operands, d.placements);
    plan.scatters = scatters && is_split_along(all, all.rank());
    all.follow_places(d.operands, d.placements);
    plan.last.operands = plan_operands(d, 0, d.operands.size(), all);
    const int rank = all.mesh() == nullptr ? 0 : all.mesh()->session->rank;
    if (is_into_parts) {
        plan_writing(plan, s, d, all, result);
    } else if (!scatters && is_split_along(all, all.rank())) {
        plan.made = placement_of_new(all, d.placements);
        plan.is_value_of = step_of_result(plan, s);
        if (s.moved_to != nullptr) plan_parts_for_ranks(plan, **s.moved_to, d, all);
    }
    for (const int j : result)
        if (all.all()[static_cast<std::size_t>(j)].over >= 0 && all.range_of(j, rank).size() == 0)
            plan.has_share = false;
    // Several ranks may have the same part; the one at coordinate 0 adds it.
    for (int m = 0; plan.scatters && m < all.mesh()->axes(); ++m)
        if (std::ranges::none_of(result, [&](int j) { return all.all()[static_cast<std::size_t>(j)].over == m; }) &&
            all.mesh()->coordinate(rank, m) != 0)
            plan.has_share = false;
}

// ---- kept plans ----------------------------------------------------------------------------------------------------

/// Whether a step of a plan left a part in another order than C's.
bool is_turned(const buffer* memory) {
    if (!is_distributed(memory)) return false;
    const distributed_storage& s = storage_of(*memory);
    return !std::equal(s.owned.strides(), s.owned.strides() + s.owned.rank(), s.where->owned.strides());
}
void add_strides_of_turned(std::vector<std::uint64_t>& key, const buffer* memory) {
    const detail::layout& owned = storage_of(*memory).owned;
    for (int j = 0; j < owned.rank(); ++j) key.push_back(static_cast<std::uint64_t>(owned.strides()[j]));
}

/// All that a plan depends on. Placements are shared by content while a session lives, so that their addresses say all.
void write_key(std::vector<std::uint64_t>& key, const statement& s) {
    key.clear();
    key.push_back(s.repeated.steps);
    key.push_back(s.moved_to == nullptr ? 0 : reinterpret_cast<std::uintptr_t>(s.moved_to->get()));
    key.push_back(s.program.size() << 32 | s.attributes.size() << 16 | s.outputs.size());
    for (const word w : s.program) key.push_back(w);
    for (const word w : s.attributes) key.push_back(w);
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        std::size_t first = i;  // with this memory: equal values are computed once
        for (std::size_t k = 0; o.memory != nullptr && k < i && first == i; ++k)
            if (s.operands[k].memory == o.memory) first = k;
        const bool turned = is_turned(o.memory);
        key.push_back(static_cast<std::uint64_t>(turned) << 63 | first << 16 | static_cast<std::uint64_t>(o.kind) << 8 |
                      static_cast<std::uint64_t>(o.type));
        if (o.where != nullptr) add(key, *o.where);
        key.push_back(reinterpret_cast<std::uintptr_t>(placement_of(o)));
        if (turned) add_strides_of_turned(key, o.memory);
    }
    for (const output& o : s.outputs) {
        const buffer* const memory = o.memory->get();
        const bool turned = is_turned(memory);
        key.push_back(static_cast<std::uint64_t>(turned) << 63 | static_cast<std::uint64_t>(memory != nullptr) << 9 |
                      static_cast<std::uint64_t>(o.scattered) << 8 | static_cast<std::uint64_t>(o.type));
        key.push_back(is_distributed(memory) ? reinterpret_cast<std::uintptr_t>(storage_of(*memory).where.get()) : 0);
        if (memory != nullptr) add(key, *o.where);
        if (turned) add_strides_of_turned(key, memory);
    }
}

constexpr std::size_t most_plans = 1024;

}  // namespace

rank_session& session_of(const statement& s) {
    for (const operand& o : s.operands)
        if (is_distributed(o.memory)) return storage_of(*o.memory).session();
    for (const output& o : s.outputs)
        if (is_distributed(o.memory->get())) return storage_of(**o.memory).session();
    throw error("[distributed] a statement without arrays in parts");
}

const statement_plan& plan_of(const statement& s) {
    rank_session& session = session_of(s);
    throw_if_ended(session);
    plan_table& table = session.plans();
    write_key(table.key, s);
    const std::uint64_t hash = hash_of(std::as_bytes(std::span(table.key))).low;
    const auto [first, last] = table.plans.equal_range(hash);
    for (auto at = first; at != last; ++at)
        if (at->second->key == table.key) return at->second->plan;
    auto made = std::make_unique<plan_table::entry>();
    made->key = table.key;
    for (const operand& o : s.operands)
        if (is_distributed(o.memory)) made->named.push_back(storage_of(*o.memory).where);
    for (const output& o : s.outputs)
        if (is_distributed(o.memory->get())) made->named.push_back(storage_of(**o.memory).where);
    if (s.moved_to != nullptr) made->named.push_back(*s.moved_to);
    if (s.repeated.steps != 1)
        made->plan.repeats =
            plan_repeats(s, s.repeated.steps == 0 ? std::numeric_limits<index_t>::max() : s.repeated.steps);
    else
        make_plan(made->plan, s);
    if (table.plans.size() >= most_plans) table.plans.clear();
    return table.plans.emplace(hash, std::move(made))->second->plan;
}

const placement* placement_of_result(const statement& s) {
    if (has_steps(s)) return nullptr;
    return plan_of(s).made.get();
}

}  // namespace ingot::runtime
