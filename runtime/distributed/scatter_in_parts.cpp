// Values in parts that are added to computed places of an ordinary array, or joined with its elements as maxima or
// minima.
#include <array>
#include <numeric>

#include <ingot/core/error.hpp>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/front/evaluate.hpp"

namespace ingot::runtime {

using detail::word;
using detail::word_kind;

namespace {

detail::fold fold_of(detail::scatter_rule rule, dtype type) {
    switch (rule) {
        case detail::scatter_rule::add:
            return type == dtype::b1 ? detail::fold::max : detail::fold::sum;
        case detail::scatter_rule::max:
            return detail::fold::max;
        case detail::scatter_rule::min:
            return detail::fold::min;
        case detail::scatter_rule::set:
            break;
    }
    throw distributed_error(
        "[distributed] of several values in parts for one element none is the last; use distributed::gather(values)");
}

}  // namespace

void scatter_in_parts(const statement& part, bool has_share, rank_session& session) {
    const output& target = part.outputs[0];
    const buffer& to = **target.memory;
    const auto rule = static_cast<detail::scatter_rule>(detail::code_of_word(part.program.back()));
    const dtype type = target.type;
    const detail::fold fold = fold_of(rule, type);
    const bool adds = rule == detail::scatter_rule::add && type != dtype::b1;
    stream_state& stream = *context_on(session.device).stream;
    const auto count = static_cast<index_t>(to.bytes / detail::size_of(type));
    const std::size_t bytes = static_cast<std::size_t>(count) * detail::size_of(type);

    // Sums of a rank begin at 0, and its maxima and minima at the target's elements.
    buffer_ref gathered = allocate_buffer(bytes * static_cast<std::size_t>(session.size), session.device, stream);
    const detail::layout each = detail::contiguous_layout(std::array{count});
    detail::layout seen = each, mine = each, first_of_mine(0);
    mine.offset = first_of_mine.offset = session.rank * count;
    if (adds)
        fill(*gathered, static_cast<std::size_t>(session.rank) * bytes, bytes, 0, stream);
    else
        copy_view(type, to, each, gathered, mine);
    if (has_share) {
        const output out{type, &gathered, &first_of_mine, true};
        evaluate_without_slot({part.program, part.operands, part.attributes, {&out, 1}});
    }
    order_write(*gathered, stream);
    std::vector<int> ranks(static_cast<std::size_t>(session.size));
    std::iota(ranks.begin(), ranks.end(), 0);
    session.gather(ranks, gathered->data, bytes);

    const word leaf = detail::make_word(word_kind::leaf, type),
               joined = detail::make_word(word_kind::reduce, type, static_cast<std::uint32_t>(fold)),
               added = detail::make_word(word_kind::map, type, static_cast<std::uint32_t>(detail::op::add));
    detail::layout parts(2);
    parts.shape()[0] = count, parts.strides()[0] = 1;
    parts.shape()[1] = session.size, parts.strides()[1] = count;
    std::array<operand, 2> operands;
    operands[0].type = operands[1].type = type;
    operands[0].memory = &to, operands[0].where = &each;
    operands[1].memory = gathered.get(), operands[1].where = &parts;
    const std::array<word, 4> program{leaf, leaf, joined, added};
    const std::array<word, 1> bound{1};
    const output out{type, target.memory, &seen};
    if (adds)
        evaluate_without_slot({program, operands, bound, {&out, 1}});
    else
        evaluate_without_slot({std::span(program).subspan(1, 2), std::span(operands).last(1), bound, {&out, 1}});
}

}  // namespace ingot::runtime
