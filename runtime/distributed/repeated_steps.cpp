// Steps of iterate over arrays in parts. With ghost layers k times as wide as a step reads, k steps follow one
// exchange: each rank computes the elements beside its part, too, one step's width fewer after each step.
#include <algorithm>
#include <optional>

#include <ingot/core/error.hpp>

#include "runtime/distributed/draft.hpp"
#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

namespace {

constexpr index_t most_steps = 64;

/// The placement whose parts are wider by so many elements at both ends of each split axis.
placement widened(const placement& p, const std::vector<index_t>& by) {
    placement wide = p;
    for (std::size_t g = 0; g < p.over.size(); ++g)
        for (range& r : wide.ranges[g])
            if (p.over[g] >= 0 && r.size() > 0)
                r = {std::max<index_t>(r.low - by[g], 0), std::min(r.high + by[g], p.shape[g])};
    return wide;
}

/// The loops of a step that computes the widened parts.
loops loops_over(const draft& d, const detail::layout& written, const placement& wide) {
    loops all(d.program, d.operands, d.attributes, written);
    std::vector<int> result;
    for (int j = 0; j < all.rank(); ++j) result.push_back(j);
    all.follow(wide, written, result);
    return all;
}

/// The width beside its part, along each axis, that a rank reads in one step; none where the step reads otherwise.
std::optional<std::vector<index_t>> widths_of(const draft& d, const statement& s, const placement& p) {
    const loops all = loops_over(d, *s.outputs[0].where, p);
    std::vector<index_t> widths(p.over.size(), 0);
    for (std::size_t i = 0; i < d.operands.size(); ++i) {
        if (d.placements[i] == nullptr) continue;
        access a;
        if (d.placements[i]->over != p.over || !take_apart(a, *d.placements[i], *d.operands[i].where)) return {};
        for (int r = 0; r < p.mesh->session->size; ++r) {
            const box read = read_box(a, *d.operands[i].where, all, all.of(i), r), own = p.box_of(r);
            for (std::size_t g = 0; g < own.size(); ++g)
                if (p.over[g] >= 0 && read[g].size() > 0)
                    widths[g] = std::max({widths[g], own[g].low - read[g].low, read[g].high - own[g].high});
        }
    }
    return widths;
}

}  // namespace

std::vector<planned_part> plan_repeats(const statement& s, index_t wanted) {
    std::vector<planned_part> repeats;
    const bool is_plain = std::ranges::none_of(s.program, [](detail::word w) {
        const detail::word_kind kind = detail::kind_of_word(w);
        return detail::is_binder(kind) || kind == detail::word_kind::generator || kind == detail::word_kind::reference;
    });
    const output& out = s.outputs[0];
    if (!is_plain || s.outputs.size() != 1 || out.scattered || !is_distributed(s.repeated.stepped)) return repeats;
    const distributed_storage& storage = storage_of(*s.repeated.stepped);
    const placement& p = *storage.where;
    access written;
    if (&p != storage_of(**out.memory).where.get() || !take_apart(written, p, *out.where)) return repeats;
    const draft d = draft_of(s, false);
    const auto widths = widths_of(d, s, p);
    if (!widths) return repeats;
    index_t steps = std::min(wanted, most_steps);
    for (std::size_t g = 0; g < widths->size(); ++g)
        if ((*widths)[g] > 0) steps = std::min(steps, p.ghosts[g] / (*widths)[g]);
    const int rank = p.mesh->session->rank;
    for (index_t k = 0; k < steps; ++k) {
        std::vector<index_t> by = *widths;
        for (index_t& width : by) width *= steps - 1 - k;
        const loops all = loops_over(d, *out.where, widened(p, by));
        planned_part& step = repeats.emplace_back();
        try {
            step.operands = plan_operands(d, 0, d.operands.size(), all);
        } catch (const distributed_error&) {  // another array has narrower ghost layers
            return {};
        }
        if (std::ranges::any_of(step.operands, [](const auto& o) { return o.at == planned_operand::place::elsewhere; }))
            return {};
        std::vector<int> result;
        for (int j = 0; j < all.rank(); ++j) result.push_back(j);
        step.written = narrowed(layout_in(written, *out.where, p.box_of(rank), storage.owned), all, result, rank);
        step.has_share = step.written.size() > 0;
    }
    return repeats;
}

}  // namespace ingot::runtime
