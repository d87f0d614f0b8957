// See transfer.hpp.
#include "runtime/device/transfer.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "runtime/device/device.hpp"
#include "runtime/device/graphs.hpp"
#include "runtime/device/host_workers.hpp"
#include "runtime/device/ordering.hpp"
#include "runtime/device/peers.hpp"
#include "runtime/system/counters.hpp"

namespace ingot::runtime {

namespace {

constexpr std::size_t host_piece = std::size_t{1} << 20;    // the piece that one worker copies at a time
constexpr std::size_t staged_piece = std::size_t{4} << 20;  // long enough to hide the cost of starting a copy

char* at(const buffer& b, std::size_t offset) { return static_cast<char*>(b.data) + offset; }

stream_state& stream_for(device_id device, stream_state& preferred) {
    return preferred.device == device ? preferred : *state_of(device).default_stream;
}

/// stream_for, with a check that a capture records the work.
stream_state& recorded_stream_for(device_id device, stream_state& preferred) {
    stream_state& s = stream_for(device, preferred);
    check_stream_of_capture(s);
    return s;
}

template <class F>
void in_pieces(std::size_t bytes, F f) {
    run_on_workers((bytes + host_piece - 1) / host_piece, [&](std::size_t begin, std::size_t end) {
        f(begin * host_piece, std::min(end * host_piece, bytes) - begin * host_piece);
    });
}

/// A pinned piece on its way between the host and a stream, and the event behind its copy.
class stage {
public:
    stage(std::size_t bytes, stream_state& s)
        : stream_(s), host_(*state_of(device::host()).default_stream), pinned_(pinned_pool().allocate(bytes, host_)) {}
    stage(const stage&) = delete;
    stage& operator=(const stage&) = delete;
    ~stage() {
        if (copied_) stream_.backend->recycle_event(event_);
    }

    void* data() const noexcept { return pinned_->data; }

    void start(void* to, const void* from, std::size_t bytes, copy_direction direction) {
        // The piece belongs to the host's stream, so that its next user may access it from the CPU. The copy is noted
        // as a reader, which holds the piece back while it runs.
        if (!copied_) event_ = stream_.backend->create_event(false);
        copied_ = true;
        stream_.backend->copy(to, from, bytes, direction, stream_.native);
        pinned_->readers.fetch_or(stream_.reader_bit, std::memory_order_release);
        stream_.backend->record(event_, stream_.native);
    }
    void wait() {
        if (!copied_) return;
        stream_.backend->synchronize(event_);
        pinned_->readers.store(0, std::memory_order_relaxed);
    }

private:
    stream_state& stream_;
    stream_state& host_;
    buffer_ref pinned_;
    native_event event_{};
    bool copied_ = false;
};

/// Two stages, which the pieces of a range use in turn.
struct stages {
    stages(std::size_t bytes, stream_state& s) : first(std::min(bytes, staged_piece), s) {
        if (bytes > staged_piece) second.emplace(staged_piece, s);
    }
    stage& operator[](std::size_t piece) noexcept { return piece % 2 == 0 ? first : *second; }
    stage first;
    std::optional<stage> second;
};

}  // namespace

void copy_on_host(void* to, const void* from, std::size_t bytes) {
    in_pieces(bytes, [=](std::size_t begin, std::size_t n) {
        std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin, n);
    });
}

void fill_on_host(void* to, unsigned char value, std::size_t bytes) {
    in_pieces(bytes, [=](std::size_t begin, std::size_t n) { std::memset(static_cast<char*>(to) + begin, value, n); });
}

void read_in_pieces(buffer& from, std::size_t offset, std::size_t bytes, stream_state& preferred,
                    const std::function<void(std::span<const std::byte>)>& take) {
    stream_state& s = stream_for(from.device, preferred);
    check_not_recorded(preferred, "reading on the host");
    check_stream_of_capture(s);
    const stream_index writer = from.writer.load(std::memory_order_relaxed);
    order_read(from, s);
    add(counter::host_reads);
    const auto bytes_at = [](const void* data, std::size_t n) {
        return std::span(static_cast<const std::byte*>(data), n);
    };
    if (s.synchronous) {
        take(bytes_at(at(from, offset), bytes));
    } else if (bytes > 0) {
        stages pinned(bytes, s);
        const std::size_t pieces = (bytes + staged_piece - 1) / staged_piece;
        const auto size = [&](std::size_t k) { return std::min(staged_piece, bytes - k * staged_piece); };
        const auto start = [&](std::size_t k) {
            pinned[k].start(pinned[k].data(), at(from, offset + k * staged_piece), size(k), copy_direction::to_host);
        };
        start(0);
        for (std::size_t k = 0; k < pieces; ++k) {
            if (k + 1 < pieces) start(k + 1);
            pinned[k].wait();
            take(bytes_at(pinned[k].data(), size(k)));
        }
    }
    throw_reported(s);
    if (writer != no_stream && writer != s.index) throw_reported(stream_at(writer));  // the call waited for it too
}

void write_in_pieces(buffer& to, std::size_t offset, std::size_t bytes, stream_state& preferred,
                     const std::function<void(std::span<std::byte>)>& give) {
    stream_state& s = stream_for(to.device, preferred);
    check_not_recorded(preferred, "writing from the host");
    order_write(to, s);
    const auto bytes_at = [](void* data, std::size_t n) { return std::span(static_cast<std::byte*>(data), n); };
    if (s.synchronous) return give(bytes_at(at(to, offset), bytes));
    if (bytes == 0) return;
    stages pinned(bytes, s);
    for (std::size_t done = 0, k = 0; done < bytes; done += staged_piece, ++k) {
        const std::size_t n = std::min(staged_piece, bytes - done);
        pinned[k].wait();
        give(bytes_at(pinned[k].data(), n));
        pinned[k].start(at(to, offset + done), pinned[k].data(), n, copy_direction::to_device);
    }
}

void copy_to_host(buffer& from, std::size_t offset, std::size_t bytes, void* to, stream_state& preferred) {
    read_in_pieces(from, offset, bytes, preferred, [&to](std::span<const std::byte> piece) {
        copy_on_host(to, piece.data(), piece.size());
        to = static_cast<char*>(to) + piece.size();
    });
}

void copy_from_host(buffer& to, std::size_t offset, std::size_t bytes, const void* from, stream_state& preferred) {
    write_in_pieces(to, offset, bytes, preferred, [&from](std::span<std::byte> piece) {
        copy_on_host(piece.data(), from, piece.size());
        from = static_cast<const char*>(from) + piece.size();
    });
}

void copy(buffer& to, std::size_t to_offset, buffer& from, std::size_t from_offset, std::size_t bytes,
          stream_state& preferred) {
    const bool from_host = from.device.is_host(), to_host = to.device.is_host();
    const bool at_source = to_host || (!from_host && preferred.device == from.device);
    stream_state& s = recorded_stream_for(at_source ? from.device : to.device, preferred);
    if (from_host && to_host) {
        order_read(from, s);
        order_write(to, s);
        char* const target = at(to, to_offset);
        const char* const source = at(from, from_offset);
        if (graph_capture* const capture = s.capture.load(std::memory_order_relaxed))
            return capture->record([=] { copy_on_host(target, source, bytes); });
        return copy_on_host(target, source, bytes);
    }
    if (from_host && !from.pinned) {
        order_read(from, stream_for(from.device, preferred));
        return copy_from_host(to, to_offset, bytes, at(from, from_offset), preferred);
    }
    if (to_host && !to.pinned) {
        order_write(to, stream_for(to.device, preferred));
        return copy_to_host(from, from_offset, bytes, at(to, to_offset), preferred);
    }
    order_read(from, s);
    order_write(to, s);
    const copy_direction direction = from_host                  ? copy_direction::to_device
                                     : to_host                  ? copy_direction::to_host
                                     : to.device == from.device ? copy_direction::within
                                                                : copy_direction::between;
    if (direction == copy_direction::between) prefer_peer_access(s.device, at_source ? to.device : from.device);
    s.backend->copy(at(to, to_offset), at(from, from_offset), bytes, direction, s.native);
}

void fill(buffer& to, std::size_t offset, std::size_t bytes, unsigned char value, stream_state& preferred) {
    stream_state& s = recorded_stream_for(to.device, preferred);
    order_write(to, s);
    char* const target = at(to, offset);
    graph_capture* const capture = s.capture.load(std::memory_order_relaxed);
    if (capture != nullptr && s.synchronous) return capture->record([=] { fill_on_host(target, value, bytes); });
    s.backend->fill(target, value, bytes, s.native);
}

}  // namespace ingot::runtime
