// See exchange.hpp.
#include "runtime/distributed/exchange.hpp"

#include <algorithm>

#include "runtime/device/copy_view.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/front/evaluate.hpp"
#include "runtime/system/per_thread.hpp"

namespace ingot::runtime {

namespace {

std::byte* address_in(const buffer& b, const detail::layout& l, dtype type) {
    return static_cast<std::byte*>(b.data) + l.offset * static_cast<index_t>(detail::size_of(type));
}

/// The messages of an exchange, with the contiguous copies of parts that are not contiguous in memory.
struct parcels {
    void begin(dtype t) {
        type = t;
        end();
    }
    void leave() noexcept { end(); }
    void end() noexcept {
        messages.clear();
        packed.clear();
        unpacked_later.clear();
    }

    struct arriving {
        buffer_ref packed;
        detail::layout contiguous, where;
    };
    dtype type = dtype::b1;
    std::vector<message> messages;
    std::vector<buffer_ref> packed;
    std::vector<arriving> unpacked_later;

    std::size_t bytes_of(const detail::layout& l) const {
        return static_cast<std::size_t>(l.size()) * detail::size_of(type);
    }
    void send(int peer, const buffer& from, const detail::layout& part) {
        if (detail::is_in_c_order(part)) {
            messages.push_back({peer, address_in(from, part, type), bytes_of(part), true});
            return;
        }
        buffer_ref& copy = packed.emplace_back();
        detail::layout where;
        copy_view(type, from, part, copy, where);
        messages.push_back({peer, copy->data, bytes_of(part), true});
    }
    void receive(int peer, const buffer& to, const detail::layout& part, stream_state& stream) {
        if (detail::is_in_c_order(part)) {
            messages.push_back({peer, address_in(to, part, type), bytes_of(part), false});
            return;
        }
        arriving& a = unpacked_later.emplace_back();
        a.contiguous = detail::contiguous_layout(part.extents());
        a.where = part;
        a.packed = allocate_buffer(bytes_of(part), stream.device, stream);
        order_write(*a.packed, stream);
        messages.push_back({peer, a.packed->data, bytes_of(part), false});
    }
    void unpack(buffer_ref& to) {
        for (arriving& a : unpacked_later) copy_view(type, *a.packed, a.contiguous, to, a.where);
    }
};

}  // namespace

index_t count_pieces(const distributed_storage& from, std::size_t axis) {
    const placement& p = *from.where;
    std::size_t bytes = detail::size_of(from.type);
    for (const index_t extent : p.shape) bytes *= static_cast<std::size_t>(extent);
    const auto ranks = static_cast<std::size_t>(from.session().size);
    constexpr index_t most = 8;
    const auto wanted = static_cast<index_t>(std::min<std::size_t>(
        bytes / (ranks * ranks) / std::max<std::size_t>(least_piece.load(std::memory_order_relaxed), 1), most));
    const index_t parts = p.over[axis] < 0 ? 1 : p.mesh->extents[static_cast<std::size_t>(p.over[axis])];
    return std::clamp<index_t>(std::min(wanted, p.shape[axis] / parts), 1, most);
}

namespace {

/// Pieces along an axis that the wanted boxes have whole, so that every piece is wanted by all ranks alike.
pieces pieces_of(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank) {
    pieces found;
    const box first = box_of_rank(0), last = box_of_rank(from.session().size - 1);
    for (std::size_t g = 0; g < first.size(); ++g)
        if (first[g] == last[g])
            if (const index_t count = count_pieces(from, g); count > found.count) found.axis = g, found.count = count;
    return found;
}

/// Piece `k` along the axis, from the part's beginning.
range piece_of(const box& own, const pieces& all, index_t k) {
    const index_t extent = own[all.axis].size();
    return {extent * k / all.count, extent * (k + 1) / all.count};
}

box part_of_rank(const placement& p, int rank, const pieces& all, index_t k) {
    box b = p.box_of(rank);
    if (all.count == 1) return b;
    const range piece = piece_of(b, all, k);
    b[all.axis] = {b[all.axis].low + piece.low, b[all.axis].low + piece.high};
    return b;
}

}  // namespace

void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to) {
    fetch(from, box_of_rank, to, pieces_of(from, box_of_rank));
}

void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to,
           const pieces& by) {
    rank_session& s = from.session();
    stream_state& stream = *context_on(s.device).stream;
    stream_state& moving = by.count > 1 ? s.moving_stream() : stream;
    const bool is_beside = &moving != &stream;
    const placement& p = *from.where;
    const box own = p.box_of(s.rank), wanted = box_of_rank(s.rank);
    parcels all[2];  // on their way, and the next or the ones before
    // The second stream waits for the first and the first for the second: the buffers know of the first one alone.
    order_read(*from.memory, stream);
    order_write(*to.memory, stream);
    const auto pack = [&](index_t k) {
        parcels& next = all[k % 2];
        next.begin(from.type);
        if (by.compute) by.compute(piece_of(own, by, k));
        const box mine = part_of_rank(p, s.rank, by, k);
        for (int other = 0; other < s.size; ++other) {
            if (other == s.rank || p.is_replica_of(s.rank, other)) continue;
            if (const box sent = common(mine, box_of_rank(other)); size_of_box(sent) > 0)
                next.send(other, *from.memory, part_of(from.owned, own, sent));
            if (const box received = common(part_of_rank(p, other, by, k), wanted); size_of_box(received) > 0)
                next.receive(other, *to.memory, part_of(to.where, wanted, received), stream);
        }
    };
    const auto unpack = [&](index_t k) {
        if (const box kept = common(part_of_rank(p, s.rank, by, k), wanted); size_of_box(kept) > 0) {
            detail::layout target = part_of(to.where, wanted, kept);
            copy_view(from.type, *from.memory, part_of(from.owned, own, kept), to.memory, target);
        }
        all[k % 2].unpack(to.memory);
        all[k % 2].end();
    };
    pack(0);
    for (index_t k = 0; k < by.count; ++k) {
        if (is_beside) wait_for_stream(moving, stream);
        if (is_beside && k > 0) wait_for_stream(stream, moving);
        s.exchange(all[k % 2].messages, moving);
        if (k > 0) unpack(k - 1);
        if (k + 1 < by.count) pack(k + 1);
    }
    if (is_beside) wait_for_stream(stream, moving);
    unpack(by.count - 1);
}

void refresh_ghosts(distributed_storage& s) {
    if (s.ghosts_are_valid) return;
    rank_session& session = s.session();
    stream_state& stream = *context_on(session.device).stream;
    parcels& all = per_thread<parcels>::own();
    all.begin(s.type);
    order_write(*s.memory, stream);
    for (const placement::neighbour& n : s.where->neighbours) {
        if (n.sent.size() > 0) all.send(n.rank, *s.memory, n.sent);
        if (n.received.size() > 0) all.receive(n.rank, *s.memory, n.received, stream);
    }
    session.exchange(all.messages);
    all.unpack(s.memory);
    all.end();
    s.ghosts_are_valid = true;
}

}  // namespace ingot::runtime
