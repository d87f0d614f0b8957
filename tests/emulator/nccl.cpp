// libnccl for ranks that are threads on emulated GPUs: a group's sends and receives meet when the group ends. It checks
// what NCCL leaves undefined: calls outside a group, groups that do not end, a count that differs between the two
// sides, a device that two ranks have, calls on a communicator that is over.
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "streams_of_libraries.hpp"

namespace {

enum result : int { success = 0, internal_error = 3, invalid_argument = 4, invalid_usage = 5, in_progress = 7 };

struct id {
    char bytes[128];
};
struct post {
    const void* data;
    std::size_t bytes;
    bool is_copied = false;
};

/// The ranks that were made with one id.
struct world {
    std::mutex mutex;
    std::condition_variable changed;
    int size = 0, present = 0;
    std::vector<int> devices;
    std::map<std::pair<int, int>, std::deque<post*>> boxes;
    bool is_aborted = false;
};

std::mutex table_mutex;
std::map<int, std::shared_ptr<world>>& worlds() {
    static auto& all = *new std::map<int, std::shared_ptr<world>>;
    return all;
}

[[noreturn]] void misuse(const char* what) {
    std::fprintf(stderr, "emulated NCCL: %s\n", what);
    std::abort();
}

}  // namespace

struct communicator {
    std::shared_ptr<world> all;
    int rank;
    bool is_final = false;
};

namespace {

struct call {
    communicator* c;
    void* data;
    std::size_t bytes;
    int peer;
    bool sends;
    void* stream;
};
thread_local int depth = 0;
thread_local std::vector<call> calls;

result run_group() {
    std::vector<call> now;
    now.swap(calls);
    for (const call& k : now) emulator::wait_for(static_cast<cudaStream_t>(k.stream));
    std::deque<post> posts;
    for (const call& k : now)
        if (k.sends) {
            const std::lock_guard lock(k.c->all->mutex);
            k.c->all->boxes[{k.c->rank, k.peer}].push_back(&posts.emplace_back(post{k.data, k.bytes}));
            k.c->all->changed.notify_all();
        }
    for (const call& k : now) {
        if (k.sends) continue;
        world& w = *k.c->all;
        std::unique_lock lock(w.mutex);
        auto& box = w.boxes[{k.peer, k.c->rank}];
        w.changed.wait(lock, [&] { return w.is_aborted || !box.empty(); });
        if (w.is_aborted) break;
        post* const p = box.front();
        if (p->bytes != k.bytes) misuse("a receive is of another size than its send");
        box.pop_front();
        std::memcpy(k.data, p->data, k.bytes);
        p->is_copied = true;
        w.changed.notify_all();
    }
    if (now.empty()) return success;
    world& w = *now[0].c->all;
    std::unique_lock lock(w.mutex);
    w.changed.wait(lock, [&] {
        return w.is_aborted || std::all_of(posts.begin(), posts.end(), [](const post& p) { return p.is_copied; });
    });
    if (w.is_aborted) {
        for (auto& [way, box] : w.boxes)
            if (way.first == now[0].c->rank) box.clear();
        return internal_error;
    }
    return success;
}

result add(const call& k) {
    if (depth == 0) misuse("a call outside a group");
    if (k.c == nullptr || k.c->is_final) misuse("a call on a communicator that is over");
    if (k.peer < 0 || k.peer >= k.c->all->size || k.peer == k.c->rank) return invalid_argument;
    calls.push_back(k);
    return in_progress;
}

}  // namespace

extern "C" {

result ncclGetVersion(int* version) {
    *version = 22809;
    return success;
}
result ncclGetUniqueId(id* made) {
    static int next = 0;
    const std::lock_guard lock(table_mutex);
    std::memset(made->bytes, 0, sizeof made->bytes);
    const int number = ++next;
    std::memcpy(made->bytes, &number, sizeof number);
    worlds()[number] = std::make_shared<world>();
    return success;
}
result ncclCommInitRankConfig(communicator** made, int size, id which, int rank, void* config) {
    if (config == nullptr) misuse("a communicator that blocks");
    const int device = emulator::current_gpu();
    if (device < 0) misuse("no device is current");
    int number = 0;
    std::memcpy(&number, which.bytes, sizeof number);
    std::shared_ptr<world> w;
    {
        const std::lock_guard lock(table_mutex);
        w = worlds().at(number);
    }
    std::unique_lock lock(w->mutex);
    w->size = size;
    if (std::find(w->devices.begin(), w->devices.end(), device) != w->devices.end()) return invalid_usage;
    w->devices.push_back(device);
    *made = new communicator{w, rank};
    ++w->present;
    w->changed.notify_all();
    w->changed.wait(lock, [&] { return w->is_aborted || w->present == size; });
    return w->is_aborted ? internal_error : success;
}
result ncclSend(const void* data, std::size_t count, int, int peer, communicator* c, void* stream) {
    return add({c, const_cast<void*>(data), count, peer, true, stream});
}
result ncclRecv(void* data, std::size_t count, int, int peer, communicator* c, void* stream) {
    return add({c, data, count, peer, false, stream});
}
result ncclGroupStart() {
    ++depth;
    return success;
}
result ncclGroupEnd() {
    if (depth == 0) misuse("a group ends that did not start");
    return --depth == 0 ? run_group() : success;
}
result ncclCommGetAsyncError(communicator* c, result* state) {
    *state = c->all->is_aborted ? internal_error : success;
    return success;
}
result ncclCommAbort(communicator* c) {
    const std::lock_guard lock(c->all->mutex);
    c->all->is_aborted = true;
    c->is_final = true;
    c->all->changed.notify_all();
    return success;
}
result ncclCommFinalize(communicator* c) {
    if (depth != 0) misuse("a communicator ends within a group");
    c->is_final = true;
    return success;
}
result ncclCommDestroy(communicator* c) {
    delete c;
    return success;
}
const char* ncclGetErrorString(result r) {
    return r == success          ? "no error"
           : r == internal_error ? "aborted"
           : r == invalid_usage  ? "a device twice"
                                 : "error";
}
}
