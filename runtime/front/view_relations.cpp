// Stage 3 of classification, optional parts of a key: (1) views of one buffer a few elements apart, as stencils read
// them, also by shifts with borders (roll, pad); (2) operands that are only indices.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

using detail::operand_kind;

/// From the longest stride to the shortest it takes the nearest number of steps, so that the rest is at most half a
/// stride.
bool find_steps(const aligned_strides& aligned, index_t distance, const index_t* strides,
                const detail::step_limits& most, std::int8_t* steps) {
    const std::size_t raw = aligned.axes();
    std::fill_n(steps, raw, std::int8_t{0});
    index_t below = 0;  // stride of the previous axis; 0 before the first
    std::size_t at = raw;
    while (true) {
        // The axis of the next shorter stride; of equal strides, the next axis.
        std::size_t next = raw;
        for (std::size_t a = 0; a < raw; ++a) {
            const index_t stride = std::abs(strides[a]);
            if (stride == 0 || aligned.extents[a] == 1) continue;
            if (at != raw && (stride > below || (stride == below && a <= at))) continue;
            if (next == raw || stride > std::abs(strides[next])) next = a;
        }
        if (next == raw) return distance == 0;
        if (at != raw && std::abs(static_cast<int>(steps[at])) > most.outer) return false;
        at = next;
        below = std::abs(strides[at]);
        const index_t twice = 2 * std::abs(distance) + below;
        const index_t nearest = (distance < 0) == (strides[at] < 0) ? twice / (2 * below) : -(twice / (2 * below));
        if (std::abs(nearest) > most.inner) return false;
        steps[at] = static_cast<std::int8_t>(nearest);
        distance -= nearest * strides[at];
    }
}

void view_relations::find_relations(const statement& s, const bound_axes& bound, const aligned_strides& aligned) {
    axes_ = aligned.axes();
    if ((s.kinds & has_binders) == 0)
        find_pairs(s, aligned, aligned.strides);
    else if (find_shifts(s, bound, aligned))
        find_pairs(s, aligned, shifted_strides_);
}

/// Whether binders only read a few elements further along, where beyond the ends they wrap around or take the nearest
/// or the mirrored element. Sets `shifts`, and `shifted_strides_` to the strides of
/// unshifted views.
bool view_relations::find_shifts(const statement& s, const bound_axes& bound, const aligned_strides& aligned) {
    using detail::word_kind;
    if ((s.kinds & (has_reductions | has_scans | has_libraries)) != 0 || s.outputs[0].scattered) return false;
    std::size_t binder = 0;
    for (const detail::word w : s.program) {
        const word_kind kind = detail::kind_of_word(w);
        if (kind == word_kind::gather || kind == word_kind::scatter ||
            (kind == word_kind::scalar && detail::code_of_word(w) != 0))
            return false;
        if (kind == word_kind::unravel &&
            !find_shifts_of(s, bound.binders[binder++], static_cast<detail::place_rule>(detail::code_of_word(w)),
                            aligned))
            return false;
    }
    return !shifts.empty() && move_shifted_strides(s, aligned);
}

/// Whether a binder only shifts: along each bound axis on which something beneath moves, it reads at the index of a
/// result axis of equal extent, plus a few steps.
bool view_relations::find_shifts_of(const statement& s, const bound_axes::binder& binder, detail::place_rule rule,
                                    const aligned_strides& aligned) {
    const std::size_t raw = aligned.axes(), rank = aligned.result_axes;
    const std::size_t first = rank + static_cast<std::size_t>(binder.first);
    const detail::step_limits most = detail::step_limits_of(s.operands.size());
    const std::size_t pick = binder.pick;
    const index_t* const place = aligned.strides_of(pick);
    const index_t offset = s.operands[pick].where->offset;
    const auto is_read_along = [&](std::size_t axis) {
        for (std::size_t i = 0; i < s.operands.size(); ++i)
            if (aligned.strides_of(i)[axis] != 0) return true;
        return false;
    };
    if (std::any_of(place + rank, place + raw, [](index_t by) { return by != 0; })) return false;
    std::ptrdiff_t unread = std::count_if(place, place + rank, [](index_t by) { return by != 0; });
    index_t weight = 1;  // of the axis' digit in the index
    for (std::size_t x = rank + static_cast<std::size_t>(binder.last); x-- > first;) {
        const index_t n = aligned.extents[x];
        if (is_read_along(x)) {
            const auto a = static_cast<std::size_t>(std::find(place, place + rank, weight) - place);
            if (a == rank || aligned.extents[a] != n) return false;
            index_t by = offset;
            if (rule == detail::place_rule::digits) {
                // The digit of an unread axis before this one holds the rounds beyond this axis' end.
                const index_t rounds = x > first && !is_read_along(x - 1) ? aligned.extents[x - 1] : 1;
                if (offset < 0) return false;
                by = offset / weight % (n * rounds);
                if (by + n > n * rounds) return false;
                by %= n;
                if (by > n / 2) by -= n;
            }
            if (rule == detail::place_rule::wrap && by > n / 2) by -= n;
            // A mirrored index beyond the other end is no shift.
            if (rule == detail::place_rule::reflect && std::abs(by) >= n) return false;
            if (rule == detail::place_rule::symmetric && std::abs(by) > n) return false;
            const bool inner = static_cast<std::size_t>(aligned.order[rank - 1]) == a;
            if (std::abs(by) > (inner ? most.inner : most.outer)) return false;
            shifts.push_back({static_cast<std::uint16_t>(pick), static_cast<std::uint16_t>(a),
                              static_cast<std::uint16_t>(x), static_cast<std::int8_t>(by)});
            --unread;
        }
        weight *= n;
    }
    return unread == 0;
}

/// Moves the strides of shifted axes to the result axes that index them.
bool view_relations::move_shifted_strides(const statement& s, const aligned_strides& aligned) {
    shifted_strides_ = aligned.strides;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        index_t* const strides = shifted_strides_.data() + i * axes_;
        for (const shift& h : shifts) {
            if (strides[h.bound] == 0) continue;
            if (strides[h.axis] != 0 || s.operands[i].kind != operand_kind::array) return false;
            strides[h.axis] = std::exchange(strides[h.bound], 0);
        }
    }
    return true;
}

bool view_relations::is_shifted(std::size_t axis) const {
    return std::ranges::any_of(shifts, [=](const shift& h) { return h.axis == axis || h.bound == axis; });
}

/// Sets `pairs`: relates each array to the first one of its buffer that lies a few steps away.
void view_relations::find_pairs(const statement& s, const aligned_strides& aligned, const std::vector<index_t>& all) {
    const std::size_t raw = axes_;
    const detail::step_limits most = detail::step_limits_of(s.operands.size());
    steps.clear();
    bases_.clear();
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        if (o.kind != operand_kind::array || o.memory == nullptr) continue;
        const index_t* const strides = all.data() + i * raw;
        const std::size_t end = steps.size();
        steps.resize(end + raw);
        const auto base = std::ranges::find_if(bases_, [&](std::uint16_t b) {
            const operand& other = s.operands[b];
            return other.memory == o.memory && other.type == o.type &&
                   std::equal(strides, strides + raw, all.data() + b * raw) &&
                   find_steps(aligned, o.where->offset - other.where->offset, strides, most, steps.data() + end);
        });
        const bool related =
            base != bases_.end() && (!shifts.empty() || s.operands[*base].where->offset != o.where->offset);
        if (base == bases_.end()) bases_.push_back(static_cast<std::uint16_t>(i));
        if (related)
            pairs.push_back({static_cast<std::uint16_t>(i), *base});
        else
            steps.resize(end);
    }
}

bool view_relations::keep_apart(std::size_t outer, std::size_t inner) const {
    if (is_shifted(outer) || is_shifted(inner)) return true;
    for (std::size_t r = 0; r < pairs.size(); ++r)
        if (steps_of(r)[outer] != 0) return true;
    return false;
}

/// Appends the relations. Without shifts only distinct operands have one: their heads tell equal views. Shifted views
/// move along other axes, so each has its own.
void view_relations::append_to(std::vector<std::uint32_t>& words, const bound_axes& bound, const collapsed_axes& axes,
                               std::span<const std::uint16_t> distinct) const {
    const std::size_t head = words.size();
    const auto is_first = [&](std::uint16_t i) { return std::ranges::find(distinct, i) != distinct.end(); };
    const auto append = [&](std::uint16_t view, std::uint16_t base, auto steps_along) {
        words.push_back(view | static_cast<std::uint32_t>(base) << 16);
        for (std::size_t a = 0; a < axes.count(); ++a) {
            if (a % detail::steps_per_word == 0) words.push_back(0);
            const std::int8_t away = steps_along(static_cast<std::size_t>(axes.innermost[a]));
            words.back() |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(away))
                            << 8 * (a % detail::steps_per_word);
        }
    };
    const auto number_of = [&](std::uint16_t axis) {
        return static_cast<std::int8_t>(std::ranges::find(axes.innermost, static_cast<int>(axis)) -
                                        axes.innermost.begin());
    };
    for (std::size_t r = 0; r < pairs.size(); ++r) {
        const auto [view, base] = pairs[r];
        if (shifts.empty() && (!is_first(view) || !is_first(base))) continue;
        if (words.size() == head) {
            words.push_back(0);
            if (!shifts.empty())
                for (const bound_axes::binder& b : bound.binders)
                    append(static_cast<std::uint16_t>(b.pick), static_cast<std::uint16_t>(b.pick),
                           [&](std::size_t axis) -> std::int8_t {
                               for (const shift& h : shifts)
                                   if (h.pick == b.pick && (h.axis == axis || h.bound == axis))
                                       return h.axis == axis ? h.steps
                                                             : static_cast<std::int8_t>(1 + number_of(h.axis));
                               return 0;
                           });
        }
        append(view, base, [&](std::size_t axis) { return steps_of(r)[axis]; });
    }
    if (words.size() != head)
        words[head] = detail::section_head(detail::key_section::relations, words.size() - head - 1);
}

/// Marks arrays of integers that are, unchanged, the index of a gather.
void index_uses::find_uses(const statement& s) {
    constexpr int no_operand = -1;
    of_operands.assign(s.operands.size(), 0);
    word_operands_.clear();
    int next = 0;
    std::size_t binders = 0;
    for (std::size_t i = 0; i < s.program.size(); ++i) {
        const detail::word w = s.program[i];
        const detail::word_kind kind = detail::kind_of_word(w);
        if (kind == detail::word_kind::gather && word_operands_.back() != no_operand)
            of_operands[static_cast<std::size_t>(word_operands_.back())] =
                static_cast<std::uint8_t>(1 + detail::code_of_word(w));
        int value = kind == detail::word_kind::leaf ? next : no_operand;
        if (changes_no_value(s, i, binders)) value = word_operands_.back();
        word_operands_.resize(word_operands_.size() - static_cast<std::size_t>(detail::arity_of_word(w)));
        word_operands_.push_back(value);
        binders += detail::is_binder(kind);
        next += detail::operands_of_word(w);
    }
}

}  // namespace ingot::runtime
