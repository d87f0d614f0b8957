// NCCL, opened at run time. Its communicators do not block: a call returns at once, and this thread asks for its
// progress, so that a failure of another rank ends the wait.
#include <chrono>
#include <climits>
#include <cstring>
#include <mutex>
#include <thread>

#include <ingot/core/error.hpp>

#include "runtime/device/device.hpp"
#include "runtime/distributed/transport.hpp"
#include "runtime/system/opened_library.hpp"

namespace ingot::runtime {

namespace {

// NCCL's types, by its documentation; the versions from 2.28 on keep them.
enum class nccl_result : int { success = 0, in_progress = 7 };
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
    int blocking = 0;
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
    nccl_result (*finalize)(nccl_communicator) = function("ncclCommFinalize");
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

class nccl_transport final : public transport {
public:
    explicit nccl_transport(std::shared_ptr<rank_group> group)
        : api_(opened_library<nccl_api>::get("distributed")),
          group_(std::move(group)),
          shared_(std::make_shared<communicator>(api_)) {
        nccl_id id{};
        if (group_->rank == 0) check("ncclGetUniqueId", api_.get_unique_id(&id));
        const std::vector<std::byte> bytes = group_->broadcast(std::as_bytes(std::span(&id, 1)));
        std::memcpy(&id, bytes.data(), sizeof id);
        nccl_config config;
        wait("ncclCommInitRankConfig", api_.init_rank(&shared_->native, group_->size, id, group_->rank, &config));
        // The thread that learns of a failure aborts the communicator: this one may wait for a kernel of NCCL's.
        group_->when_failed([c = shared_] { c->abort(); });
    }
    ~nccl_transport() override { shared_->end(); }

    void exchange(std::span<const message> messages, stream_state& stream) override {
        void* const native = reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream.native));
        nccl_result ended = nccl_result::success;
        locked([&](nccl_communicator c) {
            nccl_result failed = api_.group_start();
            const auto call = [&](nccl_result r) {
                if (r != nccl_result::success && r != nccl_result::in_progress && failed == nccl_result::success)
                    failed = r;
            };
            for (const message& m : messages)
                call(m.is_sent ? api_.send(m.data, m.bytes, nccl_bytes, m.peer, c, native)
                               : api_.receive(m.data, m.bytes, nccl_bytes, m.peer, c, native));
            ended = api_.group_end();  // always, else the thread's next communicator would never start
            check("ncclSend and ncclRecv", failed);
        });
        wait("ncclGroupEnd", ended);
    }

    /// Messages to each rank would take time in proportion to their number; NCCL's all-gather does not.
    bool all_gather(void* all, std::size_t bytes, stream_state& stream) override {
        void* const native = reinterpret_cast<void*>(static_cast<std::uintptr_t>(stream.native));
        const auto* const own = static_cast<const std::byte*>(all) + bytes * static_cast<std::size_t>(group_->rank);
        nccl_result ended = nccl_result::success;
        locked([&](nccl_communicator c) { ended = api_.all_gather(own, all, bytes, nccl_bytes, c, native); });
        wait("ncclAllGather", ended);
        return true;
    }

private:
    /// Ended by its owner, or aborted once by the thread that learns of a failure.
    struct communicator {
        explicit communicator(const nccl_api& a) : api(a) {}
        const nccl_api& api;
        nccl_communicator native = nullptr;
        std::mutex mutex;
        bool is_over = false;

        void abort() noexcept {
            const std::lock_guard lock(mutex);
            if (!std::exchange(is_over, true)) api.abort(native);
        }
        /// Ends it with the others. A rank that does not come is not waited for: then it is aborted.
        void end() noexcept {
            const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
            nccl_result state = nccl_result::in_progress;
            for (bool has_begun = false; state == nccl_result::in_progress;) {
                {
                    const std::lock_guard lock(mutex);
                    if (is_over || native == nullptr) return;
                    if (!std::exchange(has_begun, true))
                        state = api.finalize(native);
                    else if (api.get_async_error(native, &state) != nccl_result::success)
                        state = nccl_result::success;
                }
                if (state != nccl_result::in_progress) break;
                if (std::chrono::steady_clock::now() > deadline) return abort();
                std::this_thread::yield();
            }
            const std::lock_guard lock(mutex);
            if (!std::exchange(is_over, true)) api.destroy(native);
        }
    };

    /// Calls f with the communicator, which no other thread aborts meanwhile.
    template <class F>
    void locked(F f) {
        group_->throw_if_failed();
        const std::lock_guard lock(shared_->mutex);
        if (shared_->is_over) throw distributed_error("[distributed] NCCL's communicator was aborted");
        f(shared_->native);
    }
    void check(const char* call, nccl_result r) {
        if (r == nccl_result::success || r == nccl_result::in_progress) return;
        group_->throw_if_failed();
        throw distributed_error("[distributed] " + std::string(call) + ": " + api_.error_text(r));
    }
    void wait(const char* call, nccl_result r) {
        check(call, r);
        while (r == nccl_result::in_progress) {
            locked([&](nccl_communicator c) { check("ncclCommGetAsyncError", api_.get_async_error(c, &r)); });
            check(call, r);
        }
    }

    const nccl_api& api_;
    std::shared_ptr<rank_group> group_;
    std::shared_ptr<communicator> shared_;
};

}  // namespace

std::unique_ptr<transport> make_nccl_transport(std::shared_ptr<rank_group> group) {
    return std::make_unique<nccl_transport>(std::move(group));
}

}  // namespace ingot::runtime
