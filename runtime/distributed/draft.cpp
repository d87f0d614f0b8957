// See draft.hpp.
#include "runtime/distributed/draft.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

detail::layout layout_in(const access& a, const detail::layout& seen, const box& whole, const detail::layout& of) {
    detail::layout l(seen.rank());
    l.offset = of.offset;
    std::copy_n(seen.shape(), seen.rank(), l.shape());
    std::fill_n(l.strides(), seen.rank(), index_t{0});
    for (std::size_t g = 0; g < a.first.size(); ++g) {
        const index_t stride = of.strides()[g];
        l.offset += (a.first[g] - whole[g].low) * stride;
        for (int j = 0; j < seen.rank(); ++j) l.strides()[j] += a.steps[g][static_cast<std::size_t>(j)] * stride;
    }
    return l;
}

detail::layout narrowed(const detail::layout& whole, const loops& all, std::span<const int> own, int rank) {
    detail::layout l = whole;
    for (int j = 0; j < l.rank(); ++j) {
        const int at = loop_of(own, l.rank(), j);
        if (at < 0 || l.shape()[j] == 1) continue;
        const range r = all.range_of(at, rank);
        l.shape()[j] = r.size();
        l.offset += r.low * l.strides()[j];
    }
    return l;
}

namespace {

/// References are written out up to this length of a program.
constexpr std::size_t most_words = 8192;

/// The indices that a rank reads along an array axis.
range read_range(const access& a, std::size_t axis, const detail::layout& l, const loops& all, std::span<const int> own,
                 int rank) {
    range read{a.first[axis], a.first[axis]};
    for (int j = 0; j < l.rank(); ++j) {
        const index_t step = a.steps[axis][static_cast<std::size_t>(j)];
        const int at = loop_of(own, l.rank(), j);
        const range r = at < 0 || l.shape()[j] == 1 ? range{0, l.shape()[j]} : all.range_of(at, rank);
        if (r.size() == 0) return {0, 0};
        if (step == 0) continue;
        read.low += step * (step > 0 ? r.low : r.high - 1);
        read.high += step * (step > 0 ? r.high - 1 : r.low);
    }
    return {read.low, read.high + 1};
}

}  // namespace

box read_box(const access& a, const detail::layout& l, const loops& all, std::span<const int> own, int rank) {
    box b(a.first.size());
    bool nothing = false;
    for (std::size_t g = 0; g < b.size(); ++g) {
        b[g] = read_range(a, g, l, all, own, rank);
        nothing |= b[g].size() == 0;
    }
    if (nothing) b.assign(b.size(), {});
    return b;
}

namespace {

bool lies_in(const box& inner, const box& outer) {
    for (std::size_t k = 0; k < inner.size(); ++k)
        if (!lies_in(inner[k], outer[k])) return false;
    return true;
}

[[noreturn]] void throw_far(const placement& p, const loops& all, std::size_t bytes) {
    std::string wanted;
    for (const loop& l : all.all())
        if (l.over >= 0)
            wanted += (wanted.empty() ? "" : ", ") + std::to_string(l.extent) + " over " +
                      p.mesh->names[static_cast<std::size_t>(l.over)];
    throw distributed_error(
        "[distributed] an array of shape " + detail::to_text(p.shape) + ", " + to_text(p) +
        ", is read in parts that other ranks hold: " + std::to_string(bytes) +
        " bytes for a rank, where the statement is computed " +
        (wanted.empty() ? "whole on every rank" : "with axes of " + wanted) +
        "; give it ghost layers, or move it by distributed::redistribute(x, partition) or distributed::gather(x)");
}

/// Plans the reading of a layout of a distributed array whose part has the layout `owned`.
void plan_reading(planned_operand& to, const detail::layout& seen, const placement& p, const detail::layout& owned,
                  dtype type, const loops& all, std::span<const int> own, bool may_move) {
    const int rank = p.mesh->session->rank, ranks = p.mesh->session->size;
    access a;
    const bool is_affine = take_apart(a, p, seen);
    // Beyond a view's end it begins again, whatever the array has there.
    bool begins_again = false;
    for (int j = 0; j < seen.rank(); ++j)
        if (const int at = loop_of(own, seen.rank(), j); at >= 0 && seen.strides()[j] != 0)
            for (const range& r : all.all()[static_cast<std::size_t>(at)].of_rank)
                begins_again = begins_again || r.high > seen.shape()[j];
    bool is_own = is_affine && !begins_again, is_beside = is_own;
    for (int r = 0; is_beside && r < ranks; ++r) {
        const box read = read_box(a, seen, all, own, r);
        is_own = is_own && lies_in(read, p.box_of(r));
        is_beside = lies_in(read, p.held_by(r));
    }
    to.has_layout = true;
    if (is_beside) {
        to.at = is_own ? planned_operand::place::own : planned_operand::place::beside;
        to.where = narrowed(layout_in(a, seen, p.box_of(rank), owned), all, own, rank);
        return;
    }
    to.at = planned_operand::place::elsewhere;
    index_t most = 0;
    for (int r = 0; r < ranks; ++r) {
        box& b = to.wanted.emplace_back();
        if (is_affine) {
            b = read_box(a, seen, all, own, r);
        } else {  // a reshaped view is fetched whole
            for (const index_t extent : p.shape) b.push_back({0, extent});
        }
        most = std::max(most, size_of_box(b) - size_of_box(common(b, p.box_of(r))));
    }
    // A statement names such a move itself: it rolls, pads or joins.
    bool is_named = may_move;
    for (int j = 0; is_affine && j < seen.rank(); ++j) {
        const int at = loop_of(own, seen.rank(), j);
        if (at < 0 || seen.strides()[j] == 0 || all.all()[static_cast<std::size_t>(at)].of_rank.empty()) continue;
        is_named = true;
        const index_t extent = seen.shape()[j];
        index_t turns = 0;
        for (const range& r : all.all()[static_cast<std::size_t>(at)].of_rank)
            turns = std::max(turns, (r.high - 1) / extent);
        for (std::size_t g = 0; g < a.first.size(); ++g)
            if (turns > 0 && a.steps[g][static_cast<std::size_t>(j)] != 0)
                to.cycles.push_back({g, a.first[g], extent, turns});
    }
    const std::size_t bytes = static_cast<std::size_t>(most) * detail::size_of(type);
    if (bytes > most_fetched && !is_named) throw_far(p, all, bytes);
    const box& mine = to.wanted[static_cast<std::size_t>(rank)];
    to.where = narrowed(is_affine ? layout_in(a, seen, mine, contiguous_layout(mine)) : seen, all, own, rank);
}

}  // namespace

draft draft_of(const statement& s, bool expands) {
    draft to;
    std::vector<std::pair<beginning, beginning>> written;  // where each old word's value is now
    std::vector<beginning> values;
    std::size_t operand_at = 0, attribute_at = 0;
    for (const word code : s.program) {
        const beginning here{to.program.size(), to.operands.size(), to.attributes.size()};
        const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
        const beginning from = arity ? values[values.size() - arity] : here;
        values.resize(values.size() - arity);
        values.push_back(from);
        if (expands && detail::kind_of_word(code) == word_kind::reference) {
            const auto [b, e] = written[detail::code_of_word(code)];
            for (std::size_t i = b.program; i < e.program; ++i) to.program.push_back(word(to.program[i]));
            for (std::size_t i = b.operands; i < e.operands; ++i) {
                const operand repeated = to.operands[i];
                to.add_operand(repeated, to.sources[i].number);
            }
            for (std::size_t i = b.attributes; i < e.attributes; ++i) to.attributes.push_back(word(to.attributes[i]));
        } else {
            to.program.push_back(code);
            if (detail::operands_of_word(code) != 0) {
                to.add_operand(s.operands[operand_at], operand_at);
                ++operand_at;
            }
            if (detail::is_binder(detail::kind_of_word(code))) to.attributes.push_back(s.attributes[attribute_at++]);
        }
        if (to.program.size() > most_words)
            throw distributed_error("[distributed] a statement with reductions over split axes of more than " +
                                    std::to_string(most_words) + " operations; evaluate a part first, by eval(part)");
        written.push_back({from, {to.program.size(), to.operands.size(), to.attributes.size()}});
    }
    return to;
}

std::vector<planned_operand> plan_operands(const draft& d, std::size_t first, std::size_t count, const loops& all,
                                           bool may_move) {
    const int rank = all.mesh() == nullptr ? 0 : all.mesh()->session->rank;
    std::vector<planned_operand> planned;
    for (std::size_t i = 0; i < count; ++i) {
        const operand& o = d.operands[first + i];
        planned_operand& to = planned.emplace_back(d.sources[first + i]);
        if (const placement* const p = d.placements[first + i]) {
            if (o.kind == detail::operand_kind::raw)
                throw distributed_error("[distributed] a kernel's text reads an array whole that lies in parts, " +
                                        to_text(*p) + "; give it distributed::gather(x)");
            plan_reading(to, *o.where, *p, *d.owned[first + i], o.type, all, all.of(i), may_move);
        } else if (has_axes(o) &&
                   (all.is_split() || all.has_places() || to.from == planned_operand::source::gathered)) {
            const detail::layout* const places = all.place_of(i);
            to.has_layout = true;
            to.where = narrowed(places != nullptr ? *places : *o.where, all, all.of(i), rank);
        }
    }
    return planned;
}

void replace(draft& in, const found_value& old, std::initializer_list<word> words,
             const std::vector<new_operand>& operands, std::initializer_list<word> bound) {
    const auto put = [](auto& of, std::size_t first, std::size_t last, const auto& by) {
        of.erase(of.begin() + static_cast<std::ptrdiff_t>(first), of.begin() + static_cast<std::ptrdiff_t>(last));
        of.insert(of.begin() + static_cast<std::ptrdiff_t>(first), by.begin(), by.end());
    };
    std::vector<operand> leaves;
    std::vector<planned_operand> sources;
    std::vector<const placement*> where;
    std::vector<const detail::layout*> owned;
    for (const new_operand& n : operands) {
        leaves.push_back(n.leaf);
        sources.push_back(n.source);
        where.push_back(n.where);
        owned.push_back(n.owned);
    }
    const auto& [w, from, until] = old;
    put(in.program, from.program, until.program, words);
    put(in.operands, from.operands, until.operands, leaves);
    put(in.sources, from.operands, until.operands, sources);
    put(in.placements, from.operands, until.operands, where);
    put(in.owned, from.operands, until.operands, owned);
    put(in.attributes, from.attributes, until.attributes, bound);
}

void share_parts(planned_reduction& step, const rank_mesh& mesh, const std::vector<int>& folded) {
    const int rank = mesh.session->rank;
    const auto part_of_rank = [&](int r) {
        index_t part = 0;
        for (const int m : folded) part = part * mesh.extents[static_cast<std::size_t>(m)] + mesh.coordinate(r, m);
        return part;
    };
    for (const int m : folded) step.parts *= mesh.extents[static_cast<std::size_t>(m)];
    step.my_part = part_of_rank(rank);
    if (step.parts > 1) step.ranks.resize(static_cast<std::size_t>(step.parts));
    for (int r = 0; r < mesh.session->size && step.parts > 1; ++r) {
        bool is_in_group = true;
        for (int m = 0; m < mesh.axes(); ++m)
            if (std::ranges::find(folded, m) == folded.end())
                is_in_group = is_in_group && mesh.coordinate(r, m) == mesh.coordinate(rank, m);
        if (is_in_group) step.ranks[static_cast<std::size_t>(part_of_rank(r))] = r;
    }
    step.part.offset = step.my_part * step.count;
}

}  // namespace ingot::runtime
