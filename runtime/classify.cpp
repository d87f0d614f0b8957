// Classification: shapes and contexts of the program's nodes, strides on the axes of the whole statement, joint
// dimension collapse, class words.
//
// A node's *context* is the list of axes it is computed over. The root's are the result's axes; a binder's operand has
// the binder's own, then the axes it binds. So every leaf, however deep under reductions and scans, ends as one row of
// strides over one list of axes.
#include "runtime/classify.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <ingot/error.hpp>

namespace ingot::runtime {

using detail::extents_ref;
using detail::operand_kind;
using detail::word;
using detail::word_kind;

namespace {

constexpr std::size_t vector_bytes = 16;
constexpr index_t narrow_reach = index_t{1} << 31;
/// Fewer results than this do not fill a large GPU with one block each: two for each of its 132 multiprocessors.
constexpr index_t few_rows = 264;
constexpr index_t short_row = 32;

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
        if (detail::is_binder(k)) kinds |= has_binders;
        if (k == word_kind::reduce) kinds |= has_reductions;
    }
    return kinds;
}

/// The commonest statement by a straight path: no binder, new outputs, every leaf a scalar or an array that is contiguous
/// and has the result's shape. The words are those that the general path would write. False where it is another.
bool classifier::classify_line(const statement& s, environment_class env) {
    for (const output& o : s.outputs)
        if (*o.memory) return false;
    const detail::layout* first = nullptr;
    index_t size = 1;
    for (const operand& o : s.operands) {
        if (o.kind == operand_kind::scalar) continue;
        if (o.kind != operand_kind::array) return false;
        const detail::layout& l = *o.where;
        if (first == nullptr) {
            first = &l;
            for (int j = l.rank() - 1; j >= 0; --j) {
                if (l.strides()[j] != size) return false;
                size *= l.shape()[j];
            }
        } else if (!detail::same_shape(*first, l) || !std::equal(l.strides(), l.strides() + l.rank(), first->strides())) {
            return false;
        }
    }
    if (first == nullptr || size <= 1) return false;

    c_.shape.assign(first->shape(), first->shape() + first->rank());
    c_.size = size;
    c_.extents.assign(1, size);
    const std::size_t rows = s.operands.size() + s.outputs.size();
    c_.strides.resize(rows);
    c_.words.resize(detail::key_header_words + 1 + 2 * rows);

    detail::key_header header;
    header.where = env.where;
    header.math = env.math;
    header.architecture = env.architecture;
    header.wide_index = size >= narrow_reach;
    header.outputs = static_cast<std::uint32_t>(s.outputs.size());
    header.program = static_cast<std::uint32_t>(s.program.size());
    header.operands = static_cast<std::uint32_t>(s.operands.size());
    header.axes = 1;
    detail::write_header(header, c_.words.data());
    std::uint32_t* out = c_.words.data() + detail::key_header_words;
    *out++ = detail::axis_class{}.encode();

    distinct_.clear();
    const auto is_far = [&](std::size_t bytes) { return size - 1 >= narrow_reach / static_cast<index_t>(bytes); };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        const operand& o = s.operands[i];
        detail::operand_head head;
        head.kind = o.kind;
        head.type = o.type;
        head.exponent = o.exponent;
        head.same_as = static_cast<std::uint16_t>(i);
        const bool moves = o.kind == operand_kind::array;
        if (moves) {
            const std::size_t bytes = detail::size_of(o.type);
            const auto address = reinterpret_cast<std::uintptr_t>(o.memory->data) +
                                 static_cast<std::uintptr_t>(o.where->offset) * bytes;
            head.vector = address % vector_bytes == 0;
            head.wide = is_far(bytes);
        }
        // A statement has many leaves and few different ones: only those are compared.
        const auto alike = std::find_if(distinct_.begin(), distinct_.end(), [&](std::uint16_t k) {
            const operand& p = s.operands[k];
            return moves ? p.memory == o.memory && p.type == o.type && p.where->offset == o.where->offset
                         : p.serial == o.serial && p.kind == o.kind && p.type == o.type && p.bits[0] == o.bits[0] &&
                               p.exponent == o.exponent;
        });
        if (alike == distinct_.end())
            distinct_.push_back(head.same_as);
        else
            head.same_as = *alike;
        *out++ = head.encode();
        *out++ = static_cast<std::uint32_t>(moves ? detail::stride_class::unit : detail::stride_class::broadcast);
        c_.strides[i] = moves;
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        detail::operand_head head;
        head.type = s.outputs[k].type;
        head.vector = true;
        head.wide = is_far(detail::size_of(head.type));
        *out++ = head.encode();
        *out++ = static_cast<std::uint32_t>(detail::stride_class::unit);
        c_.strides[s.operands.size() + k] = 1;
    }
    return true;
}

const classified& classifier::classify(const statement& s, environment_class env) {
    const std::uint8_t kinds = s.kinds != 0 ? s.kinds : kinds_of(s.program);
    const bool binders = (kinds & has_binders) != 0;
    if (!binders && classify_line(s, env)) return c_;
    owners_.clear();
    binder_axes_.clear();
    if (binders)
        find_shapes_with_binders(s);
    else
        find_result_shape(s);

    for (const output& o : s.outputs) {
        if (!*o.memory) continue;
        std::vector<index_t>& given = raw_extents_;  // free until the strides are placed
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
    if (binders)
        align_with_binders(s);
    else
        align(s);
    order_axes(s);
    collapse();
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
    const auto keep = [&](std::span<const index_t> shape) {
        const node_shape kept{static_cast<std::uint32_t>(shape_pool_.size()), static_cast<int>(shape.size())};
        shape_pool_.insert(shape_pool_.end(), shape.begin(), shape.end());
        return kept;
    };
    const auto span_of = [&](node_shape n) {
        return std::span<const index_t>(shape_pool_.data() + n.at, static_cast<std::size_t>(n.rank));
    };
    std::vector<index_t> shape;
    std::vector<node_shape> stack;
    std::size_t next_operand = 0, binder = 0;
    int axis = 0;  // bound axes so far
    for (std::size_t w = 0; w < s.program.size(); ++w) {
        const word code = s.program[w];
        switch (detail::kind_of_word(code)) {
            case word_kind::leaf:
            case word_kind::generator: stack.push_back(keep(s.operands[next_operand++].where->extents())); break;
            case word_kind::scalar:
                ++next_operand;
                stack.push_back({0, 0});
                break;
            case word_kind::map: {
                const auto arity = static_cast<std::size_t>(detail::arity_of_word(code));
                node_shape result = stack[stack.size() - arity];
                for (std::size_t i = 1; i < arity; ++i) {
                    const node_shape other = stack[stack.size() - arity + i];
                    if (std::ranges::equal(span_of(result), span_of(other))) continue;
                    shape.assign(span_of(result).begin(), span_of(result).end());
                    broadcast_into(shape, {span_of(other).data(), other.rank});
                    result = keep(shape);
                }
                stack.resize(stack.size() - arity);
                stack.push_back(result);
                break;
            }
            case word_kind::reduce: {
                const auto bound = static_cast<int>(s.attributes[binder++]);
                binder_axes_.push_back(axis);
                axis += bound;
                stack.back().rank -= bound;
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                const auto bound = static_cast<int>(s.attributes[binder++]);
                binder_axes_.push_back(axis);
                axis += bound;
                const operand& pick = s.operands[next_operand++];
                stack.back() = bound ? keep(pick.where->extents()) : stack.back();
                break;
            }
            case word_kind::gather: {
                binder_axes_.push_back(axis);
                axis += static_cast<int>(s.attributes[binder++]);
                const node_shape index = stack.back();
                stack.pop_back();
                // The source's own leading axes may be wider than the index where the index is broadcast.
                node_shape source = stack.back();
                source.rank -= 1;
                shape.assign(span_of(source).begin(), span_of(source).end());
                broadcast_into(shape, {span_of(index).data(), index.rank});
                stack.back() = keep(shape);
                break;
            }
            case word_kind::reference: stack.push_back(shapes_[detail::code_of_word(code)]); break;
            case word_kind::lazy: throw error("[evaluate] a lazy tree was not spliced");
        }
        shapes_[w] = stack.back();
    }
    binder_axes_.push_back(axis);
    c_.shape.clear();
    for (const node_shape& root : stack) broadcast_into(c_.shape, {span_of(root).data(), root.rank});
}

void classifier::place(std::size_t row, const detail::layout& l, const int* axes, int rank) {
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
        if (s.operands[i].where) place(i, *s.operands[i].where, axis_pool_.data(), rank);
}

void classifier::align_with_binders(const statement& s) {
    const int rank = static_cast<int>(c_.shape.size());
    const int bound_axes = binder_axes_.back();
    const std::size_t total = static_cast<std::size_t>(rank + bound_axes);
    raw_extents_.resize(total, 1);
    owners_.resize(total, 0);
    for (std::size_t b = 0; b + 1 < binder_axes_.size(); ++b)
        for (int a = binder_axes_[b]; a < binder_axes_[b + 1]; ++a)
            owners_[static_cast<std::size_t>(rank + a)] = static_cast<int>(b) + 1;
    raw_strides_.assign((s.operands.size() + s.outputs.size()) * total, 0);

    axis_pool_.clear();
    for (int j = 0; j < rank; ++j) axis_pool_.push_back(j);
    contexts_.assign(s.outputs.size(), context{0, rank});
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
                raw_extents_[static_cast<std::size_t>(rank + binder_axes_[b] + k)] =
                    axis < 0 ? 1 : shape_pool_[operand_shape.at + static_cast<std::uint32_t>(axis)];
            }
        };
        switch (detail::kind_of_word(code)) {
            case word_kind::leaf:
            case word_kind::generator: place(next_operand, *s.operands[next_operand].where, axes_here(), here.rank); break;
            case word_kind::map: contexts_.insert(contexts_.end(), static_cast<std::size_t>(detail::arity_of_word(code)), here); break;
            case word_kind::reduce: {
                contexts_.push_back(bind(shapes_[w].rank));
                set_bound_extents(shapes_[w - 1], binder);
                break;
            }
            case word_kind::scan:
            case word_kind::unravel: {
                place(next_operand, *s.operands[next_operand].where, axes_here(), here.rank);
                contexts_.push_back(bind(shapes_[w].rank));
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
            default: break;
        }
    }
}

void classifier::order_axes(const statement& s) {
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::size_t row = s.operands.size() + k;
        if (*o.memory) {
            axis_pool_.clear();
            for (int j = 0; j < static_cast<int>(c_.shape.size()); ++j) axis_pool_.push_back(j);
            place(row, *o.where, axis_pool_.data(), static_cast<int>(c_.shape.size()));
        } else {
            index_t stride = 1;
            for (std::size_t j = c_.shape.size(); j-- > 0; stride *= c_.shape[j])
                raw_strides_[row * raw_extents_.size() + j] = c_.shape[j] == 1 ? 0 : stride;
        }
    }
    order_.resize(raw_extents_.size());
    for (std::size_t j = 0; j < order_.size(); ++j) order_[j] = static_cast<int>(j);
    // Where the output is a transposed view, its own order of axes is the one to write in.
    const index_t* out = raw_strides_.data() + s.operands.size() * raw_extents_.size();
    if (*s.outputs[0].memory)
        std::stable_sort(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(c_.shape.size()),
                         [&](int a, int b) { return std::abs(out[a]) > std::abs(out[b]); });
}

void classifier::collapse() {
    const std::size_t raw = raw_extents_.size();
    const std::size_t rows = raw ? raw_strides_.size() / raw : 0;
    std::vector<int>& kept = axis_pool_;  // innermost raw axis of each collapsed one
    kept.clear();
    c_.extents.clear();
    for (const int axis : order_) {
        const auto a = static_cast<std::size_t>(axis);
        const index_t extent = raw_extents_[a];
        if (extent == 1) continue;
        const int owner = owners_[a];
        bool merges = !kept.empty() && owners_[static_cast<std::size_t>(kept.back())] == owner;
        for (std::size_t r = 0; merges && r < rows; ++r)
            merges = raw_strides_[r * raw + static_cast<std::size_t>(kept.back())] == raw_strides_[r * raw + a] * extent;
        if (merges) {
            kept.back() = axis;
            c_.extents.back() *= extent;
        } else {
            kept.push_back(axis);
            c_.extents.push_back(extent);
        }
    }
    c_.strides.resize(rows * kept.size());
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < kept.size(); ++k)
            c_.strides[r * kept.size() + k] = raw_strides_[r * raw + static_cast<std::size_t>(kept[k])];
}

bool classifier::is_wide(std::size_t row, std::size_t element_bytes) const {
    index_t up = 0, down = 0;
    for (std::size_t a = 0; a < c_.extents.size(); ++a) {
        const index_t reach = c_.strides_of(row)[a] * (c_.extents[a] - 1);
        (reach > 0 ? up : down) += reach;
    }
    const auto bytes = static_cast<index_t>(element_bytes);
    return up >= narrow_reach / bytes || -down >= narrow_reach / bytes;
}

bool classifier::is_vector(std::size_t row, std::uintptr_t address, std::size_t element_bytes, std::size_t grain) const {
    int unit_axes = 0;
    bool outer_aligned = true;
    for (std::size_t a = 0; a < c_.extents.size(); ++a) {
        const index_t stride = c_.strides_of(row)[a];
        if (stride == 1)
            ++unit_axes;
        else if ((static_cast<std::size_t>(std::abs(stride)) * element_bytes) % grain != 0)
            outer_aligned = false;
    }
    // Without a unit axis nobody loads vectors: one class, not two.
    return unit_axes == 0 || (unit_axes == 1 && outer_aligned && address % grain == 0);
}

std::uint16_t classifier::first_like(const statement& s, std::size_t i) {
    const operand& o = s.operands[i];
    for (const std::uint16_t k : distinct_) {
        const operand& p = s.operands[k];
        if (p.kind != o.kind || p.type != o.type) continue;
        if (o.kind == operand_kind::scalar) {
            if (p.serial == o.serial && p.bits[0] == o.bits[0] && p.exponent == o.exponent) return k;
            continue;
        }
        if (p.memory != o.memory || p.where->offset != o.where->offset || p.bits[0] != o.bits[0] || p.bits[1] != o.bits[1])
            continue;
        if (std::equal(c_.strides_of(i), c_.strides_of(i) + c_.axes(), c_.strides_of(k))) return k;
    }
    distinct_.push_back(static_cast<std::uint16_t>(i));
    return distinct_.back();
}

detail::operand_head classifier::head_of_operand(const statement& s, std::size_t i) {
    const operand& o = s.operands[i];
    detail::operand_head head;
    head.kind = o.kind;
    head.type = o.type;
    head.exponent = o.exponent;
    head.same_as = first_like(s, i);
    const std::size_t bytes = detail::size_of(o.type);
    switch (o.kind) {
        case operand_kind::array: {
            const auto base = reinterpret_cast<std::uintptr_t>(o.memory->data);
            const auto address = base + static_cast<std::uintptr_t>(o.where->offset) * bytes;
            head.vector = is_vector(i, address, bytes, vector_bytes);
            head.wide = is_wide(i, bytes);
            for (const output& out : s.outputs) head.aliased |= out.memory->get() == o.memory;
            break;
        }
        case operand_kind::generator:  // four counters make one call of the generator
            head.vector = is_vector(i, static_cast<std::uintptr_t>(o.where->offset), 1, 4);
            head.wide = is_wide(i, 1);
            break;
        case operand_kind::pick: head.wide = is_wide(i, 1); break;
        default: break;
    }
    return head;
}

void classifier::write_words(const statement& s, environment_class env, std::uint8_t kinds) {
    const std::size_t axes = c_.extents.size();
    // Owners of the collapsed axes, found again from the innermost raw axis that collapse kept.
    const std::vector<int>& kept = axis_pool_;

    index_t outer = 1, inner = 1, widest_bound = 1, bound = 1;
    int last_owner = 0;
    std::size_t outer_axes = 0;
    for (std::size_t a = 0; a < axes; ++a) {
        const int owner = owners_[static_cast<std::size_t>(kept[a])];
        if (owner == 0) {
            outer *= c_.extents[a];
            inner = c_.extents[a];
            ++outer_axes;
            continue;
        }
        bound = owner == last_owner ? bound * c_.extents[a] : c_.extents[a];
        last_owner = owner;
        widest_bound = std::max(widest_bound, bound);
    }

    detail::key_header header;
    header.where = env.where;
    header.math = env.math;
    header.architecture = env.architecture;
    header.wide_index = outer >= narrow_reach || widest_bound >= narrow_reach || outer * widest_bound >= narrow_reach;
    header.outputs = static_cast<std::uint32_t>(s.outputs.size());
    header.program = static_cast<std::uint32_t>(s.program.size());
    header.operands = static_cast<std::uint32_t>(s.operands.size());
    header.axes = static_cast<std::uint32_t>(axes);

    const std::uint32_t per_row = 1 + detail::stride_words(header.axes);
    c_.words.resize(detail::key_header_words + axes + per_row * (s.operands.size() + s.outputs.size()));
    detail::write_header(header, c_.words.data());
    std::uint32_t* out = c_.words.data() + detail::key_header_words;

    const bool reduces = (kinds & has_reductions) != 0;
    for (std::size_t a = 0; a < axes; ++a) {
        detail::axis_class axis;
        axis.owner = static_cast<std::uint8_t>(owners_[static_cast<std::size_t>(kept[a])]);
        const bool last_of_owner = a + 1 == axes || owners_[static_cast<std::size_t>(kept[a + 1])] != axis.owner;
        if (axis.owner == 0) {
            if (last_of_owner && outer_axes > 1 && inner < short_row) axis.bucket |= detail::bucket::short_inner;
            if (a == 0 && reduces && c_.size < few_rows) axis.bucket |= detail::bucket::few_rows;
        } else {
            index_t length = c_.extents[a];
            for (std::size_t b = a; last_of_owner && b-- > 0 && owners_[static_cast<std::size_t>(kept[b])] == axis.owner;)
                length *= c_.extents[b];
            if (last_of_owner) axis.bucket = detail::bucket::of_length(length);
            // A row read again: an outer axis of this extent along which nothing beneath the binder moves, else an axis
            // of an earlier binder (two reductions of one row).
            for (std::size_t b = 0; b < a && axis.partner == 0; ++b) {
                const int other = owners_[static_cast<std::size_t>(kept[b])];
                if (c_.extents[b] != c_.extents[a] || other == axis.owner) continue;
                bool still = true;
                for (std::size_t i = 0; i < s.operands.size() && still; ++i)
                    still = c_.strides_of(i)[a] == 0 || c_.strides_of(i)[b] == 0;
                if (still) axis.partner = static_cast<std::uint8_t>(b + 1);
            }
        }
        *out++ = axis.encode();
    }

    distinct_.clear();
    const auto write_strides = [&](std::size_t row) {
        std::fill_n(out, per_row - 1, 0u);
        for (std::size_t a = 0; a < axes; ++a) {
            const index_t stride = c_.strides_of(row)[a];
            const auto c = stride == 0   ? detail::stride_class::broadcast
                           : stride == 1 ? detail::stride_class::unit
                                         : detail::stride_class::strided;
            out[a / detail::stride_classes_per_word] |= static_cast<std::uint32_t>(c)
                                                        << (2 * (a % detail::stride_classes_per_word));
        }
        out += per_row - 1;
    };
    for (std::size_t i = 0; i < s.operands.size(); ++i) {
        *out++ = head_of_operand(s, i).encode();
        write_strides(i);
    }
    for (std::size_t k = 0; k < s.outputs.size(); ++k) {
        const output& o = s.outputs[k];
        const std::size_t bytes = detail::size_of(o.type);
        detail::operand_head head;
        head.type = o.type;
        const std::uintptr_t address =
            *o.memory ? reinterpret_cast<std::uintptr_t>((*o.memory)->data) +
                            static_cast<std::uintptr_t>(o.where->offset) * bytes
                      : 0;
        head.vector = is_vector(s.operands.size() + k, address, bytes, vector_bytes);
        head.wide = is_wide(s.operands.size() + k, bytes);
        *out++ = head.encode();
        write_strides(s.operands.size() + k);
    }
}

void classifier::full_key(const classified& c, std::span<const word> program, std::vector<std::uint32_t>& key) {
    const auto head = c.words.begin() + detail::key_header_words;
    key.assign(c.words.begin(), head);
    key.insert(key.end(), program.begin(), program.end());
    key.insert(key.end(), head, c.words.end());
}

}  // namespace ingot::runtime
