// How ranks meet, and how they exchange bytes. Each rank of a session makes the same calls in the same order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/device/stream.hpp"

namespace ingot::runtime {

/// Bytes on this rank's device that go to a peer or come from it. Between two ranks there is at most one message each
/// way in an exchange.
struct message {
    int peer;
    void* data;
    std::size_t bytes;
    bool is_sent;
};

/// The ranks of a session. Its functions throw distributed_error where a rank has failed; the text says which, and how.
class rank_group {
public:
    rank_group(int own_rank, int ranks) : rank(own_rank), size(ranks) {}
    rank_group(const rank_group&) = delete;
    rank_group& operator=(const rank_group&) = delete;
    virtual ~rank_group() = default;

    const int rank, size;

    /// Waits until every rank has come here. Returns whether all said true.
    virtual bool all_agree(bool) = 0;
    /// Rank 0's bytes, on every rank.
    virtual std::vector<std::byte> broadcast(std::span<const std::byte> of_rank_0) = 0;
    /// Tells the other ranks that this one has failed.
    virtual void fail(const std::string& why) noexcept = 0;
    virtual void throw_if_failed() = 0;
    /// Says that this rank makes no more calls.
    virtual void leave() noexcept {}
    /// Calls f, in any thread, when a rank has failed. `f` must not throw.
    virtual void when_failed(std::function<void()> f) = 0;
    /// Whether a peer, a process, has ended its session.
    virtual bool has_left(int) noexcept { return false; }
    /// Calls f now and then, in the thread that waits, while all_agree and broadcast wait.
    virtual void while_waiting(const std::function<void()>&) {}
};

class transport {
public:
    virtual ~transport() = default;
    /// Sends and receives in the stream's order. Throws distributed_error where a rank has failed.
    virtual void exchange(std::span<const message>, stream_state&) = 0;
    /// All ranks' parts of as many bytes, one behind the other in the order of ranks; this rank's lies there already.
    /// Returns false where there is no such call, and the ranks exchange messages instead.
    virtual bool all_gather(void*, std::size_t, stream_state&) { return false; }
};

/// For a session of one rank.
std::shared_ptr<rank_group> make_lone_group();

/// The ranks are threads of this process: one group for each, in the order of their ranks.
std::vector<std::shared_ptr<rank_group>> make_thread_groups(int ranks);
/// Copies from thread to thread, through the host's memory or one GPU's.
std::unique_ptr<transport> make_thread_transport(std::shared_ptr<rank_group>);

/// A process among others, which meet at an address of rank 0.
struct meeting_place {
    int rank = 0, size = 1;
    int local_rank = 0;  // among the ranks of one host
    std::string host;    // rank 0's
    int port = 0;
    std::string launcher;  // for messages
    /// Called in rank 0 once it listens. Port 0 is one that the system chooses.
    std::function<void(int port)> tell_port = {};
};
/// The ranks are processes, connected by TCP. Waits until all have come, ten minutes at most.
std::shared_ptr<rank_group> make_socket_group(const meeting_place&);
/// Sends through the connections of a socket group. Memory of a GPU passes through the host's.
std::unique_ptr<transport> make_socket_transport(std::shared_ptr<rank_group>);

/// For ranks that met by MPI (mpi_start.hpp). Sends through MPI and learns of failures through the group. Memory of a
/// GPU passes through the host's.
std::unique_ptr<transport> make_mpi_transport(std::shared_ptr<rank_group>);

/// NCCL between GPUs, one for each rank. A collective call. Throws library_error where NCCL is missing.
std::unique_ptr<transport> make_nccl_transport(std::shared_ptr<rank_group>, device_id);

}  // namespace ingot::runtime
