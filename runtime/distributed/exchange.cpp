// See exchange.hpp.
#include "runtime/distributed/exchange.hpp"

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
    /// Receives the elements that other ranks have of the box that this one wants.
    void receive_all(const placement& p, const box& wanted, const wanted_box& to, stream_state& stream) {
        const rank_session& s = *p.mesh->session;
        order_write(*to.memory, stream);
        for (int other = 0; other < s.size; ++other) {
            if (other == s.rank || p.is_replica_of(s.rank, other)) continue;
            if (const box received = common(p.box_of(other), wanted); size_of_box(received) > 0)
                receive(other, *to.memory, part_of(to.where, wanted, received), stream);
        }
    }
    void unpack(buffer_ref& to) {
        for (arriving& a : unpacked_later) copy_view(type, *a.packed, a.contiguous, to, a.where);
    }
};

}  // namespace

void fetch(const distributed_storage& from, const std::function<box(int rank)>& box_of_rank, const wanted_box& to) {
    rank_session& s = from.session();
    stream_state& stream = *context_on(s.device).stream;
    const placement& p = *from.where;
    const box own = p.box_of(s.rank), wanted = box_of_rank(s.rank), kept = common(own, wanted);
    parcels all;
    all.begin(from.type);
    order_read(*from.memory, stream);
    for (int other = 0; other < s.size; ++other) {
        if (other == s.rank || p.is_replica_of(s.rank, other)) continue;
        if (const box sent = common(own, box_of_rank(other)); size_of_box(sent) > 0)
            all.send(other, *from.memory, part_of(from.owned, own, sent));
    }
    all.receive_all(p, wanted, to, stream);
    s.exchange(all.messages);
    if (size_of_box(kept) > 0) {
        detail::layout target = part_of(to.where, wanted, kept);
        copy_view(from.type, *from.memory, part_of(from.owned, own, kept), to.memory, target);
    }
    all.unpack(to.memory);
}

void fetch_packed(std::span<const buffer_ref> packed, dtype type, const placement& p,
                  const std::function<box(int rank)>& box_of_rank, const wanted_box& to) {
    rank_session& s = *p.mesh->session;
    stream_state& stream = *context_on(s.device).stream;
    parcels all;
    all.begin(type);
    const box own = p.box_of(s.rank);
    for (int other = 0; other < s.size; ++other) {
        const buffer_ref& part = packed[static_cast<std::size_t>(other)];
        if (!part) continue;
        order_read(*part, stream);
        all.send(other, *part, contiguous_layout(common(own, box_of_rank(other))));
    }
    all.receive_all(p, box_of_rank(s.rank), to, stream);
    s.exchange(all.messages);
    all.unpack(to.memory);
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
