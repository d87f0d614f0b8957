// See loops.hpp.
#include "runtime/distributed/loops.hpp"

#include <algorithm>

#include <ingot/core/error.hpp>

#include "runtime/trees/lazy.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

loops::loops(std::span<const word> program, std::span<const operand> operands, std::span<const word> attributes,
             int rank, bool splits_last)
    : splits_last_(splits_last) {
    // From the end: a word's context is known before those of its arguments.
    std::vector<std::size_t> open{0};
    context_of_.resize(operands.size());
    context_of_word_.resize(program.size());
    std::size_t next_operand = operands.size(), next_attribute = attributes.size();
    std::vector<std::pair<std::size_t, std::size_t>> chains{{0, 0}};  // parent, bound axes
    std::vector<std::size_t> chain_of_unravel;
    for (std::size_t w = program.size(); w-- > 0;) {
        const word code = program[w];
        if (open.empty()) open.push_back(0);  // the value of another output
        const std::size_t here = open.back();
        open.pop_back();
        context_of_word_[w] = here;
        if (detail::operands_of_word(code) != 0) context_of_[--next_operand] = here;
        const word_kind kind = detail::kind_of_word(code);
        const std::size_t bound = detail::is_binder(kind) ? attributes[--next_attribute] : 0;
        std::size_t inner = here;
        if (bound > 0) {
            chains.push_back({here, bound});
            inner = chains.size() - 1;
            if (kind == word_kind::unravel) {
                unravels_.push_back({next_operand, static_cast<detail::place_rule>(detail::code_of_word(code)), {}});
                chain_of_unravel.push_back(inner);
            }
        }
        for (int i = 0; i < detail::arity_of_word(code); ++i)
            open.push_back(detail::binds_value(kind, i) ? inner : here);
        if (w + 1 == program.size()) bound_last_.resize(bound);  // filled below
    }
    // The loops of each chain of binders, the result's without number until its rank is known.
    std::vector<std::size_t> depth_of(chains.size(), 0);
    for (std::size_t c = 1; c < chains.size(); ++c) depth_of[c] = depth_of[chains[c].first] + chains[c].second;
    rank_ = std::max(rank, 0);
    if (rank < 0)
        for (std::size_t i = 0; i < operands.size(); ++i)
            if (has_axes(operands[i]))
                rank_ = std::max(rank_, operands[i].where->rank() - static_cast<int>(depth_of[context_of_[i]]));
    loops_.resize(static_cast<std::size_t>(rank_));
    for (loop& l : loops_) l.may_split = true;
    contexts_.resize(chains.size());
    for (int j = 0; j < rank_; ++j) contexts_[0].push_back(j);
    for (std::size_t c = 1; c < chains.size(); ++c) {
        contexts_[c] = contexts_[chains[c].first];
        for (std::size_t k = 0; k < chains[c].second; ++k) {
            contexts_[c].push_back(static_cast<int>(loops_.size()));
            // The first chain is that of the last word.
            const bool is_last = c == 1 && !bound_last_.empty();
            if (is_last) bound_last_[k] = static_cast<int>(loops_.size());
            loops_.emplace_back().may_split = is_last && splits_last;
        }
    }
    for (std::size_t k = 0; k < unravels_.size(); ++k) {
        const std::vector<int>& inner = contexts_[chain_of_unravel[k]];
        unravels_[k].bound.assign(inner.end() - static_cast<std::ptrdiff_t>(chains[chain_of_unravel[k]].second),
                                  inner.end());
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!has_axes(operands[i])) continue;
        const detail::layout& l = *operands[i].where;
        for (int j = 0; j < l.rank(); ++j)
            if (const int at = loop_of(of(i), l.rank(), j); at >= 0 && l.shape()[j] != 1)
                loops_[static_cast<std::size_t>(at)].extent = l.shape()[j];
    }
}

bool loops::is_split() const noexcept {
    return std::ranges::any_of(loops_, [](const loop& l) { return l.over >= 0; });
}

range loops::range_of(int at, int rank) const noexcept {
    const loop& l = loops_[static_cast<std::size_t>(at)];
    if (!l.of_rank.empty()) return l.of_rank[static_cast<std::size_t>(rank)];
    return l.over < 0 ? range{0, l.extent} : l.range_at(mesh_->coordinate(rank, l.over));
}

void loops::restrict_to(int at, range r) {
    std::vector<range> narrowed;
    for (int rank = 0; rank < mesh_->session->size; ++rank) narrowed.push_back(common(range_of(at, rank), r));
    loops_[static_cast<std::size_t>(at)].of_rank = std::move(narrowed);
}

void loops::check_mesh(const placement& p) {
    if (mesh_ == nullptr) mesh_ = p.mesh.get();
    if (mesh_->session != p.mesh->session || mesh_->extents != p.mesh->extents)
        throw distributed_error("[distributed] arrays over two meshes in one statement");
}

/// The loops that a layout moves along, each alone, on a split axis of the array.
std::vector<loops::alignment> loops::alignments_of(const placement& p, const detail::layout& l,
                                                   std::span<const int> own) const {
    std::vector<alignment> found;
    access a;
    if (!take_apart(a, p, l)) return found;
    for (std::size_t g = 0; g < p.shape.size(); ++g) {
        if (p.over[g] < 0) continue;
        int moving = -1, count = 0;
        for (int j = 0; j < l.rank(); ++j)
            if (a.steps[g][static_cast<std::size_t>(j)] != 0) moving = j, ++count;
        const int at = count == 1 ? loop_of(own, l.rank(), moving) : -1;
        if (at < 0) continue;
        const index_t step = a.steps[g][static_cast<std::size_t>(moving)];
        found.push_back({at, p.over[g], a.first[g], step, &p.ranges[g]});
    }
    return found;
}

void loops::split(const alignment& by, index_t first) {
    loop& to = loops_[static_cast<std::size_t>(by.loop)];
    if (to.over >= 0 || !to.may_split) return;
    if (std::ranges::any_of(loops_, [&](const loop& other) { return other.over == by.over; })) return;
    to.over = by.over;
    // Index j is at the place that owns first + step * j.
    const auto first_from = [&](index_t bound) {  // the least j with first + step * j >= bound; step > 0
        const index_t distance = bound - first;
        return std::clamp<index_t>(distance <= 0 ? 0 : (distance + by.step - 1) / by.step, 0, to.extent);
    };
    const auto first_below = [&](index_t bound) {  // the least j with first + step * j < bound; step < 0
        const index_t distance = first - bound;
        return std::clamp<index_t>(distance < 0 ? 0 : distance / -by.step + 1, 0, to.extent);
    };
    // The places of the array's first and last indices take what lies before and behind them.
    const index_t end = std::ranges::max(*by.ranges, {}, &range::high).high;
    for (const range& r : *by.ranges) {
        const bool is_low = r.low == 0, is_high = r.high == end;
        if (r.size() == 0)
            to.ranges.push_back({0, 0});
        else if (by.step > 0)
            to.ranges.push_back({is_low ? 0 : first_from(r.low), is_high ? to.extent : first_from(r.high)});
        else
            to.ranges.push_back({is_high ? 0 : first_below(r.high), is_low ? to.extent : first_below(r.low)});
    }
}

void loops::follow(const placement& p, const detail::layout& l, std::span<const int> own) {
    check_mesh(p);
    for (const alignment& a : alignments_of(p, l, own)) split(a, a.first);
}

void loops::follow_operands(std::span<const operand> operands, std::span<const placement* const> placements) {
    std::vector<std::pair<index_t, std::size_t>> order;
    std::vector<std::vector<alignment>> all(operands.size());
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (placements[i] == nullptr || !has_axes(operands[i])) continue;
        check_mesh(*placements[i]);
        all[i] = alignments_of(*placements[i], *operands[i].where, of(i));
        index_t moved = 1;
        const detail::layout& l = *operands[i].where;
        for (int j = 0; j < l.rank(); ++j) moved *= l.strides()[j] == 0 ? 1 : l.shape()[j];
        order.push_back({-moved, i});
    }
    std::ranges::stable_sort(order, {}, &std::pair<index_t, std::size_t>::first);
    for (const auto& [size, i] : order)
        for (const alignment& a : all[i]) {
            // Between the views that are shifted least and most, so that ghost layers reach both.
            index_t least = a.first, most = a.first;
            for (const std::vector<alignment>& others : all)
                for (const alignment& b : others)
                    if (b.loop == a.loop && b.over == a.over && b.step == a.step && *b.ranges == *a.ranges)
                        least = std::min(least, b.first), most = std::max(most, b.first);
            split(a, least + (most - least) / 2);
        }
    for (const auto& [size, i] : order)
        for (const alignment& a : all[i]) split_through(a, operands);
}

// ---- unravels ------------------------------------------------------------------------------------------------------

bool loops::is_moved_along(int at, std::span<const operand> operands) const {
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!has_axes(operands[i])) continue;
        const detail::layout& l = *operands[i].where;
        for (int j = 0; j < l.rank(); ++j)
            if (loop_of(of(i), l.rank(), j) == at && l.strides()[j] != 0 && l.shape()[j] != 1) return true;
    }
    return false;
}

index_t loops::period_of(const unraveled_places& u, std::size_t digit, std::span<const operand> operands) const {
    index_t period = 1;
    for (std::size_t k = u.bound.size(); k-- > 0;) {
        if (k < digit && is_moved_along(u.bound[k], operands)) return period;
        period *= loops_[static_cast<std::size_t>(u.bound[k])].extent;
    }
    return 0;
}

void loops::split_through(const alignment& by, std::span<const operand> operands) {
    int at = by.loop;
    bool is_equal = by.step == 1;
    for (bool is_bound = true; is_bound;) {
        is_bound = false;
        for (const unraveled_places& u : unravels_) {
            const auto digit = std::ranges::find(u.bound, at);
            if (digit == u.bound.end()) continue;
            index_t radix = 1;
            for (auto k = digit + 1; k != u.bound.end(); ++k) radix *= loops_[static_cast<std::size_t>(*k)].extent;
            const index_t period = period_of(u, static_cast<std::size_t>(digit - u.bound.begin()), operands);
            const detail::layout& l = *operands[u.operand].where;
            index_t best = 0;
            int moving = -1;
            for (int j = 0; j < l.rank(); ++j) {
                const index_t step = std::abs(l.strides()[j]);
                if (l.shape()[j] < 2 || step % radix != 0 || step <= best || (period > 0 && step >= period)) continue;
                best = step, moving = j;
            }
            if (moving < 0) return;
            is_equal = is_equal && l.strides()[moving] == radix;
            at = loop_of(of(u.operand), l.rank(), moving);
            is_bound = at >= 0;
            break;
        }
    }
    if (at < 0 || at == by.loop) return;
    loop& to = loops_[static_cast<std::size_t>(at)];
    if (to.over >= 0 || !to.may_split) return;
    if (std::ranges::any_of(loops_, [&](const loop& other) { return other.over == by.over; })) return;
    to.over = by.over;
    const index_t end = std::ranges::max(*by.ranges, {}, &range::high).high;
    to.ranges = is_equal && to.extent == end
                    ? *by.ranges
                    : even_ranges(to.extent, mesh_->extents[static_cast<std::size_t>(by.over)]);
}

bool loops::read_by(range& to, const unraveled_places& u, std::size_t digit, index_t period, const detail::layout& l,
                    int rank) const {
    const index_t extent = loops_[static_cast<std::size_t>(u.bound[digit])].extent;
    index_t radix = 1;
    for (std::size_t k = digit + 1; k < u.bound.size(); ++k)
        radix *= loops_[static_cast<std::size_t>(u.bound[k])].extent;
    index_t low = period > 0 ? (l.offset % period + period) % period : l.offset, high = low;
    for (int j = 0; j < l.rank(); ++j) {
        const index_t stride = l.strides()[j];
        const int at = loop_of(of(u.operand), l.rank(), j);
        const range r = at < 0 || l.shape()[j] == 1 ? range{0, l.shape()[j]} : range_of(at, rank);
        if (r.size() == 0) return to = {0, 0}, true;
        if (period > 0 && stride % period == 0) continue;  // moves along digits further out alone
        low += stride * (stride > 0 ? r.low : r.high - 1);
        high += stride * (stride > 0 ? r.high - 1 : r.low);
    }
    if (period > 0 && (low < 0 || high >= period)) return false;
    switch (u.rule) {
        case detail::place_rule::digits:
            if (low < 0) return false;
            to = {low / radix, high / radix + 1};
            break;
        case detail::place_rule::wrap:
            if (low < 0) return false;
            to = {low, high + 1};
            break;
        case detail::place_rule::nearest:
            to = {std::clamp<index_t>(low, 0, extent - 1), std::clamp<index_t>(high, 0, extent - 1) + 1};
            break;
        default: {  // reflect, symmetric: mirror images of the places beyond an end
            const index_t twice = u.rule == detail::place_rule::symmetric ? 1 : 0;
            range r{low, high + 1};
            if (low < 0) r = {0, std::max(high + 1, -low - twice + 1)};
            if (high >= extent) r = {std::min(std::max<index_t>(r.low, 0), 2 * (extent - 1) + twice - high), extent};
            to = r.low < 0 || r.high > extent ? range{0, extent} : r;
        }
    }
    if (to.size() >= extent) to = {0, extent};
    return true;
}

void loops::follow_places(std::span<const operand> operands, std::span<const placement* const> placements) {
    if (unravels_.empty() || mesh_ == nullptr) return;
    // The loops along which an array is split, and those where all operands that move may continue at the first index.
    std::vector<bool> is_read_in_parts(loops_.size(), false), may_wrap(loops_.size(), true);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        if (!has_axes(operands[i])) continue;
        const detail::layout& l = *operands[i].where;
        std::vector<alignment> aligned;
        if (placements[i] != nullptr) aligned = alignments_of(*placements[i], l, of(i));
        for (const alignment& a : aligned) is_read_in_parts[static_cast<std::size_t>(a.loop)] = true;
        for (int j = 0; j < l.rank(); ++j) {
            const int at = loop_of(of(i), l.rank(), j);
            if (at < 0 || l.strides()[j] == 0 || l.shape()[j] == 1) continue;
            const auto a = std::ranges::find(aligned, at, &alignment::loop);
            if (a == aligned.end() || a->step != 1) may_wrap[static_cast<std::size_t>(at)] = false;
        }
    }
    const auto ranks = static_cast<std::size_t>(mesh_->session->size),
               own = static_cast<std::size_t>(mesh_->session->rank);
    for (const unraveled_places& u : unravels_) {
        if (splits_last_ && u.bound == bound_last_) continue;  // its operand is computed in parts
        const detail::layout& given = *operands[u.operand].where;
        detail::layout where = given;
        bool is_changed = false;
        for (std::size_t digit = 0; digit < u.bound.size(); ++digit) {
            const auto at = static_cast<std::size_t>(u.bound[digit]);
            const index_t extent = loops_[at].extent;
            if (!is_read_in_parts[at] || extent < 2) continue;
            const index_t period = period_of(u, digit, operands);
            std::vector<range> read(ranks);
            bool is_narrowed = true;
            for (std::size_t r = 0; r < ranks && is_narrowed; ++r) {
                is_narrowed = read_by(read[r], u, digit, period, given, static_cast<int>(r));
                const index_t low = read[r].low % extent, size = read[r].size();
                is_narrowed = is_narrowed && (low + size <= extent || may_wrap[at]);
            }
            if (!is_narrowed) continue;
            const range mine = read[own];
            for (range& r : read) r = {r.low % extent, r.low % extent + r.size()};
            loops_[at].of_rank = std::move(read);
            is_changed = true;
            if (mine.size() == 0 || mine.size() == extent) continue;
            // The digits above have another weight, and this one begins at the first index that is read.
            index_t radix = 1;
            for (std::size_t k = digit + 1; k < u.bound.size(); ++k)
                radix *= loops_[static_cast<std::size_t>(u.bound[k])].extent;
            const auto reweighted = [&](index_t n) {
                if (period == 0) return n;
                index_t above = n / period;
                if (n % period < 0) --above;
                return above * (period / extent * mine.size()) + (n - above * period);
            };
            where.offset = reweighted(where.offset) - mine.low * radix;
            for (int j = 0; j < where.rank(); ++j)
                if (period > 0 && where.strides()[j] % period == 0) where.strides()[j] = reweighted(where.strides()[j]);
        }
        if (is_changed) adjusted_.push_back({u.operand, where});
    }
}

bool take_apart(access& to, const placement& p, const detail::layout& l) {
    const std::size_t axes = p.shape.size();
    const auto rank = static_cast<std::size_t>(l.rank());
    const auto index_of = [&](index_t element, std::vector<index_t>& index) {
        index.assign(axes, 0);
        for (std::size_t g = axes; g-- > 0;)
            if (p.shape[g] > 0) index[g] = element % p.shape[g], element /= p.shape[g];
        return element == 0;
    };
    to.steps.assign(axes, std::vector<index_t>(rank, 0));
    if (l.size() == 0) {  // reads nothing, wherever it begins
        to.first.assign(axes, 0);
        return true;
    }
    if (l.offset < 0 || !index_of(l.offset, to.first)) return false;
    std::vector<index_t> last;
    for (std::size_t j = 0; j < rank; ++j) {
        const index_t stride = l.strides()[j], extent = l.shape()[j];
        if (stride == 0 || extent < 2) continue;
        if (l.offset + stride < 0 || !index_of(l.offset + stride, last)) return false;
        for (std::size_t g = 0; g < axes; ++g) to.steps[g][j] = last[g] - to.first[g];
        if (l.offset + stride * (extent - 1) < 0 || !index_of(l.offset + stride * (extent - 1), last)) return false;
        for (std::size_t g = 0; g < axes; ++g)
            if (last[g] - to.first[g] != to.steps[g][j] * (extent - 1)) return false;
    }
    for (std::size_t g = 0; g < axes; ++g) {  // all corners lie inside, so that no sum of steps carries
        index_t least = to.first[g], most = to.first[g];
        for (std::size_t j = 0; j < rank; ++j) {
            const index_t way = to.steps[g][j] * (l.shape()[j] - 1);
            (way < 0 ? least : most) += l.shape()[j] > 1 ? way : 0;
        }
        if (least < 0 || most >= std::max<index_t>(p.shape[g], 1)) return false;
    }
    return true;
}

}  // namespace ingot::runtime
