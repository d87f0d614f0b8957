// NCCL, opened at run time. A communicator that does not block would start a thread of its own for each exchange, which
// takes longer than most exchanges. So communicators block, and calls that may wait for another rank, the start and the
// first exchange with a peer, are made in a thread of their own: a failure of the other rank ends the wait.
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/distributed/transport.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

// NCCL's types, by its documentation; the versions from 2.28 on keep them.
enum class nccl_result : int { success = 0 };
/// For a call on a communicator that the thread which learned of a failure aborted; none of NCCL's results.
constexpr nccl_result aborted{-1};
constexpr int nccl_bytes = 1;  // ncclUint8
using nccl_communicator = struct opaque_communicator*;
struct nccl_id {
    char bytes[128];
};
/// The beginning of ncclConfig_t as of version 2.18, which later versions read.
struct nccl_config {
    std::size_t size = sizeof(nccl_config);
    unsigned magic = 0xcafebeef;
    unsigned version = 21800;
    int blocking = 1;
    int cluster_size = INT_MIN, least_blocks = INT_MIN, most_blocks = INT_MIN;
    const char* network = nullptr;
    int split_share = INT_MIN;
};

struct nccl_api : api_table {
    using api_table::api_table;
    static library_files files() {
        library_files all = files_of_cuda_library("nccl", {2});
        if (all.names.empty())
            all.absence =
                "ranks on several GPUs exchange through NCCL, and libnccl.so.2 was not found; install libnccl2, or put "
                "its folder on LD_LIBRARY_PATH";
        return all;
    }

    nccl_result (*get_version)(int*) = function("ncclGetVersion");
    const int version = check_version();  // before functions that older ones lack
    nccl_result (*get_unique_id)(nccl_id*) = function("ncclGetUniqueId");
    nccl_result (*init_rank)(nccl_communicator*, int ranks, nccl_id, int rank,
                             nccl_config*) = function("ncclCommInitRankConfig");
    nccl_result (*send)(const void*, std::size_t, int type, int peer, nccl_communicator,
                        void* stream) = function("ncclSend");
    nccl_result (*receive)(void*, std::size_t, int type, int peer, nccl_communicator,
                           void* stream) = function("ncclRecv");
    nccl_result (*all_gather)(const void*, void*, std::size_t, int type, nccl_communicator,
                              void* stream) = function("ncclAllGather");
    nccl_result (*group_start)() = function("ncclGroupStart");
    nccl_result (*group_end)() = function("ncclGroupEnd");
    nccl_result (*get_async_error)(nccl_communicator, nccl_result*) = function("ncclCommGetAsyncError");
    nccl_result (*abort)(nccl_communicator) = function("ncclCommAbort");
    nccl_result (*destroy)(nccl_communicator) = function("ncclCommDestroy");
    const char* (*error_text)(nccl_result) = function("ncclGetErrorString");

private:
    static constexpr int oldest = 22800;
    int check_version() const {
        int found = 0;
        get_version(&found);
        if (found < oldest)
            throw library_error("[distributed] " + library_name() + " is NCCL " + std::to_string(found / 10000) + "." +
                                std::to_string(found / 100 % 100) + "; 2.28 or newer is wanted");
        return found;
    }
};

/// Runs f in a thread of its own. Waits for it as long as `goes_on` says, which is asked each millisecond and may
/// throw; then the thread is left alone, and there is no result.
std::optional<nccl_result> run_beside(backend& own, std::function<nccl_result()> f,
                                      const std::function<bool()>& goes_on) {
    struct waiting {
        std::mutex mutex;
        std::condition_variable changed;
        bool is_done = false;
        nccl_result result{};
        std::exception_ptr thrown;
    };
    const auto state = std::make_shared<waiting>();
    std::thread([state, f = std::move(f), &own] {
        nccl_result result{};
        std::exception_ptr thrown;
        try {
            own.bind_thread();
            result = f();
        } catch (...) {
            thrown = std::current_exception();
        }
        const std::lock_guard lock(state->mutex);
        state->is_done = true;
        state->result = result;
        state->thrown = thrown;
        state->changed.notify_all();
    }).detach();
    std::unique_lock lock(state->mutex);
    while (!state->changed.wait_for(lock, std::chrono::milliseconds(1), [&] { return state->is_done; }))
        if (!goes_on()) return {};
    if (state->thrown) std::rethrow_exception(state->thrown);
    return state->result;
}

class nccl_transport final : public transport {
public:
    nccl_transport(std::shared_ptr<rank_group> group, device_id device)
        : api_(opened_library<nccl_api>::get("distributed")),
          group_(std::move(group)),
          backend_(*state_of(device).backend),
          shared_(std::make_shared<communicator>(api_)),
          has_sent_(static_cast<std::size_t>(group_->size)),
          has_received_(has_sent_) {
        nccl_id id{};
        if (group_->rank == 0) check("ncclGetUniqueId", api_.get_unique_id(&id));
        const std::vector<std::byte> bytes = group_->broadcast(std::as_bytes(std::span(&id, 1)));
        std::memcpy(&id, bytes.data(), sizeof id);
        beside("ncclCommInitRankConfig", [c = shared_, id, ranks = group_->size, rank = group_->rank] {
            nccl_config config;
            nccl_communicator made = nullptr;
            const nccl_result r = c->api.init_rank(&made, ranks, id, rank, &config);
            const std::lock_guard lock(c->mutex);
            c->native = made;
            return r;
        });
        // The thread that learns of a failure aborts the communicator: this one may wait for a kernel of NCCL's.
        group_->when_failed([c = shared_] { c->abort(); });
    }
    /// Ends the communicator with the others. A rank that does not come is not waited for.
    ~nccl_transport() override {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        const auto end = [c = shared_] {
            const std::lock_guard lock(c->mutex);
            if (c->is_over || c->native == nullptr) return nccl_result::success;
            const nccl_result r = c->api.destroy(c->native);
            c->is_over = true;  // only now: until it returns, an abort may have to end it
            return r;
        };
        try {
            if (run_beside(backend_, end, [&] { return std::chrono::steady_clock::now() < deadline; })) return;
        } catch (...) {  // NOLINT(bugprone-empty-catch): no thread was to be had
        }
        shared_->abort();
    }

    void exchange(std::span<const message> messages, stream_state& stream) override {
        constexpr const char* name = "ncclSend and ncclRecv";
        bool is_connected = true;
        for (const message& m : messages) {
            std::vector<bool>& known = m.is_sent ? has_sent_ : has_received_;
            is_connected = is_connected && known[static_cast<std::size_t>(m.peer)];
            known[static_cast<std::size_t>(m.peer)] = true;
        }
        group_->throw_if_failed();
        if (is_connected) return check(name, shared_->exchange(messages, stream.native));
        beside(name, [c = shared_, s = stream.native, own = std::vector(messages.begin(), messages.end())] {
            return c->exchange(own, s);
        });
    }

    /// Messages to each rank would take time in proportion to their number; NCCL's all-gather does not.
    bool all_gather(void* all, std::size_t bytes, stream_state& stream) override {
        constexpr const char* name = "ncclAllGather";
        // NCCL chooses its algorithm by the size, and connects the ranks for each when it is used first.
        bool& is_connected = has_gathered_[static_cast<std::size_t>(std::bit_width(bytes))];
        const int rank = group_->rank;
        group_->throw_if_failed();
        if (std::exchange(is_connected, true))
            check(name, shared_->all_gather(rank, all, bytes, stream.native));
        else
            beside(name,
                   [c = shared_, rank, all, bytes, s = stream.native] { return c->all_gather(rank, all, bytes, s); });
        return true;
    }

private:
    static void* as_pointer(native_stream s) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(s)); }

    /// Ended by its owner, or aborted once by the thread that learns of a failure.
    struct communicator {
        explicit communicator(const nccl_api& a) : api(a) {}
        const nccl_api& api;
        nccl_communicator native = nullptr;
        std::timed_mutex mutex;
        std::atomic<bool> is_over{false};

        nccl_result exchange(std::span<const message> messages, native_stream s) {
            return locked([&] {
                nccl_result failed = api.group_start();
                for (const message& m : messages) {
                    const nccl_result r = m.is_sent
                                              ? api.send(m.data, m.bytes, nccl_bytes, m.peer, native, as_pointer(s))
                                              : api.receive(m.data, m.bytes, nccl_bytes, m.peer, native, as_pointer(s));
                    if (failed == nccl_result::success) failed = r;
                }
                // Always, else the thread's next communicator would never start.
                const nccl_result ended = api.group_end();
                return failed == nccl_result::success ? ended : failed;
            });
        }
        nccl_result all_gather(int rank, void* all, std::size_t bytes, native_stream s) {
            const auto* const own = static_cast<const std::byte*>(all) + bytes * static_cast<std::size_t>(rank);
            return locked([&] { return api.all_gather(own, all, bytes, nccl_bytes, native, as_pointer(s)); });
        }
        void abort() noexcept {
            // A call that waits for the failed rank holds the mutex, and the abort alone ends it.
            const std::unique_lock lock(mutex, std::chrono::seconds(1));
            if (!is_over.exchange(true) && native != nullptr) api.abort(native);
        }

    private:
        /// Calls f while no other thread aborts the communicator.
        template <class F>
        nccl_result locked(F f) {
            const std::lock_guard lock(mutex);
            if (is_over) return aborted;
            nccl_result failed = nccl_result::success;
            const nccl_result asked = api.get_async_error(native, &failed);
            if (asked != nccl_result::success || failed != nccl_result::success)
                return asked != nccl_result::success ? asked : failed;
            return f();
        }
    };

    /// Makes a call that may wait for other ranks. Throws where one of them fails meanwhile.
    void beside(const char* call, const std::function<nccl_result()>& f) {
        group_->throw_if_failed();
        const auto goes_on = [&] { return group_->throw_if_failed(), true; };
        if (const auto result = run_beside(backend_, f, goes_on)) check(call, *result);
    }
    void check(const char* call, nccl_result r) {
        if (r == nccl_result::success) return;
        group_->throw_if_failed();
        throw distributed_error("[distributed] " + std::string(call) + ": " +
                                (r == aborted ? "the communicator was aborted" : api_.error_text(r)));
    }

    const nccl_api& api_;
    std::shared_ptr<rank_group> group_;
    backend& backend_;
    std::shared_ptr<communicator> shared_;
    std::vector<bool> has_sent_, has_received_;                                      // to and from each peer
    std::array<bool, std::numeric_limits<std::size_t>::digits + 1> has_gathered_{};  // by the bits of the size
};

}  // namespace

std::unique_ptr<transport> make_nccl_transport(std::shared_ptr<rank_group> group, device_id device) {
    return std::make_unique<nccl_transport>(std::move(group), device);
}

}  // namespace ingot::runtime
