// Stage 2 of classification: the strides of operands and outputs on the axes of the whole statement.
//
// A value's *context* is the list of axes it is computed over. An output's are the result's axes; a binder's operand
// has the binder's own, then the axes it binds. So every leaf, however deep under reductions and scans, ends as one row
// of strides over one list of axes.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "runtime/front/class_stages.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

void aligned_strides::align(const statement& s, const value_shapes& shapes) {
    result_axes = shapes.result.size();
    extents.assign(shapes.result.begin(), shapes.result.end());
    owners.assign(result_axes, 0);
    context_axes_.resize(result_axes);
    std::iota(context_axes_.begin(), context_axes_.end(), 0);
    if ((s.kinds & has_binders) != 0 || !s.shapes.empty()) {
        align_values(s, shapes);
    } else {
        strides.assign((s.operands.size() + s.outputs.size()) * result_axes, 0);
        for (std::size_t i = 0; i < s.operands.size(); ++i)
            if (s.operands[i].where)
                set_strides(i, *s.operands[i].where, context_axes_.data(), static_cast<int>(result_axes));
    }
    align_outputs(s, shapes);
    find_order(s);
}

void aligned_strides::set_strides(std::size_t i, const detail::layout& l, const int* on, int rank) {
    index_t* const to = row(i);
    const index_t *const shape = l.shape(), *const by = l.strides();
    const int lead = rank - l.rank();
    for (int j = std::max(-lead, 0); j < l.rank(); ++j)
        if (shape[j] != 1) to[on[lead + j]] = by[j];
}

void aligned_strides::align_values(const statement& s, const value_shapes& shapes) {
    const int rank = static_cast<int>(result_axes);
    const std::vector<bound_axes::binder>& binders = shapes.bound.binders;
    open_contexts(s, shapes);
    for (std::size_t b = 0; b < binders.size(); ++b)
        std::fill(owners.begin() + rank + binders[b].first, owners.begin() + rank + binders[b].last,
                  static_cast<int>(b) + 1);

    std::size_t next_operand = s.operands.size(), binder = binders.size();

    for (std::size_t w = s.program.size(); w-- > 0;) {
        const word code = s.program[w];
        const context here = contexts_.back();
        contexts_.pop_back();
        next_operand -= static_cast<std::size_t>(detail::operands_of_word(code));
        const auto axes_here = [&] { return context_axes_.data() + here.at; };
        // The context of the operand of a binder whose result has `rank_here` axes.
        const auto bind = [&](int rank_here) {
            --binder;
            const context inner{static_cast<std::uint32_t>(context_axes_.size()),
                                rank_here + binders[binder].last - binders[binder].first};
            for (int j = 0; j < rank_here; ++j)
                context_axes_.push_back(context_axes_[here.at + static_cast<std::uint32_t>(here.rank - rank_here + j)]);
            for (int a = binders[binder].first; a < binders[binder].last; ++a) context_axes_.push_back(rank + a);
            return inner;
        };
        const auto set_bound_extents = [&](value_shapes::value folded) {
            const auto [first, last] = std::pair(binders[binder].first, binders[binder].last);
            for (int a = first; a < last; ++a)
                if (const int axis = folded.rank - (last - a); axis >= 0)
                    extents[static_cast<std::size_t>(rank + a)] =
                        shapes.extents[folded.at + static_cast<std::uint32_t>(axis)];
        };
        switch (detail::kind_of_word(code)) {
            case word_kind::leaf:
            case word_kind::generator:
                set_strides(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                break;
            case word_kind::map:
            case word_kind::user:
            case word_kind::scatter:
                contexts_.insert(contexts_.end(), static_cast<std::size_t>(detail::arity_of_word(code)), here);
                break;
            case word_kind::reduce: {
                const auto texts =
                    static_cast<std::size_t>(detail::arity_of_word(code) - 1);  // above the value, if any
                contexts_.push_back(bind(shapes.values[w].rank));
                contexts_.insert(contexts_.end(), texts, here);
                set_bound_extents(shapes.values[w - 1 - texts]);
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                set_strides(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                contexts_.push_back(bind(shapes.values[w].rank));
                set_bound_extents(shapes.values[w - 1]);
                break;
            }
            case word_kind::library: {
                set_strides(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                contexts_.insert(contexts_.end(), static_cast<std::size_t>(detail::arity_of_word(code)),
                                 bind(shapes.values[w].rank));
                set_bound_extents(shapes.values[w - 1]);
                break;
            }
            case word_kind::gather: {
                // Source below, index on top: the reverse walk meets the index first.
                const context source = bind(shapes.values[w].rank);
                contexts_.push_back(source);
                contexts_.push_back(here);
                // The source's root is the word before the index's first one.
                std::size_t at = w - 1;
                for (int open = 1; open > 0; --at) open += detail::arity_of_word(s.program[at]) - 1;
                set_bound_extents(shapes.values[at]);
                break;
            }
            default:
                break;
        }
    }
    if (!s.shapes.empty()) join_axes(s, shapes);
}

/// Opens the outputs' contexts: the result's axes, or for an output of another shape axes of its own behind all others.
void aligned_strides::open_contexts(const statement& s, const value_shapes& shapes) {
    contexts_.assign(s.outputs.size(), context{0, static_cast<int>(result_axes)});
    extents.resize(result_axes + static_cast<std::size_t>(shapes.bound.count()), 1);
    for (std::size_t k = 0; k < s.shapes.size(); ++k) {
        if (shapes.is_result(s.shapes[k])) continue;
        contexts_[k] = {static_cast<std::uint32_t>(context_axes_.size()), s.shapes[k].rank};
        for (int j = 0; j < s.shapes[k].rank; ++j) {
            context_axes_.push_back(static_cast<int>(extents.size()));
            extents.push_back(1);
        }
    }
    owners.resize(extents.size(), 0);
    strides.assign((s.operands.size() + s.outputs.size()) * extents.size(), 0);
}

void aligned_strides::align_outputs(const statement& s, const value_shapes& shapes) {
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        if (!s.shapes.empty() && !shapes.is_result(s.shapes[k])) continue;  // join_axes set its strides
        const output& o = s.outputs[k];
        if (o.scattered) continue;
        if (*o.memory) {
            set_strides(s.operands.size() + k, *o.where, context_axes_.data(), static_cast<int>(result_axes));
        } else {
            index_t* const to = row(s.operands.size() + k);
            index_t stride = 1;
            for (std::size_t j = result_axes; j-- > 0; stride *= extents[j]) to[j] = extents[j] == 1 ? 0 : stride;
        }
    }
}

/// Where the output is a transposed view, the axes follow the output's strides, the longest first.
void aligned_strides::find_order(const statement& s) {
    order.resize(axes());
    std::iota(order.begin(), order.end(), 0);
    if (!*s.outputs[0].memory) return;
    const index_t* const out = strides_of(s.operands.size());
    for (std::size_t j = 1; j < result_axes; ++j)  // insertion sort: std::stable_sort would allocate
        for (std::size_t k = j; k > 0 && std::abs(out[order[k]]) > std::abs(out[order[k - 1]]); --k)
            std::swap(order[k], order[k - 1]);
}

}  // namespace ingot::runtime
