// The common part of transports through a host's memory: copies of a GPU's bytes, and the label that tells statements
// that differ between ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/distributed/transport.hpp"

namespace ingot::runtime {

/// Goes before the bytes of a message.
struct label {
    std::uint64_t number = 0, bytes = 0;
};

/// Numbers the messages to each peer and from it.
class message_numbers {
public:
    explicit message_numbers(int ranks)
        : sent_(static_cast<std::size_t>(ranks)), received_(static_cast<std::size_t>(ranks)) {}
    label next(const message& m) {
        std::vector<std::uint64_t>& of = m.is_sent ? sent_ : received_;
        return {++of[static_cast<std::size_t>(m.peer)], m.bytes};
    }

private:
    std::vector<std::uint64_t> sent_, received_;
};

/// Fails for all ranks where a peer's label is another than this rank expects.
void check_label(rank_group&, int peer, const label& theirs, const label& expected);

/// The messages of an exchange in memory that the host reaches: they themselves, or copies of a GPU's memory.
class host_messages {
public:
    /// Waits for the stream, so that what is sent is there.
    host_messages(std::span<const message>, stream_state&);

    std::span<const message> all() const noexcept { return on_host_; }
    /// Copies what was received to the GPU.
    void finish();

private:
    std::span<const message> given_;
    stream_state& stream_;
    std::vector<message> on_host_;
    std::vector<std::vector<std::byte>> copies_;
};

}  // namespace ingot::runtime
