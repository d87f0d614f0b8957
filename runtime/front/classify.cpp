// Classification: shapes and contexts of the program's nodes, strides on the axes of the whole statement.
//
// A node's *context* is the list of axes it is computed over. The root's are the result's axes; a binder's operand has
// the binder's own, then the axes it binds. So every leaf, however deep under reductions and scans, ends as one row of
// strides over one list of axes.
#include "runtime/front/classify.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <ingot/core/error.hpp>

namespace ingot::runtime {

using detail::extents_ref;
using detail::word;
using detail::word_kind;

namespace {

/// Broadcasts `other` into `shape`; false where it does not fit.
bool broadcast_into(std::vector<index_t>& shape, extents_ref other) {
    if (shape.size() < static_cast<std::size_t>(other.rank))
        shape.insert(shape.begin(), static_cast<std::size_t>(other.rank) - shape.size(), 1);
    const std::size_t lead = shape.size() - static_cast<std::size_t>(other.rank);
    for (int j = 0; j < other.rank; ++j) {
        index_t& extent = shape[lead + static_cast<std::size_t>(j)];
        if (other.data[j] == 1 || other.data[j] == extent) continue;
        if (extent != 1) return false;
        extent = other.data[j];
    }
    return true;
}

}  // namespace

std::uint8_t kinds_of(std::span<const word> program) {
    std::uint8_t kinds = has_any;
    for (const word w : program) {
        const word_kind k = detail::kind_of_word(w);
        if (k == word_kind::lazy) kinds |= has_lazies;
        const bool raw = k == word_kind::scalar && detail::code_of_word(w) != 0;
        if (detail::is_binder(k) || k == word_kind::scatter || raw) kinds |= has_binders;
        if (k == word_kind::reduce) kinds |= has_reductions;
        if (k == word_kind::text) kinds |= has_texts;
        if (k == word_kind::scan) kinds |= has_scans;
        if (k == word_kind::library) kinds |= has_libraries;
        if (k == word_kind::unravel || k == word_kind::gather) kinds |= has_indexing;
    }
    return kinds;
}

const classified& classifier::classify(const statement& s, environment_class env) {
    const std::uint8_t kinds = s.kinds != 0 ? s.kinds : kinds_of(s.program);
    const bool binders = (kinds & has_binders) != 0;
    const bool several = !s.shapes.empty();
    if (!binders && !several && contiguous_.classify(s, env)) return contiguous_.result();
    c_.steps = 1;
    owners_.clear();
    binder_axes_.clear();
    if (binders || several)
        find_shapes_with_binders(s);
    else
        find_result_shape(s);
    if (several) find_joint_shape(s);

    for (const output& o : s.outputs) {
        if (!*o.memory || o.scattered) continue;
        std::vector<index_t>& given = raw_extents_;  // raw_extents_ is unused until strides are placed
        given.assign(o.where->extents().begin(), o.where->extents().end());
        if (!broadcast_into(given, {c_.shape.data(), static_cast<int>(c_.shape.size())}) ||
            given.size() != static_cast<std::size_t>(o.where->rank()) ||
            !std::equal(given.begin(), given.end(), o.where->shape()))
            throw shape_error("[assign] shape " + detail::to_text(c_.shape) + " does not broadcast into " +
                              detail::to_text(o.where->extents()));
        c_.shape.assign(o.where->extents().begin(), o.where->extents().end());
    }

    c_.size = 1;
    for (index_t n : c_.shape) c_.size *= n;
    c_.extents.clear();
    c_.words.clear();
    if (c_.size == 0) return c_;

    raw_extents_.assign(c_.shape.begin(), c_.shape.end());
    owners_.assign(c_.shape.size(), 0);
    if (binders || several)
        align_with_binders(s);
    else
        align(s);
    library_uses_.clear(), library_owners_.clear(), library_roots_.clear();
    if ((kinds & has_libraries) != 0) find_libraries(s);
    gather_owners_.clear();
    if ((kinds & has_indexing) != 0) find_gathers(s);
    order_axes(s);
    relations_.clear();
    shifts_.clear();
    if (env.optional_parts.relations && !several && (!binders || find_shifts(s, kinds))) find_relations(s);
    if (relations_.empty()) shifts_.clear();
    index_use_.clear();
    if (env.optional_parts.indices && binders) find_indices(s);
    collapse();
    // Short rows are faster as one run, and relations keep their axes from merging.
    if (!relations_.empty() && has_short_rows()) {
        relations_.clear();
        shifts_.clear();
        collapse();
    }
    if (s.repeated.steps > 1) find_iteration(s, kinds);
    write_words(s, env, kinds);
    return c_;
}

void classifier::find_result_shape(const statement& s) {
    c_.shape.clear();
    for (const operand& o : s.operands)
        if (o.where) {
            const detail::layout& l = *o.where;
            if (c_.shape.size() == static_cast<std::size_t>(l.rank()) &&
                std::equal(c_.shape.begin(), c_.shape.end(), l.shape()))
                continue;
            broadcast_into(c_.shape, {l.shape(), l.rank()});
        }
}

void classifier::find_shapes_with_binders(const statement& s) {
    shapes_.resize(s.program.size());
    shape_pool_.clear();
    below_.clear();
    std::size_t next_operand = 0, binder = 0;
    const auto keep = [&](std::span<const index_t> shape, std::size_t first) {
        const node_shape kept{static_cast<std::uint32_t>(shape_pool_.size()), static_cast<int>(shape.size()),
                              static_cast<std::uint32_t>(first)};
        shape_pool_.insert(shape_pool_.end(), shape.begin(), shape.end());
        return kept;
    };
    const auto span_of = [&](node_shape n) {
        return std::span<const index_t>(shape_pool_.data() + n.at, static_cast<std::size_t>(n.rank));
    };
    std::vector<index_t>& shape = room_;
    std::vector<node_shape>& stack = stack_;
    stack.clear();
    int axis = 0;  // number of bound axes so far
    const auto bind = [&](int bound) {
        binder_axes_.push_back(axis);
        axis += bound;
        below_.push_back({stack.back().first, static_cast<std::uint32_t>(next_operand)});
    };
    for (std::size_t w = 0; w < s.program.size(); ++w) {
        const word code = s.program[w];
        switch (detail::kind_of_word(code)) {
            case word_kind::leaf:
            case word_kind::generator:
                stack.push_back(keep(s.operands[next_operand].where->extents(), next_operand));
                ++next_operand;
                break;
            case word_kind::scalar:
            case word_kind::text:
                stack.push_back({0, 0, static_cast<std::uint32_t>(next_operand++)});
                break;
            case word_kind::map:
            case word_kind::user:
            case word_kind::scatter: {
                const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
                node_shape result = stack[stack.size() - arity];
                const std::uint32_t first = result.first;
                for (std::size_t i = 1; i < arity; ++i) {
                    const node_shape other = stack[stack.size() - arity + i];
                    if (std::ranges::equal(span_of(result), span_of(other))) continue;
                    shape.assign(span_of(result).begin(), span_of(result).end());
                    broadcast_into(shape, {span_of(other).data(), other.rank});
                    result = keep(shape, first);
                }
                stack.resize(stack.size() - arity);
                stack.push_back(result);
                break;
            }
            case word_kind::reduce: {
                if (detail::arity_of_word(code) == 2) stack.pop_back();  // a text
                const auto bound = static_cast<int>(s.attributes[binder++]);
                bind(bound);
                stack.back().rank -= bound;
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                bind(static_cast<int>(s.attributes[binder++]));
                const operand& pick = s.operands[next_operand++];
                stack.back() = keep(pick.where->extents(), stack.back().first);
                break;
            }
            case word_kind::library: {
                stack.resize(stack.size() + 1 - static_cast<std::size_t>(detail::arity_of_word(code)));
                bind(static_cast<int>(s.attributes[binder++]));
                const operand& pick = s.operands[next_operand++];
                stack.back() = keep(pick.where->extents(), stack.back().first);
                break;
            }
            case word_kind::gather: {
                const node_shape index = stack.back();
                stack.pop_back();
                bind(static_cast<int>(s.attributes[binder++]));
                // The source's own leading axes may be wider than the index where the index is broadcast.
                node_shape source = stack.back();
                source.rank -= 1;
                shape.assign(span_of(source).begin(), span_of(source).end());
                broadcast_into(shape, {span_of(index).data(), index.rank});
                stack.back() = keep(shape, source.first);
                break;
            }
            case word_kind::reference:
                stack.push_back(shapes_[detail::code_of_word(code)]);
                stack.back().first = 0;  // its operands are further ahead
                break;
            case word_kind::lazy:
                throw error("[evaluate] a lazy tree was not spliced");
        }
        shapes_[w] = stack.back();
    }
    binder_axes_.push_back(axis);
    c_.shape.clear();
    for (const node_shape& root : stack) broadcast_into(c_.shape, {span_of(root).data(), root.rank});
}

void classifier::set_strides(std::size_t row, const detail::layout& l, const int* axes, int rank) {
    index_t* strides = raw_strides_.data() + row * raw_extents_.size();
    const int lead = rank - l.rank();
    for (int j = 0; j < l.rank(); ++j)
        if (l.shape()[j] != 1 && lead + j >= 0) strides[axes[lead + j]] = l.strides()[j];
}

void classifier::align(const statement& s) {
    const int rank = static_cast<int>(c_.shape.size());
    axis_pool_.resize(static_cast<std::size_t>(rank));
    for (int j = 0; j < rank; ++j) axis_pool_[static_cast<std::size_t>(j)] = j;
    raw_strides_.assign((s.operands.size() + s.outputs.size()) * c_.shape.size(), 0);
    for (std::size_t i = 0; i < s.operands.size(); ++i)
        if (s.operands[i].where) set_strides(i, *s.operands[i].where, axis_pool_.data(), rank);
}

void classifier::align_with_binders(const statement& s) {
    const int rank = static_cast<int>(c_.shape.size());
    const int bound_axes = binder_axes_.back();
    const std::size_t shared = static_cast<std::size_t>(rank) + static_cast<std::size_t>(bound_axes);
    open_contexts(s, static_cast<int>(shared));
    const std::size_t total = shared + static_cast<std::size_t>(own_axes_);
    raw_extents_.resize(total, 1);
    owners_.resize(total, 0);
    for (std::size_t b = 0; b + 1 < binder_axes_.size(); ++b)
        for (int a = binder_axes_[b]; a < binder_axes_[b + 1]; ++a)
            owners_[static_cast<std::size_t>(rank) + static_cast<std::size_t>(a)] = static_cast<int>(b) + 1;
    raw_strides_.assign((s.operands.size() + s.outputs.size()) * total, 0);

    std::size_t next_operand = s.operands.size(), binder = binder_axes_.size() - 1;

    for (std::size_t w = s.program.size(); w-- > 0;) {
        const word code = s.program[w];
        const context here = contexts_.back();
        contexts_.pop_back();
        next_operand -= static_cast<std::size_t>(detail::operands_of_word(code));
        const auto axes_here = [&] { return axis_pool_.data() + here.at; };
        // The context of the operand of a binder whose result has `rank_here` axes.
        const auto bind = [&](int rank_here) {
            --binder;
            const context inner{static_cast<std::uint32_t>(axis_pool_.size()),
                                rank_here + binder_axes_[binder + 1] - binder_axes_[binder]};
            for (int j = 0; j < rank_here; ++j)
                axis_pool_.push_back(axis_pool_[here.at + static_cast<std::uint32_t>(here.rank - rank_here + j)]);
            for (int a = binder_axes_[binder]; a < binder_axes_[binder + 1]; ++a) axis_pool_.push_back(rank + a);
            return inner;
        };
        const auto set_bound_extents = [&](node_shape operand_shape, std::size_t b) {
            const int bound = binder_axes_[b + 1] - binder_axes_[b];
            for (int k = 0; k < bound; ++k) {
                const int axis = operand_shape.rank - bound + k;
                raw_extents_[static_cast<std::size_t>(rank) + static_cast<std::size_t>(binder_axes_[b] + k)] =
                    axis < 0 ? 1 : shape_pool_[operand_shape.at + static_cast<std::uint32_t>(axis)];
            }
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
                contexts_.push_back(bind(shapes_[w].rank));
                contexts_.insert(contexts_.end(), texts, here);
                set_bound_extents(shapes_[w - 1 - texts], binder);
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                set_strides(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                contexts_.push_back(bind(shapes_[w].rank));
                set_bound_extents(shapes_[w - 1], binder);
                break;
            }
            case word_kind::library: {
                set_strides(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                contexts_.insert(contexts_.end(), static_cast<std::size_t>(detail::arity_of_word(code)),
                                 bind(shapes_[w].rank));
                set_bound_extents(shapes_[w - 1], binder);
                break;
            }
            case word_kind::gather: {
                // Source below, index on top: the reverse walk meets the index first.
                const context source = bind(shapes_[w].rank);
                contexts_.push_back(source);
                contexts_.push_back(here);
                // The source's root is the word before the index's first one.
                std::size_t at = w - 1;
                for (int open = 1; open > 0; --at) open += detail::arity_of_word(s.program[at]) - 1;
                set_bound_extents(shapes_[at], binder);
                break;
            }
            default:
                break;
        }
    }
    if (!s.shapes.empty()) join_axes(s, static_cast<int>(shared));
}

/// The roots' contexts: the result's axes, or for a root of another shape axes of its own, from `first` on.
void classifier::open_contexts(const statement& s, int first) {
    const int rank = static_cast<int>(c_.shape.size());
    own_axes_ = 0;
    axis_pool_.clear();
    for (int j = 0; j < rank; ++j) axis_pool_.push_back(j);
    contexts_.assign(s.outputs.size(), context{0, rank});
    for (std::size_t k = 0; k < s.shapes.size(); ++k) {
        if (is_joint(s.shapes[k])) continue;
        contexts_[k] = {static_cast<std::uint32_t>(axis_pool_.size()), s.shapes[k].rank};
        for (int j = 0; j < s.shapes[k].rank; ++j) axis_pool_.push_back(first + own_axes_++);
    }
}

}  // namespace ingot::runtime
