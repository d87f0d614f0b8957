// Ranks that met by MPI exchange through it. A label goes before each message's bytes; the receiver takes the bytes
// once it has found the label right, so that no message is longer than its memory. Nothing blocks: between tests of
// what is under way this thread asks the group whether a rank has failed.
#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include <ingot/core/error.hpp>

#include "runtime/distributed/host_messages.hpp"
#include "runtime/distributed/mpi_start.hpp"

namespace ingot::runtime {

namespace {

/// MPI counts bytes in an int.
constexpr std::size_t most_bytes_at_once = std::size_t{1} << 30;

/// A tag for each session, so that none receives what one before it has left. MPI has at least 32768.
int next_tag() {
    static int sessions = 0;
    return sessions++ % 32768;
}

class mpi_transport final : public transport {
public:
    explicit mpi_transport(std::shared_ptr<rank_group> group)
        : mpi_(mpi_of_process()), group_(std::move(group)), numbers_(group_->size), tag_(next_tag()) {
        // MPI may still hold back bytes of an exchange that has ended here, and another rank wait for them.
        group_->while_waiting([&mpi = mpi_] { mpi.progress(); });
    }

    void exchange(std::span<const message> messages, stream_state& stream) override {
        group_->throw_if_failed();
        host_messages here(messages, stream);
        std::vector<flow> flows;
        flows.reserve(messages.size());  // MPI holds addresses of the labels
        try {
            for (const message& m : here.all()) begin(flows.emplace_back(flow{m, numbers_.next(m)}));
            wait_for(flows);
        } catch (...) {
            abandon(flows, here);
            throw;
        }
        here.finish();
    }

private:
    using clock = std::chrono::steady_clock;

    struct flow {
        message m;
        label own;               // what is sent, or expected
        label theirs = {};       // what comes
        bool has_begun = false;  // to move the bytes
        std::vector<void*> requests = {};
        bool is_done() const noexcept { return has_begun && requests.empty(); }
    };

    void begin(flow& f) {
        if (!f.m.is_sent) return start(f, &f.theirs, sizeof(label));
        start(f, &f.own, sizeof(label));
        start_bytes(f);
    }
    void start(flow& f, void* data, std::size_t bytes) {
        const int count = static_cast<int>(bytes);
        void*& request = f.requests.emplace_back(nullptr);
        const int failed = f.m.is_sent ? mpi_.send(data, count, f.m.peer, tag_, &request)
                                       : mpi_.receive(data, count, f.m.peer, tag_, &request);
        if (failed != 0) f.requests.pop_back();
        check(f.m.is_sent ? "MPI_Isend" : "MPI_Irecv", failed);
    }
    void start_bytes(flow& f) {
        f.has_begun = true;
        auto* const data = static_cast<std::byte*>(f.m.data);
        for (std::size_t done = 0; done < f.m.bytes; done += most_bytes_at_once)
            start(f, data + done, std::min(f.m.bytes - done, most_bytes_at_once));
    }

    /// Returns whether a transfer has ended.
    bool advance(flow& f) {
        bool has_moved = false;
        for (std::size_t k = f.requests.size(); k-- > 0;) {
            int is_over = 0;
            check("MPI_Test", mpi_.test(&f.requests[k], &is_over));
            if (is_over == 0) continue;
            f.requests.erase(f.requests.begin() + static_cast<std::ptrdiff_t>(k));
            has_moved = true;
        }
        if (f.requests.empty() && !f.has_begun) {
            check_label(*group_, f.m.peer, f.theirs, f.own);
            start_bytes(f);
        }
        return has_moved;
    }

    void wait_for(std::vector<flow>& flows) {
        std::optional<clock::time_point> left_at;
        for (auto last_move = clock::now();;) {
            bool is_done = true, has_moved = false;
            for (flow& f : flows) {
                if (!f.is_done()) has_moved |= advance(f);
                is_done &= f.is_done();
            }
            if (is_done) return;
            group_->throw_if_failed();
            const auto now = clock::now();
            if (has_moved) last_move = now;
            if (now - last_move < std::chrono::milliseconds(1)) {
                std::this_thread::yield();
                continue;
            }
            if (now - last_move > std::chrono::milliseconds(100)) throw_if_one_left(flows, left_at);
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }
    /// A rank that left has sent all that it ever will; two seconds later that has come.
    void throw_if_one_left(const std::vector<flow>& flows, std::optional<clock::time_point>& left_at) {
        const auto left =
            std::ranges::find_if(flows, [&](const flow& f) { return !f.is_done() && group_->has_left(f.m.peer); });
        if (left == flows.end()) return;
        if (!left_at) left_at = clock::now();
        if (clock::now() - *left_at > std::chrono::seconds(2))
            throw_failure("rank " + std::to_string(left->m.peer) + " has ended");
    }

    /// Ends what can be ended of a failed exchange. Memory that MPI still holds is not freed; arrays' memory is not
    /// ours, and their receives are ended or moved by then, but for those of which a part has come.
    void abandon(std::vector<flow>& flows, host_messages& here) {
        for (flow& f : flows)
            for (void*& request : f.requests)
                if (!f.m.is_sent) mpi_.cancel(&request);
        const auto deadline = clock::now() + std::chrono::milliseconds(200);
        for (bool is_over = false; !is_over;) {
            is_over = true;
            for (flow& f : flows)
                for (void*& request : f.requests) {
                    int is_request_over = 1;
                    if (request != nullptr && mpi_.test(&request, &is_request_over) == 0 && is_request_over == 0)
                        is_over = false;
                    else
                        request = nullptr;
                }
            if (!is_over && clock::now() > deadline) {
                new std::vector<flow>(std::move(flows));
                new host_messages(std::move(here));
                return;
            }
            std::this_thread::yield();
        }
    }

    void check(const char* call, int error) {
        if (error == 0) return;
        group_->throw_if_failed();
        throw_failure("rank " + std::to_string(group_->rank) + " failed: " + call + ": " +
                      text_of_mpi_error(mpi_, error));
    }
    void throw_failure(const std::string& why) {
        group_->fail(why);
        group_->throw_if_failed();
    }

    const ingot_mpi_table& mpi_;
    std::shared_ptr<rank_group> group_;
    message_numbers numbers_;
    const int tag_;
};

}  // namespace

std::unique_ptr<transport> make_mpi_transport(std::shared_ptr<rank_group> group) {
    return std::make_unique<mpi_transport>(std::move(group));
}

}  // namespace ingot::runtime
