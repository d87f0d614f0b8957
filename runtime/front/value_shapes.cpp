// Stage 1 of classification: the shapes of the program's values and of the result.
#include <algorithm>

#include <ingot/core/error.hpp>

#include "runtime/front/class_stages.hpp"

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

void value_shapes::find(const statement& s) {
    result.clear();
    bound.binders.clear();
    if ((s.kinds & has_binders) != 0 || !s.shapes.empty())
        find_values(s);
    else
        broadcast_operands(s);
    if (!s.shapes.empty()) {
        const std::span<const index_t> joint = std::ranges::max_element(s.shapes, {}, &extents_ref::size)->span();
        result.assign(joint.begin(), joint.end());
    }
    broadcast_into_outputs(s);
    size = 1;
    for (const index_t n : result) size *= n;
}

bool value_shapes::is_result(extents_ref shape) const { return std::ranges::equal(shape.span(), result); }

void value_shapes::broadcast_operands(const statement& s) {
    for (const operand& o : s.operands)
        if (o.where) {
            const detail::layout& l = *o.where;
            if (result.size() == static_cast<std::size_t>(l.rank()) &&
                std::equal(result.begin(), result.end(), l.shape()))
                continue;
            broadcast_into(result, {l.shape(), l.rank()});
        }
}

void value_shapes::find_values(const statement& s) {
    values.resize(s.program.size());
    extents.clear();
    std::uint32_t next_operand = 0;
    const auto keep = [&](std::span<const index_t> shape, std::uint32_t first) {
        const value kept{static_cast<std::uint32_t>(extents.size()), static_cast<int>(shape.size()), first};
        extents.insert(extents.end(), shape.begin(), shape.end());
        return kept;
    };
    const auto span_of = [&](value n) {
        return std::span<const index_t>(extents.data() + n.at, static_cast<std::size_t>(n.rank));
    };
    std::vector<index_t>& shape = room_;
    std::vector<value>& stack = stack_;
    stack.clear();
    const auto bind = [&](word_kind kind) {
        const int first = bound.count(), axes = static_cast<int>(s.attributes[bound.binders.size()]);
        bound.binders.push_back({kind, next_operand, {stack.back().first, next_operand}, first, first + axes});
        return axes;
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
                stack.push_back({0, 0, next_operand++});
                break;
            case word_kind::map:
            case word_kind::user:
            case word_kind::scatter: {
                const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
                value joint = stack[stack.size() - arity];
                const std::uint32_t first = joint.first;
                for (std::size_t i = 1; i < arity; ++i) {
                    const value other = stack[stack.size() - arity + i];
                    if (std::ranges::equal(span_of(joint), span_of(other))) continue;
                    shape.assign(span_of(joint).begin(), span_of(joint).end());
                    broadcast_into(shape, {span_of(other).data(), other.rank});
                    joint = keep(shape, first);
                }
                stack.resize(stack.size() - arity);
                stack.push_back(joint);
                break;
            }
            case word_kind::reduce: {
                if (detail::arity_of_word(code) == 2) stack.pop_back();  // a text
                stack.back().rank -= bind(word_kind::reduce);
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                bind(detail::kind_of_word(code));
                const operand& pick = s.operands[next_operand++];
                stack.back() = keep(pick.where->extents(), stack.back().first);
                break;
            }
            case word_kind::library: {
                stack.resize(stack.size() + 1 - static_cast<std::size_t>(detail::arity_of_word(code)));
                bind(detail::kind_of_word(code));
                const operand& pick = s.operands[next_operand++];
                stack.back() = keep(pick.where->extents(), stack.back().first);
                break;
            }
            case word_kind::gather: {
                const value index = stack.back();
                stack.pop_back();
                bind(detail::kind_of_word(code));
                // The source's own leading axes may be wider than the index where the index is broadcast.
                value source = stack.back();
                source.rank -= 1;
                shape.assign(span_of(source).begin(), span_of(source).end());
                broadcast_into(shape, {span_of(index).data(), index.rank});
                stack.back() = keep(shape, source.first);
                break;
            }
            case word_kind::reference:
                stack.push_back(values[detail::code_of_word(code)]);
                stack.back().first = 0;  // its operands are further ahead
                break;
            case word_kind::lazy:
                throw error("[evaluate] a lazy tree was not spliced");
        }
        values[w] = stack.back();
    }
    for (const value& root : stack) broadcast_into(result, {span_of(root).data(), root.rank});
}

void value_shapes::broadcast_into_outputs(const statement& s) {
    for (const output& o : s.outputs) {
        if (!*o.memory || o.scattered) continue;
        room_.assign(o.where->extents().begin(), o.where->extents().end());
        if (!broadcast_into(room_, extents_ref::of(result)) || !std::ranges::equal(room_, o.where->extents()))
            throw shape_error("[assign] shape " + detail::to_text(result) + " does not broadcast into " +
                              detail::to_text(o.where->extents()));
        result.assign(room_.begin(), room_.end());
    }
}

}  // namespace ingot::runtime
