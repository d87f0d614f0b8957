// See host_messages.hpp.
#include "runtime/distributed/host_messages.hpp"

#include <string>

namespace ingot::runtime {

void check_label(rank_group& group, int peer, const label& theirs, const label& expected) {
    if (theirs.number == expected.number && theirs.bytes == expected.bytes) return;
    group.fail("rank " + std::to_string(peer) + " sent " + std::to_string(theirs.bytes) + " bytes in its message " +
               std::to_string(theirs.number) + ", and rank " + std::to_string(group.rank) + " expected " +
               std::to_string(expected.bytes) + " in message " + std::to_string(expected.number) +
               "; every rank must evaluate the same statements in the same order");
    group.throw_if_failed();
}

host_messages::host_messages(std::span<const message> given, stream_state& stream)
    : given_(given), stream_(stream), on_host_(given.begin(), given.end()) {
    if (!stream.backend->host_accessible()) {
        copies_.resize(given.size());
        for (std::size_t k = 0; k < given.size(); ++k) {
            copies_[k].resize(given[k].bytes);
            on_host_[k].data = copies_[k].data();
            if (given[k].is_sent)
                stream.backend->copy(copies_[k].data(), given[k].data, given[k].bytes, copy_direction::to_host,
                                     stream.native);
        }
    }
    wait_on_host(stream);
}

void host_messages::finish() {
    if (copies_.empty()) return;
    for (std::size_t k = 0; k < given_.size(); ++k)
        if (!given_[k].is_sent)
            stream_.backend->copy(given_[k].data, copies_[k].data(), given_[k].bytes, copy_direction::to_device,
                                  stream_.native);
    wait_on_host(stream_);
}

}  // namespace ingot::runtime
