// Stage 4 of classification: decides whether one kernel may do several steps of a repeated statement, and writes these
// steps into the key. The steps must be a two-dimensional stencil over the stepped array: the kernel keeps the rows of
// each step on the chip (codegen/cuda/map/stencil_steps.cpp) and moves the bytes of one step.
#include <algorithm>
#include <cstdlib>

#include <ingot/core/operators.hpp>

#include "runtime/front/class_stages.hpp"
#include "runtime/front/overlap.hpp"

namespace ingot::runtime {

using detail::operand_kind;

namespace {

/// Above this cost of an element arithmetic takes as long as memory access, and merging steps gains nothing.
constexpr std::uint32_t most_cost = 32;
/// Limits for all steps of a kernel together: rows in a thread's registers, and columns on either side that
/// neighbouring threads compute too.
constexpr int most_rows = 16, most_columns = 16;

std::uint32_t cost_of(std::span<const detail::word> program) {
    std::uint32_t cost = 0;
    for (const detail::word w : program)
        if (detail::kind_of_word(w) == detail::word_kind::map)
            cost += detail::facts(static_cast<detail::op>(detail::code_of_word(w))).cost;
    return cost;
}

}  // namespace

/// Sets `stepped` and `output_steps` where the result is more than 1.
std::uint32_t iterated_steps::steps_in_one_kernel(const statement& s, const aligned_strides& aligned,
                                                  const view_relations& relations, const collapsed_axes& key) {
    const output& o = s.outputs[0];
    const detail::layout& whole = *s.repeated.whole;
    const std::size_t raw = aligned.axes(), axes = key.count();
    if (axes < 2 || whole.rank() != static_cast<int>(raw) || detail::size_of(o.type) > 8 ||
        detail::kind_of(o.type) == detail::kind::complex || cost_of(s.program) > most_cost)
        return 1;
    struct reach {
        int before = 0, behind = 0;
    };
    reach reaches[detail::max_rank] = {};
    const index_t* const written = aligned.strides_of(s.operands.size());
    bool found = false;
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& in = s.operands[i];
        if (in.kind == operand_kind::scalar) continue;
        if (in.kind != operand_kind::array) return 1;
        if (in.memory != s.repeated.stepped) {
            if (share_bytes(*in.memory, **o.memory)) return 1;
            continue;
        }
        // The view must lie within the elements around the output and be related to all other views of the array.
        found_steps_.resize(raw);
        const index_t* const strides = aligned.strides_of(i);
        if (in.type != o.type || !std::equal(strides, strides + raw, written) ||
            !find_steps(aligned, in.where->offset - o.where->offset, strides, {}, found_steps_.data()))
            return 1;
        for (std::size_t a = 0; a < raw; ++a)
            if (2 * std::abs(found_steps_[a]) > whole.shape()[a] - aligned.extents[a]) return 1;
        if (!found) {
            stepped = static_cast<std::uint16_t>(i);
            output_steps.clear();
            index_t left = o.where->offset - in.where->offset;
            for (std::size_t a = 0; a < axes; ++a) {
                output_steps.push_back(-found_steps_[static_cast<std::size_t>(key.innermost[a])]);
                left -= output_steps[a] * key.strides_of(i)[a];
            }
            if (left != 0 || key.strides_of(i)[axes - 1] != 1) return 1;
            found = true;
        } else if (const auto r = std::ranges::find(relations.pairs, i, &view_relations::pair::operand);
                   r == relations.pairs.end() ? in.where->offset != s.operands[stepped].where->offset
                                              : r->base != stepped) {
            return 1;
        } else if (r != relations.pairs.end()) {
            // The kernel counts steps from the first view. Where an axis is short, the steps from that view may differ
            // from those by way of the output: some may lie along a longer stride.
            const std::int8_t* const from_first =
                relations.steps_of(static_cast<std::size_t>(r - relations.pairs.begin()));
            for (std::size_t a = 0; a < axes; ++a) {
                const auto axis = static_cast<std::size_t>(key.innermost[a]);
                if (from_first[axis] != found_steps_[axis] + output_steps[a]) return 1;
            }
        }
        for (std::size_t a = 0; a < axes; ++a) {
            const int away = found_steps_[static_cast<std::size_t>(key.innermost[a])];
            reaches[a].before = std::max(reaches[a].before, -away);
            reaches[a].behind = std::max(reaches[a].behind, away);
        }
    }
    if (!found) return 1;
    int rows = 0, axes_down = 0;
    for (std::size_t a = 0; a + 1 < axes; ++a) {
        const int span = reaches[a].before + reaches[a].behind;
        axes_down += span != 0;
        rows = std::max(rows, span);
    }
    const int columns = reaches[axes - 1].before + reaches[axes - 1].behind;
    if (rows + columns == 0 || axes_down > 1) return 1;
    const int most = std::min(most_rows / (rows + 1), most_columns / std::max(columns, 1));
    return std::clamp(s.repeated.steps, 1u, std::max(static_cast<std::uint32_t>(most), 1u));
}

void iterated_steps::append_to(std::vector<std::uint32_t>& words) const {
    const auto axes = static_cast<std::uint32_t>(output_steps.size());
    words.push_back(detail::section_head(detail::key_section::iteration, detail::relation_words(axes)));
    words.push_back(steps | static_cast<std::uint32_t>(stepped) << 16);
    for (std::uint32_t a = 0; a < axes; ++a) {
        if (a % detail::steps_per_word == 0) words.push_back(0);
        words.back() |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(output_steps[a]))
                        << 8 * (a % detail::steps_per_word);
    }
}

}  // namespace ingot::runtime
