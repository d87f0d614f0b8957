// Calls on arrays in parts that are no statements: copies, texts, and the rows of topk.
#include <algorithm>
#include <numeric>

#include <ingot/core/array.hpp>
#include <ingot/sorting/sorts.hpp>

#include "runtime/device/copy_complement.hpp"
#include "runtime/device/copy_view.hpp"
#include "runtime/device/transfer.hpp"
#include "runtime/distributed/draft.hpp"
#include "runtime/distributed/evaluate.hpp"
#include "runtime/distributed/exchange.hpp"
#include "runtime/distributed/plan.hpp"
#include "runtime/front/evaluate.hpp"

namespace ingot::runtime {

buffer_ref make_like(const buffer& of, bool copy) {
    const distributed_storage& from = storage_of(of);
    storage_ref made = storage_without_memory(from.type, from.where);
    made->owned = from.owned;
    const rank_session& session = from.session();
    if (copy) {
        made->memory = detail::copy_of(from.memory, session.device);
        made->ghosts_are_valid = from.ghosts_are_valid;
    } else {
        made->memory = allocate_buffer(from.memory->bytes, session.device, *context_on(session.device).stream);
    }
    return buffer_over(std::move(made));
}

buffer_ref make_like_around(const buffer& of, const detail::layout& part) {
    const distributed_storage& from = storage_of(of);
    const placement& p = *from.where;
    const int rank = from.session().rank;
    const box mine = p.box_of(rank);
    access a;
    bool has_share = take_apart(a, p, part) &&
                     std::equal(from.owned.strides(), from.owned.strides() + from.owned.rank(), p.owned.strides());
    for (std::size_t g = 0; has_share && g < mine.size(); ++g)  // at one index of the axis, or moving along it alone
        if (std::ranges::count_if(a.steps[g], [](index_t step) { return step != 0; }) == 0)
            has_share = a.first[g] >= mine[g].low && a.first[g] < mine[g].high;
        else if (p.over[g] >= 0)
            has_share = std::ranges::count_if(a.steps[g], [](index_t step) { return step != 0; }) == 1;
    if (!has_share) return make_like(of, true);
    loops all({}, {}, {}, part);
    std::vector<int> result(static_cast<std::size_t>(all.rank()));
    std::iota(result.begin(), result.end(), 0);
    all.follow(p, part, result);
    const detail::layout own = narrowed(layout_in(a, part, mine, from.owned), all, result, rank);
    if (own.size() == 0) return make_like(of, true);
    buffer_ref made = make_like(of, false);
    copy_complement(from.type, *from.memory, storage_of(*made).memory, contiguous_layout(p.held), own);
    return made;
}

bool read_shown(const buffer& of, std::span<const index_t> edge, std::vector<unsigned char>& bytes) {
    const distributed_storage& from = storage_of(of);
    begin_call("the text", from);
    const std::vector<index_t>& shape = from.where->shape;
    const rank_session& session = from.session();
    stream_state& stream = *context_on(session.device).stream;
    std::vector<index_t> extents;
    for (std::size_t k = 0; k < shape.size(); ++k) extents.push_back(edge[k] > 0 ? 2 * edge[k] : shape[k]);
    const detail::layout all = detail::contiguous_layout(extents);
    bytes.resize(static_cast<std::size_t>(all.size()) * detail::size_of(from.type));
    const buffer_ref shown = allocate_buffer(bytes.size(), session.device, stream);
    buffer_ref to = shown;
    // Each axis is read whole or at both ends: a box for each choice of ends.
    const auto cut = static_cast<std::size_t>(std::ranges::count_if(edge, [](index_t e) { return e > 0; }));
    for (std::size_t choice = 0; choice < std::size_t{1} << cut; ++choice) {
        box read, place, whole;
        for (std::size_t k = 0, bit = 0; k < shape.size(); ++k) {
            const bool at_end = edge[k] > 0 && (choice >> bit++ & 1) != 0;
            read.push_back(edge[k] == 0 ? range{0, shape[k]}
                           : at_end     ? range{shape[k] - edge[k], shape[k]}
                                        : range{0, edge[k]});
            place.push_back(at_end ? range{edge[k], 2 * edge[k]} : range{0, read.back().size()});
            whole.push_back({0, extents[k]});
        }
        fetch(from, [&](int) { return read; }, {to, part_of(all, whole, place)});
    }
    copy_to_host(*shown, 0, bytes.size(), bytes.data(), stream);
    return session.rank == 0;
}

detail::own_rows take_own_rows(const detail::destination& to, const buffer& from) {
    const distributed_storage& s = storage_of(from);
    copy_view(to.type, *s.memory, s.owned, to.memory, to.where);
    const placement& p = *s.where;
    return {p.range_of(s.session().rank, p.axes() - 1).low, p.over.back() < 0};
}

void join_rows(const detail::destination& to, const buffer& part, const detail::layout& where, const buffer& like,
               index_t most) {
    const distributed_storage& beside = storage_of(like);
    begin_call("topk", beside);
    auto parts = std::make_shared<placement>(*beside.where);
    std::ranges::fill(parts->ghosts, 0);
    // In the order of indices: the first part may lie behind the last, as in a flipped view.
    std::vector<range*> in_order;
    for (range& r : parts->ranges.back()) in_order.push_back(&r);
    std::ranges::stable_sort(in_order, {}, [](const range* r) { return r->low; });
    index_t length = 0;
    for (range* r : in_order) {
        const index_t extent = std::min(r->size(), most);
        *r = {length, length + extent};
        length += extent;
    }
    parts->shape.back() = length;
    storage_ref made = make_storage(to.type, beside.session().shared(parts));
    if (where.size() > 0) copy_view(to.type, part, where, made->memory, made->owned);
    if (parts->over.back() >= 0) {
        auto whole = std::make_shared<placement>(*parts);
        whole->over.back() = -1;
        whole->ranges.back() = {{0, length}};
        storage_ref joined = make_storage(to.type, beside.session().shared(whole));
        fetch(*made, [&](int r) { return joined->where->box_of(r); }, {joined->memory, joined->owned});
        made = std::move(joined);
    }
    to.where = detail::contiguous_layout(made->where->shape);
    to.memory = made->where->is_split() ? buffer_over(std::move(made)) : std::move(made->memory);
}

bool has_shape(const buffer& of, std::span<const index_t> shape) noexcept {
    return std::ranges::equal(storage_of(of).where->shape, shape);
}

}  // namespace ingot::runtime
