// Views of one buffer that lie a few elements apart, as a stencil reads them, and operands that are indices alone: what
// a key says beside its operands' own classes, where it is asked to.
#include <algorithm>
#include <cstdlib>

#include "runtime/classify.hpp"

namespace ingot::runtime {

using detail::operand_kind;

/// Whether a distance in elements is a few steps on the axes before collapse. From the longest stride to the shortest
/// as many are taken as come nearest, so the rest is below half a stride.
bool classifier::find_steps(index_t distance, const index_t* strides, std::int8_t* steps) {
    const std::size_t raw = raw_extents_.size();
    std::fill_n(steps, raw, std::int8_t{0});
    index_t below = 0;  // the last axis' stride; 0 before the first
    std::size_t at = raw;
    while (true) {
        // The axis of the next shorter stride; of equal ones the next behind it.
        std::size_t next = raw;
        for (std::size_t a = 0; a < raw; ++a) {
            const index_t stride = std::abs(strides[a]);
            if (stride == 0 || raw_extents_[a] == 1) continue;
            if (at != raw && (stride > below || (stride == below && a <= at))) continue;
            if (next == raw || stride > std::abs(strides[next])) next = a;
        }
        if (next == raw) return distance == 0;
        if (at != raw && std::abs(static_cast<int>(steps[at])) > detail::most_outer_steps) return false;
        at = next;
        below = std::abs(strides[at]);
        const index_t twice = 2 * std::abs(distance) + below;
        const index_t nearest = (distance < 0) == (strides[at] < 0) ? twice / (2 * below) : -(twice / (2 * below));
        if (std::abs(nearest) > detail::most_inner_steps) return false;
        steps[at] = static_cast<std::int8_t>(nearest);
        distance -= nearest * strides[at];
    }
}

/// Sets `relations_`: of each array that is one to the first array it has one to.
void classifier::find_relations(const statement& s) {
    const std::size_t raw = raw_extents_.size();
    steps_.clear();
    bases_.clear();
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        if (o.kind != operand_kind::array || o.memory == nullptr) continue;
        const index_t* const strides = raw_strides_.data() + i * raw;
        const std::size_t end = steps_.size();
        steps_.resize(end + raw);
        const auto base = std::ranges::find_if(bases_, [&](std::uint16_t b) {
            const operand& other = s.operands[b];
            return other.memory == o.memory && other.type == o.type &&
                   std::equal(strides, strides + raw, raw_strides_.data() + b * raw) &&
                   find_steps(o.where->offset - other.where->offset, strides, steps_.data() + end);
        });
        const bool related = base != bases_.end() && s.operands[*base].where->offset != o.where->offset;
        if (base == bases_.end()) bases_.push_back(static_cast<std::uint16_t>(i));
        if (related)
            relations_.push_back({static_cast<std::uint16_t>(i), *base});
        else
            steps_.resize(end);
    }
}

/// An axis along which related views lie apart stays an axis of the key.
bool classifier::may_merge(std::size_t outer) const {
    for (std::size_t r = 0; r < relations_.size(); ++r)
        if (steps_[r * raw_extents_.size() + outer] != 0) return false;
    return true;
}

/// After the operands' heads, which say which are the same view.
void classifier::append_relations() {
    const std::vector<int>& kept = axis_pool_;
    const std::size_t raw = raw_extents_.size(), head = c_.words.size();
    const auto is_first = [&](std::uint16_t i) { return std::ranges::find(distinct_, i) != distinct_.end(); };
    for (std::size_t r = 0; r < relations_.size(); ++r) {
        const auto [view, base] = relations_[r];
        if (!is_first(view) || !is_first(base)) continue;
        if (c_.words.size() == head) c_.words.push_back(0);
        c_.words.push_back(view | static_cast<std::uint32_t>(base) << 16);
        for (std::size_t a = 0; a < c_.extents.size(); ++a) {
            if (a % detail::steps_per_word == 0) c_.words.push_back(0);
            const std::int8_t steps = steps_[r * raw + static_cast<std::size_t>(kept[a])];
            c_.words.back() |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(steps))
                               << 8 * (a % detail::steps_per_word);
        }
    }
    if (c_.words.size() != head)
        c_.words[head] = detail::section_head(detail::key_section::relations, c_.words.size() - head - 1);
}

/// Arrays of integers that are a gather's index as they stand.
void classifier::find_indices(const statement& s) {
    constexpr int no_operand = -1;
    index_use_.assign(s.operands.size(), 0);
    word_operands_.clear();
    int next = 0;
    for (const detail::word w : s.program) {
        const detail::word_kind kind = detail::kind_of_word(w);
        if (kind == detail::word_kind::gather && word_operands_.back() != no_operand)
            index_use_[static_cast<std::size_t>(word_operands_.back())] =
                static_cast<std::uint8_t>(1 + detail::code_of_word(w));
        word_operands_.resize(word_operands_.size() - static_cast<std::size_t>(detail::arity_of_word(w)));
        word_operands_.push_back(kind == detail::word_kind::leaf ? next : no_operand);
        next += detail::operands_of_word(w);
    }
}

}  // namespace ingot::runtime
